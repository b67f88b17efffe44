"""What breaks between us and a phone: a typed error for its one episode, nothing stale, and nobody else notices."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from served import opened as served_device
from served import served, strike

from distrl.devices.adb import server as servers
from distrl.devices.adb.connection import AdbSession
from distrl.devices.adb.shell import Shell
from distrl.devices.sim.device import SimPhone
from distrl.errors import DeviceGone, DeviceLost, NoPicture, NoSuchDevice, NotAuthorized
from distrl.types import Press, Tap, Task

TASK = Task("a", "s", "train", "t", "goal", seed=11, max_steps=5)
FOREVER = float("inf")
PATIENCE_S = 20


def opened(address: str, query: str = "call_s=0.5"):
    return served_device(f"adb://{address}?{query}")


@pytest.fixture
def phones():
    with served(phones=2, seed=3) as phones:
        yield phones


@pytest.fixture(scope="module")
def expected():
    return asyncio.run(SimPhone("sim://phone").reset(TASK))


@pytest.fixture
def busy(monkeypatch):
    """The threads that are in a call to a phone."""
    inside, run = set(), Shell.run

    def counted(shell, script):
        inside.add(threading.get_ident())
        try:
            return run(shell, script)
        finally:
            inside.discard(threading.get_ident())

    monkeypatch.setattr(Shell, "run", counted)
    return inside


def test_a_call_that_hangs_once_is_made_again(phones, expected):
    async def play():
        async with opened(phones.address) as device:
            await device.reset(TASK)
            strike(phones.phone, "screencap", {"hang-screencap": FOREVER})
            return await device.screen()

    assert asyncio.run(play()).digest == expected.digest


def test_a_phone_that_hangs_is_lost_its_neighbour_plays_on_and_its_threads_come_free(phones, busy):
    async def play():
        async with opened(phones.addresses[0]) as stuck, opened(phones.addresses[1]) as other:
            await asyncio.gather(stuck.reset(TASK), other.reset(TASK))
            strike(phones.phone, "screencap", *[{"hang-screencap": FOREVER}] * 3)
            hanging = asyncio.ensure_future(stuck.screen())
            screens = 0
            while not hanging.done():
                await other.perform(Press("home"))
                screens += bool((await other.screen()).image)
            with pytest.raises(DeviceLost, match=r"no answer to screencap"):
                await hanging
            return screens

    assert asyncio.run(play()) > 3
    deadline = time.monotonic() + PATIENCE_S
    while busy and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not busy


def test_a_touch_that_hangs_is_not_repeated(phones):
    async def play():
        async with opened(phones.address) as device:
            await device.reset(TASK)
            coming = strike(phones.phone, "input", {"hang-input": FOREVER}, {"hang-input": FOREVER})
            with pytest.raises(DeviceLost, match="input"):
                await device.perform(Tap(500, 500))
            return len(coming)

    assert asyncio.run(play()) == 1


def test_a_cancelled_call_lets_go_of_its_connection(phones, busy):
    async def play():
        async with opened(phones.address, "call_s=60") as device:
            await device.reset(TASK)
            strike(phones.phone, "screencap", {"hang-screencap": FOREVER})
            looking = asyncio.ensure_future(device.screen())
            while not busy:
                await asyncio.sleep(0.01)
            looking.cancel()
            while busy:
                await asyncio.sleep(0.01)
            assert looking.cancelled()

    asyncio.run(asyncio.wait_for(play(), PATIENCE_S))


@pytest.mark.parametrize("fault", ["empty-screencap", "truncated-screencap", "garbled-screencap"])
@pytest.mark.parametrize("times", [1, 2])
def test_a_broken_picture_is_taken_again_and_the_other_way(phones, expected, fault, times):
    async def play():
        async with opened(phones.address) as device:
            await device.reset(TASK)
            coming = strike(phones.phone, "screencap", *[{fault: 0.0}] * times)
            screen = await device.screen()
            assert not coming
            return screen

    screen = asyncio.run(play())
    assert (screen.digest, screen.flags) == (expected.digest, ())


@pytest.mark.parametrize("fault", ["empty-screencap", "truncated-screencap", "garbled-screencap"])
def test_a_phone_that_gives_only_broken_pictures_is_lost_with_the_reasons(phones, fault):
    async def play():
        async with opened(phones.address) as device:
            await device.reset(TASK)
            strike(phones.phone, "screencap", *[{fault: 0.0}] * 3)
            await device.screen()

    with pytest.raises(NoPicture, match=r"raw: .*; png: "):
        asyncio.run(play())


def test_a_black_screen_is_flagged_and_one_black_moment_is_not(phones, expected):
    async def play():
        async with opened(phones.address) as device:
            await device.reset(TASK)
            strike(phones.phone, "screencap", {"black-screencap": 0.0})
            moment = await device.screen()
            strike(phones.phone, "screencap", *[{"black-screencap": 0.0}] * 3)
            dark = await device.screen()
            phones.phone.awake = False
            return moment, dark, await device.screen()

    moment, dark, woken = asyncio.run(play())
    assert (moment.digest, moment.flags) == (expected.digest, ())
    assert dark.flags == ("black",)
    assert (woken.digest, woken.flags) == (expected.digest, ())


@pytest.mark.parametrize("struck", [[{"not-idle-dump": 0.0}], [{"hang-dump": FOREVER}] * 2])
def test_a_phone_without_a_tree_shows_its_picture_and_no_old_elements(phones, expected, struck):
    async def play():
        async with opened(phones.address, "tree=1&call_s=0.5") as device:
            first = await device.reset(TASK)
            strike(phones.phone, "dump", *struck)
            return first, await device.screen(), await device.screen()

    first, bare, again = asyncio.run(play())
    assert first == again == expected
    assert (bare.digest, bare.elements, bare.flags) == (expected.digest, (), ("no-tree",))


def test_a_phone_that_goes_offline_is_lost_at_once_and_comes_back(phones, expected):
    async def play():
        async with opened(phones.address, "call_s=5") as device:
            await device.reset(TASK)
            strike(phones.phone, "command", {"offline": 0.2})
            with pytest.raises(DeviceGone):
                await device.screen()
        while True:  # as a slot does: opened anew until it answers
            async with opened(phones.address, "call_s=5") as device:
                try:
                    return await device.reset(TASK)
                except (DeviceLost, NoSuchDevice):
                    await asyncio.sleep(0.1)

    assert asyncio.run(asyncio.wait_for(play(), PATIENCE_S)).digest == expected.digest


def test_a_phone_that_is_unplugged_is_lost_and_then_not_there(phones):
    async def play():
        async with opened(phones.address, "call_s=5") as device:
            await device.reset(TASK)
            strike(phones.phone, "command", {"unplug": FOREVER})
            with pytest.raises(DeviceGone):
                await device.screen()
        async with opened(phones.address, "call_s=2") as device:
            with pytest.raises(NoSuchDevice, match="cannot be connected to"):
                await device.reset(TASK)

    asyncio.run(play())


def test_a_phone_that_trusts_nobody_says_what_to_press():
    async def play(address):
        async with opened(address, "call_s=2") as device:
            await device.reset(TASK)

    with served("unauthorized") as phones, pytest.raises(NotAuthorized, match="press Allow"):
        asyncio.run(play(phones.address))


def test_a_server_that_dies_is_started_again_for_all_its_phones(phones, expected):
    async def play():
        async with opened(phones.addresses[0]) as one, opened(phones.addresses[1]) as two:
            await asyncio.gather(one.reset(TASK), two.reset(TASK))
            port = servers._servers[False].port
            AdbSession(port).adb.server_kill()
            screens = []
            for device in (one, two):
                with pytest.raises(DeviceGone):
                    await device.screen()
                await device.close()
                screens.append(await device.reset(TASK))
            assert servers._servers[False].port != port
            return screens

    assert [screen.digest for screen in asyncio.run(play())] == [expected.digest] * 2


CHILD = """
import asyncio, sys, time
from distrl.devices.adb import server
from distrl.devices.open import open_device
from distrl.types import Task

async def play():
    device = open_device(sys.argv[1], seed=0, name="test/0")
    await device.reset(Task("a", "s", "train", "t", "goal", seed=11, max_steps=5))
    print(server._servers[False].port, flush=True)
    time.sleep(600)

asyncio.run(play())
"""


def test_a_worker_that_is_killed_leaves_no_server_behind(phones):
    worker = subprocess.Popen([sys.executable, "-c", CHILD, f"adb://{phones.address}"], stdout=subprocess.PIPE)
    port = int(worker.stdout.readline())
    assert servers._version(port) is not None
    assert Path(servers._info_file(port)).exists()
    os.kill(worker.pid, signal.SIGKILL)
    worker.wait()
    deadline = time.monotonic() + PATIENCE_S
    while Path(servers._info_file(port)).exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    assert servers._version(port) is None
    assert not Path(servers._info_file(port)).exists()
