"""The protocol itself, spoken by hand: greeting, versions, payloads, flow control, refusals."""

from __future__ import annotations

import socket
import struct

import pytest
from served import served

HEADER = struct.Struct("<4sIIIII")


class Host:
    """An adb server, as small as it can be."""

    def __init__(self, address: str) -> None:
        name, port = address.split(":")
        self.socket = socket.create_connection((name, int(port)), timeout=5)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.socket.close()

    def send(self, command: bytes, first: int, second: int, data: bytes = b"", total: int | None = None) -> None:
        magic = int.from_bytes(command, "little") ^ 0xFFFFFFFF
        total = sum(data) if total is None else total
        self.socket.sendall(HEADER.pack(command, first, second, len(data), total, magic) + data)

    def read(self) -> tuple[bytes, int, int, bytes]:
        command, first, second, length, total, _ = HEADER.unpack(self._exactly(HEADER.size))
        data = self._exactly(length)
        self.sum_fits = total == sum(data)
        return command, first, second, data

    def _exactly(self, count: int) -> bytes:
        data = b""
        while len(data) < count:
            more = self.socket.recv(count - len(data))
            if not more:
                raise EOFError
            data += more
        return data

    def greet(self, version: int = 0x01000001, payload: int = 1 << 20) -> bytes:
        self.send(b"CNXN", version, payload, b"host::features=shell_v2\0")
        command, _, _, banner = self.read()
        assert command == b"CNXN"
        return banner

    def open(self, service: bytes) -> tuple[bytes, int]:
        self.send(b"OPEN", 7, 0, service + b"\0")
        command, local, remote, _ = self.read()
        assert remote == 7
        return command, local

    def silent(self) -> bool:
        self.socket.settimeout(0.2)
        try:
            return self.socket.recv(1) == b"never"
        except TimeoutError:
            return True
        finally:
            self.socket.settimeout(5)


@pytest.fixture(scope="module")
def address():
    with served() as phones:
        yield phones.address


def test_the_greeting_says_what_phone_it_is(address):
    with Host(address) as host:
        banner = host.greet().decode()
    assert banner.startswith("device::ro.product.name=distrl_phone;")
    assert "shell_v2" in banner.partition("features=")[2].split(",")


def test_output_comes_in_pieces_that_the_host_takes_each_after_an_okay(address):
    with Host(address) as host:
        host.greet(payload=4096)
        assert host.open(b"exec:screencap")[0] == b"OKAY"
        pieces = []
        while True:
            command, local, _, data = host.read()
            if command == b"CLSE":
                break
            pieces.append(data)
            if len(pieces) == 1:
                assert host.silent()
            host.send(b"OKAY", 7, local)
    assert {len(piece) for piece in pieces[:-1]} == {4096}
    assert sum(map(len, pieces)) == 16 + 192 * 384 * 4


def test_what_is_printed_while_the_host_is_busy_comes_in_one_piece(address):
    """As through a pipe: the program does not wait for the host, and the host gets it all with its next okay."""
    with Host(address) as host:
        host.greet()
        _, local = host.open(b"exec:echo one; echo two; echo three; sleep 0")
        assert host.read()[3] == b"one\n"
        assert host.silent()
        host.send(b"OKAY", 7, local)
        assert host.read()[3] == b"two\nthree\n"
        host.send(b"OKAY", 7, local)
        assert host.read()[0] == b"CLSE"


def test_what_was_printed_before_a_long_sleep_does_not_sleep_with_it(address):
    with Host(address) as host:
        host.greet()
        _, local = host.open(b"exec:echo one; echo two; sleep 3000")
        assert host.read()[3] == b"one\n"
        host.send(b"OKAY", 7, local)
        assert host.read()[3] == b"two\n"


@pytest.mark.parametrize(("version", "summed"), [(0x01000000, True), (0x01000001, False)])
def test_old_hosts_get_sums_and_new_ones_none(address, version, summed):
    with Host(address) as host:
        host.greet(version)
        host.open(b"exec:echo hi")
        assert host.read()[3] == b"hi\n"
        assert host.sum_fits == summed


def test_a_wrong_sum_of_an_old_host_ends_the_connection(address):
    with Host(address) as host:
        host.greet(0x01000000)
        host.send(b"OPEN", 7, 0, b"shell:ls\0", total=1)
        with pytest.raises(EOFError):
            host.read()


def test_a_service_that_is_not_there_is_refused_with_no_id(address):
    with Host(address) as host:
        host.greet()
        assert host.open(b"tcp:9008") == (b"CLSE", 0)
        assert host.open(b"jdwp:1") == (b"CLSE", 0)
        assert host.open(b"exec:true")[0] == b"OKAY"


@pytest.mark.parametrize("data", [b"GET / HTTP/1.1\r\nHost: phone\r\n\r\n", b"\0" * 24])
def test_whoever_speaks_another_language_is_hung_up_on(address, data):
    with Host(address) as host:
        host.socket.sendall(data)
        with pytest.raises((EOFError, ConnectionError)):
            host.read()


def test_nothing_is_opened_before_the_greeting(address):
    with Host(address) as host:
        host.send(b"OPEN", 7, 0, b"exec:true\0")
        with pytest.raises((EOFError, ConnectionError)):
            host.read()


def test_a_closed_stream_ends_its_command_and_no_other(address):
    with Host(address) as host:
        host.greet()
        _, sleeper = host.open(b"shell:sleep 3000")
        host.send(b"CLSE", 7, sleeper)
        host.send(b"WRTE", 7, sleeper, b"too late")
        assert host.read()[0] == b"CLSE"
        assert host.open(b"exec:echo on")[0] == b"OKAY"
        assert host.read()[3] == b"on\n"


def test_what_the_host_sends_is_okayed_when_it_was_read(address):
    with Host(address) as host:
        host.greet()
        _, sync = host.open(b"sync:")
        host.send(b"WRTE", 7, sync, b"SEND" + struct.pack("<I", 15) + b"/sdcard/a")
        assert host.read()[0] == b"OKAY"
        host.send(b"WRTE", 7, sync, b",33188DATA" + struct.pack("<I", 3) + b"abc" + b"DONE" + struct.pack("<I", 9))
        assert host.read()[0] == b"OKAY"
        assert host.read()[3] == b"OKAY\0\0\0\0"


def test_an_unauthorized_host_is_asked_for_keys_and_never_let_in():
    with served("unauthorized") as phones, Host(phones.address) as host:
        host.send(b"CNXN", 0x01000001, 1 << 20, b"host::\0")
        tokens = set()
        for _ in range(3):
            command, kind, _, token = host.read()
            assert (command, kind, len(token)) == (b"AUTH", 1, 20)
            tokens.add(token)
            host.send(b"AUTH", 2, 0, b"signature")
        host.read()
        assert len(tokens) == 3
        host.send(b"AUTH", 3, 0, b"public key\0")
        assert host.silent()


def test_a_phone_that_goes_offline_hangs_up_and_then_says_nothing():
    with served("offline=1:600") as phones:
        with Host(phones.address) as host:
            host.greet()
            host.send(b"OPEN", 7, 0, b"exec:true\0")
            with pytest.raises((EOFError, ConnectionError)):
                host.read()
        with Host(phones.address) as host:
            host.send(b"CNXN", 0x01000001, 1 << 20, b"host::\0")
            assert host.silent()


def test_an_unplugged_phone_does_not_listen():
    with served("unplug") as phones:
        with Host(phones.address) as host:
            host.greet()
            host.send(b"OPEN", 7, 0, b"exec:true\0")
            with pytest.raises((EOFError, ConnectionError)):
                host.read()
        with pytest.raises(ConnectionRefusedError):
            Host(phones.address)
