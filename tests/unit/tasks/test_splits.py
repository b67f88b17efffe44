import pytest

from distrl.errors import UnknownName
from distrl.tasks.base import Template, load_suite
from distrl.tasks.splits import SPLITS, TemplateSuite, goals, normalise, unseen_goals


def template(name="clock/add", app="clock", values=tuple(range(8)), **more):
    return Template(
        name=name,
        app=app,
        phrasings=("Set {value} in " + name, "Use {value} for " + name, "Take {value} to " + name),
        space={"value": values},
        check=lambda ending: True,
        oracle=lambda hand, params: iter(()),
        **more,
    )


SUITE = TemplateSuite(
    "toy",
    (
        template(),
        template("clock/drop"),
        template("clock/held", held_out=True),
        template("music/play", app="music"),
        template("music/held", app="music", held_out=True),
    ),
    held_out_apps=frozenset({"music"}),
)


def test_every_combination_belongs_to_exactly_one_split():
    for member in SUITE.members:
        divided = [c for split in SPLITS for c in SUITE.combinations(member, split)]
        assert sorted(c["value"] for c in divided) == list(range(8))


def test_a_quarter_of_the_combinations_is_tested():
    assert len(SUITE.combinations(SUITE.templates["clock/add"], "test-instances")) == 2
    assert len(unseen_goals(template(values=(1, 2)))) == 1


def test_adding_a_template_moves_no_combination():
    larger = TemplateSuite("toy", (template("clock/new"), *SUITE.members), SUITE.held_out_apps)
    for member in SUITE.members:
        for split in SPLITS:
            assert larger.combinations(member, split) == SUITE.combinations(member, split)


def test_combinations_that_read_the_same_fall_on_the_same_side():
    hidden = template(values=tuple(range(12)))
    hidden = Template(**{**vars(hidden), "space": {"value": tuple(range(12)), "secret": ("x", "y", "z")}})
    suite = TemplateSuite("toy", (hidden,))
    tested = {c["value"] for c in suite.combinations(hidden, "test-instances")}
    trained = {c["value"] for c in suite.combinations(hidden, "train")}
    assert tested
    assert not tested & trained


def test_held_out_templates_and_apps_have_splits_of_their_own():
    by_split = {split: {task.template for task in SUITE.tasks(split, 40, 0)} for split in SPLITS}
    assert by_split["train"] == by_split["test-instances"] == {"clock/add", "clock/drop"}
    assert by_split["test-templates"] == {"clock/held"}
    assert by_split["test-apps"] == {"music/play", "music/held"}


def test_tasks_are_spread_evenly_and_use_up_combinations_before_repeating():
    tasks = SUITE.tasks("train", 12, seed=3)
    names = [task.template for task in tasks]
    assert names.count("clock/add") == names.count("clock/drop") == 6
    assert len({(task.template, task.params["value"]) for task in tasks}) == 12


def test_the_same_seed_gives_the_same_tasks_and_a_smaller_count_a_prefix():
    assert SUITE.tasks("train", 9, seed=5) == SUITE.tasks("train", 20, seed=5)[:9]
    assert SUITE.tasks("train", 9, seed=5) != SUITE.tasks("train", 9, seed=6)


def test_splits_use_disjoint_device_seeds_and_ids_are_unique():
    tasks = {split: SUITE.tasks(split, 200, seed=1) for split in SPLITS}
    ranges = sorted((min(t.seed for t in some), max(t.seed for t in some)) for some in tasks.values())
    assert all(high < low for (_, high), (low, _) in zip(ranges, ranges[1:], strict=False))
    ids = [task.id for some in tasks.values() for task in some]
    assert len(set(ids)) == len(ids)


def test_an_unknown_split_is_refused_with_the_known_ones():
    with pytest.raises(UnknownName, match="test-instances"):
        SUITE.tasks("test-instance", 1, 0)


def test_a_suite_has_only_the_splits_that_have_tasks():
    suite = TemplateSuite("toy", (template(),))
    assert suite.splits == ("train", "test-instances")
    with pytest.raises(UnknownName):
        suite.tasks("test-apps", 1, 0)


def test_two_templates_of_one_name_are_refused():
    with pytest.raises(ValueError, match="clock/add"):
        TemplateSuite("toy", (template(), template()))


def test_a_goal_is_normalised_past_case_spaces_and_punctuation():
    assert normalise("Set  an Alarm, for 7:30!") == normalise("set an alarm for 7 30")
    assert normalise("Turn on") != normalise("Turn off")


def test_goals_are_all_phrasings():
    assert goals(SUITE.members[0], {"value": 3})[0] == "Set 3 in clock/add"


def test_a_part_of_a_suite_is_chosen_by_the_beginning_of_template_names():
    whole = load_suite("general")
    part = load_suite("general", only=["settings/", "clock/add_alarm"])
    assert {t.split("/")[0] for t in part.templates} == {"settings", "clock"}
    assert {task.template for task in part.tasks("train", 60, 0)} <= set(part.templates)
    assert set(part.goals("train")) <= set(whole.goals("train"))
    with pytest.raises(UnknownName, match="settngs"):
        load_suite("general", only=["settngs/"])
