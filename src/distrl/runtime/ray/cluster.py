"""A Ray of our own on loopback, with a token, or somebody's cluster.

Ray trusts whoever may talk to it. The one we start listens on 127.0.0.1 only, unless `runtime.listen` says otherwise,
asks for a token that lies in a private file (0600), and ends with us. On a cluster the same holds only if its owner has
seen to it.
"""

from __future__ import annotations

import os
import secrets
import shutil
import tempfile
from pathlib import Path
from typing import Any

import ray
from ray._private import ray_constants

from distrl.config import RuntimeConfig
from distrl.errors import ConfigError
from distrl.ports import LOOPBACK

LOCAL = "local"
PREFIX = "distrl-"
TRACE = ".ray"
"""File in the run folder that names the private folder of its Ray, so that a killed run's can be swept away."""
JOIN = "join.txt"
"""File in the run folder with the command that other machines join with."""


def environment(token: Path | None, listen: str, port: int | None = None) -> dict[str, str]:
    """What a Ray of ours is started with, here or on a machine that joins; without a token, the user's own counts."""
    authentication = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN_PATH": str(token)} if token else {}
    return {
        **authentication,
        "RAY_GCS_SERVER_PORT": str(port or 0),  # 0: any that is free
        "RAY_USAGE_STATS_ENABLED": "0",
        # The name is historical: without clusters Ray binds every port to loopback, on every system.
        "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0" if listen == LOOPBACK else "1",
        # Ray would add 15: on a busy machine its processes then wait for everybody else's. Who wants that says `nice`.
        "RAY_worker_niceness": "0",
        "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",  # a process without reserved GPUs may still use what is there
        "OMP_NUM_THREADS": os.environ.get("OMP_NUM_THREADS", "1"),
    }


def cores() -> int:
    """How many this process may use: fewer than the machine has when somebody has shared them out."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Cluster:
    """Ray, connected. Close it: a Ray of our own ends, somebody's cluster loses only what we started on it."""

    def __init__(self, config: RuntimeConfig, run_folder: Path, namespace: str) -> None:
        self._trace = run_folder / TRACE
        self._private: Path | None = None
        self._token: Path | None = None
        """A token of our making, which ends with us."""
        self.join_command = ""
        """What somebody types on another machine to join; empty where nobody may."""
        if config.address == LOCAL:
            self._start(config, namespace)
        else:
            _join(config.address, namespace)

    def close(self) -> None:
        ray.shutdown()
        for mine in (self._token, self._trace.with_name(JOIN)) if self._private else ():
            if mine is not None:
                mine.unlink(missing_ok=True)
        if self._private is not None:
            shutil.rmtree(self._private, ignore_errors=True)
            self._trace.unlink(missing_ok=True)

    def _start(self, config: RuntimeConfig, namespace: str) -> None:
        sweep(self._trace)
        # Sockets lie in this folder and their paths may have 107 characters: a run folder could be too deep for them.
        self._private = Path(tempfile.mkdtemp(prefix=PREFIX))
        self._trace.write_text(str(self._private))
        listen = config.listen or LOOPBACK
        token = self._open_token(config)
        os.environ.update(environment(token, listen, config.port))
        read_environment_again()
        _init(
            address=LOCAL,
            namespace=namespace,
            num_cpus=max(2, cores()),
            include_dashboard=False,
            object_store_memory=max(80, config.object_store_mb) * 2**20,  # Ray refuses less than 75 MB
            _node_ip_address=listen,
            _temp_dir=str(self._private / "ray"),
        )
        if config.listen:
            address = ray.get_runtime_context().gcs_address
            self.join_command = f"distrl worker --address {address} --token {token}"
            self._trace.with_name(JOIN).write_text(f"{self.join_command}\n")

    def _open_token(self, config: RuntimeConfig) -> Path:
        """The user's token; or a new one, in the run folder where others may join, out of everybody's way elsewhere."""
        if config.token is not None:
            check_token(config.token)
            return config.token.absolute()
        assert self._private is not None
        self._token = self._trace.with_name("token") if config.listen else self._private / "token"
        self._token.unlink(missing_ok=True)  # of a run that was killed
        write_token(self._token)
        return self._token


def check_token(path: Path) -> None:
    """Ray ends the process that gives it no token. Raises `ConfigError` before."""
    try:
        mode, text = path.stat().st_mode, path.read_text().strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"The token {path} cannot be read: {error}") from error
    if not text:
        raise ConfigError(f"The token {path} is empty. Copy the training's token there again.")
    if mode & 0o077:
        raise ConfigError(f"Others can read the token {path}. Say `chmod 600 {path}` first.")


def write_token(path: Path) -> None:
    """A new secret that only this user can read."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(secrets.token_hex(32))


def sweep(trace: Path) -> None:
    """Remove the private folder of a run that was killed; never anything that we did not make."""
    if not trace.is_file():
        return
    left = Path(trace.read_text().strip())
    if left.parent == Path(tempfile.gettempdir()) and left.name.startswith(PREFIX):
        shutil.rmtree(left, ignore_errors=True)
    trace.unlink()


def _join(address: str, namespace: str) -> None:
    try:
        _init(address=address, namespace=namespace)
    except (ConnectionError, ValueError, RuntimeError) as error:
        raise ConfigError(
            f"No Ray cluster can be joined at {address!r}: {error} "
            "Check runtime.address, or say runtime.address=local to start one on this machine."
        ) from error


def _init(**settings: Any) -> None:
    ray.init(log_to_driver=False, logging_level="ERROR", **settings)


def read_environment_again() -> None:
    """Ray reads its environment when it is imported, which may be long ago; what we have set since must count."""
    raylet: Any = ray._raylet
    ray_constants.ENABLE_RAY_CLUSTER = os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] == "1"
    raylet.Config.initialize("")
    raylet.AuthenticationTokenLoader.instance().reset_cache()
