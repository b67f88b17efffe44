"""This process's own adb server, on its own port. Other adb servers are neither used nor stopped."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import threading
import time
from pathlib import Path

import adbutils

from distrl.devices.adb.connection import HOST, MIN_SERVER_VERSION
from distrl.errors import ConfigError, DeviceError

DEFAULT_PORT = 5037
START_S = 10.0
MAX_TRIES = 3
STOP_S = 5.0
POLL_S = 0.02
VERSION_TIMEOUT_S = 2.0
NO_SCAN = {"ADB_LOCAL_TRANSPORT_MAX_PORT": "5554", "ADB_LIBUSB": "0"}
"""Do not scan ports 5555 to 5585, where others' emulators may be; do not wait for libusb, which can take seconds."""
GUARD_SCRIPT = 'note=$1; shift; "$@" & server=$!; read -r _; kill "$server" 2>/dev/null; wait "$server"; rm -f "$note"'
"""Stops the server when the pipe to this process closes, also after SIGKILL, and removes its port file."""


class AdbServer:
    """Started at first use, restarted when it has died, stopped when the last user releases it."""

    def __init__(self, scans: bool) -> None:
        """`scans`: look for emulators on ports 5555 to 5585."""
        self.users = 0
        self._scans = scans
        self._lock = threading.Lock()
        self._guard: subprocess.Popen[bytes] | None = None
        self._port = 0

    @property
    def port(self) -> int:
        return self._port

    def ensure(self) -> int:
        """Start or restart the server if needed; its port. Blocks until it answers."""
        with self._lock:
            if self._guard is None or _version(self._port) is None:
                self._stop()
                self._start()
            return self._port

    def stop(self) -> None:
        with self._lock:
            self._stop()

    def _start(self) -> None:
        for _ in range(MAX_TRIES):
            self._port = _free_port()
            self._guard = self._launch(self._port)
            version = _wait_for_version(self._port)
            if version is not None and version >= MIN_SERVER_VERSION:
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
        environment = {"ADB_MDNS": "0"} | environment | ({} if self._scans else NO_SCAN)
        return subprocess.Popen(
            [
                "/bin/sh",
                "-c",
                GUARD_SCRIPT,
                "adb-guard",
                _info_file(port),
                adb_program(),
                "-P",
                str(port),
                "nodaemon",
                "server",
            ],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C goes to this process only, which stops the server itself
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


_servers = {scans: AdbServer(scans) for scans in (False, True)}
_users_lock = threading.Lock()


def acquire_server(scans: bool) -> AdbServer:
    """The server that all devices of this process share. Pair with `release_server`."""
    with _users_lock:
        server = _servers[scans]
        server.users += 1
        return server


def release_server(server: AdbServer) -> None:
    with _users_lock:
        server.users -= 1
        if server.users == 0:
            server.stop()


def adb_program() -> str:
    """The `adb` of this machine, or the one that comes with adbutils."""
    try:
        return str(adbutils.adb_path())
    except adbutils.AdbError as error:
        raise ConfigError(f"There is no adb on this machine ({error}). Install Android platform-tools.") from error


def _info_file(port: int) -> str:
    """The file that an adb server writes about itself."""
    return str(Path.home() / ".android" / f"adb.{port}")


def _wait_for_version(port: int) -> int | None:
    deadline = time.monotonic() + START_S
    while time.monotonic() < deadline:
        if (version := _version(port)) is not None:
            return version
        time.sleep(POLL_S)
    return None


def _version(port: int) -> int | None:
    """The version of the server on a port; None where none answers."""
    try:
        with socket.create_connection((HOST, port), timeout=VERSION_TIMEOUT_S) as connection:
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
        if port != DEFAULT_PORT:
            return port
