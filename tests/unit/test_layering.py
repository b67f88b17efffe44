"""What the import linter cannot see: that nothing is forgotten in its contracts, and what is really loaded."""

from __future__ import annotations

import configparser
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
HEAVY = ("torch", "ray", "transformers")


def rooms() -> set[str]:
    """Every module and package directly under `distrl`."""
    source = ROOT / "src" / "distrl"
    packages = {path.parent.name for path in source.glob("*/__init__.py")}
    return packages | {path.stem for path in source.glob("*.py") if path.stem != "__init__"}


def contract(name: str) -> configparser.SectionProxy:
    parser = configparser.ConfigParser()
    parser.read(ROOT / ".importlinter", encoding="utf-8")
    return parser[f"importlinter:contract:{name}"]


def test_every_room_but_the_runtime_is_kept_from_importing_ray():
    named = {line.removeprefix("distrl.") for line in contract("ray")["source_modules"].split()}
    assert named == rooms() - {"runtime"}


def test_every_room_has_a_level():
    named = set(contract("levels")["layers"].replace(":", " ").replace("(", " ").replace(")", " ").split())
    assert rooms() <= named


@pytest.mark.parametrize("module", [
    "types", "errors", "trees", "registry", "choices", "config", "loading", "cli.main", "tasks.base", "algorithms",
    "judges.settings",
])  # fmt: skip
def test_importing_it_loads_nothing_heavy(module):
    code = f"import sys, distrl.{module}; print([name for name in {HEAVY} if name in sys.modules])"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "[]"


def test_a_config_is_loaded_compared_and_pickled_without_anything_heavy():
    """Whatever it chooses: `distrl config` and the host's process read configs of every algorithm and judge."""
    code = f"""
import pickle, sys
from distrl.config import load_config
from distrl.registry import ALGORITHMS, DEVICES, JUDGES
for algorithm in ALGORITHMS.names():
    for judge in JUDGES.names():
        config = load_config("quickstart", [f"algorithm.name={{algorithm}}", f"judge.kind={{judge}}"])
        assert pickle.loads(pickle.dumps(config)) == config
for scheme in DEVICES.names():
    DEVICES.load(scheme)
print([name for name in {HEAVY} if name in sys.modules])
"""
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "[]"
