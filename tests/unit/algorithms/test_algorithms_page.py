"""docs/algorithms.md names functions and tests; this keeps the names true."""

import importlib
import re
from operator import attrgetter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "algorithms.md").read_text()
TESTS = sorted(set(re.findall(r"`(test_\w+)`", PAGE)))
FUNCTIONS = sorted(
    set(
        re.findall(
            r"`((?:returns|losses|priorities|diagnostics|a_ride|digirl|filtered_bc|grpo|impala|replay|types)\.(?!py`)[\w.]+)`",
            PAGE,
        )
    )
)


def test_every_test_that_the_page_names_exists():
    written = "\n".join(path.read_text() for path in (ROOT / "tests").rglob("test_*.py"))
    assert len(TESTS) > 30
    assert [name for name in TESTS if f"def {name}(" not in written] == []


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_function_that_the_page_names_exists(name):
    parts = name.split(".")
    depth = 2 if parts[0] == "replay" else 1
    prefix = "distrl." if parts[0] in ("replay", "types") else "distrl.algorithms."
    found = importlib.import_module(prefix + ".".join(parts[:depth]))
    assert attrgetter(".".join(parts[depth:]))(found) is not None


def test_every_fault_of_the_released_code_has_a_test_that_shows_ours():
    rows = re.findall(r"^\| (\d+) \|.*\| ([^|]*) \|$", PAGE, re.MULTILINE)
    assert [int(number) for number, _ in rows] == list(range(1, 11))
    assert all("`test_" in tests for _, tests in rows)
