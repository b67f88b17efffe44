"""Metrics for TensorBoard, beside the database: a copy for convenience, never read back."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any


class Tensorboard:
    """Writes event files into a folder, from the first metric on. `tensorboard --logdir runs` shows them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._writer: Any = None

    def add(self, step: int, values: Mapping[str, float], at: float) -> None:
        if self._writer is None:
            from tensorboardX import SummaryWriter  # half a second of protobuf that readers need not pay

            self._writer = SummaryWriter(str(self.folder), flush_secs=10)
        for name, value in values.items():
            if math.isfinite(value):
                self._writer.add_scalar(name, value, step, walltime=at)

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()
