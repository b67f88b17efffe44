"""What breaks on purpose on a served phone, as the real `adb` sees it."""

from __future__ import annotations

import subprocess
import time

import pytest
from served import KINDS, adb_server, served


@pytest.fixture(scope="module", params=KINDS)
def adb(request, tmp_path_factory):
    with adb_server(request.param, tmp_path_factory.mktemp("home")) as adb:
        yield adb


@pytest.fixture
def broken(adb):
    """Serve a phone with faults and connect to it."""
    opened = []

    def broken(*faults: str):
        server = served(*faults)
        phones = server.__enter__()
        opened.append((server, phones))
        adb("connect", phones.address)
        return phones

    yield broken
    for server, phones in opened:
        adb("disconnect", phones.address)
        server.__exit__(None, None, None)


def state(adb, address):
    lines = adb("devices").stdout.decode().splitlines()
    return next((line.split("\t")[1] for line in lines if line.startswith(f"{address}\t")), "gone")


def settles(adb, address, *wanted):
    """The state it comes to, waited for."""
    deadline = time.monotonic() + 15
    while state(adb, address) not in wanted and time.monotonic() < deadline:
        time.sleep(0.1)
    return state(adb, address)


def answer_after_coming_back(adb, address, *command):
    """What the shell prints once the phone is there again; who connects while it still hangs up is cut off."""
    deadline = time.monotonic() + 15
    printed = b""
    while not printed and time.monotonic() < deadline:
        adb("disconnect", address)
        adb("connect", address)
        printed = adb("-s", address, "shell", *command).stdout
    return printed


def test_an_unauthorized_phone_is_shown_as_such(adb, broken):
    phones = broken("unauthorized")
    assert settles(adb, phones.address, "unauthorized") == "unauthorized"


def test_an_offline_phone_is_shown_as_such_and_comes_back(adb, broken):
    phones = broken("offline=1:600")
    assert adb("-s", phones.address, "shell", "true").returncode != 0
    assert settles(adb, phones.address, "offline") == "offline"
    phones.phone.fault_injector.faults = {}
    phones.listener._offline_until = 0.0
    assert answer_after_coming_back(adb, phones.address, "echo", "here") == b"here\n"


def test_an_unplugged_phone_is_gone_and_comes_back_when_plugged_in(adb, broken):
    phones = broken("unplug=1:0.1")
    assert adb("-s", phones.address, "shell", "true").returncode != 0
    phones.phone.fault_injector.faults = {}
    assert answer_after_coming_back(adb, phones.address, "echo", "here") == b"here\n"


@pytest.mark.parametrize("fault", ["hang-screencap", "hang"])
def test_a_call_that_hangs_ends_with_its_caller_and_the_others_are_answered(adb, broken, fault):
    phones = broken(fault)
    with pytest.raises(subprocess.TimeoutExpired):
        adb("-s", phones.address, "exec-out", "screencap", "-p", timeout_s=0.5)
    phones.phone.fault_injector.faults = {}
    assert adb("-s", phones.address, "shell", "echo", "here").stdout == b"here\n"


def test_a_full_phone_refuses_a_file_and_says_why(adb, broken, tmp_path):
    phones = broken("storage-full")
    (tmp_path / "file").write_bytes(b"x" * 100_000)
    answer = adb("-s", phones.address, "push", str(tmp_path / "file"), "/sdcard/file")
    assert answer.returncode != 0
    assert b"No space left on device" in answer.stdout + answer.stderr
    adb("-s", phones.address, "shell", "pm", "trim-caches", "1G")
    assert adb("-s", phones.address, "push", str(tmp_path / "file"), "/sdcard/file").returncode == 0


def test_a_frozen_phone_is_mended_by_a_reboot(adb, broken):
    phones = broken("freeze")
    adb("-s", phones.address, "shell", "input", "tap", "1", "1")
    assert phones.phone.power.frozen
    phones.phone.fault_injector.faults = {}
    adb("-s", phones.address, "reboot")
    assert answer_after_coming_back(adb, phones.address, "getprop", "sys.boot_completed") == b"1\n"
    assert not phones.phone.power.frozen
