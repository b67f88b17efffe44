"""The process on a machine that joins: makes it a node of the training's Ray, and polls the host until it is let go.

Started by `distrl.runtime.join_watcher` with a folder for the node and the environment that Ray needs. The first line
of its standard input is the offer, and when that closes it leaves. What it has to say is one JSON object per line.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
import uuid
from dataclasses import asdict
from pathlib import Path

import ray

import distrl
from distrl.errors import CannotJoin, DistrlError, Unreachable
from distrl.ports import LOOPBACK
from distrl.runtime.join_requests import NEW, Candidate, JoinStatus
from distrl.runtime.join_watcher import TRY_AGAIN, Offer
from distrl.runtime.ray.environment import AUTO, PREFIX, answers
from distrl.runtime.ray.handle import Handle
from distrl.runtime.ray.host_actor import HostActor
from distrl.runtime.ray.node import RayNode, TooSlow, start_node
from distrl.runtime.ray.run import NAMESPACE
from distrl.runtime.ray.tokens import use_token
from distrl.store.provenance import code_digest

POLL_S = 1.0
ANSWER_S = 10.0
FIND_S = 30.0
"""How long a Ray may run without a training before we say so."""
SILENCE_S = 20.0
"""A training that says nothing for this long, and is not where it was, is gone."""
LEAVE_S = 90.0
"""Leaving takes no longer than this."""


def main(folder: Path) -> int:
    tree = json.loads(sys.stdin.readline())
    offer = Offer(**{**tree, "overrides": tuple(tree["overrides"])})
    leaving = threading.Event()
    threading.Thread(target=_await_end_of_input, args=(leaving,), daemon=True).start()
    try:
        node_id, node = enter(offer, folder / "ray")
        code = _Poller(offer, node_id, leaving).run()
    except DistrlError as error:
        tell(error=str(error))
        return 2
    except TooSlow:
        tell(say="This machine was too busy to start Ray in half a minute; trying again.")
        code = TRY_AGAIN
    if code == TRY_AGAIN:
        sys.stdout.flush()
        os._exit(code)  # without its head Ray would keep us here; the node ends with us
    ray.shutdown()
    if node is not None:
        node.close()
    return code


class _Poller:
    """Asks the host again and again with the same request, and tells the watcher what it answers."""

    def __init__(self, offer: Offer, node_id: str, leaving: threading.Event) -> None:
        self._offer = offer
        self._leaving = leaving
        self._namespace = find_training(offer, leaving)
        actor = ray.get_actor("host", namespace=self._namespace)
        self._host: Handle[HostActor] = Handle(actor, "host", ANSWER_S)
        self._request = asdict(
            Candidate(
                name=offer.name,
                key=uuid.uuid4().hex,
                node=node_id,
                code=code_digest(),
                version=distrl.__version__,
                spool=offer.spool,
                overrides=offer.overrides,
            )
        )
        self._told = ""
        self._known = False
        """Whether the driver has taken notice of us."""
        self._answered_at = time.monotonic()

    def run(self) -> int:
        """Exit status: 0 after the training or our leave, `TRY_AGAIN` when it went away. Raises `CannotJoin`."""
        deadline = float("inf")
        while True:
            if leaving := self._leaving.is_set():
                deadline = min(deadline, time.monotonic() + LEAVE_S)
            status = self._poll(leaving)
            if status is None:
                tell(say="The training is gone. It is joined again when it is back; Ctrl-C ends this.")
                return TRY_AGAIN
            self._tell(status)
            if status.status == "refused":
                raise CannotJoin(status.detail)
            if status.status in ("left", "over") or time.monotonic() > deadline:
                return 0
            if leaving and not self._known:
                return 0  # there is nothing to hand back, and a training that evaluates would keep us waiting
            time.sleep(POLL_S / 5) if leaving else self._leaving.wait(POLL_S)

    def _poll(self, leaving: bool) -> JoinStatus | None:
        """What the host answers; null when the training is gone."""
        try:
            status = JoinStatus(**self._host.ask(HostActor.poll, self._request, leaving))
        except Unreachable:
            silent_s = time.monotonic() - self._answered_at
            # Ray is asked only while it is there: without its head it would never answer.
            if not answers(self._offer.address) or (silent_s > SILENCE_S and self._namespace not in _namespaces()):
                return None
            return JoinStatus("waiting", "the host does not answer; it may be starting again")
        self._answered_at = time.monotonic()
        self._known = self._known or status != NEW
        return status

    def _tell(self, status: JoinStatus) -> None:
        if (text := f"{self._offer.name} is {status.status}: {status.detail}") != self._told:
            tell(say=text)
        self._told = text


def enter(offer: Offer, folder: Path) -> tuple[str, RayNode | None]:
    """Connect to a node of the training's Ray, started here unless there is one: its id. Raises `CannotJoin`."""
    token = Path(offer.token).absolute() if offer.token else None
    if token is not None:
        use_token(token)
    if offer.address == AUTO:
        connect(AUTO)
        return str(ray.get_runtime_context().get_node_id()), None
    if not answers(offer.address):
        raise CannotJoin(
            f"Nothing answers at {offer.address}. The training must be running with runtime.listen set to an address "
            "that this machine can reach; its join command stands in join.txt of the run folder."
        )
    # Ray connects to any node on this machine, not always to ours: ours is known by a resource that no other has.
    mark = f"{PREFIX}{uuid.uuid4().hex}"
    node = start_node(offer.address, token, {**(offer.node_resources or {}), mark: 1.0}, offer.listen, folder)
    connect(offer.address.replace("localhost", LOOPBACK))
    for each in ray.nodes():
        if each["Alive"] and mark in each["Resources"]:
            return str(each["NodeID"]), node
    raise CannotJoin("This machine's Ray node ended as soon as it had started. Join again.")


def connect(address: str) -> None:
    """Make this process a driver of the Ray at that address. Raises `CannotJoin`."""
    try:
        ray.init(address=address, log_to_driver=False, logging_level="ERROR")
    except (ConnectionError, RuntimeError) as error:
        if address == AUTO:
            raise CannotJoin(f"No Ray node runs on this machine: {error}") from error
        raise CannotJoin(f"Ray at {address} does not take this machine: {error}") from error


def find_training(offer: Offer, leaving: threading.Event) -> str:
    """The namespace of the training on this Ray. Raises `CannotJoin` unless there is exactly one to choose."""
    deadline = time.monotonic() + FIND_S
    while True:
        found = {space: space.split("-", 2)[2] for space in _namespaces()}
        wanted = [space for space, run in found.items() if offer.run in (None, run)]
        if len(wanted) == 1:
            return wanted[0]
        if len(wanted) > 1:
            raise CannotJoin(f"Several trainings run there: {', '.join(sorted(found.values()))}. Choose one by --run.")
        if time.monotonic() > deadline or leaving.is_set():
            there = f"no training {offer.run!r}, only {', '.join(found.values())}" if found else "no training"
            raise CannotJoin(f"A Ray answers at {offer.address}, but {there} runs on it.")
        time.sleep(POLL_S)


def tell(**line: str) -> None:
    print(json.dumps(line), flush=True)


def _namespaces() -> list[str]:
    """Of all trainings on this Ray."""
    named = ray.util.list_named_actors(all_namespaces=True)
    return [each["namespace"] for each in named if each["name"] == "host" and each["namespace"].startswith(NAMESPACE)]


def _await_end_of_input(leaving: threading.Event) -> None:
    while sys.stdin.read(1024):
        pass
    leaving.set()
    time.sleep(LEAVE_S + ANSWER_S)
    os._exit(1)  # Ray does not let go of us


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
