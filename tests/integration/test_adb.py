"""The real `adb`, adbutils and uiautomator2 against a served phone."""

from __future__ import annotations

import base64
import io
import shlex
import time
import xml.etree.ElementTree as ET

import pytest
from emulated import eventually
from PIL import Image
from served import KINDS, adb_server, served

from distrl.devices.adb import task_intents
from distrl.types import Task

adbutils = pytest.importorskip("adbutils", reason="adbutils is not installed: pip install -e '.[dev]'")

TASK = Task("t", "s", "train", "clock/x", "goal", seed=11, max_steps=5, start=(("open", "clock", "alarms"),))
NASTY = "quotes '\" $(reboot) `reboot` %s \\ 😀 ‮שלום\nnext line; reboot"


@pytest.fixture(scope="module", params=KINDS)
def adb(request, tmp_path_factory):
    with adb_server(request.param, tmp_path_factory.mktemp("home")) as adb:
        yield adb


@pytest.fixture(scope="module")
def phones():
    with served(phones=2, seed=3) as phones:
        yield phones


@pytest.fixture
def shell(adb, phones):
    """`adb shell` on the first phone, reset to the task."""
    adb("connect", phones.address)

    def shell(*words: str):
        return adb("-s", phones.address, "shell", *words)

    answer = shell(shlex.join(task_intents.reset_command(TASK)))
    assert task_intents.read_answer(answer.stdout.decode()) == "reset"
    return shell


def test_phones_are_connected_side_by_side(adb, phones):
    for address in phones.addresses:
        assert b"connected to" in adb("connect", address).stdout
    listed = adb("devices", "-l").stdout.decode()
    assert all(f"{address} " in listed for address in phones.addresses)
    assert listed.count("model:DistRL_Phone") == 2


def test_output_errors_and_exit_status_come_apart(shell):
    answer = shell("echo out; ls /nowhere; false")
    assert (answer.returncode, answer.stdout, answer.stderr) == (
        1,
        b"out\n",
        b"ls: /nowhere: No such file or directory\n",
    )
    assert shell("true").returncode == 0
    assert shell("no-such-program").returncode == 127


def test_pictures_come_whole_through_exec(adb, phones, shell):
    picture = adb("-s", phones.address, "exec-out", "screencap", "-p").stdout
    assert Image.open(io.BytesIO(picture)).size == (192, 384)
    raw = adb("-s", phones.address, "exec-out", "screencap").stdout
    assert raw[16:] == Image.open(io.BytesIO(picture)).convert("RGBA").tobytes()


def test_files_are_pushed_listed_and_pulled_as_they_are(adb, phones, tmp_path):
    adb("connect", phones.address)
    content = bytes(range(256)) * 1500
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "ü.bin").write_bytes(content)
    (tmp_path / "in" / "empty").touch()
    pushed = adb("-s", phones.address, "push", str(tmp_path / "in"), "/sdcard/deep/er/")
    assert pushed.returncode == 0, pushed.stderr
    pulled = adb("-s", phones.address, "pull", "/sdcard/deep/er", str(tmp_path / "out"))
    assert pulled.returncode == 0, pulled.stderr
    found = {path.name: path.read_bytes() for path in (tmp_path / "out").rglob("*") if path.is_file()}
    assert found == {"ü.bin": content, "empty": b""}
    assert adb("-s", phones.address, "pull", "/sdcard/none", str(tmp_path)).returncode != 0


def test_an_app_is_not_installed_and_nothing_hangs(adb, phones, shell, tmp_path):
    (tmp_path / "app.apk").write_bytes(b"x" * 300_000)
    answer = adb("-s", phones.address, "install", str(tmp_path / "app.apk"))
    assert answer.returncode != 0
    assert b"Success" not in answer.stdout


def test_lines_can_be_typed_at_a_prompt(adb, phones):
    answer = adb("-s", phones.address, "shell", typed=b"echo one\nfalse\necho $?\nexit\n")
    assert answer.stdout.split() == [b"one", b"1"]


def test_a_reset_and_its_evidence_travel_over_adb(phones, shell):
    shell("input keyevent HOME")
    evidence = task_intents.read_answer(shell(shlex.join(task_intents.evidence_command())).stdout.decode())
    assert evidence["before"]["os"]["stack"][-1]["app"] == "clock"
    assert evidence["after"]["os"]["stack"][-1]["app"] == "launcher"


def test_a_reboot_hangs_up_and_the_phone_comes_back(adb, phones, shell):
    def booted_at():
        return time.monotonic() - phones.phone.power.uptime_s

    before = booted_at()
    adb("-s", phones.address, "reboot")
    assert eventually(lambda: booted_at() > before + 0.01)  # adb does not wait for it
    adb("disconnect", phones.address)
    assert b"connected to" in adb("connect", phones.address).stdout
    assert adb("-s", phones.address, "shell", "getprop", "sys.boot_completed").stdout == b"1\n"


# --- libraries ----------------------------------------------------------------------------------


@pytest.fixture
def device(adb, phones, shell):
    return adbutils.AdbClient(port=adb.port).device(phones.address)


def search_field(device):
    """Focus the search field of the home screen."""
    device.shell("input keyevent HOME")
    node = next(n for n in ET.fromstring(device.dump_hierarchy()).iter("node") if n.get("text") == "Search apps")
    left, top, right, bottom = (int(n) for n in node.get("bounds").replace("][", ",").strip("[]").split(","))
    device.click((left + right) // 2, (top + bottom) // 2)


def field_text(phones):
    frame = phones.phone.evidence()["after"]["os"]["stack"][-1]
    return frame["fields"].get(frame["focus"], "")


def test_adbutils_finds_what_it_looks_for(device):
    assert tuple(device.window_size()) == (192, 384)
    assert device.screenshot(error_ok=False).size == (192, 384)
    assert device.app_current().package == "org.distrl.clock"
    assert device.is_screen_on()
    assert device.shell2("false").returncode == device.shell2("false", v2=True).returncode == 1
    device.sync.push(b"x" * 100_000, "/sdcard/x")
    assert device.sync.read_bytes("/sdcard/x") == b"x" * 100_000
    assert device.sync.stat("/sdcard/x").size == 100_000
    assert "x" in [entry.path for entry in device.sync.list("/sdcard")]
    device.app_start("org.distrl.notes")
    assert device.app_current().package == "org.distrl.notes"
    assert device.app_info("org.distrl.notes").version_name == "1.0"
    assert device.battery().level == 80


def test_any_text_arrives_verbatim_over_adb(device, phones):
    search_field(device)
    device.shell("ime set com.android.adbkeyboard/.AdbIME")
    message = base64.b64encode(NASTY.encode()).decode()
    device.shell(["am", "broadcast", "-a", "ADB_INPUT_B64", "--es", "msg", message])
    assert field_text(phones) == NASTY


def test_uiautomator2_works(device, phones):
    u2 = pytest.importorskip("uiautomator2", reason="uiautomator2 is not installed: pip install -e '.[dev]'")
    phone = u2.connect(device)
    try:
        assert phone.info["currentPackageName"] == "org.distrl.clock"
        assert phone.screenshot().size == (192, 384)
        phone.press("home")
        assert phone.app_current()["package"] == "org.distrl.launcher"
        field = phone(className="android.widget.EditText")
        field.click()
        phone.send_keys(NASTY)
        assert field_text(phones) == NASTY
        phone.clear_text()
        assert field_text(phones) == ""
        field.set_text("zwei")
        assert field.get_text() == "zwei"
        assert phone.xpath('//*[@text="zwei"]').exists
        assert not phone(text="nothing like it").exists
        phone.app_start("org.distrl.settings")
        phone.swipe(0.5, 0.8, 0.5, 0.3)
        phone.long_click(90, 90)
    finally:
        phone.stop_uiautomator()
    assert phones.phone.automators == set()
