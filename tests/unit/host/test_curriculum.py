from __future__ import annotations

from collections import Counter
from typing import Literal

import pytest
from toy import BUTTONS, ToySuite, toy_task

from distrl.host.curriculum import Curriculum
from distrl.types import Outcome, Trajectory


def curriculum(
    kind: Literal["uniform", "edge"] = "uniform", seed: int = 0, part: int = 0, group_size: int = 1
) -> Curriculum:
    return Curriculum(ToySuite(), "train", kind, seed=seed, part=part, group_size=group_size)


def test_uniform_plays_every_template_once_per_round() -> None:
    stream = curriculum()
    for _ in range(200):
        assert len({stream.draw().template for _ in range(BUTTONS)}) == BUTTONS


def test_the_order_of_templates_changes_from_round_to_round() -> None:
    stream = curriculum()
    rounds = {tuple(stream.draw().template for _ in range(BUTTONS)) for _ in range(30)}
    assert len(rounds) > 5


def test_one_seed_gives_one_stream_and_a_resumed_run_goes_on_with_other_tasks() -> None:
    first, again, resumed = curriculum(), curriculum(), curriculum(part=1)
    drawn = [first.draw().id for _ in range(20)]
    assert drawn == [again.draw().id for _ in range(20)]
    assert drawn != [resumed.draw().id for _ in range(20)]


def test_edge_prefers_templates_that_succeed_half_of_the_time() -> None:
    stream = curriculum("edge")
    for number in range(200):
        # press/0 always succeeds, press/1 never, press/2 every other time; press/3 was not played yet.
        for button, success in ((0, True), (1, False), (2, number % 2 == 0)):
            outcome = Outcome("success" if success else "failure")
            stream.learn_of(Trajectory(f"{number}/{button}", toy_task(number, button), (), outcome))
    drawn = Counter(stream.draw().template for _ in range(2000))
    assert drawn["press/2"] > 5 * drawn["press/0"]
    assert drawn["press/3"] > 5 * drawn["press/1"]
    assert min(drawn.values()) > 20  # nothing is given up for good


@pytest.mark.parametrize("kind", ["uniform", "edge"])
def test_a_group_is_one_task_so_many_times_in_a_row(kind: Literal["uniform", "edge"]) -> None:
    stream = curriculum(kind, group_size=3)
    drawn = [stream.draw().id for _ in range(30)]
    assert [len(set(drawn[i : i + 3])) for i in range(0, 30, 3)] == [1] * 10
    assert len(set(drawn)) == 10
    alone = curriculum(kind)
    assert drawn[::3] == [alone.draw().id for _ in range(10)]
