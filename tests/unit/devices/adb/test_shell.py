"""The shell that stays open: against a real POSIX shell, and against a served phone."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shlex
import socket
import subprocess
import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from served import opened, served

from distrl.devices.adb.connection import EXIT, PACKET, STDERR, STDIN, STDOUT
from distrl.devices.adb.shell import Shell
from distrl.types import Press, Task

TASK = Task("a", "s", "train", "t", "goal", seed=11, max_steps=5, start=(("open", "clock", "alarms"),))


class Wire:
    """What a shell needs of a connection, with this machine's own `sh` at the other end."""

    def __init__(self) -> None:
        self.conn, self._far = socket.socketpair()
        self._read = self.conn.makefile("rb")
        self._writing = threading.Lock()
        self._sh = subprocess.Popen(
            ["sh"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0
        )
        ways = [(self._say, self._sh.stdout, STDOUT), (self._say, self._sh.stderr, STDERR), (self._hear,)]
        self._threads = [threading.Thread(target=work, args=args) for work, *args in ways]
        for thread in self._threads:
            thread.start()

    def read_exact(self, n: int) -> bytes:
        return self._read.read(n)

    def close(self) -> None:
        self.conn.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join()
        self._sh.wait()
        for end in (self._read, self.conn, self._far, self._sh.stdout, self._sh.stderr):
            end.close()

    def _say(self, pipe, kind: int) -> None:
        while data := os.read(pipe.fileno(), 1 << 16):
            self._send(kind, data)
        if kind == STDOUT:
            self._send(EXIT, bytes([self._sh.wait() & 0xFF]))

    def _send(self, kind: int, data: bytes) -> None:
        with self._writing, contextlib.suppress(OSError):
            self._far.sendall(PACKET.pack(kind, len(data)) + data)

    def _hear(self) -> None:
        with self._far.makefile("rb") as typed:
            while head := typed.read(PACKET.size):
                kind, length = PACKET.unpack(head)
                assert kind == STDIN
                self._sh.stdin.write(typed.read(length))
        self._sh.stdin.close()


@pytest.fixture(scope="module")
def shell():
    shell = Shell(Wire())
    yield shell
    shell.close()


@pytest.mark.parametrize(
    ("script", "status", "out", "err"),
    [
        ("echo a; echo b", 0, b"a\nb\n", b""),
        ("printf 'no end'", 0, b"no end", b""),
        ("echo wrong >&2; false", 1, b"", b"wrong\n"),
        ("exit 3", 3, b"", b""),
        ("cat", 0, b"", b""),  # nothing to read: neither does it wait, nor does it take the next script
        ("cd /; X=1; pwd", 0, b"/\n", b""),
        ('test -z "$X" && test "$PWD" != / && echo "as before"', 0, b"as before\n", b""),
        ("printf '\\0\\377\\n\\0'", 0, b"\0\xff\n\0", b""),
    ],
)
def test_scripts_end_as_in_a_shell_of_their_own(shell, script, status, out, err):
    answer = shell.run(script)
    assert (answer.status, answer.out, answer.err) == (status, out, err)


def test_of_a_success_nobody_reads_the_errors_and_a_later_failure_still_says_its_own():
    shell = Shell(Wire())
    try:
        well = shell.run("echo well; echo hardly >&2")
        assert (well.status, well.out, well.err) == (0, b"well\n", b"")
        failed = shell.run("echo wrong >&2; false")
        assert (failed.status, failed.out) == (1, b"")
        assert failed.err in (b"wrong\n", b"hardly\nwrong\n")  # the first complaint may be late
    finally:
        shell.close()


def test_much_output_on_both_sides_arrives_whole(shell):
    answer = shell.run("head -c 3000000 /dev/zero; head -c 200000 /dev/zero >&2; false")
    assert (len(answer.out), len(answer.err)) == (3_000_000, 200_000)


@settings(deadline=None, max_examples=50)
@given(st.text(st.characters(exclude_characters="\n\0", exclude_categories=("Cs",)), max_size=40))
def test_whatever_is_quoted_comes_back_and_the_shell_lives_on(text):
    shell = Shell(Wire())
    try:
        assert shell.run(f"printf %s {shlex.quote(text)}").out.decode() == text
        assert shell.run("echo on").out == b"on\n"
    finally:
        shell.close()


def test_a_shell_that_is_killed_says_so():
    shell = Shell(Wire())
    with pytest.raises(EOFError, match="shell on the phone ended"):
        shell.run("kill -9 $$")
    shell.close()


# --- on a phone ---------------------------------------------------------------------------------


@pytest.fixture
def phones():
    with served(seed=3) as phones:
        yield phones


@pytest.fixture
def opening(monkeypatch):
    """Every shell that was opened."""
    made, usual = [], Shell.open

    def counted(line, serial):
        made.append(usual(line, serial))
        return made[-1]

    monkeypatch.setattr(Shell, "open", counted)
    return made


def test_a_whole_episode_takes_one_shell_and_leaves_none(phones, opening):
    async def play():
        async with opened(f"adb://{phones.address}") as device:
            await device.reset(TASK)
            for _ in range(3):
                await device.perform(Press("home"))
                await device.screen()

    asyncio.run(play())
    assert len(opening) == 1
    assert opening[0].connection.closed


def test_a_shell_that_broke_while_nobody_used_it_is_replaced_unnoticed(phones, opening):
    async def play():
        async with opened(f"adb://{phones.address}") as device:
            await device.reset(TASK)
            opening[0].connection.conn.shutdown(socket.SHUT_RDWR)
            await device.perform(Press("home"))
            return await device.screen()

    assert asyncio.run(play()).image
    assert len(opening) == 2


def test_a_touch_for_which_no_shell_came_in_time_is_made_after_all(phones, monkeypatch):
    usual, hung = Shell.open, []

    def hangs_once(line, serial):
        if not hung:
            hung.append(line.open(serial, "exec:sleep 60", is_command=False))
            hung[0].read_exact(1)
        return usual(line, serial)

    async def play():
        async with opened(f"adb://{phones.address}?call_s=0.5") as device:
            before = await device.reset(TASK)
            (await device._attached()).client.close()
            monkeypatch.setattr(Shell, "open", hangs_once)
            await device.perform(Press("home"))
            return before, await device.screen()

    before, after = asyncio.run(play())
    assert hung
    assert (before.foreground, after.foreground) == ("clock", "launcher")


def test_lines_that_belong_together_get_a_shell_of_their_own(phones, opening):
    async def play():
        async with opened(f"adb://{phones.address}") as device:
            client = (await device._attached()).client
            return await client.shell("two lines", "echo 'a\nb'; false")

    answer = asyncio.run(play())
    assert (answer.status, answer.text) == (1, "a\nb\n")
    assert len(opening) == 1
