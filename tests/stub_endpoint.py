"""A chat endpoint that says what a test tells it to say, over real HTTP on loopback.

    with StubEndpoint(lambda question: verdict(True)) as stub:
        ... stub.url ... stub.questions ...

Importable by every test because `tests/conftest.py` puts this folder on the path.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

STUCK_S = 30.0
"""A hanging answer ends after this at the latest, so that no test can leave a thread behind for ever."""


@dataclass(frozen=True)
class Said:
    """One answer on the wire."""

    body: bytes = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    hangs: bool = False
    """Say nothing until the stub closes."""
    breaks: bool = False
    """Close the connection in the middle of the body."""


@dataclass(frozen=True)
class Question:
    """One request as it came."""

    path: str
    headers: Mapping[str, str]
    body: Any
    number: int
    """Counted from 0."""

    @property
    def facts(self) -> dict[str, Any]:
        """What stands between the marks."""
        lines = self.body["messages"][1]["content"][0]["text"].splitlines()
        found: dict[str, Any] = json.loads("\n".join(lines[1:-1]))
        return found


def completion(content: Any, finish: str = "stop", **usage: Any) -> Said:
    choice = {"index": 0, "message": {"role": "assistant", "content": content}, "finish_reason": finish}
    envelope = {"id": "1", "object": "chat.completion", "choices": [choice], "usage": usage}
    return Said(json.dumps(envelope).encode(), headers={"Content-Type": "application/json"})


def verdict(success: bool, reason: str = "it looks so") -> Said:
    text = json.dumps({"reason": reason, "success": success})
    return completion(text, prompt_tokens=1000, completion_tokens=20)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 64

    def handle_error(self, request: Any, client_address: Any) -> None:
        pass  # a client that had enough and hung up


class StubEndpoint:
    """Runs in a thread of its own for the length of a `with` block."""

    def __init__(self, script: Callable[[Question], Said]) -> None:
        self.script = script
        self.questions: list[Question] = []
        self.closing = threading.Event()
        self._lock = threading.Lock()
        self._server = _Server(("127.0.0.1", 0), self._handler())
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def __enter__(self) -> StubEndpoint:
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.closing.set()
        self._server.shutdown()
        self._server.server_close()

    def note(self, path: str, headers: Mapping[str, str], body: bytes) -> Question:
        with self._lock:
            question = Question(path, headers, json.loads(body) if body else None, len(self.questions))
            self.questions.append(question)
        return question

    def _handler(stub: StubEndpoint) -> type[BaseHTTPRequestHandler]:  # noqa: N805
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:  # noqa: N802
                body = self.rfile.read(int(self.headers["Content-Length"] or 0))
                self.answer(stub.script(stub.note(self.path, dict(self.headers), body)))

            def do_GET(self) -> None:  # noqa: N802
                self.answer(stub.script(stub.note(self.path, dict(self.headers), b"")))

            def answer(self, said: Said) -> None:
                if said.hangs:
                    stub.closing.wait(STUCK_S)
                    self.close_connection = True
                    return
                self.send_response(said.status)
                for name, value in said.headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(said.body)))
                self.end_headers()
                if said.breaks:
                    self.wfile.write(said.body[: len(said.body) // 2])
                    self.close_connection = True
                    return
                self.wfile.write(said.body)

            def log_message(self, format: str, *args: Any) -> None:
                pass

        return Handler
