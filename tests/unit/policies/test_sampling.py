import numpy as np
import torch

from distrl.policies.sampling import RecordingSampler, distribution, entropy_of


def draw(logits, temperature, times=20_000):
    sampler = RecordingSampler(temperature, torch.Generator().manual_seed(0), excluded_token=0)
    chosen = sampler(torch.zeros(times, 1), logits.repeat(times, 1)).argmax(-1)
    return sampler, chosen


def test_tokens_are_drawn_with_the_probability_that_is_recorded():
    logits = torch.tensor([[9.0, 1.0, 0.0, 2.0]])
    sampler, chosen = draw(logits, temperature=0.7)
    expected = distribution(logits, 0.7, excluded_token=0).exp()[0]
    frequency = torch.bincount(chosen, minlength=4) / len(chosen)
    np.testing.assert_allclose(frequency, expected, atol=0.015)
    np.testing.assert_allclose(sampler.logprobs[0].exp(), expected[chosen], rtol=1e-5)


def test_the_image_token_is_never_drawn():
    _, chosen = draw(torch.tensor([[50.0, 0.0, 0.0]]), temperature=1.0)
    assert (chosen != 0).all()


def test_temperature_zero_takes_the_likeliest_token():
    _, chosen = draw(torch.tensor([[0.0, 1.0, 3.0, 2.0]]), temperature=0.0)
    assert (chosen == 2).all()


def test_entropy_is_that_of_the_whole_distribution_and_not_the_surprisal_of_the_token_drawn():
    logits = torch.tensor([[0.0, 1.0, 1.0, 1.0, 1.0]])
    sampler, _ = draw(logits, temperature=1.0, times=50)
    np.testing.assert_allclose(sampler.entropies[0], np.full(50, np.log(4)), rtol=1e-5)
    skewed = torch.log(torch.tensor([0.9, 0.1]))
    np.testing.assert_allclose(entropy_of(skewed), -(0.9 * np.log(0.9) + 0.1 * np.log(0.1)), rtol=1e-5)
