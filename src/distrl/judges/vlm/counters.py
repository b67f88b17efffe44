"""Counters of a judge: requests, retries, tokens, cost."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from distrl.judges.vlm.reply import Reply
from distrl.types import Tree

MILLION = 1_000_000


@dataclass
class JudgeCounters:
    """Since the judge was made."""

    asked: int = 0
    """Requests sent, retries included."""
    retried: int = 0
    cached: int = 0
    """Verdicts from the cache, without a request."""
    given_up: int = 0
    tokens_in: int = 0
    tokens_out: int = 0

    def add(self, reply: Reply) -> None:
        self.tokens_in += reply.tokens_in
        self.tokens_out += reply.tokens_out

    def cost(self, price_in: float, price_out: float) -> float:
        """At prices for a million tokens each."""
        return (self.tokens_in * price_in + self.tokens_out * price_out) / MILLION

    def summary(self, price_in: float, price_out: float) -> Tree:
        return {**asdict(self), "cost": self.cost(price_in, price_out)}
