"""Provenance of a run: code, libraries, hardware, seeds, command, date."""

from __future__ import annotations

import hashlib
import os
import platform
import subprocess
from collections.abc import Sequence
from datetime import datetime
from importlib import metadata
from pathlib import Path

from distrl.types import Tree

LIBRARIES = (
    "distrl",
    "msgpack",
    "numpy",
    "pillow",
    "pydantic",
    "ray",
    "safetensors",
    "tensorboardX",
    "tokenizers",
    "torch",
    "transformers",
)
PACKAGE = Path(__file__).resolve().parents[1]


def describe(*, seed: int, command: Sequence[str], date: datetime) -> Tree:
    """The content of `meta.json`. Holds no environment variables, so no secret can be in it."""
    return {
        "code": code_version(),
        "libraries": {name: version for name in LIBRARIES if (version := _version(name))},
        "python": platform.python_version(),
        "hardware": hardware(),
        "seed": seed,
        "command": list(command),
        "date": date.isoformat(timespec="seconds"),
    }


def code_version() -> str:
    """The commit of this package's checkout, with `+changes` if files were edited; else its version number."""
    commit = _git("rev-parse", "HEAD")
    if not commit:
        return _version("distrl")
    return commit + ("+changes" if _git("status", "--porcelain", "--untracked-files=no", "--", ".") else "")


def code_digest() -> str:
    """SHA-256 over this package's source files: equal on two machines that run the same code."""
    total = hashlib.sha256()
    for path in sorted(PACKAGE.rglob("*.py"), key=lambda path: path.relative_to(PACKAGE).as_posix()):
        total.update(f"{path.relative_to(PACKAGE).as_posix()}\n".encode())
        total.update(hashlib.sha256(path.read_bytes()).digest())
    return total.hexdigest()


def hardware() -> Tree:
    return {
        "machine": platform.machine(),
        "system": platform.platform(terse=True),
        "processor": _line_of(Path("/proc/cpuinfo"), "model name") or platform.processor(),
        "cpus": os.cpu_count() or 0,
        "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1),
        "gpus": [_line_of(path, "Model") for path in sorted(Path("/proc/driver/nvidia/gpus").glob("*/information"))],
    }


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return ""


def _git(*arguments: str) -> str:
    """Output of a git command, or an empty string outside a checkout of this package or without git."""
    try:
        tracked = ["git", "-C", str(PACKAGE), "ls-files", "--error-unmatch", "types.py"]
        subprocess.run(tracked, check=True, capture_output=True, timeout=10)
        done = subprocess.run(
            ["git", "-C", str(PACKAGE), *arguments], check=True, capture_output=True, text=True, timeout=10
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip()


def _line_of(path: Path, key: str) -> str:
    try:
        lines = path.read_text(errors="replace").splitlines()
    except OSError:
        return ""
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith(key) and ":" in line), "")
