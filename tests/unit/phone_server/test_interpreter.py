"""The phone's shell: what runs after what, where output goes, and how it ends."""

from __future__ import annotations

import pytest
from served import typed


@pytest.mark.parametrize(
    ("line", "status", "out"),
    [
        ("echo a; echo b", 0, "a\nb\n"),
        ("false && echo a", 1, ""),
        ("false || echo a", 0, "a\n"),
        ("true || echo a; echo b", 0, "b\n"),
        ("false; echo $?", 0, "1\n"),
        ("false; echo X4EXIT:$?", 0, "X4EXIT:1\n"),
        ("X=1 Y='a b' echo", 0, "\n"),
        ("X='a b'; echo \"$X\"", 0, "a b\n"),
        ("'X=1'", 127, ""),
        ("echo one > /sdcard/f; echo two >> /sdcard/f; cat /sdcard/f", 0, "one\ntwo\n"),
        ("echo gone > /dev/null", 0, ""),
        ("ls /nowhere 2>&1", 1, "ls: /nowhere: No such file or directory\n"),
        ("ls /nowhere 2> /dev/null", 1, ""),
        ("echo apple pear | grep pea && echo yes", 0, "apple pear\nyes\n"),
        ("cat < /sdcard/none", 1, ""),
        ("/system/bin/echo -n hi", 0, "hi"),
        ("toybox echo hi", 0, "hi\n"),
        ("", 0, ""),
        ("echo a;", 0, "a\n"),
        ("exit-all", 127, ""),
        ("echo a && ", 2, ""),
        ("| grep a", 2, ""),
        ("echo a >", 2, ""),
        ("echo $(reboot)", 2, ""),
        ("(echo a; echo b) | grep b", 0, "b\n"),
        ("(false); echo $?", 0, "1\n"),
        ("X=1; (X=2; echo $X); echo $X", 0, "2\n1\n"),
        ("(echo a; (echo b)) > /sdcard/f; cat /sdcard/f", 0, "a\nb\n"),
        ("( echo a ) </dev/null && echo b", 0, "a\nb\n"),
        ("echo '(' a\\)", 0, "( a)\n"),
        ("echo a >&2", 0, ""),
        ("(echo a >&2) 2>&1", 0, "a\n"),
        ("(echo a", 2, ""),
        ("echo a)", 2, ""),
        ("()", 2, ""),
        ("(echo a) b", 2, ""),
        ("echo (a)", 2, ""),
    ],
)
def test_a_line_ends_as_in_a_shell(phone, line, status, out):
    assert typed(phone, line)[:2] == (status, out)


def test_files_are_listed_removed_and_summed(phone):
    typed(phone, "mkdir -p /sdcard/a/b; echo x > /sdcard/a/b/c")
    assert typed(phone, "ls /storage/emulated/0/a/b")[1] == "c\n"
    assert typed(phone, "md5sum /sdcard/a/b/c")[1].startswith("401b30e3b8b5d629635a5c613cdb7919")
    assert typed(phone, "rm /sdcard/a")[0] == 1
    assert typed(phone, "rm -rf /sdcard/a; ls /sdcard/a")[0] == 1
    assert typed(phone, "rm -rf /; ls /")[1].split() == ["data", "dev", "proc", "sdcard", "system"]
    assert typed(phone, "rm /sdcard/none")[0] == 1
    assert typed(phone, "rm -f /sdcard/none")[0] == 0


@pytest.mark.parametrize("line", ["getprop", "settings", "wm", "am", "pm", "cmd", "input", "ime", "dumpsys", "monkey"])
def test_programs_without_arguments_say_something_and_never_crash(phone, line):
    assert any(typed(phone, line)[1:])
