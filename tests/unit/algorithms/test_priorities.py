import torch

from distrl.algorithms.priorities import dper, least_surprising, top, uniform


def test_priority_is_the_weighted_sum_of_the_three_means_over_real_steps():
    td_error, ratio, entropy = torch.tensor([[[0.5, -0.3, 9.0]], [[1.0, 0.4, 9.0]], [[2.0, 1.0, 9.0]]])
    mask = torch.tensor([[True, True, False]])
    priority = dper(td_error, ratio, entropy, mask, td_error_weight=1.0, ratio_weight=0.5, entropy_weight=0.1)
    torch.testing.assert_close(priority, torch.tensor([1.0 * 0.4 + 0.5 * 0.7 + 0.1 * 1.5]))


def test_the_least_surprising_share_is_named_and_never_everything():
    surprise = torch.tensor([0.9, 0.1, 0.5, 0.2])
    assert least_surprising(surprise, 0.5).tolist() == [False, True, False, True]
    assert least_surprising(surprise, 0.0).tolist() == [False] * 4
    assert least_surprising(surprise, 1.0).tolist() == [False, True, True, True]


def test_the_top_is_what_reaches_the_quantile_and_never_nothing():
    score = torch.tensor([0.1, 0.9, -0.5, 0.4, 0.4])
    assert top(score, 0.5).tolist() == [False, True, False, True, True]  # what ties with the cut is above it
    assert top(score, 0.9).tolist() == [False, True, False, False, False]
    assert top(score, 0.0).all()
    assert top(torch.tensor([-1.0]), 0.9).tolist() == [True]


def test_uniform_priorities_are_all_the_same():
    assert uniform(3).tolist() == [1.0, 1.0, 1.0]
