"""The judge's API key: read from the environment, sent in a header, never printed, logged or pickled."""

from __future__ import annotations

import base64
import os
import re
from collections.abc import Mapping
from typing import NoReturn
from urllib.parse import quote, urlsplit

from distrl.errors import ConfigError
from distrl.judges.settings import ModelSettings, is_loopback

HIDDEN = "[key]"
SHORTEST_SECRET = 8
"""Shorter keys are not redacted: local servers accept any word, and hiding `x` everywhere makes texts unreadable."""
SENDABLE = re.compile(r"[\x21-\x7e]*")


class ApiKey:
    """A secret that is neither printed nor pickled; it is only in this process and in request headers."""

    __slots__ = ("_secret",)

    def __init__(self, secret: str) -> None:
        self._secret = secret

    @classmethod
    def from_environment(cls, config: ModelSettings, environment: Mapping[str, str] = os.environ) -> ApiKey:
        """Raises `ConfigError` if it is missing; a server on this machine may need none."""
        secret = environment.get(config.key_env, "").strip()
        if not secret and not is_loopback(urlsplit(config.url).hostname or ""):
            raise ConfigError(
                f"The judge at {config.url} needs a key, and the environment variable {config.key_env} is empty. "
                "Set it on every machine that runs workers, or name another variable with judge.key_env."
            )
        if not SENDABLE.fullmatch(secret):
            raise ConfigError(
                f"The key in the environment variable {config.key_env} holds a space or another character that no "
                "header can carry. Copy it again."
            )
        return cls(secret)

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self._secret}"} if self._secret else {}

    def redact(self, text: str) -> str:
        """The text with the key removed, also URL-quoted or in base64."""
        if len(self._secret) < SHORTEST_SECRET:
            return text
        for form in (self._secret, quote(self._secret, safe=""), base64.b64encode(self._secret.encode()).decode()):
            text = text.replace(form, HIDDEN)
        return text

    def __repr__(self) -> str:
        return f"Key({HIDDEN})"

    def __reduce__(self) -> NoReturn:
        raise TypeError("A key stays in its process: it is not pickled.")
