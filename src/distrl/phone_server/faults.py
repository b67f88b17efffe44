"""Fault injection: `offline=0.01,hang-screencap=0.01:30` gives a probability and a duration in seconds.

Deterministic: the same commands in the same order get the same faults on the same phone.
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping
from dataclasses import dataclass

from distrl.errors import ConfigError, UnknownName

FOREVER = math.inf


@dataclass(frozen=True, slots=True)
class FaultKind:
    """At which event a fault is drawn, and its default duration."""

    event: str
    seconds: float
    means: str


FAULT_KINDS: dict[str, FaultKind] = {
    "hang": FaultKind("command", FOREVER, "any command: no answer"),
    "hang-screencap": FaultKind("screencap", FOREVER, "no answer"),
    "hang-input": FaultKind("input", FOREVER, "no answer, nothing happens"),
    "hang-dump": FaultKind("dump", FOREVER, "no answer"),
    "slow": FaultKind("command", 2.0, "any command: answers later"),
    "offline": FaultKind("command", 5.0, "closes the connection, and does not answer a host that reconnects"),
    "unplug": FaultKind("command", FOREVER, "closes the connection and the port"),
    "unauthorized": FaultKind("connect", FOREVER, "refuses every key"),
    "freeze": FaultKind("input", FOREVER, "input, picture and uptime stand still until a reboot"),
    "slow-boot": FaultKind("boot", 30.0, "sys.boot_completed is not set, services are missing"),
    "empty-screencap": FaultKind("screencap", 0.0, "no byte"),
    "truncated-screencap": FaultKind("screencap", 0.0, "the first part of it"),
    "garbled-screencap": FaultKind("screencap", 0.0, "noise inside"),
    "black-screencap": FaultKind("screencap", 0.0, "all black, as of a secure window"),
    "not-idle-dump": FaultKind("dump", 0.0, "could not get idle state; the old file stays"),
    "anr": FaultKind("input", 0.0, "a box says that the app isn't responding"),
    "clock-off": FaultKind("boot", 3600.0, "the clock is ahead by that much"),
    "storage-full": FaultKind("boot", 0.0, "no space left until `pm trim-caches` or a removed file"),
}


@dataclass(frozen=True, slots=True)
class Fault:
    probability: float
    seconds: float


Faults = Mapping[str, Fault]


def parse(texts: list[str]) -> Faults:
    """`name`, `name=probability` or `name=probability:seconds`, joined by commas. Raises `ConfigError`."""
    pieces = [piece.strip() for text in texts for piece in text.split(",") if piece.strip()]
    return dict(_parse(piece) for piece in pieces)


def _parse(piece: str) -> tuple[str, Fault]:
    name, _, value = piece.partition("=")
    if name not in FAULT_KINDS:
        raise UnknownName("fault", name, FAULT_KINDS)
    share, _, seconds = value.partition(":")
    fault = Fault(_number(piece, share or "1"), _number(piece, seconds) if seconds else FAULT_KINDS[name].seconds)
    if not 0.0 <= fault.probability <= 1.0 or not fault.seconds >= 0.0:
        raise ConfigError(f"--fault {piece}: give a probability from 0 to 1 and, after a colon, seconds from 0 on.")
    return name, fault


def _number(piece: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ConfigError(f"--fault {piece}: {text!r} is no number. Write name=probability:seconds.") from None


class FaultInjector:
    """Draws the faults of one phone, each from its own random stream, so that adding one changes no other."""

    def __init__(self, faults: Faults, seed: str) -> None:
        self.faults = faults
        self._streams = {name: random.Random(f"{seed}/{name}") for name in faults}
        self._noise = random.Random(f"{seed}/noise")
        self.scheduled: dict[str, list[tuple[str, float]]] = {}
        """Event → names and seconds of scheduled faults still to come."""

    def schedule(self, name: str, seconds: float | None = None, times: int = 1) -> None:
        """Inject it at the next `times` draws of its event, whatever its probability."""
        kind = FAULT_KINDS[name]
        waiting = self.scheduled.setdefault(kind.event, [])
        waiting += [(name, kind.seconds if seconds is None else seconds)] * times

    def draw(self, event: str) -> dict[str, float]:
        """Name → seconds of the faults to inject now."""
        if waiting := self.scheduled.get(event):
            return dict([waiting.pop(0)])
        return {
            name: fault.seconds
            for name, fault in self.faults.items()
            if FAULT_KINDS[name].event == event and self._streams[name].random() < fault.probability
        }

    def noise(self, count: int) -> bytes:
        return self._noise.randbytes(count)
