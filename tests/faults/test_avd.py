"""What breaks about emulators: they die, hang on to ports and locks, never boot, and lie about snapshots."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys

import emulated
import pytest
from emulated import NAME, PATIENCE_S, eventually, order, phone, save_snapshot
from processes import alive

from distrl.devices.avd import emulator as emulators
from distrl.devices.avd import ports
from distrl.devices.avd.sessions import Session
from distrl.errors import BootFailed, DeviceError, DeviceGone, NoEmulator, SnapshotFailed
from distrl.types import Press, Task

TASK = Task("a", "s", "train", "t", "goal", seed=11, max_steps=5)
LOCK = "snapshot.lock.lock"


@pytest.fixture
def sdk(tmp_path, monkeypatch):
    monkeypatch.setattr(emulators, "GRACE_S", 0.5)
    with emulated.sdk(tmp_path) as sdk:
        yield sdk


def play(scene):
    return asyncio.run(asyncio.wait_for(scene(), 2 * PATIENCE_S))


def emulator_of(device) -> int:
    """The process that plays the phone: the one that its guard started."""
    emulator = device._running.emulator
    return next(pid for pid in emulator.live_pids if pid != emulator.session.leader)


def test_a_killed_emulator_is_named_and_a_new_one_takes_its_place_on_another_port(sdk):
    async def scene():
        async with phone() as device:
            await device.reset(TASK)
            before = device.facts()
            os.kill(emulator_of(device), signal.SIGKILL)
            with pytest.raises(DeviceGone, match="its emulator ended: .*status -9"):
                await device.screen()
            assert device.rungs == ("reboot", "wipe")
            for rung in ("reconnect", "retry"):
                with pytest.raises(DeviceGone):  # and not that there is no such phone, which nothing could mend
                    await device.recover(rung)
            await device.recover("reboot")
            assert (await device.reset(TASK)).image
            return before, device.facts()

    before, after = play(scene)
    assert (before["starts"], after["starts"]) == (1, 2)
    assert before["serial"] != after["serial"]


def test_a_zombie_is_ended_by_force_and_leaves_no_lock(sdk):
    order("zombie")
    lock = sdk.avd_home / f"{NAME}.avd" / LOCK

    async def scene():
        async with phone() as device:
            await device.start()
            zombie = emulator_of(device)
            assert lock.exists()
            await device.recover("reboot")
            assert not alive(zombie)
            assert not lock.exists()

    play(scene)


CHILD = """
import asyncio, sys, time
from distrl.devices.open import open_device

async def play():
    device = open_device(sys.argv[1], seed=0, name="test/0")
    await device.start()
    emulator = device._running.emulator
    print(emulator.port, emulator.session.leader, *emulator.live_pids, flush=True)
    time.sleep(600)

asyncio.run(play())
"""


@pytest.fixture
def worker(sdk):
    """Starts a worker with an emulator of its own; its process, port, guard, and emulator."""
    started = []

    def start():
        process = subprocess.Popen([sys.executable, "-c", CHILD, f"avd://{NAME}"], stdout=subprocess.PIPE)
        started.append(process)
        port, guard, *pids = (int(word) for word in process.stdout.readline().split())
        return process, port, guard, next(pid for pid in pids if pid != guard)

    yield start
    for process in started:
        process.kill()
        process.wait()
    ports.end_orphans()


def test_emulators_end_with_a_worker_that_is_killed(worker):
    process, port, guard, emulator = worker()
    os.kill(process.pid, signal.SIGKILL)
    assert eventually(lambda: not alive(emulator) and not alive(guard))
    assert eventually(lambda: ports.is_free(port))


def test_what_a_killed_worker_and_its_killed_guard_leave_behind_is_reaped_at_the_next_start(worker, sdk):
    order("zombie")
    process, port, guard, emulator = worker()
    os.kill(guard, signal.SIGKILL)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert alive(emulator)
    assert not ports.is_free(port)
    assert (sdk.avd_home / f"{NAME}.avd" / LOCK).exists()

    async def scene():
        async with phone() as device:
            await device.start()
            assert (await device.screen()).image

    play(scene)
    assert not alive(emulator)
    assert ports.is_free(port)


def test_the_emulator_of_a_worker_that_lives_is_left_alone(worker):
    _, port, _, emulator = worker()

    async def scene():
        async with phone() as device:
            await device.start()
            return device._running.port

    assert play(scene) != port
    assert alive(emulator)


def test_a_lock_that_is_not_ours_stays_and_is_named(sdk):
    lock = sdk.avd_home / f"{NAME}.avd" / LOCK
    lock.write_text(f"{os.getpid()}\0")

    async def scene():
        async with phone() as device:
            await device.start()

    with pytest.raises(BootFailed, match="A snapshot operation for 'Pixel_7' is pending"):
        play(scene)
    assert lock.exists()


def test_an_emulator_that_never_boots_is_given_up_after_two_tries_and_ends(sdk):
    order("never-boots", "never-boots", "never-boots")

    async def scene():
        async with phone("boot_s=1.5&call_s=1") as device:
            with pytest.raises(BootFailed, match=r"1\. .*2\. .*was not ready within") as caught:
                await device.start()
            assert "3. " not in str(caught.value)
            with pytest.raises(DeviceError, match="has no emulator for 'reconnect'"):
                await device.recover("reconnect")

    play(scene)
    assert [path for path in ports.session_folder().glob("*.json") if str(sdk.root) in path.read_text()] == []


@pytest.mark.parametrize("fault", ["refuses", "crash:0"])
def test_an_emulator_that_starts_at_the_second_try_is_taken(sdk, fault):
    order(fault)

    async def scene():
        async with phone() as device:
            await device.start()
            return device.facts()["starts"], (await device.reset(TASK)).image

    starts, image = play(scene)
    assert starts == 2
    assert image


def test_the_reason_that_an_emulator_gives_is_passed_on(sdk):
    order("refuses", "refuses", "refuses")

    async def scene():
        async with phone() as device:
            await device.start()

    with pytest.raises(BootFailed, match="requires hardware acceleration!"):
        play(scene)


# --- snapshots ----------------------------------------------------------------------------------

FROM_SNAPSHOT = "snapshot=clean&reset=snapshot"


@pytest.fixture
def snapshot(sdk):
    save_snapshot(sdk, "clean", app="notes")


def test_a_load_brings_the_phone_back_to_its_snapshot(snapshot):
    async def scene():
        async with phone(FROM_SNAPSHOT) as device:
            first = await device.screen()
            await device.perform(Press("home"))
            assert (await device.screen()).digest != first.digest
            await device.recover("snapshot")
            return first, await device.screen()

    first, again = play(scene)
    assert first.foreground == "notes"
    assert first == again


@pytest.mark.parametrize("fault", ["snapshot-hangs", "snapshot-lies"])
def test_a_load_that_hangs_or_lies_ends_in_a_cold_boot_and_the_next_one_is_tried_again(snapshot, fault):
    order("refuses", fault)  # so that the second try starts it cold: from the snapshot it would not come up

    async def scene():
        async with phone(f"{FROM_SNAPSHOT}&load_s=4") as device:
            await device.reset(TASK)
            first = device.facts()["starts"]
            assert (await device.reset(TASK)).image
            second = device.facts()["starts"]
            assert (await device.reset(TASK)).image
            return first, second, device.facts()["starts"]

    assert play(scene) == (2, 3, 3)


def test_a_snapshot_that_fails_again_and_again_is_an_error_that_names_it(snapshot):
    order("refuses", "snapshot-hangs", "snapshot-hangs")

    async def scene():
        async with phone("snapshot=clean&reset=snapshot&load_s=0.5") as device:
            for _ in range(2):
                await device.reset(TASK)
            await device.reset(TASK)

    with pytest.raises(SnapshotFailed, match=r"'clean'.*avd snapshot save clean"):
        play(scene)


def test_a_snapshot_that_lies_at_the_start_is_replaced_by_a_cold_boot(snapshot):
    order("snapshot-lies")

    async def scene():
        async with phone("snapshot=clean&boot_s=5&call_s=1") as device:
            await device.start()
            return (await device.screen()).foreground, device.facts()["starts"]

    front, starts = play(scene)
    assert front == "launcher"
    assert starts > 1


def test_an_emulator_that_has_loaded_often_is_replaced_before_it_breaks(snapshot):
    async def scene():
        async with phone(f"{FROM_SNAPSHOT}&recycle=1") as device:
            starts = []
            for _ in range(4):
                await device.reset(TASK)
                starts.append(device.facts()["starts"])
            return starts

    # The first plays on what it started from; a load; a new one; a load again.
    assert play(scene) == [1, 1, 2, 2]


def test_a_snapshot_that_is_not_there_is_named_before_anything_starts(snapshot):
    async def scene():
        async with phone("snapshot=claen") as device:
            await device.start()

    with pytest.raises(NoEmulator, match="no snapshot 'claen'. Did you mean 'clean'"):
        play(scene)


# --- the AVD belongs to its user ----------------------------------------------------------------


def content(folder):
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("query", ["wipe=avd", "wipe=data"])
def test_a_wipe_never_touches_the_avd_of_the_user(sdk, query, tmp_path):
    save_snapshot(sdk, "clean", app="notes")
    (sdk.avd_home / f"{NAME}.avd" / "multiinstance.lock").touch()
    before = content(sdk.avd_home)

    async def scene():
        async with phone(query) as device:
            await device.start()
            await device.recover("wipe")
            clones = list((tmp_path / ".cache").glob("distrl/avd/*"))
            assert len(clones) == (query == "wipe=data")
            assert (await device.reset(TASK)).image

    play(scene)
    assert content(sdk.avd_home) == before
    assert not list((tmp_path / ".cache").glob("distrl/avd/*"))


def test_a_session_whose_number_was_given_away_has_nobody_in_it():
    """Whatever a note says: a process that began at another time is not ended."""
    with subprocess.Popen(["sleep", "60"], start_new_session=True) as stranger:
        theirs = Session.of(stranger.pid, ports.session_folder())
        assert theirs is not None
        noted = Session(theirs.leader, theirs.started - 1, theirs.machine, theirs.folder)
        assert noted.live_pids() == ()
        assert noted.end()
        assert stranger.poll() is None
        assert theirs.live_pids() == (stranger.pid,)
        stranger.kill()
