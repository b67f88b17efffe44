"""Workers on machines that join while the training goes on, and leave or die as they like.

The driver owns them as it owns its own workers. Whatever a guest does, the others go on: its tasks are given back, its
error is told to it and not raised here.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import ray
from ray.exceptions import RayError, RayTaskError
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from distrl.errors import ConfigError, StorageFull, Unreachable
from distrl.runtime.join_requests import Candidate, JoinRequest, JoinStatus, joined_config
from distrl.runtime.ray.actors import WorkerActor
from distrl.runtime.ray.clients import original
from distrl.runtime.topology import Builder

FIRST_NUMBER = 20_000
"""Worker numbers seed their policies; those of guests start here."""


@dataclass
class Guest:
    candidate: Candidate
    actor: Any
    job: Any
    """What it is doing: starting, then playing."""
    playing: bool = False
    leaving: bool = False
    deaths: int = 0
    status: JoinStatus = field(default_factory=lambda: JoinStatus("waiting", "the worker starts"))

    @property
    def name(self) -> str:
        return self.candidate.name


class Guests:
    """Owned by the driver, for the length of a training."""

    def __init__(
        self,
        builder: Builder,
        identity: str,
        taken: Callable[[], list[str]],
        ask_host: Callable[..., Any],
        say: Callable[[str], None],
    ) -> None:
        """`identity` names the run on other machines' disks; `taken` are the names of our own workers."""
        self._builder = builder
        self._identity = identity
        self._taken = taken
        self._ask_host = ask_host
        self._say = say
        self._guests: dict[str, Guest] = {}
        self._answers: dict[str, JoinStatus] = {}
        self._number = FIRST_NUMBER

    def __len__(self) -> int:
        return len(self._guests)

    def tend(self, exchange: Callable[[dict[str, JoinStatus]], list[JoinRequest]]) -> None:
        """One round: `exchange` takes our answers to the host and brings the join requests that stand."""
        statuses = {key: guest.status for key, guest in self._guests.items()}
        for request in exchange({**self._answers, **statuses}):
            self._hear(request)
        jobs = {guest.job: guest for guest in self._guests.values()}
        done, _ = ray.wait(list(jobs), num_returns=len(jobs), timeout=0) if jobs else ([], [])
        for job in done:
            self._look_at(jobs[job])

    def stop(self, wait_s: float) -> None:
        """They give back what they play and deliver what is finished; their machines go on polling."""
        for guest in self._guests.values():
            guest.actor.stop.remote()
        jobs = [guest.job for guest in self._guests.values()]
        if jobs:
            ray.wait(jobs, num_returns=len(jobs), timeout=wait_s)
        for guest in list(self._guests.values()):
            self._let_go(guest, JoinStatus("waiting", "the training stops"))

    def _hear(self, request: JoinRequest) -> None:
        key = request.candidate.key
        if (guest := self._guests.get(key)) is not None:
            if request.leaving and not guest.leaving:
                guest.leaving = True
                guest.actor.stop.remote()
        elif request.leaving:
            self._answers[key] = JoinStatus("left")
        elif self._answers.get(key, JoinStatus("waiting")).status == "waiting":
            self._welcome(request.candidate)

    def _welcome(self, candidate: Candidate) -> None:
        if candidate.name in [*self._taken(), *(guest.name for guest in self._guests.values())]:
            detail = f"a worker named {candidate.name} plays already; give this one another --name, or wait for its end"
            self._answers[candidate.key] = JoinStatus("waiting", detail)
            return
        try:
            config = joined_config(self._builder.config, candidate.overrides)
        except ConfigError as error:
            self._answers[candidate.key] = JoinStatus("refused", str(error))
            return
        builder = type(self._builder)(config, Path(candidate.spool) / self._identity)
        self._number += 1
        # Hard: on any other machine it would have neither its devices nor its spool.
        place = NodeAffinitySchedulingStrategy(node_id=candidate.node, soft=False)
        actor = (
            ray.remote(WorkerActor)
            .options(num_cpus=0, scheduling_strategy=place, max_restarts=config.runtime.max_restarts)
            .remote(builder, candidate.name, self._number, True)
        )
        self._answers.pop(candidate.key, None)
        self._guests[candidate.key] = Guest(candidate, actor, actor.ready.remote())

    def _look_at(self, guest: Guest) -> None:
        """Something that it did has ended, well or not."""
        try:
            ray.get(guest.job)
        except RayTaskError as error:  # first: it may be both
            self._hear_error(guest, original(error))
        except RayError:  # it died, or has no machine any more to be started on
            self._on_process_death(guest)
        else:
            if guest.leaving:
                self._let_go(guest, JoinStatus("left"))
                self._say(f"{guest.name} has left; the others go on.")
            else:
                self._play(guest)

    def _play(self, guest: Guest) -> None:
        if not guest.playing:
            devices = joined_config(self._builder.config, guest.candidate.overrides).devices.per_worker
            guest.status = JoinStatus("playing", f"{devices} devices")
            self._say(f"{guest.name} plays with {devices} devices.")
        guest.playing = True
        guest.job = guest.actor.play.remote()

    def _hear_error(self, guest: Guest, error: Exception) -> None:
        if isinstance(error, StorageFull | Unreachable) and not guest.leaving:
            time.sleep(0.1)  # the one thing that helps here is time
            guest.job = guest.actor.ready.remote()
            return
        self._let_go(guest, JoinStatus("refused", f"the worker cannot play: {error}"))
        self._lose(guest)
        self._say(f"{guest.name} cannot play and is let go: {error}")

    def _on_process_death(self, guest: Guest) -> None:
        if not guest.playing and guest.deaths:
            self._await_return(guest)  # the death we know of: until the new process is up, every call fails so
            return
        guest.deaths += 1
        self._lose(guest)
        if guest.deaths > self._builder.config.runtime.max_restarts:
            self._let_go(guest, JoinStatus("refused", f"its process died {guest.deaths} times"))
            self._say(f"{guest.name} died too often; the others go on without it.")
            return
        self._await_return(guest)
        if guest.candidate.key in self._guests:
            self._say(f"{guest.name} died and is started again.")

    def _await_return(self, guest: Guest) -> None:
        guest.playing = False
        if self._node_lives(guest) and not guest.leaving:
            time.sleep(0.1)
            guest.job = guest.actor.ready.remote()
        else:
            self._let_go(guest, JoinStatus("left", "its process died"))
            self._say(f"{guest.name} is gone; the others go on without it.")

    def _lose(self, guest: Guest) -> None:
        self._ask_host("lose_worker", guest.name)

    def _let_go(self, guest: Guest, status: JoinStatus) -> None:
        del self._guests[guest.candidate.key]
        self._answers[guest.candidate.key] = status
        ray.kill(guest.actor)

    def _node_lives(self, guest: Guest) -> bool:
        return any(node["NodeID"] == guest.candidate.node and node["Alive"] for node in ray.nodes())
