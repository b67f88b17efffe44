"""Messages of the ADB protocol: a header of six little-endian words, then the payload."""

from __future__ import annotations

import asyncio
import struct
from dataclasses import dataclass

from distrl.errors import CorruptData

HEADER = struct.Struct("<4sIIIII")
WORD = 0xFFFFFFFF

CNXN, AUTH, OPEN, OKAY, WRTE, CLSE = b"CNXN", b"AUTH", b"OPEN", b"OKAY", b"WRTE", b"CLSE"
COMMANDS = (CNXN, AUTH, OPEN, OKAY, WRTE, CLSE)

VERSION = 0x01000001
"""From this version on payloads carry no checksum."""
OLDEST = 0x01000000
MAX_PAYLOAD = 1024 * 1024
SMALLEST_PAYLOAD = 4096
"""Limit of the oldest hosts, and of all hosts before the handshake."""


@dataclass(frozen=True, slots=True)
class Message:
    command: bytes
    first: int = 0
    second: int = 0
    data: bytes = b""


def pack(message: Message, *, summed: bool) -> bytes:
    """`summed`: with a checksum, which hosts older than `VERSION` verify."""
    magic = int.from_bytes(message.command, "little") ^ WORD
    total = _sum(message.data) if summed else 0
    return HEADER.pack(message.command, message.first, message.second, len(message.data), total, magic) + message.data


async def read(reader: asyncio.StreamReader, *, summed: bool) -> Message:
    """The next message. Raises `CorruptData` for bytes that are none, `asyncio.IncompleteReadError` at the end."""
    command, first, second, length, total, magic = HEADER.unpack(await reader.readexactly(HEADER.size))
    if command not in COMMANDS or magic != int.from_bytes(command, "little") ^ WORD or length > MAX_PAYLOAD:
        raise CorruptData(
            f"The host sent {command!r} with {length} bytes, which is no ADB message. Is it an adb server?"
        )
    data = await reader.readexactly(length)
    if summed and total != _sum(data):
        raise CorruptData(f"The sum of a {command.decode()} message is {total:#x} and should be {_sum(data):#x}.")
    return Message(command, first, second, data)


def _sum(data: bytes) -> int:
    return sum(data) & WORD
