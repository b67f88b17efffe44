from __future__ import annotations

from typing import Any

import pytest

from distrl.bench import inference
from distrl.runtime.ray.inference_load import InferenceTimings


def test_local_and_remote_are_measured_in_turn_with_latencies_batches_and_rates(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[Any] = []

    def time_inference(builder: Any, *, steps: int, think_s: float) -> InferenceTimings:
        config = builder.config
        asked.append((config.workers.inference, config.policy.batch_wait_ms, config.run.seed))
        decisions = config.workers.count * config.devices.per_worker * steps
        return InferenceTimings(tuple(i / 1000 for i in range(1, 101)), batches=4, decisions=decisions, seconds=2.0)

    monkeypatch.setattr(inference, "time_inference", time_inference)
    figures = inference.run(workers=2, devices=3, steps=4, repeats=2, batch_wait_ms=7.0)
    assert asked == [("local", 0.0, 0), ("remote", 7.0, 0), ("local", 0.0, 1), ("remote", 7.0, 1)]
    assert figures["remote"]["latency_p50_ms"] == pytest.approx([50.5, 50.5])
    assert figures["remote"]["latency_p95_ms"] == pytest.approx([95.05, 95.05])
    assert figures["local"]["mean_batch"] == [6.0, 6.0]
    assert figures["local"]["decisions_per_s"] == [12.0, 12.0]
