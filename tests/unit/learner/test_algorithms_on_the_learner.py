"""Every algorithm behind the same learner: the same protocol, no wasted work, and switches that switch."""

import numpy as np
import pytest
import torch
from batches import uses_critic

from distrl.registry import ALGORITHMS

NAMES = sorted(ALGORITHMS.names())
WITHOUT_CRITIC = [name for name in NAMES if not uses_critic(name)]
ABLATIONS = {
    "local_blame": ({"local_blame": True}, {}),
    "uniform replay": ({}, {"priority_exponent": 0.0}),
    "retrace off": ({"retrace": False}, {}),
    "entropy off": ({"entropy_bonus": 0.0}, {}),
    "invalid penalty off": ({"invalid_penalty": 0.0}, {}),
    "V_traj filter on": ({"trajectory_filter": 0.5}, {}),
}


def batch(toy, seed=0, count=6):
    rng = np.random.default_rng(seed)
    weights = toy.TablePolicy(seed=7).weights()
    played = [toy.play(weights, 0, rng, f"{seed}-{i}") for i in range(count)]
    return toy.uniform([toy.scripted("won", toy.RIGHT, "success", invalid=(1,)), *played])


def failures(toy):
    return toy.uniform([toy.scripted(f"lost-{i}", (1, 1, 1), "failure") for i in range(3)])


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("micro_batch", "resident_steps"), [(5, 1000), (5, 1), (1, 1)])
def test_micro_batches_and_two_passes_change_nothing_for_any_algorithm(toy, name, micro_batch, resident_steps):
    whole = toy.learner(algorithm={"name": name}, learner={"micro_batch": 1000, "resident_steps": 1000})
    parts = toy.learner(
        algorithm={"name": name}, learner={"micro_batch": micro_batch, "resident_steps": resident_steps}
    )
    for seed in range(3):
        one, other = whole.step(batch(toy, seed), toy.source), parts.step(batch(toy, seed), toy.source)
        assert one.metrics == pytest.approx(other.metrics, rel=1e-4, abs=1e-6)
    torch.testing.assert_close(whole.policy.logits, parts.policy.logits)
    torch.testing.assert_close(whole.policy.values, parts.policy.values)


@pytest.mark.parametrize("name", NAMES)
def test_every_algorithm_learns_the_toy_world(toy, name):
    """On its own data, a fresh batch each step."""
    learner = toy.learner(algorithm={"name": name}, learner={"learning_rate": 0.1})
    rng = np.random.default_rng(0)
    before = np.prod([learner.policy.probabilities()[i, button] for i, button in enumerate(toy.RIGHT)])
    for n in range(60):
        weights = learner.policy.weights()
        played = [toy.play(weights, learner.version, rng, f"{n}-{i}") for i in range(24)]
        learner.step(toy.uniform(played), toy.source)
    after = np.prod([learner.policy.probabilities()[i, button] for i, button in enumerate(toy.RIGHT)])
    assert before < 0.05
    assert after > 0.5


@pytest.mark.parametrize("name", WITHOUT_CRITIC)
def test_without_a_critic_no_step_is_spent_on_warming_one_up_and_every_step_is_scored_once(toy, name):
    learner = toy.learner(
        algorithm={"name": name}, learner={"critic_warmup_steps": 50, "resident_steps": 1, "micro_batch": 1000}
    )
    before, values = learner.policy.logits.detach().clone(), learner.policy.values.detach().clone()
    learner.step(batch(toy), toy.source)
    assert not torch.equal(before, learner.policy.logits)
    assert torch.equal(values, learner.policy.values)
    assert len(learner.policy.scored_at_once) == 1


def test_what_filtered_bc_would_not_imitate_is_not_even_scored(toy):
    learner = toy.learner(algorithm={"name": "filtered_bc"})
    sample = toy.uniform([toy.scripted("won", toy.RIGHT, "success"), *failures(toy).trajectories])
    report = learner.step(sample, toy.source)
    assert learner.policy.scored_at_once == [3]
    assert set(report.priorities) == {"won"}
    assert report.metrics["sample/success"] == 0.25
    assert report.metrics["sample/steps"] == 12


@pytest.mark.parametrize("name", WITHOUT_CRITIC)
def test_a_sample_that_teaches_nothing_moves_nothing_and_is_a_version_all_the_same(toy, name):
    learner = toy.learner(algorithm={"name": name}, learner={"weight_decay": 0.5})
    before = learner.policy.weights()
    report = learner.step(failures(toy), toy.source)
    assert report.idle
    assert report.publish
    assert not report.skipped
    assert learner.version == report.version == 1
    assert learner.policy.scored_at_once == []
    assert report.metrics["sample/left_out"] == 1.0
    for name_, array in learner.policy.weights().items():
        np.testing.assert_array_equal(array, before[name_])


@pytest.mark.parametrize("name", NAMES)
def test_diagnostics_are_in_every_report(toy, name):
    learner = toy.learner(algorithm={"name": name})
    learner.catch_up(4)
    metrics = learner.step(batch(toy), toy.source).metrics
    expected = {"ratio/mean", "ratio/p95", "ratio/effective_sample_size", "lag/p50", "lag/p95", "policy/entropy"}
    expected |= {"sample/success", "sample/steps", "sample/invalid_actions", "sample/steps_learned", "sample/left_out"}
    if name in ("a_ride", "grpo", "impala"):
        expected.add("ratio/clipped")
    if name != "filtered_bc":
        expected |= {f"advantage/{figure}" for figure in ("mean", "std", "p10", "p90")}
    if uses_critic(name):
        expected |= {"value/brier", "value/mean", "value/td_error"}
    assert expected <= set(metrics)
    assert metrics["lag/p50"] == 4.0
    assert metrics["sample/invalid_actions"] == pytest.approx(1 / metrics["sample/steps"])


@pytest.mark.parametrize("ablation", [name for name in ABLATIONS if name != "uniform replay"])
def test_every_switch_of_a_ride_changes_what_is_learned(toy, ablation):
    """Uniform replay changes what is drawn and not what is learned from it; see replay's tests."""
    base = {"entropy_bonus": 0.1}  # the default is too small to see in three steps
    algorithm, replay = ABLATIONS[ablation]
    full, other = toy.learner(algorithm=base), toy.learner(algorithm={**base, **algorithm}, replay=replay)
    for learner in (full, other):
        for seed in range(3):
            learner.step(batch(toy, seed), toy.source)
    assert (full.policy.logits - other.policy.logits).abs().max() > 1e-4


def test_the_entropy_switch_leaves_no_trace_of_entropy_in_the_loss(toy):
    learner = toy.learner(algorithm={"entropy_bonus": 0.0})
    assert learner.step(batch(toy), toy.source).metrics["loss/entropy"] == 0.0
