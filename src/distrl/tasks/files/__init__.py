"""Task files: a plain list of goals, or YAML (docs/tasks.md).

Such tasks have no oracle and no rule that reads a phone's state; judges use the last screen.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from distrl.tasks.files.reading import read_entries, read_text
from distrl.tasks.files.suite import FileSuite


def open_suite(path: Path) -> FileSuite:
    """The suite in a file. Raises `ConfigError` that names the file, the lines, and what to write there."""
    text = read_text(path)
    digest = hashlib.sha256(text.encode()).hexdigest()
    return FileSuite.of(read_entries(path, text), source=str(path), name=f"{path.stem}-{digest[:8]}")
