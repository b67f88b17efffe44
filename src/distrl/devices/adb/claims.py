"""One owner per phone, also among the workers of one machine."""

from __future__ import annotations

import fcntl
import os
import re
import tempfile
from pathlib import Path
from typing import BinaryIO


class Claim:
    """A lock on a phone's name. It ends with the process at the latest."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file  # closed with its last owner: also when the call that took it was given up

    @classmethod
    def take(cls, serial: str) -> Claim | None:
        """None when somebody on this machine has the phone already."""
        folder = Path(tempfile.gettempdir()) / f"distrl-adb-{os.getuid()}"
        folder.mkdir(mode=0o700, exist_ok=True)
        name = re.sub(r"[^\w.-]", "_", serial)
        descriptor = os.open(folder / name, os.O_CREAT | os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        file = os.fdopen(descriptor, "r+b", buffering=0)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            file.close()
            return None
        return cls(file)

    def give_back(self) -> None:
        self._file.close()
