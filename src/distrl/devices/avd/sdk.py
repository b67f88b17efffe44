"""Finds the Android SDK of this machine and its AVDs."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from distrl.errors import NoEmulator, nearest

USUAL_ROOTS = ("~/Android/Sdk", "~/Library/Android/sdk", "/opt/android-sdk", "/usr/lib/android-sdk")
KVM = Path("/dev/kvm")
ASK_S = 10.0
GET_SDK = "Install Android's command line tools, then `sdkmanager emulator platform-tools` (docs/android.md)"
MAKE_AVD = (
    "`sdkmanager 'system-images;android-34;google_apis;x86_64'`, then "
    "`avdmanager create avd -n {name} -k 'system-images;android-34;google_apis;x86_64' -d pixel_7`"
)


@dataclass(frozen=True, slots=True)
class Sdk:
    root: Path
    emulator: Path


@dataclass(frozen=True, slots=True)
class Avd:
    """A virtual device that the user has made."""

    name: str
    home: Path
    """The folder with its .ini file."""
    folder: Path

    @property
    def key(self) -> str:
        """Unique also among AVDs of the same name in other folders."""
        return f"{self.name}-{hashlib.sha256(str(self.folder.resolve()).encode()).hexdigest()[:8]}"

    @property
    def snapshots(self) -> tuple[str, ...]:
        return tuple(sorted(path.name for path in self.folder.glob("snapshots/*") if path.is_dir()))


def find_sdk(environment: Mapping[str, str] = os.environ) -> Sdk:
    """The first SDK that has an emulator. Raises `NoEmulator`."""
    named = [environment.get(variable, "") for variable in ("ANDROID_HOME", "ANDROID_SDK_ROOT")]
    for root in (Path(text).expanduser() for text in (*named, *USUAL_ROOTS) if text):
        emulator = root / "emulator" / "emulator"
        if os.access(emulator, os.X_OK) and emulator.is_file():
            return Sdk(root, emulator)
    if (program := shutil.which("emulator", path=environment.get("PATH"))) is not None:
        return Sdk(Path(program).resolve().parents[1], Path(program))
    given = next((text for text in named if text), "")
    where = f"ANDROID_HOME={given} holds no emulator/emulator" if given else "ANDROID_HOME is not set"
    raise NoEmulator(f"There is no Android Emulator on this machine: {where}. {GET_SDK}, and set ANDROID_HOME.")


def check_acceleration(sdk: Sdk) -> str:
    """Describes the hardware acceleration. Raises `NoEmulator` with what to do where there is none."""
    if os.access(KVM, os.R_OK | os.W_OK):
        return f"{KVM} is there and yours"
    try:
        answer = subprocess.run([str(sdk.emulator), "-accel-check"], capture_output=True, text=True, timeout=ASK_S)
        if answer.returncode == 0:
            return " ".join(answer.stdout.split())
    except (OSError, subprocess.TimeoutExpired):
        pass  # no answer either
    if KVM.exists():
        raise NoEmulator(f"{KVM} is there and not yours. `sudo gpasswd -a $USER kvm`, then log in again.")
    raise NoEmulator(
        f"There is no {KVM}, and without it an emulator crawls or refuses to start. Switch on virtualisation in this "
        "machine's firmware; on a virtual machine, nested virtualisation where it is hosted. `kvm-ok` tells more."
    )


@lru_cache
def known_options(emulator: Path) -> frozenset[str]:
    """The options that its help lists: versions differ, and an unknown option stops the start."""
    try:
        answer = subprocess.run(
            [str(emulator), "-help"], capture_output=True, text=True, errors="replace", timeout=ASK_S
        )
    except (OSError, subprocess.TimeoutExpired):
        return frozenset()
    words = (line.split() for line in (answer.stdout + answer.stderr).splitlines())
    return frozenset(line[0] for line in words if line and line[0].startswith("-"))


def find_avds(environment: Mapping[str, str] = os.environ) -> dict[str, Avd]:
    """Name → AVD, in the order in which the emulator looks for them."""
    found: dict[str, Avd] = {}
    for home in _homes(environment):
        for ini in sorted(home.glob("*.ini")):
            folder = _folder(ini)
            if folder is not None:
                found.setdefault(ini.stem, Avd(ini.stem, home, folder))
    return found


def find_avd(name: str, snapshot: str = "", environment: Mapping[str, str] = os.environ) -> Avd:
    """Raises `NoEmulator` where it, or its snapshot, does not exist."""
    avds = find_avds(environment)
    if name not in avds:
        known = ", ".join(avds) or "none"
        raise NoEmulator(
            f"There is no AVD {name!r}.{nearest(name, avds)} Known: {known}. Make it with {MAKE_AVD.format(name=name)}."
        )
    avd = avds[name]
    if snapshot and snapshot not in avd.snapshots:
        known = ", ".join(avd.snapshots) or "none"
        raise NoEmulator(
            f"AVD {name!r} has no snapshot {snapshot!r}.{nearest(snapshot, avd.snapshots)} Known: {known}. Start it "
            f"with `emulator -avd {name} -gpu swiftshader_indirect`, set it up, and save one with "
            f"`adb emu avd snapshot save {snapshot}`."
        )
    return avd


def _homes(environment: Mapping[str, str]) -> Iterator[Path]:
    if environment.get("ANDROID_AVD_HOME"):
        yield Path(environment["ANDROID_AVD_HOME"])
        return
    for variable, below in (
        ("ANDROID_USER_HOME", "avd"), ("ANDROID_EMULATOR_HOME", "avd"), ("ANDROID_SDK_HOME", ".android/avd"),
        ("HOME", ".android/avd"), ("XDG_CONFIG_HOME", ".android/avd"),
    ):  # fmt: skip
        if environment.get(variable):
            yield Path(environment[variable]) / below


def _folder(ini: Path) -> Path | None:
    """The folder that an .ini file names, or the one beside it if the AVD home was moved."""
    try:
        lines = ini.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return None
    named = next((line.partition("=")[2].strip() for line in lines if line.partition("=")[0].strip() == "path"), "")
    for folder in (Path(named), ini.with_suffix(".avd")) if named else (ini.with_suffix(".avd"),):
        if (folder / "config.ini").is_file():
            return folder
    return None
