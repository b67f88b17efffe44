"""Latency of a simulated phone, as sleeps without CPU use; they cost nothing in virtual time.

`none` answers at once. `emulator` behaves like an Android emulator on a busy machine. `two-speed` is an emulator
where half of the devices are four times slower. `paper` spreads whole episodes up to 100-fold around a mean of 250 s.
"""

from __future__ import annotations

import math
import random
from typing import Protocol

from distrl.errors import UnknownName


class Latency(Protocol):
    """Times of one device, in seconds; the same for the same device and task."""

    def begin(self, task_seed: int) -> None:
        """Draw the times of a new episode."""

    def reset_s(self) -> float: ...

    def action_s(self) -> float: ...


class NoLatency:
    def begin(self, task_seed: int) -> None:
        pass

    def reset_s(self) -> float:
        return 0.0

    def action_s(self) -> float:
        return 0.0


class EmulatorLatency:
    """Most actions take half a second, one in fifty far longer; a reset takes two to four seconds, some thrice that."""

    def __init__(self, device_seed: str, scale: float) -> None:
        self.device_seed = device_seed
        self.scale = scale
        self.rng = random.Random(device_seed)

    def begin(self, task_seed: int) -> None:
        self.rng = random.Random(f"{self.device_seed}/{task_seed}")

    def reset_s(self) -> float:
        stalled = 3.0 if self.rng.random() < 0.05 else 1.0
        return self.scale * stalled * self.rng.uniform(2.0, 4.0)

    def action_s(self) -> float:
        stalled = self.rng.uniform(4.0, 20.0) if self.rng.random() < 0.02 else 1.0
        return self.scale * stalled * self.rng.lognormvariate(math.log(0.5), 0.35)


class TwoSpeedLatency(EmulatorLatency):
    """Whether a device is of the slow half is decided by its name."""

    SLOWDOWN = 4.0

    def __init__(self, device_seed: str, scale: float) -> None:
        self.slow = random.Random(f"{device_seed}/speed").random() < 0.5
        super().__init__(device_seed, scale * (self.SLOWDOWN if self.slow else 1.0))


class PaperLatency:
    """Each episode draws its length from a log-normal cut to a 100-fold range; a reset and eight actions fill it."""

    MEDIAN_S = 165.0
    SPREAD = 1.0
    RANGE = 10.0
    RESET_SHARE = 0.2
    ACTION_SHARE = 0.1

    def __init__(self, device_seed: str, scale: float) -> None:
        self.device_seed = device_seed
        self.scale = scale
        self.begin(0)

    def begin(self, task_seed: int) -> None:
        self.rng = random.Random(f"{self.device_seed}/{task_seed}")
        factor = self.rng.lognormvariate(0.0, self.SPREAD)
        self.episode_s = self.MEDIAN_S * max(1 / self.RANGE, min(self.RANGE, factor))

    def reset_s(self) -> float:
        return self.scale * self.RESET_SHARE * self.episode_s

    def action_s(self) -> float:
        return self.scale * self.ACTION_SHARE * self.episode_s * self.rng.uniform(0.8, 1.2)


MODELS = ("none", "emulator", "two-speed", "paper")


def latency_model(name: str, device_seed: str, scale: float) -> Latency:
    """The named model for one device, every time multiplied by `scale`."""
    if name == "none":
        return NoLatency()
    if name == "emulator":
        return EmulatorLatency(device_seed, scale)
    if name == "two-speed":
        return TwoSpeedLatency(device_seed, scale)
    if name == "paper":
        return PaperLatency(device_seed, scale)
    raise UnknownName("latency model", name, MODELS)
