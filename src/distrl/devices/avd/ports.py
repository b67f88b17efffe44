"""Pairs of ports for emulators, each claimed by one process of this machine, and what died emulators left on them."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Container
from pathlib import Path

from distrl.devices.adb.file_lock import FileLock
from distrl.devices.adb.options import LAST_SCANNED_PORT
from distrl.devices.avd.locks import clear_stale
from distrl.devices.avd.sessions import Session
from distrl.errors import NoEmulator
from distrl.ports import is_free

PORTS = tuple(range(LAST_SCANNED_PORT + 2, 5684, 2))
"""Consoles; adb's port is the next one. An emulator may have lower ones too. There any adb server that starts looks for
it, and takes the one line that it has; ours report to the server that they belong to."""


class PortPair:
    """A console port and the next one. Ours until it is given back, or this process ends."""

    def __init__(self, port: int, lock: FileLock) -> None:
        self.port = port
        self._lock = lock

    @property
    def note(self) -> Path:
        """Where the session of the emulator on this port is written down."""
        return _note(self.port)

    def release(self) -> None:
        self._lock.release()


def claim_ports(avoid: Container[int] = ()) -> PortPair:
    """The first pair that nobody claims or listens on. Raises `NoEmulator`."""
    for port in PORTS:
        if port in avoid or (lock := FileLock.acquire(_name(port))) is None:
            continue
        if is_free(port) and is_free(port + 1):
            return PortPair(port, lock)
        lock.release()
    raise NoEmulator(
        f"All {len(PORTS)} pairs of ports from {min(PORTS)} to {max(PORTS) + 1} are in use, and no others would "
        "do: lower devices.per_worker or workers.count, or play on more machines."
    )


def end_orphans() -> list[Session]:
    """End the emulators of processes of ours that died without ending them, and clear their locks."""
    found = []
    for port in PORTS:
        if not _note(port).exists() or (lock := FileLock.acquire(_name(port))) is None:
            continue  # the claim of a process that lives
        session = Session.read(_note(port))
        if session is None or end_session(session):
            _note(port).unlink(missing_ok=True)
        if session is not None:
            found.append(session)
        lock.release()
    return found


def end_session(session: Session) -> bool:
    """End whoever is left in a session of ours, then clear its locks; says whether it is over."""
    over = session.end()
    clear_stale(session)
    return over


def session_folder() -> Path:
    """The folder of notes and logs, this user's own."""
    folder = Path(tempfile.gettempdir()) / f"distrl-avd-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    if folder.stat().st_uid != os.getuid():
        raise NoEmulator(f"{folder} belongs to somebody else; set TMPDIR to a folder of your own.")
    return folder


def _note(port: int) -> Path:
    return session_folder() / f"emulator-{port}.json"


def _name(port: int) -> str:
    return f"avd-port-{port}"
