"""Content-addressed storage: every screenshot once, under the SHA-256 of its bytes: `blobs/ab/<sha256>.jpg`."""

from __future__ import annotations

import hashlib
from pathlib import Path

from distrl.errors import CorruptData
from distrl.store.files import DIGEST, room_needed, write_whole


class Blobs:
    """Safe for concurrent readers and writers: a blob is written atomically and never changes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def put(self, image: bytes) -> str:
        """Store an image unless it is there already; returns its digest. Raises `StorageFull`."""
        digest = hashlib.sha256(image).hexdigest()
        path = self.path(digest)
        if not path.exists():
            with room_needed(path):
                path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, image)
        return digest

    def get(self, digest: str) -> bytes:
        """The image with this digest. Raises `CorruptData` when it is missing or was damaged."""
        path = self.path(digest)
        try:
            image = path.read_bytes()
        except FileNotFoundError as error:
            raise CorruptData(f"The screenshot {path} is missing; the rest of the run can still be read.") from error
        if hashlib.sha256(image).hexdigest() != digest:
            raise CorruptData(f"The screenshot {path} was damaged: its bytes no longer match its name.")
        return image

    def has(self, digest: str) -> bool:
        return self.path(digest).exists()

    def path(self, digest: str) -> Path:
        """Path of the image. Raises `CorruptData` for a name that is no digest: no path traversal."""
        if not DIGEST.fullmatch(digest):
            raise CorruptData(f"{digest[:80]!r} is no SHA-256 and names no screenshot.")
        return self.folder / digest[:2] / f"{digest}.jpg"
