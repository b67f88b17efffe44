"""One call to an adb server or to a phone behind it, which whoever loses patience can cut.

Blocking calls run in a thread each. A thread that hangs is let go: its connections are shut, so that it comes free,
and nothing it still says is heard. Connections never start a server by themselves.
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
OLDEST_SERVER = 41
"""adb 1.0.41, of 2018: the first that tells which transport it gives."""
STDIN, STDOUT, STDERR, EXIT = 0, 1, 2, 3
PACKET = struct.Struct("<BI")
CHUNK, AHEAD = 1 << 18, 1 << 16
CONNECT_S = 3.0
QUICKACK: int | None = getattr(socket, "TCP_QUICKACK", None)
"""Linux has it."""
LONGEST_SCRIPT = 60_000
"""Bytes; the length of a request has four hexadecimal digits."""

_threads = ThreadPoolExecutor(max_workers=1024, thread_name_prefix="adb")
"""More than this worker has phones, also when calls of some still hang."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a command on the phone left behind."""

    status: int
    out: bytes
    err: bytes

    @property
    def text(self) -> str:
        return self.out.decode(errors="replace")

    @property
    def complaint(self) -> str:
        """What went wrong, in its own words."""
        return (self.err or self.out).decode(errors="replace").strip()[:300] or f"exit status {self.status}"


class Line:
    """The connections of one call. `began` says whether the phone was told what to do."""

    def __init__(self, port: int) -> None:
        self.client = _Client(port, self)
        self.began = False
        self._connections: list[Connection] = []
        self._is_cut = False
        self._lock = threading.Lock()

    def take(self, connection: Connection) -> None:
        with self._lock:
            self._connections.append(connection)
            if self._is_cut:
                connection.cut()

    def cut(self) -> None:
        """End whatever still runs on it."""
        with self._lock:
            self._is_cut = True
            for connection in self._connections:
                connection.cut()

    def shell(self, serial: str, script: str) -> Answer:
        """Run a script on the phone, with errors and exit status apart."""
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
                    return Answer(data[0] if data else 255, bytes(out), bytes(err))

    def reboot(self, serial: str) -> None:
        """Ask the phone's adbd, not its shell: that still listens when nothing else does."""
        with contextlib.closing(self.open(serial, "reboot:")) as connection:
            while connection.recv(CHUNK):
                pass

    def reconnect(self, serial: str) -> None:
        """Let the server drop the line to a phone and find it anew."""
        with self.client.make_connection() as connection:
            connection.send_command(f"host-serial:{serial}:reconnect")
            connection.check_okay()

    def open(self, serial: str, request: str, *, tells: bool = True) -> Connection:
        """A connection to a service of the phone. `tells`: to name it is to tell the phone what to do."""
        connection = AdbDevice(self.client, serial=serial).open_transport(timeout=None)
        try:
            self.began = self.began or tells
            connection.send_command(request)
            connection.check_okay()
        except BaseException:
            connection.close()
            raise
        assert isinstance(connection, Connection)
        return connection


class _Client(AdbClient):  # type: ignore[misc]  # adbutils is not typed
    """A client of the server that we started, for one call."""

    def __init__(self, port: int, line: Line) -> None:
        super().__init__(host=HOST, port=port)
        self._line = line

    def make_connection(self, timeout: float | None = None) -> AdbConnection:
        connection = Connection(self.port)
        self._line.take(connection)
        return connection

    def server_version(self) -> int:
        return OLDEST_SERVER  # whoever started the server has checked it


class Connection(AdbConnection):  # type: ignore[misc]
    """Does not start a server where none answers, does not sleep when it closes, and reads ahead: each time that one of
    many threads asks the system for four bytes it may have to wait for its turn again."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._ahead = bytearray()
        super().__init__(HOST, port)

    def _safe_connect(self) -> socket.socket:
        connected = socket.socket()  # `create_connection` would look the number up as if it were a name
        try:
            connected.settimeout(CONNECT_S)
            connected.connect((HOST, self._port))
        except OSError as error:
            connected.close()
            raise AdbConnectionError(f"this worker's adb server does not answer ({error})") from error
        connected.settimeout(None)  # whoever waits has a deadline, and cuts
        return connected

    @property
    def quiet(self) -> bool:
        """Whether there is nothing to read, not even an end."""
        poll = select.poll()
        if self.closed or self._ahead:
            return False
        poll.register(self.conn, select.POLLIN)
        return not poll.poll(0)

    def recv(self, n: int) -> bytes:
        """Some bytes, `n` at most; none at the end."""
        return self._taken(n) if self._ahead else self.conn.recv(n)

    def _read_fully(self, n: int) -> bytes:
        while len(self._ahead) < n and (chunk := self._received()):
            self._ahead += chunk
        return self._taken(n)

    def _received(self) -> bytes:
        """Acknowledged at once: the server sends the rest of an answer only then, and the system would wait 40 ms."""
        if QUICKACK is not None:
            self.conn.setsockopt(socket.IPPROTO_TCP, QUICKACK, 1)  # for a while; the system forgets it
        received: bytes = self.conn.recv(AHEAD)
        return received

    def _taken(self, n: int) -> bytes:
        data = bytes(self._ahead[:n])
        del self._ahead[:n]
        return data

    def cut(self) -> None:
        if not self.closed:
            with contextlib.suppress(Exception):  # it closed itself between the two lines
                self.conn.shutdown(socket.SHUT_RDWR)  # wakes a thread that waits in `recv`; closing alone does not

    def close(self) -> None:
        if not self.closed:
            self.conn.close()
        super().close()


async def in_time(work: Callable[[Line], T], port: int, within_s: float) -> T:
    """What `work` returns or raises. Raises `OutOfTime`, and cuts the line; also when we are cancelled."""
    line = Line(port)
    answer = asyncio.get_running_loop().run_in_executor(_threads, work, line)
    done: set[asyncio.Future[T]] = set()
    try:
        done, _ = await asyncio.wait((answer,), timeout=within_s)
    finally:
        if not done:
            line.cut()
            answer.cancel()  # whatever it still says is not heard
    if not done:
        raise OutOfTime(line.began)
    return answer.result()


class OutOfTime(Exception):  # noqa: N818 - becomes `DeviceLost` or a second try, one level up
    """The call was cut."""

    def __init__(self, began: bool) -> None:
        super().__init__(began)
        self.began = began


def joined(commands: Sequence[Sequence[str]]) -> str:
    """Commands as one script for the phone's shell, each run only if the one before it went well."""
    return " && ".join(shlex.join(words) for words in commands)
