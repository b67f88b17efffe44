import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from distrl.errors import CorruptData
from distrl.policies.server import PolicyServer
from distrl.types import Decision, Done, Prompt, Screen, VersionedWeights


class EchoPolicy:
    def __init__(self):
        self.version = 0
        self.batches = []

    def act(self, prompts):
        self.batches.append(len(prompts))
        return [Decision(Done(), p.goal, (1,), (0.0,), 0.0, self.version) for p in prompts]

    def load(self, weights):
        if weights.checksum == "bad":
            raise CorruptData("bad")
        self.version = weights.version


def ask(server, count):
    async def all_at_once():
        return await asyncio.gather(*(server.act(Prompt(str(i), Screen(b"x", 1, 1))) for i in range(count)))

    return all_at_once()


@pytest.mark.parametrize("threaded", [False, True])
def test_devices_that_ask_together_share_a_batch_and_each_gets_its_own_answer(threaded):
    with ThreadPoolExecutor(1) as pool:
        policy = EchoPolicy()
        server = PolicyServer(policy, batch_size=3, executor=pool if threaded else None)
        decisions = asyncio.run(ask(server, 7))
    assert [d.text for d in decisions] == [str(i) for i in range(7)]
    assert policy.batches == [3, 3, 1]


def test_new_weights_show_in_the_next_decision_and_bad_ones_do_not():
    async def story():
        server = PolicyServer(EchoPolicy(), batch_size=4)
        await server.load(VersionedWeights(5, {}, ""))
        assert (await server.act(Prompt("a", Screen(b"x", 1, 1)))).policy_version == 5
        with pytest.raises(CorruptData):
            await server.load(VersionedWeights(6, {}, "bad"))
        assert (await server.act(Prompt("a", Screen(b"x", 1, 1)))).policy_version == 5

    asyncio.run(story())


def test_devices_act_on_the_old_weights_while_new_ones_are_made_ready():
    class Staged(EchoPolicy):
        def stage(self, weights):
            assert acted.wait(30)  # would never come if acting had to wait for us
            return lambda: self.load(weights)

    acted = threading.Event()

    async def story(pool):
        server = PolicyServer(Staged(), batch_size=4, executor=pool)
        loading = asyncio.ensure_future(server.load(VersionedWeights(5, {}, "")))
        await asyncio.sleep(0)
        assert (await server.act(Prompt("a", Screen(b"x", 1, 1)))).policy_version == 0
        acted.set()
        await loading
        assert (await server.act(Prompt("a", Screen(b"x", 1, 1)))).policy_version == 5

    with ThreadPoolExecutor(1) as pool:
        asyncio.run(story(pool))


def test_features_can_be_read_while_a_batch_is_being_computed():
    class Slow(EchoPolicy):
        def act(self, prompts):
            started.set()
            assert told.wait(30)
            return super().act(prompts)

        def known_features(self, digests):
            return dict.fromkeys(digests, 1)

    started, told = threading.Event(), threading.Event()

    async def story(pool):
        server = PolicyServer(Slow(), batch_size=4, executor=pool)
        asking = asyncio.ensure_future(server.act(Prompt("a", Screen(b"x", 1, 1))))
        while not started.is_set():
            await asyncio.sleep(0.001)
        assert server.known_features(["d"]) == {"d": 1}
        told.set()
        await asking

    with ThreadPoolExecutor(1) as pool:
        asyncio.run(story(pool))


def test_a_failing_model_is_heard_of_by_every_device_that_waits():
    class Broken(EchoPolicy):
        def act(self, prompts):
            raise RuntimeError("out of memory")

    async def story():
        server = PolicyServer(Broken(), batch_size=4)
        answers = await asyncio.gather(
            *(server.act(Prompt("a", Screen(b"x", 1, 1))) for _ in range(6)), return_exceptions=True
        )
        assert [str(a) for a in answers] == ["out of memory"] * 6

    asyncio.run(story())


def test_a_batch_that_is_not_full_waits_for_others_and_a_full_one_does_not():
    async def arrive_one_by_one(server, gap_s):
        async def late(number):
            await asyncio.sleep(number * gap_s)
            return await server.act(Prompt(str(number), Screen(b"x", 1, 1)))

        await asyncio.gather(*(late(number) for number in range(4)))

    patient, hasty = EchoPolicy(), EchoPolicy()
    asyncio.run(arrive_one_by_one(PolicyServer(patient, batch_size=4, wait_s=60.0), 0.01))
    asyncio.run(arrive_one_by_one(PolicyServer(hasty, batch_size=4), 0.01))
    assert patient.batches == [4]  # the fourth filled it: the batch wait of a minute was cut short
    assert hasty.batches == [1, 1, 1, 1]


def test_a_single_prompt_is_answered_when_the_batch_wait_is_over():
    policy = EchoPolicy()
    assert len(asyncio.run(ask(PolicyServer(policy, batch_size=8, wait_s=0.02), 1))) == 1
    assert policy.batches == [1]
