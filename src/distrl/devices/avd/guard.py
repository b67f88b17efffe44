"""Runs one emulator, and ends it when the parent process ends, also by SIGKILL.

A program of its own, with the standard library only. It is started as leader of a session; everything the emulator
starts is in that session and is killed with it.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading


def main(words: list[str]) -> None:
    """`words`: the grace period in seconds, then the emulator's command line. Stdin is a pipe from the parent."""
    grace_s, command = float(words[0]), words[1:]
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL)
    threading.Thread(target=_end_with_parent, args=(child, grace_s), daemon=True).start()
    print(f"\nThe emulator ended with status {child.wait()}.", flush=True)
    os.killpg(os.getpgid(0), signal.SIGKILL)  # every process left in our session, ourselves included


def _end_with_parent(child: subprocess.Popen[bytes], grace_s: float) -> None:
    sys.stdin.buffer.read()
    child.terminate()
    try:
        child.wait(grace_s)
    except subprocess.TimeoutExpired:
        os.killpg(os.getpgid(0), signal.SIGKILL)


if __name__ == "__main__":
    main(sys.argv[1:])
