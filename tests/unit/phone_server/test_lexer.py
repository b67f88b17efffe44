"""The shell's quoting: what a careful client quotes arrives as it was, and what it forgot is refused or means what sh
means by it."""

from __future__ import annotations

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from distrl.phone_server.shell.lexer import SyntaxProblem, Word, split


def words(line: str, **variables: str) -> list[str]:
    return [token.value(variables) if isinstance(token, Word) else f"<{token}>" for token in split(line)]


@given(st.lists(st.text().filter(lambda text: "\0" not in text)))
def test_what_is_quoted_arrives_verbatim(texts):
    assert words(shlex.join(texts)) == texts


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("a  b\tc", ["a", "b", "c"]),
        ("a'b c'\"d e\"f", ["ab cd ef"]),
        (r"a\ b \$x \'", ["a b", "$x", "'"]),
        ('"a\\"b" "\\n" "\\$x"', ['a"b', "\\n", "$x"]),
        ("'' \"\"", ["", ""]),
        ("a;b&&c||d|e\nf", ["a", "<;>", "b", "<&&>", "c", "<||>", "d", "<|>", "e", "<\n>", "f"]),
        ("a 2>&1 >/dev/null 2> x", ["a", "<2>&1>", "<>>", "/dev/null", "<2>>", "x"]),
        ("echo a #b", ["echo", "a"]),
        ("a#b", ["a#b"]),
        ("$x ${x} '$x' \"$x\" $ $y", ["1", "1", "$x", "1", "$", ""]),
    ],
)
def test_lines_are_split_as_a_shell_splits_them(line, expected):
    assert words(line, x="1") == expected


@pytest.mark.parametrize("line", ["echo `ls`", "echo $(ls)", 'echo "$(ls)"', '"`ls`"', "ls &", "'open", '"open'])
def test_what_this_shell_cannot_do_is_refused_and_never_run(line):
    with pytest.raises(SyntaxProblem):
        split(line)
