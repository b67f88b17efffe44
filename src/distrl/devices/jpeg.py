"""Encodes screenshots as JPEG for trajectories."""

from __future__ import annotations

import io

from PIL import Image

QUALITY = 90


def encode(image: Image.Image) -> bytes:
    """JPEG without chroma subsampling, which keeps thin coloured text sharp."""
    buffer = io.BytesIO()
    image.save(buffer, "JPEG", quality=QUALITY, subsampling=0)
    return buffer.getvalue()
