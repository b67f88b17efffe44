"""What each kind of judge takes in the section `judge`."""

from __future__ import annotations

import ipaddress
import re
from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, NonNegativeFloat, PositiveInt

from distrl.config.judging import JudgeConfig
from distrl.config.settings import PositiveFloat

VARIABLE = re.compile(r"[A-Z_][A-Z0-9_]*")
VISIBLE = re.compile(r"[\x21-\x7e]+")


def endpoint_url(url: str) -> str:
    """The URL itself, if a key may be sent there. Raises `ValueError` that shows nothing of it: it may be secret."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        host = None
    if not host or parts.scheme not in ("http", "https") or not VISIBLE.fullmatch(url) or "\\" in url:
        raise ValueError("must be a plain URL, such as https://api.openai.com/v1")
    if "@" in parts.netloc or parts.query or parts.fragment:
        raise ValueError("must hold no user, password, query or fragment: the key comes from judge.key_env alone")
    if parts.scheme == "http" and not is_loopback(host):
        raise ValueError("must begin with https://; plain http:// is for servers on this machine (127.0.0.1) only")
    return url.rstrip("/")


def is_loopback(host: str) -> bool:
    """Whether this is this machine, said in the plainest way; `127.1` and other riddles are not."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def variable_name(name: str) -> str:
    """Who writes the key itself here by mistake must not read it in an error message."""
    if not VARIABLE.fullmatch(name):
        raise ValueError(
            "must be the name of an environment variable, in capitals, such as OPENAI_API_KEY; the key itself belongs "
            "into that variable and into no config"
        )
    return name


class RulesSettings(JudgeConfig):
    """The suite's own rules, from the phone's state or from the last screen. They ask nobody and have no settings."""

    kind: Literal["rules"] = "rules"


class ModelSettings(JudgeConfig):
    """A vision-language model behind an endpoint: `vlm` asks it alone, `chain` where rules cannot judge."""

    kind: Literal["vlm", "chain"] = "vlm"

    url: Annotated[str, AfterValidator(endpoint_url)] = "https://api.openai.com/v1"
    """Any OpenAI-compatible endpoint, up to and without `/chat/completions`. https, or http on this machine."""

    model: str = ""
    """Name of the model there; one is needed."""

    key_env: Annotated[str, AfterValidator(variable_name)] = "OPENAI_API_KEY"
    """Environment variable with the key, on every machine with workers. A server on this machine may need none."""

    screenshots: PositiveInt = 3
    """How many of the last screens the model sees."""

    reply_tokens: PositiveInt | None = 300
    """Most tokens of a reply, sent as `max_tokens`; null leaves it to the endpoint."""

    timeout_s: PositiveFloat = 60.0
    """One request that takes longer is tried again."""

    attempts: PositiveInt = 6
    """Requests for one outcome before it is given up."""

    concurrency: PositiveInt = 8
    """Requests of one worker at the same time."""

    breaker_failures: PositiveInt = 5
    """After so many failures in a row nobody asks the endpoint for a while."""

    breaker_open_s: PositiveFloat = 30.0
    """How long that while is; then one request tries whether it is back."""

    cache: Path | None = None
    """Folder that keeps verdicts by content, over runs; null keeps them in memory only."""

    price_in: NonNegativeFloat = 0.0
    """Price of a million tokens in the request, in whatever money; for the counter of costs."""

    price_out: NonNegativeFloat = 0.0
    """Price of a million tokens in the reply."""
