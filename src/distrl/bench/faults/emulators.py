"""Emulators of the stand-in SDK, started by `avd://` and ended from outside."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType

from distrl.phone_server.emulator import faults
from distrl.phone_server.emulator.folder import AvdFolder
from distrl.phone_server.emulator.sdk import write_sdk
from distrl.phone_server.phone import PhoneModel, ServedPhone

NAME = "Pixel_7"
SNAPSHOT = "clean"
MODULE = b"distrl.phone_server.emulator"


class Emulators:
    """A stand-in SDK in this process's environment, for the length of a `with` block."""

    def __init__(self, folder: Path, count: int, faults: Sequence[str], device: str) -> None:
        self._folder = folder
        self._count = count
        self._faults = faults
        self._device = device
        self._killed: set[int] = set()

    def __enter__(self) -> Emulators:
        sdk = write_sdk(self._folder / "sdk", NAME, self._device)
        AvdFolder(sdk.avd_home, NAME).save_snapshot(SNAPSHOT, ServedPhone(PhoneModel(), "setup").save())
        script = self._folder / "faults"
        faulted = [self._faults[number % len(self._faults)] for number in range(self._count)] if self._faults else []
        script.write_text("".join(f"{fault}\n" for fault in faulted), encoding="utf-8")
        self._before = dict(os.environ)
        os.environ.update(sdk.environment | {"HOME": str(self._folder), faults.VARIABLE: f"@{script}"})
        self._home = sdk.environment["ANDROID_HOME"]
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        os.environ.clear()
        os.environ.update(self._before)

    def address(self, query: str) -> str:
        return f"avd://{NAME}?count={self._count}&{query}".rstrip("&")

    def inject(self, number: int, work: Callable[[ServedPhone], None]) -> None:
        raise NotImplementedError("Emulators are other processes: their phones cannot be changed from here.")

    def kill_server(self) -> None:
        raise NotImplementedError("The row about the server plays on served phones.")

    def kill_one(self) -> None:
        """One that was not killed before, as a crash would."""
        alive = [pid for pid in self._pids() if pid not in self._killed]
        if alive:
            self._killed.add(alive[0])
            os.kill(alive[0], signal.SIGKILL)

    def _pids(self) -> list[int]:
        """Processes of our own stand-in: its module on the command line, our SDK in the environment."""
        found = []
        for entry in Path("/proc").iterdir():
            if not entry.name.isdecimal():
                continue
            try:
                ours = MODULE in (entry / "cmdline").read_bytes()
                ours = ours and self._home.encode() in (entry / "environ").read_bytes()
            except OSError:
                continue
            if ours:
                found.append(int(entry.name))
        return sorted(found)
