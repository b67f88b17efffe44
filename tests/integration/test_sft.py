"""The path that makes the pocket model, with amounts so small that it learns nothing."""

import random
from dataclasses import replace

import pytest
import torch

from distrl.config import PolicyConfig
from distrl.devices.sim.phone import Phone
from distrl.errors import UnknownName
from distrl.imitation.examples import demonstration, frequent_words
from distrl.imitation.random_pages import HELD_OUT_APPS, _random_walk, app_pages, random_word_page
from distrl.imitation.sft import Recipe, _imitation_pages, make_pocket
from distrl.policies.actions import parse
from distrl.policies.models import open_model
from distrl.policies.vlm import VlmPolicy
from distrl.tasks.base import load_suite

torch.set_num_threads(1)

TINY = Recipe(
    lexicon_phones=8,
    read_sets=2,
    babel=6,
    walks=3,
    read_steps=2,
    read_batch=4,
    demonstrations=4,
    sets=2,
    quoted_babel=2,
    quoted_walks=2,
    imitate_steps=2,
    imitate_batch=4,
    unseen=8,
    episodes=1,
    device="cpu",
    processes=2,
)


def test_a_pocket_model_is_made_graded_and_plays(tmp_path):
    said = []
    figures = make_pocket(tmp_path / "pocket", TINY, said.append)
    assert figures["parameters"] <= 6_000_000
    assert (tmp_path / "pocket" / "model.safetensors").stat().st_size <= 16 * 2**20
    assert 0.0 <= figures["general/test-instances/temperature 1"][0] <= 1.0
    assert sum("a new set" in line for line in said) == 2 + 2
    assert sum("on unseen pages" in line for line in said) == 2
    policy = VlmPolicy.load_model(PolicyConfig(model=str(tmp_path / "pocket")))
    assert policy.policy_parameters()


def test_what_was_learned_is_kept_after_every_set_and_gone_on_from(tmp_path):
    kept = []

    def say(line: str) -> None:
        if "a new set" in line:
            kept.append(weights(tmp_path / "pocket-reader") if (tmp_path / "pocket-reader").exists() else None)

    make_pocket(tmp_path / "pocket", replace(TINY, read_steps=4, imitate_steps=0), say)
    assert kept[0] is None
    assert not torch.equal(kept[1], weights(tmp_path / "pocket-reader"))
    assert torch.equal(weights(tmp_path / "pocket"), weights(tmp_path / "pocket-reader"))

    said = []
    only_imitate = replace(TINY, read_steps=0, imitate_steps=2)
    make_pocket(tmp_path / "more", only_imitate, said.append, tmp_path / "pocket-reader")
    assert sum("a new set" in line for line in said) == 2
    assert not (tmp_path / "more-reader").exists()
    assert not torch.equal(weights(tmp_path / "more"), weights(tmp_path / "pocket-reader"))


def weights(folder) -> torch.Tensor:
    return torch.cat([p.detach().flatten() for p in open_model(folder)[0].parameters()])


def test_what_is_in_focus_is_shown_beside_the_rest():
    focused = list(_imitation_pages(["word"], replace(TINY, focus=("clock/add",), focused=6), 0))
    added = [job.args[0].template for job in focused if job.func is demonstration][2 * TINY.demonstrations :]
    assert sorted(added) == ["clock/add_alarm"] * 3 + ["clock/add_named_alarm"] * 3
    assert len(focused) == len(list(_imitation_pages(["word"], TINY, 0))) + 6


def test_a_focus_that_no_suite_has_is_named(tmp_path):
    recipe = replace(TINY, focus=("clock/add_alarm", "clok/add_alarm"), focused=6)
    with pytest.raises(UnknownName, match="clok"):
        make_pocket(tmp_path / "pocket", recipe, print)


def test_a_demonstration_teaches_each_step_with_the_actions_before_it():
    task = next(t for t in load_suite("general").tasks("train", 68, 0) if t.template == "clock/add_alarm")
    pages = demonstration(task, history=3)
    assert pages[-1].examples[0].action == "done"
    texts = [page.examples[0].action for page in pages]
    assert pages[2].examples[0].history == tuple(texts[:2])
    assert all(page.words for page in pages)


def test_a_random_walk_never_enters_a_held_out_app():
    for seed in range(60):
        phone = Phone(seed, popup_probability=0.05)
        for _ in _random_walk(phone, random.Random(seed)):
            assert phone.frame["app"] not in HELD_OUT_APPS


def test_what_is_quoted_stands_on_the_screen_or_in_the_goal():
    words = ["hall", "river"]
    pages = [page for seed in range(6) for page in random_word_page(words, 2, seed) + app_pages(words, 2, seed)]
    quotes = [(page, e) for page in pages for e in page.examples if e.action.startswith("answer")]
    assert len(quotes) >= 2 * len(pages)
    for page, example in quotes:
        shown = {word.lower() for word, _, _ in page.words} | set(example.goal.lower().split())
        assert set(parse(example.action).text.split()) <= shown


def test_what_is_not_on_the_screen_is_scrolled_for():
    words = ["hall", "river", "55"]
    pages = [page for seed in range(6) for page in random_word_page(words, 0, seed) + app_pages(words, 0, seed)]
    vain = [(page, e.goal.lower()) for page in pages for e in page.examples if e.action == "swipe 500 700 500 300"]
    assert len(vain) > len(pages) / 3
    for page, goal in vain:
        asked = goal.split(" ", 1)[1] if goal.split()[0] in ("tap", "press", "choose") else goal
        assert not {word.lower() for word, _, _ in page.words} & set(asked.split())


def test_the_lexicon_has_no_number_longer_than_a_pair_of_digits():
    assert not any(word.isdigit() and len(word) != 2 for word in frequent_words(("general",), 4, 0))


def test_a_demonstrator_that_slips_shows_other_actions_but_goes_on_as_before():
    tasks = load_suite("general").tasks("train", 20, 0)
    faultless = [page.examples[0] for task in tasks for page in demonstration(task, history=3)]
    slipping = [page.examples[0] for task in tasks for page in demonstration(task, history=3, slips=0.3)]
    assert [e.history for e in slipping] == [e.history for e in faultless]
    slips = sum(a.action != b.action for a, b in zip(slipping, faultless, strict=True)) / len(faultless)
    assert 0.2 < slips < 0.4
