"""One emulator process that we started, its ports and its log. It ends when this process ends, also by SIGKILL."""

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

GRACE_S = 5.0
"""Between SIGTERM and SIGKILL."""
LOG_TAIL_CHARS = 400
"""Characters of the log in an error message."""
LOG_NOISE = ("INFO", "DEBUG", "WARNING", "USER_INFO", "VERBOSE")


NO_METRICS = "-no-metrics"
"""Emulators since 2025 warn without it, and announce that later ones will ask before they start."""


def command(
    sdk: Sdk, options: AvdOptions, port: int, known: Container[str], *, snapshot: str, wiped: bool
) -> list[str]:
    """The emulator's command line. `known`: the options its help lists. `wiped`: writable with empty data; for clones
    only."""
    words = [str(sdk.emulator), "-avd", options.name, "-port", str(port)]
    words += ["-wipe-data"] if wiped else ["-read-only"]
    words += ["-no-snapshot-save", "-no-audio", "-no-boot-anim", "-gpu", options.gpu]
    words += [NO_METRICS] if NO_METRICS in known else []
    words += ["-snapshot", snapshot] if snapshot else ["-no-snapshot-load"]
    words += [] if options.window else ["-no-window"]
    return words + (["-memory", str(options.memory)] if options.memory else [])


def environment(sdk: Sdk, avd: Avd, server_port: int) -> dict[str, str]:
    """Our environment, with the SDK, the AVD folder and the adb server of this emulator."""
    usual = {name: value for name, value in os.environ.items() if name != "ANDROID_SERIAL"}
    return usual | {
        "ANDROID_HOME": str(sdk.root),
        "ANDROID_SDK_ROOT": str(sdk.root),
        "ANDROID_AVD_HOME": str(avd.home),
        "ANDROID_ADB_SERVER_PORT": str(server_port),
        "ANDROID_EMULATOR_WAIT_TIME_BEFORE_KILL": f"{GRACE_S:.0f}",
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
                [sys.executable, "-I", "-S", guard.__file__, str(GRACE_S), *words],
                env=variables,
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # no Ctrl-C for it; and the session identifies its child processes
            )
        self.session = Session.of(self._guard.pid, avd.folder)
        self.record_members()

    @property
    def alive(self) -> bool:
        return self._guard.poll() is None

    @property
    def live_pids(self) -> tuple[int, ...]:
        return self.session.live_pids() if self.session else ()

    def record_members(self) -> None:
        """Save the pids of its session, so that a later process can clean up if this one is killed."""
        if self.session is not None:
            seen = dict.fromkeys((*self.session.members, *self.session.live_pids()))
            self.session = replace(self.session, members=tuple(seen))
            self.session.write(self._ports.session_file)

    def log_tail(self) -> str:
        """The last error lines of its log, and the path of the log."""
        try:
            lines = self.log.read_text(errors="replace").splitlines()
        except OSError:
            lines = []
        telling = [line.strip() for line in lines if line.strip() and not line.startswith(LOG_NOISE)]
        return f"{' '.join(telling)[-LOG_TAIL_CHARS:] or 'it logged nothing'} (log: {self.log})"

    def stop(self) -> None:
        """Terminate it, by force after `GRACE_S`. Blocks until it has ended, and releases its ports."""
        assert self._guard.stdin is not None
        self.record_members()
        self._guard.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._guard.wait(2 * GRACE_S)
        if self.session is None or end_session(self.session):
            self._ports.session_file.unlink(missing_ok=True)
        self._ports.release()
