"""What an agent sees of a phone: the screen after pop-ups are dismissed and a freeze is ruled out."""

from __future__ import annotations

from collections import Counter

from distrl.devices.adb import system_status
from distrl.devices.adb.options import AdbOptions
from distrl.devices.adb.phone_client import PhoneClient
from distrl.devices.adb.popups import PopupHandler, Press
from distrl.devices.adb.screen_capture import CapturedScreen, ScreenCapture
from distrl.devices.adb.watchdog import Watchdog


class Observer:
    """Belongs to one client; made again after a reconnect."""

    def __init__(
        self, options: AdbOptions, client: PhoneClient, press: Press, dismissed: Counter[str], *, served: bool
    ) -> None:
        """`press` runs an input command and waits until it shows; `dismissed` counts pop-ups by kind."""
        self.client = client
        self.capture = ScreenCapture(client)
        self.watchdog = Watchdog(client.address, self._read_uptime)
        self.popups = PopupHandler(options, self.capture, press, dismissed, served=served)
        self._wake = not options.dry

    async def look(self) -> tuple[CapturedScreen, tuple[str, ...]]:
        """The screen, and a flag per dismissed kind of pop-up. Raises `DeviceFrozen`, and as `capture`."""
        return await self.popups.dismiss(await self._capture(), self._capture)

    async def _capture(self) -> CapturedScreen:
        shot = await self.capture.capture(wake=self._wake)
        await self.watchdog.check(shot)
        return shot

    async def _read_uptime(self) -> float | None:
        return system_status.parse_uptime((await self.client.shell("uptime", system_status.UPTIME)).text)
