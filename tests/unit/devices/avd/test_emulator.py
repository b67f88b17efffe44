"""The command line and the environment of an emulator, and which locks are cleared."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from distrl.devices.avd import emulator, locks
from distrl.devices.avd.options import AvdOptions
from distrl.devices.avd.sdk import Avd, Sdk
from distrl.devices.avd.sessions import Session

SDK = Sdk(Path("/sdk"), Path("/sdk/emulator/emulator"))


def line(address: str = "avd://Pixel_7", *, snapshot: str = "", wiped: bool = False) -> str:
    known = {"-no-metrics"}
    return " ".join(emulator.command(SDK, AvdOptions.parse(address), 5586, known, snapshot=snapshot, wiped=wiped))


def test_an_emulator_is_read_only_and_saves_nothing():
    assert line() == (
        "/sdk/emulator/emulator -avd Pixel_7 -port 5586 -read-only -no-snapshot-save -no-audio -no-boot-anim "
        "-gpu swiftshader_indirect -no-metrics -no-snapshot-load -no-window"
    )


def test_options_reach_the_command_line():
    words = line("avd://Pixel_7?gpu=host&memory=4096&window=1", snapshot="clean")
    assert "-snapshot clean -memory 4096" in words
    assert "-no-window" not in words
    assert "-no-snapshot-load" not in words


def test_an_option_that_an_older_emulator_does_not_know_is_left_out():
    options = AvdOptions.parse("avd://Pixel_7")
    assert "-no-metrics" not in emulator.command(SDK, options, 5586, (), snapshot="", wiped=False)


def test_only_a_clone_of_ours_is_written_to():
    assert ("-wipe-data" in line(), "-read-only" in line()) == (False, True)
    assert ("-wipe-data" in line(wiped=True), "-read-only" in line(wiped=True)) == (True, False)


def test_an_emulator_belongs_to_our_adb_server_and_sees_its_own_avd(monkeypatch):
    monkeypatch.setenv("ANDROID_SERIAL", "R58")
    variables = emulator.environment(SDK, Avd("Pixel_7", Path("/home/avd"), Path("/home/avd/Pixel_7.avd")), 40123)
    assert variables["ANDROID_ADB_SERVER_PORT"] == "40123"
    assert variables["ANDROID_AVD_HOME"] == "/home/avd"
    assert "ANDROID_SERIAL" not in variables


@pytest.mark.parametrize(
    ("owner", "cleared"),
    [
        ("999999999", ["snapshot.lock.lock"]),  # ours, and dead
        ("999999998", []),  # dead, and not ours
        (f"{os.getppid()}", []),  # alive
        ("", []),
        ("garbage", []),
    ],
)
def test_only_locks_of_our_own_dead_are_cleared(tmp_path, owner, cleared):
    (tmp_path / "snapshot.lock.lock").write_text(f"{owner}\0")
    (tmp_path / "multiinstance.lock").touch()
    session = Session(os.getpid(), 0, "", str(tmp_path), members=(999999999,))
    assert locks.clear_stale(session) == cleared
    assert (tmp_path / "multiinstance.lock").exists()
