import copy

import pytest
import torch

from distrl.learner.supervised_step import CudaGraphStep, EagerStep


def squares(model):
    return lambda x, y: {"far": ((model(x) - y) ** 2).mean(), "large": 0.01 * model(x).abs().mean()}


def steps(step, device, count=12):
    random = torch.Generator().manual_seed(1)
    for n in range(count):
        batch = [torch.randn(8, 4, generator=random).to(device), torch.randn(8, 2, generator=random).to(device)]
        yield {name: loss.item() for name, loss in step(batch, rate=0.01 * n).items()}


def test_a_step_follows_all_losses_at_the_rate_it_is_given():
    model = torch.nn.Linear(4, 2)
    before = model.weight.detach().clone()
    step = EagerStep(squares(model), list(model.parameters()), rate=0.0)
    x, y = torch.randn(32, 4), torch.zeros(32, 2)
    first = step([x, y], rate=0.0)
    assert torch.equal(model.weight, before)
    for _ in range(200):
        last = step([x, y], rate=0.01)
    assert last["far"] < first["far"] / 10
    assert last["large"] < first["large"]


@pytest.mark.skipif(not torch.cuda.is_available(), reason="steps are recorded on a GPU")
def test_a_step_that_is_replayed_learns_what_an_eager_one_does():
    eager_model = torch.nn.Linear(4, 2).cuda()
    replayed_model = copy.deepcopy(eager_model)
    eager = EagerStep(squares(eager_model), list(eager_model.parameters()), rate=0.0)
    replayed = CudaGraphStep(squares(replayed_model), list(replayed_model.parameters()))
    for expected, got in zip(steps(eager, "cuda"), steps(replayed, "cuda"), strict=True):
        assert got == pytest.approx(expected, rel=1e-4)
    assert replayed._graph is not None
    torch.testing.assert_close(replayed_model.weight, eager_model.weight)
