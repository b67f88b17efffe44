"""`python -m distrl` is `distrl`."""

from distrl.cli.main import main

main()
