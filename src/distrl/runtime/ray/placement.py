"""Which process runs on which machine: what each asks Ray for, and where it stays.

With a Ray of our own everything stays on this machine, also what starts again: the run folder is here, and other
machines come and go. On a cluster resources decide, except for the host, which never leaves the run folder.
"""

from __future__ import annotations

from typing import Any

import ray
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from distrl.config import RuntimeConfig
from distrl.runtime.ray.actors import HostActor, LearnerActor, WorkerActor
from distrl.runtime.ray.cluster import LOCAL
from distrl.runtime.ray.inference import ServerActor
from distrl.runtime.topology import Builder, topology


class Placement:
    """Starts the processes of one launch. Ray is connected."""

    def __init__(self, builder: Builder) -> None:
        self._builder = builder
        self._runtime: RuntimeConfig = builder.config.runtime
        self._here = ray.get_runtime_context().get_node_id()
        self._alone = self._runtime.address == LOCAL

    def host(self) -> Any:
        name = topology(self._builder.config).host
        return self._start(HostActor, name, stays=True, num_cpus=self._runtime.host_cpus)(self._builder)

    def learner(self) -> Any:
        gpus = self._runtime.learner_gpus
        name = topology(self._builder.config).learner
        return self._start(LearnerActor, name, stays=not gpus, num_gpus=gpus)(self._builder)

    def server(self, name: str, number: int) -> Any:
        cpus, gpus = self._runtime.server_cpus, self._runtime.server_gpus
        return self._start(ServerActor, name, num_cpus=cpus, num_gpus=gpus)(self._builder, name, number)

    def worker(self, name: str, number: int, *, restarts: int | None = None, remote: bool = True) -> Any:
        """`remote`: it may ask policy servers, where there are any. `restarts` as configured, if not given."""
        runtime = self._runtime
        devices = {runtime.device_resource: self._builder.config.devices.per_worker} if runtime.device_resource else {}
        needs: dict[str, Any] = {"num_cpus": runtime.worker_cpus, "num_gpus": runtime.worker_gpus, "resources": devices}
        return self._start(WorkerActor, name, restarts=restarts, **needs)(self._builder, name, number, remote)

    def _start(self, kind: type, name: str, *, stays: bool = False, restarts: int | None = None, **needs: Any) -> Any:
        options = {"num_cpus": 0, **needs, "name": name}
        options["max_restarts"] = self._runtime.max_restarts if restarts is None else restarts
        if stays or self._alone:
            options["scheduling_strategy"] = NodeAffinitySchedulingStrategy(node_id=self._here, soft=False)
        return ray.remote(kind).options(**options).remote
