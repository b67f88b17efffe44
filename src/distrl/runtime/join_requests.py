"""Where machines that want to play report, and where they learn what became of it.

A machine knocks every second, and each knock says everything: a host that starts again has an empty gate and hears all
of it again. The driver comes by as often, takes the visits and leaves its answers.
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

FORGET_S = 30.0
"""Who has not knocked for this long is no visitor any more."""

OWN_BUSINESS = ("devices.", "policy.device=", "policy.batch_size=", "policy.batch_wait_ms=", "workers.spool_mb=")
"""What a machine may set for itself. The rest belongs to the run: trajectories of another temperature, say, would
not be what the learner takes them for."""

Status = Literal["waiting", "playing", "left", "refused", "over"]
FINAL = ("left", "refused", "over")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A machine that offers its devices."""

    name: str
    key: str
    """Chosen at random by the process that knocks: tells two processes of one name apart."""
    node: str
    """The Ray node to play on."""
    code: str
    """`distrl.store.provenance.code_digest` there."""
    version: str
    spool: str
    """Folder on that machine for finished trajectories that the host has not acknowledged."""
    overrides: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Visit:
    candidate: Candidate
    leaving: bool = False
    at: float = 0.0


@dataclass(frozen=True, slots=True)
class Standing:
    """What became of a candidate. It may go when the status is one of `FINAL`."""

    status: Status
    detail: str = ""


NEW = Standing("waiting", "the training has not begun, or is evaluating; it takes new workers while it trains")


class Gate:
    """Owned by the host's process. Speaks plain trees to whoever knocks: he may run another version of all this."""

    def __init__(self, code: str, now: Callable[[], float]) -> None:
        self._code = code
        self._now = now
        self._visits: dict[str, Visit] = {}
        self._standings: dict[str, Standing] = {}
        self._over: Standing | None = None

    def knock(self, tree: Tree, leaving: bool) -> Tree:
        """A `Candidate` reports, or reports again. Answers the `Standing` that the driver last gave it."""
        if tree.get("code") != self._code:
            return asdict(Standing("refused", self._strange(tree)))
        candidate = Candidate(**{**tree, "overrides": tuple(tree["overrides"])})
        standing = self._over or self._standings.get(candidate.key, NEW)
        if standing.status in FINAL:
            self._visits.pop(candidate.key, None)
        else:
            self._visits[candidate.key] = Visit(candidate, leaving, self._now())
        return asdict(standing)

    def round(self, standings: Mapping[str, Standing]) -> list[Visit]:
        """Leave an answer under each key; take who has knocked lately and may still play."""
        self._standings.update(standings)
        return self._visitors()

    def dismiss(self, why: str) -> int:
        """The training is over, and whoever knocks hears so. Answers how many have not heard it yet."""
        self._over = Standing("over", why)
        return len(self._visitors())

    def _visitors(self) -> list[Visit]:
        silent = self._now() - FORGET_S
        self._visits = {key: visit for key, visit in self._visits.items() if visit.at > silent}
        return list(self._visits.values())

    def _strange(self, tree: Tree) -> str:
        return (
            f"This machine runs distrl {tree.get('version')} (code {str(tree.get('code'))[:12]}), the training "
            f"{distrl.__version__} (code {self._code[:12]}). Install the very same code here, then join again."
        )


def guest_config(config: Config, overrides: tuple[str, ...]) -> Config:
    """The run's config as a machine plays by it. Raises `ConfigError` for what is not its own business."""
    strangers = [override for override in overrides if not override.startswith(OWN_BUSINESS)]
    if strangers:
        allowed = ", ".join(f"{start.rstrip('=')}{'…' if start.endswith('.') else ''}" for start in OWN_BUSINESS)
        raise ConfigError(
            f"{', '.join(strangers)} belongs to the run: a machine that joins cannot change it. It may set {allowed}."
        )
    return build(Config, overlay(config.model_dump(mode="json"), overrides, Config), "the worker's settings")
