"""Ports of this machine: which are free now."""

from __future__ import annotations

import socket

LOOPBACK = "127.0.0.1"


def is_free(port: int, host: str = LOOPBACK) -> bool:
    """Whether somebody could listen there; port 0 asks whether the address is this machine's at all."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # what only lingers after its end is free
        try:
            probe.bind((host, port))
        except OSError:
            return False
    return True
