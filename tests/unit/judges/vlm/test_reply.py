"""What counts as an answer. Everything that is not exactly a verdict must be refused, and nothing may be guessed."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from distrl.errors import BadVerdict, JudgeTrouble
from distrl.judges.vlm.reply import SCHEMA, Reply, Verdict, parse_completion, parse_verdict, plain

BAD = [
    "",
    "true",
    "null",
    "[]",
    '"success"',
    "Status: success",
    '{"success": true}',
    '{"reason": "done"}',
    '{"success": true, "reason": "done", "score": 1}',
    '{"success": "true", "reason": "done"}',
    '{"success": 1, "reason": "done"}',
    '{"success": null, "reason": "done"}',
    '{"success": true, "reason": null}',
    '{"success": true, "reason": ["done"]}',
    '{"success": false, "success": true, "reason": "twice"}',
    '[{"success": true, "reason": "done"}]',
    '{"success": true, "reason": "done"} {"success": false, "reason": "no"}',
    '```json\n{"success": true, "reason": "done"}\n```',
    'Sure! {"success": true, "reason": "done"}',
    '{"success": true, "reason": "cut sho',
    '{"success": NaN, "reason": "done"}',
    '{"Success": true, "reason": "done"}',
    "[" * 100_000,
    '{"success":' + '{"success":' * 50_000,
    '{"success": ' + "9" * 10_000 + ', "reason": "large"}',
]


@pytest.mark.parametrize("content", BAD, ids=range(len(BAD)))
def test_what_is_not_exactly_the_schema_is_no_verdict(content):
    with pytest.raises(BadVerdict):
        parse_verdict(content)


@pytest.mark.parametrize("success", [True, False])
def test_a_verdict_is_read_as_it_is_meant(success):
    content = json.dumps({"reason": "The alarm is on.", "success": success})
    assert parse_verdict(content) == Verdict(success, "The alarm is on.")
    assert parse_verdict(f"\n {content} \n") == Verdict(success, "The alarm is on.")


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(), lambda x: st.lists(x) | st.dictionaries(st.text(), x)
    )
)
def test_any_json_is_a_verdict_or_refused(tree):
    try:
        found = parse_verdict(json.dumps(tree))
    except BadVerdict:
        return
    assert tree == {"success": found.success, "reason": found.reason}


def test_the_schema_that_is_asked_for_is_the_one_that_is_checked():
    assert SCHEMA["required"] == list(SCHEMA["properties"]) == ["reason", "success"]
    assert SCHEMA["additionalProperties"] is False


def envelope(**message) -> bytes:
    choice = {"message": {"content": "text", **message.pop("message", {})}, **message.pop("choice", {})}
    return json.dumps({"choices": [choice], **message}).encode()


def test_the_text_and_the_tokens_come_out_of_the_envelope():
    usage = {"prompt_tokens": 12, "completion_tokens": 3}
    assert parse_completion(envelope(usage=usage)) == Reply("text", 12, 3)


@pytest.mark.parametrize(
    "usage", [None, [], "many", {"prompt_tokens": -1}, {"prompt_tokens": True}, {"prompt_tokens": 1e99}]
)
def test_tokens_that_are_no_count_are_not_counted(usage):
    assert parse_completion(envelope(usage=usage)) == Reply("text", 0, 0)


@pytest.mark.parametrize(
    "body",
    [b"", b"<html>502</html>", b"\xff\xfe", b"[]", b'"x"', b"{}", b'{"choices": []}', b'{"choices": [{}, {}]}',
     b'{"choices": [3]}',
     b'{"choices": {"a": 1}}', b'{"choices": [{"message": []}]}', b'{"choices": 1, "choices": 2}', b"[" * 100_000],
)  # fmt: skip
def test_what_is_no_chat_completion_is_trouble_and_may_pass(body):
    with pytest.raises(JudgeTrouble):
        parse_completion(body)


def test_a_model_that_declines_or_is_cut_short_gave_no_verdict():
    for body in (envelope(message={"content": None, "refusal": "no"}), envelope(choice={"finish_reason": "length"})):
        with pytest.raises(BadVerdict):
            parse_completion(body)


@given(st.text(), st.integers(0, 50))
def test_text_from_outside_becomes_one_short_line_that_a_terminal_and_a_database_can_take(text, longest):
    line = plain(text, longest)
    assert len(line) <= longest
    assert all(letter.isprintable() for letter in line)
    line.encode("utf-8")
