"""Plays pairs of fleets, every row in every repeat, and computes the figures."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from distrl.bench.faults.rows import ROWS, FaultRow, row
from distrl.bench.faults.trial import FaultJob, FaultReport, InjectedFault
from distrl.errors import ConfigError

Say = Callable[[str], None]

SPARE_S = 300.0
"""Time allowed for starting and ending a fleet, beyond the time it plays."""
FEWER = 4
"""Emulators, each a process that starts an interpreter, per eight served phones."""


@dataclass(frozen=True)
class FleetPair:
    faulted: FaultReport
    control: FaultReport

    @property
    def kept(self) -> float:
        return self.faulted.episodes / max(1, self.control.episodes)


@dataclass(frozen=True)
class FaultCampaign:
    rows: tuple[int, ...]
    phones: int
    seconds: float
    repeats: int
    seed: int = 0

    def play(self, say: Say) -> dict[str, Any]:
        """Every row in every repeat, interleaved: other load on the machine affects all rows alike."""
        pairs: dict[int, list[FleetPair]] = {number: [] for number in self.rows}
        for repeat in range(self.repeats):
            for number in self.rows:
                pair = play_pair(self._job(row(number), repeat))
                pairs[number].append(pair)
                say(f"row {number}, {row(number).what}: {verdict(row(number), pair)}")
        rows_ = [figures(row(number), found) for number, found in pairs.items()]
        return {"rows": rows_, "headline": headline(rows_, [pair for found in pairs.values() for pair in found])}

    def _job(self, plan: FaultRow, repeat: int) -> FaultJob:
        phones = self.phones if plan.fleet == "adb" else max(1, self.phones * FEWER // 8)
        return FaultJob(plan.number, True, phones, self.seconds, self.seed + repeat)


def run(
    rows: str = "all",
    phones: int = 8,
    seconds: float = 60.0,
    repeats: int = 3,
    seed: int = 0,
    say: Say = lambda text: None,
) -> dict[str, Any]:
    """All figures, as plain data. Raises `ConfigError`."""
    return FaultCampaign(chosen(rows), phones, seconds, repeats, seed).play(say)


def play_pair(job: FaultJob) -> FleetPair:
    """Both at the same time, so that load on the machine affects both."""
    with tempfile.TemporaryDirectory() as folder:
        jobs = {name: FaultJob(**{**asdict(job), "faulted": name == "faulted"}) for name in ("faulted", "control")}
        started = {name: _start(Path(folder) / f"{name}.json", each) for name, each in jobs.items()}
        try:
            found = {name: _read(process, job) for name, process in started.items()}
        finally:
            for process in started.values():
                process.kill()
                process.wait()
    return FleetPair(found["faulted"], found["control"])


def _start(path: Path, job: FaultJob) -> subprocess.Popen[str]:
    path.write_text(json.dumps(asdict(job)), encoding="utf-8")
    command = [sys.executable, "-m", "distrl.bench.faults.trial", str(path)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def _read(process: subprocess.Popen[str], job: FaultJob) -> FaultReport:
    out, err = process.communicate(timeout=job.seconds + SPARE_S)
    if process.returncode:
        raise ConfigError(f"A fleet of row {job.row} did not come to its end: {err.strip()[-2000:]}")
    tree = json.loads(out.splitlines()[-1])
    return FaultReport(**{**tree, "faults": [InjectedFault(**fault) for fault in tree["faults"]]})


def survived(plan: FaultRow, pair: FleetPair) -> bool:
    """It went on; nothing was lost, doubled or made up; and every phone that can recover did."""
    faulted = pair.faulted
    clean = not (faulted.lost or faulted.doubled or faulted.wrong or faulted.leased)
    back = plan.faulted_share < 1.0 or faulted.came_back == len(faulted.faults)
    return clean and back and faulted.episodes > 0


def verdict(plan: FaultRow, pair: FleetPair) -> str:
    state = "survived" if survived(plan, pair) else "NOT survived"
    return f"{state}; kept {pair.kept:.0%} of {pair.control.episodes} episodes, {pair.faulted.invalid} lost to it"


def figures(plan: FaultRow, pairs: Sequence[FleetPair]) -> dict[str, Any]:
    return {
        "row": plan.number,
        "what": plan.what,
        "survived": all(survived(plan, pair) for pair in pairs),
        "strikes": sum(len(pair.faulted.faults) for pair in pairs),
        "throughput_kept": [pair.kept for pair in pairs],
        **costs(pairs),
    }


def costs(pairs: Sequence[FleetPair]) -> dict[str, Any]:
    seconds = [one for pair in pairs for one in pair.faulted.recovery_s]
    rungs: dict[str, int] = {}
    for pair in pairs:
        for rung, count in pair.faulted.rungs.items():
            rungs[rung] = rungs.get(rung, 0) + count
    return {
        "episodes_invalid": sum(pair.faulted.invalid for pair in pairs),
        "recoveries": len(seconds),
        "recovery_p50_s": quantile(seconds, 0.5),
        "recovery_p95_s": quantile(seconds, 0.95),
        "rungs": rungs,
        "quarantines": sum(pair.faulted.quarantines for pair in pairs),
        "lost": sum(pair.faulted.lost for pair in pairs),
        "doubled": sum(pair.faulted.doubled for pair in pairs),
        "outcomes_made_up": sum(pair.faulted.wrong for pair in pairs),
    }


def headline(rows: Sequence[dict[str, Any]], pairs: Sequence[FleetPair]) -> dict[str, Any]:
    seconds = [one for pair in pairs for one in pair.faulted.recovery_s]
    return {
        "survived": sum(each["survived"] for each in rows),
        "of": len(rows),
        "lost": sum(each["lost"] for each in rows),
        "doubled": sum(each["doubled"] for each in rows),
        "recovery_p50_s": quantile(seconds, 0.5),
        "recovery_p95_s": quantile(seconds, 0.95),
        "throughput_kept": statistics.fmean(pair.kept for pair in pairs),
    }


def quantile(values: Sequence[float], share: float) -> float | None:
    return round(float(np.quantile(values, share)), 2) if values else None


def chosen(text: str) -> tuple[int, ...]:
    """`all`, or numbers with commas. Raises `ConfigError`."""
    known = [each.number for each in ROWS]
    if text == "all":
        return tuple(known)
    numbers = [int(piece) if piece.strip().isdecimal() else -1 for piece in text.split(",")]
    if not set(numbers) <= set(known):
        raise ConfigError(f"--rows {text}: give numbers with commas between them, of {', '.join(map(str, known))}.")
    return tuple(numbers)
