"""A phone's uptime, clock and free disk space, as shell commands and their parsers."""

from __future__ import annotations

import re
from dataclasses import dataclass

UPTIME = "cat /proc/uptime 2>/dev/null"
THEN_UPTIME = f" && ( {UPTIME} || true )"
"""Appended to a script: prints the uptime and leaves the exit status as it is."""
STATUS = "date +%s; df /data 2>/dev/null"
TRIM = ["pm", "trim-caches", "999G"]
"""Empty the caches of all apps."""
MIN_FREE_MB = 32.0
"""With less, apps cannot save and no UI tree can be written."""
UPTIME_LINE = re.compile(r"^(\d+\.\d+) \d+\.\d+\s*$", re.MULTILINE)
CLOCK = re.compile(r"\A(\d{1,12})\s*$", re.MULTILINE)
DISK = re.compile(r"^\S+\s+\d+\s+\d+\s+(-?\d+)\s+\d+%\s+/", re.MULTILINE)
"""Blocks of 1 KiB: in all, used, free."""


@dataclass(frozen=True, slots=True)
class SystemStatus:
    """None for what the phone does not report."""

    clock_s: float | None
    """Its own clock, in seconds since 1970."""
    free_mb: float | None

    @classmethod
    def parse(cls, text: str) -> SystemStatus:
        clock, disk = CLOCK.search(text), DISK.search(text)
        # `date` rounds down: half a second on average.
        return cls(int(clock[1]) + 0.5 if clock else None, int(disk[1]) / 1024 if disk else None)

    @property
    def full(self) -> bool:
        return self.free_mb is not None and self.free_mb < MIN_FREE_MB


def parse_uptime(text: str) -> float | None:
    """Seconds since the kernel started; None where it cannot be read."""
    match = UPTIME_LINE.search(text)
    return float(match[1]) if match else None
