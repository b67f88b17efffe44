"""The result as Markdown: one row per method, and sentences on the comparisons."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from textwrap import shorten
from typing import Any

Tree = Mapping[str, Any]

COLUMNS = (
    "method",
    "test-instances",
    "greedy",
    "test-templates",
    "test-apps",
    "training",
    "to 60 %",
    "to 90 %",
    "trajectories",
    "learner steps",
    "lag p50",
    "stability",
)
TEST_KEYS = ("final_success", "test_instances_greedy", "test_templates", "test_apps")
NOTHING = "–"
LONGEST_REASON = 160
"""Characters of an error that are shown; all of it is in the run's record."""


def markdown(result: Tree) -> str:
    """The whole page."""
    return "\n".join(
        [f"# Learning on `{result['suite']}`", "", conditions(result), "", *rows(result), "", *sentences(result), ""]
    )


def conditions(result: Tree) -> str:
    """The conditions of the measurement, in a sentence or two."""
    gpus = {name for hardware in _list(result["hardware"]) for name in hardware["gpus"]}
    cpus = " and ".join(f"{hardware['cpus']} cores" for hardware in _list(result["hardware"]))
    return (
        f"{result['minutes']:g} minutes of training each, {_count(result['seeds'], 'seed')}, "
        f"latency `{result['profile']}`, {cpus}{''.join(f', {name}' for name in sorted(gpus))}, {result['date'][:10]}. "
        f"Success in percent, 95 % intervals over tasks and seeds; times are those at which the training curve is at "
        f"60 % and 90 % of the best final training success ({percent(result['best_training_success'])} %)."
    )


def rows(result: Tree) -> Iterator[str]:
    yield f"| {' | '.join(COLUMNS)} |"
    yield f"|{'---|' * len(COLUMNS)}"
    if result["warm_start"]:
        yield _row("warm start, no RL", result["warm_start"])
    for method in result["methods"].values():
        yield _row(_label(method, result["seeds"]), method)


def _row(label: str, figures: Tree) -> str:
    cells = [
        label,
        *(_with_interval(figures, key) for key in TEST_KEYS),
        percent(figures.get("training_success")),
        *(_seconds(figures[key]) if key in figures else NOTHING for key in ("seconds_to_60", "seconds_to_90")),
        *(_whole(figures.get(key)) for key in ("trajectories", "learner_steps")),
        _whole(figures.get("diagnostics", {}).get("lag/p50")),
        _decimal(figures.get("stability")),
    ]
    return f"| {' | '.join(cells)} |"


def sentences(result: Tree) -> Iterator[str]:
    """The comparisons, one sentence each."""
    comparisons = result["comparisons"]
    for test, one in comparisons["ratio_to_best_digirl"].items():
        yield f"- A-RIDE over the best DigiRL ({one['best']}) on {test.replace('_', '-')}: {_interval(one['ratio'])}"
    if one := comparisons.get("ratio_to_digirl_sync", {}).get("test_instances"):
        yield f"- A-RIDE over synchronous DigiRL on test-instances: {_interval(one['ratio'])}"
    if reaching := comparisons["reaching_digirl_sync"]:
        yield (
            f"- A-RIDE is at synchronous DigiRL's final training success ({percent(reaching['target'])} %) after "
            f"{_seconds(reaching['seconds'])}; DigiRL itself after {_seconds(reaching['digirl_sync_seconds'])}: "
            f"{_decimal(reaching['fraction'])} of its time, {_decimal(reaching['fraction_of_the_run'])} of the run"
        )
    for name, one in comparisons["ablations"].items():
        verdict = "beaten by it" if one["full_is_beaten"] else "better" if one["piece_pays"] else "within noise"
        gain = {"estimate": 100 * one["gain"]["estimate"], "ci95": [100 * end for end in one["gain"]["ci95"]]}
        yield f"- {one['against']} less {name}, test-instances: {_interval(gain, 1)} points; {verdict}"
    fallen = comparisons["collapsed"]
    yield f"- runs that collapsed: {', '.join(fallen) if fallen else 'none'}"
    for name, method in result["methods"].items():
        for seed, reason in method["failed"].items():
            yield f"- **{name}, seed {seed}, failed**: {shorten(reason, LONGEST_REASON, placeholder=' …')}"


def percent(rate: float | None) -> str:
    return NOTHING if rate is None else f"{100 * rate:.1f}"


def _with_interval(figures: Tree, key: str) -> str:
    if figures.get(key) is None:
        return NOTHING
    low, high = figures[f"{key}_ci95"]
    some = f"; {_count(figures[f'{key}_runs'], 'seed')}" if f"{key}_runs" in figures else ""
    return f"{percent(figures[key])} ({percent(low)} to {percent(high)}{some})"


def _label(method: Tree, most: int) -> str:
    seeds = method.get("seeds", most)
    if method["runs"] != seeds:
        return f"{method['label']} ({method['runs']} of {_count(seeds, 'run')})"
    return method["label"] if seeds == most else f"{method['label']} ({_count(seeds, 'seed')})"


def _interval(value: Tree | None, digits: int = 2) -> str:
    if value is None:
        return "no ratio, the lower one may be 0"
    low, high = value["ci95"]
    return f"{value['estimate']:.{digits}f} ({low:.{digits}f} to {high:.{digits}f})"


def _seconds(value: float | None) -> str:
    return "never" if value is None else f"{value:.0f} s"


def _whole(value: float | None) -> str:
    return NOTHING if value is None else f"{value:,.0f}"


def _decimal(value: float | None) -> str:
    return NOTHING if value is None else f"{value:.2f}"


def _count(number: int, thing: str) -> str:
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
