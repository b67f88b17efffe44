"""The devices of a run and their health, as a table."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from distrl.cli.progress import clock

if TYPE_CHECKING:
    from distrl.store.run import DeviceEntry

REAL_TIME = 1e9
"""Seconds since 1970 are more than this; those of a serial run begin at 0."""
ODD_CLOCK_S = 5.0
COLUMNS = ("device", "state", "episodes", "invalid", "recovered", "last seen")


def fleet_of(folder: Path) -> list[DeviceEntry]:
    """The devices of a run folder, also while it is written."""
    from distrl.store.run import RunStore

    with RunStore.read(folder) as store:
        return store.devices()


def fleet_table(entries: Sequence[DeviceEntry], now: float) -> RenderableType:
    """One row per device, a line with the reason for each that is unhealthy, and a summary."""
    if not entries:
        return Text("No device of this run has played yet.")
    newest = max(entry.last_seen_at for entry in entries)
    now = now if newest > REAL_TIME else newest
    several = len({entry.worker for entry in entries}) > 1
    names = [f"{entry.worker} {_name(entry)}" if several else _name(entry) for entry in entries]
    table = Table(*COLUMNS, box=None, pad_edge=False)
    for name, entry in zip(names, entries, strict=True):
        table.add_row(*(Text(cell) for cell in (name, *_cells(entry, now))))
    told = zip(names, map(_remarks, entries), strict=True)
    remarks = [Text(f"{name}: {remark}") for name, lines in told for remark in lines]
    return Group(table, *remarks, Text(summary(entries)))


def summary(entries: Sequence[DeviceEntry]) -> str:
    """`3 devices: 2 playing, 1 quarantined; 5 recoveries in 0:02 (median), 0:41 (95 %)`."""
    conditions = Counter(_condition(entry) for entry in entries)
    listed = ", ".join(f"{count} {name}" for name, count in sorted(conditions.items()))
    took = sorted(seconds for entry in entries if entry.health for seconds in entry.health.recovery_s)
    if not took:
        return f"{len(entries)} devices: {listed}; nothing had to be recovered"
    p95 = took[min(len(took) - 1, int(0.95 * len(took)))]
    recoveries = sum(entry.health.recoveries for entry in entries if entry.health)
    return (
        f"{len(entries)} devices: {listed}; {recoveries} recoveries in {clock(statistics.median(took))} (median), "
        f"{clock(p95)} (95 %)"
    )


def _cells(entry: DeviceEntry, now: float) -> tuple[str, ...]:
    counts = (entry.episodes, entry.invalid, entry.health.recoveries if entry.health else 0)
    seen = f"{clock(max(0.0, now - entry.last_seen_at))} ago"
    return (_state(entry, now), *(str(count) for count in counts), seen)


def _state(entry: DeviceEntry, now: float) -> str:
    health = entry.health
    if health is None:
        return _condition(entry)
    if health.condition == "quarantined":
        return f"quarantined, {clock(max(0.0, health.until - now))} left"
    doing = f"recovering: {health.rung}" if health.condition == "recovering" else health.condition
    return f"{doing} (probation)" if health.probation else doing


def _remarks(entry: DeviceEntry) -> list[str]:
    """Recoveries, dismissed pop-ups and clock offset; and the reason, if it is unhealthy."""
    health = entry.health
    if health is None:
        return []
    rungs = [f"{rung} {health.helped.get(rung, 0)}/{tried}" for rung, tried in health.tried.items()]
    popups = [f"{kind} {count}" for kind, count in (health.facts.get("popups") or {}).items()]
    ahead_s = health.facts.get("clock_offset_s") or 0.0
    found = [f"helped/tried: {', '.join(rungs)}"] * bool(rungs) + [f"dismissed: {', '.join(popups)}"] * bool(popups)
    found += [f"its clock is {ahead_s:+.0f} s off"] * (abs(ahead_s) > ODD_CLOCK_S)
    return ["; ".join(found)] * bool(found) + [health.reason] * (_condition(entry) in ("recovering", "quarantined"))


def _condition(entry: DeviceEntry) -> str:
    return entry.health.condition if entry.health else "playing"


def _name(entry: DeviceEntry) -> str:
    """The phone's serial and slot, because an address may stand for several phones."""
    serial = entry.health.facts.get("serial") if entry.health else None
    return f"{serial}#{entry.device.rpartition('#')[2]}" if serial else entry.device
