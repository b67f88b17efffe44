"""Atomic file writes, and ids that are safe as file names."""

from __future__ import annotations

import errno
import os
import re
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from distrl.errors import CorruptData, StorageFull

PARTIAL = ".partial"
"""Suffix of a file that is still being written; one left by a crash may be deleted."""

FULL = (errno.ENOSPC, errno.EDQUOT)
DIGEST = re.compile(r"[0-9a-f]{64}")
UUID = re.compile(r"[0-9a-f-]{36}")


def checked_id(name: str) -> str:
    """The id, if it is a UUID and so safe as part of a path. Raises `CorruptData`."""
    if not UUID.fullmatch(name):
        raise CorruptData(f"The id {name[:60]!r} is no UUID and is not used as a file name.")
    return name


def write_whole(path: Path, data: bytes) -> None:
    """Atomic write (temporary file, fsync, rename): a reader sees the old file or the new one, even after a power cut.

    Raises `StorageFull`, and leaves no partial file behind, when the disk has no room.
    """
    partial = path.with_name(f".{path.name}.{uuid.uuid4().hex}{PARTIAL}")
    with room_needed(path):
        try:
            with partial.open("wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            os.replace(partial, path)
        except OSError:
            partial.unlink(missing_ok=True)
            raise


def sync_folder(folder: Path) -> None:
    """fsync a folder, so that renames in it survive a power cut."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def room_needed(path: Path) -> Iterator[None]:
    """Turn 'no space left on device' into `StorageFull`."""
    try:
        yield
    except OSError as error:
        if error.errno not in FULL:
            raise
        raise storage_full(path) from error


def storage_full(path: Path) -> StorageFull:
    return StorageFull(
        f"No disk space left to write {path}. Nothing acknowledged is lost: free space there, and the run "
        "continues, or can be resumed with `distrl train --resume`."
    )
