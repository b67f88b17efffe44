"""Served phones in processes of their own, so that their CPU time is not charged to the process that is measured.

`python -m distrl.bench._phone_processes COUNT DEVICE SEED` serves until its standard input closes, so also until its
parent is killed.
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
    """Addresses for `adb connect` of `count` phones spread over `processes` processes. They end with the block."""
    shares = [share for k in range(processes) if (share := len(range(k, count, processes)))]
    with ExitStack() as stack:
        servers = [stack.enter_context(_server(share, device, seed + k)) for k, share in enumerate(shares)]
        yield [address for server, share in zip(servers, shares, strict=True) for address in _addresses(server, share)]


@contextmanager
def _server(phones: int, device: str, seed: int) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", __name__, str(phones), device, str(seed)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdin is not None
    try:
        yield process
    finally:
        process.stdin.close()
        process.wait(STOP_S)


def _addresses(server: subprocess.Popen[str], phones: int) -> list[str]:
    assert server.stdout is not None
    printed = [server.stdout.readline().strip() for _ in range(phones)]
    if not all(printed):
        raise DeviceError(f"No {phones} phones could be served; see above. Try `distrl phone --phones {phones}`.")
    return printed


async def _serve(phones: int, device: str, seed: int) -> None:
    from distrl.phone_server.phone import PhoneModel
    from distrl.phone_server.server import PhoneGroup

    async with PhoneGroup(PhoneModel(device, seed), 0, phones) as rack:
        print(*rack.addresses, sep="\n", flush=True)
        await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(_serve(int(sys.argv[1]), sys.argv[2], int(sys.argv[3])))
