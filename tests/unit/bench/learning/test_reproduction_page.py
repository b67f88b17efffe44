"""docs/reproduction.md says what the files in results/ say."""

from __future__ import annotations

from pathlib import Path

from distrl.bench.learning.reproduction import page

ROOT = Path(__file__).parents[4]


def test_the_page_is_what_make_docs_would_write():
    written = (ROOT / "docs" / "reproduction.md").read_text(encoding="utf-8")
    assert written == page(ROOT / "results", ROOT / "docs" / "images"), "run `make docs`"
