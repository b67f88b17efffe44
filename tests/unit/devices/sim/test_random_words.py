"""The words that pages of random words are made of."""

import random

from distrl.devices.sim.random_words import MADE_UP, NUMBERS, any_word, made_up

LEXICON = ["garden", "kitchen", "winter", "norwich", "42"]


def test_words_are_known_ones_numbers_and_words_that_nobody_knows():
    rng = random.Random(0)
    words = [any_word(LEXICON, rng) for _ in range(2000)]
    known = sum(word in LEXICON for word in words) / len(words)
    unknown = sum(word.isalpha() and word not in LEXICON for word in words) / len(words)
    assert abs(known - (1 - NUMBERS - MADE_UP)) < 0.05
    assert abs(unknown - MADE_UP) < 0.05


def test_a_made_up_word_is_letters_only_and_often_has_pieces_of_known_ones():
    rng = random.Random(0)
    words = [made_up(LEXICON, rng) for _ in range(300)]
    assert all(word.isalpha() for word in words)
    assert len(set(words)) > 100
    begun = [word for word in words if any(word.startswith(one[:3]) for one in LEXICON)]
    assert len(begun) > 30
