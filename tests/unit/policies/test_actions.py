from hypothesis import given
from hypothesis import strategies as st

from distrl.policies.actions import format_action, parse
from distrl.types import Answer, Done, Impossible, Invalid, LongPress, Press, Swipe, Tap, Type, Wait

coordinate = st.integers(0, 1000)
any_action = st.one_of(
    st.builds(Tap, coordinate, coordinate),
    st.builds(LongPress, coordinate, coordinate),
    st.builds(Swipe, coordinate, coordinate, coordinate, coordinate),
    st.builds(Type, st.text()),
    st.builds(Answer, st.text()),
    st.builds(Press, st.sampled_from(["back", "home", "enter"])),
    st.sampled_from([Wait(), Done(), Impossible()]),
)


@given(any_action)
def test_every_action_round_trips_through_its_text(action):
    assert parse(format_action(action)) == action


def test_a_comma_a_quote_an_emoji_and_a_newline_survive_typing():
    text = 'milk, "eggs" and 🥖\nplease'
    assert parse(format_action(Type(text))) == Type(text)


@given(st.text())
def test_any_text_parses_to_an_action_and_never_raises(text):
    action = parse(text)
    assert not isinstance(action, Invalid) or action.text == text


def test_what_is_no_action_is_invalid_and_says_why():
    for text in [
        "",
        "tap",
        "tap 5",
        "tap 5 5 5",
        "tap -1 5",
        "tap 1001 5",
        "tap a b",
        "type milk",
        'type "milk',
        "type 5",
    ]:
        assert isinstance(parse(text), Invalid), text
    for text in ["press power", "done now", "swipe 1 2 3", 'type "a" "b"', "fly 1 2", "TAP 1 2"]:
        action = parse(text)
        assert isinstance(action, Invalid), text
        assert action.reason
