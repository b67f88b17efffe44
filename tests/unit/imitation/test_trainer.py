import numpy as np
import torch

from distrl.imitation.trainer import ExampleArrays, Schedule, _Batches, asked_for, find_loss, read_loss


def slow_read_loss(logits, cells, nothing):
    total, weight = 0.0, 0.0
    logprobs = torch.log_softmax(logits, -1)
    for image, names in zip(logprobs, cells, strict=True):
        for cell, words in zip(image, names, strict=True):
            there = [int(w) for w in words if w >= 0]
            share = 1.0 if there else 0.1
            total += share * -sum(cell[w].item() for w in there or [nothing]) / len(there or [nothing])
            weight += share
    return total / weight


def test_reading_loss_shares_a_cell_among_its_words_and_counts_empty_cells_little():
    torch.manual_seed(0)
    logits = torch.randn(2, 3, 7)
    cells = torch.tensor([[[1, 2], [3, -1], [-1, -1]], [[-1, -1], [5, 6], [4, -1]]])
    np.testing.assert_allclose(read_loss(logits, cells, nothing=0).item(), slow_read_loss(logits, cells, 0), rtol=1e-5)


def test_a_cell_is_asked_for_if_a_word_of_its_own_prompt_stands_in_it():
    said, pad, kitchen, garden, hall = 1, 0, 5, 6, 7
    prompts = torch.tensor([[pad, said, kitchen], [said, garden, hall], [pad, pad, said]])
    cells = torch.tensor([[[kitchen, -1], [garden, hall]], [[-1, -1], [kitchen, hall]], [[said, -1], [hall, -1]]])
    assert asked_for(cells, prompts, vocabulary=10).tolist() == [[True, False], [False, True], [False, False]]


def test_finding_loss_falls_as_the_cells_asked_for_stand_out():
    asked = torch.tensor([[True, False, False]])
    blind, right, wrong = (
        find_loss(torch.tensor([scores]), asked) for scores in ([0.0] * 3, [4.0, -4, -4], [-4.0, 4, 4])
    )
    assert right < blind < wrong


def test_the_rate_warms_up_and_comes_down():
    schedule = Schedule(steps=1000, warmup=100, learning_rate=1.0)
    assert schedule.rate(0) == 0.0
    assert schedule.rate(50) < schedule.rate(100)
    assert schedule.rate(999) == 0.02


def examples(count):
    rng = np.random.default_rng(0)
    prompts = np.zeros((count, 20), np.int32)
    for row, length in zip(prompts, rng.integers(3, 20, count), strict=True):
        row[-length:] = 5
    actions = np.tile(np.array([7, 8, 2, 0, 0], np.int32), (count, 1))
    pixels = np.zeros((count, 4, 4, 3), np.uint8)
    return ExampleArrays(pixels, np.zeros((count, 1, 1), np.int32), np.arange(count), prompts, actions)


def test_batches_of_like_length_carry_little_padding_and_use_every_example_before_one_comes_again():
    batches = _Batches(examples(40), torch.device("cpu"), torch.Generator().manual_seed(0))
    seen, padding = [], []
    for screens, _, prompts, actions in batches.by_length(5, 8):
        seen += screens.tolist()
        padding.append((prompts == 0).float().mean().item())
        assert actions.shape == (8, 3)
    assert sorted(seen) == list(range(40))
    assert np.mean(padding) < 0.5
