"""Served phones in processes of their own, so that what they burn is not burnt by whoever is measured."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from distrl.errors import DeviceError

SERVE = (sys.executable, "-m", "distrl.cli.main", "phone", "--adb-port", "0")
PLUGGED_IN = "adb connect "
STOP_S = 10.0


@contextmanager
def served_phones(count: int, processes: int, device: str, seed: int) -> Iterator[list[str]]:
    """What `adb connect` takes, of `count` phones spread over `processes` processes. They end with the block."""
    shares = [share for k in range(processes) if (share := len(range(k, count, processes)))]
    with ExitStack() as stack:
        racks = [stack.enter_context(_rack(share, device, seed + k)) for k, share in enumerate(shares)]
        yield [address for rack, share in zip(racks, shares, strict=True) for address in _addresses(rack, share)]


@contextmanager
def _rack(phones: int, device: str, seed: int) -> Iterator[subprocess.Popen[str]]:
    command = [*SERVE, "--phones", str(phones), "--device", device, "--seed", str(seed)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _addresses(rack: subprocess.Popen[str], phones: int) -> list[str]:
    assert rack.stdout is not None
    said = [rack.stdout.readline() for _ in range(phones)]
    if not all(line.startswith(PLUGGED_IN) for line in said):
        raise DeviceError(f"`distrl phone` served no {phones} phones but said {said!r}. Try it alone.")
    return [line.removeprefix(PLUGGED_IN).strip() for line in said]
