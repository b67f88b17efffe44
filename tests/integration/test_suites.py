"""The suites on the real simulated phone: every task can be done, none is done by itself, by chance or by rote."""

import asyncio
import random
from collections import Counter

import pytest

from distrl.devices.sim.device import SimPhone
from distrl.devices.sim.scene import HEIGHT, WIDTH
from distrl.evaluation.oracle import Demonstration, as_trajectory, play_oracle
from distrl.judges.rules import RuleJudge
from distrl.registry import SUITES
from distrl.tasks.base import load_suite
from distrl.tasks.splits import SPLITS, TemplateSuite, normalise
from distrl.types import Answer, Done, Press, Screen, Swipe, Tap, Type, Wait, ends_episode

PLACES = [(suite, split) for suite in SUITES.names() for split in load_suite(suite).splits]
BLANK = Screen(b"", 1, 1)
MOST_BY_CHANCE = 0.05


class Unpainted(SimPhone):
    """A phone whose picture nobody looks at: oracle, monkey and judge read elements and state. Thrice as fast."""

    async def screen(self):
        elements = tuple(self._phone.compose().scene.elements)
        return Screen(repr(elements).encode(), WIDTH, HEIGHT, elements, self._phone.frame["app"])


def phone():
    return Unpainted("sim://phone")


async def succeeds(device, task, actions):
    """Perform the actions without looking, as far as the limit allows, and judge."""
    await device.reset(task)
    for action in actions[: task.max_steps]:
        await device.perform(action)
    steps = [(BLANK, action) for action in actions[: task.max_steps]]
    return await verdict(device, task, Demonstration(steps, BLANK))


async def verdict(device, task, demonstration):
    return (await RuleJudge().judge(task, as_trajectory(task, demonstration), await device.evidence())).success


async def problem(device, task):
    """What is wrong with the oracle's solution of a task, or an empty string."""
    try:
        demonstration = await play_oracle(device, task)
    except LookupError as lost:
        return f"{task.id}: {task.goal!r}: {lost}"
    outcome = await RuleJudge().judge(task, as_trajectory(task, demonstration), await device.evidence())
    if len(demonstration.steps) > task.max_steps:
        return f"{task.id}: {task.goal!r} takes {len(demonstration.steps)} steps of {task.max_steps}"
    return "" if outcome.success else f"{task.id}: {task.goal!r}: {outcome.reason}"


@pytest.mark.parametrize(("suite", "split"), PLACES)
def test_the_oracle_solves_every_task_inside_the_limit(suite, split):
    async def problems():
        device = phone()
        tasks = load_suite(suite).tasks(split, 128, seed=11)
        return [text for task in tasks if (text := await problem(device, task))]

    assert asyncio.run(problems()) == []


@pytest.mark.parametrize("suite", SUITES.names())
def test_the_oracle_gets_past_popups(suite):
    async def problems():
        device = SimPhone("sim://phone?popups=0.05")
        members = load_suite(suite).members
        alone = [TemplateSuite(suite, (template,)) for template in members[:: 1 if suite == "general" else 4]]
        tasks = [task for one in alone for task in one.tasks(one.splits[0], 1, seed=12)]
        return [text for task in tasks if (text := await problem(device, task))]

    assert asyncio.run(problems()) == []


@pytest.mark.parametrize(("suite", "split"), PLACES)
def test_nothing_is_done_by_doing_nothing(suite, split):
    async def done():
        device = phone()
        tasks = load_suite(suite).tasks(split, 128, seed=13)
        return [task.id for task in tasks if await succeeds(device, task, [Done()])]

    assert asyncio.run(done()) == []


def random_action(rng, screen):
    """A monkey that touches what can be touched, types words it sees, and stops now and then."""
    elements = screen.elements
    element = rng.choice(elements)
    left, top, right, bottom = element.bounds
    tap = Tap((left + right) * 500 // screen.width, (top + bottom) * 500 // screen.height)
    word = element.text or "a"
    others = [Swipe(500, 700, 500, 300), Press("back"), Press("enter"), Type(word), Done(), Answer(word), Wait()]
    return tap if rng.random() < 0.6 else rng.choice(others)


async def play_at_random(device, task, rng):
    screen = await device.reset(task)
    steps = []
    while len(steps) < task.max_steps:
        steps.append((screen, random_action(rng, screen)))
        if ends_episode(steps[-1][1]):
            break
        await device.perform(steps[-1][1])
        screen = await device.screen()
    return await verdict(device, task, Demonstration(steps, screen))


@pytest.mark.parametrize(("suite", "split"), PLACES)
def test_a_random_policy_hardly_ever_succeeds(suite, split):
    async def rate():
        device, rng = phone(), random.Random(14)
        tasks = load_suite(suite).tasks(split, 128, seed=14)
        return sum([await play_at_random(device, task, rng) for task in tasks]) / len(tasks)

    assert asyncio.run(rate()) < MOST_BY_CHANCE


@pytest.mark.parametrize(("suite", "split"), PLACES)
def test_one_recorded_solution_replayed_over_the_split_hardly_ever_succeeds(suite, split):
    async def best_rate():
        device = phone()
        tasks = load_suite(suite).tasks(split, 128, seed=15)
        rates = []
        for recorded in tasks[:3]:
            actions = [action for _, action in (await play_oracle(device, recorded)).steps]
            rates.append(sum([await succeeds(device, task, actions) for task in tasks if task is not recorded]) / 127)
        return max(rates)

    assert asyncio.run(best_rate()) < MOST_BY_CHANCE


@pytest.mark.parametrize(("suite", "split"), PLACES)
def test_a_solution_replayed_over_its_own_template_hardly_ever_succeeds(suite, split):
    async def rate():
        device = phone()
        whole = load_suite(suite)
        members = [t for t in whole.members if whole.combinations(t, split)][:: 1 if suite == "general" else 4]
        wins = Counter()
        for template in members:
            recorded, *others = TemplateSuite(suite, (template,), whole.held_out_apps, whole.start_pages).tasks(
                split, 9, 16
            )
            actions = [action for _, action in (await play_oracle(device, recorded)).steps]
            wins[template.name] = sum([await succeeds(device, task, actions) for task in others])
        return sum(wins.values()) / (8 * len(members)), wins.most_common(5)

    overall, most = asyncio.run(rate())
    assert overall < MOST_BY_CHANCE, most


@pytest.mark.parametrize("suite", SUITES.names())
def test_no_goal_of_a_test_split_can_ever_occur_in_train(suite):
    suite = load_suite(suite)
    trained = {normalise(goal) for goal in suite.goals("train")}
    for split in SPLITS[1:]:
        shared = {goal for goal in suite.goals(split) if normalise(goal) in trained}
        assert not shared, split


def test_no_goal_is_shared_between_the_test_splits_either():
    for suite in map(load_suite, SUITES.names()):
        seen = [{normalise(goal) for goal in suite.goals(split)} for split in SPLITS[1:]]
        assert not (seen[0] & seen[1] | seen[1] & seen[2] | seen[0] & seen[2])


def test_general_is_as_large_as_promised():
    suite = load_suite("general")
    assert len(suite.templates) >= 40
    assert len({template.app for template in suite.members}) >= 10
    for split in SPLITS[1:]:
        tasks = suite.tasks(split, 128, seed=0)
        assert len({(task.goal, task.seed) for task in tasks}) == 128
        assert sum(len(suite.combinations(template, split)) for template in suite.members) >= 128


def test_webshop_is_as_large_as_promised():
    members = load_suite("webshop").members
    shops, kinds = {t.app for t in members}, {t.name.split("/")[1] for t in members}
    assert len(shops) >= 4
    assert len(kinds) >= 12
    for shop in shops:
        assert {f"{shop}/page", f"{shop}/search", f"{shop}/product", f"{shop}/brand", f"{shop}/add"} <= {
            t.name for t in members
        }, "each level on each site: go there; search; open, filter, add to the cart"


def test_training_touches_no_held_out_app():
    suite = load_suite("general")
    for task in suite.tasks("train", 256, seed=17):
        assert not any(edit[0] == "open" and edit[1] in suite.held_out_apps for edit in task.start)
        assert any(edit[0] == "open" for edit in task.start), "what is in front is decided by the task, not by chance"


@pytest.mark.parametrize("suite", SUITES.names())
def test_every_template_has_enough_parameters_and_phrasings(suite):
    for template in load_suite(suite).members:
        assert len(template.combinations()) >= 8, template.name
        assert len(set(template.phrasings)) >= 3, template.name
        assert template.name.count("/") == 1
        assert template.max_steps <= (15 if suite == "general" else 20), template.name
