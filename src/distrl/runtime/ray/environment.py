"""The environment that Ray is imported and started with. Ray reads most of it once, so nothing here imports Ray."""

from __future__ import annotations

import os
import socket
import sys
from pathlib import Path

from distrl.config import RuntimeConfig
from distrl.errors import ConfigError

LOCAL = "local"
AUTO = "auto"
"""Address of the node that runs on this machine already."""
PREFIX = "distrl-"
"""Of the private folders of Rays and nodes that we start."""
AT_IMPORT = {
    "RAY_AUTH_MODE": "token",
    # The name is historical. With 1, Ray replaces 127.0.0.1 in an address by the machine's address on the network.
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",
}
"""What Ray reads while it is imported, as a process needs it that talks to a Ray of ours."""
DEVICES = {"RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0"}
"""A process without reserved GPUs may still use what is there. A driver without this variable is warned about it."""
TOKEN_VALUE = "RAY_AUTH_TOKEN"
"""Ray prefers this variable to the token file."""
ANSWER_S = 2.0


def prepare(config: RuntimeConfig) -> None:
    """Call before Ray is imported. Raises `ConfigError` when that has happened already, with another environment."""
    if config.address != LOCAL:
        return  # somebody's cluster: its owner's environment counts
    given = {name: os.environ.get(name) for name in AT_IMPORT}
    if "ray" in sys.modules and given != AT_IMPORT:
        settings = " ".join(f"{name}={value}" for name, value in AT_IMPORT.items())
        raise ConfigError(
            "Ray was imported before this run could switch its token authentication on, and does not read its "
            f"environment again. Import ray after the run has started, or start Python with {settings}."
        )
    os.environ.update(AT_IMPORT)


def with_token(token: Path) -> dict[str, str]:
    """The variables of a process that talks to a Ray with this token."""
    return {**AT_IMPORT, **DEVICES, "RAY_AUTH_TOKEN_PATH": str(token)}


def of_joining_process(address: str, token: str | None) -> dict[str, str]:
    """The variables of the process that joins the Ray at this address; without a token the user's own count."""
    if token is not None:
        return {TOKEN_VALUE: "", **with_token(Path(token).absolute())}
    return {} if address == AUTO else {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0"}


def of_node(token: Path | None, *, cluster: bool) -> dict[str, str]:
    """The whole environment of `ray start`. Without a token the user's own settings count.

    `cluster`: the node may have an address on the network, or joins another one; else it stays on loopback.
    """
    own = dict(os.environ)
    if token is not None:
        own.pop(TOKEN_VALUE, None)
        own.update(with_token(token))
    return {
        **own,
        "RAY_USAGE_STATS_ENABLED": "0",
        "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "1" if cluster else "0",
        # Ray would add 15: on a busy machine its processes then wait for everybody else's. Who wants that says `nice`.
        "RAY_worker_niceness": "0",
        **DEVICES,
        "OMP_NUM_THREADS": os.environ.get("OMP_NUM_THREADS", "1"),
    }


def answers(address: str) -> bool:
    """Whether anything listens there. Asked before Ray is: it would wait for a minute and then end our process."""
    if address == AUTO:
        return True  # only Ray knows where that is
    host, _, port = address.rpartition(":")
    try:
        with socket.create_connection((host, int(port)), timeout=ANSWER_S):
            return True
    except (OSError, ValueError):  # ValueError: this is no address at all
        return False
