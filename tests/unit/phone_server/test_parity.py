"""Whatever is done through the shell of a served phone ends as the same actions on the simulated phone itself."""

from __future__ import annotations

import asyncio
import base64
import random
import shlex

import pytest
from served import typed

from distrl.devices.adb import task_intents
from distrl.devices.sim.device import SimPhone
from distrl.phone_server.phone import PhoneModel, ServedPhone
from distrl.types import LongPress, Press, Swipe, Tap, Task, Type

TEXTS = ("plain", "zwei Wörter", "a 'quote' \"two\" $x %s", "😀\n", "שלום")
KEYS = {"home": "HOME", "back": "BACK", "enter": "ENTER"}


def anything(rng, elements):
    """A random action, mostly on something that answers."""
    kind = rng.random()
    if kind < 0.55 and elements:
        left, top, right, bottom = rng.choice(elements).bounds
        return Tap(round((left + right) / 2 / 0.192), round((top + bottom) / 2 / 0.384))
    if kind < 0.65:
        return Swipe(*(rng.randrange(1001) for _ in range(4)))
    if kind < 0.72:
        return LongPress(rng.randrange(1001), rng.randrange(1001))
    if kind < 0.9:
        return Type(rng.choice(TEXTS))
    return Press(rng.choice(("home", "back", "enter")))


def line(action):
    def pixels(x, y):
        return f"{x * 0.192:.3f} {y * 0.384:.3f}"

    match action:
        case Tap(x, y):
            return f"input tap {pixels(x, y)}"
        case LongPress(x, y):
            return f"input swipe {pixels(x, y)} {pixels(x, y)} 800"
        case Swipe(x, y, to_x, to_y):
            return f"input swipe {pixels(x, y)} {pixels(to_x, to_y)} 200"
        case Type(text):
            return f"am broadcast -a ADB_INPUT_B64 --es msg {base64.b64encode(text.encode()).decode()}"
        case Press(key):
            return f"input keyevent {KEYS[key]}"
    raise AssertionError(action)


@pytest.mark.parametrize("seed", range(12))
def test_a_random_walk_leads_to_the_same_place(seed):
    rng = random.Random(seed)
    task = Task("t", "s", "train", "x", "goal", seed=seed, max_steps=5)
    device = SimPhone("sim://phone?popups=0.1")
    phone = ServedPhone(PhoneModel(address="sim://phone?popups=0.1", seed=99), "test")
    asyncio.run(device.reset(task))
    typed(phone, f"{shlex.join(task_intents.reset_command(task))}; ime set com.android.adbkeyboard/.AdbIME")
    for _ in range(40):
        action = anything(rng, phone.render().elements)
        asyncio.run(device.perform(action))
        assert typed(phone, line(action))[0] == 0
        assert phone.evidence() == asyncio.run(device.evidence()), action
    assert phone.render().image.tobytes() == device._phone.render().image.tobytes()
