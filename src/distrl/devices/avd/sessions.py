"""Who is in a session that we opened, and its end. A note of each lies on disk, for the case that we die first.

A session has the number of the process that opened it, and the kernel gives that number to nobody else as long as one
process is left in it. So a note is enough to know our own processes for certain, and no others are ever ended.
"""

from __future__ import annotations

import json
import os
import signal
import time
from dataclasses import asdict, dataclass
from pathlib import Path

GONE_S = 5.0
POLL_S = 0.02


@dataclass(frozen=True, slots=True)
class Session:
    """One that we opened."""

    leader: int
    started: int
    """When its leader began, in the kernel's own count."""
    machine: str
    """This boot of this machine, and which numbers its processes have."""
    folder: str
    """The AVD that its emulator plays from."""
    members: tuple[int, ...] = ()
    """Processes that were seen in it."""

    @classmethod
    def of(cls, leader: int, folder: Path) -> Session | None:
        """None where the system does not tell, or where the leader ended already."""
        stat = _stat(leader)
        return None if stat is None else cls(leader, stat.started, _machine(), str(folder))

    def living(self) -> tuple[int, ...]:
        """Who is in it now. Nobody, once its number may belong to somebody else."""
        leader = _stat(self.leader)
        if self.machine != _machine() or (leader is not None and leader.started != self.started):
            return ()
        found = ((int(path.name), _stat(int(path.name))) for path in Path("/proc").glob("[0-9]*"))
        return tuple(pid for pid, stat in found if stat is not None and stat.session == self.leader and stat.alive)

    def end(self) -> bool:
        """By force; says whether nobody is left."""
        deadline = time.monotonic() + GONE_S
        while members := self.living():
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
            stat = _stat(pid)  # again, now that the number cannot pass to another process unnoticed
            if stat is not None and stat.session == self.leader:
                signal.pidfd_send_signal(descriptor, signal.SIGKILL)
        except OSError:
            return
        finally:
            os.close(descriptor)

    # -- the note

    def write(self, path: Path) -> None:
        """Whole or not at all: whoever reads it does so because its writer was killed."""
        in_background = path.with_suffix(".new")
        in_background.write_text(json.dumps(asdict(self)), encoding="utf-8")
        in_background.replace(path)

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
