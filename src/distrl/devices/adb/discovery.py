"""Finds and locks a phone of an address that is attached, authorised, and not in use by another process."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable

from adbutils import AdbError

from distrl.devices.adb.connection import AdbSession
from distrl.devices.adb.file_lock import FileLock
from distrl.devices.adb.options import AdbOptions, in_network
from distrl.errors import DeviceError, DeviceGone, NoSuchDevice, NotAuthorized, nearest

READY, OFFLINE = "device", "offline"
UNTRUSTED = ("unauthorized", "authorizing", "no permissions")
SETTLE_S = 3.0
"""How long a new connection may stay `offline` or `authorizing`, and a new server may need to find its phones."""
POLL_S = 0.05


def attach(session: AdbSession, options: AdbOptions, slot: int) -> tuple[str, FileLock]:
    """Serial and lock of slot k's phone: the k-th of the address, else the next one that is free and ready."""
    serials = options.serials or _attached(session, slot)
    problems: list[DeviceError] = []
    for serial in serials[slot % len(serials) :] + serials[: slot % len(serials)]:
        lock = FileLock.acquire(serial)
        if lock is None:
            problems.append(NoSuchDevice(_in_use_message(serial, len(serials))))
            continue
        try:
            reattach(session, options, serial)
        except DeviceError as error:
            lock.release()
            problems.append(error)
        except BaseException:  # cancelled, or a bug: do not keep the lock
            lock.release()
            raise
        else:
            return serial, lock
        if options.serials and slot < len(serials):
            break  # each named phone belongs to one slot; do not take another slot's
    raise problems[0]


def reattach(session: AdbSession, options: AdbOptions, serial: str) -> None:
    """Reconnect to a phone whose lock we hold."""
    make_ready(session, serial, time.monotonic() + min(SETTLE_S, options.call_s / 2))


def _in_use_message(serial: str, count: int) -> str:
    phones = "the only phone" if count == 1 else f"one of {count} phones"
    return (
        f"adb://{serial}, {phones} of the address, belongs to another worker or device of this machine. "
        "Attach more phones, or lower devices.per_worker or workers.count."
    )


def _attached(session: AdbSession, slot: int) -> tuple[str, ...]:
    """Serials of all attached phones, ready ones first. Waits up to `SETTLE_S` until there are enough for this slot."""
    listed: dict[str, str] = {}

    def enough() -> bool:
        listed.update(phone_states(session))
        return sum(state == READY for state in listed.values()) > slot

    _wait_until(enough, time.monotonic() + SETTLE_S)
    if not listed:
        raise NoSuchDevice(
            "adb://* finds no phone. Plug one in, switch on USB debugging, and look at `adb devices`. A phone that "
            "another adb server is connected to is not visible: stop that server with `adb kill-server`."
        )
    return tuple(sorted(listed, key=lambda serial: (listed[serial] != READY, serial)))


def phone_states(session: AdbSession) -> dict[str, str]:
    """Serial → state, as `adb devices` lists them."""
    return {info.serial: info.state for info in session.adb.list()}


def make_ready(session: AdbSession, serial: str, deadline: float) -> None:
    output = session.adb.connect(serial) if in_network(serial) else ""
    if _wait_until(lambda: phone_states(session).get(serial) == READY, deadline):
        return
    state = phone_states(session).get(serial)
    if state == OFFLINE:
        _reconnect(session, serial)
        if _wait_until(lambda: phone_states(session).get(serial) == READY, deadline + SETTLE_S):
            return
        state = phone_states(session).get(serial)
    raise _not_ready_error(serial, state, output, list(phone_states(session)))


def _reconnect(session: AdbSession, serial: str) -> None:
    if in_network(serial):
        session.adb.disconnect(serial)
        session.adb.connect(serial)
        return
    with contextlib.suppress(AdbError), session.adb.make_connection() as connection:
        connection.send_command("host:reconnect-offline")
        connection.check_okay()


def _not_ready_error(serial: str, state: str | None, output: str, others: list[str]) -> DeviceError:
    address = f"adb://{serial}"
    if state in UNTRUSTED:
        return NotAuthorized(address)
    if state is not None:
        return DeviceGone(address, "opening it", f"adb calls it {state!r}")
    if in_network(serial):
        return NoSuchDevice(f"{address} cannot be connected to: {output.strip()}. Is `adb tcpip` or the emulator on?")
    known = ", ".join(sorted(others)) or "none"
    return NoSuchDevice(f"There is no phone {serial!r}.{nearest(serial, others)} Attached: {known}.")


def _wait_until(ready: Callable[[], bool], deadline: float) -> bool:
    while True:
        if ready():
            return True
        if time.monotonic() >= deadline:
            return False
        time.sleep(POLL_S)
