"""A Ray node on this machine: the processes that `ray start` starts. They end with ours."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

from distrl.errors import CannotJoin
from distrl.ports import LOOPBACK
from distrl.runtime.ray.environment import of_node

OBJECT_STORE_MB = 512
"""Shared memory of a node that joins: it holds one version of the weights and what is being delivered."""
COMMAND = Path(__file__).with_name("start_command.py")
STARTED = "ray_current_cluster"
"""File that `ray start` writes into its folder once the node is up: the address of the head."""
START_S = 300.0
"""Ray gives up after half a minute or a few of them; this is for a Ray that hangs."""
POLL_S = 0.05
END_S = 15.0
"""Longer than the child gives Ray before it ends without it."""
LAST_LINES = 12
TOO_SLOW = "timed out during startup"
"""How Ray says that its processes took longer than half a minute to start, on a machine that is busy."""
WRONG_TOKEN = "InvalidAuthToken"
LOOPBACKS = (LOOPBACK, "localhost")


class TooSlow(Exception):
    """The node may start next time."""


class RayNotStarted(Exception):
    """With what Ray said."""


class WrongToken(RayNotStarted):
    """The Ray to join has another token."""


class RayNode:
    """Starts the node and waits until it is up. Raises `RayNotStarted` with what Ray said, or `TooSlow`.

    `folder` is for its sockets and logs, and does not exist yet.
    """

    def __init__(self, options: Sequence[str], environment: Mapping[str, str], folder: Path) -> None:
        folder.mkdir()
        self._log = folder / "start.log"
        self._started = folder / STARTED
        with self._log.open("w") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-P", str(COMMAND), "--temp-dir", str(folder), *_common_options(), *options],
                env=dict(environment),
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # Ctrl-C in the terminal is ours to hear; Ray ends when we are done
            )
        try:
            self.address = self._wait()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """End the node's processes, and wait for that. No signal is sent: the child ends itself."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(END_S)

    def _wait(self) -> str:
        deadline = time.monotonic() + START_S
        while time.monotonic() < deadline:
            ended = self._process.poll() is not None
            if self._started.is_file() and (address := self._started.read_text().strip()):
                return address
            if ended:
                break
            time.sleep(POLL_S)
        said = self._log.read_text(errors="replace")
        if TOO_SLOW in said:
            raise TooSlow
        raise (WrongToken if WRONG_TOKEN in said else RayNotStarted)(last_lines(self._log))


def last_lines(log: Path) -> str:
    """What a process said before it ended."""
    return "\n".join(log.read_text(errors="replace").splitlines()[-LAST_LINES:])


def _common_options() -> list[str]:
    # 0: any port that is free. Ray's own choice is a fixed range, which nodes on one machine would fight for.
    options = ["--min-worker-port", "0", "--max-worker-port", "0", "--include-log-monitor", "False"]
    if find_spec("grpc") is not None:  # with it Ray would also serve Ray Client, at a fixed port; 0: it does not
        options += ["--ray-client-server-port", "0"]
    return options


def start_node(
    address: str, token: Path | None, resources: Mapping[str, float], listen: str | None, folder: Path
) -> RayNode:
    """Join the Ray at this address with a node of our own. Raises `CannotJoin`, or `TooSlow`."""
    head, (host, _, port) = address, address.rpartition(":")
    environment = of_node(token, cluster=True)
    options = ["--resources", json.dumps(dict(resources)), "--object-store-memory", str(OBJECT_STORE_MB * 2**20)]
    if listen not in (None, *LOOPBACKS):
        options += ["--node-ip-address", listen]
    if host in LOOPBACKS:
        # For 127.0.0.1 `ray start` would take this machine's address on the network. Spelled so, it is left alone, and
        # the node that joins gets the address that the other end sees: 127.0.0.1. Ray's default resolver, unlike the
        # system's, does not know the spelling.
        head = f"127.1:{port}"
        environment["GRPC_DNS_RESOLVER"] = "native"
    try:
        return RayNode(["--address", head, *options], environment, folder)
    except WrongToken as error:
        raise CannotJoin(f"The training at {address} does not know this token. Copy its token here again.") from error
    except RayNotStarted as error:
        raise CannotJoin(f"Ray at {address} does not take this machine: {error}") from error
