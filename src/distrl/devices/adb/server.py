"""This worker's own adb server, on a port of its own. Nobody else's server is asked, used or ended."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import threading
import time
from pathlib import Path

import adbutils

from distrl.devices.adb.line import HOST, OLDEST_SERVER
from distrl.errors import ConfigError, DeviceError

EVERYBODYS_PORT = 5037
START_S = 10.0
TRIES = 3
STOP_S = 5.0
POLL_S = 0.02
ASK_S = 2.0
NO_SCAN = {"ADB_LOCAL_TRANSPORT_MAX_PORT": "5554", "ADB_LIBUSB": "0"}
"""Ports 5555 to 5585 may be somebody else's emulators; and where libusb does not work, to wait for it takes seconds."""
GUARD = 'note=$1; shift; "$@" & server=$!; read -r _; kill "$server" 2>/dev/null; wait "$server"; rm -f "$note"'
"""The server ends with the pipe to us, so also when this process is killed. It leaves no note of its port behind."""


class AdbServer:
    """Started when it is first needed, started again when it died, stopped when its last user leaves."""

    def __init__(self, seeks: bool) -> None:
        """`seeks`: look for emulators on their usual ports."""
        self.users = 0
        self._seeks = seeks
        self._lock = threading.Lock()
        self._guard: subprocess.Popen[bytes] | None = None
        self._port = 0

    @property
    def port(self) -> int:
        return self._port

    def ensure(self) -> int:
        """The port of a server that answers. Blocks while it starts."""
        with self._lock:
            if self._guard is None or _version(self._port) is None:
                self._stop()
                self._start()
            return self._port

    def stop(self) -> None:
        with self._lock:
            self._stop()

    def _start(self) -> None:
        for _ in range(TRIES):
            self._port = _free_port()
            self._guard = self._launch(self._port)
            version = _awaited_version(self._port)
            if version is not None and version >= OLDEST_SERVER:
                return
            self._stop()
            if version is not None:
                raise ConfigError(f"adb 1.0.{version} is too old; install Android platform-tools from 2018 or later.")
        raise DeviceError(
            f"No adb server could be started within {START_S:.0f} s. Try `{adb_program()} -P 5038 nodaemon server` "
            "and see what it says."
        )

    def _launch(self, port: int) -> subprocess.Popen[bytes]:
        environment = {name: value for name, value in os.environ.items() if name != "ANDROID_SERIAL"}
        environment = {"ADB_MDNS": "0"} | environment | ({} if self._seeks else NO_SCAN)
        return subprocess.Popen(
            ["/bin/sh", "-c", GUARD, "adb-guard", _note(port), adb_program(), "-P", str(port), "nodaemon", "server"],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C is for us; we say when it ends
        )

    def _stop(self) -> None:
        guard, self._guard = self._guard, None
        if guard is None:
            return
        assert guard.stdin is not None
        guard.stdin.close()
        try:
            guard.wait(STOP_S)
        except subprocess.TimeoutExpired:
            os.killpg(guard.pid, signal.SIGKILL)
            guard.wait()


_servers = {seeks: AdbServer(seeks) for seeks in (False, True)}
_counting = threading.Lock()


def borrow(seeks: bool) -> AdbServer:
    """The server that all devices of this process share. Who borrows it gives it back."""
    with _counting:
        server = _servers[seeks]
        server.users += 1
        return server


def give_back(server: AdbServer) -> None:
    with _counting:
        server.users -= 1
        if server.users == 0:
            server.stop()


def adb_program() -> str:
    """The `adb` of this machine, or the one that comes with adbutils."""
    try:
        return str(adbutils.adb_path())
    except adbutils.AdbError as error:
        raise ConfigError(f"There is no adb on this machine ({error}). Install Android platform-tools.") from error


def _note(port: int) -> str:
    """Where an adb server writes down which program it is."""
    return str(Path.home() / ".android" / f"adb.{port}")


def _awaited_version(port: int) -> int | None:
    deadline = time.monotonic() + START_S
    while time.monotonic() < deadline:
        if (version := _version(port)) is not None:
            return version
        time.sleep(POLL_S)
    return None


def _version(port: int) -> int | None:
    """The version of the server on a port; None where none answers."""
    try:
        with socket.create_connection((HOST, port), timeout=ASK_S) as connection:
            connection.sendall(b"000chost:version")
            answer = b""
            while len(answer) < 12 and (more := connection.recv(12 - len(answer))):
                answer += more
        return int(answer[8:12], 16) if answer[:4] == b"OKAY" else None
    except (OSError, ValueError):
        return None


def _free_port() -> int:
    while True:
        with socket.socket() as listener:
            listener.bind((HOST, 0))
            port: int = listener.getsockname()[1]
        if port != EVERYBODYS_PORT:
            return port
