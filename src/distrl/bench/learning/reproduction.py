"""docs/reproduction.md, made from the published results by `python -m distrl.bench.learning.reproduction`.

The paper's figures stand beside ours; what no file in `results/` says is "not measured yet".
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from distrl.bench.learning.headlines import headlines
from distrl.bench.learning.table import conditions, percent, rows, sentences

Results = Mapping[str, Mapping[str, Any] | None]
"""By table: what `results/learning-<table>.json` holds, or None."""
Reader = Callable[[Mapping[str, Any]], str | None]
Claim = tuple[str, str, str, Reader]
"""What, the paper's figure, the methods that ours needs, and how to read ours out of a result."""

SUITES = {"general": "General", "webshop": "Web Shopping"}
LAG, COLD, BEGINNER, REUSE, PAPER, LAPTOP = "lag", "cold", "beginner", "reuse", "paper", "laptop"
TITLES = {
    **SUITES,
    **{f"{BEGINNER}-{suite}": f"{title}, from a beginner" for suite, title in SUITES.items()},
    **{f"{REUSE}-{suite}": f"{title}, from a beginner, reuse 16" for suite, title in SUITES.items()},
    **{f"{PAPER}-{suite}": f"{title}, from a beginner, 32 phones" for suite, title in SUITES.items()},
    **{f"{LAPTOP}-{suite}": f"{title}, from a beginner, two cores, no GPU" for suite, title in SUITES.items()},
    LAG: "General under large lag",
    **{f"{COLD}-{suite}": f"{title}, 600 phones, temperature 0.5" for suite, title in SUITES.items()},
}
EARLIER = """From the earlier `pocket`, which recognised more than it read;
`git checkout e79a392 -- src/distrl/policies/pocket/weights` brings it back."""
NEWBORN = """From a `pocket` that reads, but left imitation after the first of its sets:
[results/starts/beginner](../results/starts/beginner/README.md)."""
TWICE = """Every method may see a trajectory 16 times in place of 8 (`pacing.max_reuse`), and has the time for it: the
five runs of both suites side by side, three cores each, where the race above had eight runs with two."""
FEW = """As many phones as the paper had, and about as many episodes on each: a thousand trajectories in all, which
every method may see 64 times. The eight runs of both suites side by side, two cores each, started by a script around
this bench's own jobs; the command put their records together and tested the warm start, on two cores without a GPU.
**The setting was chosen after looking**: that few phones part the methods, and that A-RIDE gains by `algorithm.trust`
0.2, was seen in single runs with 64 phones whose tests were these same tasks. Of A-RIDE four variants were tried there,
of DigiRL two. Read the ratios as a lead until seeds that nobody chose by have been run."""
SLOW = """Two cores and no GPU, one run after the other: 24 phones play more than the learner can take in, so that a
trajectory is seen about twice. A-RIDE chooses which (`replay.newcomers=ranked`; DigiRL draws uniformly, and is not
touched by it). Size of a sample, learning rate and mean of the last steps are the quickstart's."""
SHIPS = "From the `pocket` that ships; the three runs of both suites side by side, five cores each."
NOTES = {
    **dict.fromkeys((*SUITES, LAG), EARLIER),
    **{f"{BEGINNER}-{suite}": NEWBORN for suite in SUITES},
    **{f"{REUSE}-{suite}": f"{NEWBORN} {TWICE}" for suite in SUITES},
    **{f"{PAPER}-{suite}": f"{NEWBORN} {FEW}" for suite in SUITES},
    **{f"{COLD}-{suite}": SHIPS for suite in SUITES},
    **{f"{LAPTOP}-{suite}": f"{NEWBORN} {SLOW}" for suite in SUITES},
}
EMULATORS = 32
"""As many as the paper had."""
NOT_YET = "not measured yet"
BOTH = "a_ride,digirl_sync"
RATIO = "a_ride,digirl_sync,digirl_async"
BEST, DIGIRLS = "best_digirl", {"digirl_sync", "digirl_async"}
FASTER = "training efficiency: synchronous DigiRL's time over A-RIDE's to the same success"
MORE = "trajectories in the same time, A-RIDE over synchronous DigiRL"
HEAD = """# Reproduction: the paper's figures beside ours

The paper is [DistRL, arXiv 2410.14803](https://arxiv.org/abs/2410.14803). Every figure of ours has the command that
makes it and a JSON file in `results/` with command, versions, hardware and date. This page is made from those files by
`make docs`; do not edit it by hand.

## What differs

- **Phones.** The paper plays Android-in-the-Wild tasks on Android emulators. We play simulated phones with apps, state
  and pop-ups of their own; the latency profile `emulator` makes them as slow as an emulator on a busy machine. Goals
  are of the paper's kinds, not its instructions.
- **Model.** The paper trains Auto-UI-Base (T5 and BLIP-2 features). We train `pocket`, a vision-language model of 4.7M
  parameters that ships with the package and was taught by imitation on simulated phones.
- **Judge.** The paper asks Gemini-1.5-Pro; our rules look at the phone's state and are right by construction.
- **Time and machines.** The paper trains for 100 minutes and more on four V100 and two workers with eight T4 each. We
  train for minutes, on one machine.
- **Algorithm.** On purpose, the importance ratio is truncated and carries no gradient; the invalid-action penalty
  enters as reward; entropy is that of the token distributions; priorities are really sampled from, with importance
  weights; the terminal step is always part of a sample. [algorithms.md](algorithms.md) has all of it, and what we do
  where the paper is silent. The paper's DigiRL "on one machine" has no row of ours: synchronous training is one setting
  of our one system.
- **Tests.** Our test-instances have goals that are not in train, test-templates templates that are not, test-apps apps
  that are not. The paper's test split is closest to our test-instances.
- **What there is to learn.** Of the paper's warm start no greedy figure is known. The earlier `pocket`, from which the
  races of all methods start, is less ignorant than unsure: played greedily it has most of what methods gain in four
  minutes. Such a race measures first how fast a method makes a policy sure of what it half knows, and only then what it
  learns beyond ([log](log/index.md)). The races from a beginner, which wins one task in six of General, leave more to
  learn.

So absolute figures cannot be compared, and are not meant to be. What can be compared is who is ahead, by how much, and
in what share of the time.

## How it is measured

`distrl bench learning` starts every method from the same weights and gives each the same minutes, the same phones and
the same share of the cores; a method is one line in `src/distrl/bench/learning/methods.py`. Evaluation is not part of
the minutes. Runs that are finished are not run again, so that a race can be interrupted, moved in parts, or given one
more method: the records in `runs/learning-<suite>/records` are all it needs. Those of the published runs are in
`results/records`.

- Training success: episodes on training tasks in a window of a fifth of the run, every template weighted the same.
- Test success: the final policy on 128 tasks of each test split (192 where there was no GPU), the same tasks for all.
  Intervals: bootstrap over the tasks, shared by all methods, and over each method's seeds. A ratio to "the best" looks
  for the best in every draw.
- Greedy: the same test tasks, always with the likeliest token in place of a sampled one. It tells what a policy knows
  from how surely it says it.
- Times: where the mean training curve over the seeds is at a level for the first time.
- Stability: success in a run's last fifth over that in its best fifth.
"""


def page(results: Path, images: Path) -> str:
    """The whole page, from a folder of results and one of pictures."""
    found = {name: _read(results / f"learning-{name}.json") for name in TITLES}
    collection = _throughput(_read(results / "async.json"))
    return "\n".join([HEAD, *headlines(found), *_claims(found), *_tables(found, images), collection])


def command(suite: str, result: Mapping[str, Any] | None) -> str:
    if result:
        return shlex.join(result["command"])
    return f"distrl bench learning --suite {suite} --profile emulator --json results/learning-{suite}.json"


def _claims(results: Results) -> Iterator[str]:
    yield "## Success, headlines and ablations\n"
    yield "Success in percent; ours is training success at the end / success on test-instances (95 % interval).\n"
    yield "| suite | what | paper | ours | `--methods` |\n|---|---|---|---|---|"
    for name, claims in CLAIMS.items():
        for what, paper, methods, reader in claims:
            result = results[name]
            ours = (reader(result) if result else None) or NOT_YET
            yield f"| {TITLES[name]} | {what} | {paper} | {ours} | `{methods}` |"
    yield ""
    for suite, title in SUITES.items():
        yield f"All rows of {title}; with `--methods` just those of a row: `{command(suite, results[suite])}`\n"


def _tables(results: Results, images: Path) -> Iterator[str]:
    for suite, title in TITLES.items():
        yield f"## All methods: {title}\n"
        result = results[suite]
        if result is None:
            yield f"{NOT_YET[0].upper()}{NOT_YET[1:]}.\n"
            continue
        yield "\n".join([NOTES[suite], "", conditions(result), "", *rows(result), "", *sentences(result), ""])
        if suite not in SUITES:
            yield f"`{command(suite, result)}`\n"
        for picture in sorted(images.glob(f"learning-{suite}-*.svg")):
            yield f"![{picture.stem.replace('-', ' ')}](images/{picture.name})\n"


def _throughput(measured: Mapping[str, Any] | None) -> str:
    rows = {row["devices"]: row for row in (measured or {}).get("rows", ()) if row["profile"] == "paper"}
    rate = share = NOT_YET
    if row := rows.get(EMULATORS):
        low, high = row["ratio_ci95"]
        faster = f"{row['ratio']:.1f} times ({low:.1f} to {high:.1f})"
        rate = f"{row['async_per_min']:.1f} against {row['sync_per_min']:.1f}, {faster}"
        share = ", ".join(f"{100 * one['async_efficiency']:.0f} % with {n}" for n, one in sorted(rows.items()))
    return f"""## Collection

Devices that only take their time, with the paper's durations (profile `paper`) and as many as the paper had; what each
figure is stands in [benchmarks.md](benchmarks.md). `{_async_command(measured)}`

| what | paper | ours |
|---|---|---|
| trajectories per minute, {EMULATORS} devices, against synchronous | 7.7 against 3.2, 2.4 times | {rate} |
| share of its own ideal, by number of devices | 53 % | {share} |
"""


def _async_command(measured: Mapping[str, Any] | None) -> str:
    return shlex.join(measured["command"]) if measured else "distrl bench async --json results/async.json"


# --- what the paper says, and where ours stands -------------------------------------------------------


def _success(method: str, test: str = "final_success") -> Reader:
    def read(result: Mapping[str, Any]) -> str | None:
        figures = result["warm_start"] if method == "warm_start" else result["methods"].get(method, {})
        if figures.get(test) is None:
            return None
        low, high = figures[f"{test}_ci95"]
        train = percent(figures.get("training_success"))
        return f"{train} / {percent(figures[test])} ({percent(low)} to {percent(high)})"

    return read


def _ratio(to: str) -> Reader:
    def read(result: Mapping[str, Any]) -> str | None:
        if to == BEST and not DIGIRLS.issubset(result["methods"]):
            return None  # the better of one is no comparison
        one = result["comparisons"].get(f"ratio_to_{to}", {}).get("test_instances")
        if not one or not one["ratio"]:
            return None
        low, high = one["ratio"]["ci95"]
        return f"{one['ratio']['estimate']:.2f} ({low:.2f} to {high:.2f})"

    return read


def _efficiency(result: Mapping[str, Any]) -> str | None:
    fraction = result["comparisons"]["reaching_digirl_sync"].get("fraction")
    return f"{1 / fraction:.1f} times" if fraction else None


def _collection(result: Mapping[str, Any]) -> str | None:
    played = [result["methods"].get(name, {}).get("trajectories") for name in ("a_ride", "digirl_sync")]
    return f"{played[0] / played[1]:.1f} times" if all(played) else None


def _ablation(name: str) -> Reader:
    def read(result: Mapping[str, Any]) -> str | None:
        one = result["comparisons"]["ablations"].get(name)
        if one is None:
            return None
        low, high = one["gain"]["ci95"]
        return f"{-100 * one['gain']['estimate']:+.1f} points ({-100 * high:+.1f} to {-100 * low:+.1f})"

    return read


ASYNCHRONOUS_RATIO = "1.10 in training (78.5 and 71.5 off one plot)"
"""What the paper shows of A-RIDE over a DigiRL on the same asynchronous feed."""


def _from_a_beginner(test_ratio: str, best_ratio: str = "–") -> list[Claim]:
    return [
        ("warm start, no RL, train / test", "–", "a_ride", _success("warm_start")),
        ("A-RIDE, train / test", "–", "a_ride", _success("a_ride")),
        ("A-RIDE over synchronous DigiRL, test", test_ratio, BOTH, _ratio("digirl_sync")),
        ("A-RIDE over the best DigiRL, test", best_ratio, RATIO, _ratio(BEST)),
        (FASTER, "3 times", BOTH, _efficiency),
        (MORE, "2.4 times", BOTH, _collection),
    ]


def _rows(*paper: str) -> list[Claim]:
    names = ("warm start, no RL", "DigiRL, synchronous", "DigiRL, asynchronous feed", "A-RIDE")
    methods = ("warm_start", "digirl_sync", "digirl_async", "a_ride")
    rows = [
        (f"{name}, train / test", figures, method.replace("warm_start", "a_ride"), _success(method))
        for name, figures, method in zip(names, paper, methods, strict=True)
    ]
    greedy = ("warm start, greedy, train / test", "–", "a_ride", _success("warm_start", "test_instances_greedy"))
    return [rows[0], greedy, *rows[1:]]


CLAIMS: dict[str, list[Claim]] = {
    "general": [
        *_rows("38.3 / 40.6", "67.7 ± 1.3 / 61.2 ± 2.4", "71.5 in training (off a plot)", "75.5 ± 0.2 / 73.2 ± 1.1"),
        ("A-RIDE over synchronous DigiRL, test", "1.20", BOTH, _ratio("digirl_sync")),
        ("A-RIDE over the best DigiRL, test", ASYNCHRONOUS_RATIO, RATIO, _ratio(BEST)),
        (FASTER, "3 times", BOTH, _efficiency),
        (MORE, "2.4 times", BOTH, _collection),
        ("without DPER (uniform replay)", "about −8 %", "a_ride,a_ride_uniform", _ablation("a_ride_uniform")),
        ("without Retrace", "about −6 %, unstable", "a_ride,a_ride_no_retrace", _ablation("a_ride_no_retrace")),
    ],
    LAG: [
        ("without DPER (uniform replay)", "–", "lag", _ablation("a_ride_lag16_uniform")),
        ("without Retrace", "–", "lag", _ablation("a_ride_lag16_no_retrace")),
    ],
    f"{BEGINNER}-general": _from_a_beginner("1.20", ASYNCHRONOUS_RATIO),
    f"{REUSE}-general": _from_a_beginner("1.20", ASYNCHRONOUS_RATIO),
    f"{PAPER}-general": _from_a_beginner("1.20", ASYNCHRONOUS_RATIO),
    f"{LAPTOP}-general": _from_a_beginner("1.20", ASYNCHRONOUS_RATIO),
    "webshop": [
        *_rows("42.2 / 44.5", "64.5 ± 1.1 / 59.9 ± 2.8", "–", "69.8 ± 0.5 / 68.5 ± 1.7"),
        ("A-RIDE over synchronous DigiRL, test", "1.14", BOTH, _ratio("digirl_sync")),
        ("A-RIDE over the best DigiRL, test", "–", RATIO, _ratio(BEST)),
        (FASTER, "–", BOTH, _efficiency),
    ],
    f"{BEGINNER}-webshop": _from_a_beginner("1.14"),
    f"{REUSE}-webshop": _from_a_beginner("1.14"),
    f"{PAPER}-webshop": _from_a_beginner("1.14"),
    f"{LAPTOP}-webshop": _from_a_beginner("1.14"),
}


def _read(path: Path) -> Mapping[str, Any] | None:
    if not path.is_file():
        return None
    result: Mapping[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return result


if __name__ == "__main__":
    print(page(Path("results"), Path("docs/images")), end="")
