"""The sheet of pages for the README."""

from __future__ import annotations

from distrl.devices.sim.preview import PAGES, sheet


def test_the_sheet_has_room_for_every_page():
    picture = sheet(scale=1, columns=3)
    assert picture.size == (3 * 200 + 8, 2 * 392 + 8)
    first = picture.crop((8, 8, 200, 392))
    assert first.tobytes() != picture.crop((208, 8, 400, 392)).tobytes()
    assert len(PAGES) == 6
