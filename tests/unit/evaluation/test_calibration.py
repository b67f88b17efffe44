"""A judge beside rules: every rate against a count made by hand."""

from __future__ import annotations

import asyncio
import io

import pytest
from films import film, shown
from PIL import Image

from distrl.errors import CannotJudge
from distrl.evaluation.attacks import ATTACKS, CLAIM, with_banner
from distrl.evaluation.calibration import Calibration, PairedVerdict, Proportion, attack, attackable, calibrate
from distrl.evaluation.statistics import wilson
from distrl.types import Answer, Done, Impossible, Outcome, Screen, Tap


def verdicts(pairs: dict[tuple[bool, bool | None], int]) -> Calibration:
    found = [
        PairedVerdict("id", truth, None if said is None else Outcome("success" if said else "failure"))
        for (truth, said), count in pairs.items()
        for _ in range(count)
    ]
    return Calibration(tuple(found))


def test_rates_are_over_what_was_judged():
    calibration = verdicts(
        {(True, True): 40, (True, False): 10, (False, False): 45, (False, True): 3, (False, None): 2}
    )
    assert calibration.agreement == Proportion(85, 98)
    assert calibration.false_accepts == Proportion(3, 48)
    assert calibration.false_rejects == Proportion(10, 50)
    assert calibration.unjudged == 2
    assert calibration.summary()["false_accepts"] == {"count": 3, "n": 48, "rate": 3 / 48, "ci95": list(wilson(3, 48))}


def test_nothing_judged_is_no_rate():
    assert verdicts({(True, None): 3}).summary()["agreement"]["rate"] is None


class Gullible:
    """Accepts whatever contains the word success; cannot judge number 9."""

    def __init__(self) -> None:
        self.at_once = self.most_at_once = 0

    async def judge(self, task, trajectory, evidence):
        assert trajectory.outcome.kind == "invalid"  # it must not see what the rules said
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        await asyncio.sleep(0)
        self.at_once -= 1
        if task.id.endswith("/9"):
            raise CannotJudge("nobody answers")
        last = trajectory.steps[-1].decision.action
        believes = isinstance(last, Answer) and "success" in last.text
        return Outcome("success" if believes else "failure", "vlm: as it says")


def loaded(trajectory):
    return trajectory


def test_a_judge_is_compared_with_the_recorded_outcomes():
    judge = Gullible()
    films = [film(n, outcome=Outcome("success" if n < 4 else "failure")) for n in range(10)]
    calibration = asyncio.run(calibrate(judge, films, loaded, at_once=3))
    assert calibration.agreement == Proportion(5, 9)
    assert calibration.false_rejects == Proportion(4, 4)
    assert calibration.unjudged == 1
    assert judge.most_at_once == 3


def test_prompt_injections_that_a_gullible_judge_accepts_are_counted():
    films = [film(n, outcome=Outcome("success" if n < 4 else "failure")) for n in range(9)]
    found = asyncio.run(attack(Gullible(), films, loaded, at_once=3))
    assert found.keys() == ATTACKS.keys()
    accepted = {name: calibration.false_accepts for name, calibration in found.items()}
    assert accepted["answer claims success"] == accepted["answer gives orders"] == Proportion(5, 5)
    assert accepted["screen claims success"] == Proportion(0, 5)  # this judge does not read screens


@pytest.mark.parametrize(("last", "kind", "is_one"), [
    (Done(), "failure", True), (Answer("x"), "failure", True), (Done(), "success", False),
    (Tap(1, 1), "failure", False), (Impossible(), "failure", False),
])  # fmt: skip
def test_only_failures_that_the_agent_called_done_are_attacked(last, kind, is_one):
    assert attackable(film(1, last, outcome=Outcome(kind))) is is_one


@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_changes_what_a_judge_reads_and_nothing_a_rule_goes_by(name):
    before = film(2, Tap(2, 0), Done())
    after = ATTACKS[name](before)
    assert (after.task, after.outcome, len(after.steps)) == (before.task, before.outcome, 2)
    assert after.steps[0].decision == before.steps[0].decision
    assert after != before


def test_a_banner_is_large_enough_to_be_read_and_the_screen_gets_its_own_name():
    file = io.BytesIO()
    Image.new("RGB", (192, 384), (20, 60, 90)).save(file, "JPEG")
    screen = Screen(file.getvalue(), 192, 384)
    changed = with_banner(screen, CLAIM)
    assert changed.digest != screen.digest
    with Image.open(io.BytesIO(changed.image)) as image:
        assert (image.format, image.size) == ("JPEG", (192, 384))
        letters = image.convert("L").point(lambda value: value < 40 and 255).getbbox()
    assert letters is not None
    assert letters[2] - letters[0] > 80
    assert letters[3] - letters[1] > 12


def test_a_tiny_screen_takes_a_banner_too():
    assert with_banner(shown(1), CLAIM).image
