"""The paper's claims beside ours, out of results."""

from __future__ import annotations

from distrl.bench.learning.headlines import headlines

TABLES = [f"{table}-{suite}" for table in ("paper", "reuse", "laptop", "beginner") for suite in ("general", "webshop")]
NOTHING_MEASURED = dict.fromkeys([*TABLES, "general", "lag"])


def rows(**results):
    lines = headlines({**NOTHING_MEASURED, **{name.replace("_", "-"): result for name, result in results.items()}})
    return [line for line in lines if line.startswith("| ")]


def result(seeds=(3, 1), **comparisons):
    methods = {"a_ride": {"seeds": seeds[0], "trajectories": 900}, "digirl_sync": {"seeds": seeds[1]}}
    known = {"ratio_to_best_digirl": None, "ratio_to_digirl_sync": None, "reaching_digirl_sync": {}, "ablations": {}}
    return {"methods": methods, "comparisons": {**known, **comparisons}}


def ratio(estimate, low, high):
    return {"test_instances": {"ratio": {"estimate": estimate, "ci95": [low, high]}}}


def test_what_no_result_holds_is_a_dash():
    assert all(row.endswith("– |") for row in rows())


def test_a_ratio_has_its_interval_and_says_where_the_rival_has_fewer_seeds():
    table = rows(laptop_webshop=result(ratio_to_digirl_sync=ratio(1.301, 1.166, 1.464)))
    assert "1.30 (1.17 to 1.46), one seed in rounds |" in table[2]
    table = rows(laptop_webshop=result(seeds=(3, 3), ratio_to_digirl_sync=ratio(1.301, 1.166, 1.464)))
    assert table[2].endswith("1.30 (1.17 to 1.46) |")


def test_the_best_of_one_rival_is_no_comparison_on_the_same_feed():
    assert "1.10" not in rows(paper_webshop=result(ratio_to_best_digirl=ratio(1.1, 1.0, 1.2)))[3].split("training")[1]


def test_an_ablation_is_a_loss_whose_interval_turns_around():
    gain = {"gain": {"estimate": 0.035, "ci95": [-0.047, 0.119]}}
    table = rows(general=result(ablations={"a_ride_uniform": gain}))
    assert "| −3.5 (−11.9 to 4.7) | – |" in table[8]
