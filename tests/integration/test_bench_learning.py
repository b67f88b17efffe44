"""`distrl bench learning` from the command to its files, with tiny amounts: the machinery, not the figures."""

from __future__ import annotations

import json
from pathlib import Path

from typer.testing import CliRunner

from distrl.cli.main import app
from distrl.store.run import RunStore

TINY = (
    "run.learner_steps=1",
    "devices.per_worker=3",
    "replay.warmup=3",
    "learner.trajectories_per_step=2",
    "learner.critic_warmup_steps=0",
    "evaluation.episodes=2",
    "policy.max_new_tokens=8",
)
KEYS = ("final_success", "final_success_ci95", "test_templates", "test_apps", "seconds_to_60", "seconds_to_90")


def test_two_methods_side_by_side_from_the_command_to_json_table_and_pictures(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    command = ["bench", "learning", "--methods", "a_ride,digirl_sync", "--seeds", "1", "--minutes", "5"]
    command += ["--profile", "none", "--parallel", "2", "--json", "out.json", "--plots", "plots", *TINY]
    shown = CliRunner().invoke(app, command)
    assert shown.exit_code == 0, shown.output

    result = json.loads(Path("out.json").read_text())
    assert result["methods"].keys() == {"a_ride", "digirl_sync"}
    for name, method in result["methods"].items():
        assert method["failed"] == {}, shown.output
        assert set(KEYS) <= method.keys()
        assert len(method["per_seed"][0]["outcomes"]["test-apps"]) == 2
        assert method["trajectories"] >= 3
        assert method["learner_steps"] >= 1
        with RunStore.read(Path("runs/learning-general") / f"{name}-0") as store:
            assert store.config["devices"]["address"] == "sim://phone?latency=none"
    assert result["warm_start"]["final_success"] is not None

    assert "| DigiRL, synchronous |" in shown.output
    assert Path("runs/learning-general/learning.md").read_text() in shown.output
    assert list(Path("plots").glob("*.svg"))

    again = CliRunner().invoke(app, command)
    assert again.exit_code == 0, again.output
    assert "0 of 3 runs to do" in again.output
