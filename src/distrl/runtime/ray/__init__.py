"""The Ray runtime, the default: host, learner and each worker in a process of its own.

`cluster` starts or joins Ray; `host_actor`, `policy_server` and `actors` are the processes; `handle` is how one
calls another, and `clients` how they call the host; `process_supervisor` watches them, and `run` drives them all.
Ray is imported in this folder and nowhere else.
"""

from distrl.runtime.ray.run import RayRun

__all__ = ["RayRun"]
