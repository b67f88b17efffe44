"""Runs one emulator, and ends it with whoever started us: also when that was killed.

A program of its own that imports nothing but the standard library. Who starts it makes it the leader of a session; all
that the emulator starts is in that session, and is ended with it, by force if asking does not help.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading


def main(words: list[str]) -> None:
    """Seconds of patience, then the emulator's command line. Standard input is the line to whoever started us."""
    patience_s, command = float(words[0]), words[1:]
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL)
    threading.Thread(target=_end_when_left_alone, args=(child, patience_s), daemon=True).start()
    print(f"\nThe emulator ended with status {child.wait()}.", flush=True)
    os.killpg(os.getpgid(0), signal.SIGKILL)  # whatever it left behind in our session, and us


def _end_when_left_alone(child: subprocess.Popen[bytes], patience_s: float) -> None:
    sys.stdin.buffer.read()
    child.terminate()
    try:
        child.wait(patience_s)
    except subprocess.TimeoutExpired:
        os.killpg(os.getpgid(0), signal.SIGKILL)


if __name__ == "__main__":
    main(sys.argv[1:])
