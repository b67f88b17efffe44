"""This machine as a node of somebody's Ray: what `ray.init` does for a head, for one that joins.

`ray start` would do it too, but takes a loopback address for a mistake and outlives a process that is killed. These
processes end with ours.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping
from pathlib import Path

import ray
from ray._private import worker as ray_worker
from ray._private.node import Node
from ray._private.parameter import RayParams
from ray._private.services import get_node_ip_address
from ray.job_config import JobConfig

from distrl.errors import CannotJoin
from distrl.ports import LOOPBACK
from distrl.runtime.ray.cluster import environment, read_environment_again

AUTO = "auto"
"""Address of the node that runs on this machine already."""
OBJECT_STORE_MB = 512
"""Shared memory of a node that joins: it holds one version of the weights and what is being delivered."""


TOO_SLOW = "timed out during startup"
"""How Ray says that its processes took longer than half a minute to start, on a machine that is busy."""


WRONG_TOKEN = "InvalidAuthToken"


class TooSlow(Exception):
    """The node may start next time."""


def start_node(
    address: str, token: Path | None, resources: Mapping[str, float], listen: str | None, folder: Path
) -> str:
    """Join the Ray at this address with a node of our own, connected to it; returns its id. `ray.shutdown` ends both.

    `folder` is for its sockets and logs. Raises `CannotJoin`, or `TooSlow` when another try may help.
    """
    host = address.rpartition(":")[0]
    here = listen or (LOOPBACK if host in (LOOPBACK, "localhost") else None)
    os.environ.update(environment(token, here or host))
    read_environment_again()
    parameters = RayParams(
        node_ip_address=here or get_node_ip_address(address),
        gcs_address=address.replace("localhost", LOOPBACK),
        resources=dict(resources),
        object_store_memory=OBJECT_STORE_MB * 2**20,
        temp_dir=str(folder),
        include_log_monitor=False,
    )
    try:
        node = ray_worker._global_node = Node(parameters, head=False, shutdown_at_exit=False, spawn_reaper=True)
        ray_worker.connect(node, node.session_name, mode=ray_worker.SCRIPT_MODE, job_config=JobConfig())
    except Exception as error:  # Ray raises bare exceptions here, for other versions of Ray and Python too
        if TOO_SLOW in str(error):
            raise TooSlow from error
        if WRONG_TOKEN in str(error):
            raise CannotJoin(
                f"The training at {address} does not know this token. Copy its token here again."
            ) from error
        raise CannotJoin(f"Ray at {address} does not take this machine: {error}") from error
    return str(node.node_id)


def use_node(token: Path | None) -> str:
    """Connect to the Ray node that runs on this machine already; returns its id. Raises `CannotJoin`."""
    if token is not None:
        os.environ.update({"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN_PATH": str(token)})
    try:
        ray.init(address=AUTO, log_to_driver=False, logging_level="ERROR")
    except (ConnectionError, RuntimeError) as error:
        raise CannotJoin(f"No Ray node runs on this machine: {error}") from error
    return str(ray.get_runtime_context().get_node_id())


def answers(address: str, wait_s: float = 2.0) -> bool:
    """Whether anything listens there. Asked before Ray is: it would wait for a minute and then end our process."""
    host, _, port = address.rpartition(":")
    try:
        with socket.create_connection((host, int(port)), timeout=wait_s):
            return True
    except OSError:
        return False
