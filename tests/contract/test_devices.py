"""What every device must keep, whatever it is."""

from __future__ import annotations

import asyncio
import hashlib
import io
import json
from typing import get_args

import emulated
import pytest
from PIL import Image
from served import served

from distrl.devices.base import Describable, Inspectable, Recoverable, Rung
from distrl.devices.open import open_device
from distrl.types import Answer, Done, Impossible, Invalid, LongPress, Press, Swipe, Tap, Task, Type, Wait

ADDRESSES = ("sim://phone", "sim://phone?popups=0.2", "sim://phone?latency=emulator&scale=0", "null://phone")
EMULATOR = f"avd://{emulated.NAME}?count=2&tree=1"
TASK = Task("a", "general", "train", "clock/x", "Set an alarm", seed=11, max_steps=5)
OTHER = Task("b", "general", "train", "clock/x", "Set an alarm", seed=12, max_steps=5)


@pytest.fixture(scope="module")
def phones():
    with served(phones=2, seed=3) as phones:
        yield ",".join(phones.addresses)


@pytest.fixture(scope="module")
def emulator(tmp_path_factory):
    """One emulator for all tests: they share nothing but the phone that every reset makes new."""
    with emulated.sdk(tmp_path_factory.mktemp("android")):
        device = open_device(EMULATOR, seed=0, name="worker/0")
        yield device
        asyncio.run(device.close())


@pytest.fixture(params=(*ADDRESSES, "adb://PHONES", "adb://PHONES?tree=1", EMULATOR))
def device(request, phones):
    if request.param == EMULATOR:
        yield request.getfixturevalue("emulator")
        return
    address = request.param.replace("PHONES", phones)
    device = open_device(address, seed=0, name="worker/0")
    assert device.address == address
    yield device
    asyncio.run(device.close())


def test_a_reset_shows_a_picture_of_the_size_it_says(device):
    screen = asyncio.run(device.reset(TASK))
    image = Image.open(io.BytesIO(screen.image))
    assert image.format == "JPEG"
    assert image.size == (screen.width, screen.height)
    assert screen.digest == hashlib.sha256(screen.image).hexdigest()
    assert screen.foreground
    for element in screen.elements:
        left, top, right, bottom = element.bounds
        assert 0 <= left < right <= screen.width
        assert 0 <= top < bottom <= screen.height


def test_a_reset_undoes_whatever_was_done(device):
    async def firsts():
        first = await device.reset(TASK)
        for action in (Tap(500, 500), Swipe(500, 700, 500, 300), Press("home"), Tap(200, 200)):
            await device.perform(action)
        other = await device.reset(OTHER)
        return first, other, await device.reset(TASK)

    first, other, again = asyncio.run(firsts())
    assert first == again
    assert first.digest != other.digest


def test_a_sibling_shows_the_same_for_the_same_task(device):
    sibling = open_device(device.address, seed=5, name="worker/1")
    try:
        assert asyncio.run(device.reset(TASK)) == asyncio.run(sibling.reset(TASK))
    finally:
        asyncio.run(sibling.close())


def test_every_action_is_taken(device):
    async def play():
        await device.reset(TASK)
        actions = (Tap(0, 0), Tap(1000, 1000), LongPress(500, 500), Swipe(0, 0, 1000, 1000), Type('a "b", ü\n😀'))
        for action in (*actions, Press("enter"), Press("back"), Press("home")):
            await device.perform(action)
            assert (await device.screen()).image

    asyncio.run(play())


@pytest.mark.parametrize("action", [Wait(), Done(), Answer("x"), Impossible(), Invalid("?", "no action")])
def test_these_actions_change_nothing(device, action):
    async def play():
        before = await device.reset(TASK)
        await device.perform(action)
        return before, await device.screen()

    before, after = asyncio.run(play())
    assert before == after


def test_evidence_begins_with_the_state_after_reset(device):
    if not isinstance(device, Inspectable):
        pytest.skip("its state cannot be read")
    asyncio.run(device.reset(TASK))
    evidence = asyncio.run(device.evidence())
    assert evidence["before"] == evidence["after"]
    asyncio.run(device.perform(Swipe(500, 700, 500, 300)))
    assert asyncio.run(device.evidence())["before"] == evidence["before"]


def test_a_device_that_recovers_has_rungs_of_the_ladder_in_its_order_and_none_harms_it(device):
    if not isinstance(device, Recoverable):
        pytest.skip("it is opened anew")

    async def climb():
        before = await device.reset(TASK)
        for rung in device.rungs:
            await device.recover(rung)
            assert (await device.screen()).image
        return before, await device.reset(TASK)

    before, after = asyncio.run(climb())
    assert before == after
    assert [rung for rung in get_args(Rung) if rung in device.rungs] == list(device.rungs)


def test_facts_are_plain_and_ask_the_phone_nothing(device):
    if not isinstance(device, Describable):
        pytest.skip("it has none")
    assert json.loads(json.dumps(device.facts())) == device.facts()
    asyncio.run(device.reset(TASK))
    assert json.loads(json.dumps(device.facts())) == device.facts()
