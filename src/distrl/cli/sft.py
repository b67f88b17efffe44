"""`distrl sft`: make the pocket model's weights again."""

from __future__ import annotations

from typing import Annotated

import typer


def sft(
    out: Annotated[str, typer.Argument()] = "",
) -> None:
    """Make the pocket model's weights: perception first, then demonstrations of the train split."""
    raise NotImplementedError
