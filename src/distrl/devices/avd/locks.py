"""Locks that an emulator ended by force leaves in the folder of its AVD. They name the process that made them."""

from __future__ import annotations

import contextlib
from pathlib import Path

from distrl.devices.avd.sessions import Session

NAMED = ("hardware-qemu.ini.lock", "snapshot.lock.lock")
"""`multiinstance.lock` names nobody: the kernel releases it with its process, and the file may stay."""


def clear_stale(session: Session) -> list[str]:
    """Remove the locks of processes that were in a session of ours and are dead. All others stay."""
    dead = {session.leader, *session.members} - set(session.living())
    cleared = []
    for path in (Path(session.folder) / name for name in NAMED):
        if _owner(path) in dead:
            with contextlib.suppress(FileNotFoundError):
                path.unlink()
                cleared.append(path.name)
    return cleared


def _owner(path: Path) -> int | None:
    try:
        text = path.read_text(errors="replace").strip("\0\n ")
    except OSError:
        return None
    return int(text) if text.isdecimal() else None
