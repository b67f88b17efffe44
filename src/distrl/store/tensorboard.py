"""Metrics for TensorBoard: a copy of those in the database, never read back.

tensorboardX's `SummaryWriter` passes its events to a thread over a bounded queue; once that thread hits a full disk the
queue never empties and the next metric blocks for ever. So events are written here, directly; after a failed write a
new file is started.
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
        """Write finite values. On a full disk they are dropped here; the database reports the full disk."""
        from tensorboardX.proto.event_pb2 import (
            Event,
        )  # late: importing protobuf takes half a second, and readers do not need it
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
            # File names have a resolution of one second; the suffix keeps them distinct.
            self._writer = EventsWriter(str(self.folder / "events"), f".{uuid.uuid4().hex}")
        return self._writer
