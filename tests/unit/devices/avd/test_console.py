"""The console of an emulator, with the stand-in's at the other end."""

from __future__ import annotations

import asyncio
import math

import pytest

from distrl.devices.avd import console
from distrl.errors import DeviceError, DeviceGone, DeviceLost
from distrl.phone_server.emulator.console import TOKEN_FILE, Console
from distrl.ports import LOOPBACK


async def name(words):
    return "Pixel_7\r\nOK" if words == ["name"] else "KO: bad sub-command"


async def silence(words):
    await asyncio.sleep(math.inf)


def asked(command: str, within_s: float = 20.0, *, token: str | None = None):
    async def scene():
        served = Console({"avd": name, "sulk": silence})
        await served.open(LOOPBACK, 0)
        port = served._server.sockets[0].getsockname()[1]
        if token is not None:
            (console.Path.home() / TOKEN_FILE).write_text(token)
        try:
            return await console.ask(port, command, within_s)
        finally:
            served.close()

    return asyncio.run(scene())


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


def test_a_command_is_answered_after_the_token_was_given(home):
    assert asked("avd name") == ["Pixel_7"]
    assert (home / TOKEN_FILE).stat().st_mode & 0o777 == 0o600


def test_an_empty_token_file_asks_for_none(home):
    (home / TOKEN_FILE).touch()
    assert asked("avd name") == ["Pixel_7"]


def test_a_wrong_token_is_an_error_that_does_not_show_it():
    with pytest.raises(DeviceError, match="does not match") as caught:
        asked("avd name", token="secret")
    assert "secret" not in str(caught.value)


def test_what_the_console_refuses_is_passed_on():
    with pytest.raises(DeviceError, match="KO: bad sub-command"):
        asked("avd what")


def test_a_console_that_does_not_answer_has_a_deadline():
    with pytest.raises(DeviceLost, match="no answer to sulk"):
        asked("sulk", 0.2)


def test_a_console_that_is_not_there_is_gone():
    with pytest.raises(DeviceGone):
        asyncio.run(console.ask(1, "avd name", 5.0))
