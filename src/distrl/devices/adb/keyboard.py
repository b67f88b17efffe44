"""Text, verbatim or not at all: plain ASCII through `input text`, everything else through ADBKeyBoard."""

from __future__ import annotations

import base64
import re
import shlex

from distrl.devices.adb.line import joined

ADB_KEYBOARD = "com.android.adbkeyboard/.AdbIME"
SURVEY = "ime list -a -s; echo now; settings get secure default_input_method"
TYPED = "distrl-typed"
LONGEST_PIECE = 400
SPACE_SIGN = re.compile("(?<=%)(?=s)")
"""`input text` reads %s as a space: between two pieces neither half is special."""


def is_plain(text: str) -> bool:
    """Whether `input text` types exactly this. A line break would be the enter key, which may send a form."""
    return all(" " <= character <= "~" for character in text)


def is_whole(text: str) -> bool:
    """Half a character, as broken decoding leaves it, is in no alphabet."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def plain_script(text: str) -> str:
    pieces = [piece for long in _cut(text) for piece in SPACE_SIGN.split(long)]
    return joined([["input", "text", piece] for piece in pieces])


def scripts(text: str, usual: str, wait_s: float) -> list[str]:
    """Scripts that switch to ADBKeyBoard, type, and give the usual keyboard back in the same breath: also when
    nobody on this side lives to see it."""
    found = []
    for piece in _cut(text):
        encoded = base64.b64encode(piece.encode()).decode()
        typing = [["am", "broadcast", "-a", "ADB_INPUT_B64", "--es", "msg", encoded]]
        if usual != ADB_KEYBOARD:
            switch = [["ime", "enable", ADB_KEYBOARD], ["ime", "set", ADB_KEYBOARD]]
            pause = [["sleep", f"{wait_s:g}"]] if wait_s else []  # until the new keyboard listens, and has typed
            script = joined([*switch, *pause, *typing, *pause])
            found.append(f"{script} && echo {TYPED}; {shlex.join(['ime', 'set', usual])}")
        else:
            found.append(f"{joined(typing)} && echo {TYPED}")
    return found


def parse_survey(text: str) -> tuple[bool, str]:
    """Whether ADBKeyBoard is installed, and which keyboard is in use."""
    listed, _, now = text.rpartition("now\n")
    return ADB_KEYBOARD in listed.split(), now.strip()


def _cut(text: str) -> list[str]:
    return [text[start : start + LONGEST_PIECE] for start in range(0, len(text), LONGEST_PIECE)]
