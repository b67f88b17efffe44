"""A phone's pulse, clock and room: asked beside other questions, compared by whoever keeps it healthy."""

from __future__ import annotations

import re
from dataclasses import dataclass

UPTIME = "cat /proc/uptime 2>/dev/null"
THEN_UPTIME = f" && ( {UPTIME} || true )"
"""Behind a script: when it was done, without a word in how it ended."""
SURVEY = "date +%s; df /data 2>/dev/null"
TRIM = ["pm", "trim-caches", "999G"]
"""Let apps empty their caches until so much is free: all of them."""
LEAST_FREE_MB = 32.0
"""With less, apps cannot save and no UI tree can be written."""
PULSE = re.compile(r"^(\d+\.\d+) \d+\.\d+\s*$", re.MULTILINE)
CLOCK = re.compile(r"\A(\d{1,12})\s*$", re.MULTILINE)
DISK = re.compile(r"^\S+\s+\d+\s+\d+\s+(-?\d+)\s+\d+%\s+/", re.MULTILINE)
"""Blocks of 1 KiB: in all, used, free."""


@dataclass(frozen=True, slots=True)
class Vitals:
    """None where a phone does not tell."""

    clock_s: float | None
    """What it thinks is the time, in seconds since 1970."""
    free_mb: float | None

    @classmethod
    def parse(cls, text: str) -> Vitals:
        clock, disk = CLOCK.search(text), DISK.search(text)
        # The second that it says has begun and is not over: it is half gone on average.
        return cls(int(clock[1]) + 0.5 if clock else None, int(disk[1]) / 1024 if disk else None)

    @property
    def full(self) -> bool:
        return self.free_mb is not None and self.free_mb < LEAST_FREE_MB


def parse_uptime(text: str) -> float | None:
    """Seconds since the kernel started; None for a phone that keeps that to itself."""
    match = PULSE.search(text)
    return float(match[1]) if match else None
