"""Ctrl-C and SIGTERM as a wish that the run looks at, not as an exception in the middle of something."""

from __future__ import annotations

import signal
import threading
from types import FrameType, TracebackType
from typing import Any

SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Interrupt:
    """While in its `with` block the first signal sets `requested`; a second one raises KeyboardInterrupt."""

    def __init__(self) -> None:
        self.requested = False
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> Interrupt:
        self.listen()
        return self

    def listen(self) -> None:
        """Take the signals; again, when a library has taken them from us in between."""
        if threading.current_thread() is not threading.main_thread():
            return  # Python hears signals in its main thread only; whoever runs us elsewhere has his own
        for number in SIGNALS:
            before = signal.signal(number, self._heard)
            self._before.setdefault(number, before)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _heard(self, number: int, frame: FrameType | None) -> None:
        if self.requested:
            raise KeyboardInterrupt
        self.requested = True
