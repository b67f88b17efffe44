import math

import pytest
import torch
from batches import random_batch, random_estimates

from distrl.algorithms import diagnostics


def test_ratios_by_hand():
    """ρ = 1, 1, 4: sum 6, squares 18, so that three steps are worth two."""
    figures = diagnostics.ratios(torch.tensor([0.0, 0.0, math.log(4.0)]))
    assert figures == pytest.approx({"ratio/mean": 2.0, "ratio/p95": 3.7, "ratio/effective_sample_size": 2 / 3})


def test_a_distribution_by_hand_and_of_nothing():
    figures = diagnostics.distribution("x", torch.arange(11.0))
    assert figures == pytest.approx({"x/mean": 5.0, "x/std": math.sqrt(10.0), "x/p10": 1.0, "x/p90": 9.0})
    assert diagnostics.distribution("x", torch.tensor([])) == {}


def test_calibration_is_the_brier_score_over_real_steps():
    batch, estimates = random_batch(), random_estimates()
    value = estimates.value_logit.detach().sigmoid()
    outcome = torch.tensor([1.0] * 3 + [0.0] + [1.0] * 4 + [0.0] * 2)
    forecast = estimates.trajectory_value_logit.detach().sigmoid()[[0, 3, 4, 8]]
    padded, td_error = estimates.padded(batch), batch.pad(torch.full((10,), -0.5))
    figures = {
        **diagnostics.calibrate(batch, padded.value_logit.sigmoid(), td_error),
        **diagnostics.calibrate_forecast(batch, padded.trajectory_value_logit[:, 0].sigmoid()),
    }
    assert figures["value/td_error"] == pytest.approx(0.5)
    assert figures["value/brier"] == pytest.approx(((value - outcome) ** 2).mean().item())
    assert figures["trajectory_value/brier"] == pytest.approx(((forecast - batch.outcome) ** 2).mean().item())
    assert figures["value/mean"] == pytest.approx(value.mean().item())


def test_shares_are_of_real_steps_and_of_trajectories():
    batch, estimates = random_batch(), random_estimates()
    learned = torch.zeros_like(batch.mask)
    learned[0, :2] = True
    figures = diagnostics.describe(batch, estimates.padded(batch), learned=learned, clipped=batch.mask & learned)
    assert figures["sample/steps_learned"] == pytest.approx(0.2)
    assert figures["ratio/clipped"] == pytest.approx(0.2)
    assert figures["sample/left_out"] == pytest.approx(0.75)
    assert "advantage/mean" not in figures
