"""Strict parsing of the model's reply: exactly one JSON object of the schema, everything else is `BadVerdict`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from distrl.errors import BadVerdict, JudgeTrouble
from distrl.types import Tree

SCHEMA: Tree = {
    "type": "object",
    # The reason comes first, so that an autoregressive model reasons before it decides.
    "properties": {"reason": {"type": "string"}, "success": {"type": "boolean"}},
    "required": ["reason", "success"],
    "additionalProperties": False,
}
CUT_SHORT = ("length", "content_filter")
MOST_TOKENS = 10**9
"""Token counts above this are taken for errors."""


@dataclass(frozen=True, slots=True)
class Verdict:
    success: bool
    reason: str


@dataclass(frozen=True, slots=True)
class Reply:
    """The endpoint's reply: the model's text, and the token usage that it reports."""

    content: str
    tokens_in: int = 0
    tokens_out: int = 0


def parse_verdict(content: str) -> Verdict:
    """Raises `BadVerdict` for anything but the schema: other keys, a duplicate key, `"true"`, text around it."""
    try:
        found = strict_json(content)
    except ValueError as error:
        raise BadVerdict(f"the reply is no JSON ({error})") from None
    if not isinstance(found, dict) or found.keys() != {"success", "reason"}:
        raise BadVerdict("the reply is not an object with success and reason alone")
    success, reason = found["success"], found["reason"]
    if not isinstance(success, bool) or not isinstance(reason, str):
        raise BadVerdict("success must be true or false, and reason must be text")
    return Verdict(success, reason)


def parse_completion(body: bytes) -> Reply:
    """Parse a chat completion. Raises `JudgeTrouble` when the body is none (a proxy's error page), `BadVerdict` when
    the model declined or was cut short."""
    try:
        envelope = strict_json(body.decode("utf-8"))
        (choice,) = envelope["choices"]
        content, finish = choice["message"]["content"], choice.get("finish_reason")
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise JudgeTrouble(f"the answer is no chat completion ({type(error).__name__})") from None
    if not isinstance(content, str):
        raise BadVerdict("the model declined to answer")
    if finish in CUT_SHORT:
        raise BadVerdict(f"the reply was cut short ({finish}); raise judge.reply_tokens if this is often so")
    usage = envelope.get("usage")
    return Reply(content, _tokens(usage, "prompt_tokens"), _tokens(usage, "completion_tokens"))


def strict_json(text: str) -> Any:
    """JSON without duplicate keys, whose meaning would depend on the parser. Raises `ValueError`."""
    try:
        return json.loads(text, object_pairs_hook=_unique, parse_constant=_refuse)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def plain(text: str, longest: int) -> str:
    """Untrusted text as one line for logs and terminals: no control characters, no lone surrogates."""
    visible = "".join(letter if letter.isprintable() else " " for letter in text)
    return " ".join(visible.encode("utf-8", "replace").decode().split())[:longest]


def _unique(pairs: Sequence[tuple[str, Any]]) -> Tree:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key occurs twice")
    return found


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is no JSON")


def _tokens(usage: Any, name: str) -> int:
    """Missing or implausible counts are taken as 0."""
    count = usage.get(name) if isinstance(usage, dict) else None
    return count if type(count) is int and 0 <= count <= MOST_TOKENS else 0
