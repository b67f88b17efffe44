"""Calls from process to process, typed: the method is named by its function, so that arguments and result are checked.

The one place where Ray's errors become ours.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar, overload

import ray
from ray.exceptions import OwnerDiedError, RayActorError, RayError, RayTaskError

from distrl.errors import ProcessDied, Unreachable

A = TypeVar("A")
P = ParamSpec("P")
R = TypeVar("R")

RETRY_S = 0.5


@dataclass(frozen=True, eq=False)
class RemoteCall(Generic[R]):
    """A method under way in another process."""

    who: str
    operation: str
    reference: Any
    """Ray's, for `ray.wait` and as an argument of other calls."""

    def result(self, wait_s: float) -> R:
        """What the method returned. Raises its own error as it was there, or `Unreachable`, which is `ProcessDied` when
        the process did."""
        try:
            returned: R = ray.get(self.reference, timeout=wait_s)
        except RayError as error:
            raise self._translated(error, wait_s) from error
        return returned

    async def answer(self, wait_s: float) -> R:
        """The same, for an event loop."""
        try:
            returned: R = await asyncio.wait_for(self.reference, wait_s)
        except (RayError, TimeoutError) as error:
            raise self._translated(error, wait_s) from error
        return returned

    def _translated(self, error: Exception, wait_s: float) -> Exception:
        if isinstance(error, RayTaskError):  # first: it may be both, when the process had asked a dead one
            return original(error)
        kind = ProcessDied if isinstance(error, RayActorError | OwnerDiedError) else Unreachable
        return kind(self.who, self.operation, wait_s, type(error).__name__)


class Handle(Generic[A]):
    """A process whose class is `A`, as others hold it."""

    def __init__(self, actor: Any, who: str, wait_s: float) -> None:
        """`wait_s`: how long its answers are waited for."""
        self.actor = actor
        self.who = who
        self.wait_s = wait_s

    @overload
    def start(
        self, method: Callable[Concatenate[A, P], Coroutine[Any, Any, R]], /, *args: P.args, **kwargs: P.kwargs
    ) -> RemoteCall[R]: ...

    @overload
    def start(self, method: Callable[Concatenate[A, P], R], /, *args: P.args, **kwargs: P.kwargs) -> RemoteCall[R]: ...

    def start(self, method: Callable[..., Any], /, *args: Any, **kwargs: Any) -> RemoteCall[Any]:
        """Call it and go on. Ray keeps the order of calls from one process to another."""
        name = method.__name__
        return RemoteCall(self.who, name, getattr(self.actor, name).remote(*args, **kwargs))

    def ask(self, method: Callable[Concatenate[A, P], R], /, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call it and wait for the result."""
        return self.start(method, *args, **kwargs).result(self.wait_s)

    def ask_patiently(self, method: Callable[Concatenate[A, P], R], /, *args: P.args, **kwargs: P.kwargs) -> R:
        """The same of a process that may be starting again: it is asked until it answers. Only for what may be asked
        twice without harm."""
        deadline = time.monotonic() + self.wait_s
        while True:
            try:
                return self.start(method, *args, **kwargs).result(max(0.1, deadline - time.monotonic()))
            except ProcessDied:
                if time.monotonic() >= deadline:
                    raise
                time.sleep(RETRY_S)

    async def answer(self, method: Callable[Concatenate[A, P], R], /, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call it and wait for the result in an event loop."""
        return await self.start(method, *args, **kwargs).answer(self.wait_s)

    def kill(self) -> None:
        """End it for good: it is one of those that this run started."""
        ray.kill(self.actor)


def original(error: RayTaskError) -> Exception:
    """The error that was raised in the other process."""
    cause = error.cause
    return cause if isinstance(cause, Exception) else error
