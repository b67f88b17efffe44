"""A brain whose servers die, without any Ray."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from ray.exceptions import ActorUnavailableError

from distrl.errors import PolicyUnreachable
from distrl.runtime.ray.remote_policy import NEWEST, RemotePolicy
from distrl.types import Decision, Done, Element, Prompt, Screen

PROMPT = Prompt("goal", Screen(b"image", 1, 1, (Element("a", "button", (0, 0, 1, 1)),)))


class Call:
    def __init__(self, answer: Callable[..., Awaitable[Any]]) -> None:
        self.remote = answer


class FakeServer:
    """Raises as a dead actor does until it has been asked `dead_for` times."""

    def __init__(self, version: int, dead_for: int = 0) -> None:
        self.asked: list[tuple[Prompt, float]] = []
        self.act = Call(self._act)
        self.version = version
        self.dead_for = dead_for

    async def _act(self, prompt: Prompt, temperature: float, checksum: str) -> Decision:
        self.asked.append((prompt, temperature))
        await asyncio.sleep(0.01)
        if len(self.asked) <= self.dead_for:
            raise ActorUnavailableError("dead", b"\0" * 16)
        return Decision(Done(), "done", (1,), (0.0,), 0.0, self.version)


def policy_client(*servers: FakeServer, wait_s: float = 5.0) -> RemotePolicy:
    return RemotePolicy({f"server-{number}": server for number, server in enumerate(servers)}, 0.7, wait_s)


def test_a_decision_carries_the_version_of_the_server_that_made_it() -> None:
    assert asyncio.run(policy_client(FakeServer(version=7)).act(PROMPT)).policy_version == 7


def test_a_server_gets_the_image_and_the_temperature_and_not_the_elements() -> None:
    server = FakeServer(1)
    asyncio.run(policy_client(server).act(PROMPT))
    prompt, temperature = server.asked[0]
    assert (prompt.screen.image, prompt.screen.elements, prompt.screen.digest) == (b"image", (), PROMPT.screen.digest)
    assert temperature == 0.7


def test_another_server_answers_for_one_that_died_and_the_dead_one_is_avoided() -> None:
    dead, living = FakeServer(1, dead_for=99), FakeServer(2)
    both = policy_client(dead, living)

    async def ask() -> list[int]:
        return [(await both.act(PROMPT)).policy_version for _ in range(4)]

    assert asyncio.run(ask()) == [2, 2, 2, 2]
    assert len(dead.asked) == 1


def test_a_server_that_is_started_again_is_waited_for() -> None:
    server = FakeServer(3, dead_for=2)
    assert asyncio.run(policy_client(server).act(PROMPT)).policy_version == 3


def test_when_no_server_answers_in_time_the_policy_is_unreachable() -> None:
    with pytest.raises(PolicyUnreachable, match="server-0"):
        asyncio.run(policy_client(FakeServer(1, dead_for=99), wait_s=0.2).act(PROMPT))


def test_questions_are_spread_over_the_servers() -> None:
    one, two = FakeServer(1), FakeServer(2)
    both = policy_client(one, two)

    async def ask() -> None:
        await asyncio.gather(*(both.act(PROMPT) for _ in range(8)))

    asyncio.run(ask())
    assert (len(one.asked), len(two.asked)) == (4, 4)


def test_no_weights_are_newer_for_a_worker_without_a_policy() -> None:
    assert policy_client(FakeServer(1)).version == NEWEST
