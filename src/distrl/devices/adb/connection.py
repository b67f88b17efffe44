"""Calls to an adb server, or to a phone behind it, with a timeout.

Each blocking call runs in a thread. At the timeout its sockets are shut down, which unblocks the thread, and its result
is dropped. Connections never start a server by themselves.
"""

from __future__ import annotations

import asyncio
import contextlib
import select
import shlex
import socket
import struct
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar

from adbutils import AdbClient, AdbConnection, AdbDevice
from adbutils.errors import AdbConnectionError

T = TypeVar("T")

HOST = "127.0.0.1"
MIN_SERVER_VERSION = 41
"""adb 1.0.41, of 2018: the first that tells which transport it gives."""
STDIN, STDOUT, STDERR, EXIT = 0, 1, 2, 3
PACKET = struct.Struct("<BI")
CHUNK_BYTES, READ_AHEAD_BYTES = 1 << 18, 1 << 16
CONNECT_S = 3.0
QUICKACK: int | None = getattr(socket, "TCP_QUICKACK", None)
"""Linux has it."""
MAX_SCRIPT_BYTES = 60_000
"""Bytes; the length of a request has four hexadecimal digits."""

_threads = ThreadPoolExecutor(max_workers=1024, thread_name_prefix="adb")
"""More threads than a worker has phones, so that hung calls block no others."""


@dataclass(frozen=True, slots=True)
class ShellResult:
    """Exit status and output of a command on the phone."""

    status: int
    out: bytes
    err: bytes

    @property
    def text(self) -> str:
        return self.out.decode(errors="replace")

    @property
    def error_text(self) -> str:
        """The start of stderr, or of stdout; else the exit status."""
        return (self.err or self.out).decode(errors="replace").strip()[:300] or f"exit status {self.status}"


class AdbSession:
    """The connections of one call. `sent`: the phone was given the command."""

    def __init__(self, port: int) -> None:
        self.adb = _Client(port, self)
        self.sent = False
        self._connections: list[BufferedConnection] = []
        self._aborted = False
        self._lock = threading.Lock()

    def register(self, connection: BufferedConnection) -> None:
        with self._lock:
            self._connections.append(connection)
            if self._aborted:
                connection.abort()

    def abort(self) -> None:
        """Shut all connections of this call, now and later."""
        with self._lock:
            self._aborted = True
            for connection in self._connections:
                connection.abort()

    def shell(self, serial: str, script: str) -> ShellResult:
        """Run a script on the phone in a shell of its own."""
        with contextlib.closing(self.open(serial, f"shell,v2,raw:{script}")) as connection:
            out, err = bytearray(), bytearray()
            while True:
                kind, length = PACKET.unpack(connection.read_exact(PACKET.size))
                data = connection.read_exact(length) if length else b""
                if kind == STDOUT:
                    out += data
                elif kind == STDERR:
                    err += data
                elif kind == EXIT:
                    return ShellResult(data[0] if data else 255, bytes(out), bytes(err))

    def reboot(self, serial: str) -> None:
        """Through adbd, not the shell: adbd still answers when the shell does not."""
        with contextlib.closing(self.open(serial, "reboot:")) as connection:
            while connection.recv(CHUNK_BYTES):
                pass

    def reconnect(self, serial: str) -> None:
        """Have the server drop its connection to a phone and connect again."""
        with self.adb.make_connection() as connection:
            connection.send_command(f"host-serial:{serial}:reconnect")
            connection.check_okay()

    def open(self, serial: str, request: str, *, is_command: bool = True) -> BufferedConnection:
        """A connection to a service of the phone. `is_command`: naming the service already makes the phone act."""
        connection = AdbDevice(self.adb, serial=serial).open_transport(timeout=None)
        try:
            self.sent = self.sent or is_command
            connection.send_command(request)
            connection.check_okay()
        except BaseException:
            connection.close()
            raise
        assert isinstance(connection, BufferedConnection)
        return connection


class _Client(AdbClient):  # type: ignore[misc]  # adbutils is not typed
    """A client of the server that we started, for one call."""

    def __init__(self, port: int, session: AdbSession) -> None:
        super().__init__(host=HOST, port=port)
        self._session = session

    def make_connection(self, timeout: float | None = None) -> AdbConnection:
        connection = BufferedConnection(self.port)
        self._session.register(connection)
        return connection

    def server_version(self) -> int:
        return MIN_SERVER_VERSION  # checked when the server was started


class BufferedConnection(AdbConnection):  # type: ignore[misc]
    """A connection that starts no server, closes without a sleep, and reads ahead.

    adbutils reads four bytes at a time; with many threads each of these reads may wait for the interpreter lock."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._buffer = bytearray()
        super().__init__(HOST, port)

    def _safe_connect(self) -> socket.socket:
        connected = socket.socket()  # `create_connection` would look the number up as if it were a name
        try:
            connected.settimeout(CONNECT_S)
            connected.connect((HOST, self._port))
        except OSError as error:
            connected.close()
            raise AdbConnectionError(f"this worker's adb server does not answer ({error})") from error
        connected.settimeout(None)  # the caller aborts at its own timeout
        return connected

    @property
    def idle(self) -> bool:
        """Whether it is open and nothing waits to be read."""
        poll = select.poll()
        if self.closed or self._buffer:
            return False
        poll.register(self.conn, select.POLLIN)
        return not poll.poll(0)

    def recv(self, n: int) -> bytes:
        """Up to `n` bytes; none at the end of the stream."""
        return self._take(n) if self._buffer else self.conn.recv(n)

    def _read_fully(self, n: int) -> bytes:
        while len(self._buffer) < n and (chunk := self._received()):
            self._buffer += chunk
        return self._take(n)

    def _received(self) -> bytes:
        """Reads with TCP_QUICKACK: the server waits for the ACK, which the kernel delays by up to 40 ms."""
        if QUICKACK is not None:
            self.conn.setsockopt(socket.IPPROTO_TCP, QUICKACK, 1)  # the kernel resets this option by itself
        received: bytes = self.conn.recv(READ_AHEAD_BYTES)
        return received

    def _take(self, n: int) -> bytes:
        data = bytes(self._buffer[:n])
        del self._buffer[:n]
        return data

    def abort(self) -> None:
        if not self.closed:
            with contextlib.suppress(Exception):  # closed by another thread since the check
                self.conn.shutdown(socket.SHUT_RDWR)  # wakes a thread that waits in `recv`; closing alone does not

    def close(self) -> None:
        if not self.closed:
            self.conn.close()
        super().close()


async def run_with_timeout(work: Callable[[AdbSession], T], port: int, within_s: float) -> T:
    """Run `work` in a thread. Raises `CallTimeout`; its connections are aborted then, and when we are cancelled."""
    session = AdbSession(port)
    answer = asyncio.get_running_loop().run_in_executor(_threads, work, session)
    done: set[asyncio.Future[T]] = set()
    try:
        done, _ = await asyncio.wait((answer,), timeout=within_s)
    finally:
        if not done:
            session.abort()
            answer.cancel()  # the result is dropped
    if not done:
        raise CallTimeout(session.sent)
    return answer.result()


class CallTimeout(Exception):  # noqa: N818 - the caller retries or raises `DeviceLost`
    """The call timed out and was aborted. `sent`: the phone may have acted on it."""

    def __init__(self, sent: bool) -> None:
        super().__init__(sent)
        self.sent = sent


def join_commands(commands: Sequence[Sequence[str]]) -> str:
    """One shell script that runs each command only if the one before succeeded."""
    return " && ".join(shlex.join(words) for words in commands)
