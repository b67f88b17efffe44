"""What `summary.json` says of a run, whatever the run has come to."""

import json

from distrl.evaluation.summary import write_summary
from distrl.store.run import RunStore


def test_a_finished_run_has_before_after_and_the_interval_of_the_difference(run_folder):
    summary = write_summary(run_folder)
    assert json.loads((run_folder / "summary.json").read_text()) == summary
    assert 0 < summary["success_before"] < summary["success_after"] < 1
    assert summary["difference_ci95"][0] < summary["difference"] < summary["difference_ci95"][1]
    assert summary["episodes"] == 12
    assert summary["trajectories"] == 40


def test_a_run_that_has_just_begun_claims_nothing(tmp_path):
    RunStore.create(tmp_path / "young", {}, {}).close()
    summary = write_summary(tmp_path / "young")
    assert (summary["episodes"], summary["trajectories"], summary["learner_steps"]) == (0, 0, 0)
    assert not [key for key in summary if key.startswith(("success", "difference"))]


def test_one_evaluation_is_no_difference(tmp_path, run_folder):
    with RunStore.read(run_folder) as source, RunStore.create(tmp_path / "half", {}, {}) as store:
        played = list(source.evaluation_trajectories("before"))
        for digest in {step.screen.digest for t in played for step in t.steps} | {t.last_screen.digest for t in played}:
            store.blobs.put(source.blobs.get(digest))
        store.add_evaluation("before", 0, played, 0.0)
    summary = write_summary(tmp_path / "half")
    assert summary["episodes"] == 12
    assert summary["success_before"] > 0
    assert "difference_ci95" not in summary
