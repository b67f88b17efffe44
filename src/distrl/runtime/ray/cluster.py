"""A Ray of our own on loopback, with a token, or somebody's cluster.

Ray trusts whoever may talk to it. The one we start listens on 127.0.0.1 only, unless `runtime.listen` says otherwise,
asks for a token that lies in a private file (0600), and ends with us. On a cluster the same holds only if its owner has
seen to it.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from contextlib import ExitStack
from pathlib import Path

import ray

from distrl.config import RuntimeConfig
from distrl.errors import ConfigError
from distrl.ports import LOOPBACK
from distrl.runtime.ray.environment import LOCAL as LOCAL
from distrl.runtime.ray.environment import PREFIX, TOKEN_VALUE, of_node, prepare, with_token
from distrl.runtime.ray.node import RayNode, RayNotStarted, TooSlow
from distrl.runtime.ray.tokens import use_token, write_token

TRACE = ".ray"
"""File in the run folder that names the private folder of its Ray, so that a killed run's can be swept away."""
JOIN = "join.txt"
"""File in the run folder with the command that other machines join with."""
TRIES = 3
"""Ray waits half a minute for its own processes; on a busy machine that may not be enough the first time."""


def cores() -> int:
    """How many this process may use: fewer than the machine has when somebody has shared them out."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Cluster:
    """Ray, connected. Close it: a Ray of our own ends, somebody's cluster loses only what we started on it."""

    def __init__(self, config: RuntimeConfig, run_folder: Path, namespace: str) -> None:
        self.join_command = ""
        """What somebody types on another machine to join; empty where nobody may."""
        with ExitStack() as undo:
            if config.address == LOCAL:
                self._start(config, run_folder, namespace, undo)
            else:
                connect(config.address, namespace)
                undo.callback(ray.shutdown)
            self._undo = undo.pop_all()

    def close(self) -> None:
        self._undo.close()

    def _start(self, config: RuntimeConfig, run_folder: Path, namespace: str, undo: ExitStack) -> None:
        prepare(config)
        trace, join = run_folder / TRACE, run_folder / JOIN
        sweep(trace)
        # Sockets lie in this folder and their paths may have 107 characters: a run folder could be too deep for them.
        folder = Path(tempfile.mkdtemp(prefix=PREFIX))
        undo.callback(shutil.rmtree, folder, ignore_errors=True)
        for path in (trace, join):
            undo.callback(path.unlink, missing_ok=True)
        trace.write_text(str(folder))
        token = open_token(config, run_folder if config.listen else folder, undo)
        os.environ.pop(TOKEN_VALUE, None)
        os.environ.update(with_token(token))
        node = start(config, token, folder)
        undo.callback(node.close)
        undo.callback(ray.shutdown)
        connect(node.address, namespace)
        if config.listen:
            self.join_command = f"distrl worker --address {node.address} --token {token}"
            join.write_text(f"{self.join_command}\n")


def open_token(config: RuntimeConfig, folder: Path, undo: ExitStack) -> Path:
    """The user's token; or a new one in that folder, which ends with us."""
    if config.token is not None:
        use_token(config.token)
        return config.token.absolute()
    token = (folder / "token").absolute()
    token.unlink(missing_ok=True)  # of a run that was killed
    undo.callback(token.unlink, missing_ok=True)
    write_token(token)
    return token


def start(config: RuntimeConfig, token: Path, folder: Path) -> RayNode:
    """The head of a Ray of our own. Raises `ConfigError` when it does not start."""
    listen, cpus = config.listen or LOOPBACK, max(2, cores())
    memory = max(80, config.object_store_mb) * 2**20  # Ray refuses less than 75 MB
    options = ["--head", "--node-ip-address", listen, "--port", str(config.port or 0), "--num-cpus", str(cpus)]
    options += ["--object-store-memory", str(memory), "--include-dashboard", "False"]
    environment = of_node(token, cluster=listen != LOOPBACK)
    for number in range(TRIES):
        try:
            return RayNode(options, environment, folder / f"ray{number}")
        except TooSlow:
            continue
        except RayNotStarted as error:
            raise ConfigError(
                f"Ray does not start on this machine. Its last words:\n{error}\n"
                "Check runtime.listen and runtime.port; `distrl doctor` tries it alone."
            ) from error
    raise ConfigError(f"Ray did not start in {TRIES} × 30 s: this machine is too busy. Start the run again later.")


def connect(address: str, namespace: str) -> None:
    """Make this process a driver of the Ray at that address. Raises `ConfigError`."""
    try:
        ray.init(address=address, namespace=namespace, log_to_driver=False, logging_level="ERROR")
    except (ConnectionError, ValueError, RuntimeError) as error:
        raise ConfigError(
            f"No Ray cluster can be joined at {address!r}: {error} "
            "Check runtime.address, or say runtime.address=local to start one on this machine."
        ) from error


def sweep(trace: Path) -> None:
    """Remove the private folder of a run that was killed; never anything that we did not make."""
    if not trace.is_file():
        return
    left = Path(trace.read_text().strip())
    if left.parent == Path(tempfile.gettempdir()) and left.name.startswith(PREFIX):
        shutil.rmtree(left, ignore_errors=True)
    trace.unlink()
