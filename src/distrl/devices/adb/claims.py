"""One owner per phone, also among the workers of one machine."""

from __future__ import annotations

import fcntl
import os
import re
import tempfile
from pathlib import Path
from typing import BinaryIO


class Claim:
    """A lock on a phone's name. It ends with the process at the latest, and leaves no file behind but in a crash."""

    def __init__(self, path: Path, file: BinaryIO) -> None:
        self._path = path
        self._file = file  # closed with its last owner: also when the call that took it was given up

    @classmethod
    def take(cls, serial: str) -> Claim | None:
        """None when somebody on this machine has the phone already."""
        folder = Path(tempfile.gettempdir()) / f"distrl-adb-{os.getuid()}"
        folder.mkdir(mode=0o700, exist_ok=True)
        path = folder / re.sub(r"[^\w.-]", "_", serial)
        while True:
            descriptor = os.open(path, os.O_CREAT | os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
            file = os.fdopen(descriptor, "r+b", buffering=0)
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                file.close()
                return None
            if _is_at(path, descriptor):
                return cls(path, file)
            file.close()  # its owner removed it between our two calls; the next one of that name counts

    def give_back(self) -> None:
        if self._file.closed:
            return
        if _is_at(self._path, self._file.fileno()):
            self._path.unlink()  # while it is locked: nobody can hold another one of that name
        self._file.close()


def _is_at(path: Path, descriptor: int) -> bool:
    """Whether an open file is still the one at that path."""
    try:
        there, ours = os.stat(path, follow_symlinks=False), os.fstat(descriptor)
    except FileNotFoundError:
        return False
    return (there.st_dev, there.st_ino) == (ours.st_dev, ours.st_ino)
