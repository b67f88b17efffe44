"""The little userland: what clients read and what they do with it."""

from __future__ import annotations

import io
import struct
import xml.etree.ElementTree as ET

import pytest
from PIL import Image
from served import typed

from distrl.phone_server.phone import PhoneModel, ServedPhone
from distrl.types import Press, Tap


def element(phone, text):
    return next(each for each in phone.render().elements if each.text == text)


def centre(phone, text):
    left, top, right, bottom = element(phone, text).bounds
    return f"{(left + right) // 2} {(top + bottom) // 2}"


def bytes_of(phone, line):
    return typed(phone, line)[1].encode(errors="surrogateescape")


def field_text(phone):
    frame = phone.evidence()["after"]["os"]["stack"][-1]
    return frame["fields"].get(frame["focus"], "")


@pytest.fixture
def typing(phone):
    """A phone with a focused field."""
    typed(phone, "am start -n org.distrl.launcher/.Main; input keyevent HOME")
    typed(phone, f"input tap {centre(phone, 'Search apps')}")
    assert phone.typing
    return phone


@pytest.mark.parametrize("scale", [1, 3])
def test_every_picture_has_the_size_that_wm_says(scale):
    phone = ServedPhone(PhoneModel(scale=scale), "test")
    assert typed(phone, "wm size")[1] == f"Physical size: {192 * scale}x{384 * scale}\n"
    image = Image.open(io.BytesIO(bytes_of(phone, "screencap -p")))
    assert image.format == "PNG"
    assert image.size == (192 * scale, 384 * scale)
    raw = bytes_of(phone, "screencap")
    assert struct.unpack("<IIII", raw[:16]) == (192 * scale, 384 * scale, 1, 1)
    assert raw[16:] == image.convert("RGBA").tobytes()
    typed(phone, "screencap -p /sdcard/shot.png")
    assert phone.files.read("/sdcard/shot.png")[:4] == b"\x89PNG"


@pytest.mark.parametrize("scale", [1, 2, 5])
def test_a_tap_on_any_pixel_hits_what_is_drawn_there(scale):
    phone = ServedPhone(PhoneModel(scale=scale), "test")
    width, _ = phone.size
    done = []
    phone._phone.perform = done.append
    for x in range(0, width, 7):
        typed(phone, f"input tap {x} {x * 2}")
    for x, tap in zip(range(0, width, 7), done, strict=True):
        assert isinstance(tap, Tap)
        assert int(tap.x * 192 / 1000) == x // scale
        assert int(tap.y * 384 / 1000) == x * 2 // scale


def test_coordinates_with_decimals_come_back_as_the_action_they_were(phone):
    done = []
    phone._phone.perform = done.append
    for coordinate in range(0, 1001, 13):
        typed(phone, f"input tap {coordinate * 192 / 1000:.4f} {coordinate * 384 / 1000:.4f}")
    assert done == [Tap(coordinate, coordinate) for coordinate in range(0, 1001, 13)]


def test_fingers_tap_hold_and_swipe(phone):
    done = []
    phone._phone.perform = lambda action: done.append(type(action).__name__)
    typed(phone, "input tap 10 10; input swipe 10 10 10 10 800; input swipe 10 300 10 100; input swipe 10 10 12 10")
    typed(phone, "input touchscreen swipe 10 10 10 10 1000; input draganddrop 10 10 90 90")
    assert done == ["Tap", "LongPress", "Swipe", "Tap", "LongPress", "Swipe"]


def test_keys_have_numbers_and_names(phone):
    done = []
    phone._phone.perform = done.append
    assert typed(phone, "input keyevent 3 KEYCODE_BACK enter")[0] == 0
    assert done == [Press("home"), Press("back"), Press("enter")]
    assert typed(phone, "input keyevent NO_SUCH_KEY")[0] != 0


def test_backspace_and_recents_are_tapped_where_the_phone_has_them(typing):
    typed(typing, "input text abc; input keyevent DEL")
    assert field_text(typing) == "ab"
    typed(typing, "input keyevent APP_SWITCH")
    assert typing.front == "os"


def test_text_is_ascii_with_spaces_as_percent_s(typing):
    assert typed(typing, "input text 'a%sb \"c\" $d'")[0] == 0
    assert field_text(typing) == 'a b "c" $d'


@pytest.mark.parametrize("text", ["ü", "a😀", "a\tb", "\x07"])
def test_text_that_has_no_keys_is_refused_whole(typing, text):
    status, _, error = typed(typing, f"input text 'abc{text}'")
    assert status != 0
    assert "NullPointerException" in error
    assert field_text(typing) == ""


def test_asleep_it_shows_black_and_feels_nothing(phone):
    typed(phone, "am start -n org.distrl.clock/.Main; input keyevent SLEEP")
    assert Image.open(io.BytesIO(bytes_of(phone, "screencap -p"))).getextrema() == ((0, 0),) * 3
    assert "mWakefulness=Asleep" in typed(phone, "dumpsys power")[1]
    typed(phone, "input keyevent HOME")
    assert phone.front == "clock"
    typed(phone, "input keyevent WAKEUP")
    assert Image.open(io.BytesIO(bytes_of(phone, "screencap -p"))).getextrema() != ((0, 0),) * 3


def test_apps_are_started_stopped_and_cleared(phone):
    assert "package:org.distrl.clock\n" in typed(phone, "pm list packages")[1]
    assert typed(phone, "am start -W -n org.distrl.clock/.Main")[0] == 0
    assert "org.distrl.clock/" in typed(phone, "dumpsys window | grep mCurrentFocus")[1]
    alarms = phone.evidence()["after"]["clock"]
    phone._edit(lambda tree: tree["clock"].clear())
    assert typed(phone, "pm clear org.distrl.clock")[1] == "Success\n"
    assert phone.evidence()["after"]["clock"] == alarms
    assert phone.front == "launcher"
    typed(phone, "monkey -p org.distrl.notes -c android.intent.category.LAUNCHER 1")
    assert typed(phone, "pidof org.distrl.notes")[0] == 0
    typed(phone, "am force-stop org.distrl.notes")
    assert phone.front == "launcher"
    assert typed(phone, "pidof org.distrl.notes")[0] == 1
    typed(phone, "am start -a android.intent.action.VIEW -d https://find.com")
    assert phone.front == "browser"
    typed(phone, "am start -a android.settings.WIFI_SETTINGS")
    assert phone.front == "settings"
    typed(phone, "am start -a android.intent.action.MAIN -c android.intent.category.HOME")
    assert phone.front == "launcher"


@pytest.mark.parametrize(
    "line",
    [
        "am start -n no.such/.Main",
        "am start",
        "am start --nonsense",
        "am start -n",
        "pm clear no.such",
        "monkey -p no.such 1",
    ],
)
def test_what_is_not_there_is_not_started(phone, line):
    before = phone.evidence()
    assert typed(phone, line)[0] != 0
    assert phone.evidence() == before


def test_the_dump_holds_every_element_with_all_it_knows(phone):
    typed(phone, "am start -n org.distrl.settings/.Main")
    status, out, _ = typed(phone, "uiautomator dump /sdcard/ui.xml")
    assert (status, out) == (0, "UI hierchary dumped to: /sdcard/ui.xml\n")
    shown = phone.files.read("/sdcard/ui.xml").decode()
    assert typed(phone, "uiautomator dump /dev/tty")[1].startswith(shown)
    window, *nodes = ET.fromstring(shown).iter("node")
    assert window.get("bounds") == "[0,0][192,384]"
    elements = phone.render().elements
    assert len(nodes) == len(elements) > 5
    for node, element in zip(nodes, elements, strict=True):
        left, top, right, bottom = element.bounds
        assert node.get("bounds") == f"[{left},{top}][{right},{bottom}]"
        assert (node.get("text") or node.get("content-desc")) == element.text
        assert node.get("resource-id").endswith(f":id/{element.role}")
        assert node.get("clickable") == str(element.clickable).lower()
        assert (node.get("checkable") == "true") == (element.checked is not None)
        assert (node.get("checked") == "true") == bool(element.checked)


def test_a_dump_is_xml_whatever_was_typed(typing):
    typed(typing, "ime set com.android.adbkeyboard/.AdbIME")
    typed(typing, "am broadcast -a ADB_INPUT_CHARS --eia chars 60,38,34,39,10,0,11,128512,1488")
    assert field_text(typing) == "<&\"'\n\0\v😀א"
    tree = ET.fromstring(typed(typing, "uiautomator dump /dev/tty")[1].rpartition("UI hier")[0])
    assert any(node.get("text") == "<&\"'\n..😀א" for node in tree.iter("node"))


def test_settings_are_kept(phone):
    assert typed(phone, "settings get system volume")[1] == "null\n"
    typed(phone, "settings put system volume 7")
    assert typed(phone, "settings get system volume")[1] == "7\n"
    assert typed(phone, "settings delete system volume")[1] == "Deleted 1 rows\n"


def test_a_reboot_goes_home_keeps_data_and_counts_from_zero():
    times = [100.0]
    phone = ServedPhone(PhoneModel(seed=3), "test", clock=lambda: times[-1])
    typed(phone, "am start -n org.distrl.clock/.Main")
    state = phone.evidence()["after"]["clock"]
    times.append(130.0)
    assert typed(phone, "cat /proc/uptime")[1] == "30.00 30.00\n"
    typed(phone, "reboot")
    assert phone.front == "launcher"
    assert phone.evidence()["after"]["clock"] == state
    assert typed(phone, "cat /proc/uptime")[1] == "0.00 0.00\n"
    assert typed(phone, "getprop sys.boot_completed")[1] == "1\n"
