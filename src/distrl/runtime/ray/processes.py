"""What every process of a run has in common."""

from __future__ import annotations

import gc
import os
from collections.abc import Mapping
from typing import Any

import ray

from distrl.runtime.topology import Builder


def this_process() -> Any:
    """The actor that we are in, to be called by others."""
    return ray.get_runtime_context().current_actor


def one_thread() -> None:
    """Processes share the cores of a machine; threads inside each would only get in each other's way."""
    import torch

    torch.set_num_threads(1)


ALLOCATIONS = 100_000
"""New objects between two collections of the youngest generation; Python's default is below a thousand."""


def collect_rarely() -> None:
    """Exclude from garbage collection what the process keeps for life, and collect the rest less often. Scans of
    long-lived objects took half of the time of creating a simulated phone beside 300 others."""
    gc.freeze()
    gc.set_threshold(ALLOCATIONS, *gc.get_threshold()[1:])


class Process:
    """An error in the constructor would kill the process and lose its message: it is kept for whoever asks."""

    CONCURRENCY_GROUPS: Mapping[str, int] = {}
    """Threads beside the one that answers calls, by name; a method says which it runs in."""

    def __init__(self, builder: Builder, *details: Any) -> None:
        self._failure: Exception | None = None
        try:
            self._build(builder, *details)
            collect_rarely()
        except Exception as error:  # `ready` raises it where somebody listens
            self._failure = error

    def ready(self) -> int:
        """The process id. Raises what went wrong while starting."""
        if self._failure is not None:
            raise self._failure
        return os.getpid()

    def _build(self, builder: Builder, *details: Any) -> None:
        raise NotImplementedError
