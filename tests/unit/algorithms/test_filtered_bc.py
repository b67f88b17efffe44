from dataclasses import replace

import torch
from batches import LENGTHS, algorithm, random_batch, random_estimates, rows


def test_every_step_of_every_success_is_imitated_and_nothing_else():
    batch = replace(random_batch(), importance=torch.ones(4))
    weight = rows(algorithm("filtered_bc").plan(batch, random_estimates()).targets.policy_weight)
    steps = LENGTHS[0] + LENGTHS[2]
    assert [row.round(6).tolist() for row in weight] == [
        [round(1 / steps, 6)] * 3,
        [0],
        [round(1 / steps, 6)] * 4,
        [0, 0],
    ]


def test_a_sample_without_a_success_teaches_nothing():
    batch, built = replace(random_batch(), outcome=torch.zeros(4)), algorithm("filtered_bc")
    assert not built.worth_scoring(batch).any()
    assert (built.plan(batch, random_estimates()).targets.policy_weight == 0).all()


def test_one_success_among_many_is_found():
    batch = random_batch()
    many = type(batch)(*(getattr(batch, f).repeat_interleave(10, dim=0) for f in batch.__dataclass_fields__))
    many = replace(many, outcome=torch.zeros(40).index_fill(0, torch.tensor([17]), 1.0))
    assert algorithm("filtered_bc").worth_scoring(many).nonzero().flatten().tolist() == [17]
