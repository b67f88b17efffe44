"""A served phone through the whole of `adb://`."""

from __future__ import annotations

import asyncio
import socket
from dataclasses import replace

import pytest
from served import opened, served

from distrl.devices.adb import server as servers
from distrl.devices.adb.connection import AdbSession
from distrl.devices.adb.file_lock import FileLock
from distrl.devices.sim.device import SimPhone
from distrl.errors import ActionRefused, DeviceError, NoSuchDevice
from distrl.types import Press, Swipe, Tap, Task, Type

TASK = Task("a", "s", "train", "t", "goal", seed=11, max_steps=5)


@pytest.fixture(scope="module")
def phones():
    with served(phones=2, seed=3) as phones:
        yield phones


def test_nothing_is_started_before_the_phone_is_asked_for_something(phones):
    async def look():
        async with opened(f"adb://{phones.address}") as device:
            return servers._servers[False].users, device

    assert asyncio.run(look())[0] == 0


def test_the_server_has_a_port_of_its_own_and_ends_with_its_last_device(phones):
    async def use():
        async with opened(f"adb://{phones.addresses[0]}") as one:
            await one.reset(TASK)
            port = servers._servers[False].port
            async with opened(f"adb://{phones.addresses[1]}") as other:
                await other.reset(TASK)
                assert servers._servers[False].port == port
            await one.screen()
            return port

    port = asyncio.run(use())
    assert port != servers.DEFAULT_PORT
    with pytest.raises(ConnectionRefusedError), socket.create_connection(("127.0.0.1", port)):
        pass


def test_a_larger_phone_shows_and_feels_the_same():
    async def states(address):
        async with opened(address) as device:
            await device.reset(TASK)
            for action in (Press("home"), Tap(200, 300), Swipe(500, 700, 500, 300), Tap(1000, 1000)):
                await device.perform(action)
            return (await device.screen()).width, (await device.evidence())["after"]

    with served(seed=3, scale=3) as large:
        width, state = asyncio.run(states(f"adb://{large.address}"))
    assert width == 3 * 192
    assert state == asyncio.run(states("sim://phone"))[1]


def test_a_phone_has_one_owner(phones):
    async def twice():
        async with opened(f"adb://{phones.address}") as first, opened(f"adb://{phones.address}") as second:
            await first.reset(TASK)
            with pytest.raises(NoSuchDevice, match="belongs to another"):
                await second.reset(TASK)
            await first.close()
            await second.reset(TASK)

    asyncio.run(twice())


def test_a_lock_that_nobody_holds_any_more_is_free():
    lock = FileLock.acquire("some phone")
    assert FileLock.acquire("some phone") is None
    del lock
    again = FileLock.acquire("some phone")
    assert again is not None
    again.release()


def test_all_attached_phones_are_shared_out_by_slot(phones, monkeypatch):
    monkeypatch.setenv("ADB_LOCAL_TRANSPORT_MAX_PORT", "5554")  # whoever else runs an emulator here keeps it

    async def share():
        server = servers.acquire_server(True)
        try:
            line = AdbSession(server.ensure())
            for address in phones.addresses:
                line.adb.connect(address)
            async with opened("adb://*", 0) as one, opened("adb://*", 1) as two, opened("adb://*", 2) as three:
                await two.reset(TASK)
                await one.reset(TASK)
                with pytest.raises(NoSuchDevice, match="one of 2 phones"):
                    await three.reset(TASK)
                return one._attachment.serial, two._attachment.serial
        finally:
            servers.release_server(server)

    assert asyncio.run(share()) == tuple(sorted(phones.addresses))


def test_a_phone_that_is_not_there_is_named_with_those_that_are(monkeypatch):
    monkeypatch.setenv("ADB_LOCAL_TRANSPORT_MAX_PORT", "5554")

    async def ask(address):
        async with opened(address) as device:
            await device.reset(TASK)

    with pytest.raises(NoSuchDevice, match=r"no phone 'pixel'.*Attached: none"):
        asyncio.run(ask("adb://pixel?call_s=1"))
    with pytest.raises(NoSuchDevice, match="Plug one in"):
        asyncio.run(ask("adb://*"))


def test_a_dry_run_says_what_it_would_do_and_does_nothing(phones, capsys):
    async def rehearse():
        async with opened(f"adb://{phones.address}") as device:
            await device.reset(TASK)
        async with opened(f"adb://{phones.address}?dry=1&reset=home") as device:
            before = await device.reset(TASK)
            await device.perform(Tap(500, 500))
            await device.perform(Type("don't"))
            return before, await device.screen(), list(device.withheld)

    before, after, withheld = asyncio.run(rehearse())
    assert before == after
    assert [line.split()[:2] for line in withheld[1:]] == [["input", "tap"], ["input", "text"]]
    assert "keyevent 3" in withheld[0]
    said = capsys.readouterr().err.splitlines()
    assert said[1] == f"dry run: adb://{phones.address} input: {withheld[1]}"
    assert len(said) == len(withheld)


def test_a_dry_run_does_not_even_load_a_task(phones):
    async def rehearse():
        async with opened(f"adb://{phones.address}") as device:
            before = await device.reset(TASK)
        async with opened(f"adb://{phones.address}?dry=1") as device:
            return before, await device.reset(replace(TASK, seed=TASK.seed + 1)), list(device.withheld)

    before, after, withheld = asyncio.run(rehearse())
    assert before == after
    assert "distrl.RESET" in withheld[0]


def test_an_app_that_is_not_allowed_is_left_alone(phones):
    async def stray():
        async with opened(f"adb://{phones.address}?allow=org.distrl.notes") as device:
            before = await device.reset(TASK)
            assert before.foreground == "calendar"
            with pytest.raises(ActionRefused, match=r"org\.distrl\.calendar"):
                await device.perform(Tap(500, 500))
            assert await device.screen() == before
            await device.perform(Press("home"))
            return await device.screen()

    assert asyncio.run(stray()).foreground == "launcher"


def test_a_recipe_for_any_android_opens_the_app_at_home(phones):
    async def play(task, query):
        async with opened(f"adb://{phones.address}?{query}") as device:
            return (await device.reset(task)).foreground

    assert asyncio.run(play(TASK, "reset=home")) == "launcher"
    assert asyncio.run(play(TASK, "reset=clear&app=org.distrl.notes")) == "notes"
    linked = Task("a", "s", "train", "t", "goal", seed=1, max_steps=5, params={"link": "https://find.example/x?a=b&c"})
    assert asyncio.run(play(linked, "reset=home")) == "browser"
    with pytest.raises(DeviceError, match="could not do reset"):
        asyncio.run(play(TASK, "reset=home&app=org.distrl.none"))


def test_a_task_of_its_own_says_where_to_begin_and_how(phones):
    def task(**params):
        return Task(
            "a", "s", "train", "t", "goal", seed=1, max_steps=5, params=params, start=(("open", "clock", "alarms"),)
        )

    async def play(query, *tasks):
        async with opened(f"adb://{phones.address}?{query}") as device:
            return [(await device.reset(task)).foreground for task in tasks]

    notes = {"package": "org.distrl.notes"}
    begun = asyncio.run(play("", task(), task(**notes), task(reset="none"), task(reset="home")))
    assert begun == ["clock", "notes", "notes", "launcher"]
    assert asyncio.run(play("reset=none", task(**notes, reset="clear"), task())) == ["notes", "notes"]


def test_a_phone_of_somebody_else_gives_no_evidence(phones, monkeypatch):
    async def ask():
        async with opened(f"adb://{phones.address}?reset=none") as device:
            await device.reset(TASK)
            device._attachment.served = False
            return await device.evidence()

    assert asyncio.run(ask()) is None


def test_screens_are_the_bytes_that_the_simulated_phone_shows(phones):
    async def shown(address):
        async with opened(address) as device:
            return await device.reset(TASK)

    assert asyncio.run(shown(f"adb://{phones.address}?tree=1")) == asyncio.run(SimPhone("sim://phone").reset(TASK))
