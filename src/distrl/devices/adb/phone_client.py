"""Calls to one phone, each with a timeout. A call that times out is retried once where that is safe, then raises
`DeviceLost`. Messages of adb become our own errors."""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Callable
from typing import TypeVar

from adbutils import AdbError

from distrl.devices.adb.connection import MAX_SCRIPT_BYTES, AdbSession, CallTimeout, ShellResult, run_with_timeout
from distrl.devices.adb.shell import Shell
from distrl.errors import DeviceError, DeviceGone, DeviceLost, NotAuthorized

T = TypeVar("T")

CONNECTION_CLOSED = "the connection was closed"


class PhoneClient:
    """Runs scripts on one phone through one adb server."""

    def __init__(self, port: int, serial: str, call_s: float) -> None:
        self.serial = serial
        self.address = f"adb://{serial}"
        self._port = port
        self._call_s = call_s
        self._shells: deque[Shell] = deque()
        """Open shells that are not in use."""

    async def shell(self, operation: str, script: str, *, retry: bool = True) -> ShellResult:
        """Run a script on the phone. `retry`: it is safe to run twice, so it is retried once after `DeviceLost`."""
        _check_length(script)
        return await self._call_with_retry(operation, lambda session: self._run(session, script), retry=retry)

    async def output(self, operation: str, script: str, read: Callable[[bytes], T]) -> T:
        """`read` applied to a script's stdout, in the thread that fetched it. Not retried."""
        return await self._call_once(operation, lambda session: read(self._run(session, script).out))

    async def reboot(self) -> None:
        """Returns once the phone has received it, or has closed the connection."""
        await self._call_once("reboot", lambda session: session.reboot(self.serial))

    def close(self) -> None:
        while self._shells:
            self._shells.pop().close()

    def _run(self, session: AdbSession, script: str) -> ShellResult:
        """In an idle shell, or in a new one that then stays open. A script of several lines gets a shell of its own,
        because the open shell reads one line per script."""
        if "\n" in script:
            return session.shell(self.serial, script)
        shell = self._open_shell(session)
        try:
            session.sent = True
            answer = shell.run(script)
        except BaseException:
            shell.close()
            raise
        self._shells.append(shell)
        return answer

    def _open_shell(self, session: AdbSession) -> Shell:
        """An idle shell or a new one; aborting the session closes it."""
        with contextlib.suppress(IndexError):
            while True:
                shell = self._shells.pop()
                if shell.idle:
                    session.register(shell.connection)
                    return shell
                shell.close()
        return Shell.open(session, self.serial)

    async def _call_with_retry(self, operation: str, work: Callable[[AdbSession], T], *, retry: bool) -> T:
        try:
            return await self._call_once(operation, work)
        except DeviceGone:
            raise
        except DeviceLost as lost:
            # An input that the phone may have received is not repeated.
            not_sent = isinstance(lost.__cause__, CallTimeout) and not lost.__cause__.sent
            if not (retry or not_sent):
                raise
        return await self._call_once(operation, work)

    async def _call_once(self, operation: str, work: Callable[[AdbSession], T]) -> T:
        return await call_with_timeout(self.address, operation, work, self._port, self._call_s)


async def call_with_timeout(
    address: str, operation: str, work: Callable[[AdbSession], T], port: int, within_s: float
) -> T:
    """`work` within a timeout. Raises `DeviceError` for whatever goes wrong."""
    try:
        return await run_with_timeout(work, port, within_s)
    except CallTimeout as late:
        raise DeviceLost(address, operation, within_s, "call_s in its address") from late
    except (AdbError, OSError, EOFError) as error:
        raise to_device_error(address, operation, str(error)) from error


def to_device_error(address: str, operation: str, message: str) -> DeviceError:
    """Our error for a message of the adb server."""
    if "unauthorized" in message or "authorizing" in message:
        return NotAuthorized(address)
    return DeviceGone(address, operation, CONNECTION_CLOSED if message.strip() in ("", "closed") else message.strip())


def _check_length(script: str) -> None:
    if len(script.encode()) > MAX_SCRIPT_BYTES:
        raise DeviceError(
            f"A command of {len(script)} characters is longer than adb takes ({MAX_SCRIPT_BYTES}). "
            "Shorten the task's start state."
        )
