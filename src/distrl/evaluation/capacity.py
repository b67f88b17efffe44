"""Capacity planning: throughput of a fleet of any size from a few latencies, in closed form, without simulation.

One device plays one episode after the other:

    cycle = reset + steps · (action + think) + between

so N unsaturated devices make N / cycle trajectories a second. Every resource behind them has a capacity in the same
unit, and the smallest one limits the fleet:

    policy    gpus · decisions per second / steps
    host      1 / host seconds per trajectory
    network   (bandwidth − weights going out) / size of a trajectory
    learner   trajectories per step / (step time · reuse); no limit unless `paced`: a slow learner without
              `pacing.max_lag` samples a smaller share of what was played
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

Resource = Literal["devices", "policy", "host", "network", "learner"]

MBIT_PER_MB = 8.0


@dataclass(frozen=True)
class Latencies:
    """Latencies of one episode of one device, in seconds."""

    reset_s: float
    action_s: float
    """Acting and taking the screenshot after it, per step."""
    think_s: float
    """Inference, from a screen to its decision, waiting for a batch included, per step."""
    steps: float
    between_s: float = 0.0
    """From the end of an episode to the beginning of the next."""

    @property
    def cycle_s(self) -> float:
        return self.reset_s + self.steps * (self.action_s + self.think_s) + self.between_s

    @property
    def busy_fraction(self) -> float:
        """Share of its time that a device acts or renders, while nothing is saturated."""
        return (self.reset_s + self.steps * self.action_s) / self.cycle_s


@dataclass(frozen=True)
class Site:
    """The resources behind the devices."""

    learner_s: float = 1.0
    """One learner step."""
    trajectories_per_step: float = 8.0
    reuse: float = 1.0
    """How often the learner samples a trajectory, on average."""
    policy_gpus: int = 1
    decisions_per_s: float = math.inf
    """Of one policy GPU, at its best batch size."""
    host_s: float = 0.005
    """Of the host per trajectory: decoding, storing, replay."""
    trajectory_mb: float = 0.5
    weights_mb: float = 0.0
    devices_per_worker: int = 32
    network_mbit: float = math.inf
    """Of the host's connection, both ways together."""
    paced: bool = False
    """`pacing.max_lag` is set: collecting waits for the learner."""


@dataclass(frozen=True)
class Forecast:
    devices: int
    per_min: float
    """Trajectories per minute."""
    limit: Resource
    """The resource that limits it."""
    duty: dict[str, float]
    """Utilisation of each resource; above 1 it falls behind."""
    busy_fraction: float
    """Share of their time that devices act or render."""
    devices_per_policy_gpu: float
    devices_per_learner: float

    @property
    def learner_duty(self) -> float:
        return self.duty["learner"]


def forecast(latencies: Latencies, site: Site, devices: int) -> Forecast:
    wanted = devices / latencies.cycle_s
    capacity = capacities(latencies, site, devices)
    limits = {name: capacity[name] for name in _limiting(site)}
    slowest = min(limits, key=lambda name: limits[name])
    rate = min(wanted, limits[slowest])
    return Forecast(
        devices=devices,
        per_min=60.0 * rate,
        limit=slowest if limits[slowest] < wanted else "devices",
        duty={"devices": rate / wanted, **{name: _share(rate, most) for name, most in capacity.items()}},
        busy_fraction=latencies.busy_fraction * rate / wanted,
        devices_per_policy_gpu=latencies.cycle_s * site.decisions_per_s / latencies.steps,
        devices_per_learner=latencies.cycle_s * capacity["learner"],
    )


def capacities(latencies: Latencies, site: Site, devices: int) -> dict[Resource, float]:
    """Trajectories per second that each resource could handle, were it the only limit."""
    learner = site.trajectories_per_step / (site.learner_s * site.reuse)
    return {
        "policy": site.policy_gpus * site.decisions_per_s / latencies.steps,
        "host": 1.0 / site.host_s if site.host_s else math.inf,
        "network": _network(latencies, site, devices, learner),
        "learner": learner,
    }


def first_to_saturate(latencies: Latencies, site: Site) -> tuple[Resource, int] | None:
    """The resource that saturates first as devices are added, and the fleet size at which it does; None: none does.

    Found by bisection: the network also carries weights to every worker, so its capacity depends on the fleet.
    """
    most = 1 << 60
    if forecast(latencies, site, most).limit == "devices" and not _behind(latencies, site, most):
        return None
    low, high = 1, most
    while low < high:
        middle = (low + high) // 2
        if forecast(latencies, site, middle).limit != "devices" or _behind(latencies, site, middle):
            high = middle
        else:
            low = middle + 1
    found = forecast(latencies, site, low)
    return (found.limit if found.limit != "devices" else "learner"), low


def saturations(latencies: Latencies, site: Site) -> dict[Resource, float]:
    """Fleet size at which each resource saturates, were it the only limit; the network without weights."""
    plain = replace(site, weights_mb=0.0)
    return {name: latencies.cycle_s * most for name, most in capacities(latencies, plain, 1).items()}


def _limiting(site: Site) -> tuple[Resource, ...]:
    return ("policy", "host", "network", "learner") if site.paced else ("policy", "host", "network")


def _behind(latencies: Latencies, site: Site, devices: int) -> bool:
    """Whether the learner can no longer use every trajectory."""
    return forecast(latencies, site, devices).learner_duty >= 1.0


def _network(latencies: Latencies, site: Site, devices: int, learner: float) -> float:
    """Every worker fetches every version; the rate of versions is limited by the learner and by collection."""
    workers = math.ceil(devices / site.devices_per_worker)
    steps_per_s = min(learner, devices / latencies.cycle_s) * site.reuse / site.trajectories_per_step
    weights = MBIT_PER_MB * site.weights_mb * workers * steps_per_s
    if math.isinf(site.network_mbit) or not site.trajectory_mb:
        return math.inf
    return max(0.0, site.network_mbit - weights) / (MBIT_PER_MB * site.trajectory_mb)


def _share(rate: float, most: float) -> float:
    return rate / most if most > 0.0 else math.inf
