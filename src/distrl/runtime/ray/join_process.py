"""The process on a machine that joins: makes it a node of the training's Ray, and knocks until it may play.

Started by `distrl.runtime.join_watcher` with a folder for the node; the first line of its standard input is the offer,
and when that closes it leaves. What it has to say is one JSON object per line.
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
from distrl.runtime.join_requests import NEW, Candidate
from distrl.runtime.join_watcher import GONE, Offer
from distrl.runtime.ray.cluster import check_token
from distrl.runtime.ray.handle import Handle
from distrl.runtime.ray.host_actor import HostActor
from distrl.runtime.ray.node import AUTO, TooSlow, answers, start_node, use_node
from distrl.runtime.ray.run import NAMESPACE
from distrl.store.provenance import code_digest

KNOCK_S = 1.0
ANSWER_S = 10.0
FIND_S = 30.0
"""How long a Ray may run without a training before we say so."""
SILENCE_S = 20.0
"""A training that says nothing for this long, and is not where it was, is gone."""
FAREWELL_S = 90.0
"""Leaving takes no longer than this."""


def main(folder: Path) -> int:
    offer = Offer(**{**(tree := json.loads(sys.stdin.readline())), "overrides": tuple(tree["overrides"])})
    leaving = threading.Event()
    threading.Thread(target=_await_end_of_input, args=(leaving,), daemon=True).start()
    try:
        code = play(offer, folder, leaving)
    except DistrlError as error:
        tell(error=str(error))
        code = 2
    except TooSlow:
        tell(say="This machine was too busy to start Ray in half a minute; trying again.")
        code = GONE
    if code == GONE:
        sys.stdout.flush()
        os._exit(code)  # without its head Ray would keep us here; its processes end with ours
    ray.shutdown()
    return code


def play(offer: Offer, folder: Path, leaving: threading.Event) -> int:
    """Exit status: 0 after the training or our leave, `GONE` when it went away. Raises `CannotJoin` when refused."""
    candidate = Candidate(
        name=offer.name,
        key=uuid.uuid4().hex,
        node=enter(offer, folder / "ray"),
        code=code_digest(),
        version=distrl.__version__,
        spool=offer.spool,
        overrides=offer.overrides,
    )
    namespace = find_training(offer, leaving)
    host: Handle[HostActor] = Handle(ray.get_actor("host", namespace=namespace), "host", ANSWER_S)
    said, noticed, heard_at, left_at = "", False, time.monotonic(), float("inf")
    while True:
        if leaving.is_set():
            left_at = min(left_at, time.monotonic())
        try:
            standing = host.ask(HostActor.knock, asdict(candidate), leaving.is_set())
            heard_at = time.monotonic()
        except Unreachable:
            if is_gone(offer, namespace, time.monotonic() - heard_at):
                tell(say="The training is gone. It is joined again when it is back; Ctrl-C ends this.")
                return GONE
            standing = {"status": "waiting", "detail": "the host does not answer; it may be starting again"}
        noticed = noticed or standing != asdict(NEW)
        if (text := f"{offer.name} is {standing['status']}: {standing['detail']}") != said:
            tell(say=text)
            said = text
        if standing["status"] == "refused":
            raise CannotJoin(standing["detail"])
        if standing["status"] in ("left", "over") or time.monotonic() - left_at > FAREWELL_S:
            return 0
        if leaving.is_set() and not noticed:
            return 0  # there is nothing to hand back, and a training that evaluates would keep us waiting
        leaving.wait(KNOCK_S) if not leaving.is_set() else time.sleep(KNOCK_S / 5)


def enter(offer: Offer, folder: Path) -> str:
    """Become a node of the training's Ray; returns its id."""
    token = Path(offer.token).absolute() if offer.token else None
    if token is not None:
        check_token(token)
    if offer.address == AUTO:
        return use_node(token)
    if not answers(offer.address):
        raise CannotJoin(
            f"Nothing answers at {offer.address}. The training must be running with runtime.listen set to an address "
            "that this machine can reach; its join command stands in join.txt of the run folder."
        )
    return start_node(offer.address, token, offer.node_resources or {}, offer.listen, folder)


def find_training(offer: Offer, leaving: threading.Event) -> str:
    """The namespace of the training on this Ray. Raises `CannotJoin` when there is none, or more than one to choose
    from."""
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
        time.sleep(KNOCK_S)


def is_gone(offer: Offer, namespace: str, silent_s: float) -> bool:
    """Whether the training has ended. Asks Ray only while Ray is there: without its head it would never answer."""
    if offer.address != AUTO and not answers(offer.address):
        return True
    return silent_s > SILENCE_S and namespace not in _namespaces()


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
    time.sleep(FAREWELL_S + ANSWER_S)
    os._exit(1)  # Ray does not let go of us


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
