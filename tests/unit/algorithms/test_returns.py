"""Every formula against a slow version written from the page."""

import warnings

import numpy as np
import pytest
import torch

from distrl.algorithms.returns import (
    discounted_returns,
    doubly_robust,
    following,
    group_relative,
    retrace,
    retrace_batch,
    rewards,
    td_errors,
    vtrace_batch,
)


def random_trajectory(length, episode_ends_at=None, seed=0):
    """reward, discount, value, next_value, log_rho; two episodes in a row when one ends before the last step."""
    rng = np.random.default_rng(seed)
    discount = np.full(length, 0.9)
    discount[-1] = 0.0
    if episode_ends_at is not None:
        discount[episode_ends_at] = 0.0
    value = rng.random(length)
    return rng.normal(size=length), discount, value, np.append(value[1:], 0.7), rng.normal(scale=1.5, size=length)


def printed_sum(reward, discount, value, next_value, log_rho, trace_decay):
    """V_ret(s_t) = V(s_t) + Σ_{k≥t} γ^{k−t} (Π_{i=t+1..k} c_i) δ_k, with the γ of each step passed on the way."""
    targets = []
    for t in range(len(value)):
        total = value[t]
        for k in range(t, len(value)):
            passed = np.prod(discount[t:k])
            trace = np.prod([trace_decay * min(1.0, np.exp(log_rho[i])) for i in range(t + 1, k + 1)])
            total += passed * trace * (reward[k] + discount[k] * next_value[k] - value[k])
        targets.append(total)
    return np.array(targets)


def printed_vtrace(reward, discount, value, next_value, log_rho, trace_decay, ratio_clip=1.0, trace_clip=1.0):
    """v(s_t) = V(s_t) + Σ_{k≥t} γ^{k−t} (Π_{i=t..k−1} c_i) ρ_k δ_k: the action at t itself is corrected as well."""
    rho, trace = np.minimum(ratio_clip, np.exp(log_rho)), trace_decay * np.minimum(trace_clip, np.exp(log_rho))
    return np.array(
        [
            value[t]
            + sum(
                np.prod(discount[t:k])
                * np.prod(trace[t:k])
                * rho[k]
                * (reward[k] + discount[k] * next_value[k] - value[k])
                for k in range(t, len(value))
            )
            for t in range(len(value))
        ]
    )


@pytest.mark.parametrize("trace_decay", [0.0, 0.5, 0.95, 1.0])
@pytest.mark.parametrize("episode_ends_at", [None, 0, 3])
def test_retrace_equals_the_sum_printed_in_the_paper(trace_decay, episode_ends_at):
    inputs = random_trajectory(length=7, episode_ends_at=episode_ends_at)
    targets = retrace(*inputs, trace_decay=trace_decay)
    np.testing.assert_allclose(targets, printed_sum(*inputs, trace_decay), rtol=1e-12)


def test_retrace_and_vtrace_are_different_numbers():
    inputs = random_trajectory(length=6)
    assert np.abs(retrace(*inputs, trace_decay=0.95) - printed_vtrace(*inputs, 0.95)).max() > 0.05


def test_the_ratio_of_an_action_is_no_factor_of_its_own_target():
    reward, discount, value, next_value, log_rho = random_trajectory(length=5)
    changed = log_rho.copy()
    changed[2] = -3.0
    before = retrace(reward, discount, value, next_value, log_rho, trace_decay=0.9)
    after = retrace(reward, discount, value, next_value, changed, trace_decay=0.9)
    np.testing.assert_array_equal(before[2:], after[2:])
    assert np.abs(before[:2] - after[:2]).min() > 1e-6


def test_trace_decay_zero_is_the_one_step_target():
    reward, discount, value, next_value, log_rho = random_trajectory(length=5)
    targets = retrace(reward, discount, value, next_value, log_rho, trace_decay=0.0)
    np.testing.assert_allclose(targets, reward + discount * next_value)


def test_on_policy_with_trace_decay_one_it_is_the_return_as_played():
    reward, discount, value, next_value, _ = random_trajectory(length=6)
    targets = retrace(reward, discount, value, next_value, np.zeros(6), trace_decay=1.0)
    played = discounted_returns(torch.tensor(reward)[None], torch.tensor(discount)[None])[0]
    np.testing.assert_allclose(targets, played.numpy())


def test_nothing_flows_back_over_the_end_of_an_episode():
    reward, discount, value, next_value, log_rho = random_trajectory(length=7, episode_ends_at=3)
    reward_later = reward.copy()
    reward_later[5] += 100.0
    before = retrace(reward, discount, value, next_value, log_rho, trace_decay=1.0)
    after = retrace(reward_later, discount, value, next_value, log_rho, trace_decay=1.0)
    np.testing.assert_array_equal(before[:4], after[:4])


def test_enormous_ratios_neither_overflow_nor_warn():
    reward, discount, value, next_value, _ = random_trajectory(length=3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        huge = retrace(reward, discount, value, next_value, np.full(3, 1e4), trace_decay=0.9)
    np.testing.assert_allclose(huge, retrace(reward, discount, value, next_value, np.zeros(3), trace_decay=0.9))


def test_integer_inputs_are_not_rounded():
    target = retrace(
        np.array([0, 1]), np.array([0.5, 0]), np.array([0, 0]), np.array([0, 0]), np.zeros(2), trace_decay=1
    )
    np.testing.assert_allclose(target, [0.5, 1.0])


def test_the_batched_torch_version_agrees_row_by_row_under_padding():
    lengths = [1, 4, 7]
    rows = [random_trajectory(length, seed=length) for length in lengths]
    padded = [torch.zeros(3, 7, dtype=torch.float64) for _ in range(5)]
    for row, arrays in enumerate(rows):
        for column, array in zip(padded, arrays, strict=True):
            column[row, : lengths[row]] = torch.tensor(array)
    batched = retrace_batch(*padded, trace_decay=0.95)
    for row, length in enumerate(lengths):
        expected = retrace(*rows[row], trace_decay=0.95)
        np.testing.assert_allclose(batched[row, :length].numpy(), expected, rtol=1e-12)
        assert (batched[row, length:] == 0.0).all()


def test_reward_is_the_outcome_at_the_terminal_step_less_the_price_of_invalid_text():
    terminal = torch.tensor([[False, True, False], [False, False, True]])
    invalid = torch.tensor([[True, False, False], [False, False, True]])
    reward = rewards(torch.tensor([1.0, 0.0]), terminal, invalid, invalid_penalty=0.2)
    torch.testing.assert_close(reward, torch.tensor([[-0.2, 1.0, 0.0], [0.0, 0.0, -0.2]]))


def test_the_retrace_advantage_is_the_td_error_with_the_next_target_in_place_of_the_next_value():
    reward, discount, value, next_value, log_rho = random_trajectory(length=5)
    target = retrace(reward, discount, value, next_value, log_rho, trace_decay=0.95)
    slow = [reward[t] + (discount[t] * target[t + 1] if t < 4 else 0.0) - value[t] for t in range(5)]
    tensors = [torch.tensor(array)[None] for array in (reward, discount, value, target)]
    fast = td_errors(tensors[0], tensors[1], tensors[2], following(tensors[3]))
    np.testing.assert_allclose(fast[0].numpy(), slow)


def as_batch(arrays):
    """One trajectory as a batch of one row, with a column of padding behind it."""
    return [torch.tensor(np.append(array, 0.0))[None] for array in arrays]


@pytest.mark.parametrize(
    ("trace_decay", "ratio_clip", "trace_clip"), [(1.0, 1.0, 1.0), (0.95, 1.0, 1.0), (0.9, 2.0, 0.5)]
)
def test_vtrace_equals_the_sum_printed_in_the_paper(trace_decay, ratio_clip, trace_clip):
    inputs = random_trajectory(length=7)
    settings = {"trace_decay": trace_decay, "ratio_clip": ratio_clip, "trace_clip": trace_clip}
    targets = vtrace_batch(*as_batch(inputs), **settings)[0]
    np.testing.assert_allclose(targets[:-1].numpy(), printed_vtrace(*inputs, **settings), rtol=1e-12)
    assert targets[-1] == 0.0


def test_vtrace_by_hand():
    """Two steps: δ = (0.5·0.4 − 0.2, 1 − 0.4) = (0, 0.6); ρ = (½, 2), cut to (½, 1)."""
    reward, discount, value = torch.tensor([[0.0, 1.0]]), torch.tensor([[0.5, 0.0]]), torch.tensor([[0.2, 0.4]])
    log_rho = torch.tensor([[0.5, 2.0]]).log()
    targets = vtrace_batch(
        reward, discount, value, following(value), log_rho, trace_decay=1.0, ratio_clip=1.0, trace_clip=1.0
    )
    torch.testing.assert_close(targets, torch.tensor([[0.2 + 0.5 * 0.5 * 0.6, 1.0]]))


def test_on_policy_vtrace_is_retrace():
    reward, discount, value, next_value, _ = random_trajectory(length=6)
    inputs = (reward, discount, value, next_value, np.zeros(6))
    targets = vtrace_batch(*as_batch(inputs), trace_decay=0.9, ratio_clip=1.0, trace_clip=1.0)[0, :-1]
    np.testing.assert_allclose(targets.numpy(), retrace(*inputs, trace_decay=0.9))


def test_vtrace_does_not_overflow():
    reward, discount, value, next_value, _ = random_trajectory(length=3)
    huge = as_batch((reward, discount, value, next_value, np.full(3, 1e4)))
    assert torch.isfinite(vtrace_batch(*huge, trace_decay=1.0, ratio_clip=1.0, trace_clip=1.0)).all()


def test_the_doubly_robust_advantage_by_hand():
    """λ = ½. Of a success the last step is 1 whatever the critic says; in a failure only the critic speaks."""
    mask = torch.tensor([[True, True, True], [True, True, False]])
    td_error = torch.tensor([[0.2, -0.4, 0.7], [0.3, -0.6, 0.0]])
    advantage = doubly_robust(torch.tensor([1.0, 0.0]), td_error, mask, trace_decay=0.5)
    expected = [[0.25 + 0.75 * 0.2, 0.5 - 0.5 * 0.4, 1.0], [0.3, -0.6, 0.0]]
    torch.testing.assert_close(advantage, torch.tensor(expected))


def test_the_group_relative_advantage_by_hand():
    """One success in four: mean ¼, deviation √3/4. A group that ended alike teaches nothing and divides by nothing."""
    outcome, mean = torch.tensor([1.0, 0.0, 1.0, 0.0]), torch.tensor([0.25, 0.25, 1.0, 0.0])
    std = torch.tensor([3**0.5 / 4, 3**0.5 / 4, 0.0, 0.0])
    torch.testing.assert_close(group_relative(outcome, mean, std), torch.tensor([3**0.5, -1 / 3**0.5, 0.0, 0.0]))
