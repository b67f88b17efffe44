import msgpack
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from distrl.errors import CorruptData
from distrl.store.codec import decode, encode
from distrl.types import (
    Answer,
    Decision,
    Done,
    Element,
    Impossible,
    Invalid,
    LongPress,
    Outcome,
    Press,
    Screen,
    Step,
    Swipe,
    Tap,
    Task,
    Trajectory,
    Type,
    Wait,
)

any_text = st.text(st.characters(), max_size=20) | st.sampled_from(
    ["🙂", '"quoted"', "two\nlines", "\x00", "\ud800", ""]
)
whole = st.integers(-(2**63), 2**63)
count = st.integers(0, 2**31 - 1)
real = st.floats(allow_nan=False)
time = st.floats(allow_nan=False, allow_infinity=False)
plain = st.recursive(
    st.none() | st.booleans() | whole | real | any_text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(any_text, inner, max_size=3),
    max_leaves=5,
)
action = st.one_of(
    st.builds(Tap, whole, whole),
    st.builds(LongPress, whole, whole),
    st.builds(Swipe, whole, whole, whole, whole),
    st.builds(Type, any_text),
    st.builds(Press, st.sampled_from(["back", "home", "enter"])),
    st.sampled_from([Wait(), Done(), Impossible()]),
    st.builds(Answer, any_text),
    st.builds(Invalid, any_text, any_text),
)
screen = st.builds(Screen, st.binary(max_size=30), count, count, st.just(()), any_text)
decision = st.builds(
    Decision,
    action,
    any_text,
    st.lists(whole, max_size=3).map(tuple),
    st.lists(real, max_size=3).map(tuple),
    real,
    count,
    real,
)
task = st.builds(
    Task,
    *(any_text,) * 5,
    whole,
    count,
    st.dictionaries(any_text, plain, max_size=3),
    st.lists(st.lists(plain, max_size=3).map(tuple), max_size=2).map(tuple),
)
trajectory = st.builds(
    Trajectory,
    any_text,
    task,
    st.lists(st.builds(Step, screen, decision, real), max_size=3).map(tuple),
    st.builds(Outcome, st.sampled_from(["success", "failure", "invalid"]), any_text),
    st.none() | screen,
    any_text,
    any_text,
    time,
    time,
    any_text,
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(trajectory)
def test_every_trajectory_comes_back_as_it_went(sent):
    assert decode(encode(sent)) == sent


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=200))
def test_garbage_is_refused(garbage):
    with pytest.raises(CorruptData):
        decode(garbage)


def test_every_truncation_is_refused(make):
    payload = encode(make(steps=1))
    for length in range(len(payload)):
        with pytest.raises(CorruptData):
            decode(payload[:length])


def test_trailing_bytes_are_refused(make):
    with pytest.raises(CorruptData):
        decode(encode(make()) + b"\x00")


def test_elements_stay_behind_and_a_repeated_screen_is_written_once(make):
    image = b"x" * 10_000
    seen = Screen(image, 10, 20, (Element("OK", "button", (0, 0, 1, 1)),))
    step = Step(seen, make().steps[0].decision)
    payload = encode(Trajectory("t", make().task, (step,) * 5, Outcome("failure"), seen))
    assert len(payload) < 2 * len(image)
    assert decode(payload).steps[4].screen == Screen(image, 10, 20)


def test_references_travel_without_an_image(make):
    seen = make().steps[0].screen.reference()
    sent = Trajectory("t", make().task, (), Outcome("failure"), seen)
    assert decode(encode(sent)).last_screen == seen


def test_a_payload_from_before_leases_travelled_with_it_is_still_read(make):
    sent = make()
    tree = msgpack.unpackb(encode(sent))
    del tree["lease_id"]
    assert decode(msgpack.packb({**tree, "version": 1})) == sent


def changed(payload, path, value):
    """The same payload with one value replaced."""
    tree = msgpack.unpackb(payload)
    place = tree
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    return msgpack.packb(tree)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("version",), 3),
        (("version",), True),
        (("id",), 7),
        (("surprise",), 1),
        (("outcome",), ["won", ""]),
        (("outcome",), ["success"]),
        (("last_screen",), 99),
        (("last_screen",), -1),
        (("started_at",), float("nan")),
        (("steps",), None),
        (("steps", 0, "action"), ["explode", 1, 2]),
        (("steps", 0, "action"), ["tap", 1]),
        (("steps", 0, "action"), ["tap", "1", "2"]),
        (("steps", 0, "action"), ["press", "power"]),
        (("steps", 0, "action"), []),
        (("steps", 0, "action"), [["tap"], 1, 2]),
        (("steps", 0, "policy_version"), -1),
        (("steps", 0, "policy_version"), 2**40),
        (("steps", 0, "token_ids"), [1.5]),
        (("steps", 0, "entropy"), True),
        (("screens", 0, 0), "../../etc/passwd"),
        (("screens", 0, 4), b"another picture"),
        (("screens", 0, 4), "text"),
        (("task", "params"), {"when": msgpack.ExtType(4, b"code")}),
        (("task", "params"), {"when": msgpack.Timestamp(0)}),
        (("task", "params"), [1]),
        (("task", "start"), [["set"], "oops"]),
    ],
)
def test_one_wrong_value_is_refused(make, path, value):
    with pytest.raises(CorruptData):
        decode(changed(encode(make()), path, value))


def test_a_length_beyond_the_payload_is_refused_without_reserving_memory():
    for header in (b"\xdd\xff\xff\xff\xff", b"\xdf\xff\xff\xff\xff", b"\xc6\xff\xff\xff\xff", b"\xdb\xff\xff\xff\xff"):
        with pytest.raises(CorruptData):
            decode(header)


def test_endless_nesting_is_refused(make):
    nested = None
    for _ in range(100):
        nested = [nested]
    with pytest.raises(CorruptData, match="nested deeper"):
        decode(changed(encode(make()), ("task", "params"), {"deep": nested}))
    with pytest.raises(CorruptData):
        decode(b"\x91" * 5_000 + b"\xc0")


def test_a_value_that_could_not_be_read_is_refused_when_writing(make):
    task = Task("a", "b", "c", "d", "e", 0, 1, {"object": object()})
    with pytest.raises(CorruptData):
        encode(Trajectory("t", task, (), Outcome("failure")))
    with pytest.raises(CorruptData):
        encode(Trajectory("t", make().task, (), Outcome("failure"), started_at=float("inf")))
