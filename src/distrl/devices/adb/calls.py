"""Calls to one phone with a deadline each: a call that does not return is cut, made once more where that is safe, and
then the phone is lost. What adb says in words becomes one of our errors."""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Callable
from typing import TypeVar

from adbutils import AdbError

from distrl.devices.adb.line import LONGEST_SCRIPT, Answer, Line, OutOfTime, in_time
from distrl.devices.adb.shell import Shell
from distrl.errors import DeviceError, DeviceGone, DeviceLost, NotAuthorized

T = TypeVar("T")

HUNG_UP = "the connection was closed"


class Calls:
    """The way to one phone through one adb server."""

    def __init__(self, port: int, serial: str, call_s: float) -> None:
        self.serial = serial
        self.address = f"adb://{serial}"
        self._port = port
        self._call_s = call_s
        self._shells: deque[Shell] = deque()
        """Open, and nobody's at the moment."""

    async def shell(self, operation: str, script: str, *, again: bool = True) -> Answer:
        """Run a script on the phone. `again`: it may run twice without harm, so that a lost call is made once more."""
        _check_length(script)
        return await self._ask(operation, lambda line: self._run(line, script), again=again)

    async def output(self, operation: str, script: str, read: Callable[[bytes], T]) -> T:
        """What `read` makes of the bytes that a script prints, in the thread that fetched them. Asked once."""
        return await self._once(operation, lambda line: read(self._run(line, script).out))

    async def reboot(self) -> None:
        """Returns when the phone has heard it, or has hung up already."""
        await self._once("reboot", lambda line: line.reboot(self.serial))

    def close(self) -> None:
        while self._shells:
            self._shells.pop().close()

    def _run(self, line: Line, script: str) -> Answer:
        """In a shell that is open, or in a new one that then stays open. A script of several lines gets one of its own:
        no shell of ours could tell where it ends."""
        if "\n" in script:
            return line.shell(self.serial, script)
        shell = self._open_shell(line)
        try:
            line.began = True
            answer = shell.run(script)
        except BaseException:
            shell.close()
            raise
        self._shells.append(shell)
        return answer

    def _open_shell(self, line: Line) -> Shell:
        """Whoever cuts the line cuts the shell."""
        with contextlib.suppress(IndexError):
            while True:
                shell = self._shells.pop()
                if shell.quiet:
                    line.take(shell.connection)
                    return shell
                shell.close()
        return Shell.open(line, self.serial)

    async def _ask(self, operation: str, work: Callable[[Line], T], *, again: bool) -> T:
        try:
            return await self._once(operation, work)
        except DeviceGone:
            raise
        except DeviceLost as lost:
            # A touch that may have been felt is not repeated: nothing is ever done twice.
            unheard = isinstance(lost.__cause__, OutOfTime) and not lost.__cause__.began
            if not (again or unheard):
                raise
        return await self._once(operation, work)

    async def _once(self, operation: str, work: Callable[[Line], T]) -> T:
        return await guarded(self.address, operation, work, self._port, self._call_s)


async def guarded(address: str, operation: str, work: Callable[[Line], T], port: int, within_s: float) -> T:
    """`work` within its deadline; what goes wrong as a `DeviceError`."""
    try:
        return await in_time(work, port, within_s)
    except OutOfTime as late:
        raise DeviceLost(address, operation, within_s, "call_s in its address") from late
    except (AdbError, OSError, EOFError) as error:
        raise explained(address, operation, str(error)) from error


def explained(address: str, operation: str, said: str) -> DeviceError:
    """Our error for what an adb server says."""
    if "unauthorized" in said or "authorizing" in said:
        return NotAuthorized(address)
    return DeviceGone(address, operation, HUNG_UP if said.strip() in ("", "closed") else said.strip())


def _check_length(script: str) -> None:
    if len(script.encode()) > LONGEST_SCRIPT:
        raise DeviceError(
            f"A command of {len(script)} characters is longer than adb takes ({LONGEST_SCRIPT}). "
            "Shorten the task's start state."
        )
