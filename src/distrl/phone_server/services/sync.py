"""`sync:`: push, pull, stat and list, in the first version of each request and in the second."""

from __future__ import annotations

import struct
from errno import ENOENT

from distrl.phone_server.files import CAPACITY, FileProblem, Node
from distrl.phone_server.phone import ServedPhone
from distrl.phone_server.wire.stream import Stream

REQUEST = struct.Struct("<4sI")
STAT = struct.Struct("<4sIII")
ENTRY = struct.Struct("<4sIIII")
STAT_2 = struct.Struct("<4sIQQIIIIQqqq")
ENTRY_2 = struct.Struct("<4sIQQIIIIQqqqI")
CHUNK = 64 * 1024
LONGEST_PATH = 1024
NOBODY = Node(0)


async def serve_sync(phone: ServedPhone, stream: Stream) -> None:
    await stream.accept()
    while True:
        request, length = REQUEST.unpack(await stream.read_exactly(REQUEST.size))
        if request == b"QUIT":
            return
        if length > LONGEST_PATH:
            await _fail(stream, "path too long")
            return
        path = (await stream.read_exactly(length)).decode(errors="surrogateescape")
        if request == b"SEND":
            await _send(phone, stream, path)
        elif request == b"RECV":
            await _recv(phone, stream, path)
        elif request in (b"STAT", b"STA2", b"LST2"):
            await stream.write(_stat(request, phone.files.find(path)))
        elif request in (b"LIST", b"LIS2"):
            await _list(phone, stream, path, second=request == b"LIS2")
        else:
            await _fail(stream, f"unknown command {request.decode(errors='replace')}")
            return


async def _send(phone: ServedPhone, stream: Stream, target: str) -> None:
    """Receive a file. A refusal is sent only after its last byte, because the host does not read earlier."""
    path, _, mode = target.rpartition(",")
    parts: list[bytes] = []
    size = 0
    while True:
        kind, value = REQUEST.unpack(await stream.read_exactly(REQUEST.size))
        if kind == b"DONE":
            break
        if kind != b"DATA" or value > CHUNK:
            await _fail(stream, "unexpected data")
            return
        data = await stream.read_exactly(value)
        size += len(data)
        if size <= CAPACITY:
            parts.append(data)
    try:
        if size > CAPACITY:
            raise FileProblem("No space left on device")
        phone.files.make_folder(path.rpartition("/")[0] or "/", value)
        phone.files.write(path, b"".join(parts), value, int(mode) if mode.isdigit() else 0o644)
    except FileProblem as problem:
        await _fail(stream, f"couldn't create file: {problem}")
        return
    await stream.write(REQUEST.pack(b"OKAY", 0))


async def _recv(phone: ServedPhone, stream: Stream, path: str) -> None:
    try:
        data = phone.files.read(path)
    except FileProblem as problem:
        await _fail(stream, f"open failed: {problem}")
        return
    for start in range(0, len(data), CHUNK):
        piece = data[start : start + CHUNK]
        await stream.write(REQUEST.pack(b"DATA", len(piece)) + piece)
    await stream.write(REQUEST.pack(b"DONE", 0))


async def _list(phone: ServedPhone, stream: Stream, path: str, *, second: bool) -> None:
    out = bytearray()
    for name, node in phone.files.children(path):
        text = name.encode(errors="surrogateescape")
        if second:
            out += ENTRY_2.pack(b"DNT2", 0, *_facts(node), len(text)) + text
        else:
            out += ENTRY.pack(b"DENT", node.mode, len(node.data), node.mtime, len(text)) + text
    out += ENTRY_2.pack(b"DONE", 0, *_facts(NOBODY), 0) if second else ENTRY.pack(b"DONE", 0, 0, 0, 0)
    await stream.write(bytes(out))


def _stat(request: bytes, node: Node | None) -> bytes:
    if request == b"STAT":
        shown = node or NOBODY
        return STAT.pack(request, shown.mode, len(shown.data), shown.mtime)
    return STAT_2.pack(request, 0 if node else ENOENT, *_facts(node or NOBODY))


def _facts(node: Node) -> tuple[int, ...]:
    """Device, inode, mode, links, user, group, size, and when it was read, written and changed."""
    return 1, 1, node.mode, 1, 2000, 2000, len(node.data), node.mtime, node.mtime, node.mtime


async def _fail(stream: Stream, why: str) -> None:
    text = why.encode(errors="replace")
    await stream.write(REQUEST.pack(b"FAIL", len(text)) + text)
