"""Locks by name between the processes of one machine: one owner per phone, port or emulator slot."""

from __future__ import annotations

import fcntl
import os
import re
import tempfile
from pathlib import Path
from typing import BinaryIO


class FileLock:
    """Released at the latest when the process ends. Its file is left behind only after a crash."""

    def __init__(self, path: Path, file: BinaryIO) -> None:
        self._path = path
        self._file = file  # closed when garbage-collected: also when the call that acquired it was cancelled

    @classmethod
    def acquire(cls, serial: str) -> FileLock | None:
        """None when another owner on this machine holds the lock."""
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
            file.close()  # its owner removed the file after we opened it; lock the new one

    def release(self) -> None:
        if self._file.closed:
            return
        if _is_at(self._path, self._file.fileno()):
            self._path.unlink()  # while still locked, so that no second lock of that name exists
        self._file.close()


def _is_at(path: Path, descriptor: int) -> bool:
    """Whether the path still leads to the open file."""
    try:
        there, ours = os.stat(path, follow_symlinks=False), os.fstat(descriptor)
    except FileNotFoundError:
        return False
    return (there.st_dev, there.st_ino) == (ours.st_dev, ours.st_ino)
