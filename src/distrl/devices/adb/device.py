"""A phone behind adb as a device: `adb://emulator-5554?reset=home&settle_s=2`."""

from __future__ import annotations

import asyncio
import shlex
import sys
import time
from collections import Counter, deque
from collections.abc import Callable

from distrl.devices.adb import gestures, keyboard, reset_scripts, system_status, task_intents
from distrl.devices.adb.attachment import Attachment
from distrl.devices.adb.connection import join_commands
from distrl.devices.adb.episode_checks import EpisodeChecks
from distrl.devices.adb.observer import Observer
from distrl.devices.adb.options import AdbOptions
from distrl.devices.adb.phone_client import PhoneClient
from distrl.devices.adb.recovery import Recovery
from distrl.devices.adb.safety import Guard
from distrl.devices.adb.window import Front
from distrl.devices.base import Rung
from distrl.errors import ActionRefused, DeviceError, KeyboardMissing
from distrl.types import Action, LongPress, Press, Screen, Swipe, Tap, Task, Tree, Type, Wait

SERVED_PREFIX = "org.distrl."
SETTLE_S = 1.0
"""Pause after an action on a real phone, until the screen shows its effect."""
REMEMBERED = 1000


class AdbPhone:
    """One phone. It is attached at first use."""

    def __init__(self, address: str, *, seed: int = 0, name: str = "", clock: Callable[[], float] = time.time) -> None:
        """`clock`: seconds since 1970, which the phone's own clock is compared with. `seed`: not used."""
        self.address = address
        self.withheld: deque[str] = deque(maxlen=REMEMBERED)
        """Scripts that a dry run did not execute, newest last."""
        self._options = AdbOptions.parse(address)
        self._guard = Guard(self._options)
        slot = name.rpartition("/")[2]
        self._attachment = Attachment(address, self._options, int(slot) if slot.isdecimal() else 0)
        self._checks = EpisodeChecks(clock, dry=self._options.dry)
        self._recovery = Recovery(self._options, self._attachment, self._prove)
        self._observer: Observer | None = None
        self._dismissed: Counter[str] = Counter()
        self._front = Front()
        self._size: tuple[int, int] | None = None

    # -- the device protocol

    async def reset(self, task: Task) -> Screen:
        client = (await self._attached()).client
        await self._checks.run(client)
        self._recovery.package = reset_scripts.package_of(self._options, task)
        loads, recipe = reset_scripts.reset_plan(self._options, task, served=self._served)
        if loads:
            await self._load(client, task)
        if recipe != "none":
            await self._do(client, "reset", reset_scripts.reset_script(self._options, task, self._guard), retry=True)
            await self._settle()
        (await self._attached()).popups.start_episode()
        return await self.screen()

    async def perform(self, action: Action) -> None:
        client = (await self._attached()).client
        self._guard.check(action, self._front)
        if isinstance(action, Type):
            await self._type(client, action.text)
        elif isinstance(action, Tap | LongPress | Swipe | Press):
            if self._size is None:
                await self.screen()
            assert self._size is not None
            await self._do(client, "input", join_commands([gestures.command(action, self._size)]))
        elif not isinstance(action, Wait):
            return
        await self._settle()

    async def screen(self) -> Screen:
        observer = await self._attached()
        shot, dismissed = await observer.look()
        elements = await observer.capture.elements(shot.size) if self._options.tree else ()
        self._front, self._size, self._recovery.front = shot.front, shot.size, shot.front.package
        signs = (("black", shot.black), ("no-tree", elements is None))
        return Screen(
            shot.image,
            *shot.size,
            elements=elements or (),
            foreground=self._front.package.removeprefix(SERVED_PREFIX) if self._served else self._front.package,
            flags=(*(name for name, true in signs if true), *dismissed),
        )

    async def close(self) -> None:
        self._observer = None
        await self._attachment.close()

    # -- optional capabilities

    async def evidence(self) -> Tree | None:
        """State for a rule judge; None unless the phone is served."""
        client = (await self._attached()).client
        if not self._served:
            return None
        answer = await client.shell("evidence", shlex.join(task_intents.evidence_command()))
        evidence: Tree = task_intents.read_answer(answer.text)
        return evidence

    @property
    def rungs(self) -> tuple[Rung, ...]:
        return self._recovery.rungs

    async def recover(self, rung: Rung) -> None:
        await self._recovery.run(rung)

    def facts(self) -> Tree:
        known = {"serial": self._attachment.serial, "clock_offset_s": self._checks.clock_offset_s}
        dismissed = {"popups": dict(self._dismissed)} if self._dismissed else {}
        return {name: value for name, value in known.items() if value not in ("", None)} | dismissed

    # -- inside

    @property
    def _served(self) -> bool:
        return self._attachment.served

    async def _attached(self) -> Observer:
        client = await self._attachment.connect_booted()
        if self._observer is None or self._observer.client is not client:

            async def press(words: list[str]) -> None:
                await self._do(client, "input", join_commands([words]))
                await self._settle()

            self._observer = Observer(self._options, client, press, self._dismissed, served=self._served)
        return self._observer

    async def _prove(self) -> None:
        """Raises `DeviceError` unless it answers, has booted, shows a picture, is not frozen and has disk space."""
        await self.screen()
        observer = await self._attached()
        await observer.watchdog.prove()
        await self._checks.run(observer.client)

    async def _load(self, client: PhoneClient, task: Task) -> None:
        """Load the complete start state of a task into a served phone."""
        script = shlex.join(task_intents.reset_command(task))
        if not self._withheld(client, "reset", script):
            task_intents.read_answer((await client.shell("reset", script)).text)

    async def _type(self, client: PhoneClient, text: str) -> None:
        if not keyboard.is_valid_text(text):
            raise ActionRefused(
                f"{text[:40]!r} holds half a character (an unpaired surrogate), which no keyboard can type."
            )
        if not text:
            return
        if keyboard.is_plain(text):
            await self._do(client, "input text", keyboard.plain_script(text))
            return
        installed, usual = keyboard.parse_keyboards((await client.shell("ime list", keyboard.LIST_KEYBOARDS)).text)
        if not installed:
            raise KeyboardMissing(client.address, text)
        for script in keyboard.typing_scripts(text, usual, 0.0 if self._served else SETTLE_S):
            await self._do(client, "typing", script, proof=keyboard.TYPED)

    def _withheld(self, client: PhoneClient, operation: str, script: str) -> bool:
        """Whether this is a dry run; logs the script then."""
        if self._options.dry:
            self.withheld.append(script)
            print(f"dry run: {client.address} {operation}: {script}", file=sys.stderr, flush=True)
        return self._options.dry

    async def _do(
        self, client: PhoneClient, operation: str, script: str, *, retry: bool = False, proof: str = ""
    ) -> None:
        """Change something on the phone. Success is exit status 0, or `proof` in the output."""
        if self._withheld(client, operation, script):
            return
        answer = await client.shell(operation, script + system_status.THEN_UPTIME, retry=retry)
        if self._observer is not None:
            self._observer.watchdog.touched(system_status.parse_uptime(answer.text))
        if (proof not in answer.text) if proof else answer.status != 0:
            raise DeviceError(f"{client.address} could not do {operation}: {answer.error_text}. Try it with adb shell.")

    async def _settle(self) -> None:
        default = 0.0 if self._served or self._options.dry else SETTLE_S
        seconds = default if self._options.settle_s is None else self._options.settle_s
        if seconds:
            await asyncio.sleep(seconds)
