"""Keys that were elsewhere before each algorithm and judge had settings of its own.

A config that somebody wrote is refused with the new name of each key. The `config.yaml` of a run folder, which holds
every key with its default, is read as it was meant: what its algorithm or judge did not read is left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from distrl.config.judging import JUDGE
from distrl.config.learning import ALGORITHM

MOVED = {
    "replay.td_error_weight": "algorithm.priority_td_error_weight",
    "replay.ratio_weight": "algorithm.priority_ratio_weight",
    "replay.entropy_weight": "algorithm.priority_entropy_weight",
    "replay.failure_priority": "algorithm.priority_failure_weight",
    "replay.corrected": "algorithm.corrected",
}
DIGIRL = {"trace_decay": "outcome_decay"}
"""DigiRL shared the name with algorithms for which it means another thing."""

Tree = dict[str, Any]


def is_former(tree: Mapping[str, Any]) -> bool:
    """Whether a run wrote this config while `replay` still held settings of A-RIDE."""
    replay = tree.get("replay")
    return isinstance(replay, Mapping) and any(f"replay.{key}" in MOVED for key in replay)


def translated(tree: Mapping[str, Any]) -> Tree:
    """A run's own config in the present layout; one that is in it already is given back as it is."""
    if not is_former(tree):
        return dict(tree)
    replay, algorithm = dict(tree["replay"]), dict(tree.get("algorithm") or {})
    if ALGORITHM.name(algorithm) == "digirl":
        algorithm = {DIGIRL.get(key, key): value for key, value in algorithm.items()}
    for path, new in MOVED.items():
        if (key := path.removeprefix("replay.")) in replay:
            algorithm[new.removeprefix("algorithm.")] = replay.pop(key)
    sections = {"replay": replay, "algorithm": ALGORITHM.read_by_chosen(algorithm)}
    if isinstance(tree.get("judge"), Mapping):
        sections["judge"] = JUDGE.read_by_chosen(tree["judge"])
    return {**tree, **sections}
