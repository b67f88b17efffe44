"""`ray start --block` in a process that ends with its parent. Run as a file: it imports nothing of this package.

Its standard input is a pipe that nobody writes to. When that closes, because the other end was closed or its process
killed, this process ends itself by SIGTERM, on which `ray start --block` ends the processes of its node. When this
process is killed as well, the kernel ends them: Ray asks it to (PR_SET_PDEATHSIG; elsewhere than on Linux a process of
Ray's does it).
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from importlib.metadata import distribution

GRACE_S = 10.0
"""Ray's time to end its processes, before this one ends without having waited for them."""


def main() -> None:
    threading.Thread(target=_end_with_parent, args=(threading.get_ident(),), daemon=True).start()
    sys.argv = ["ray", "start", "--block", *sys.argv[1:]]
    (command,) = distribution("ray").entry_points.select(group="console_scripts", name="ray")
    command.load()()


def _end_with_parent(main: int) -> None:
    while os.read(0, 1024):
        pass
    signal.pthread_kill(main, signal.SIGTERM)  # to ourselves; it also ends a sleep of the main thread
    time.sleep(GRACE_S)
    os._exit(1)


if __name__ == "__main__":
    main()
