"""A shell on the phone that stays open between calls, which saves a connection and a process per call.

Each script runs in a subshell with stdin from /dev/null, so it cannot change or end the shell or read the next script.
It has finished when stdout shows a random marker with the exit status; after a failure stderr shows the marker too.
After a success stderr is not waited for, since that would cost a fifth of the step rate: what a successful script
wrote there may appear before the errors of a later failure.
"""

from __future__ import annotations

import secrets

from distrl.devices.adb.connection import PACKET, STDERR, STDIN, STDOUT, AdbSession, BufferedConnection, ShellResult

SERVICE = "shell,v2,raw:"
LONGEST_STATUS = 4
"""Bytes of `255` and the end of its line."""


class Shell:
    """Runs one script at a time. Close it after a call that raised."""

    def __init__(self, connection: BufferedConnection) -> None:
        self.connection = connection
        self._marker = f"distrl-{secrets.token_hex(8)} ".encode()

    @classmethod
    def open(cls, session: AdbSession, serial: str) -> Shell:
        return cls(session.open(serial, SERVICE, is_command=False))

    @property
    def idle(self) -> bool:
        """Whether nothing waits to be read; a phone that disconnected has sent an end of stream."""
        return self.connection.idle

    def run(self, script: str) -> ShellResult:
        """Raises `EOFError` and `OSError` when the connection breaks."""
        marker = self._marker.decode()
        typed = f"( {script} ) </dev/null && echo {marker}0 || ( echo {marker}$?; echo {marker}1 >&2 )\n".encode()
        self.connection.conn.sendall(PACKET.pack(STDIN, len(typed)) + typed)
        output = {STDOUT: bytearray(), STDERR: bytearray()}
        while not self._finished(output):
            kind, length = PACKET.unpack(self.connection.read_exact(PACKET.size))
            data = self.connection.read_exact(length) if length else b""
            if kind not in output:
                raise EOFError("the shell on the phone ended")
            output[kind] += data
        out, _, status = output[STDOUT].rpartition(self._marker)
        err = output[STDERR].rpartition(self._marker)[0] if int(status) else b""
        return ShellResult(int(status), bytes(out), bytes(err))

    def close(self) -> None:
        self.connection.close()

    def _finished(self, output: dict[int, bytearray]) -> bool:
        if not self._at_marker(output[STDOUT]):
            return False
        return output[STDOUT].endswith(self._marker + b"0\n") or self._at_marker(output[STDERR])

    def _at_marker(self, output: bytearray) -> bool:
        return output.endswith(b"\n") and output.rfind(self._marker, -len(self._marker) - LONGEST_STATUS) >= 0
