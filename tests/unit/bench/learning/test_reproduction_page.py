"""docs/reproduction.md and its pictures say what the files in results/ say."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from distrl.bench.learning.plots import draw_all
from distrl.bench.learning.reproduction import page

ROOT = Path(__file__).parents[4]


def test_the_page_is_what_make_docs_would_write():
    written = (ROOT / "docs" / "reproduction.md").read_text(encoding="utf-8")
    assert written == page(ROOT / "results", ROOT / "docs" / "images"), "run `make docs`"


@pytest.mark.parametrize("suite", ["general", "webshop"])
def test_the_pictures_are_what_make_docs_would_draw(suite, tmp_path):
    drawn = draw_all(json.loads((ROOT / "results" / f"learning-{suite}.json").read_text(encoding="utf-8")), tmp_path)
    assert drawn
    for path in drawn:
        shown = ROOT / "docs" / "images" / path.name
        assert shown.read_text(encoding="utf-8") == path.read_text(encoding="utf-8"), "run `make docs`"
