"""A phone that adb calls offline is connected to anew, once, before it is given up."""

from __future__ import annotations

import time
from contextlib import contextmanager
from types import SimpleNamespace

import pytest

from distrl.devices.adb.discovery import make_ready
from distrl.errors import DeviceGone, NoSuchDevice, NotAuthorized


class Client:
    """An adb server with one phone, which comes back when it is connected to anew."""

    def __init__(self, serial: str, state: str | None, *, comes_back: bool = True) -> None:
        self.serial, self.state, self.comes_back = serial, state, comes_back
        self.asked: list[str] = []

    def list(self):
        return [SimpleNamespace(serial=self.serial, state=self.state)] if self.state else []

    def connect(self, address):
        self.asked.append(f"connect {address}")
        self._back("disconnect " + address in self.asked)
        return f"already connected to {address}"

    def disconnect(self, address):
        self.asked.append(f"disconnect {address}")

    @contextmanager
    def make_connection(self):
        yield SimpleNamespace(send_command=self._command, check_okay=lambda: None)

    def _command(self, text):
        self.asked.append(text)
        self._back(text == "host:reconnect-offline")

    def _back(self, anew):
        if anew and self.comes_back:
            self.state = "device"


def attach(client):
    make_ready(SimpleNamespace(adb=client), client.serial, time.monotonic())


def test_a_ready_phone_is_left_alone():
    client = Client("emulator-5554", "device")
    attach(client)
    assert client.asked == []


@pytest.mark.parametrize(
    ("serial", "asked"),
    [
        ("emulator-5554", ["host:reconnect-offline"]),
        ("10.0.0.1:5555", ["connect 10.0.0.1:5555", "disconnect 10.0.0.1:5555", "connect 10.0.0.1:5555"]),
    ],
)
def test_an_offline_phone_is_connected_to_anew(serial, asked):
    client = Client(serial, "offline")
    attach(client)
    assert client.asked == asked


@pytest.mark.parametrize(
    ("state", "error", "says"),
    [("recovery", DeviceGone, "'recovery'"), ("unauthorized", NotAuthorized, "press Allow")]
    + [("authorizing", NotAuthorized, "press Allow"), (None, NoSuchDevice, "Attached: none")],
)  # fmt: skip
def test_what_is_not_ready_is_named(state, error, says):
    with pytest.raises(error, match=says):
        attach(Client("emulator-5554", state, comes_back=False))
