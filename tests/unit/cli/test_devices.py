"""`distrl devices` against served phones."""

from __future__ import annotations

import json
import time

from served import served
from typer.testing import CliRunner

from distrl.cli import devices
from distrl.cli.fleet import summary
from distrl.cli.main import app
from distrl.devices.base import Health
from distrl.store.run import DeviceEntry, RunStore


def told(*words: str):
    return CliRunner().invoke(app, ["devices", *words], env={"COLUMNS": "200"})


def test_phones_are_listed_with_what_they_are():
    with served(phones=2, seed=3) as phones:
        answer = told("list", "adb://" + ",".join(phones.addresses))
    assert answer.exit_code == 0
    for address in phones.addresses:
        assert f"{address}  device  DistRL Phone  14       192x384" in answer.output
    assert answer.output.count(" ms") == 2


def test_a_check_times_every_way_to_look_and_changes_nothing():
    with served(seed=3) as phones:
        before = phones.phone.evidence()
        answer = told("check", f"adb://{phones.address}", "--json")
        assert phones.phone.evidence() == before
    assert answer.exit_code == 0
    (phone,) = json.loads(answer.output)
    assert (phone["state"], phone["unicode"], phone["problem"]) == ("device", True, "")
    assert set(phone["seconds"]) == {"shell", "window", "screencap", "screencap -p", "uiautomator dump"}
    assert all(isinstance(taken, float) for taken in phone["seconds"].values())


def test_a_check_names_what_is_broken_and_what_to_do():
    with served("empty-screencap", "not-idle-dump") as phones:
        answer = told("check", f"adb://{phones.address}")
    assert "screencap: it was empty" in answer.output
    assert "uiautomator dump: no answer" in answer.output
    with served("unauthorized") as phones:
        answer = told("check", f"adb://{phones.address}?call_s=2")
    assert answer.exit_code == 1
    assert "unauthorized" in answer.output
    assert "press Allow" in answer.output


# --- watching -----------------------------------------------------------------------------------


def test_attached_phones_are_watched_until_interrupted(monkeypatch):
    looks = []

    def interrupted(seconds):
        looks.append(seconds)
        if len(looks) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(devices, "sleep", interrupted)
    with served(phones=2, seed=3) as phones:
        answer = told("watch", "adb://" + ",".join(phones.addresses), "--every", "7")
    assert answer.exit_code == 0
    assert looks == [7.0, 7.0]
    assert phones.addresses[1] in answer.output


def run_with(folder, *healths: Health):
    now = time.time()
    RunStore.create(folder / "r", {}, {}).close()
    with RunStore.open(folder / "r") as store:
        for health in healths:
            store.keep_health("worker-0", health, now)
    return str(folder / "r")


def test_the_fleet_of_a_run_is_shown_with_its_rungs_and_reasons(tmp_path):
    well = Health(
        0, "adb://*#0", "playing", lost=2, recoveries=2, recovery_s=(1.0, 61.0), tried={"retry": 2, "reboot": 1},
        helped={"retry": 1, "reboot": 1},
        facts={"serial": "emulator-5554", "clock_offset_s": 3600.0, "popups": {"anr": 4}},
    )  # fmt: skip
    ill = Health(1, "adb://*#1", "quarantined", until=time.time() + 59.0, reason="it is frozen [bold]", lost=1)
    trying = Health(2, "adb://*#2", "recovering", rung="reboot", reason="gone", probation=True)
    answer = told("watch", run_with(tmp_path, well, ill, trying), "--once")
    assert answer.exit_code == 0
    assert (
        "emulator-5554#0: helped/tried: retry 1/2, reboot 1/1; dismissed: anr 4; its clock is +3600 s off"
        in answer.output
    )
    assert "quarantined, 0:5" in answer.output
    assert "adb://*#1: it is frozen [bold]" in answer.output
    assert "recovering: reboot (probation)" in answer.output
    assert (
        "3 devices: 1 playing, 1 quarantined, 1 recovering; 2 recoveries in 0:31 (median), 1:01 (95 %)" in answer.output
    )


def test_a_run_without_trouble_says_so_and_one_that_is_not_there_is_named(tmp_path):
    entry = DeviceEntry("worker-0", "sim://phone#0", 5, 0, 12.0, None)
    assert summary([entry]) == "1 devices: 1 playing; nothing had to be recovered"
    assert "No device of this run has played yet" in told("watch", run_with(tmp_path), "--once").output
    assert told("watch", str(tmp_path / "nothing")).exit_code == 2
