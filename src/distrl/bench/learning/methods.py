"""The methods: each is a name and its overrides of `configs/learning.yaml`; nothing else differs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from distrl.errors import ConfigError, UnknownName


@dataclass(frozen=True, slots=True)
class Method:
    label: str
    settings: tuple[str, ...] = ()
    """Overrides; `{devices}` is the number of devices of the run, `{steps}` the learner steps that `max_reuse`
    allows for one episode of each."""
    against: str = ""
    """If it is an ablation: the method from which it differs in one component."""


UNIFORM = ("replay.priority_exponent=0",)
FRESH = (*UNIFORM, "replay.capacity=1000")
"""Methods without off-policy correction get a smaller buffer, so fresher trajectories."""
NO_RETRACE = ("algorithm.retrace=false",)
SIGNED = ("algorithm.failure_weight=1",)
"""As published; by default, for all methods including A-RIDE, failures have no negative weight."""
GRPO = ("algorithm.name=grpo", "tasks.group_size=8", *UNIFORM)
IMPALA = ("algorithm.name=impala", *UNIFORM)

SYNCHRONOUS = ("pacing.max_lag=0", "pacing.trajectories_per_version={devices}", "learner.publish_every={steps}")
"""Rounds: every device plays one episode, then the learner makes its steps, then the next round starts. It may reuse a
trajectory as often as an asynchronous learner may."""

LARGE_LAG = (
    *("learner.publish_every=16", "pacing.trajectories_per_version=128", "pacing.max_lag=64"),
    *SIGNED,
)
"""Workers get every 16th version only, and trajectories additionally wait in replay. `max_lag` is set so wide that it
holds no worker. Failures have full negative weight: imitating old successes is harmless at any lag, but pushing down
old actions needs an off-policy correction."""

METHODS = {
    "a_ride": Method("A-RIDE"),
    "digirl_sync": Method("DigiRL, synchronous", ("algorithm.name=digirl", *FRESH, *SYNCHRONOUS)),
    "digirl_async": Method("DigiRL, asynchronous", ("algorithm.name=digirl", *FRESH)),
    "filtered_bc": Method("Filtered BC", ("algorithm.name=filtered_bc", *FRESH)),
    "grpo": Method("GRPO, asynchronous", (*GRPO, *SIGNED)),
    "grpo_positive": Method("GRPO, positive advantages only", GRPO),
    "impala": Method("IMPALA (V-trace)", (*IMPALA, *SIGNED)),
    "impala_positive": Method("IMPALA, positive advantages only", IMPALA),
    "a_ride_sync": Method("A-RIDE, synchronous", SYNCHRONOUS),
    "a_ride_edge": Method("A-RIDE, curriculum at the edge", ("tasks.curriculum=edge",)),
    "digirl_async_edge": Method(
        "DigiRL, asynchronous, curriculum at the edge", ("algorithm.name=digirl", *FRESH, "tasks.curriculum=edge")
    ),
    "a_ride_local_blame": Method("A-RIDE, local blame", (*SIGNED, "algorithm.local_blame=true")),
    "a_ride_uniform": Method("A-RIDE, uniform replay", UNIFORM, "a_ride"),
    "a_ride_no_retrace": Method("A-RIDE without Retrace", NO_RETRACE, "a_ride"),
    "a_ride_no_entropy": Method("A-RIDE without entropy", ("algorithm.entropy_bonus=0",), "a_ride"),
    "a_ride_no_invalid_penalty": Method("A-RIDE without invalid penalty", ("algorithm.invalid_penalty=0",), "a_ride"),
    "a_ride_filter": Method("A-RIDE with V_traj filter", ("algorithm.trajectory_filter=0.25",), "a_ride"),
    "a_ride_lag16": Method("A-RIDE, large lag", LARGE_LAG),
    "a_ride_lag16_uniform": Method("A-RIDE, large lag, uniform replay", (*LARGE_LAG, *UNIFORM), "a_ride_lag16"),
    "a_ride_lag16_no_retrace": Method("A-RIDE, large lag, no Retrace", (*LARGE_LAG, *NO_RETRACE), "a_ride_lag16"),
}

OURS = "a_ride"
RIVALS = ("digirl_sync", "digirl_async")
"""The paper's best baseline, in both of its forms."""
SYNCHRONOUS_RIVAL = "digirl_sync"

GROUPS = {
    "all": tuple(METHODS),
    "baselines": (
        *("a_ride", "digirl_sync", "digirl_async", "filtered_bc"),
        *("grpo", "grpo_positive", "impala", "impala_positive", "a_ride_sync"),
    ),
    "ablations": ("a_ride", "a_ride_edge", *(name for name, method in METHODS.items() if method.against == "a_ride")),
    "lag": tuple(name for name in METHODS if name.startswith("a_ride_lag16")),
}
"""Names that stand for several methods."""


def choose(names: Sequence[str], seeds: int) -> dict[str, int]:
    """Method → its number of seeds, in the order of the table. Each of `names` is a method or a group, and may have a
    number of seeds of its own: `grpo:1`. What is named twice has the larger. Raises `ConfigError`."""
    wanted: dict[str, int] = {}
    for given in names:
        name, colon, own = given.partition(":")
        if name not in METHODS and name not in GROUPS:
            raise UnknownName("method", name, [*METHODS, *GROUPS])
        if colon and not (own.isdecimal() and int(own) > 0):
            raise ConfigError(f"{given!r}: after the colon comes a number of seeds, such as {name}:1.")
        for method in GROUPS.get(name, (name,)):
            wanted[method] = max(wanted.get(method, 0), int(own) if colon else seeds)
    return {name: wanted[name] for name in METHODS if name in wanted}
