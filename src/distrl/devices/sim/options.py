"""What an address asks for: `sim://phone?latency=emulator&scale=0.01&popups=0.05`."""

from __future__ import annotations

from typing import ClassVar
from urllib.parse import urlsplit

from pydantic.dataclasses import dataclass

from distrl.devices.query import DOCUMENTED, Query
from distrl.devices.sim.latency import MODELS
from distrl.errors import UnknownName

NAMES = ("phone",)
OPTIONS = ("latency", "popups", "scale")


@dataclass(frozen=True, slots=True, config=DOCUMENTED)
class SimOptions:
    """A simulated phone in the worker's process, `sim://phone`."""

    implementation: ClassVar[str] = "distrl.devices.sim.device:SimPhone"
    options: ClassVar[tuple[str, ...]] = OPTIONS

    latency: str = "none"
    """How long it waits: none; emulator, as one on a busy machine; two-speed, where half of the phones are four times
    slower; paper, whose episodes differ 100-fold in length."""
    scale: float = 1.0
    """Multiplies every wait."""
    popups: float = 0.0
    """Probability of a pop-up after an action."""

    @classmethod
    def parse(cls, address: str) -> SimOptions:
        parts = urlsplit(address)
        if parts.netloc not in NAMES:
            raise UnknownName("simulated device", parts.netloc, NAMES)
        query = Query(address, "sim://phone", OPTIONS)
        latency = query.text("latency", "none")
        if latency not in MODELS:
            raise UnknownName("latency model", latency, MODELS)
        return cls(latency, query.number("scale", 1.0, most=1e6), query.number("popups", 0.0, most=1.0))
