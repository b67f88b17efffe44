"""Served phones in processes of their own, so that what they burn is not burnt by whoever is measured.

python -m distrl.bench._phones COUNT DEVICE SEED     until its standard input closes, so also when we are killed
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from distrl.errors import DeviceError

STOP_S = 30.0


@contextmanager
def served_phones(count: int, processes: int, device: str, seed: int) -> Iterator[list[str]]:
    """What `adb connect` takes, of `count` phones spread over `processes` processes. They end with the block."""
    shares = [share for k in range(processes) if (share := len(range(k, count, processes)))]
    with ExitStack() as stack:
        racks = [stack.enter_context(_rack(share, device, seed + k)) for k, share in enumerate(shares)]
        yield [address for rack, share in zip(racks, shares, strict=True) for address in _addresses(rack, share)]


@contextmanager
def _rack(phones: int, device: str, seed: int) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", __name__, str(phones), device, str(seed)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdin is not None
    try:
        yield process
    finally:
        process.stdin.close()
        process.wait(STOP_S)


def _addresses(rack: subprocess.Popen[str], phones: int) -> list[str]:
    assert rack.stdout is not None
    said = [rack.stdout.readline().strip() for _ in range(phones)]
    if not all(said):
        raise DeviceError(f"No {phones} phones could be served; see above. Try `distrl phone --phones {phones}`.")
    return said


async def _serve(phones: int, device: str, seed: int) -> None:
    from distrl.phone_server.phone import PhoneModel
    from distrl.phone_server.server import PhoneGroup

    async with PhoneGroup(PhoneModel(device, seed), 0, phones) as rack:
        print(*rack.addresses, sep="\n", flush=True)
        await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(_serve(int(sys.argv[1]), sys.argv[2], int(sys.argv[3])))
