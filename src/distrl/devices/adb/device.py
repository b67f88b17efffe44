"""A phone behind adb as a device: `adb://emulator-5554?reset=home&settle_s=2`."""

from __future__ import annotations

import asyncio
import shlex
from collections import deque

from distrl.devices.adb import gestures, keyboard, recipes
from distrl.devices.adb.attaching import attach
from distrl.devices.adb.calls import Calls, guarded
from distrl.devices.adb.claims import Claim
from distrl.devices.adb.line import joined
from distrl.devices.adb.options import AdbOptions, in_network
from distrl.devices.adb.safety import Guard
from distrl.devices.adb.server import AdbServer, borrow, give_back
from distrl.devices.adb.sight import Sight
from distrl.devices.adb.window import Front
from distrl.errors import ActionRefused, DeviceError, KeyboardMissing
from distrl.types import Action, LongPress, Press, Screen, Swipe, Tap, Task, Tree, Type, Wait

SERVED_PREFIX = "org.distrl."
ABOUT = "getprop ro.distrl.phone; getprop sys.boot_completed"
SETTLE_S = 1.0
"""How long a real phone is given to show what an action did."""
REMEMBERED = 1000


class AdbPhone:
    """One phone. It is attached when it is first asked for something, so that opening it costs nothing."""

    def __init__(self, address: str, *, name: str = "") -> None:
        self.address = address
        self.withheld: deque[str] = deque(maxlen=REMEMBERED)
        """What a dry run did not do, newest last."""
        self._options = AdbOptions.parse(address)
        self._guard = Guard(self._options)
        slot = name.rpartition("/")[2]
        self._slot = int(slot) if slot.isdecimal() else 0
        self._server: AdbServer | None = None
        self._claim: Claim | None = None
        self._calls: Calls | None = None
        self._sight: Sight | None = None
        self._served = False
        self._front = Front()
        self._size: tuple[int, int] | None = None

    # -- the device protocol

    async def reset(self, task: Task) -> Screen:
        calls = await self._attached()
        loads, recipe = recipes.plan(self._options, task, served=self._served)
        if loads:
            await self._load(calls, task)
        if recipe != "none":
            await self._do(calls, "reset", recipes.script(self._options, task, self._guard), again=True)
            await self._settle()
        return await self.screen()

    async def perform(self, action: Action) -> None:
        calls = await self._attached()
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
        await self._attached()
        assert self._sight is not None
        look = await self._sight.look(wake=not self._options.dry)
        elements = await self._sight.elements(look.size) if self._options.tree else ()
        self._front, self._size = look.front, look.size
        signs = (("black", look.black), ("no-tree", elements is None))
        return Screen(
            look.image,
            *look.size,
            elements=elements or (),
            foreground=self._front.package.removeprefix(SERVED_PREFIX) if self._served else self._front.package,
            flags=tuple(name for name, true in signs if true),
        )

    async def evidence(self) -> Tree | None:
        """What a served phone tells a rule judge; any other phone keeps its state to itself."""
        calls = await self._attached()
        if not self._served:
            return None
        from distrl.devices.adbd import requests

        answer = await calls.shell("evidence", shlex.join(requests.evidence_command()))
        evidence: Tree = requests.read_answer(answer.text)
        return evidence

    async def close(self) -> None:
        calls, self._calls, self._sight = self._calls, None, None
        claim, self._claim = self._claim, None
        server, self._server = self._server, None
        try:
            if calls is not None and in_network(calls.serial):
                await calls.leave()
        except DeviceError:
            pass  # it left before us
        finally:
            if claim is not None:
                claim.give_back()
            if server is not None:
                await asyncio.to_thread(give_back, server)

    # -- how

    async def _attached(self) -> Calls:
        if self._calls is not None:
            return self._calls
        options = self._options
        server = self._server = self._server or borrow(options.seeks)
        port = await asyncio.to_thread(server.ensure)
        serial, claim = await guarded(
            self.address, "attach", lambda line: attach(line, options, self._slot), port, 2 * options.call_s
        )
        self._claim = claim
        calls = Calls(port, serial, options.call_s)
        try:
            served, booted = ((await calls.shell("getprop", ABOUT)).text + "\n\n").split("\n")[:2]
            if booted.strip() != "1":
                raise DeviceError(f"adb://{serial} is still starting up; it is asked again in a moment.")
        except BaseException:
            self._claim = None
            claim.give_back()
            raise
        self._served = served.strip() == "simulated"
        self._calls, self._sight = calls, Sight(calls)
        return calls

    async def _load(self, calls: Calls, task: Task) -> None:
        """Bring a served phone into the task's start state, whole."""
        from distrl.devices.adbd import requests

        answer = await calls.shell("reset", shlex.join(requests.reset_command(task)))
        requests.read_answer(answer.text)

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

    async def _do(self, calls: Calls, operation: str, script: str, *, again: bool = False, proof: str = "") -> None:
        """Change something on the phone. It says with its exit status that it did, or by printing `proof`."""
        if self._options.dry:
            self.withheld.append(script)
            return
        answer = await calls.shell(operation, script, again=again)
        if (proof not in answer.text) if proof else answer.status != 0:
            raise DeviceError(f"{calls.address} could not do {operation}: {answer.complaint}. Try it with adb shell.")

    async def _settle(self) -> None:
        default = 0.0 if self._served or self._options.dry else SETTLE_S
        seconds = default if self._options.settle_s is None else self._options.settle_s
        if seconds:
            await asyncio.sleep(seconds)
