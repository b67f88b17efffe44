"""Virtual time: an asyncio loop whose clock jumps to the next timer instead of waiting for it.

Everything that runs on it in one thread happens in the same order every time. Computation takes no time by itself;
whoever wants it to take some says so with `charge`.
"""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

TICK_S = 1e-4
"""Every turn of the loop takes this long, so that tasks which never sleep cannot stop the clock for the others."""

T = TypeVar("T")


class _JumpingSelector(selectors.DefaultSelector):
    """Looks at the file descriptors without waiting, and moves the clock by what would have been waited."""

    now_s = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0)
        if timeout is None and not ready:
            raise RuntimeError("Every task on the virtual clock waits for something that no task is going to do.")
        self.now_s += TICK_S if ready else max(TICK_S, timeout or 0.0)
        return ready


class VirtualLoop(asyncio.SelectorEventLoop):
    """One thread, one order, its own time in seconds."""

    def __init__(self, start_s: float = 0.0) -> None:
        self._jumping = _JumpingSelector()
        self._jumping.now_s = start_s
        super().__init__(self._jumping)

    def time(self) -> float:
        return self._jumping.now_s

    def charge(self, seconds: float) -> None:
        """What was just computed took this long."""
        self._jumping.now_s += seconds

    def run_in_executor(self, executor: Any, function: Callable[..., T], *arguments: Any) -> asyncio.Future[T]:  # type: ignore[override]
        """At once and in this thread: a second thread would bring chance in."""
        future: asyncio.Future[T] = self.create_future()
        try:
            future.set_result(function(*arguments))
        except Exception as error:  # whoever awaits the future hears of it
            future.set_exception(error)
        return future


def run_virtually(main: Callable[[VirtualLoop], Coroutine[Any, Any, T]], start_s: float = 0.0) -> T:
    """Run a coroutine function to its end on a virtual clock."""
    loop = VirtualLoop(start_s)
    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        return runner.run(main(loop))
