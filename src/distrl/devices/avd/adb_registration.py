"""What an adb server is told about an emulator, which knows it by its console port."""

from __future__ import annotations

import contextlib
import socket

from distrl.devices.adb.server import AdbServer
from distrl.ports import LOOPBACK

ANSWER_S = 2.0


def register(server: AdbServer, port: int) -> None:
    """Tell the server that an emulator is there, as the emulator does itself when it starts; the server may have been
    started anew since then, on another port. It does nothing about one that it knows."""
    _say(server.ensure(), f"host:emulator:{port + 1}", answered=False)


def reconnect(server: AdbServer, port: int) -> None:
    """Have the server hang up, so that it comes again."""
    _say(server.ensure(), f"host-serial:emulator-{port}:reconnect", answered=True)


def is_listening(port: int) -> bool:
    """Whether somebody answers on a port of this machine."""
    with contextlib.suppress(OSError), socket.create_connection((LOOPBACK, port), ANSWER_S):
        return True
    return False


def _say(server_port: int, request: str, *, answered: bool) -> None:
    with contextlib.suppress(OSError), socket.create_connection((LOOPBACK, server_port), ANSWER_S) as line:
        line.sendall(f"{len(request):04x}{request}".encode())
        if answered:
            line.recv(4)
