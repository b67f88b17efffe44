"""The rungs of a phone behind adb, on served phones."""

from __future__ import annotations

import asyncio

import pytest
from served import opened, served, strike

from distrl.devices.adb import recovery
from distrl.devices.adb import server as servers
from distrl.devices.adb.connection import AdbSession
from distrl.devices.adb.file_lock import FileLock
from distrl.devices.adb.phone_client import PhoneClient
from distrl.devices.sim.device import SimPhone
from distrl.errors import DeviceError, DeviceFrozen, DeviceGone, PhoneFull, StillBooting
from distrl.types import Press, Task

TASK = Task("a", "s", "train", "t", "goal", seed=11, max_steps=5)
NOTES = Task("a", "s", "train", "t", "goal", seed=11, max_steps=5, params={"package": "org.distrl.notes"})
FOREVER = float("inf")


@pytest.fixture
def phones():
    with served(phones=2, seed=3) as phones:
        yield phones


def test_every_rung_leaves_a_healthy_phone_healthy_and_ours(phones):
    async def climb():
        async with opened(f"adb://{phones.address}") as device:
            await device.reset(TASK)
            for rung in device.rungs:
                await device.recover(rung)
                assert FileLock.acquire(phones.address) is None
            return device.rungs, await device.reset(TASK)

    rungs, screen = asyncio.run(climb())
    assert rungs == ("retry", "reconnect", "restart helper", "force-stop app", "reboot", "wipe")
    assert screen.digest == asyncio.run(SimPhone("sim://phone").reset(TASK)).digest


def test_a_dry_run_has_only_rungs_that_look(phones):
    async def climb():
        async with opened(f"adb://{phones.address}?dry=1") as device:
            for rung in device.rungs:
                await device.recover(rung)
            with pytest.raises(DeviceError, match="no rung 'reboot'"):
                await device.recover("reboot")
            return device.rungs

    booted_at = phones.phone.power.uptime_s
    assert asyncio.run(climb()) == ("retry", "reconnect")
    assert phones.phone.power.uptime_s > booted_at


@pytest.mark.parametrize(("query", "may"), [("reset=home", False), ("reset=clear", True), ("reset=none", False)])
def test_data_of_an_app_is_wiped_only_where_a_reset_wipes_it_anyway(phones, query, may):
    async def climb():
        async with opened(f"adb://{phones.address}?app=org.distrl.notes&{query}") as device:
            await device.reset(NOTES)
            device._attachment.served = False  # as any phone that is not ours
            return "wipe" in device.rungs

    assert asyncio.run(climb()) is may


def test_a_wipe_gives_the_task_s_app_its_first_data_and_leaves_the_others(phones):
    def notes_of(phone):
        return phone.evidence()["after"]["notes"]

    async def climb():
        async with opened(f"adb://{phones.address}?reset=clear") as device:
            await device.reset(NOTES)
            fresh = notes_of(phones.phone)
            phones.phone._edit(lambda tree: tree["notes"].clear())
            phones.phone._edit(lambda tree: tree["mail"].update(spoilt=True))
            await device.recover("wipe")
            return fresh

    fresh = asyncio.run(climb())
    assert notes_of(phones.phone) == fresh
    assert phones.phone.evidence()["after"]["mail"]["spoilt"]


def test_an_app_is_stopped_and_the_phone_shows_its_home(phones):
    async def climb():
        async with opened(f"adb://{phones.address}?reset=home") as device:
            assert (await device.reset(NOTES)).foreground == "notes"
            await device.recover("force-stop app")
            return (await device.screen()).foreground

    assert asyncio.run(climb()) == "launcher"
    assert "notes" not in phones.phone.running


def test_a_keyboard_of_ours_that_was_left_behind_is_put_away(phones):
    async def climb():
        async with opened(f"adb://{phones.address}") as device:
            await device.reset(TASK)
            usual = phones.phone.keyboard
            phones.phone.keyboard = "com.android.adbkeyboard/.AdbIME"
            await device.recover("restart helper")
            return usual

    assert asyncio.run(climb()) == phones.phone.keyboard


def test_a_frozen_phone_passes_no_proof_before_it_is_rebooted(phones):
    async def climb():
        async with opened(f"adb://{phones.address}") as device:
            await device.reset(TASK)
            phones.phone.power.freeze(FOREVER)
            for rung in device.rungs[:-2]:
                with pytest.raises(DeviceFrozen):
                    await device.recover(rung)
            await device.recover("reboot")
            await device.perform(Press("home"))

    asyncio.run(climb())


def test_a_frozen_phone_is_found_by_the_first_look_after_an_input(phones):
    async def play():
        async with opened(f"adb://{phones.address}") as device:
            await device.reset(TASK)
            strike(phones.phone, "input", {"freeze": FOREVER})
            await device.perform(Press("home"))
            await device.screen()

    with pytest.raises(DeviceFrozen, match="A reboot helps"):
        asyncio.run(play())


def test_a_phone_that_boots_is_waited_for_by_a_retry_and_not_by_a_reconnect():
    async def climb(address):
        async with opened(f"adb://{address}") as device:
            with pytest.raises(StillBooting):
                await device.recover("reconnect")
            await device.recover("retry")

    with served("slow-boot=1:1") as phones:
        asyncio.run(climb(phones.address))
        assert phones.phone.power.ready


def test_a_phone_that_never_boots_can_still_be_rebooted():
    async def climb(address, phone):
        async with opened(f"adb://{address}") as device:
            with pytest.raises(StillBooting):
                await device.screen()
            phone.fault_injector.faults = {}
            await device.recover("reboot")

    with served(f"slow-boot=1:{1e6}") as phones:
        asyncio.run(climb(phones.address, phones.phone))
        assert phones.phone.power.ready


def test_a_reboot_that_was_never_heard_is_not_waited_for(phones, monkeypatch):
    async def unheard(self):
        return

    async def climb():
        async with opened(f"adb://{phones.address}") as device:
            await device.reset(TASK)
            monkeypatch.setattr(PhoneClient, "reboot", unheard)
            with pytest.raises(DeviceError, match="was told to reboot and did not"):
                await device.recover("reboot")

    monkeypatch.setattr(recovery, "SHUTDOWN_S", 0.1)
    asyncio.run(asyncio.wait_for(climb(), 20.0))


@pytest.mark.parametrize("rung", ["reconnect", "restart helper", "force-stop app", "reboot", "wipe"])
def test_whoever_begins_above_reconnect_gets_a_line_that_works(phones, rung):
    async def climb():
        async with opened(f"adb://{phones.address}?call_s=2") as device:
            await device.reset(TASK)
            AdbSession(servers._servers[False].port).adb.server_kill()
            with pytest.raises(DeviceGone):
                await device.recover("retry")
            await device.recover(rung)

    asyncio.run(climb())


def test_a_full_phone_is_emptied_at_reset_and_one_that_stays_full_says_so(phones):
    class Stubborn(type(phones.phone.files)):
        full = property(lambda self: True, lambda self, value: None)

    async def play():
        async with opened(f"adb://{phones.address}") as device:
            phones.phone.files.full = True
            await device.reset(TASK)
            assert not phones.phone.files.full
            phones.phone.files.__class__ = Stubborn
            with pytest.raises(PhoneFull):
                await device.reset(TASK)

    asyncio.run(play())


def test_an_app_that_hangs_on_a_served_phone_is_waited_for_and_flagged(phones):
    async def play(query):
        async with opened(f"adb://{phones.address}?{query}") as device:
            await device.reset(TASK)
            strike(phones.phone, "input", {"anr": 0.0})
            await device.perform(Press("enter"))
            screen = await device.screen()
            return screen.flags, phones.phone.popup is None, device.facts().get("popups")

    assert asyncio.run(play("")) == (("dismissed-anr",), True, {"anr": 1})
    assert asyncio.run(play("popups=leave")) == ((), False, None)


def test_the_pop_ups_of_the_simulated_world_are_the_agent_s_own_business(phones):
    def ask(tree):
        tree["os"].update(popup={"kind": "permission", "app": "notes"})

    async def play(query):
        async with opened(f"adb://{phones.address}?{query}") as device:
            await device.reset(TASK)
            phones.phone._edit(ask)
            flags = (await device.screen()).flags
            return flags, phones.phone.popup is None, phones.phone.evidence()["after"]["permissions"]["notifications"]

    assert asyncio.run(play("")) == ((), False, [])
    assert asyncio.run(play("popups=dismiss")) == (("dismissed-permission",), True, [])


def test_facts_name_the_phone_and_its_clock():
    async def play(address):
        async with opened(f"adb://{address}") as device:
            assert device.facts() == {}
            await device.reset(TASK)
            return device.facts()

    with served("clock-off=1:3600") as phones:
        facts = asyncio.run(play(phones.address))
    assert facts["serial"] == phones.address
    assert facts["clock_offset_s"] == pytest.approx(3600.0, abs=30.0)
