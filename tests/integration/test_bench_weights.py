"""`bench weights` on Ray, with as little of everything as there can be; what it measured does not matter here."""

from __future__ import annotations

from distrl.bench import weights


def test_versions_travel_from_a_learner_to_the_worker_through_a_whole_run():
    figures = weights.run(megabytes=("1",), publishes=2, workers=1, devices=2, action_s=0.02, step_s=1.5)
    row = figures["1 MB"]
    assert row["publishes"] >= 2
    assert len(row["latency_ms"]) == len(row["device_lost_ms"]) == row["publishes"]
    assert min(row["latency_ms"]) > 0.0
    assert row["wait_ms"]["quiet"]["step"]["count"] > 0
