"""Metrics for TensorBoard, beside the database: a copy for convenience, never read back.

tensorboardX's `SummaryWriter` hands its events to a thread over a bounded queue; once that thread has met a full disk
the queue never empties and the next metric waits for ever. So events are written here, directly, and a file that
could not be written is given up for a new one.
"""

from __future__ import annotations

import contextlib
import math
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Any


class Tensorboard:
    """Writes event files into a folder, from the first metric on. `tensorboard --logdir runs` shows them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._writer: Any = None

    def add(self, step: int, values: Mapping[str, float], at: float) -> None:
        """Write what is finite. A full disk costs these values here; the database has said so already."""
        from tensorboardX.proto.event_pb2 import Event  # protobuf costs half a second that readers need not pay
        from tensorboardX.summary import scalar

        try:
            writer = self._open()
            for name, value in values.items():
                if math.isfinite(value):
                    writer.write_event(Event(summary=scalar(name, value), step=step, wall_time=at))
            writer.flush()
        except OSError:
            self.close()

    def close(self) -> None:
        writer, self._writer = self._writer, None
        if writer is not None:
            with contextlib.suppress(OSError):
                writer.close()

    def _open(self) -> Any:
        if self._writer is None:
            from tensorboardX.event_file_writer import EventsWriter

            self.folder.mkdir(parents=True, exist_ok=True)
            # Names are made of seconds: two files of one second must not be one.
            self._writer = EventsWriter(str(self.folder / "events"), f".{uuid.uuid4().hex}")
        return self._writer
