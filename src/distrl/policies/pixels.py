"""Screens → pixels as the model takes them. What an image processor does to each number alone, rescaling and
normalising, costs it more than all the rest; it is done where the model is, on bytes that are a quarter of the size."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from distrl.policies.inputs import PromptEncoder

PIXELS = "pixel_values"
"""What image processors call an image's pixels."""
BYTES = {"do_rescale": False, "do_normalize": False}
"""Settings that make an image processor stop before that."""
TOLERANCE = 1e-4
"""A byte is 8e-3 of the range that models take."""


class Normaliser:
    """bytes·factor, less the mean, over the deviation; all of them the processor's."""

    def __init__(self, image_processor: Any) -> None:
        self._factor: float = image_processor.rescale_factor if image_processor.do_rescale else 1.0
        mean, deviation = (0.0, 1.0)
        if image_processor.do_normalize:
            mean, deviation = image_processor.image_mean, image_processor.image_std
        self._mean, self._deviation = (torch.as_tensor(each).view(-1, 1, 1) for each in (mean, deviation))

    def __call__(self, pixels: Tensor) -> Tensor:
        """[N, channels, height, width] → the same as floats, on the same device."""
        mean, deviation = self._mean.to(pixels.device), self._deviation.to(pixels.device)
        return (pixels.float() * self._factor - mean) / deviation


def normaliser(encoder: PromptEncoder) -> Normaliser | None:
    """None where this processor's pixels are not bytes that were normalised: tried, not guessed."""
    trial = [encoder.blank(colour) for colour in ("white", "navy")]
    try:
        normalise = Normaliser(encoder.processor.image_processor)
        wanted, given = encoder.pixels(trial), encoder.pixels(trial, **BYTES)
        if set(wanted) != {PIXELS} or set(given) != {PIXELS} or given[PIXELS].dtype != torch.uint8:
            return None
        made = normalise(given[PIXELS])
    except (AttributeError, TypeError, ValueError, RuntimeError):  # a processor of another kind
        return None
    same = made.shape == wanted[PIXELS].shape and torch.allclose(made, wanted[PIXELS].float(), atol=TOLERANCE)
    return normalise if same else None
