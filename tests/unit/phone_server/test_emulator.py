"""The stand-in emulator: its command line, its locks, and what it does wrong when it is told to."""

from __future__ import annotations

import os
import subprocess

import pytest

from distrl.devices.avd.sdk import known_options
from distrl.errors import ConfigError, UnknownName
from distrl.phone_server.emulator import faults
from distrl.phone_server.emulator.arguments import Arguments, Usage
from distrl.phone_server.emulator.faults import EmulatorFaults
from distrl.phone_server.emulator.folder import AvdFolder
from distrl.phone_server.emulator.sdk import write_sdk
from distrl.phone_server.phone import PhoneModel, ServedPhone


def test_the_command_line_is_read_as_the_emulator_reads_it():
    line = "@Pixel_7 -port 5600 -read-only -no-window -gpu host -snapshot clean -memory 2048"
    arguments = Arguments.parse(line.split())
    assert (arguments.values["avd"], arguments.port, arguments.read_only) == ("Pixel_7", 5600, True)
    assert arguments.snapshot == "clean"
    assert Arguments.parse(["-avd", "a", "-no-snapshot-load", "-snapshot", "x"]).snapshot == ""


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["-what"], "unknown option: -what"),
        (["stray"], "unknown option: stray"),
        (["-avd"], "-avd needs a value"),
        (["-port", "5555"], "even integer"),
        (["-port", "5700"], "between 5554 and 5682"),
    ],
)
def test_a_command_line_that_the_emulator_refuses_is_refused(words, said):
    with pytest.raises(Usage, match=said):
        _ = Arguments.parse(words).port


@pytest.fixture
def sdk(tmp_path):
    return write_sdk(tmp_path / "sdk", "Pixel_7")


def test_one_writes_or_many_read(sdk):
    one, two = (AvdFolder(sdk.avd_home, "Pixel_7") for _ in range(2))
    with one.locked(read_only=True), two.locked(read_only=True):
        pass
    with one.locked(read_only=False):
        assert (one.path / "hardware-qemu.ini.lock").read_text() == f"{os.getpid()}\0"
        for read_only, said in ((False, "Please use -read-only"), (True, "run all emulators with -read-only")):
            with pytest.raises(Usage, match=said), two.locked(read_only=read_only):
                pass
    assert not (one.path / "hardware-qemu.ini.lock").exists()


def test_a_snapshot_holds_what_the_phone_shows(sdk):
    phone, other = ServedPhone(PhoneModel(), "one"), ServedPhone(PhoneModel(seed=7), "other")
    phone.open_app("notes")
    avd = AvdFolder(sdk.avd_home, "Pixel_7")
    avd.save_snapshot("clean", phone.save())
    assert avd.snapshots() == ["clean"]
    other.load(avd.snapshot("clean"))
    assert other.picture().tobytes() == phone.picture().tobytes()
    assert avd.snapshot("../../config") is None


def test_orders_are_taken_once_per_launch(tmp_path):
    script = tmp_path / "script"
    script.write_text("zombie,crash:2.5\n\nhang-screencap=0.5:3\n")
    variables = {faults.VARIABLE: f"@{script}"}
    assert EmulatorFaults.take(variables).emulator == {"zombie": float("inf"), "crash": 2.5}
    assert EmulatorFaults.take(variables) == EmulatorFaults({}, {})
    assert EmulatorFaults.take(variables).phone["hang-screencap"].seconds == 3
    assert EmulatorFaults.take(variables) == EmulatorFaults({}, {})


@pytest.mark.parametrize(("text", "error"), [("zombei", UnknownName), ("crash:soon", ConfigError)])
def test_an_order_that_is_none_is_refused(text, error):
    with pytest.raises(error):
        EmulatorFaults.parse(text)


def test_the_launcher_of_a_written_sdk_runs(sdk, tmp_path):
    variables = os.environ | sdk.environment | {"HOME": str(tmp_path)}

    def said(*words: str) -> subprocess.CompletedProcess[str]:
        program = str(sdk.root / "emulator" / "emulator")
        return subprocess.run([program, *words], env=variables, capture_output=True, text=True)

    assert said("-list-avds").stdout == "Pixel_7\n"
    assert "-no-metrics" in known_options(sdk.root / "emulator" / "emulator")
    unknown = said("-avd", "Pixel_8")
    assert (unknown.returncode, "Unknown AVD name [Pixel_8]" in unknown.stderr) == (1, True)


def test_an_sdk_is_written_again_and_never_over_something_else(sdk, tmp_path):
    write_sdk(sdk.root, "Tablet")
    assert {path.name for path in sdk.avd_home.glob("*.ini")} == {"Pixel_7.ini", "Tablet.ini"}
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").touch()
    with pytest.raises(ConfigError, match="nothing in it was touched"):
        write_sdk(tmp_path / "mine", "Pixel_7")
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["thesis.tex"]
