"""Puts this folder on the path: tests, and the processes that they start, share the toy world."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from distrl.runtime.ray.environment import AT_IMPORT

HERE = str(Path(__file__).parent)

if HERE not in sys.path:
    sys.path.insert(0, HERE)
# Read by Ray when it is imported: before the tests import it.
os.environ.update(AT_IMPORT)
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [HERE, os.environ.get("PYTHONPATH", "")]))
