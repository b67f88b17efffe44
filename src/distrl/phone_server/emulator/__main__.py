"""`python -m distrl.phone_server.emulator -avd NAME …`, which is what the launcher in a stand-in SDK runs."""

from __future__ import annotations

import sys

from distrl.phone_server.emulator.program import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
