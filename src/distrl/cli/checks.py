"""The doctor's checks. A check returns a finding and never raises, whatever is wrong with the machine."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Literal

from distrl.config import Config
from distrl.store import provenance

MINIMUM_PYTHON = (3, 11)
MINIMUM_DISK_GB = 2
MINIMUM_MEMORY_GB = 4
ASK_S = 5.0


@dataclass(frozen=True, slots=True)
class Finding:
    name: str
    status: Literal["ok", "warn", "missing"]
    """warn: the quickstart runs without it. missing: it does not run."""
    detail: str
    mend: str = ""
    """What to do; empty when nothing needs doing."""


def check_machine(config: Config, deep: bool = False) -> list[Finding]:
    """All findings for a run of this config, in the order in which to fix them."""
    machine = [python(), cores(), memory(), disk(), threads(), gpu(), precision(config)]
    programs = [
        *(library(name) for name in ("torch", "transformers", "ray")),
        adb(),
        *android(config, deep),
        chromium(),
    ]
    ours = [pocket(), phone(), *judge(config), *([local_ray()] if deep else [])]
    return machine + programs + ours


def python() -> Finding:
    found = platform.python_version()
    if sys.version_info < MINIMUM_PYTHON:
        return Finding("python", "missing", found, "Install Python 3.11 or 3.12 and make the environment again.")
    return Finding("python", "ok", found)


def cores() -> Finding:
    count = os.cpu_count() or 1
    if count < 2:
        return Finding(
            "cores", "warn", str(count), "With one core workers and learner share it; expect half the speed."
        )
    return Finding("cores", "ok", str(count))


def memory() -> Finding:
    gigabytes = float(provenance.hardware()["memory_gb"])
    if gigabytes < MINIMUM_MEMORY_GB:
        return Finding("memory", "warn", f"{gigabytes:.1f} GB", "Lower devices.per_worker and runtime.object_store_mb.")
    return Finding("memory", "ok", f"{gigabytes:.1f} GB")


def disk(folder: Path = Path()) -> Finding:
    gigabytes = shutil.disk_usage(folder).free / 2**30
    if gigabytes < MINIMUM_DISK_GB:
        return Finding("disk", "warn", f"{gigabytes:.1f} GB free", "Free some, or point run.folder at another disk.")
    return Finding("disk", "ok", f"{gigabytes:.0f} GB free")


def library(name: str) -> Finding:
    try:
        return Finding(name, "ok", metadata.version(name))
    except metadata.PackageNotFoundError:
        return Finding(name, "missing", "not installed", f"`pip install {name}`, or `make setup` in a clone.")


def threads() -> Finding:
    """Processes that each use all cores slow each other down; ours use one thread each."""
    wanted = os.environ.get("OMP_NUM_THREADS", "")
    if wanted.isdigit() and int(wanted) > (os.cpu_count() or 1):
        return Finding("threads", "warn", f"OMP_NUM_THREADS={wanted}", f"Set it to {(os.cpu_count() or 1)} at most.")
    return Finding("threads", "ok", f"OMP_NUM_THREADS={wanted}" if wanted else "one per process, set by us")


def gpu() -> Finding:
    found = provenance.hardware()["gpus"]
    if not found:
        return Finding("gpu", "warn", "none", "The pocket model needs none; a big model does.")
    return Finding("gpu", "ok", "; ".join(found))


def precision(config: Config) -> Finding:
    """bfloat16 halves GPU memory; on a CPU it is slower, and on some virtual machines it crashes the process."""
    dtype = config.policy.dtype
    if dtype == "float32":  # works everywhere; avoids importing torch
        return Finding("precision", "ok", dtype)
    devices = {"policy.device": config.policy.device, "learner.device": config.learner.device}
    try:
        from distrl.runtime.preflight import processor

        on_cpu = [f"{key}={device}" for key, device in devices.items() if processor(device) == "cpu"]
    except (ImportError, RuntimeError) as error:
        return Finding(
            "precision", "missing", str(error), f"Install torch, and set {' and '.join(devices)} to auto, cpu or cuda."
        )
    if not on_cpu:
        return Finding("precision", "ok", dtype)
    return Finding(
        "precision",
        "warn",
        f"{dtype} on a CPU ({', '.join(on_cpu)})",
        f"Set policy.dtype=float32. On a CPU {dtype} is slower, and on a virtual machine that reports AMX and does not "
        "grant it the process ends with an illegal instruction. Or put policy and learner on a GPU.",
    )


def adb() -> Finding:
    """The adb program and its version; starts no server."""
    path = shutil.which("adb")
    if path is None:
        mend = "Only real or emulated Android needs it: `sudo apt install adb`, or install Android's platform-tools."
        return Finding("adb", "warn", "not on PATH; where it is needed, that of adbutils is used", mend)
    try:
        said = subprocess.run([path, "version"], capture_output=True, text=True, timeout=ASK_S).stdout
    except (OSError, subprocess.TimeoutExpired) as error:
        return Finding("adb", "warn", f"{path} does not run: {error}", "Install Android's platform-tools anew.")
    version = next((line.split()[-1] for line in said.splitlines() if line.startswith("Version")), "an old version")
    return Finding("adb", "ok", f"{version}, {path}")


def android(config: Config, deep: bool) -> list[Finding]:
    """What phones and emulators need, if the config uses them or with `deep`."""
    scheme = config.devices.address.partition(":")[0]
    if scheme not in ("adb", "avd") and not deep:
        return []
    from distrl.cli.android import emulators, phones

    return emulators(config.devices.address, deep) + phones(config.devices.address, deep)


def chromium() -> Finding:
    names = ("chromium", "chromium-browser", "google-chrome", "chrome")
    return _program("chromium", names, "Only browser devices need it: install Chromium with your package manager.")


def _program(name: str, commands: tuple[str, ...], mend: str) -> Finding:
    for command in commands:
        if path := shutil.which(command):
            return Finding(name, "ok", path)
    return Finding(name, "warn", "not on PATH", mend)


def pocket() -> Finding:
    """The weights that ship with the package, verified by checksum."""

    def look() -> str:
        from distrl.runtime.preflight import verify_pocket

        return verify_pocket()

    return _attempt("pocket", look, "The file is damaged or was not fetched: get it again, or make it by `distrl sft`.")


def phone() -> Finding:
    """A simulated phone resets and renders."""

    def look() -> str:
        from distrl.runtime.preflight import render_phone

        screen = render_phone()
        return f"sim://phone draws {screen.width}x{screen.height}"

    return _attempt("phone", look, "Reinstall the package: its fonts or its apps are incomplete.")


def judge(config: Config) -> list[Finding]:
    """The VLM judge, if there is one: whether its endpoint answers and its API key is set. The key is not shown."""
    if config.judge.kind == "rules":
        return []

    def look() -> str:
        from distrl.runtime.preflight import reach_judge

        return reach_judge(config)

    variable = getattr(config.judge, "key_env", "that judge.key_env names")
    mend = f"Set judge.url and judge.model, and put the key into the environment variable {variable}."
    return [_attempt("judge", look, mend)]


def local_ray() -> Finding:
    def look() -> str:
        from distrl.runtime.preflight import start_ray

        return start_ray()

    return _attempt("local ray", look, "See what Ray printed above; /dev/shm may be too small, or a port blocked.")


def _attempt(name: str, look: Callable[[], str], mend: str) -> Finding:
    try:
        return Finding(name, "ok", look())
    except Exception as error:  # any error is reported as a finding, and the other checks go on
        return Finding(name, "missing", f"{type(error).__name__}: {error}", mend)
