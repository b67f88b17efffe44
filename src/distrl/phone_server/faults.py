"""What breaks on purpose: `offline=0.01,hang-screencap=0.01:30` is a probability, and for how many seconds.

The same commands in the same order meet the same faults on the same phone.
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
    """When it is drawn, and how long it lasts unless somebody says otherwise."""

    when: str
    seconds: float
    means: str


KINDS: dict[str, FaultKind] = {
    "hang": FaultKind("command", FOREVER, "any command: no answer"),
    "hang-screencap": FaultKind("screencap", FOREVER, "no answer"),
    "hang-input": FaultKind("input", FOREVER, "no answer, nothing happens"),
    "hang-dump": FaultKind("dump", FOREVER, "no answer"),
    "slow": FaultKind("command", 2.0, "any command: answers later"),
    "offline": FaultKind("command", 5.0, "hangs up, and says nothing to a host that comes back"),
    "unplug": FaultKind("command", FOREVER, "hangs up, and the port is closed"),
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
    if name not in KINDS:
        raise UnknownName("fault", name, KINDS)
    share, _, seconds = value.partition(":")
    fault = Fault(_number(piece, share or "1"), _number(piece, seconds) if seconds else KINDS[name].seconds)
    if not 0.0 <= fault.probability <= 1.0 or not fault.seconds >= 0.0:
        raise ConfigError(f"--fault {piece}: give a probability from 0 to 1 and, after a colon, seconds from 0 on.")
    return name, fault


def _number(piece: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ConfigError(f"--fault {piece}: {text!r} is no number. Write name=probability:seconds.") from None


class FaultInjector:
    """Draws the faults of one phone, each from a stream of its own: none shifts another's luck."""

    def __init__(self, faults: Faults, seed: str) -> None:
        self.faults = faults
        self._streams = {name: random.Random(f"{seed}/{name}") for name in faults}
        self._noise = random.Random(f"{seed}/noise")
        self.orders: dict[str, list[tuple[str, float]]] = {}
        """When → names and seconds of what was ordered and has not struck yet."""

    def order(self, name: str, seconds: float | None = None, times: int = 1) -> None:
        """Strike at the next draws of its kind, one order at each, whatever chance says."""
        kind = KINDS[name]
        waiting = self.orders.setdefault(kind.when, [])
        waiting += [(name, kind.seconds if seconds is None else seconds)] * times

    def drawn(self, when: str) -> dict[str, float]:
        """Name → seconds of the faults that strike now."""
        if waiting := self.orders.get(when):
            return dict([waiting.pop(0)])
        return {
            name: fault.seconds
            for name, fault in self.faults.items()
            if KINDS[name].when == when and self._streams[name].random() < fault.probability
        }

    def noise(self, count: int) -> bytes:
        return self._noise.randbytes(count)
