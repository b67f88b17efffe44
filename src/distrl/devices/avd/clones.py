"""A private copy of an AVD without its data, which may be wiped."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from distrl.devices.avd.sdk import Avd


def make_clone(avd: Avd, port: int) -> Avd:
    """The same device with an empty disk; one clone per port, so each has one writer."""
    home = _clones_folder() / f"port-{port}"
    shutil.rmtree(home, ignore_errors=True)
    folder = home / f"{avd.name}.avd"
    folder.mkdir(parents=True)
    shutil.copy(avd.folder / "config.ini", folder / "config.ini")
    ini = (avd.home / f"{avd.name}.ini").read_text(encoding="utf-8")
    lines = [line for line in ini.splitlines() if not line.startswith(("path=", "path.rel="))]
    (home / f"{avd.name}.ini").write_text("\n".join([*lines, f"path={folder}", ""]), encoding="utf-8")
    return Avd(avd.name, home, folder)


def remove_clone(clone: Avd) -> None:
    if clone.home.parent == _clones_folder():
        shutil.rmtree(clone.home, ignore_errors=True)


def _clones_folder() -> Path:
    """In the user's cache folder: a phone's disk has gigabytes, and /tmp may be in memory."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "distrl" / "avd"
