from dataclasses import replace

import numpy as np
import pytest
import torch

from distrl.errors import CanaryMismatch, TrainingDiverged
from distrl.learner.screen_loader import ScreenLoader
from distrl.types import Screen


def batch(toy, seed=0, count=6):
    rng = np.random.default_rng(seed)
    weights = toy.TablePolicy(seed=7).weights()
    played = [toy.play(weights, 0, rng, f"{seed}-{i}") for i in range(count)]
    return toy.uniform([toy.scripted("won", toy.RIGHT, "success", version=0), *played])


def sight(toy, learner):
    return ScreenLoader(learner.policy, toy.source, shared_features=True)


def test_the_terminal_step_is_learned_from(toy):
    learner = toy.learner()
    before = learner.policy.probabilities()[2, 3]
    learner.step(toy.uniform([toy.scripted("won", toy.RIGHT, "success")]), toy.source)
    assert learner.policy.probabilities()[2, 3] > before


def test_a_failed_action_becomes_less_likely_and_keeps_its_sign(toy):
    learner = toy.learner()
    before = learner.policy.probabilities()[2, 1]
    learner.step(toy.uniform([toy.scripted("lost", (2, 0, 1), "failure")]), toy.source)
    assert learner.policy.probabilities()[2, 1] < before


def test_retrace_teaches_something_else_than_one_step_and_than_the_return_as_played(toy):
    """Off-policy: the last action is one the policy hardly takes, so what it earned says little about the others."""
    learned = {}
    for name, algorithm in {
        "retrace": {"retrace": True},
        "one step": {"retrace": True, "trace_decay": 0.0},
        "as played": {"retrace": False},
    }.items():
        learner = toy.learner(algorithm={**algorithm, "normalise_advantage": False})
        with torch.no_grad():
            learner.policy.logits[2, 3] = -2.0
        for i in range(20):
            learner.step(toy.uniform([toy.scripted(f"{i}", toy.RIGHT, "success", logprob=-1.4)]), toy.source)
        learned[name] = learner.policy.values.detach()[:, 0].numpy()
    assert np.abs(learned["retrace"] - learned["one step"]).max() > 0.01
    assert np.abs(learned["retrace"] - learned["as played"]).max() > 0.01


@pytest.mark.parametrize(("micro_batch", "resident_steps"), [(5, 1000), (5, 1), (1, 1)])
def test_micro_batches_and_two_passes_change_nothing(toy, micro_batch, resident_steps):
    whole = toy.learner(learner={"micro_batch": 1000, "resident_steps": 1000})
    parts = toy.learner(learner={"micro_batch": micro_batch, "resident_steps": resident_steps})
    for seed in range(3):
        one, other = whole.step(batch(toy, seed), toy.source), parts.step(batch(toy, seed), toy.source)
        assert one.metrics == pytest.approx(other.metrics, rel=1e-4, abs=1e-6)
        assert one.priorities == pytest.approx(other.priorities, rel=1e-5)
    torch.testing.assert_close(whole.policy.logits, parts.policy.logits)
    torch.testing.assert_close(whole.policy.values, parts.policy.values)
    assert max(parts.policy.scored_at_once) <= micro_batch < max(whole.policy.scored_at_once)


def test_importance_weights_scale_what_a_trajectory_teaches(toy):
    pushes = []
    for weight in (1.0, 0.5):
        learner = toy.learner(algorithm={"entropy_bonus": 0.0})
        sample = replace(toy.uniform([toy.scripted("won", toy.RIGHT, "success")]), weights=np.array([weight]))
        learner._gradients(sample, sight(toy, learner))
        pushes.append(learner.policy.logits.grad.clone())
    torch.testing.assert_close(pushes[0], 2 * pushes[1])


def test_text_that_was_no_action_is_pushed_down_even_in_a_success(toy):
    clean, dirty = toy.learner(), toy.learner()
    clean.step(toy.uniform([toy.scripted("a", toy.RIGHT, "success")]), toy.source)
    dirty.step(toy.uniform([toy.scripted("a", toy.RIGHT, "success", invalid=(0,))]), toy.source)
    clean._gradients(toy.uniform([toy.scripted("a", toy.RIGHT, "success")]), sight(toy, clean))
    dirty._gradients(toy.uniform([toy.scripted("a", toy.RIGHT, "success", invalid=(0,))]), sight(toy, dirty))
    assert dirty.policy.logits.grad[0, 2] > clean.policy.logits.grad[0, 2]


def test_the_entropy_bonus_is_the_entropy_of_the_policy(toy):
    """Nothing but the bonus: a peaked table is flattened, the likeliest button loses most."""
    learner = toy.learner(algorithm={"entropy_bonus": 1.0, "ratio_clip": 1e-9})
    with torch.no_grad():
        learner.policy.logits[:] = torch.tensor([2.0, 0.0, 0.0, 0.0])
    before = learner.policy.probabilities()
    learner.step(toy.uniform([toy.scripted("a", (1, 1, 1), "failure")]), toy.source)
    after = learner.policy.probabilities()
    assert (after[:, 0] < before[:, 0]).all()
    np.testing.assert_allclose(after[:, 1], after[:, 2], rtol=1e-5)  # the button taken gains no more than the others


def test_only_screens_that_are_missing_are_fetched(toy):
    learner, source = toy.learner(), toy.Source()
    for _ in range(2):
        learner.step(batch(toy), source)
    assert sorted(source.asked) == sorted(s.digest for s in toy.SCREENS)


def test_metrics_say_lag_ratio_and_losses(toy):
    learner = toy.learner()
    learner.catch_up(10)
    sample = toy.uniform([toy.scripted(f"{v}", toy.RIGHT, "success", version=v) for v in (10, 8, 2)])
    metrics = learner.step(sample, toy.source).metrics
    assert metrics["lag/p50"] == 2.0
    assert metrics["lag/max"] == 8.0
    total = sum(metrics[f"loss/{name}"] for name in ("policy", "entropy", "value", "trajectory_value"))
    assert metrics["loss/total"] == pytest.approx(total)
    assert 0.0 < metrics["ratio/effective_sample_size"] <= 1.0
    assert metrics["trajectory_value/brier"] == pytest.approx(0.25)
    assert all(isinstance(value, float) for value in metrics.values())


def test_versions_go_up_by_one_and_are_published_when_due(toy):
    learner = toy.learner(learner={"publish_every": 3})
    due = [learner.step(batch(toy, seed), toy.source).publish for seed in range(6)]
    assert due == [False, False, True, False, False, True]
    assert learner.version == 6
    sealed = learner.sealed()
    assert sealed.version == 6
    assert sealed.intact


def test_the_policy_s_step_size_warms_up_and_the_critic_s_does_not(toy):
    learner = toy.learner(learner={"rate_warmup_steps": 3})
    rates = []
    for seed in range(5):
        learner.step(batch(toy, seed), toy.source)
        rates.append([group["lr"] for group in learner.optimiser.param_groups])
    np.testing.assert_allclose(np.array(rates)[:, 0], 0.05 * np.array([0.25, 0.5, 0.75, 1.0, 1.0]))
    np.testing.assert_allclose(np.array(rates)[:, 1], 0.05)


def test_the_policy_s_step_size_halves_with_its_half_life(toy):
    learner = toy.learner(learner={"rate_half_life_steps": 2})
    rates = []
    for seed in range(5):
        learner.step(batch(toy, seed), toy.source)
        rates.append(learner.optimiser.param_groups[0]["lr"])
    np.testing.assert_allclose(rates, 0.05 * 0.5 ** (np.arange(5) / 2))


def test_at_first_only_the_critics_learn(toy):
    learner = toy.learner(learner={"critic_warmup_steps": 2, "rate_warmup_steps": 1})
    start = [p.detach().clone() for p in learner.policy.policy_parameters()]
    critic = [p.detach().clone() for p in learner.policy.critic_parameters()]
    for seed in range(2):
        learner.step(batch(toy, seed), toy.source)
    assert all(torch.equal(a, b) for a, b in zip(start, learner.policy.policy_parameters(), strict=True))
    assert not all(torch.equal(a, b) for a, b in zip(critic, learner.policy.critic_parameters(), strict=True))
    learner.step(batch(toy, 2), toy.source)
    assert not all(torch.equal(a, b) for a, b in zip(start, learner.policy.policy_parameters(), strict=True))
    assert learner.optimiser.param_groups[0]["lr"] == 0.025


# --- the NaN guard ------------------------------------------------------------------------------


def test_a_loss_that_is_no_number_changes_nothing_and_names_its_batch(toy):
    learner = toy.learner()
    learner.step(batch(toy), toy.source)
    before, moments = learner.policy.weights(), learner.optimiser.state_dict()["state"][0]["exp_avg"].clone()
    learner.policy.poison = True
    sample = batch(toy, seed=1)
    report = learner.step(sample, toy.source)
    assert report.skipped
    assert report.ids == sample.ids
    assert report.priorities == {}
    assert not report.publish
    assert learner.version == 1
    for name, array in learner.policy.weights().items():
        np.testing.assert_array_equal(array, before[name])
    torch.testing.assert_close(learner.optimiser.state_dict()["state"][0]["exp_avg"], moments)
    assert all(np.isfinite(value) for value in report.metrics.values())


def test_an_infinite_gradient_is_skipped_too(toy):
    learner = toy.learner()
    learner.policy.logits.register_hook(lambda gradient: gradient * float("inf"))
    assert learner.step(batch(toy), toy.source).skipped
    assert learner.version == 0


def test_too_many_bad_steps_in_a_row_stop_the_run_with_advice(toy):
    learner = toy.learner(learner={"max_bad_steps": 3})
    learner.policy.poison = True
    assert learner.step(batch(toy), toy.source).skipped
    assert learner.step(batch(toy), toy.source).skipped
    with pytest.raises(TrainingDiverged, match=r"won.*learning_rate"):
        learner.step(batch(toy), toy.source)


def test_a_good_step_in_between_starts_the_count_anew(toy):
    learner = toy.learner(learner={"max_bad_steps": 2})
    for _ in range(3):
        learner.policy.poison = True
        assert learner.step(batch(toy), toy.source).skipped
        learner.policy.poison = False
        assert not learner.step(batch(toy), toy.source).skipped


def test_rolling_back_gives_the_old_weights_a_new_version_and_happens_once(toy):
    def roll_back(learner):
        learner.version = 2  # as a checkpoint would
        learner.policy.load(good)

    learner = toy.learner(roll_back=roll_back, learner={"max_bad_steps": 1})
    for seed in range(4):
        learner.step(batch(toy, seed), toy.source)
        if learner.version == 2:
            good = learner.sealed()
    learner.policy.poison = True
    report = learner.step(batch(toy), toy.source)
    assert report.skipped
    assert report.publish
    assert learner.version == 5
    np.testing.assert_array_equal(learner.sealed().arrays["logits"], good.arrays["logits"])
    with pytest.raises(TrainingDiverged):
        learner.step(batch(toy), toy.source)


# --- the canary ---------------------------------------------------------------------------------


def test_the_canary_passes_when_worker_and_learner_agree(toy):
    learner = toy.learner()
    rng = np.random.default_rng(0)
    played = [toy.play(learner.policy.weights(), 0, rng, f"{i}") for i in range(6)]
    result = learner.canary(played, toy.source)
    assert result.steps == 3 * learner.config.learner.canary_trajectories
    assert result.largest_difference < 1e-6


def test_the_canary_says_by_how_much_where_and_why(toy):
    learner = toy.learner()
    other = toy.TablePolicy(seed=1).weights()
    played = toy.play({**other, "logits": 20 * other["logits"]}, 0, np.random.default_rng(0), "played-elsewhere")
    with pytest.raises(CanaryMismatch, match=r"per token apart.*step \d of trajectory played-elsewhere.*temperature"):
        learner.canary([played], toy.source)


def test_the_canary_ignores_trajectories_of_other_versions(toy):
    learner = toy.learner()
    stale = toy.scripted("stale", toy.RIGHT, "success", logprob=-50.0, version=3)
    assert learner.canary([stale], toy.source).steps == 0


def test_the_canary_takes_a_log_probability_that_is_no_number_for_a_mismatch(toy):
    learner = toy.learner()
    played = toy.play(learner.policy.weights(), 0, np.random.default_rng(0), "a")
    learner.policy.poison = True
    with pytest.raises(CanaryMismatch):
        learner.canary([played], toy.source)


# --- features that workers shared ---------------------------------------------------------------


def shared(toy, rows=(0, 1, 2)):
    return {s.digest: np.array([[row]], np.float32) for s, row in zip(toy.SCREENS, rows, strict=True)}


def test_shared_features_spare_the_learner_the_images_and_change_no_result(toy):
    looks, reads = toy.learner(), toy.learner()
    by_image = looks.step(batch(toy), toy.Source())
    source = toy.Source(shared(toy))
    by_features = reads.step(batch(toy), source)
    assert by_features.priorities == by_image.priorities
    assert source.asked == []
    assert reads.policy.looked_at == []
    assert (by_image.metrics["screens/adopted"], by_image.metrics["screens/fetched"]) == (0, 3)
    assert (by_features.metrics["screens/adopted"], by_features.metrics["screens/fetched"]) == (3, 0)
    torch.testing.assert_close(reads.policy.logits, looks.policy.logits)


def test_features_that_were_lost_are_computed_from_the_image(toy):
    learner, features = toy.learner(), shared(toy)
    lost = features.popitem()[0]
    report = learner.step(batch(toy), source := toy.Source(features))
    assert source.asked == learner.policy.looked_at == [lost]
    assert report.priorities == toy.learner().step(batch(toy), toy.Source()).priorities


def test_features_that_do_not_fit_are_refused_and_the_images_looked_at(toy):
    learner, features = toy.learner(), shared(toy)
    features[toy.SCREENS[1].digest] = np.zeros((2, 1), np.float32)
    report = learner.step(batch(toy), toy.Source(features))
    assert len(learner.policy.looked_at) == 3
    assert report.metrics["screens/adopted"] == 0
    assert report.priorities == toy.learner().step(batch(toy), toy.Source()).priorities


def test_features_are_not_asked_for_when_workers_share_none(toy):
    learner = toy.learner(workers={"share_features": False})
    learner.step(batch(toy), source := toy.Source(shared(toy)))
    assert len(source.shared) == len(source.asked) == 3


@pytest.mark.parametrize("adopted_before", [False, True])
def test_the_canary_looks_at_the_images_whatever_features_were_shared(toy, adopted_before):
    """Images out of order while features are right: only who looks at the images can tell."""

    class Misaligned(toy.Source):
        def screens(self, digests):
            images = [screen.image for screen in toy.SCREENS]
            at = [[s.digest for s in toy.SCREENS].index(digest) for digest in digests]
            return [Screen(images[i - 1], 10, 20, digest=digest) for i, digest in zip(at, digests, strict=True)]

    learner = toy.learner()
    with torch.no_grad():
        learner.policy.logits[0, 0] += 3.0
    played = [toy.play(learner.policy.weights(), 0, np.random.default_rng(0), "a")]
    if adopted_before:
        learner.policy.adopt(toy.SCREENS, shared(toy))
    with pytest.raises(CanaryMismatch):
        learner.canary(played, Misaligned(shared(toy)))
    wrong = shared(toy, rows=(1, 2, 0))
    if adopted_before:
        learner.policy.adopt(toy.SCREENS, wrong)
    assert learner.canary(played, toy.Source(wrong)).steps == 3
