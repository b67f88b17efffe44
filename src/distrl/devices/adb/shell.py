"""A shell on the phone that stays open from call to call, so that no call has to make a connection and a process first.

Each script runs in brackets, with nothing to read: it cannot change the shell, end it, or swallow the next script. It
is over when its output has said a word that nobody on the phone can know beforehand; after a failure the errors say it,
too. Not after a success: nobody asks for errors then, and one more message costs a fifth of all steps. So a success
that complained may do so late: its complaint can stand before the errors of a later failure.
"""

from __future__ import annotations

import secrets

from distrl.devices.adb.line import PACKET, STDERR, STDIN, STDOUT, Answer, Connection, Line

SERVICE = "shell,v2,raw:"
LONGEST_STATUS = 4
"""Bytes of `255` and the end of its line."""


class Shell:
    """One call at a time; after a call that failed it is of no use any more."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self._word = f"distrl-{secrets.token_hex(8)} ".encode()

    @classmethod
    def open(cls, line: Line, serial: str) -> Shell:
        return cls(line.open(serial, SERVICE, tells=False))

    @property
    def quiet(self) -> bool:
        """Whether nothing came that nobody asked for: a phone that left has said so by now."""
        return self.connection.quiet

    def run(self, script: str) -> Answer:
        """Raises `EOFError` and `OSError` when the line breaks."""
        word = self._word.decode()
        typed = f"( {script} ) </dev/null && echo {word}0 || ( echo {word}$?; echo {word}1 >&2 )\n".encode()
        self.connection.conn.sendall(PACKET.pack(STDIN, len(typed)) + typed)
        said = {STDOUT: bytearray(), STDERR: bytearray()}
        while not self._over(said):
            kind, length = PACKET.unpack(self.connection.read_exact(PACKET.size))
            data = self.connection.read_exact(length) if length else b""
            if kind not in said:
                raise EOFError("the shell on the phone ended")
            said[kind] += data
        out, _, status = said[STDOUT].rpartition(self._word)
        err = said[STDERR].rpartition(self._word)[0] if int(status) else b""
        return Answer(int(status), bytes(out), bytes(err))

    def close(self) -> None:
        self.connection.close()

    def _over(self, said: dict[int, bytearray]) -> bool:
        if not self._ends(said[STDOUT]):
            return False
        return said[STDOUT].endswith(self._word + b"0\n") or self._ends(said[STDERR])

    def _ends(self, said: bytearray) -> bool:
        return said.endswith(b"\n") and said.rfind(self._word, -len(self._word) - LONGEST_STATUS) >= 0
