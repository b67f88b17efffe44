"""Writes an Android SDK folder with one AVD, whose emulator is the stand-in."""

from __future__ import annotations

import shlex
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

import distrl
from distrl.errors import ConfigError

CONFIG = {
    "AvdId": "{name}",
    "PlayStore.enabled": "no",
    "abi.type": "x86_64",
    "avd.ini.displayname": "{name}",
    "hw.lcd.height": "384",
    "hw.lcd.width": "192",
    "hw.ramSize": "2048",
    "image.sysdir.1": "system-images/android-34/distrl/x86_64/",
    "distrl.device": "{device}",
}
LAUNCHER = '#!/bin/sh\nPYTHONPATH={source} exec {python} -m distrl.phone_server.emulator "$@"\n'


@dataclass(frozen=True, slots=True)
class StandInSdk:
    root: Path

    @property
    def avd_home(self) -> Path:
        return self.root / "avd"

    @property
    def environment(self) -> dict[str, str]:
        """Environment variables for programs that start emulators."""
        return {"ANDROID_HOME": str(self.root), "ANDROID_AVD_HOME": str(self.avd_home)}


def write_sdk(root: Path, name: str, device: str = "sim://phone") -> StandInSdk:
    """Write or update it. Raises `ConfigError` for a folder with other contents."""
    sdk = StandInSdk(root.absolute())
    emulator = sdk.root / "emulator" / "emulator"
    if sdk.root.exists() and any(sdk.root.iterdir()) and not _is_ours(emulator):
        raise ConfigError(f"{root} is not empty and no SDK of ours; nothing in it was touched. Name a new folder.")
    emulator.parent.mkdir(parents=True, exist_ok=True)
    source = Path(distrl.__file__).parents[1]
    emulator.write_text(LAUNCHER.format(source=shlex.quote(str(source)), python=shlex.quote(sys.executable)))
    emulator.chmod(0o755)
    _link_adb(sdk.root / "platform-tools" / "adb")
    avd = sdk.avd_home / f"{name}.avd"
    avd.mkdir(parents=True, exist_ok=True)
    lines = "".join(f"{key}={value.format(name=name, device=device)}\n" for key, value in CONFIG.items())
    (avd / "config.ini").write_text(lines, encoding="utf-8")
    ini = f"avd.ini.encoding=UTF-8\npath={avd}\npath.rel=avd/{name}.avd\ntarget=android-34\n"
    (sdk.avd_home / f"{name}.ini").write_text(ini, encoding="utf-8")
    return sdk


def _is_ours(emulator: Path) -> bool:
    return emulator.is_file() and "distrl.phone_server.emulator" in emulator.read_text(errors="replace")


def _link_adb(path: Path) -> None:
    program = shutil.which("adb")
    if program is not None and not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.symlink_to(program)
