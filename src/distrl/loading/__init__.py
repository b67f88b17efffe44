"""From YAML and dotted overrides to settings, with errors that name the field and say what to write instead.

Generic over the settings class; `distrl.config` holds the classes themselves.

text       YAML: read, written, and single values
fields     which fields there are, down to those of what a section chooses
trees      overrides on top of a tree; a tree as settings
messages   what to say when something is wrong
"""

from __future__ import annotations

from distrl.loading.fields import choices, hints, leaves
from distrl.loading.messages import describe
from distrl.loading.text import Lines, Tree, dump, read, scalar, with_lines
from distrl.loading.trees import build, overlay

__all__ = [
    "Lines",
    "Tree",
    "build",
    "choices",
    "describe",
    "dump",
    "hints",
    "leaves",
    "overlay",
    "read",
    "scalar",
    "with_lines",
]
