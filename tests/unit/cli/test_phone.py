"""`distrl phone`: what it hands over, what it refuses, and that it listens until it is told to stop."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from distrl.cli import main
from distrl.phone_server import serving


def invoke(*arguments: str):
    return CliRunner().invoke(main.app, ["phone", *arguments])


def test_options_reach_the_shelf(monkeypatch):
    served = []
    monkeypatch.setattr(serving, "serve_phones", lambda shelf, say: served.append(shelf))
    result = invoke("--adb-port", "6001", "--phones", "3", "--fault", "offline=0.1", "--fault", "anr", "--scale", "2")
    assert result.exit_code == 0, result.output
    assert served == [serving.ServeOptions(6001, 3, "sim://phone", 0, 2, ("offline=0.1", "anr"))]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--fault", "ofline"), "Did you mean 'offline'"),
        (("--scale", "9"), "from 1 to 5"),
        (("--adb-port", "65535", "--phones", "2"), "begin lower"),
        (("--device", "sim://phoen"), "Did you mean 'phone'"),
    ],
)
def test_what_cannot_be_served_is_refused(arguments, message):
    result = invoke(*arguments)
    assert result.exit_code == 2
    assert message in " ".join(result.output.split())


def test_a_port_that_is_taken_is_named():
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        result = invoke("--adb-port", str(port))
    assert result.exit_code == 2
    assert str(port) in result.output


def test_it_serves_until_interrupted():
    command = [sys.executable, "-m", "distrl.cli.main", "phone", "--adb-port", "0", "--phones", "2"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        lines = [process.stdout.readline(), process.stdout.readline()]
        for line in lines:
            host, port = line.split()[-1].split(":")
            assert line.startswith("adb connect 127.0.0.1:")
            socket.create_connection((host, int(port)), timeout=5).close()
        process.send_signal(signal.SIGTERM)
        assert process.wait(10) == 0


def test_a_stand_in_sdk_is_written_with_the_lines_that_make_it_known(tmp_path):
    result = invoke("--sdk", str(tmp_path / "sdk"), "--avd", "Tablet", "--device", "sim://phone?latency=emulator")
    assert result.exit_code == 0, result.output
    assert f"export ANDROID_HOME={tmp_path / 'sdk'}\n" in result.output
    assert "distrl devices check avd://Tablet" in result.output
    assert "latency=emulator" in (tmp_path / "sdk" / "avd" / "Tablet.avd" / "config.ini").read_text()


@pytest.mark.parametrize("arguments", [("--avd", "../x"), ("--device", "sim://phoen")])
def test_an_sdk_that_would_not_work_is_not_written(tmp_path, arguments):
    assert invoke("--sdk", str(tmp_path / "sdk"), *arguments).exit_code == 2
    assert not (tmp_path / "sdk").exists()
