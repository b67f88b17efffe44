"""The recovery rungs of a phone behind adb. No rung is a factory reset; a dry run changes nothing."""

from __future__ import annotations

import asyncio
import contextlib
import shlex
import time
from collections.abc import Awaitable, Callable

from distrl.devices.adb import gestures, hierarchy, keyboard, system_status
from distrl.devices.adb.attachment import Attachment
from distrl.devices.adb.connection import join_commands
from distrl.devices.adb.options import AdbOptions
from distrl.devices.adb.reset_scripts import HOME
from distrl.devices.adb.safety import SYSTEM
from distrl.devices.base import Rung
from distrl.errors import DeviceError, DeviceLost, NoSuchDevice, StillBooting

READ_ONLY_RUNGS: tuple[Rung, ...] = ("retry", "reconnect")
"""Rungs that change nothing on the phone."""
RUNGS: tuple[Rung, ...] = (*READ_ONLY_RUNGS, "restart helper", "force-stop app", "reboot")
BOOT_WAIT_RUNGS: tuple[Rung, ...] = ("retry", "reboot")
"""Rungs that wait for a phone that is still booting."""
POLL_S = 0.5
SHUTDOWN_S = 45.0
"""A phone that still answers after this long with an older uptime has ignored the reboot."""
LONGEST_BOOT_S = 900.0
"""An upper bound; the caller's own timeout is usually shorter."""
KILL_UIAUTOMATOR = "pkill -9 -f '[c]om.android.commands.uiautomator' 2>/dev/null"
"""A hung `uiautomator dump` blocks all later ones. The brackets keep pkill from matching itself."""


class Recovery:
    """Runs rungs on one phone. `package` is the app of the current task, `front` the app on screen."""

    def __init__(self, options: AdbOptions, attachment: Attachment, prove: Callable[[], Awaitable[None]]) -> None:
        """`prove` raises `DeviceError` unless the phone answers, has booted, shows a picture and is not frozen."""
        self.package = ""
        self.front = ""
        self._options = options
        self._attachment = attachment
        self._prove = prove

    @property
    def rungs(self) -> tuple[Rung, ...]:
        if self._options.dry:
            return READ_ONLY_RUNGS
        return (*RUNGS, "wipe") if self._may_wipe else RUNGS

    @property
    def _may_wipe(self) -> bool:
        """Only where a reset clears the app's data anyway: logins of a real phone are kept."""
        return self._options.reset == "clear" or self._attachment.served

    async def run(self, rung: Rung) -> None:
        """Raises `DeviceError` when it did not help."""
        if rung not in self.rungs:
            raise DeviceError(f"{self._options.serials or 'adb://*'} has no rung {rung!r}; it has {self.rungs}.")
        if rung != "retry":
            await self._attachment.drop()  # every later rung needs a fresh connection too
        if rung == "restart helper":
            await self._restart_helper()
        elif rung == "force-stop app":
            await self._stop_apps()
        elif rung == "reboot":
            await self._reboot()
        elif rung == "wipe":
            await self._wipe()
        await (self._prove_when_booted() if rung in BOOT_WAIT_RUNGS else self._prove())

    # -- rungs

    async def _restart_helper(self) -> None:
        """Kill a stuck UI dump, and switch from ADBKeyBoard back to the usual keyboard."""
        client = await self._attachment.connect_booted()
        await client.shell("restarting helpers", f"{KILL_UIAUTOMATOR}; rm -f {hierarchy.FILE}")
        _, usual = keyboard.parse_keyboards((await client.shell("ime list", keyboard.LIST_KEYBOARDS)).text)
        stop = ["am", "force-stop", keyboard.ADB_KEYBOARD.partition("/")[0]]
        await client.shell("restarting helpers", join_commands([stop]))
        if usual == keyboard.ADB_KEYBOARD:
            await client.shell("restarting helpers", "ime reset")

    async def _stop_apps(self) -> None:
        client = await self._attachment.connect_booted()
        packages = [name for name in dict.fromkeys((self.package, self.front)) if name and not SYSTEM.search(name)]
        stops = [["am", "force-stop", name] for name in packages]
        await client.shell("stopping apps", join_commands([*stops, gestures.WAKE, HOME]))

    async def _reboot(self) -> None:
        """Works also on a phone that never finished booting. Returns once it is up again; an answer alone is no proof,
        since the phone may still be shutting down."""
        client = await self._attachment.connect()
        asked_at, was_away = time.monotonic(), False
        with contextlib.suppress(DeviceLost):  # the connection closes during shutdown
            await client.reboot()
        await self._attachment.drop()  # else the adb server keeps a dead connection for a while
        while (waited_s := time.monotonic() - asked_at) < LONGEST_BOOT_S:
            self._attachment.forget()
            try:
                booted = await self._attachment.connect_booted()
                uptime_s = system_status.parse_uptime((await booted.shell("uptime", system_status.UPTIME)).text)
                if was_away if uptime_s is None else uptime_s < time.monotonic() - asked_at:
                    return
                if waited_s > SHUTDOWN_S:
                    raise DeviceError(f"{client.address} was told to reboot and did not.")
            except (DeviceLost, NoSuchDevice, StillBooting):
                was_away = True
            await asyncio.sleep(POLL_S)
        raise StillBooting(client.address)

    async def _wipe(self) -> None:
        client = await self._attachment.connect_booted()
        clear = [["pm", "clear", self.package]] if self.package else []
        script = "; ".join(shlex.join(words) for words in (*clear, system_status.TRIM, ["rm", "-f", hierarchy.FILE]))
        await client.shell("wiping", script)

    # -- inside

    async def _prove_when_booted(self) -> None:
        began = time.monotonic()
        while True:
            try:
                await self._prove()
                return
            except StillBooting:
                if time.monotonic() - began > LONGEST_BOOT_S:
                    raise
            await asyncio.sleep(POLL_S)
