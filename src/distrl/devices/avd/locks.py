"""Removes lock files that a killed emulator left in the folder of its AVD. They hold the pid of their owner."""

from __future__ import annotations

import contextlib
from pathlib import Path

from distrl.devices.avd.sessions import Session

NAMED = ("hardware-qemu.ini.lock", "snapshot.lock.lock")
"""`multiinstance.lock` holds no pid: the kernel releases it with its process, so the file can stay."""


def clear_stale(session: Session) -> list[str]:
    """Remove the locks whose owner was in this session and is dead. All others stay."""
    dead = {session.leader, *session.members} - set(session.live_pids())
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
