"""Where SDKs and AVDs are looked for."""

from __future__ import annotations

from pathlib import Path

import pytest

from distrl.devices.avd import sdk
from distrl.errors import NoEmulator


def put_emulator(root: Path) -> Path:
    program = root / "emulator" / "emulator"
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    return program


def put_avd(home: Path, name: str, *, path: Path | None = None) -> Path:
    folder = path or home / f"{name}.avd"
    folder.mkdir(parents=True)
    (folder / "config.ini").write_text("hw.ramSize=2048\n")
    home.mkdir(parents=True, exist_ok=True)
    (home / f"{name}.ini").write_text(f"avd.ini.encoding=UTF-8\npath={folder}\ntarget=android-34\n")
    return folder


@pytest.fixture(autouse=True)
def nowhere_else(monkeypatch):
    monkeypatch.setattr(sdk, "USUAL_ROOTS", ())


@pytest.mark.parametrize("variable", ["ANDROID_HOME", "ANDROID_SDK_ROOT"])
def test_the_sdk_is_where_the_environment_says(tmp_path, variable):
    program = put_emulator(tmp_path)
    assert sdk.find_sdk({variable: str(tmp_path)}) == sdk.Sdk(tmp_path, program)


def test_an_emulator_on_the_path_is_found_with_its_sdk(tmp_path):
    program = put_emulator(tmp_path)
    assert sdk.find_sdk({"PATH": str(program.parent)}) == sdk.Sdk(tmp_path, program)


def test_a_machine_without_an_emulator_says_what_to_install(tmp_path):
    with pytest.raises(NoEmulator, match=r"ANDROID_HOME is not set.*sdkmanager emulator"):
        sdk.find_sdk({"PATH": str(tmp_path)})
    with pytest.raises(NoEmulator, match="holds no emulator/emulator"):
        sdk.find_sdk({"ANDROID_HOME": str(tmp_path), "PATH": ""})


def test_avds_are_found_in_their_home_wherever_their_folders_are(tmp_path):
    home = tmp_path / ".android" / "avd"
    put_avd(home, "Pixel_7")
    elsewhere = put_avd(home, "Tablet", path=tmp_path / "disk" / "t.avd")
    (home / "broken.ini").write_text("path=/nowhere\n")
    found = sdk.find_avds({"HOME": str(tmp_path)})
    assert set(found) == {"Pixel_7", "Tablet"}
    assert found["Tablet"] == sdk.Avd("Tablet", home, elsewhere)
    assert found["Tablet"].key != sdk.Avd("Tablet", home, tmp_path).key
    assert sdk.find_avds({"HOME": str(tmp_path), "ANDROID_AVD_HOME": str(tmp_path / "empty")}) == {}


def test_an_avd_or_a_snapshot_that_is_not_there_is_named_with_how_to_make_it(tmp_path):
    home = tmp_path / "avd"
    folder = put_avd(home, "Pixel_7")
    (folder / "snapshots" / "clean").mkdir(parents=True)
    variables = {"ANDROID_AVD_HOME": str(home)}
    assert sdk.find_avd("Pixel_7", "clean", variables).snapshots == ("clean",)
    with pytest.raises(NoEmulator, match=r"Did you mean 'Pixel_7'.*avdmanager create avd -n Pixle_7"):
        sdk.find_avd("Pixle_7", "", variables)
    with pytest.raises(NoEmulator, match=r"Did you mean 'clean'.*snapshot save claen"):
        sdk.find_avd("Pixel_7", "claen", variables)
