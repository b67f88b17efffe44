"""Pictures as trajectories keep them."""

from __future__ import annotations

import io

from PIL import Image

QUALITY = 90


def encode(image: Image.Image) -> bytes:
    """JPEG without colour subsampling: thin coloured letters stay sharp."""
    buffer = io.BytesIO()
    image.save(buffer, "JPEG", quality=QUALITY, subsampling=0)
    return buffer.getvalue()
