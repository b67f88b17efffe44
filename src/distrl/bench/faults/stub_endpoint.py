"""A stub chat endpoint that gives verdicts and, if hostile, errors and malformed replies in between."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

HANGS_S = 20.0
HANG = "hang"


def completion(content: str) -> bytes:
    choice = {"index": 0, "message": {"role": "assistant", "content": content}, "finish_reason": "stop"}
    return json.dumps({"choices": [choice], "usage": {"prompt_tokens": 1, "completion_tokens": 1}}).encode()


def verdict(success: bool) -> bytes:
    return completion(json.dumps({"reason": "told so", "success": success}))


NO_VERDICTS: tuple[tuple[int, bytes | str], ...] = (
    (429, b"slow down"),
    (500, b"oops"),
    (503, b"Status: success"),
    (200, HANG),
    (200, b"<html>Status: success</html>"),
    (200, completion("The task was a success: true")),
    (200, completion('{"reason": "done", "success": "true"}')),
    (200, completion('{"reason": "", "success": false, "success": true}')),
    (200, completion("[" * 50_000)),
)


def truth(goal: str) -> bool:
    """The verdict that this stub gives for a task."""
    return len(goal) % 2 == 0


class StubEndpoint:
    """On loopback for the length of a `with` block. `hostile`: every second answer is no verdict."""

    def __init__(self, *, hostile: bool) -> None:
        self._hostile = hostile
        self._asked = 0
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._server = _Server(("127.0.0.1", 0), self._handler())
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/v1"
        self.refused = 0

    def __enter__(self) -> StubEndpoint:
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._closing.set()
        self._server.shutdown()
        self._server.server_close()

    def answer(self, question: Any) -> tuple[int, bytes | str]:
        with self._lock:
            self._asked += 1
            if self._hostile and self._asked % 2:
                self.refused += 1
                return NO_VERDICTS[self.refused % len(NO_VERDICTS)]
        lines = question["messages"][1]["content"][0]["text"].splitlines()
        return 200, verdict(truth(json.loads("\n".join(lines[1:-1]))["goal"]))

    def hang(self) -> None:
        self._closing.wait(HANGS_S)

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        endpoint = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:  # noqa: N802
                question = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                status, body = endpoint.answer(question)
                if isinstance(body, str):
                    endpoint.hang()
                    return
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: Any) -> None:
                return

        return Handler


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def handle_error(self, request: Any, client_address: Any) -> None:
        return  # a client that timed out and closed the connection
