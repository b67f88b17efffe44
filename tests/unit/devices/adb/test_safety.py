from __future__ import annotations

import pytest

from distrl.devices.adb.options import AdbOptions
from distrl.devices.adb.reset_scripts import reset_script
from distrl.devices.adb.safety import Guard
from distrl.devices.adb.window import Front
from distrl.errors import ActionRefused, ConfigError
from distrl.types import Done, LongPress, Press, Swipe, Tap, Task, Type, Wait

TOUCHES = (Tap(1, 1), LongPress(1, 1), Swipe(1, 1, 2, 2), Type("x"), Press("enter"))
RISKY = {
    "call": Front("com.google.android.dialer", ".MainActivity"),
    "sms": Front("com.google.android.apps.messaging", ".ui.ConversationListActivity"),
    "purchase": Front("com.android.vending", "com.google.android.finsky.billing.AcquireActivity"),
    "reset": Front("com.android.settings", ".Settings$FactoryResetActivity"),
}


def guard(query: str = "") -> Guard:
    return Guard(AdbOptions.parse(f"adb://x?{query}"))


def a_task(**params) -> Task:
    return Task("a", "s", "train", "t", "goal", seed=1, max_steps=5, params=params)


@pytest.mark.parametrize("risk", RISKY)
def test_in_a_risky_place_only_the_ways_out_are_free(risk):
    for touch in TOUCHES:
        with pytest.raises(ActionRefused, match=f"unblock={risk}"):
            guard().check(touch, RISKY[risk])
        guard(f"unblock={risk}").check(touch, RISKY[risk])
    for way_out in (Press("back"), Press("home"), Wait(), Done()):
        guard().check(way_out, RISKY[risk])


def test_a_risky_box_over_a_harmless_app_counts():
    with pytest.raises(ActionRefused):
        guard().check(Tap(1, 1), Front("com.example", ".Main", window="com.android.incallui/.InCallActivity"))


def test_harmless_apps_are_free():
    for package in ("com.android.chrome", "com.android.settings", "org.distrl.messages", "org.distrl.store"):
        for touch in TOUCHES:
            guard().check(touch, Front(package, ".Main"))


def test_with_a_list_only_its_apps_and_the_way_to_them_are_free():
    strict = guard("allow=com.android.chrome,com.example")
    for package in ("com.android.chrome", "com.google.android.apps.nexuslauncher", "com.android.systemui"):
        strict.check(Tap(1, 1), Front(package, ".Main"))
    for package in ("com.android.settings", ""):
        with pytest.raises(ActionRefused, match="allow="):
            strict.check(Tap(1, 1), Front(package, ".Main"))


@pytest.mark.parametrize("link", ["tel:112", "SMSTO:1", "market://x", "intent:#Intent;end", "file:///data", "reboot"])
def test_a_reset_opens_no_risky_link(link):
    with pytest.raises(ConfigError, match="does not open"):
        reset_script(AdbOptions.parse("adb://x"), a_task(link=link), guard())


def test_a_recipe_stops_the_app_goes_home_and_opens_the_page():
    options = AdbOptions.parse("adb://x?reset=clear&app=com.example")
    assert reset_script(options, a_task(), guard()).endswith(
        "am force-stop com.example && pm clear com.example && input keyevent 3 && "
        "monkey -p com.example -c android.intent.category.LAUNCHER 1"
    )
    linked = reset_script(AdbOptions.parse("adb://x"), a_task(link="https://e.org/?q='$(reboot)'&a=b"), guard())
    assert linked.endswith("""VIEW -d 'https://e.org/?q='"'"'$(reboot)'"'"'&a=b'""")
    assert "force-stop" not in linked


@pytest.mark.parametrize("package", ["a b", "x;reboot", "-n", "$(x)"])
def test_what_is_no_package_is_refused(package):
    with pytest.raises(ConfigError, match="no name of a package"):
        reset_script(AdbOptions.parse("adb://x"), a_task(package=package), guard())
