"""Registers an emulator with an adb server, which knows it by its console port."""

from __future__ import annotations

import contextlib
import socket

from distrl.devices.adb.server import AdbServer
from distrl.ports import LOOPBACK

TIMEOUT_S = 2.0


def register(server: AdbServer, port: int) -> None:
    """Tell the server about an emulator, as the emulator does itself at its start: the server may have been restarted
    on another port since then. Has no effect if the server knows it already."""
    _send_request(server.ensure(), f"host:emulator:{port + 1}", wait_for_answer=False)


def reconnect(server: AdbServer, port: int) -> None:
    """Have the server drop its connection to the emulator and connect again."""
    _send_request(server.ensure(), f"host-serial:emulator-{port}:reconnect", wait_for_answer=True)


def is_listening(port: int) -> bool:
    """Whether a port of this machine accepts connections."""
    with contextlib.suppress(OSError), socket.create_connection((LOOPBACK, port), TIMEOUT_S):
        return True
    return False


def _send_request(server_port: int, request: str, *, wait_for_answer: bool) -> None:
    with contextlib.suppress(OSError), socket.create_connection((LOOPBACK, server_port), TIMEOUT_S) as connection:
        connection.sendall(f"{len(request):04x}{request}".encode())
        if wait_for_answer:
            connection.recv(4)
