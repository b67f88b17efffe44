"""Processes that a test has started, and nobody else's; and ports for them."""

from __future__ import annotations

import os
import socket
from pathlib import Path


def descendants(pid: int) -> dict[int, str]:
    """Pid → command line of everything below a process."""
    parents: dict[int, list[int]] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue  # it ended while we looked
        parents.setdefault(int(fields[1]), []).append(int(folder.name))
    found: dict[int, str] = {}
    waiting = [pid]
    while waiting:
        for child in parents.get(waiting.pop(), []):
            found[child] = command(child)
            waiting.append(child)
    return found


def command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
    except OSError:
        return ""


def actor(name: str, below: int | None = None) -> int:
    """The pid of the Ray actor of that class."""
    below = os.getpid() if below is None else below
    found = [pid for pid, title in descendants(below).items() if title.startswith(f"ray::{name}")]
    assert len(found) == 1, f"{name}: {found} among {descendants(below)}"
    return found[0]


def alive(pid: int) -> bool:
    """False also for a zombie, which is dead and only not yet buried."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def free_port() -> int:
    """One that nobody listens on now."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])
