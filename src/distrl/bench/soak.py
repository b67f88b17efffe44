"""Half an hour of random faults: episodes that a fleet over the real adb keeps, against a control fleet without faults.

Phones, worker and faults are those of `bench faults`; the seed decides which fault hits which phone, and when.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from distrl.bench.faults.campaign import costs, play_pair
from distrl.bench.faults.trial import FaultJob

KEPT_BAR = 0.85


def run(minutes: float = 30.0, phones: int = 8, every_s: float = 180.0, seed: int = 0) -> dict[str, Any]:
    """`every_s`: mean time between two faults of one phone."""
    pair = play_pair(FaultJob(0, True, phones, 60 * minutes, seed, every_s))
    found = costs([pair])
    return {
        "faults": len(pair.faulted.faults),
        "kinds": dict(sorted(Counter(fault.what for fault in pair.faulted.faults).items())),
        "episodes": pair.faulted.episodes,
        "episodes_left_alone": pair.control.episodes,
        "throughput_kept": pair.kept,
        **found,
        "bars": {
            "throughput_kept_from": KEPT_BAR,
            "met": pair.kept >= KEPT_BAR and not (found["lost"] or found["doubled"]),
        },
    }
