"""Sends one command to the console of an emulator, with a timeout."""

from __future__ import annotations

import asyncio
from pathlib import Path

from distrl.errors import DeviceError, DeviceGone, DeviceLost
from distrl.ports import LOOPBACK

TOKEN_FILE = ".emulator_console_auth_token"


async def ask(port: int, command: str, within_s: float) -> list[str]:
    """The lines of the answer before OK. Raises `DeviceLost` at the timeout, `DeviceError` for any other answer."""
    address = f"the console of emulator-{port}"
    try:
        async with asyncio.timeout(within_s):
            return await _converse(address, port, command)
    except TimeoutError:
        raise DeviceLost(address, command, within_s, "load_s in its address") from None
    except (OSError, EOFError) as error:
        raise DeviceGone(address, command, str(error) or "the connection was closed") from error


async def _converse(address: str, port: int, command: str) -> list[str]:
    reader, writer = await asyncio.open_connection(LOOPBACK, port)
    try:
        greeting = await _read_answer(reader)
        if any("Authentication required" in line for line in greeting):
            await _send(reader, writer, address, f"auth {_token()}", "auth")
        return await _send(reader, writer, address, command, command)
    finally:
        writer.close()


async def _send(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, address: str, command: str, shown: str
) -> list[str]:
    writer.write(f"{command}\r\n".encode())
    *before, last = await _read_answer(reader)
    if not last.startswith("OK"):
        raise DeviceError(f"{address} answered to `{shown}`: {last}. Try it with `adb emu {shown}`.")
    return before


async def _read_answer(reader: asyncio.StreamReader) -> list[str]:
    lines = []
    while line := await reader.readline():
        lines.append(line.decode(errors="replace").strip())
        if lines[-1] == "OK" or lines[-1].startswith(("OK:", "KO")):
            return lines
    raise EOFError


def _token() -> str:
    """The token of this user's emulators. Always from this path, whatever file the console names."""
    try:
        return (Path.home() / TOKEN_FILE).read_text(encoding="utf-8").strip()
    except OSError as error:
        raise DeviceError(
            f"~/{TOKEN_FILE} cannot be read ({error}); an emulator makes it at its first start."
        ) from error
