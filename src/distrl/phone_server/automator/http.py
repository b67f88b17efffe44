"""HTTP for the JSON-RPC of uiautomator2, as far as its client uses it: one request per stream."""

from __future__ import annotations

import json
from typing import Any

from distrl.phone_server.automator.methods import Refusal, call_method
from distrl.phone_server.phone import ServedPhone
from distrl.phone_server.wire.stream import Stream

LONGEST_HEAD = 64 * 1024
LONGEST_BODY = 4 * 1024 * 1024
NOT_JSON = -32700


async def serve_http(phone: ServedPhone, stream: Stream) -> None:
    await stream.accept()
    head, _, body = await _until_blank_line(stream)
    line, *headers = head.decode("latin-1").split("\r\n")
    path = line.split(" ")[1] if line.count(" ") >= 2 else "/"
    length = next((value for name, value in map(_header, headers) if name == "content-length"), "0")
    if not length.isdigit() or not len(body) <= int(length) <= LONGEST_BODY:
        await _answer(stream, "400 Bad Request", b"")
        return
    body += await stream.read_exactly(int(length) - len(body))
    if path == "/ping":
        await _answer(stream, "200 OK", b"pong")
    elif path == "/jsonrpc/0":
        await _answer(stream, "200 OK", json.dumps(await _reply(phone, body)).encode())
    else:
        await _answer(stream, "404 Not Found", b"")


async def _until_blank_line(stream: Stream) -> tuple[bytes, bytes, bytes]:
    data = b""
    while b"\r\n\r\n" not in data and len(data) < LONGEST_HEAD:
        data += await stream.read()
    return data.partition(b"\r\n\r\n")


def _header(line: str) -> tuple[str, str]:
    name, _, value = line.partition(":")
    return name.strip().lower(), value.strip()


async def _reply(phone: ServedPhone, body: bytes) -> dict[str, object]:
    reply: dict[str, object] = {"jsonrpc": "2.0", "id": None}
    try:
        reply["id"], name, params = _request(body)
        reply["result"] = await call_method(phone, name, params)
    except Refusal as refusal:
        reply["error"] = {"code": refusal.code, "message": str(refusal), "data": ""}
    return reply


def _request(body: bytes) -> tuple[object, str, list[Any]]:
    """Id, method and parameters. The client sends an object where there are no parameters."""
    try:
        request = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise Refusal(NOT_JSON, f"parse error: {error}") from error
    if not isinstance(request, dict):
        raise Refusal(NOT_JSON, "a request is an object")
    params = request.get("params")
    return request.get("id"), str(request.get("method")), params if isinstance(params, list) else []


async def _answer(stream: Stream, status: str, body: bytes) -> None:
    lines = (
        f"HTTP/1.1 {status}",
        "Content-Type: application/json",
        f"Content-Length: {len(body)}",
        "Connection: close",
    )
    await stream.write("\r\n".join((*lines, "", "")).encode() + body)
