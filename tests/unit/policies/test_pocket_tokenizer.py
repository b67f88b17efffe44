from hypothesis import given
from hypothesis import strategies as st

from distrl.policies.actions import format_action
from distrl.policies.pocket.tokenizer import build_tokenizer
from distrl.types import Press, Swipe, Tap, Type

TOKENIZER = build_tokenizer(["alarm", "buy", "milk"])


def pieces(text):
    return TOKENIZER.convert_ids_to_tokens(TOKENIZER(text)["input_ids"])


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_any_text_round_trips(text):
    assert TOKENIZER.decode(TOKENIZER(text)["input_ids"]) == text


def test_coordinates_in_tens_and_keys_are_one_token_each():
    assert pieces(format_action(Tap(510, 20))) == ["tap", " 510", " 20"]
    assert pieces(format_action(Swipe(500, 700, 500, 300))) == ["swipe", " 500", " 700", " 500", " 300"]
    assert pieces(format_action(Press("back"))) == ["press", " back"]


def test_a_word_is_the_same_token_in_a_goal_and_in_a_typed_text():
    assert "milk" in pieces("goal: buy milk")
    assert pieces(format_action(Type("milk"))) == ["type", ' "', "milk", '"']


def test_special_tokens_survive_saving(tmp_path):
    from transformers import AutoTokenizer

    TOKENIZER.save_pretrained(tmp_path)
    loaded = AutoTokenizer.from_pretrained(tmp_path)
    text = "goal: alarm\n<image><act>tap 510 20<eos>"
    assert loaded(text)["input_ids"] == TOKENIZER(text)["input_ids"]
    assert loaded.image_token == "<image>"
