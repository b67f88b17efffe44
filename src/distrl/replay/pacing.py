"""The staleness rule: how far collection may run ahead of learning. One knob, `max_lag`."""

from __future__ import annotations

from distrl.config import PacingConfig


class Pacing:
    """Asked by the host before it leases a task: holds workers before an episode starts. Nothing collected is thrown
    away for being stale.

    An episode that starts now plays under the learner's present version v. Before it can be used up, the learner
    has to use up what is already on its way: the `backlog` that waits and the episodes `in_flight`. At
    `trajectories_per_version` each, the learner will then be at version v + (backlog + in_flight) //
    trajectories_per_version. The episode may start if that is no more than `max_lag` versions ahead:

        (backlog + in_flight) // trajectories_per_version ≤ max_lag

    With inserted = version · trajectories_per_version + backlog this is AReaL's
    (inserted + in_flight) / trajectories_per_version − version ≤ max_lag. What it bounds is the lag predicted at
    the start: an episode is not cut short when newer weights arrive, so lag exceeds `max_lag` by at most the number of
    versions that are made while the episode is in flight.

    `max_lag` None never holds anybody. 0 is synchronous training: one version's worth of episodes starts, and the
    next only after the learner has made a version of them; for that, `may_learn` makes the learner wait as well.
    """

    def __init__(self, config: PacingConfig) -> None:
        self.max_lag = config.max_lag
        self.trajectories_per_version = config.trajectories_per_version

    def may_start(self, in_flight: int, backlog: float) -> bool:
        if self.max_lag is None:
            return True
        return (backlog + in_flight) // self.trajectories_per_version <= self.max_lag

    def may_learn(self, in_flight: int, backlog: float) -> bool:
        """The learner never waits, unless training is synchronous: then for the trajectories of a whole version."""
        return self.max_lag != 0 or (in_flight == 0 and backlog >= self.trajectories_per_version)


class Backlog:
    """Counts the trajectories that wait to be learned from.

    A version uses up `trajectories_per_version`, or what there is: a learner that goes on over old trajectories while
    nothing new comes in gathers no credit, for with credit the workers could run ahead unseen later. The only credit
    is the warm-up: the first `warmup` trajectories are collected before there can be any version, and counting them
    would hold the workers while the learner still waits for them.
    """

    def __init__(self, trajectories_per_version: float, warmup: int = 0) -> None:
        self.trajectories_per_version = trajectories_per_version
        self.waiting = -float(warmup)

    def inserted(self, count: int = 1) -> None:
        self.waiting += count

    def learned(self, versions: int = 1) -> None:
        for _ in range(versions):
            self.waiting = max(0.0, self.waiting - self.trajectories_per_version)
