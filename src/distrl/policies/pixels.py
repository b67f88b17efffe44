"""Screens → normalised pixels. Rescaling and normalising take an image processor longer than everything else it does;
here they run on the model's device, and the processor returns bytes, a quarter of the size of floats."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from distrl.policies.inputs import PromptEncoder

PIXELS = "pixel_values"
"""Key of the pixels in an image processor's output."""
BYTES = {"do_rescale": False, "do_normalize": False}
"""Settings with which an image processor returns bytes."""
TOLERANCE = 1e-4
"""Allowed difference of normalised pixels; one byte step is about 8e-3."""


class Normaliser:
    """(bytes · factor − mean) / deviation, with the processor's own numbers."""

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
    """None if this processor does more than normalise bytes; found out by comparing both ways on two images."""
    probes = [encoder.blank(colour) for colour in ("white", "navy")]
    try:
        normalise = Normaliser(encoder.processor.image_processor)
        wanted, given = encoder.pixels(probes), encoder.pixels(probes, **BYTES)
        if set(wanted) != {PIXELS} or set(given) != {PIXELS} or given[PIXELS].dtype != torch.uint8:
            return None
        made = normalise(given[PIXELS])
    except (AttributeError, TypeError, ValueError, RuntimeError):  # a processor of another kind
        return None
    same = made.shape == wanted[PIXELS].shape and torch.allclose(made, wanted[PIXELS].float(), atol=TOLERANCE)
    return normalise if same else None
