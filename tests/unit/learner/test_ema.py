import numpy as np
import pytest
import torch

from distrl.learner import checkpoint
from distrl.learner.ema import WeightEma


def go_on(toy, learner, steps):
    """The weights after each of so many steps."""
    seen = []
    for i in range(steps):
        won = toy.scripted(f"w{i}", toy.RIGHT, "success", logprob=-1.2)
        lost = toy.scripted(f"l{i}", (1, 1, 1), "failure", logprob=-1.3)
        learner.step(toy.uniform([won, lost]), toy.source)
        seen.append(learner.policy.weights())
    return seen


def mean_of(seen, steps):
    """The recursion, written down slowly."""
    mean = seen[0].astype(np.float64)
    for count, weights in enumerate(seen[1:], start=2):
        mean = mean + (weights - mean) / min(count, steps)
    return mean


@pytest.mark.parametrize("steps", [2, 4, 100])
def test_the_published_weights_are_the_average_of_the_last_steps(toy, steps):
    learner = toy.learner(learner={"average_steps": steps})
    seen = go_on(toy, learner, 7)
    sealed = learner.sealed()
    for name, array in sealed.arrays.items():
        np.testing.assert_allclose(array, mean_of([weights[name] for weights in seen], steps), rtol=1e-5)
    assert sealed.version == 7
    if steps == 100:
        plain = np.mean([weights["logits"] for weights in seen], axis=0)
        np.testing.assert_allclose(sealed.arrays["logits"], plain, rtol=1e-5)


def test_averaging_does_not_change_the_weights_that_are_trained(toy):
    plain, averaged = toy.learner(), toy.learner(learner={"average_steps": 5})
    for one, other in zip(go_on(toy, plain, 6), go_on(toy, averaged, 6), strict=True):
        np.testing.assert_array_equal(one["logits"], other["logits"])
    averaged.sealed()
    np.testing.assert_array_equal(plain.policy.weights()["logits"], averaged.policy.weights()["logits"])


def test_without_averaging_the_current_weights_are_published_and_no_copy_is_held(toy):
    learner = toy.learner()
    go_on(toy, learner, 3)
    np.testing.assert_array_equal(learner.sealed().arrays["logits"], learner.policy.weights()["logits"])
    assert learner.ema.means == []


def test_before_the_first_step_the_initial_weights_are_published(toy):
    learner = toy.learner(learner={"average_steps": 5})
    np.testing.assert_array_equal(learner.sealed().arrays["logits"], toy.TablePolicy().weights()["logits"])


def test_steps_in_which_only_the_critic_learned_are_not_in_the_mean(toy):
    learner = toy.learner(learner={"average_steps": 100, "critic_warmup_steps": 3})
    seen = go_on(toy, learner, 5)
    expected = np.mean(
        [weights["logits"] for weights in seen[2:]], axis=0
    )  # the last critic-only step is where the average begins
    np.testing.assert_allclose(learner.sealed().arrays["logits"], expected, rtol=1e-5)
    assert np.abs(learner.sealed().arrays["values"]).max() > 0.0


def test_a_block_that_fails_restores_the_trained_weights(toy):
    learner = toy.learner(learner={"average_steps": 5})
    last = go_on(toy, learner, 4)[-1]
    with pytest.raises(OSError, match="disk"), learner.outgoing():
        raise OSError("disk")
    np.testing.assert_array_equal(learner.policy.weights()["logits"], last["logits"])


def test_a_checkpoint_holds_both_and_a_restored_learner_goes_on_with_both(toy, tmp_path):
    learner = toy.learner(learner={"average_steps": 4})
    go_on(toy, learner, 6)
    sealed = learner.sealed().arrays
    path = checkpoint.save(tmp_path, learner, {}, {})
    saved = checkpoint.load_tensors(path / "model" / "model.safetensors")["logits"].numpy()
    np.testing.assert_array_equal(saved, sealed["logits"])  # what evaluation loads is what workers got
    restored = toy.learner(toy.TablePolicy(seed=5), learner={"average_steps": 4})
    checkpoint.load(path, restored)
    np.testing.assert_array_equal(restored.policy.weights()["logits"], learner.policy.weights()["logits"])
    go_on(toy, learner, 3)
    go_on(toy, restored, 3)
    for name, array in learner.sealed().arrays.items():
        np.testing.assert_array_equal(restored.sealed().arrays[name], array)


@pytest.mark.parametrize(("before", "after"), [(4, 1), (1, 4)])
def test_a_run_may_go_on_with_averaging_switched_on_or_off(toy, tmp_path, before, after):
    learner = toy.learner(learner={"average_steps": before})
    go_on(toy, learner, 3)
    path = checkpoint.save(tmp_path, learner, {}, {})
    restored = toy.learner(toy.TablePolicy(seed=5), learner={"average_steps": after})
    checkpoint.load(path, restored)
    np.testing.assert_array_equal(restored.sealed().arrays["logits"], learner.policy.weights()["logits"])
    seen = go_on(toy, restored, 2)
    expected = seen[-1]["logits"] if after == 1 else np.mean([weights["logits"] for weights in seen], axis=0)
    np.testing.assert_allclose(restored.sealed().arrays["logits"], expected, rtol=1e-5)


def test_a_mean_of_half_precision_is_kept_in_full():
    """In bfloat16 an update of 0.01 to a mean of 1 would be rounded away."""
    parameter = torch.nn.Parameter(torch.ones(3, dtype=torch.bfloat16))
    average = WeightEma([parameter], steps=1000)
    average.add()
    average.restore(average.means, count=1000)
    parameter.data.fill_(2.0)
    for _ in range(1000):
        average.add()
    with average.swapped_in():
        assert parameter.dtype == torch.bfloat16
        assert parameter.tolist() == pytest.approx([2.0 - 1.0 / np.e] * 3, abs=0.01)
    assert parameter.tolist() == [2.0, 2.0, 2.0]
