"""The secret of a Ray, in a file that only its owner can read.

Ray reads the token once per process and keeps it. All tokens that one process makes are therefore the same secret, and
a process that has used one cannot use another.
"""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from distrl.errors import ConfigError

_secret: list[str] = []
"""Of this process: empty until a token was made or used."""


def check_token(path: Path) -> str:
    """The secret in that file. Ray ends the process that gives it none; raises `ConfigError` before."""
    try:
        mode, text = path.stat().st_mode, path.read_text().strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"The token {path} cannot be read: {error}") from error
    if not text:
        raise ConfigError(f"The token {path} is empty. Copy the training's token there again.")
    if mode & 0o077:
        raise ConfigError(f"Others can read the token {path}. Say `chmod 600 {path}` first.")
    return text


def use_token(path: Path) -> None:
    """This process will talk to a Ray with that token. Raises `ConfigError` when it cannot any more."""
    text = check_token(path)
    if _secret and _secret[0] != text:
        raise ConfigError(
            f"This process has already used another token than {path}, and Ray reads its token once per process. "
            "Start this run in a process of its own."
        )
    _secret[:] = [text]


def write_token(path: Path) -> None:
    """This process's secret, made at the first call, in a new file that only this user can read."""
    if not _secret:
        _secret.append(secrets.token_hex(32))
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(_secret[0])
