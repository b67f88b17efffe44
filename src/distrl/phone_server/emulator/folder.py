"""An AVD on disk: its data, its snapshots, and locks against two writers."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import BinaryIO

from distrl.phone_server.emulator.arguments import Usage
from distrl.types import Tree

DATA = "userdata-qemu.img"
SHARED = "multiinstance.lock"
WRITER = "hardware-qemu.ini.lock"
SNAPSHOT = "snapshot.lock.lock"
NAME = re.compile(r"[\w.-]+")


def home(environment: Mapping[str, str]) -> Path:
    """The folder of AVDs."""
    if environment.get("ANDROID_AVD_HOME"):
        return Path(environment["ANDROID_AVD_HOME"])
    return Path(environment.get("ANDROID_USER_HOME") or Path.home() / ".android") / "avd"


def names(place: Path) -> list[str]:
    return sorted(path.stem for path in place.glob("*.ini"))


def read_ini(path: Path) -> dict[str, str]:
    lines = (line.partition("=") for line in path.read_text(encoding="utf-8").splitlines())
    return {key.strip(): value.strip() for key, _, value in lines}


class AvdFolder:
    """The AVD folder as the stand-in emulator uses it."""

    def __init__(self, place: Path, name: str) -> None:
        if name not in names(place):
            raise Usage(f"Unknown AVD name [{name}], use -list-avds to see valid list.")
        self.name = name
        self.path = Path(read_ini(place / f"{name}.ini")["path"])
        self.settings = read_ini(self.path / "config.ini")

    @contextlib.contextmanager
    def locked(self, *, read_only: bool) -> Iterator[None]:
        """One writer, or any number of readers. A writer also leaves a file with its pid."""
        if (self.path / SNAPSHOT).exists():
            raise Usage(f"A snapshot operation for '{self.name}' is pending and timeout has expired. Exiting...")
        with (self.path / SHARED).open("wb") as shared:
            _lock(shared, exclusive=not read_only)
            if not read_only:
                self.write_lock(WRITER)
            try:
                yield
            finally:
                if not read_only:
                    (self.path / WRITER).unlink(missing_ok=True)

    def write_lock(self, name: str) -> None:
        (self.path / name).write_text(f"{os.getpid()}\0", encoding="utf-8")

    # -- what it holds

    def data(self) -> Tree | None:
        return _read(self.path / DATA)

    def save_data(self, tree: Tree) -> None:
        (self.path / DATA).write_text(json.dumps(tree), encoding="utf-8")

    def wipe(self) -> None:
        (self.path / DATA).unlink(missing_ok=True)
        shutil.rmtree(self.path / "snapshots", ignore_errors=True)

    def snapshots(self) -> list[str]:
        return sorted(path.parent.name for path in self.path.glob("snapshots/*/ram.bin"))

    def snapshot(self, name: str) -> Tree | None:
        return _read(self.path / "snapshots" / name / "ram.bin") if NAME.fullmatch(name) else None

    def save_snapshot(self, name: str, tree: Tree) -> None:
        folder = self.path / "snapshots" / name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "ram.bin").write_text(json.dumps(tree), encoding="utf-8")


def _lock(file: BinaryIO, *, exclusive: bool) -> None:
    try:
        fcntl.flock(file, (fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH) | fcntl.LOCK_NB)
    except OSError:
        raise Usage(
            "Running multiple emulators with the same AVD is an experimental feature. "
            "Please use -read-only flag to enable this feature."
            if exclusive
            else "Another emulator instance is running. Please close it or run all emulators with -read-only flag."
        ) from None


def _read(path: Path) -> Tree | None:
    try:
        tree: Tree = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return tree
