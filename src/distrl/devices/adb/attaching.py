"""From the serials of an address to one phone that is there, trusts us, and belongs to nobody else."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable

from adbutils import AdbError

from distrl.devices.adb.claims import Claim
from distrl.devices.adb.line import Line
from distrl.devices.adb.options import AdbOptions, in_network
from distrl.errors import DeviceError, DeviceGone, NoSuchDevice, NotAuthorized, nearest

READY, OFFLINE = "device", "offline"
UNTRUSTED = ("unauthorized", "authorizing", "no permissions")
SETTLE_S = 3.0
"""A phone that was just connected says `offline` or `authorizing` for a moment; a server that was just started has
not found them all."""
POLL_S = 0.05


def attach(line: Line, options: AdbOptions, slot: int) -> tuple[str, Claim]:
    """The serial and the claim of slot k's phone: the k-th, or the next one that is free and ready."""
    serials = options.serials or _attached(line, slot)
    problems: list[DeviceError] = []
    for serial in serials[slot % len(serials) :] + serials[: slot % len(serials)]:
        claim = Claim.take(serial)
        if claim is None:
            problems.append(NoSuchDevice(_taken(serial, len(serials))))
            continue
        try:
            attach_again(line, options, serial)
        except DeviceError as error:
            claim.give_back()
            problems.append(error)
        except BaseException:  # cancelled, or a bug: a claim that nobody holds any more must not stay taken
            claim.give_back()
            raise
        else:
            return serial, claim
        if options.serials and slot < len(serials):
            break  # a named phone is this slot's own; its neighbours belong to the other slots
    raise problems[0]


def attach_again(line: Line, options: AdbOptions, serial: str) -> None:
    """To a phone that is claimed already."""
    make_ready(line, serial, time.monotonic() + min(SETTLE_S, options.call_s / 2))


def _taken(serial: str, count: int) -> str:
    phones = "the only phone" if count == 1 else f"one of {count} phones"
    return (
        f"adb://{serial}, {phones} of the address, belongs to another worker or device of this machine. "
        "Attach more phones, or lower devices.per_worker or workers.count."
    )


def _attached(line: Line, slot: int) -> tuple[str, ...]:
    """All that are attached, sorted, the ready ones first. Waits a little until there are enough for this slot."""
    listed: dict[str, str] = {}

    def enough() -> bool:
        listed.update(states(line))
        return sum(state == READY for state in listed.values()) > slot

    _wait(enough, time.monotonic() + SETTLE_S)
    if not listed:
        raise NoSuchDevice(
            "adb://* finds no phone. Plug one in, switch on USB debugging, and look at `adb devices`. A phone that "
            "another adb server holds cannot be seen: end that one with `adb kill-server`."
        )
    return tuple(sorted(listed, key=lambda serial: (listed[serial] != READY, serial)))


def states(line: Line) -> dict[str, str]:
    """Serial → state of whatever the server knows."""
    return {info.serial: info.state for info in line.client.list()}


def make_ready(line: Line, serial: str, deadline: float) -> None:
    said = line.client.connect(serial) if in_network(serial) else ""
    if _wait(lambda: states(line).get(serial) == READY, deadline):
        return
    state = states(line).get(serial)
    if state == OFFLINE:
        _reconnect(line, serial)
        if _wait(lambda: states(line).get(serial) == READY, deadline + SETTLE_S):
            return
        state = states(line).get(serial)
    raise _reason(serial, state, said, list(states(line)))


def _reconnect(line: Line, serial: str) -> None:
    if in_network(serial):
        line.client.disconnect(serial)
        line.client.connect(serial)
        return
    with contextlib.suppress(AdbError), line.client.make_connection() as connection:
        connection.send_command("host:reconnect-offline")
        connection.check_okay()


def _reason(serial: str, state: str | None, said: str, others: list[str]) -> DeviceError:
    address = f"adb://{serial}"
    if state in UNTRUSTED:
        return NotAuthorized(address)
    if state is not None:
        return DeviceGone(address, "opening it", f"adb calls it {state!r}")
    if in_network(serial):
        return NoSuchDevice(f"{address} cannot be connected to: {said.strip()}. Is `adb tcpip` or the emulator on?")
    known = ", ".join(sorted(others)) or "none"
    return NoSuchDevice(f"There is no phone {serial!r}.{nearest(serial, others)} Attached: {known}.")


def _wait(ready: Callable[[], bool], deadline: float) -> bool:
    while True:
        if ready():
            return True
        if time.monotonic() >= deadline:
            return False
        time.sleep(POLL_S)
