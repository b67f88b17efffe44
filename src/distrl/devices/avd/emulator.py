"""One emulator process that we started, its ports and its log. It ends with us, however we end."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Container
from dataclasses import replace

from distrl.devices.avd import guard
from distrl.devices.avd.options import AvdOptions
from distrl.devices.avd.ports import PortPair, end_session, session_folder
from distrl.devices.avd.sdk import Avd, Sdk
from distrl.devices.avd.sessions import Session

PATIENCE_S = 5.0
"""Between asking an emulator to end and ending it by force."""
TAIL = 400
"""Characters of the log that a message quotes."""
NOISE = ("INFO", "DEBUG", "WARNING", "USER_INFO", "VERBOSE")


NEWER = "-no-metrics"
"""Without it, emulators since 2025 warn, and say that some day they will ask instead of starting."""


def command(
    sdk: Sdk, options: AvdOptions, port: int, known: Container[str], *, snapshot: str, wiped: bool
) -> list[str]:
    """The emulator's command line. `known`: what its help lists. `wiped`: for a clone of ours, which alone may be
    written to."""
    words = [str(sdk.emulator), "-avd", options.name, "-port", str(port)]
    words += ["-wipe-data"] if wiped else ["-read-only"]
    words += ["-no-snapshot-save", "-no-audio", "-no-boot-anim", "-gpu", options.gpu]
    words += [NEWER] if NEWER in known else []
    words += ["-snapshot", snapshot] if snapshot else ["-no-snapshot-load"]
    words += [] if options.window else ["-no-window"]
    return words + (["-memory", str(options.memory)] if options.memory else [])


def environment(sdk: Sdk, avd: Avd, server_port: int) -> dict[str, str]:
    """Ours, with the SDK, the AVDs and the adb server that this emulator belongs to."""
    usual = {name: value for name, value in os.environ.items() if name != "ANDROID_SERIAL"}
    return usual | {
        "ANDROID_HOME": str(sdk.root),
        "ANDROID_SDK_ROOT": str(sdk.root),
        "ANDROID_AVD_HOME": str(avd.home),
        "ANDROID_ADB_SERVER_PORT": str(server_port),
        "ANDROID_EMULATOR_WAIT_TIME_BEFORE_KILL": f"{PATIENCE_S:.0f}",
    }


class Emulator:
    """Owns its process and its ports."""

    def __init__(self, ports: PortPair, avd: Avd, words: list[str], variables: dict[str, str]) -> None:
        """Starts it."""
        self.port = ports.port
        self.log = session_folder() / f"emulator-{ports.port}.log"
        self._ports = ports
        with self.log.open("wb") as log:
            self._guard = subprocess.Popen(
                [sys.executable, "-I", "-S", guard.__file__, str(PATIENCE_S), *words],
                env=variables,
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # Ctrl-C is for us; and all that it starts can be found by it
            )
        self.session = Session.of(self._guard.pid, avd.folder)
        self.note_members()

    @property
    def alive(self) -> bool:
        return self._guard.poll() is None

    @property
    def pids(self) -> tuple[int, ...]:
        return self.session.living() if self.session else ()

    def note_members(self) -> None:
        """Write down who belongs to it, for the next process of ours in case that this one is killed."""
        if self.session is not None:
            seen = dict.fromkeys((*self.session.members, *self.session.living()))
            self.session = replace(self.session, members=tuple(seen))
            self.session.write(self._ports.note)

    def last_words(self) -> str:
        """The end of its log, without what is only chatter; and where the rest is."""
        try:
            lines = self.log.read_text(errors="replace").splitlines()
        except OSError:
            lines = []
        telling = [line.strip() for line in lines if line.strip() and not line.startswith(NOISE)]
        return f"{' '.join(telling)[-TAIL:] or 'it said nothing'} (log: {self.log})"

    def stop(self) -> None:
        """Ask it to end, then end it by force. Blocks until it is gone, and gives its ports back."""
        assert self._guard.stdin is not None
        self.note_members()
        self._guard.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._guard.wait(2 * PATIENCE_S)
        if self.session is None or end_session(self.session):
            self._ports.note.unlink(missing_ok=True)
        self._ports.release()
