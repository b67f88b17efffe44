"""A Ray of our own on loopback, with a token, or somebody's cluster.

Ray trusts whoever may talk to it. The one we start listens on 127.0.0.1 only, unless `runtime.listen` says otherwise,
asks for a token that lies in a private file (0600), and ends with us. On a cluster the same holds only if its owner has
seen to it.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

import ray

from distrl.config import RuntimeConfig
from distrl.errors import ConfigError
from distrl.ports import LOOPBACK
from distrl.runtime.ray.environment import LOCAL as LOCAL
from distrl.runtime.ray.environment import PREFIX, TOKEN_VALUE, prepare, with_token
from distrl.runtime.ray.node import RayNode, RayNotStarted, TooSlow, start_head
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
        self._trace = run_folder / TRACE
        self._folder: Path | None = None
        """Private, with everything of a Ray of our own; null on somebody's cluster."""
        self._token: Path | None = None
        """A token of our making, which ends with us."""
        self._node: RayNode | None = None
        self.join_command = ""
        """What somebody types on another machine to join; empty where nobody may."""
        if config.address == LOCAL:
            self._start(config, namespace)
        else:
            connect(config.address, namespace)

    def close(self) -> None:
        ray.shutdown()
        if self._node is not None:
            self._node.close()
        if self._folder is not None:
            for path in (self._token, self._trace.with_name(JOIN), self._trace):
                if path is not None:
                    path.unlink(missing_ok=True)
            shutil.rmtree(self._folder, ignore_errors=True)

    def _start(self, config: RuntimeConfig, namespace: str) -> None:
        prepare(config)
        sweep(self._trace)
        # Sockets lie in this folder and their paths may have 107 characters: a run folder could be too deep for them.
        self._folder = Path(tempfile.mkdtemp(prefix=PREFIX))
        self._trace.write_text(str(self._folder))
        try:
            token = self._open_token(config)
            os.environ.pop(TOKEN_VALUE, None)
            os.environ.update(with_token(token))
            self._node = start(config, token, self._folder)
            connect(self._node.address, namespace)
        except BaseException:
            self.close()
            raise
        if config.listen:
            self.join_command = f"distrl worker --address {self._node.address} --token {token}"
            self._trace.with_name(JOIN).write_text(f"{self.join_command}\n")

    def _open_token(self, config: RuntimeConfig) -> Path:
        """The user's token; or a new one, in the run folder where others may join, out of everybody's way elsewhere."""
        if config.token is not None:
            use_token(config.token)
            return config.token.absolute()
        assert self._folder is not None
        self._token = (self._trace.with_name("token") if config.listen else self._folder / "token").absolute()
        self._token.unlink(missing_ok=True)  # of a run that was killed
        write_token(self._token)
        return self._token


def start(config: RuntimeConfig, token: Path, folder: Path) -> RayNode:
    """The head of a Ray of our own. Raises `ConfigError` when it does not start."""
    memory = max(80, config.object_store_mb) * 2**20  # Ray refuses less than 75 MB
    for number in range(TRIES):
        try:
            return start_head(
                config.listen or LOOPBACK, config.port or 0, max(2, cores()), memory, token, folder / f"ray{number}"
            )
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
