"""The paper's claims beside ours in one small table, for the top of docs/reproduction.md."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

Result = Mapping[str, Any]
Results = Mapping[str, Result | None]
"""By table: what `results/learning-<table>.json` holds, or None."""
Figure = Callable[[Result], str | None]

SUITES = ("general", "webshop")
NOTHING = "–"
HEAD = """## The claims, side by side

Simulated phones and a small model, so no absolute figure can be compared; who is ahead, by how much and in what share
of the time can. A-RIDE, DigiRL without a barrier and DigiRL in rounds start from a beginner that wins one held-out task
in six of `general`, and share one H200, or two cores where it is said.

| claim | paper | `general` | `webshop` |
|---|---|---|---|"""
FOOT = """
95 % intervals over tasks and seeds; where no number of seeds is said it is one, two for some rows of `general`, up to
three under lag. The setting with 32 phones was chosen after trying several, which flatters it. With 256 a trajectory is
seen up to 16 times, but 8 where asynchronous DigiRL on `webshop` is compared. On two cores it is seen about twice.
Ablations are of an earlier model. Every row with its command follows below.
"""


def headlines(results: Results) -> Iterator[str]:
    """The table with what it rests on; a figure that no result holds is a dash."""
    yield HEAD
    for claim, paper, *cells in _table(results):
        yield f"| {claim} | {paper} | {' | '.join(cells)} |"
    yield FOOT


def _table(results: Results) -> Iterator[tuple[str, ...]]:
    def both(tables: tuple[str, ...], figure: Figure) -> list[str]:
        return [_first(results, [f"{table}-{suite}" for table in tables], figure) for suite in SUITES]

    in_rounds, same_feed = _ratio("digirl_sync"), _ratio("best_digirl", needs="digirl_async")
    fleet, cores = "the same, 256 phones", "the same, two cores and no GPU, three seeds"
    yield "success over DigiRL in rounds, 32 phones", "1.20, 1.14", *both(("paper",), in_rounds)
    yield fleet, NOTHING, *both(("reuse",), in_rounds)
    yield cores, NOTHING, *both(("laptop",), _with_seeds(in_rounds))
    same = "success over DigiRL on the same asynchronous feed, 32 phones"
    yield same, "1.10, in training", *both(("paper",), same_feed)
    yield fleet, NOTHING, *both(("reuse", "beginner"), same_feed)
    yield cores, NOTHING, *both(("laptop",), same_feed)
    times = [both((table,), _time) for table in ("paper", "reuse", "laptop")]
    reached = "time until success is where DigiRL in rounds ends, 32 phones; 256; two cores"
    yield reached, "a third", *("; ".join(cells) for cells in zip(*times, strict=True))
    yield "trajectories in the same time, over rounds, 32 phones", "2.4", *both(("paper",), _trajectories)
    ablations = "without priorities; without Retrace, points of success"
    yield ablations, "about −8 %; −6 %", _ablations(results["general"], "a_ride"), NOTHING
    yield "the same under large lag", NOTHING, _ablations(results["lag"], "a_ride_lag16"), NOTHING


def _first(results: Results, names: list[str], figure: Figure) -> str:
    """The figure out of the first result that has it."""
    found = (figure(result) for name in names if (result := results[name]))
    return next((cell for cell in found if cell), NOTHING)


def _ratio(to: str, needs: str | None = None) -> Figure:
    def read(result: Result) -> str | None:
        one = (result["comparisons"].get(f"ratio_to_{to}") or {}).get("test_instances")
        if not one or not one["ratio"] or (needs and needs not in result["methods"]):
            return None
        ratio = one["ratio"]
        low, high = ratio["ci95"]
        return f"{ratio['estimate']:.2f} ({low:.2f} to {high:.2f})"

    return read


def _with_seeds(figure: Figure) -> Figure:
    """The figure, and how many seeds DigiRL in rounds has where A-RIDE has more."""

    def read(result: Result) -> str | None:
        cell, seeds = figure(result), _both(result, "seeds")
        if not cell or not seeds or seeds[1] >= seeds[0]:
            return cell
        return f"{cell}, {'one seed' if seeds[1] == 1 else f'{seeds[1]} seeds'} in rounds"

    return read


def _time(result: Result) -> str | None:
    fraction = result["comparisons"]["reaching_digirl_sync"].get("fraction")
    return f"{fraction:.2f}" if fraction else None


def _trajectories(result: Result) -> str | None:
    played = _both(result, "trajectories")
    return f"{played[0] / played[1]:.1f}" if played else None


def _both(result: Result, key: str) -> list[Any] | None:
    """Of A-RIDE and of DigiRL in rounds, where both have it."""
    found = [result["methods"].get(name, {}).get(key) for name in ("a_ride", "digirl_sync")]
    return found if all(found) else None


def _ablations(result: Result | None, method: str) -> str:
    found = result["comparisons"]["ablations"] if result else {}
    gains = [found[name]["gain"] for name in (f"{method}_uniform", f"{method}_no_retrace") if name in found]
    return "; ".join(_loss(gain) for gain in gains) or NOTHING


def _loss(gain: Mapping[str, Any]) -> str:
    low, high = gain["ci95"]
    loss, most, least = (f"{-100 * share:.1f}".replace("-", "−") for share in (gain["estimate"], high, low))
    return f"{loss} ({most} to {least})"
