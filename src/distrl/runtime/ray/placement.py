"""Which process runs on which machine: what each asks Ray for, and where it stays.

With a Ray of our own everything stays on this machine, also what starts again: the run folder is here, and other
machines come and go. On a cluster resources decide, except for the host, which never leaves the run folder.
"""

from __future__ import annotations

from typing import Any, TypeVar

import ray
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from distrl.runtime.ray.actors import LearnerActor, WorkerActor
from distrl.runtime.ray.cluster import LOCAL
from distrl.runtime.ray.handle import Handle
from distrl.runtime.ray.host_actor import HostActor
from distrl.runtime.ray.policy_server import ServerActor
from distrl.runtime.ray.processes import Process
from distrl.runtime.topology import Builder, topology

P = TypeVar("P", bound=Process)


class Placement:
    """Starts the processes of one launch. Ray is connected."""

    def __init__(self, builder: Builder) -> None:
        self._builder = builder
        self._runtime = builder.config.runtime
        self._here = ray.get_runtime_context().get_node_id()
        self._alone = self._runtime.address == LOCAL

    def host(self) -> Handle[HostActor]:
        name = topology(self._builder.config).host
        return self._start(HostActor, name, (), stays=True, num_cpus=self._runtime.host_cpus)

    def learner(self) -> Handle[LearnerActor]:
        gpus = self._runtime.learner_gpus
        name = topology(self._builder.config).learner
        return self._start(LearnerActor, name, (), stays=not gpus, num_gpus=gpus)

    def server(self, name: str, number: int) -> Handle[ServerActor]:
        cpus, gpus = self._runtime.server_cpus, self._runtime.server_gpus
        return self._start(ServerActor, name, (name, number), num_cpus=cpus, num_gpus=gpus)

    def worker(
        self, name: str, number: int, *, restarts: int | None = None, remote: bool = True
    ) -> Handle[WorkerActor]:
        """`remote`: it may ask policy servers, where there are any. `restarts` as configured, if not given."""
        runtime = self._runtime
        devices = {runtime.device_resource: self._builder.config.devices.per_worker} if runtime.device_resource else {}
        needs: dict[str, Any] = {"num_cpus": runtime.worker_cpus, "num_gpus": runtime.worker_gpus, "resources": devices}
        return self._start(WorkerActor, name, (name, number, remote), restarts=restarts, **needs)

    def _start(
        self,
        kind: type[P],
        name: str,
        details: tuple[Any, ...],
        *,
        stays: bool = False,
        restarts: int | None = None,
        **needs: Any,
    ) -> Handle[P]:
        options = {**needs, "name": name}
        options["max_restarts"] = self._runtime.max_restarts if restarts is None else restarts
        if stays or self._alone:
            options["scheduling_strategy"] = only_on(self._here)
        return start_process(kind, name, self._builder, *details, **options)


def start_process(kind: type[P], who: str, builder: Builder, *details: Any, **options: Any) -> Handle[P]:
    """A process of this kind. `options` are those of a Ray actor; without a `name` there, others cannot find it."""
    groups = kind.CONCURRENCY_GROUPS
    actor_class = ray.remote(concurrency_groups=groups)(kind) if groups else ray.remote(kind)
    actor = actor_class.options(**{"num_cpus": 0, **options}).remote(builder, *details)
    return Handle(actor, who, builder.config.runtime.wait_s)


def only_on(node: str) -> NodeAffinitySchedulingStrategy:
    """On this machine, or nowhere."""
    return NodeAffinitySchedulingStrategy(node_id=node, soft=False)
