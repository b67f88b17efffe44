"""The server of uiautomator2: what its client may send, and what anybody else might."""

from __future__ import annotations

import asyncio
import json

import pytest

from distrl.phone_server.automator.http import serve_http
from distrl.phone_server.automator.selectors import select
from distrl.phone_server.hierarchy import nodes
from distrl.phone_server.wire.stream import StreamClosed


class Wire:
    """A stream that has been sent something."""

    def __init__(self, data: bytes) -> None:
        self.data, self.out = data, b""

    async def accept(self):
        pass

    async def read(self):
        if not self.data:
            raise StreamClosed
        piece, self.data = self.data[:10], self.data[10:]
        return piece

    async def read_exactly(self, count):
        piece, self.data = self.data[:count], self.data[count:]
        return piece

    async def write(self, data):
        self.out += data


def posted(phone, body: bytes, path: str = "/jsonrpc/0"):
    wire = Wire(f"POST {path} HTTP/1.1\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)
    asyncio.run(serve_http(phone, wire))
    head, _, answer = wire.out.partition(b"\r\n\r\n")
    return head.split(b"\r\n")[0], answer


def asked(phone, method, *params):
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()
    return json.loads(posted(phone, body)[1])


def test_methods_answer_with_a_result_or_with_an_error(phone):
    assert asked(phone, "deviceInfo")["result"]["displayWidth"] == 192
    assert asked(phone, "no_such_method")["error"]["code"] == -32601
    assert asked(phone, "click", "x")["error"]["code"] == -32602
    assert "UiObjectNotFoundException" in asked(phone, "objInfo", {"text": "no such text"})["error"]["message"]


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"7", b"[" * 100_000])
def test_what_is_no_request_is_an_error_and_not_a_crash(phone, body):
    assert json.loads(posted(phone, body)[1])["error"]["code"] == -32700


@pytest.mark.parametrize("length", ["x", "-1", "99999999999", "0"])
def test_a_length_that_cannot_be_is_refused(phone, length):
    wire = Wire(f"POST /jsonrpc/0 HTTP/1.1\r\nContent-Length: {length}\r\n\r\nabcdefghijklmnop".encode())
    asyncio.run(serve_http(phone, wire))
    assert wire.out.startswith(b"HTTP/1.1 400")


def test_an_unknown_path_is_not_found(phone):
    assert posted(phone, b"", "/elsewhere")[0] == b"HTTP/1.1 404 Not Found"


def test_selectors_choose_by_text_kind_and_place(phone):
    asked(phone, "pressKey", "home")
    shown = nodes(phone)
    icons = [node for node in shown if node["class"] == "android.widget.ImageButton"]
    assert select(shown, {"className": "android.widget.ImageButton"}) == icons
    assert select(shown, {"className": "android.widget.ImageButton", "instance": 1}) == icons[1:2]
    assert select(shown, {"descriptionContains": "ystem bac"})[0]["content-desc"] == "System back"
    assert select(shown, {"descriptionMatches": "Sys.*"}) == select(shown, {"descriptionStartsWith": "Sys"})
    assert select(shown, {"textContains": "apps", "clickable": True})[0]["text"] == "Search apps"
    assert select(shown, {"clickable": True, "text": "nothing"}) == []
    assert select(shown, {"unheardOf": 1}) == []
