"""Ray without processes: an actor is an object, a call is done at once, and a reference is its result."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from ray.exceptions import RayError, RayTaskError

from distrl.runtime.ray import evaluations, handle, process_supervisor
from distrl.runtime.ray.handle import Handle


class Reference:
    """What a call returned, or the error that it ended with."""

    def __init__(self, value: Any = None, error: Exception | None = None) -> None:
        self.value = value
        self.error = error

    def get(self) -> Any:
        if self.error is not None:
            raise self.error
        return self.value


class Actor:
    """`actor.method.remote(...)` calls the object's method. A `RayError` that it raises is the process's death; any
    other error is the method's own."""

    def __init__(self, target: Any) -> None:
        self._target = target

    def __getattr__(self, method: str) -> Any:
        return SimpleNamespace(remote=lambda *arguments: self._call(method, *arguments))

    def _call(self, method: str, *arguments: Any) -> Reference:
        # Ray gives a method what a bare reference refers to; if that is an error, it is the error of the call.
        for each in arguments:
            if isinstance(each, Reference) and each.error is not None:
                return Reference(error=RayTaskError(method, "", each.error).as_instanceof_cause())
        found = [each.value if isinstance(each, Reference) else each for each in arguments]
        try:
            return Reference(getattr(self._target, method)(*found))
        except RayError as error:
            return Reference(error=error)
        except Exception as error:
            return Reference(error=RayTaskError(method, "", error).as_instanceof_cause())


class Ray:
    """The part of Ray's module that is used, and a clock that only sleep moves."""

    def __init__(self) -> None:
        self.now_s = 100.0
        self.killed: list[Any] = []

    def get(self, reference: Reference, timeout: float | None = None) -> Any:
        return reference.get()

    def wait(self, references: list[Any], num_returns: int = 1, timeout: float | None = None) -> Any:
        return references, []

    def kill(self, actor: Any) -> None:
        self.killed.append(actor)

    def monotonic(self) -> float:
        return self.now_s

    def sleep(self, seconds: float) -> None:
        self.now_s += seconds


def install(patch: pytest.MonkeyPatch) -> Ray:
    """Have the modules that call Ray call this one."""
    ray = Ray()
    for module in (handle, process_supervisor):
        patch.setattr(module, "ray", ray)
    for module in (handle, process_supervisor, evaluations):
        patch.setattr(module, "time", SimpleNamespace(monotonic=ray.monotonic, sleep=ray.sleep))
    return ray


def local(target: Any, who: str = "host", wait_s: float = 10.0) -> Handle[Any]:
    return Handle(Actor(target), who, wait_s)
