"""A stand-in SDK around a test: `avd://` finds it, and nothing of this machine's own SDK or home is touched."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from unittest import mock

from distrl.devices.open import open_device
from distrl.phone_server.emulator.faults import VARIABLE
from distrl.phone_server.emulator.folder import AvdFolder
from distrl.phone_server.emulator.sdk import StandInSdk, write_sdk
from distrl.phone_server.phone import PhoneModel, ServedPhone

NAME = "Pixel_7"
PATIENCE_S = 60


@contextmanager
def sdk(folder: Path, *faults: str) -> Iterator[StandInSdk]:
    """Each of `faults` strikes one launch, in order; those after them go well."""
    made = write_sdk(folder / "sdk", NAME)
    script = folder / "faults"
    script.write_text("".join(f"{fault}\n" for fault in faults))
    variables = made.environment | {"HOME": str(folder), VARIABLE: f"@{script}"}
    with mock.patch.dict(os.environ, variables):
        os.environ.pop("XDG_CACHE_HOME", None)
        yield made


def order(*faults: str) -> None:
    """What strikes the next launches."""
    Path(os.environ[VARIABLE][1:]).write_text("".join(f"{fault}\n" for fault in faults))


@asynccontextmanager
async def phone(query: str = "", *, slot: int = 0):
    device = open_device(f"avd://{NAME}?{query}", seed=0, name=f"test/{slot}")
    try:
        yield device
    finally:
        await device.close()


def save_snapshot(made: StandInSdk, name: str, *, app: str) -> None:
    """A phone with that app open, as an emulator that may write leaves it."""
    phone = ServedPhone(PhoneModel(), "setup")
    phone.open_app(app)
    AvdFolder(made.avd_home, NAME).save_snapshot(name, phone.save())


def eventually(true: Callable[[], object]) -> bool:
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        if true():
            return True
        time.sleep(0.05)
    return False
