"""The rungs of a phone behind adb. It is never reset to factory state, and on a dry run nothing on it is changed."""

from __future__ import annotations

import asyncio
import contextlib
import shlex
import time
from collections.abc import Awaitable, Callable

from distrl.devices.adb import gestures, hierarchy, keyboard, vitals
from distrl.devices.adb.attachment import Attachment
from distrl.devices.adb.line import joined
from distrl.devices.adb.options import AdbOptions
from distrl.devices.adb.recipes import HOME
from distrl.devices.adb.safety import SYSTEM
from distrl.devices.base import Rung
from distrl.errors import DeviceError, DeviceLost, NoSuchDevice, StillBooting

LOOKING: tuple[Rung, ...] = ("retry", "reconnect")
"""Rungs that change nothing on the phone."""
RUNGS: tuple[Rung, ...] = (*LOOKING, "restart helper", "force-stop app", "reboot")
PATIENT: tuple[Rung, ...] = ("retry", "reboot")
"""Rungs after which a phone that is only starting up is waited for."""
POLL_S = 0.5
GOING_DOWN_S = 45.0
"""A phone that answers after so long, and is up for longer than that, has not heard that it should reboot."""
LONGEST_BOOT_S = 900.0
"""Whoever waits has a deadline of their own; this one only keeps us from waiting for ever."""
STUCK = "pkill -9 -f '[c]om.android.commands.uiautomator' 2>/dev/null"
"""A `uiautomator dump` that never ended holds the one connection there is. The brackets keep it from finding itself."""


class Recovery:
    """Climbs for one phone. `package` is the app of the task at hand, `front` the one that is shown."""

    def __init__(self, options: AdbOptions, attachment: Attachment, prove: Callable[[], Awaitable[None]]) -> None:
        """`prove` raises `DeviceError` unless the phone answers, has booted, shows a picture and lives."""
        self.package = ""
        self.front = ""
        self._options = options
        self._attachment = attachment
        self._prove = prove

    @property
    def rungs(self) -> tuple[Rung, ...]:
        if self._options.dry:
            return LOOKING
        return (*RUNGS, "wipe") if self._may_wipe else RUNGS

    @property
    def _may_wipe(self) -> bool:
        """Only where a reset erases the app's data anyway: what its owner has logged in to stays."""
        return self._options.reset == "clear" or self._attachment.served

    async def climb(self, rung: Rung) -> None:
        """Raises `DeviceError` when it did not help."""
        if rung not in self.rungs:
            raise DeviceError(f"{self._options.serials or 'adb://*'} has no rung {rung!r}; it has {self.rungs}.")
        if rung != "retry":
            await self._attachment.drop()  # who begins higher up needs a line that works, too
        if rung == "restart helper":
            await self._restart_helper()
        elif rung == "force-stop app":
            await self._stop_apps()
        elif rung == "reboot":
            await self._reboot()
        elif rung == "wipe":
            await self._wipe()
        await (self._proved() if rung in PATIENT else self._prove())

    # -- rungs

    async def _restart_helper(self) -> None:
        """What of ours may be stuck on the phone: a dump of its UI tree, or our keyboard where its own should be."""
        calls = await self._attachment.make()
        await calls.shell("restarting helpers", f"{STUCK}; rm -f {hierarchy.FILE}")
        _, usual = keyboard.parse_survey((await calls.shell("ime list", keyboard.SURVEY)).text)
        stop = ["am", "force-stop", keyboard.ADB_KEYBOARD.partition("/")[0]]
        await calls.shell("restarting helpers", joined([stop]))
        if usual == keyboard.ADB_KEYBOARD:
            await calls.shell("restarting helpers", "ime reset")

    async def _stop_apps(self) -> None:
        calls = await self._attachment.make()
        packages = [name for name in dict.fromkeys((self.package, self.front)) if name and not SYSTEM.search(name)]
        stops = [["am", "force-stop", name] for name in packages]
        await calls.shell("stopping apps", joined([*stops, gestures.WAKE, HOME]))

    async def _reboot(self) -> None:
        """Also of a phone that never finishes to boot. Returns when it is up again, which is not yet when it answers:
        it may still be going down."""
        calls = await self._attachment.reach()
        asked_at, was_away = time.monotonic(), False
        with contextlib.suppress(DeviceLost):  # it hangs up while it goes down
            await calls.reboot()
        await self._attachment.drop()  # else the server holds on to a line that leads nowhere for a while
        while (waited_s := time.monotonic() - asked_at) < LONGEST_BOOT_S:
            self._attachment.forget()
            try:
                booted = await self._attachment.make()
                uptime_s = vitals.parse_uptime((await booted.shell("uptime", vitals.UPTIME)).text)
                if was_away if uptime_s is None else uptime_s < time.monotonic() - asked_at:
                    return
                if waited_s > GOING_DOWN_S:
                    raise DeviceError(f"{calls.address} was told to reboot and did not.")
            except (DeviceLost, NoSuchDevice, StillBooting):
                was_away = True
            await asyncio.sleep(POLL_S)
        raise StillBooting(calls.address)

    async def _wipe(self) -> None:
        calls = await self._attachment.make()
        clear = [["pm", "clear", self.package]] if self.package else []
        script = "; ".join(shlex.join(words) for words in (*clear, vitals.TRIM, ["rm", "-f", hierarchy.FILE]))
        await calls.shell("wiping", script)

    # -- inside

    async def _proved(self) -> None:
        began = time.monotonic()
        while True:
            try:
                await self._prove()
                return
            except StillBooting:
                if time.monotonic() - began > LONGEST_BOOT_S:
                    raise
            await asyncio.sleep(POLL_S)
