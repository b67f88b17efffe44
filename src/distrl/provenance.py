"""What a figure or a run was made with: code, libraries, machine. Standard library only, so that it costs nothing."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from importlib import metadata
from pathlib import Path
from typing import Any

import distrl

LIBRARIES = ("torch", "transformers", "ray", "numpy", "pillow", "pydantic", "safetensors", "tokenizers", "msgpack")


def provenance() -> dict[str, Any]:
    """{"versions": {…}, "hardware": {…}}, plain data."""
    return {"versions": versions(), "hardware": hardware()}


def versions() -> dict[str, str]:
    known = {"distrl": distrl.__version__, "commit": commit(), "python": platform.python_version()}
    return known | {name: version(name) for name in LIBRARIES}


def version(library: str) -> str:
    """Installed version, or an empty string. The library is not imported."""
    try:
        return metadata.version(library)
    except metadata.PackageNotFoundError:
        return ""


def commit() -> str:
    """Commit of the source tree, with `+` where files differ from it; empty outside a clone."""
    source = Path(distrl.__file__).parent
    if not (source.parents[1] / ".git").exists():
        return ""
    head = _output("git", "-C", str(source), "rev-parse", "HEAD")
    changed = _output("git", "-C", str(source), "status", "--porcelain", "--", str(source))
    return head + ("+" if head and changed else "")


def hardware() -> dict[str, Any]:
    return {
        "system": platform.platform(),
        "processor": processor(),
        "cores": cores(),
        "memory_gb": round(memory_bytes() / 2**30, 1),
        "gpus": gpus(),
    }


def cores() -> int:
    """Cores this process may use, which can be fewer than the machine has."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def memory_bytes() -> int:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.machine())


def gpus() -> list[str]:
    """Names of the NVIDIA GPUs, as the driver gives them."""
    if not shutil.which("nvidia-smi"):
        return []
    return _output("nvidia-smi", "--query-gpu=name,memory.total", "--format=csv,noheader").splitlines()


def _output(*command: str) -> str:
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=10, check=True).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return ""
