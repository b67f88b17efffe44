"""The quickstart's bench reads what its runs summed up; that a quickstart runs is tested elsewhere."""

import json
import subprocess

import pytest

from distrl.bench import quickstart
from distrl.errors import ConfigError, DistrlError

SUMMARY = {"success_before": 0.4, "success_after": 0.6, "difference": 0.2, "difference_ci95": [0.1, 0.3]}
SUMMARY |= {"episodes": 128, "trajectories": 1500, "learner_steps": 190}


def test_every_seed_is_trained_once_and_its_rise_is_given_in_points(tmp_path, monkeypatch):
    commands = []

    def train(command):
        commands.append(command)
        run = tmp_path / f"seed-{len(commands) - 1}"
        run.mkdir()
        (run / "summary.json").write_text(json.dumps(SUMMARY))
        return subprocess.CompletedProcess(command, 0)

    monkeypatch.setattr(subprocess, "run", train)
    figures = quickstart.run(seeds=2, folder=str(tmp_path))
    again = quickstart.run(seeds=2, folder=str(tmp_path))
    assert figures["rise_points"] == again["rise_points"] == pytest.approx([20.0, 20.0])
    assert [command[-3] for command in commands] == ["run.seed=0", "run.seed=1"]

    # What another model has made is no figure of this one.
    monkeypatch.setattr(quickstart, "fingerprint", lambda config: "other weights")
    with pytest.raises(ConfigError, match=r"seed-0\.json was made with other settings or from another model"):
        quickstart.run(seeds=2, folder=str(tmp_path))


def test_other_settings_or_weights_have_another_fingerprint(monkeypatch):
    ours = quickstart.fingerprint("quickstart")
    assert ours == quickstart.fingerprint("quickstart") != quickstart.fingerprint("webshop")
    monkeypatch.setattr(quickstart, "weights_digest", lambda model: "of other weights")
    assert quickstart.fingerprint("quickstart") != ours


def test_a_run_that_fails_is_an_error(tmp_path, monkeypatch):
    monkeypatch.setattr(subprocess, "run", lambda command: subprocess.CompletedProcess(command, 1))
    with pytest.raises(DistrlError, match="seed-0 failed"):
        quickstart.run(seeds=1, folder=str(tmp_path))
