"""Types text exactly or fails: plain ASCII by `input text`, everything else by ADBKeyBoard."""

from __future__ import annotations

import base64
import re
import shlex

from distrl.devices.adb.connection import join_commands

ADB_KEYBOARD = "com.android.adbkeyboard/.AdbIME"
LIST_KEYBOARDS = "ime list -a -s; echo now; settings get secure default_input_method"
TYPED = "distrl-typed"
LONGEST_PIECE = 400
SPACE_SIGN = re.compile("(?<=%)(?=s)")
"""`input text` reads %s as a space, so text is split between the two characters."""


def is_plain(text: str) -> bool:
    """Whether `input text` types exactly this. A line break would press enter, which may send a form."""
    return all(" " <= character <= "~" for character in text)


def is_valid_text(text: str) -> bool:
    """False for unpaired surrogates, which no keyboard can type."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def plain_script(text: str) -> str:
    pieces = [piece for long in _cut(text) for piece in SPACE_SIGN.split(long)]
    return join_commands([["input", "text", piece] for piece in pieces])


def typing_scripts(text: str, usual: str, wait_s: float) -> list[str]:
    """Scripts that each switch to ADBKeyBoard, type a piece and restore the usual keyboard, so that a crash on our side
    cannot leave it switched."""
    found = []
    for piece in _cut(text):
        encoded = base64.b64encode(piece.encode()).decode()
        typing = [["am", "broadcast", "-a", "ADB_INPUT_B64", "--es", "msg", encoded]]
        if usual != ADB_KEYBOARD:
            switch = [["ime", "enable", ADB_KEYBOARD], ["ime", "set", ADB_KEYBOARD]]
            pause = [["sleep", f"{wait_s:g}"]] if wait_s else []  # until the new keyboard is ready, and has typed
            script = join_commands([*switch, *pause, *typing, *pause])
            found.append(f"{script} && echo {TYPED}; {shlex.join(['ime', 'set', usual])}")
        else:
            found.append(f"{join_commands(typing)} && echo {TYPED}")
    return found


def parse_keyboards(text: str) -> tuple[bool, str]:
    """Whether ADBKeyBoard is installed, and which keyboard is in use."""
    listed, _, now = text.rpartition("now\n")
    return ADB_KEYBOARD in listed.split(), now.strip()


def _cut(text: str) -> list[str]:
    return [text[start : start + LONGEST_PIECE] for start in range(0, len(text), LONGEST_PIECE)]
