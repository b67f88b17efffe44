"""Locks pairs of ports for emulators, and ends orphaned emulators of processes of ours that died."""

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
"""Console ports; the adb port is the next one. Above the range that any adb server scans: an emulator accepts one adb
connection, and ours register with their own server."""


class PortPair:
    """A console port and the next one, locked until `release` or the end of this process."""

    def __init__(self, port: int, lock: FileLock) -> None:
        self.port = port
        self._lock = lock

    @property
    def session_file(self) -> Path:
        """Records the session of the emulator on this port."""
        return _session_file(self.port)

    def release(self) -> None:
        self._lock.release()


def claim_ports(avoid: Container[int] = ()) -> PortPair:
    """The first pair that is not locked and free. Raises `NoEmulator`."""
    for port in PORTS:
        if port in avoid or (lock := FileLock.acquire(_lock_name(port))) is None:
            continue
        if is_free(port) and is_free(port + 1):
            return PortPair(port, lock)
        lock.release()
    raise NoEmulator(
        f"All {len(PORTS)} pairs of ports from {min(PORTS)} to {max(PORTS) + 1} are in use, and no others would "
        "do: lower devices.per_worker or workers.count, or play on more machines."
    )


def end_orphans() -> list[Session]:
    """End emulators whose parent process died without ending them, and clear their locks."""
    found = []
    for port in PORTS:
        if not _session_file(port).exists() or (lock := FileLock.acquire(_lock_name(port))) is None:
            continue  # locked by a live process
        session = Session.read(_session_file(port))
        if session is None or end_session(session):
            _session_file(port).unlink(missing_ok=True)
        if session is not None:
            found.append(session)
        lock.release()
    return found


def end_session(session: Session) -> bool:
    """Kill what is left of a session of ours, then clear its locks; whether all processes ended."""
    over = session.end()
    clear_stale(session)
    return over


def session_folder() -> Path:
    """The user's folder of session files and logs."""
    folder = Path(tempfile.gettempdir()) / f"distrl-avd-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    if folder.stat().st_uid != os.getuid():
        raise NoEmulator(f"{folder} belongs to somebody else; set TMPDIR to a folder of your own.")
    return folder


def _session_file(port: int) -> Path:
    return session_folder() / f"emulator-{port}.json"


def _lock_name(port: int) -> str:
    return f"avd-port-{port}"
