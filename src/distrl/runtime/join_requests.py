"""Requests of other machines to play for this training, kept where they can be asked for: in the host's process.

A machine polls every second, and each poll carries its whole request: a host that starts again has no requests and
gets all of them again. The driver asks as often, takes the requests and leaves its answers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Literal

import distrl
from distrl.config import Config
from distrl.errors import ConfigError
from distrl.loading import build, overlay
from distrl.types import Tree

EXPIRY_S = 30.0
"""A candidate that has not polled for this long is dropped."""

SETTABLE_BY_WORKER = (
    "devices.",
    "policy.device=",
    "policy.batch_size=",
    "policy.batch_wait_ms=",
    "workers.spool_mb=",
)
"""What a machine may set for itself. The rest belongs to the run: trajectories of another temperature, say, would
not be what the learner takes them for."""

Status = Literal["waiting", "playing", "left", "refused", "over"]
FINAL = ("left", "refused", "over")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A machine that offers its devices."""

    name: str
    key: str
    """Chosen at random by the process that polls: tells two processes of one name apart."""
    node: str
    """The Ray node to play on."""
    code: str
    """`distrl.store.provenance.code_digest` there."""
    version: str
    spool: str
    """Folder on that machine for finished trajectories that the host has not acknowledged."""
    overrides: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class JoinRequest:
    """The last poll of a candidate."""

    candidate: Candidate
    leaving: bool = False
    at: float = 0.0


@dataclass(frozen=True, slots=True)
class JoinStatus:
    """What became of a request. Its machine may end when the status is one of `FINAL`."""

    status: Status
    detail: str = ""


NEW = JoinStatus("waiting", "the training has not begun, or is evaluating; it takes new workers while it trains")


class JoinRequests:
    """Owned by the host's process. Speaks plain trees: a candidate may run another version of these types."""

    def __init__(self, code: str, now: Callable[[], float]) -> None:
        self._code = code
        self._now = now
        self._requests: dict[str, JoinRequest] = {}
        self._statuses: dict[str, JoinStatus] = {}
        self._over: JoinStatus | None = None

    def poll(self, tree: Tree, leaving: bool) -> Tree:
        """A `Candidate` asks, or asks again. Answers the `JoinStatus` that the driver last gave it."""
        if tree.get("code") != self._code:
            detail = (
                f"This machine runs distrl {tree.get('version')} (code {str(tree.get('code'))[:12]}), the training "
                f"{distrl.__version__} (code {self._code[:12]}). Install the very same code here, then join again."
            )
            return asdict(JoinStatus("refused", detail))
        candidate = Candidate(**{**tree, "overrides": tuple(tree["overrides"])})
        status = self._over or self._statuses.get(candidate.key, NEW)
        if status.status in FINAL:
            self._requests.pop(candidate.key, None)
        else:
            self._requests[candidate.key] = JoinRequest(candidate, leaving, self._now())
        return asdict(status)

    def exchange(self, statuses: Mapping[str, JoinStatus]) -> list[JoinRequest]:
        """The driver's answers by key; in return the requests that still stand."""
        self._statuses.update(statuses)
        return self._standing()

    def end(self, why: str) -> int:
        """The training is over, and every poll is answered so. Returns how many candidates have not heard it yet."""
        self._over = JoinStatus("over", why)
        return len(self._standing())

    def _standing(self) -> list[JoinRequest]:
        oldest = self._now() - EXPIRY_S
        self._requests = {key: request for key, request in self._requests.items() if request.at > oldest}
        return list(self._requests.values())


def joined_config(config: Config, overrides: tuple[str, ...]) -> Config:
    """The run's config as a machine that joins plays by it. Raises `ConfigError` for what it may not set."""
    others = [override for override in overrides if not override.startswith(SETTABLE_BY_WORKER)]
    if others:
        allowed = ", ".join(f"{name.rstrip('=')}{'…' if name.endswith('.') else ''}" for name in SETTABLE_BY_WORKER)
        raise ConfigError(
            f"{', '.join(others)} belongs to the run: a machine that joins cannot change it. It may set {allowed}."
        )
    return build(Config, overlay(config.model_dump(mode="json"), overrides, Config), "the worker's settings")
