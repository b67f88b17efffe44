"""Phones break under a worker that plays: it goes on, each break costs one episode, and nothing is lost or doubled.

`play` itself checks that produced - inserted - invalid = 0 and that there are no duplicates.
"""

from __future__ import annotations

import pytest
from fleets import play
from served import served, strike

from distrl.devices.adb import server as servers
from distrl.devices.adb.connection import AdbSession
from distrl.devices.fleet import ladder

FOREVER = float("inf")
NEVER_BOOTS = {"slow-boot": FOREVER}


@pytest.fixture(autouse=True)
def hurry(monkeypatch):
    monkeypatch.setattr(ladder, "PAUSE_S", 0.1)


@pytest.fixture
def phones():
    with served(phones=2, seed=3) as phones:
        yield phones


def healthy(after, slot):
    health = after.healths[slot]
    return (health.condition, health.lost, health.quarantines) == ("playing", 0, 0)


def test_row_1_a_call_that_never_returns(phones, tmp_path):
    async def scene(fleet):
        await fleet.plays(2)
        strike(phones.phones[0], "input", {"hang-input": FOREVER})
        await fleet.until(lambda: "device_recovered" in fleet.kinds())
        await fleet.plays(4)

    after = play(phones, tmp_path, scene)
    assert after.counts.invalid == 1
    assert after.healths[0].helped == {"retry": 1}
    assert healthy(after, 1)


def test_row_2_a_phone_that_goes_offline(phones, tmp_path):
    async def scene(fleet):
        await fleet.plays(2)
        strike(phones.phones[0], "command", {"offline": 1.0})
        await fleet.until(lambda: "device_recovered" in fleet.kinds())
        await fleet.plays(4)

    after = play(phones, tmp_path, scene)
    assert after.counts.invalid == 1
    assert after.healths[0].recoveries == 1
    assert set(after.healths[0].helped) <= {"retry", "reconnect"}
    assert healthy(after, 1)


def test_row_3_the_adb_server_of_the_worker_dies(phones, tmp_path):
    async def scene(fleet):
        await fleet.plays(2)
        AdbSession(servers._servers[False].port).adb.server_kill()
        await fleet.until(lambda: fleet.kinds().count("device_recovered") == 2)
        await fleet.plays(4)

    after = play(phones, tmp_path, scene)
    assert after.counts.invalid == 2
    assert [after.healths[slot].helped for slot in (0, 1)] == [{"reconnect": 1}] * 2


def test_row_4_a_phone_that_trusts_nobody_gets_no_task(tmp_path):
    with served(phones=2, seed=3) as phones:
        strike(phones.phones[0], "connect", *[{"unauthorized": FOREVER}] * 10_000)

        async def scene(fleet):
            await fleet.until(lambda: "device_quarantined" in fleet.kinds())
            await fleet.plays(4)

        after = play(phones, tmp_path, scene)
    assert after.counts.invalid == 0
    assert "press Allow" in after.healths[0].reason
    assert set(after.healths[0].tried) == {"retry", "reconnect"}
    assert healthy(after, 1)


def test_row_5_a_phone_that_is_unplugged_and_plugged_in_again(phones, tmp_path):
    async def scene(fleet):
        await fleet.plays(2)
        strike(phones.phones[0], "command", {"unplug": 4.0})
        await fleet.until(lambda: "device_lost" in fleet.kinds())
        await fleet.plays(4)  # its neighbour goes on, and plays what it gave up
        await fleet.until(lambda: "device_recovered" in fleet.kinds())
        await fleet.plays(4)

    after = play(phones, tmp_path, scene)
    assert after.counts.invalid == 1
    assert after.healths[0].condition == "playing"
    assert healthy(after, 1)


def test_row_6_a_frozen_phone_is_found_and_rebooted(phones, tmp_path):
    async def scene(fleet):
        await fleet.plays(2)
        strike(phones.phones[0], "input", {"freeze": FOREVER})
        await fleet.until(lambda: "device_recovered" in fleet.kinds())
        await fleet.plays(4)

    after = play(phones, tmp_path, scene)
    assert after.counts.invalid == 1
    assert after.healths[0].helped == {"reboot": 1}
    assert "frozen" in after.healths[0].reason
    assert not phones.phones[0].power.frozen
    assert healthy(after, 1)


def test_a_still_picture_on_a_living_phone_is_no_fault(phones, tmp_path):
    async def scene(fleet):
        await fleet.plays(6)

    after = play(phones, tmp_path, scene)  # its last two moves show the same page
    assert after.counts.invalid == 0
    assert "device_lost" not in after.kinds


def test_row_8_a_phone_that_never_boots_is_given_up_and_the_fleet_goes_on(tmp_path):
    with served(phones=2, seed=3) as phones:
        phones.phones[0].power._ready_at = FOREVER
        strike(phones.phones[0], "boot", *[NEVER_BOOTS] * 100)

        async def scene(fleet):
            await fleet.until(lambda: "device_quarantined" in fleet.kinds())
            await fleet.plays(2)

        after = play(phones, tmp_path, scene, boot_timeout_s=1.5)
    assert after.counts.invalid == 0
    assert after.healths[0].tried["reboot"] >= 2
    assert "starting up" in after.healths[0].reason
    assert healthy(after, 1)


def test_row_8_a_phone_that_boots_slowly_is_waited_for_and_not_rebooted(tmp_path):
    with served("slow-boot=1:2", seed=3) as phones:

        async def scene(fleet):
            await fleet.plays(2)

        after = play(phones, tmp_path, scene)
    assert after.counts.invalid == 0
    assert after.healths[0].helped == {"retry": 1}


def test_row_10_a_phone_that_gives_no_picture_for_a_while(phones, tmp_path):
    async def scene(fleet):
        await fleet.plays(2)
        strike(phones.phones[0], "screencap", *[{"garbled-screencap": 0.0}] * 3)
        await fleet.until(lambda: "device_recovered" in fleet.kinds())
        await fleet.plays(4)

    after = play(phones, tmp_path, scene)
    assert after.counts.invalid == 1
    assert after.healths[0].helped == {"retry": 1}


@pytest.mark.parametrize("fault", ["black-screencap", "not-idle-dump"])
def test_rows_11_and_12_are_flagged_and_cost_nothing(tmp_path, fault):
    with served(f"{fault}=0.3", phones=2, seed=3) as phones:

        async def scene(fleet):
            await fleet.plays(6)

        after = play(phones, tmp_path, scene, "call_s=1.5&tree=1")
    assert after.counts.invalid == 0


def test_row_13_an_app_that_does_not_respond_is_nobody_s_failure(phones, tmp_path):
    async def scene(fleet):
        await fleet.plays(2)
        strike(phones.phones[0], "input", {"anr": 0.0})
        await fleet.until(lambda: fleet.healths()[0].facts.get("popups") == {"anr": 1})
        await fleet.plays(2)

    after = play(phones, tmp_path, scene)
    assert after.counts.invalid == 0
    assert phones.phones[0].popup is None


def test_row_14_a_clock_that_is_an_hour_ahead_is_written_down_and_orders_nothing(tmp_path):
    with served("clock-off=1:3600", seed=3) as phones:

        async def scene(fleet):
            await fleet.plays(2)
            starts = [t.started_at for t in fleet.host.store.trajectories()]
            assert starts == sorted(starts)
            assert max(starts) < fleet.host.now()

        after = play(phones, tmp_path, scene)
    assert after.counts.invalid == 0
    assert after.healths[0].facts["clock_offset_s"] == pytest.approx(3600.0, abs=30.0)


def test_row_15_a_full_phone_is_emptied_before_it_plays(tmp_path):
    with served("storage-full", seed=3) as phones:

        async def scene(fleet):
            await fleet.plays(2)

        after = play(phones, tmp_path, scene)
        assert not phones.phone.files.full
    assert after.counts.invalid == 0


def test_row_15_a_phone_that_stays_full_is_given_up_with_the_reason(phones, tmp_path):
    class Stubborn(type(phones.phone.files)):
        full = property(lambda self: True, lambda self, value: None)

    async def scene(fleet):
        await fleet.plays(2)
        phones.phones[0].files.__class__ = Stubborn
        await fleet.until(lambda: "device_quarantined" in fleet.kinds())
        await fleet.plays(2)

    after = play(phones, tmp_path, scene)
    assert after.counts.invalid == 1
    assert after.healths[0].tried["wipe"] >= 1
    assert "MB of storage left" in after.healths[0].reason


def test_a_worker_whose_every_phone_is_gone_keeps_trying_and_goes_on_when_one_is_back(phones, tmp_path):
    async def scene(fleet):
        await fleet.plays(2)
        for phone in phones.phones:
            strike(phone, "command", {"unplug": 3.0})
        await fleet.until(lambda: fleet.kinds().count("device_quarantined") >= 2)
        await fleet.plays(4)

    after = play(phones, tmp_path, scene)
    assert after.counts.invalid == 2
    assert all(health.recoveries == 1 for health in after.healths.values())


STORM = (
    "offline=0.004:0.3", "unplug=0.001:0.5", "freeze=0.01", "hang-input=0.004", "anr=0.05", "garbled-screencap=0.03",
    "empty-screencap=0.03", "black-screencap=0.03", "slow-boot=0.5:0.5", "storage-full=0.5", "clock-off=0.5",
)  # fmt: skip


def test_in_a_storm_of_faults_the_fleet_plays_on(tmp_path):
    with served(*STORM, phones=3, seed=3) as phones:

        async def scene(fleet):
            await fleet.plays(60)

        after = play(phones, tmp_path, scene)
    assert after.counts.trajectories >= 60
    assert sum(health.recoveries for health in after.healths.values()) >= 3
    unheard = after.counts.invalid - sum(health.lost for health in after.healths.values())
    assert 0 <= unheard <= 3  # those that broke in the moment in which all was over
