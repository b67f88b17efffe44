"""A phone behind adb as a device: `adb://emulator-5554?reset=home&settle_s=2`."""

from __future__ import annotations

import asyncio
import shlex
import sys
import time
from collections import Counter, deque
from collections.abc import Callable

from distrl.devices.adb import gestures, keyboard, recipes, vitals
from distrl.devices.adb.attachment import Attachment
from distrl.devices.adb.calls import Calls
from distrl.devices.adb.checks import Checks
from distrl.devices.adb.line import joined
from distrl.devices.adb.observer import Observer
from distrl.devices.adb.options import AdbOptions
from distrl.devices.adb.recovery import Recovery
from distrl.devices.adb.safety import Guard
from distrl.devices.adb.window import Front
from distrl.devices.base import Rung
from distrl.errors import ActionRefused, DeviceError, KeyboardMissing
from distrl.types import Action, LongPress, Press, Screen, Swipe, Tap, Task, Tree, Type, Wait

SERVED_PREFIX = "org.distrl."
SETTLE_S = 1.0
"""How long a real phone is given to show what an action did."""
REMEMBERED = 1000


class AdbPhone:
    """One phone. It is attached when it is first asked for something, so that opening it costs nothing."""

    def __init__(self, address: str, *, seed: int = 0, name: str = "", clock: Callable[[], float] = time.time) -> None:
        """`clock`: seconds since 1970, which the phone's own clock is compared with. `seed`: not used."""
        self.address = address
        self.withheld: deque[str] = deque(maxlen=REMEMBERED)
        """What a dry run did not do, newest last."""
        self._options = AdbOptions.parse(address)
        self._guard = Guard(self._options)
        slot = name.rpartition("/")[2]
        self._attachment = Attachment(address, self._options, int(slot) if slot.isdecimal() else 0)
        self._checks = Checks(clock, dry=self._options.dry)
        self._recovery = Recovery(self._options, self._attachment, self._prove)
        self._observer: Observer | None = None
        self._dismissed: Counter[str] = Counter()
        self._front = Front()
        self._size: tuple[int, int] | None = None

    # -- the device protocol

    async def reset(self, task: Task) -> Screen:
        calls = (await self._attached()).calls
        await self._checks.run(calls)
        self._recovery.package = recipes.package_of(self._options, task)
        loads, recipe = recipes.plan(self._options, task, served=self._served)
        if loads:
            await self._load(calls, task)
        if recipe != "none":
            await self._do(calls, "reset", recipes.script(self._options, task, self._guard), again=True)
            await self._settle()
        (await self._attached()).watcher.begin()
        return await self.screen()

    async def perform(self, action: Action) -> None:
        calls = (await self._attached()).calls
        self._guard.check(action, self._front)
        if isinstance(action, Type):
            await self._type(calls, action.text)
        elif isinstance(action, Tap | LongPress | Swipe | Press):
            if self._size is None:
                await self.screen()
            assert self._size is not None
            await self._do(calls, "input", joined([gestures.command(action, self._size)]))
        elif not isinstance(action, Wait):
            return
        await self._settle()

    async def screen(self) -> Screen:
        observer = await self._attached()
        look, dismissed = await observer.look()
        elements = await observer.sight.elements(look.size) if self._options.tree else ()
        self._front, self._size, self._recovery.front = look.front, look.size, look.front.package
        signs = (("black", look.black), ("no-tree", elements is None))
        return Screen(
            look.image,
            *look.size,
            elements=elements or (),
            foreground=self._front.package.removeprefix(SERVED_PREFIX) if self._served else self._front.package,
            flags=(*(name for name, true in signs if true), *dismissed),
        )

    async def close(self) -> None:
        self._observer = None
        await self._attachment.close()

    # -- what not every device can

    async def evidence(self) -> Tree | None:
        """What a served phone tells a rule judge; any other phone keeps its state to itself."""
        calls = (await self._attached()).calls
        if not self._served:
            return None
        from distrl.devices.adbd import requests

        answer = await calls.shell("evidence", shlex.join(requests.evidence_command()))
        evidence: Tree = requests.read_answer(answer.text)
        return evidence

    @property
    def rungs(self) -> tuple[Rung, ...]:
        return self._recovery.rungs

    async def recover(self, rung: Rung) -> None:
        await self._recovery.climb(rung)

    def facts(self) -> Tree:
        known = {"serial": self._attachment.serial, "clock_offset_s": self._checks.clock_offset_s}
        dismissed = {"popups": dict(self._dismissed)} if self._dismissed else {}
        return {name: value for name, value in known.items() if value not in ("", None)} | dismissed

    # -- how

    @property
    def _served(self) -> bool:
        return self._attachment.served

    async def _attached(self) -> Observer:
        calls = await self._attachment.make()
        if self._observer is None or self._observer.calls is not calls:

            async def press(words: list[str]) -> None:
                await self._do(calls, "input", joined([words]))
                await self._settle()

            self._observer = Observer(self._options, calls, press, self._dismissed, served=self._served)
        return self._observer

    async def _prove(self) -> None:
        """It answers, has booted, shows a picture, its time goes on, and it has room."""
        await self.screen()
        observer = await self._attached()
        await observer.watchdog.prove()
        await self._checks.run(observer.calls)

    async def _load(self, calls: Calls, task: Task) -> None:
        """Bring a served phone into the task's start state, whole."""
        from distrl.devices.adbd import requests

        script = shlex.join(requests.reset_command(task))
        if not self._withheld(calls, "reset", script):
            requests.read_answer((await calls.shell("reset", script)).text)

    async def _type(self, calls: Calls, text: str) -> None:
        if not keyboard.is_whole(text):
            raise ActionRefused(f"{text[:40]!r} holds half a character, which no keyboard types.")
        if not text:
            return
        if keyboard.is_plain(text):
            await self._do(calls, "input text", keyboard.plain_script(text))
            return
        installed, usual = keyboard.parse_survey((await calls.shell("ime list", keyboard.SURVEY)).text)
        if not installed:
            raise KeyboardMissing(calls.address, text)
        for script in keyboard.scripts(text, usual, 0.0 if self._served else SETTLE_S):
            await self._do(calls, "typing", script, proof=keyboard.TYPED)

    def _withheld(self, calls: Calls, operation: str, script: str) -> bool:
        """Whether this is a dry run, which says what it would do and leaves the phone alone."""
        if self._options.dry:
            self.withheld.append(script)
            print(f"dry run: {calls.address} {operation}: {script}", file=sys.stderr, flush=True)
        return self._options.dry

    async def _do(self, calls: Calls, operation: str, script: str, *, again: bool = False, proof: str = "") -> None:
        """Change something on the phone. It says with its exit status that it did, or by printing `proof`."""
        if self._withheld(calls, operation, script):
            return
        answer = await calls.shell(operation, script + vitals.THEN_UPTIME, again=again)
        if self._observer is not None:
            self._observer.watchdog.touched(vitals.parse_uptime(answer.text))
        if (proof not in answer.text) if proof else answer.status != 0:
            raise DeviceError(f"{calls.address} could not do {operation}: {answer.complaint}. Try it with adb shell.")

    async def _settle(self) -> None:
        default = 0.0 if self._served or self._options.dry else SETTLE_S
        seconds = default if self._options.settle_s is None else self._options.settle_s
        if seconds:
            await asyncio.sleep(seconds)
