"""`dumpsys`: only the lines that clients parse."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from distrl.phone_server.commands.base import Call, Command
from distrl.phone_server.packages import SYSTEM, app_of, package_of
from distrl.phone_server.phone import ServedPhone

DISPLAY_ID = "4619827259835644672"
SERIAL = "1a2b3c"


async def dumpsys(phone: ServedPhone, call: Call) -> int:
    name, args = (call.args[0], call.args[1:]) if call.args else ("", [])
    if name not in SECTIONS:
        return call.fail(f"Can't find service: {name}")
    for line in SECTIONS[name](phone, args):
        call.say(line)
    return 0


def _window(phone: ServedPhone, args: list[str]) -> Iterator[str]:
    yield "WINDOW MANAGER WINDOWS (dumpsys window windows)"
    yield f"  mCurrentFocus=Window{{{SERIAL} u0 {phone.focused_window}}}"
    yield f"  mFocusedApp=ActivityRecord{{{SERIAL} u0 {_activity(phone)} t1}}"
    yield f"  mAwake={_truth(phone.power.awake)} mScreenOnEarly={_truth(phone.power.awake)}"
    yield "  mDreamingLockscreen=false mShowingLockscreen=false"
    yield "  mCurrentRotation=ROTATION_0"


def _activity(phone: ServedPhone) -> str:
    return f"{package_of(phone.front)}/.{phone.page.title().replace('_', '')}"


def _activities(phone: ServedPhone, args: list[str]) -> Iterator[str]:
    yield "ACTIVITY MANAGER ACTIVITIES (dumpsys activity activities)"
    yield f"  mResumedActivity: ActivityRecord{{{SERIAL} u0 {_activity(phone)} t1}}"
    yield f"  topResumedActivity=ActivityRecord{{{SERIAL} u0 {_activity(phone)} t1}}"
    yield f"  ACTIVITY {_activity(phone)} {SERIAL} pid=4100"


def _input_method(phone: ServedPhone, args: list[str]) -> Iterator[str]:
    yield f"  mCurMethodId={phone.keyboard}"
    yield f"  mInputShown={_truth(phone.typing)}"


def _display(phone: ServedPhone, args: list[str]) -> Iterator[str]:
    width, height = phone.size
    yield "DISPLAY MANAGER (dumpsys display)"
    yield (
        f"  DisplayViewport{{type=INTERNAL, valid=true, isActive=true, displayId=0, orientation=0, "
        f"logicalFrame=Rect(0, 0 - {width}, {height}), deviceWidth={width}, deviceHeight={height}}}"
    )
    yield f"  mScreenState={'ON' if phone.power.awake else 'OFF'}"


def _power(phone: ServedPhone, args: list[str]) -> Iterator[str]:
    yield f"  mWakefulness={'Awake' if phone.power.awake else 'Asleep'}"
    yield f"  mHoldingDisplaySuspendBlocker={_truth(phone.power.awake)}"


def _battery(phone: ServedPhone, args: list[str]) -> Iterator[str]:
    yield "Current Battery Service state:"
    for line in ("AC powered: false", "USB powered: true", "status: 2", "health: 2", "present: true", "level: 80"):
        yield f"  {line}"
    for line in ("scale: 100", "voltage: 4200", "temperature: 250", "technology: Li-ion"):
        yield f"  {line}"


def _package(phone: ServedPhone, args: list[str]) -> Iterator[str]:
    name = args[0] if args else ""
    if app_of(name) in phone.apps or name in SYSTEM:
        yield f"  Package [{name}] ({SERIAL}):"
        yield "    versionCode=1 minSdk=30 targetSdk=34"
        yield "    versionName=1.0"
        yield "    pkgFlags=[ SYSTEM HAS_CODE ]"
    else:
        yield f"Unable to find package: {name}"


def _surface(phone: ServedPhone, args: list[str]) -> Iterator[str]:
    yield f'Display {DISPLAY_ID} (HWC display 0): port=0 pnpId=DST displayName="simulated"'


def _truth(value: bool) -> str:
    return "true" if value else "false"


SECTIONS: dict[str, Callable[[ServedPhone, list[str]], Iterator[str]]] = {
    "window": _window, "activity": _activities, "input_method": _input_method, "display": _display, "power": _power,
    "battery": _battery, "package": _package, "SurfaceFlinger": _surface,
}  # fmt: skip
COMMANDS: dict[str, Command] = {"dumpsys": dumpsys}
