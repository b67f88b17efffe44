"""The child that runs `ray start`, with a stand-in for Ray: it must end when whoever started it is gone."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

from distrl.runtime.ray.node import COMMAND

STAND_IN = """
import importlib.metadata, runpy, sys, time
from types import SimpleNamespace

def ray():
    print(sys.argv, flush=True)
    time.sleep(60)

command = SimpleNamespace(load=lambda: ray)
entry_points = SimpleNamespace(select=lambda **_: (command,))
importlib.metadata.distribution = lambda name: SimpleNamespace(entry_points=entry_points)
file = sys.argv.pop(1)
runpy.run_path(file, run_name="__main__")
"""


def start(tmp_path: Path) -> subprocess.Popen[str]:
    script = tmp_path / "stand_in.py"
    script.write_text(STAND_IN)
    arguments = [sys.executable, str(script), str(COMMAND), "--head"]
    return subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def test_it_says_ray_start_block(tmp_path: Path) -> None:
    process = start(tmp_path)
    assert process.stdout is not None
    assert process.stdout.readline().strip() == "['ray', 'start', '--block', '--head']"
    process.communicate(timeout=30)


def test_it_ends_by_sigterm_when_its_standard_input_closes(tmp_path: Path) -> None:
    process = start(tmp_path)
    assert process.stdout is not None
    process.stdout.readline()
    assert process.stdin is not None
    process.stdin.close()
    assert process.wait(timeout=30) == -signal.SIGTERM
