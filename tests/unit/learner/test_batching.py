import torch

from distrl.learner.batching import padded_batch, recorded_steps, slices


def test_prompts_are_those_the_episode_was_played_from(toy):
    steps = recorded_steps([toy.scripted("a", (2, 0, 3), "success")], history=1)
    assert [s.prompt.history for s in steps] == [(), ("b2",), ("b0",)]
    assert [s.prompt.goal for s in steps] == ["press right"] * 3
    assert [s.prompt.screen.digest for s in steps] == [s.digest for s in toy.SCREENS]


def test_padding_masks_and_marks_the_terminal_step(toy):
    trajectories = [
        toy.scripted("a", (2,), "success", logprob=-0.5),
        toy.scripted("b", (2, 0, 3), "failure", logprob=-2.0, invalid=(1,)),
    ]
    batch = padded_batch(toy.uniform(trajectories))
    assert batch.mask.tolist() == [[True, False, False], [True, True, True]]
    assert batch.terminal.tolist() == [[True, False, False], [False, False, True]]
    assert batch.invalid.tolist() == [[False, False, False], [False, True, False]]
    assert batch.behaviour_logprob.tolist() == [[-0.5, 0.0, 0.0], [-2.0, -2.0, -2.0]]
    assert batch.outcome.tolist() == [1.0, 0.0]
    assert batch.group_mean.tolist() == batch.group_std.tolist() == [0.5, 0.5]
    assert batch.horizon.tolist() == [3.0, 3.0]
    flat = torch.arange(4.0)
    assert batch.pad(flat)[batch.mask].tolist() == flat.tolist()


def test_slices_cover_everything_once():
    assert [list(range(7))[s] for s in slices(7, 3)] == [[0, 1, 2], [3, 4, 5], [6]]
