"""What a task file may hold, and what is said of what it may not."""

from __future__ import annotations

import textwrap

import pytest

from distrl.errors import ConfigError
from distrl.tasks.base import load_suite
from distrl.tasks.files.entry import TaskEntry
from distrl.tasks.files.reading import read_entries, read_text


@pytest.fixture
def entries(tmp_path):
    def read(text: str, name: str = "mine.yaml") -> list[TaskEntry]:
        path = tmp_path / name
        path.write_text(textwrap.dedent(text), encoding="utf-8")
        return read_entries(path, read_text(path))

    return read


@pytest.fixture
def refusal(entries, tmp_path):
    def read(text: str, name: str = "mine.yaml") -> str:
        with pytest.raises(ConfigError) as caught:
            entries(text, name)
        return str(caught.value).replace(str(tmp_path), "")

    return read


def test_a_list_has_a_goal_per_line_taken_as_it_stands(entries):
    found = entries("\ufeff# mine\n\n  Open {the}   clock \nSet 5 # timers\nOpen {the} clock\n", "list.txt")
    assert [(entry.line, entry.goal) for entry in found] == [(3, "Open {{the}} clock"), (4, "Set 5 # timers")]
    assert load_suite_goals(found) == {"Open {the} clock", "Set 5 # timers"}


def load_suite_goals(entries) -> set[str]:
    return {entry.goal.format() for entry in entries}


def test_yaml_gives_every_field_and_defaults_where_it_says_nothing(entries):
    first, second = entries(
        """
        defaults: {reset: clear, max_steps: 9}
        tasks:
          - goal: Turn on wifi
            app: com.android.settings
            link: https://example.com/a?b=c
            max_steps: 4
            judge: {foreground: com.android.settings, shows: [Wi-Fi, "On"]}
          - goal: Weather in {city}
            name: weather
            params: {city: [Rome, 5]}
            split: test-templates
        """
    )
    assert first == TaskEntry(
        4, "Turn on wifi", "", "com.android.settings", "https://example.com/a?b=c", "clear",
        {"foreground": ("com.android.settings",), "shows": ("Wi-Fi", "On")}, 4, {}, "",
    )  # fmt: skip
    assert (second.line, second.max_steps, second.reset, second.rules) == (9, 9, "clear", None)
    assert (second.params, second.split, second.name) == ({"city": ("Rome", 5)}, "test-templates", "weather")


def test_a_bare_list_of_tasks_is_enough(entries):
    assert [entry.goal for entry in entries("- goal: a\n- goal: b\n")] == ["a", "b"]


@pytest.mark.parametrize(
    ("task", "said"),
    [
        ("gaol: x", "a task has no 'gaol'. Did you mean 'goal'?"),
        ("app: a.b", "a task needs a `goal`"),
        ("goal: 7", "goal is 7, but it must be text; put quotes around it"),
        ("goal: x, app: settings", "it must be a package such as com.android.settings"),
        ("goal: x, app: ../../etc/passwd", "it must be a package"),
        ("goal: x, app: 'a.b; rm -rf /'", "it must be a package"),
        ("goal: x, link: 'tel:911'", "a reset opens no other links"),
        ("goal: x, link: 'sms:911?body=hi'", "a reset opens no other links"),
        ("goal: x, link: 'market://details?id=a'", "a reset opens no other links"),
        ("goal: x, link: 'intent:#Intent;action=android.intent.action.CALL;end'", "a reset opens no other links"),
        ("goal: x, link: 'file:///sdcard/x'", "a reset opens no other links"),
        ("goal: x, link: 'javascript:alert(1)'", "a reset opens no other links"),
        ("goal: x, link: /etc/passwd", "a reset opens no other links"),
        ("goal: x, reset: wipe", "there is no reset 'wipe'"),
        ("goal: x, split: tests", "there is no split 'tests'"),
        ("goal: x, max_steps: 0", "max_steps is 0"),
        ("goal: x, max_steps: true", "max_steps is True"),
        ("goal: x, judge: llm", "it must be `vlm`, or rules: foreground, shows, answer"),
        ("goal: x, judge: {foregruond: a.b}", "Did you mean 'foreground'?"),
        ("goal: x, judge: {foreground: settings}", "it must be a package"),
        ("goal: x, judge: {shows: []}", "it must be text, or a list of texts"),
        ("goal: 'in {city}'", "has a place {city} and no params.city"),
        ("goal: x, params: {city: [Rome]}", "write {city} where its value belongs"),
        ("goal: '{city}', params: {city: Rome}", "a list of words or numbers"),
        ("goal: '{city}', params: {city: [[Rome]]}", "a list of words or numbers"),
        ("goal: '{city}', params: {city: []}", "a list of words or numbers"),
        ("goal: '{city}', params: {city: [Rome, Rome]}", "each of them once"),
        ("goal: '{link}', params: {link: [a]}", "a parameter cannot be called 'link'"),
        ("goal: '{a.__class__}', params: {a: [b]}", "must be the plain name of a parameter"),
        ("goal: '{a!r}', params: {a: [b]}", "must be the plain name of a parameter"),
        ("goal: '{a[0]}', params: {a: [b]}", "must be the plain name of a parameter"),
        ("goal: 'open {', params: {a: [b]}", "a brace that is no place for a parameter is written twice"),
        ("goal: '{a}', judge: {shows: '{b}'}, params: {a: [x]}", "has a place {b}"),
        ('goal: "a\\ab"', "must be printable"),
    ],
)
def test_what_cannot_be_used_is_refused_with_file_line_and_what_to_do(refusal, task, said):
    message = refusal(f"tasks:\n  - goal: fine\n  - {{{task}}}\n")
    assert message.startswith("/mine.yaml, line 3: ")
    assert said in message


def test_all_problems_are_named_at_once(refusal):
    message = refusal("".join(f"- {{goal: g{n}, reset: wipe}}\n" for n in range(12)))
    assert "line 1: " in message
    assert "line 10: " in message
    assert message.endswith("… and 2 more")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a: [", "is not valid YAML"),
        ("5", "must hold a list of tasks"),
        ("taks: []", "Did you mean 'tasks'?"),
        ("tasks: 5", "`tasks` is a list"),
        ("tasks: []", "holds no task"),
        ("defaults: {goal: x}\ntasks: [{goal: y}]", "defaults cannot hold 'goal'"),
        ("- just words", "Write `- goal: …`"),
        ("- goal: a\n  goal: b", "written twice"),
        ("- !!python/object/apply:os.system [ls]", "is not valid YAML"),
        ("[" * 1500, "is not valid YAML"),
    ],
)
def test_what_is_no_task_file_is_said_so(refusal, text, said):
    assert said in refusal(text)


def test_files_that_cannot_be_read_are_explained(tmp_path, refusal):
    assert "holds no task" in refusal("# nothing\n", "list.txt")
    with pytest.raises(ConfigError, match=r"There is no task file .*none.txt"):
        load_suite(str(tmp_path / "none.txt"))
    with pytest.raises(ConfigError, match="must end with"):
        load_suite("/etc/passwd")
    (tmp_path / "latin.txt").write_bytes("Größe".encode("latin-1"))
    with pytest.raises(ConfigError, match="no text in UTF-8"):
        load_suite(str(tmp_path / "latin.txt"))
    (tmp_path / "big.txt").write_bytes(b"x" * (1 << 20) + b"y")
    with pytest.raises(ConfigError, match="Divide it"):
        load_suite(str(tmp_path / "big.txt"))


def test_too_many_combinations_are_refused(refusal):
    values = ", ".join(map(str, range(101)))
    assert "10201 tasks" in refusal(f"- goal: '{{a}} {{b}}'\n  params: {{a: [{values}], b: [{values}]}}\n")
