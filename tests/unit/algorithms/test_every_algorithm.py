"""What holds for all algorithms, whatever they optimise."""

from dataclasses import replace

import pytest
import torch
from batches import algorithm, on_policy, random_batch, random_estimates, uses_critic, wider

from distrl.algorithms.base import Batch, Estimates
from distrl.config import Config
from distrl.registry import ALGORITHMS

NAMES = sorted(ALGORITHMS.names())
COMMON = {"ratio/mean", "ratio/p95", "ratio/effective_sample_size", "policy/entropy", "sample/steps_learned"}


def total(built, batch, estimates):
    return sum(built.losses(built.plan(batch, estimates).targets, estimates).values())


def test_every_algorithm_can_be_named_in_a_config():
    for name in NAMES:
        assert Config.model_validate({"algorithm": {"name": name}}).algorithm == ALGORITHMS.load(name)()


@pytest.mark.parametrize("name", NAMES)
def test_padding_changes_nothing(name):
    batch, estimates, built = random_batch(), random_estimates(), algorithm(name)
    narrow, wide = built.plan(batch, estimates), built.plan(wider(batch), estimates)
    for field in ("policy_weight", "step_weight", "value", "outcome", "behaviour_logprob"):
        torch.testing.assert_close(getattr(narrow.targets, field), getattr(wide.targets, field))
    torch.testing.assert_close(narrow.priorities, wide.priorities)
    assert narrow.metrics == pytest.approx(wide.metrics)


@pytest.mark.parametrize("name", NAMES)
def test_losses_in_pieces_sum_to_the_whole(name):
    batch, estimates, built = random_batch(), random_estimates(), algorithm(name)
    targets = built.plan(batch, estimates).targets
    pieces = [built.losses(targets.part(s), estimates.part(s)) for s in (slice(0, 3), slice(3, 4), slice(4, 10))]
    for term, loss in built.losses(targets, estimates).items():
        torch.testing.assert_close(loss, sum(piece[term] for piece in pieces))


@pytest.mark.parametrize("name", NAMES)
def test_the_step_that_ended_a_success_is_made_likelier(name):
    batch = random_batch()
    estimates = on_policy(batch, random_estimates())
    total(algorithm(name, invalid_penalty=0.0, instruction_filter=0.0), batch, estimates).backward()
    gradient = batch.pad(estimates.logprob.grad)[batch.terminal]
    assert (gradient[batch.outcome > 0] < 0).all()


@pytest.mark.parametrize("name", ["a_ride", "grpo", "impala"])
def test_the_step_that_ended_a_failure_is_made_less_likely_and_less_so_with_a_failure_weight(name):
    batch, pushes = random_batch(), []
    for failure_weight in (1.0, 0.5, 0.0):
        estimates = on_policy(batch, random_estimates())
        built = algorithm(name, failure_weight=failure_weight, invalid_penalty=0.0)
        weight = built.plan(batch, estimates).targets.policy_weight
        pushes.append(batch.pad(weight)[batch.terminal][batch.outcome == 0])
    assert (pushes[0] < pushes[1]).all()
    assert (pushes[1] < 0).all()
    assert (pushes[2] == 0).all()


@pytest.mark.parametrize("name", ["digirl", "filtered_bc"])
def test_imitation_never_pushes_anything_down(name):
    batch, estimates = random_batch(), random_estimates()
    assert (algorithm(name).plan(batch, estimates).targets.policy_weight >= 0).all()


@pytest.mark.parametrize("name", NAMES)
def test_critics_learn_where_there_are_any_and_only_there(name):
    batch, estimates, built = random_batch(), random_estimates(), algorithm(name)
    total(built, batch, estimates).backward()
    assert (estimates.value_logit.grad is not None) == built.uses_critic
    assert ("value/brier" in built.plan(batch, estimates).metrics) == built.uses_critic


@pytest.mark.parametrize("name", [name for name in NAMES if not uses_critic(name)])
def test_without_a_critic_the_targets_are_known_before_the_model_is_asked(name):
    batch, estimates, built = random_batch(), random_estimates(), algorithm(name)
    blind = built.plan(batch, Estimates.none(10, torch.device("cpu"))).targets
    torch.testing.assert_close(blind.policy_weight, built.plan(batch, estimates).targets.policy_weight)


@pytest.mark.parametrize("name", [name for name in NAMES if name != "a_ride"])
def test_all_but_a_ride_draw_uniformly_from_replay(name):
    assert algorithm(name).plan(random_batch(), random_estimates()).priorities.tolist() == [1.0] * 4


@pytest.mark.parametrize("name", NAMES)
def test_common_figures_are_there_and_finite(name):
    metrics = algorithm(name).plan(random_batch(), random_estimates()).metrics
    assert set(metrics) >= COMMON
    assert all(torch.isfinite(torch.tensor(value)) for value in metrics.values())
    if name != "filtered_bc":
        assert {"advantage/mean", "advantage/std", "advantage/p10", "advantage/p90"} <= set(metrics)


@pytest.mark.parametrize("name", NAMES)
def test_a_sample_of_failures_and_ratios_without_bound_give_finite_losses(name):
    batch = random_batch()
    batch = replace(
        batch, outcome=torch.zeros(4), group_mean=torch.zeros(4), group_std=torch.zeros(4),
        behaviour_logprob=batch.behaviour_logprob - 200.0 * batch.mask,
    )  # fmt: skip
    estimates = random_estimates()
    loss = total(algorithm(name), batch, estimates)
    loss.backward()
    assert torch.isfinite(loss)
    assert torch.isfinite(estimates.logprob.grad).all()


def without(batch: Batch, row: int) -> Batch:
    kept = [n for n in range(4) if n != row]
    return Batch(*(getattr(batch, field)[kept] for field in Batch.__dataclass_fields__))


@pytest.mark.parametrize("name", [name for name in NAMES if not uses_critic(name)])
def test_what_is_not_worth_scoring_would_not_have_moved_the_policy(name):
    batch = replace(
        random_batch(), group_mean=torch.tensor([0.5, 0.0, 0.5, 0.5]), group_std=torch.tensor([0.5, 0.0, 0.5, 0.5])
    )
    estimates, built = random_estimates(), algorithm(name)
    worth = built.worth_scoring(batch)
    assert not worth[1]
    weight = built.plan(batch, estimates).targets.policy_weight
    assert weight[3] == 0.0  # the only step of the second trajectory
    fewer = Estimates(*(torch.cat([t[:3], t[4:]]) for t in estimates.each()))
    torch.testing.assert_close(
        built.plan(without(batch, 1), fewer).targets.policy_weight, torch.cat([weight[:3], weight[4:]])
    )
