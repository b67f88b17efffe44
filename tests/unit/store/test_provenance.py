import json
from datetime import UTC, datetime

from distrl.store.provenance import describe


def test_provenance_says_what_a_run_was_made_with(monkeypatch):
    monkeypatch.setenv("JUDGE_API_KEY", "planted-secret")
    meta = describe(seed=7, command=["distrl", "train"], date=datetime(2025, 1, 2, 3, 4, 5, tzinfo=UTC))
    assert meta["seed"] == 7
    assert meta["command"] == ["distrl", "train"]
    assert meta["date"] == "2025-01-02T03:04:05+00:00"
    assert meta["code"]
    assert meta["libraries"]["numpy"]
    assert meta["hardware"]["cpus"] > 0
    assert "planted-secret" not in json.dumps(meta)
