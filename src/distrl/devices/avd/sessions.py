"""The processes of a session that we started, recorded in a file so that they can be ended after a crash.

A session has the pid of its leader, and the kernel does not reuse that pid while a process is left in the session. So
the file identifies our own processes for certain, and no others are ever killed.
"""

from __future__ import annotations

import json
import os
import signal
import time
from dataclasses import asdict, dataclass
from pathlib import Path

END_TIMEOUT_S = 5.0
POLL_S = 0.02


@dataclass(frozen=True, slots=True)
class Session:
    """A process session that we started."""

    leader: int
    started: int
    """Start time of the leader, in clock ticks since boot."""
    machine: str
    """Boot id and pid namespace."""
    folder: str
    """The AVD folder of its emulator."""
    members: tuple[int, ...] = ()
    """Pids seen in it so far."""

    @classmethod
    def of(cls, leader: int, folder: Path) -> Session | None:
        """None where /proc is missing, or the leader has ended."""
        stat = _stat(leader)
        return None if stat is None else cls(leader, stat.started, _machine(), str(folder))

    def live_pids(self) -> tuple[int, ...]:
        """Pids in it now; none once the session id may have been reused."""
        leader = _stat(self.leader)
        if self.machine != _machine() or (leader is not None and leader.started != self.started):
            return ()
        found = ((int(path.name), _stat(int(path.name))) for path in Path("/proc").glob("[0-9]*"))
        return tuple(pid for pid, stat in found if stat is not None and stat.session == self.leader and stat.alive)

    def end(self) -> bool:
        """Kill all its processes; whether none is left."""
        deadline = time.monotonic() + END_TIMEOUT_S
        while members := self.live_pids():
            if time.monotonic() > deadline:
                return False
            for pid in members:
                self._end(pid)
            time.sleep(POLL_S)
        return True

    def _end(self, pid: int) -> None:
        try:
            descriptor = os.pidfd_open(pid)
        except OSError:
            return
        try:
            stat = _stat(pid)  # check again: the pidfd now pins the process
            if stat is not None and stat.session == self.leader:
                signal.pidfd_send_signal(descriptor, signal.SIGKILL)
        except OSError:
            return
        finally:
            os.close(descriptor)

    # -- on disk

    def write(self, path: Path) -> None:
        """Atomically, since the writer may be killed."""
        temporary = path.with_suffix(".new")
        temporary.write_text(json.dumps(asdict(self)), encoding="utf-8")
        temporary.replace(path)

    @classmethod
    def read(cls, path: Path) -> Session | None:
        try:
            tree = json.loads(path.read_text(encoding="utf-8"))
            members = tuple(int(pid) for pid in tree["members"])
            return cls(int(tree["leader"]), int(tree["started"]), str(tree["machine"]), str(tree["folder"]), members)
        except (OSError, ValueError, KeyError, TypeError):
            return None


@dataclass(frozen=True, slots=True)
class _Stat:
    session: int
    started: int
    alive: bool


def _stat(pid: int) -> _Stat | None:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
        return _Stat(int(fields[3]), int(fields[19]), fields[0] not in "ZX")
    except (OSError, ValueError, IndexError):
        return None


def _machine() -> str:
    try:
        return f"{Path('/proc/sys/kernel/random/boot_id').read_text().strip()} {os.readlink('/proc/self/ns/pid')}"
    except OSError:
        return ""
