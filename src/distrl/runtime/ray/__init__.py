"""The Ray runtime, the default: host, learner and each worker in a process of its own.

`cluster` starts or joins Ray, `actors` are the processes, `clients` is how they call the host, `run` drives them.
Ray is imported in this folder and nowhere else.
"""

from distrl.runtime.ray.run import RayRun

__all__ = ["RayRun"]
