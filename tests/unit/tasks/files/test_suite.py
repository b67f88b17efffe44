"""Tasks of a file as a suite: division, names, and what a task carries."""

from __future__ import annotations

from pathlib import Path

import pytest

from distrl.errors import ConfigError, UnknownName
from distrl.tasks.base import load_suite
from distrl.tasks.files.suite import ALL, FileSuite
from distrl.tasks.splits import SPLITS, normalise

EXAMPLES = Path(__file__).parents[4] / "examples" / "android"

FAMILY = """
- goal: Weather in {city}
  name: weather
  app: org.example.weather
  link: https://example.com
  reset: clear
  max_steps: 7
  judge: {foreground: org.example.weather, shows: "{city}", answer: [sun, "{city}"]}
  params: {city: [Rome, Oslo, Cairo, Lima, Kyoto, Quito, Riga, Bern]}
"""


@pytest.fixture
def suite(tmp_path):
    def write(text: str, name: str = "mine.yaml") -> FileSuite:
        (tmp_path / name).write_text(text, encoding="utf-8")
        found = load_suite(str(tmp_path / name))
        assert isinstance(found, FileSuite)
        return found

    return write


def goals_of(suite: FileSuite, split: str) -> set[str]:
    return {normalise(goal) for goal in suite.goals(split)} if split in suite.splits else set()


def test_goals_are_divided_by_their_own_hash_so_that_adding_one_moves_no_other(suite):
    few = [f"Do thing number {n}" for n in range(40)]
    many = few + [f"And also {n}" for n in range(40)]
    small, large = suite("\n".join(few), "a.txt"), suite("\n".join(reversed(many)), "b.txt")
    test = goals_of(small, "test-instances")
    assert test == {goal for goal in goals_of(large, "test-instances") if goal.startswith("do")}
    assert 4 <= len(test) <= 16
    assert not test & goals_of(small, "train")
    assert test | goals_of(small, "train") == goals_of(small, ALL)


@pytest.mark.parametrize("count", [2, 3, 5])
def test_a_handful_of_goals_has_something_on_both_sides(suite, count):
    for start in range(20):
        found = suite("\n".join(f"Goal {start}/{n}" for n in range(count)), "few.txt")
        assert goals_of(found, "train")
        assert goals_of(found, "test-instances")


def test_one_goal_alone_can_only_be_played_as_all_or_where_its_hash_put_it(suite):
    found = suite("Alone", "one.txt")
    assert {"train", "test-instances"} - set(found.splits)
    assert found.tasks(ALL, 3, seed=0)[2].goal == "Alone"


def test_a_task_carries_all_that_device_and_judge_need(suite):
    found = suite(FAMILY)
    task = found.tasks(ALL, 1, seed=0)[0]
    city = task.params["city"]
    assert task.goal == f"Weather in {city}"
    assert (task.max_steps, task.template, task.start) == (7, "weather", (("open", "launcher", "home"),))
    assert task.params == {
        "city": city, "package": "org.example.weather", "link": "https://example.com", "reset": "clear",
        "judge": {"foreground": ["org.example.weather"], "shows": [city], "answer": ["sun", city]},
    }  # fmt: skip
    assert task.suite == found.name
    assert found.name.startswith("mine-")


def test_tasks_are_the_same_for_the_same_seed_and_use_every_instance_before_one_comes_again(suite):
    found = suite(FAMILY)
    tasks = found.tasks(ALL, 8, seed=3)
    assert tasks == found.tasks(ALL, 8, seed=3)
    assert len({task.goal for task in tasks}) == 8
    assert found.tasks(ALL, 16, seed=3)[:8] == tasks
    assert [task.goal for task in found.tasks(ALL, 8, seed=4)] != [task.goal for task in tasks]


def test_seeds_of_different_splits_never_meet(suite):
    found = suite(FAMILY)
    seeds = [{task.seed >> 28 for task in found.tasks(split, 50, seed=1)} for split in found.splits]
    assert seeds == [{(*SPLITS, ALL).index(split)} for split in found.splits]


def test_another_content_is_another_suite(suite):
    assert suite("Open a\nOpen b", "x.txt").name != suite("Open a\nOpen c", "x.txt").name


def test_a_split_can_be_given_by_hand(suite):
    found = suite(
        "- {goal: a, split: train}\n- {goal: b, split: test-templates}\n- {goal: c, app: x.y, split: test-apps}\n"
    )
    assert found.splits == ("train", "test-templates", "test-apps", "all")
    assert [found.tasks(split, 1, 0)[0].goal for split in found.splits[:3]] == ["a", "b", "c"]
    with pytest.raises(ConfigError, match=r"has no task in the split 'test-instances'. Write `split: test-instances`"):
        found.tasks("test-instances", 1, 0)
    with pytest.raises(UnknownName, match="Did you mean 'train'"):
        found.tasks("trian", 1, 0)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("- goal: Open it\n- goal: open  IT!\n", "line 2: line 1 has the same goal"),
        ("- {goal: a, name: n}\n- {goal: b, name: n}\n", "line 2: line 1 has the same name"),
        ("- {goal: 'a {x}', params: {x: [1, 2]}}\n- goal: A 2\n", "line 2: line 1 has the same goal"),
        ("- {goal: a, split: test-apps}\n", "line 1: the split test-apps needs to know the `app`"),
        ("- {goal: a, app: x.y, split: test-apps}\n- {goal: b, app: x.y}\n", "line 2: x.y is an app of test-apps"),
    ],
)
def test_what_contradicts_itself_is_refused(suite, text, said):
    with pytest.raises(ConfigError, match=said):
        suite(text)


def test_names_come_from_the_goal_and_can_be_chosen_by_their_beginning(suite):
    found = suite(
        "- {goal: 'Turn on the big red light in the hall now please'}\n"
        "- {goal: 'Turn on the big red light in the hall at once'}\n"
        "- {goal: Show it, app: com.example}\n"
    )
    first, second, third = found.templates
    assert first.startswith("turn-on-the-big-red-light-in-the-")
    assert first != second
    assert third == "com.example/show-it"
    assert [template.name for template in found.only(["com.example/"]).members] == [third]
    assert found.only(["com.example/"]).tested == found.tested
    with pytest.raises(UnknownName):
        found.only(["nothing"])


def test_a_task_of_a_file_has_neither_rule_nor_oracle_and_says_so(suite):
    template = suite("One\nTwo", "l.txt").members[0]
    with pytest.raises(ConfigError, match="judge.kind=vlm"):
        template.check(None)
    with pytest.raises(ConfigError, match="no oracle"):
        template.oracle(None, {})


@pytest.mark.parametrize("name", ["general.txt", "shopping.yaml", "served.yaml"])
def test_the_examples_that_ship_can_be_used(name):
    found = load_suite(str(EXAMPLES / name))
    assert {"train", "test-instances"} <= set(found.splits)
