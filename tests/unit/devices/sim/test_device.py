"""The simulated phone behind its address."""

from __future__ import annotations

import asyncio

import pytest

from distrl.devices.open import open_device
from distrl.devices.sim.device import SimPhone
from distrl.devices.sim.options import SimOptions
from distrl.errors import ConfigError, UnknownName
from distrl.types import Press, Tap, Task, Wait

TASK = Task("t", "s", "train", "clock/x", "goal", seed=3, max_steps=5, start=(("open", "clock", "alarms"),))


def test_the_address_says_how_the_phone_behaves():
    options = SimOptions.parse("sim://phone?latency=two-speed&scale=0.01&popups=0.05")
    assert options == SimOptions("two-speed", 0.01, 0.05)
    assert SimOptions.parse("sim://phone") == SimOptions()


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("sim://phoen", "Did you mean 'phone'"),
        ("sim://phone?latancy=none", "Did you mean 'latency'"),
        ("sim://phone?latency=slow", "emulator"),
        ("sim://phone?popups=2", "from 0 to 1"),
        ("sim://phone?scale=fast", "scale='fast'"),
    ],
)
def test_a_wrong_address_is_refused_with_what_is_known(address, message):
    with pytest.raises(ConfigError, match=message):
        SimPhone(address)


@pytest.mark.parametrize("address", ["simm://phone", "phone", ""])
def test_an_unknown_scheme_is_refused(address):
    with pytest.raises(UnknownName, match="sim"):
        open_device(address, seed=0, name="d")


def test_a_screen_that_did_not_change_is_not_encoded_again():
    async def images():
        device = SimPhone("sim://phone")
        first = await device.reset(TASK)
        await device.perform(Wait())
        await device.perform(Tap(500, 70))
        second = await device.screen()
        await device.perform(Press("home"))
        third = await device.screen()
        return first, second, third

    first, second, third = asyncio.run(images())
    assert second.image is first.image
    assert third.image != first.image
    assert (first.foreground, third.foreground) == ("clock", "launcher")


def test_evidence_is_the_state_before_and_after_and_nobody_elses():
    async def play():
        device = SimPhone("sim://phone")
        await device.reset(TASK)
        await device.perform(Press("home"))
        return device

    device = asyncio.run(play())
    evidence = asyncio.run(device.evidence())
    assert evidence["before"]["os"]["stack"][-1]["app"] == "clock"
    assert evidence["after"]["os"]["stack"][-1]["app"] == "launcher"
    evidence["after"]["clock"].clear()
    evidence["before"].clear()
    assert asyncio.run(device.evidence())["after"]["clock"]
    assert asyncio.run(device.evidence())["before"]


def test_waiting_is_done_on_the_loop_and_by_the_scale():
    async def waits():
        device = SimPhone("sim://phone?latency=paper&scale=0.0001")
        loop = asyncio.get_running_loop()
        start = loop.time()
        await device.reset(TASK)
        return loop.time() - start, device._latency.reset_s()

    waited, asked = asyncio.run(waits())
    assert waited >= asked > 0
