"""`distrl devices` against served phones."""

from __future__ import annotations

import json

from served import served
from typer.testing import CliRunner

from distrl.cli.main import app


def told(*words: str):
    return CliRunner().invoke(app, ["devices", *words], env={"COLUMNS": "200"})


def test_phones_are_listed_with_what_they_are():
    with served(phones=2, seed=3) as phones:
        answer = told("list", "adb://" + ",".join(phones.addresses))
    assert answer.exit_code == 0
    for address in phones.addresses:
        assert f"{address}  device  DistRL Phone  14       192x384" in answer.output


def test_a_check_times_every_way_to_look_and_changes_nothing():
    with served(seed=3) as phones:
        before = phones.phone.evidence()
        answer = told("check", f"adb://{phones.address}", "--json")
        assert phones.phone.evidence() == before
    assert answer.exit_code == 0
    (phone,) = json.loads(answer.output)
    assert (phone["state"], phone["unicode"], phone["problem"]) == ("device", True, "")
    assert set(phone["seconds"]) == {"shell", "window", "screencap", "screencap -p", "uiautomator dump"}
    assert all(isinstance(taken, float) for taken in phone["seconds"].values())


def test_a_check_names_what_is_broken_and_what_to_do():
    with served("empty-screencap", "not-idle-dump") as phones:
        answer = told("check", f"adb://{phones.address}")
    assert "screencap: it was empty" in answer.output
    assert "uiautomator dump: no answer" in answer.output
    with served("unauthorized") as phones:
        answer = told("check", f"adb://{phones.address}?call_s=2")
    assert answer.exit_code == 1
    assert "unauthorized" in answer.output
    assert "press Allow" in answer.output
