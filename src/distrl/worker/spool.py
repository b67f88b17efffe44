"""Finished trajectories on the worker's own disk, until the host has acknowledged them.

Promises: what `put` returned from survives a `kill -9` and a power cut; what it did not return from is either there
whole or not at all; payloads come back in the order in which they were put.
"""

from __future__ import annotations

import re
import threading
from pathlib import Path

from distrl.store.files import PARTIAL, checked_id, room_needed, sync_folder, write_whole

NAME = re.compile(r"(\d{12})-([0-9a-f-]{36})\.msgpack")


class Spool:
    """One worker's outbox. Owned by one process, whose threads may all use it; a new owner finds what the last left."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        with room_needed(folder):
            folder.mkdir(parents=True, exist_ok=True)
        for leftover in folder.glob(f".*{PARTIAL}"):  # a put that was killed: nobody was told that it worked
            leftover.unlink()
        self._lock = threading.Lock()  # never held while the disk is waited for
        self._files: dict[str, Path] = {}
        self._sizes: dict[str, int] = {}
        self._next = 0
        for path in sorted(folder.iterdir()):
            self._adopt(path)

    def put(self, id: str, payload: bytes) -> None:
        """Keep a payload; a second one with the same id is ignored. Raises `StorageFull`, keeping nothing of it."""
        with self._lock:
            if checked_id(id) in self._files:
                return
            number, self._next = self._next, self._next + 1
        path = self.folder / f"{number:012d}-{id}.msgpack"
        write_whole(path, payload)
        sync_folder(self.folder)
        self._adopt(path)

    def pending(self) -> list[str]:
        """Ids not yet removed, oldest first."""
        with self._lock:
            return list(self._files)

    def read(self, id: str) -> bytes:
        """Raises `KeyError` for an id that is not pending."""
        return self._files[id].read_bytes()

    def remove(self, id: str) -> None:
        """Forget a payload that the host has acknowledged. Removing it twice is no error."""
        with self._lock:
            path = self._files.pop(id, None)
            self._sizes.pop(id, None)
        if path is not None:
            path.unlink(missing_ok=True)

    @property
    def size_bytes(self) -> int:
        with self._lock:
            return sum(self._sizes.values())

    def _adopt(self, path: Path) -> None:
        match = NAME.fullmatch(path.name)
        if match is None:
            return  # not ours
        size = path.stat().st_size
        with self._lock:
            self._next = max(self._next, int(match[1]) + 1)
            self._files[match[2]] = path
            self._sizes[match[2]] = size
