"""Dispatches a service by its name. A stream that is not accepted is refused."""

from __future__ import annotations

import struct

from PIL import Image

from distrl.phone_server.automator.http import serve_http
from distrl.phone_server.capture import capture
from distrl.phone_server.phone import ServedPhone
from distrl.phone_server.services.shell import InjectFaults, serve_prompt, serve_shell
from distrl.phone_server.services.sync import serve_sync
from distrl.phone_server.wire.stream import Stream

FRAMEBUFFER = struct.Struct("<IIIIIIIIIIIII")


async def serve(phone: ServedPhone, service: str, stream: Stream, inject_faults: InjectFaults) -> None:
    name, _, rest = service.partition(":")
    kind = name.partition(",")[0]
    if kind in ("shell", "exec") and not rest:
        await serve_prompt(phone, service, stream, inject_faults)
    elif not await inject_faults():
        return
    elif kind in ("shell", "exec"):
        await serve_shell(phone, service, stream)
    elif name == "sync":
        await serve_sync(phone, stream)
    elif name == "framebuffer":
        await stream.accept()
        await stream.write(await capture(phone, _framebuffer))
    elif name == "reboot":
        await stream.accept()
        phone.reboot()
    elif name == "tcp" and rest.isdigit() and int(rest) in phone.automators:
        await serve_http(phone, stream)


def _framebuffer(image: Image.Image) -> bytes:
    """Version 1, 32 bits, size, width, height; offset and length of red, blue, green and alpha; then the pixels."""
    data = image.convert("RGBA").tobytes()
    header = FRAMEBUFFER.pack(1, 32, len(data), image.width, image.height, 0, 8, 16, 8, 8, 8, 24, 8)
    return header + data
