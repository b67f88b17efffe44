"""What the doctor says about phones and emulators."""

from __future__ import annotations

import json
import os
import stat
import subprocess
from pathlib import Path

import emulated
import pytest
from served import served
from typer.testing import CliRunner

from distrl.cli import android, checks
from distrl.cli import android_checks as machine
from distrl.cli.main import app
from distrl.config import load_config
from distrl.devices.avd import ports
from distrl.devices.avd import sdk as sdks
from distrl.errors import NoEmulator


def named(findings):
    return {finding.name: finding for finding in findings}


@pytest.fixture
def sdk(tmp_path):
    with emulated.sdk(tmp_path) as sdk:
        yield sdk


@pytest.fixture
def bare(tmp_path, monkeypatch):
    """A machine without an SDK."""
    monkeypatch.setattr(sdks, "USUAL_ROOTS", ())
    for variable in ("ANDROID_HOME", "ANDROID_SDK_ROOT"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))


def test_a_run_on_simulated_phones_is_not_asked_about_android(monkeypatch):
    monkeypatch.setattr(android, "emulators", None)
    assert checks.android(load_config("quickstart"), deep=False) == []


def test_an_emulator_needs_an_sdk_kvm_and_its_avd(sdk):
    found = android.emulators(f"avd://{emulated.NAME}", deep=False)
    assert [(finding.name, finding.status) for finding in found] == [
        ("android sdk", "ok"),
        ("kvm", "ok"),
        ("avds", "ok"),
    ]
    assert found[2].detail == emulated.NAME


def test_without_an_sdk_the_doctor_says_what_to_install_first(bare):
    (finding,) = android.emulators("avd://Pixel_7", deep=False)
    assert (finding.status, "ANDROID_HOME is not set" in finding.detail) == ("missing", True)
    assert "sdkmanager emulator" in finding.mend
    (finding,) = android.emulators("sim://phone", deep=True)
    assert finding.status == "warn"
    assert android.emulators("adb://*", deep=False) == []


def test_an_avd_that_does_not_exist_is_missing_and_says_how_to_make_it(sdk):
    finding = named(android.emulators("avd://Pixle_7", deep=False))["avds"]
    assert finding.status == "missing"
    assert "avdmanager create avd -n Pixle_7" in finding.mend
    (sdk.avd_home / f"{emulated.NAME}.ini").unlink()
    assert "avdmanager" in named(android.emulators("sim://phone", deep=True))["avds"].mend


@pytest.mark.parametrize(("exists", "mend"), [(True, "gpasswd -a $USER kvm"), (False, "firmware")])
def test_kvm_is_asked_for_where_the_emulator_itself_sees_none(sdk, tmp_path, monkeypatch, exists, mend):
    device = tmp_path / "kvm"
    if exists:
        device.touch()
    monkeypatch.setattr(sdks, "KVM", device)
    monkeypatch.setattr(os, "access", lambda path, mode: path != device)
    found = sdks.find_sdk()
    assert "needs no KVM" in sdks.check_acceleration(found)
    stub = Path(found.emulator)
    stub.write_text("#!/bin/sh\nexit 8\n")
    stub.chmod(stub.stat().st_mode | stat.S_IXUSR)
    with pytest.raises(NoEmulator) as caught:
        sdks.check_acceleration(found)
    assert mend in str(caught.value)


def test_attached_phones_are_listed_with_their_keyboards():
    with served(phones=2) as phones:
        found = android.phones("adb://" + ",".join(phones.addresses), deep=False)
    assert [(finding.name, finding.status) for finding in found] == [(address, "ok") for address in phones.addresses]
    assert "Android 14" in found[0].detail


def test_a_phone_without_the_keyboard_is_a_warning(monkeypatch):
    from distrl.devices.adb import keyboard

    monkeypatch.setattr(keyboard, "parse_keyboards", lambda text: (False, ""))
    with served() as phones:
        (finding,) = android.phones(f"adb://{phones.address}", deep=False)
    assert (finding.status, "ADBKeyboard.apk" in finding.mend) == ("warn", True)


def test_an_unauthorized_phone_says_what_to_press_and_is_missing_if_it_is_the_only_one():
    with served("unauthorized") as distrustful, served() as other:
        alone = android.phones(f"adb://{distrustful.address}?call_s=2", deep=False)
        two = android.phones(f"adb://{distrustful.address},{other.address}?call_s=2", deep=False)
    assert [finding.status for finding in alone] == ["missing"]
    assert "press Allow" in alone[0].mend
    assert [finding.status for finding in two] == ["warn", "ok"]


def test_no_phone_at_all_is_missing_where_one_is_needed(monkeypatch):
    monkeypatch.setattr(machine, "keyboards_of_phones", lambda address: [])
    assert [finding.status for finding in android.phones("adb://*", deep=False)] == ["missing"]
    assert android.phones("sim://phone", deep=True) == []


def test_an_adb_that_does_not_run_is_a_warning(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    program = tmp_path / "adb"
    program.write_text("#!/nowhere\n")
    program.chmod(0o755)
    assert checks.adb().status == "warn"
    assert "apt install adb" in (program.unlink() or checks.adb().mend)


def test_the_version_of_adb_is_reported(tmp_path, monkeypatch):
    answer = "Android Debug Bridge version 1.0.41\nVersion 29.0.6-debian\n"
    monkeypatch.setattr(checks.shutil, "which", lambda name: "/usr/bin/adb")
    monkeypatch.setattr(subprocess, "run", lambda *words, **rest: subprocess.CompletedProcess(words, 0, answer))
    assert checks.adb().detail == "29.0.6-debian, /usr/bin/adb"


# --- `distrl devices` ---------------------------------------------------------------------------


def told(*words: str):
    return CliRunner().invoke(app, ["devices", *words], env={"COLUMNS": "200"})


def test_a_check_of_an_avd_starts_one_emulator_and_ends_it(tmp_path):
    with emulated.sdk(tmp_path):
        listed = told("list", f"avd://{emulated.NAME}")
        answer = told("check", f"avd://{emulated.NAME}", "--json")
    assert "not started" in listed.output
    (phone,) = json.loads(answer.output)
    assert (phone["state"], phone["model"], phone["problem"]) == ("device", "DistRL Phone", "")
    assert phone["seconds"]["start"] > 0
    assert not [path for path in ports.session_folder().glob("*.json") if str(tmp_path) in path.read_text()]


def test_an_avd_that_cannot_be_started_is_a_problem_with_its_reason(tmp_path):
    with emulated.sdk(tmp_path, "refuses", "refuses", "refuses"):
        answer = told("check", f"avd://{emulated.NAME}")
        missing = told("check", "avd://Pixle_7")
    assert (answer.exit_code, missing.exit_code) == (1, 1)
    assert "requires hardware acceleration" in answer.output
    assert "Did you mean 'Pixel_7'" in missing.output
