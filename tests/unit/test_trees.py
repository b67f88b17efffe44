import pytest

from distrl.trees import Change, diff, get, put, under

TREE = {"clock": {"alarms": [{"time": "7:30", "on": True}, {"time": "8:00", "on": False}]}, "wifi": True}


def changed(path, value):
    tree = {"clock": {"alarms": [dict(alarm) for alarm in TREE["clock"]["alarms"]]}, "wifi": True}
    put(tree, path, value)
    return tree


def test_equal_trees_have_no_difference():
    assert diff(TREE, changed("wifi", True)) == []


def test_a_change_deep_in_a_list_is_named_by_its_whole_path():
    assert diff(TREE, changed("clock/alarms/1/on", True)) == [Change("clock/alarms/1/on", False, True)]


def test_a_list_that_grew_differs_as_a_whole():
    before, after = {"names": ["a"]}, {"names": ["a", "b"]}
    assert diff(before, after) == [Change("names", ["a"], ["a", "b"])]


def test_keys_that_come_or_go_are_changes():
    assert diff({"a": 1}, {"b": 2}) == [Change("a", 1, None), Change("b", None, 2)]


def test_true_is_not_one():
    assert diff({"a": True}, {"a": 1}) == [Change("a", True, 1)]


def test_a_key_that_comes_with_none_is_still_a_change():
    assert diff({}, {"a": None}) == [Change("a", None, None)]


def test_get_steps_into_dicts_and_lists():
    assert get(TREE, "clock/alarms/0/time") == "7:30"


@pytest.mark.parametrize("path", ["phone", "clock/alarms/9", "clock/alarms/first", "wifi/name"])
def test_get_says_what_is_missing(path):
    with pytest.raises(KeyError, match=path):
        get(TREE, path)


def test_under_takes_whole_keys_only():
    assert under("clock/alarms/0", ["clock/alarms"])
    assert under("clock", ["clock"])
    assert not under("clocks", ["clock"])
    assert not under("clock", ["clock/alarms"])
