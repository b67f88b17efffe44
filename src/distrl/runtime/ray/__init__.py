"""The Ray runtime, the default: host, learner and each worker in a process of its own.

`cluster` starts or joins Ray; `host_actor`, `policy_server` and `actors` are the processes; `handle` is how one
calls another, and `clients` how they call the host; `process_supervisor` watches them, and `run` drives them all.
Ray is imported in this folder and nowhere else, and only once `environment` has prepared for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from distrl.runtime.ray.environment import prepare

if TYPE_CHECKING:
    from distrl.config import RuntimeConfig
    from distrl.runtime.ray.run import RayRun


def engine(config: RuntimeConfig) -> type[RayRun]:
    """The class that runs on Ray, imported for this config. Raises `ConfigError` when Ray was imported too early."""
    prepare(config)
    from distrl.runtime.ray.run import RayRun

    return RayRun


__all__ = ["engine", "prepare"]
