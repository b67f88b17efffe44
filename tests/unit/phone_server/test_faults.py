"""What breaks on purpose breaks as it says, as often as it says, and the same way for the same seed."""

from __future__ import annotations

import asyncio
import io
import struct
import time
from pathlib import Path

import pytest
from PIL import Image
from served import typed

from distrl.devices.adb import task_intents
from distrl.errors import ConfigError, UnknownName
from distrl.phone_server.faults import FAULT_KINDS, FOREVER, Fault, FaultInjector, parse
from distrl.phone_server.phone import PhoneModel, ServedPhone
from distrl.phone_server.shell.interpreter import Interpreter

PAGE = Path(__file__).parents[3] / "docs" / "android.md"


def broken(*faults: str) -> ServedPhone:
    return ServedPhone(PhoneModel(seed=3, faults=parse(list(faults))), "test")


def bytes_of(phone, line):
    return typed(phone, line)[1].encode(errors="surrogateescape")


def hangs(phone, line, patience_s: float) -> bool:
    async def sink(out, err):
        pass

    async def run():
        await asyncio.wait_for(Interpreter(phone, sink).run(line), patience_s)

    try:
        asyncio.run(run())
    except TimeoutError:
        return True
    return False


def test_faults_are_read_with_probability_and_seconds():
    assert parse(["offline=0.01,hang-screencap=0.5:30", "unplug"]) == {
        "offline": Fault(0.01, 5.0), "hang-screencap": Fault(0.5, 30.0), "unplug": Fault(1.0, FOREVER)
    }  # fmt: skip


@pytest.mark.parametrize("text", ["offline=2", "offline=-1", "offline=x", "offline=nan", "offline=1:-3", "offline=1:x"])
def test_a_fault_that_cannot_be_is_refused(text):
    with pytest.raises(ConfigError):
        parse([text])


def test_an_unknown_fault_names_the_nearest():
    with pytest.raises(UnknownName, match="Did you mean 'offline'"):
        parse(["ofline"])


def test_the_page_lists_every_fault():
    text = PAGE.read_text(encoding="utf-8")
    assert [name for name in FAULT_KINDS if f"`{name}`" not in text] == []


def test_one_seed_gives_one_row_of_faults_and_others_do_not_shift_it():
    def row(faults, seed):
        injector = FaultInjector(parse(faults), seed)
        return ["offline" in injector.draw("command") for _ in range(2000)]

    assert row(["offline=0.1"], "a") == row(["offline=0.1"], "a") != row(["offline=0.1"], "b")
    assert 140 < sum(row(["offline=0.1"], "a")) < 260
    assert not any(row(["offline=0"], "a"))
    assert row(["slow=0.5,offline=0.1,empty-screencap=0.5"], "a") == row(["offline=0.1"], "a")


def test_pictures_are_empty_truncated_garbled_or_black():
    whole = bytes_of(broken(), "screencap -p")
    assert bytes_of(broken("empty-screencap"), "screencap -p") == b""
    assert whole.startswith(bytes_of(broken("truncated-screencap"), "screencap -p"))
    garbled = bytes_of(broken("garbled-screencap"), "screencap -p")
    assert len(garbled) == len(whole)
    with pytest.raises((OSError, SyntaxError, ValueError)):
        Image.open(io.BytesIO(garbled)).load()
    raw = bytes_of(broken("garbled-screencap"), "screencap")
    assert struct.unpack("<IIII", raw[:16])[2] != 1
    black = Image.open(io.BytesIO(bytes_of(broken("black-screencap"), "screencap -p")))
    assert black.getextrema() == ((0, 0),) * 3


@pytest.mark.parametrize(
    ("fault", "line", "other"),
    [
        ("hang-screencap", "screencap -p", "input tap 1 1"),
        ("hang-input", "input tap 1 1", "screencap -p"),
        ("hang-dump", "uiautomator dump", "screencap"),
    ],
)
def test_only_the_command_that_should_hang_does(fault, line, other):
    phone = broken(fault)
    assert hangs(phone, line, patience_s=0.05)
    assert not hangs(phone, other, patience_s=20)


def test_a_dump_that_finds_no_idle_moment_leaves_the_old_file():
    phone = broken("not-idle-dump")
    phone.files.write("/sdcard/ui.xml", b"old", 0)
    status, out, err = typed(phone, "uiautomator dump /sdcard/ui.xml")
    assert (status, out, err) == (0, "", "ERROR: could not get idle state.\n")
    assert phone.files.read("/sdcard/ui.xml") == b"old"


def test_a_frozen_phone_stands_still_until_a_reboot():
    times = [100.0]
    phone = ServedPhone(PhoneModel(seed=3, faults=parse(["freeze"])), "test", clock=lambda: times[-1])
    typed(phone, "am start -n org.distrl.clock/.Main")
    picture = bytes_of(phone, "screencap")
    times.append(110.0)
    typed(phone, "input keyevent HOME")
    times.append(150.0)
    assert bytes_of(phone, "screencap") == picture
    assert typed(phone, "cat /proc/uptime")[1] == "10.00 10.00\n"
    assert "result=1" in typed(phone, f"am broadcast -a distrl.RESET --es task {task_intents.pack({'seed': 1})}")[1]
    typed(phone, "reboot")
    assert bytes_of(phone, "screencap") != picture
    times.append(151.0)
    assert typed(phone, "cat /proc/uptime")[1] == "1.00 1.00\n"


def test_a_phone_frozen_for_a_while_goes_on_by_itself():
    times = [100.0]
    phone = ServedPhone(PhoneModel(seed=3, faults=parse(["freeze=1:20"])), "test", clock=lambda: times[-1])
    typed(phone, "am start -n org.distrl.clock/.Main; input keyevent HOME")
    times.append(119.0)
    assert phone.power.frozen
    times.append(120.0)
    assert not phone.power.frozen
    assert phone.front == "clock"


def test_a_phone_that_boots_has_no_services_yet():
    phone = broken("slow-boot=1:600")
    assert typed(phone, "getprop sys.boot_completed")[1] == "\n"
    assert typed(phone, "screencap -p") == (20, "", "cmd: Can't find service: SurfaceFlinger\n")
    assert typed(phone, "input tap 1 1")[0] == 20
    assert typed(phone, "ls /sdcard")[0] == 0
    assert typed(broken("slow-boot=1:0"), "getprop sys.boot_completed")[1] == "1\n"


def test_an_app_that_does_not_respond_says_so_as_android_does():
    phone = broken("anr")
    typed(phone, "am start -n org.distrl.clock/.Main; input tap 1 1")
    assert "Application Not Responding: org.distrl.clock" in typed(phone, "dumpsys window")[1]
    shown = typed(phone, "uiautomator dump /dev/tty")[1]
    assert 'resource-id="android:id/aerr_close"' in shown
    assert "Clock isn&apos;t responding" in shown or "Clock isn't responding" in shown
    phone.fault_injector.faults = {}
    left, top, right, bottom = next(e.bounds for e in phone.render().elements if e.text == "Wait")
    typed(phone, f"input tap {(left + right) / 2} {(top + bottom) / 2}")
    assert phone.popup is None
    assert phone.front == "clock"


@pytest.mark.parametrize("answer", ["allow", "deny"])
def test_a_question_for_permission_has_the_ids_of_android(answer):
    phone = broken()
    typed(phone, "am start -n org.distrl.clock/.Main")
    phone._edit(lambda tree: tree["os"].update(popup={"kind": "permission", "app": "clock"}))
    assert "permissioncontroller" in typed(phone, "dumpsys window")[1]
    shown = typed(phone, "uiautomator dump /dev/tty")[1]
    assert f'resource-id="com.android.permissioncontroller:id/permission_{answer}_button"' in shown


def test_the_clock_is_ahead_by_as_much_as_asked():
    assert abs(int(typed(broken("clock-off=1:3600"), "date +%s")[1]) - time.time() - 3600) < 60
    assert abs(int(typed(broken(), "date +%s")[1]) - time.time()) < 60


def test_a_full_phone_takes_no_file_until_room_is_made():
    phone = broken("storage-full")
    assert "100%" in typed(phone, "df /data")[1]
    assert "No space left on device" in typed(phone, "screencap -p /sdcard/a.png")[2]
    assert typed(phone, "echo a > /sdcard/a")[0] == 1
    assert typed(phone, "pm trim-caches 1G; screencap -p /sdcard/a.png; ls /sdcard/a.png")[0] == 0
    assert " 100%" not in typed(phone, "df /data")[1]
