from __future__ import annotations

import pytest

from distrl.devices.adb.gestures import command
from distrl.types import LongPress, Press, Swipe, Tap


@pytest.mark.parametrize("size", [(192, 384), (1080, 2400), (2400, 1080)])
def test_every_coordinate_keeps_its_place_and_stays_on_the_screen(size):
    for place in range(1001):
        x, y = (float(word) for word in command(Tap(place, 1000 - place), size)[2:])
        assert x == pytest.approx(place * size[0] / 1000, abs=2e-3)
        assert y == pytest.approx((1000 - place) * size[1] / 1000, abs=2e-3)
        assert 0 <= x < size[0]
        assert 0 <= y < size[1]


def test_fingers_and_keys_are_commands_of_input():
    size = (1000, 2000)
    assert command(Tap(250, 500), size) == ["input", "tap", "250.000", "1000.000"]
    assert command(LongPress(1, 1), size) == ["input", "swipe", "1.000", "2.000", "1.000", "2.000", "800"]
    assert command(Swipe(1, 2, 3, 4), size) == ["input", "swipe", "1.000", "4.000", "3.000", "8.000", "300"]
    assert [command(Press(key), size)[-1] for key in ("back", "home", "enter")] == ["4", "3", "66"]
