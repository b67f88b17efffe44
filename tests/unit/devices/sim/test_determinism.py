"""One seed and one sequence of actions give the same screens, byte for byte."""

from __future__ import annotations

import random

from distrl.bench.device import monkey
from distrl.devices.jpeg import encode
from distrl.devices.sim.apps import APPS
from distrl.devices.sim.phone import Phone
from distrl.types import Screen


def film(phone, rng, steps=25):
    """Encoded screens along a monkey's way, and the actions it took."""
    frames, actions = [], []
    for _ in range(steps):
        rendering = phone.render()
        frames.append(encode(rendering.image))
        actions.append(monkey(Screen(b"-", 192, 384, rendering.elements), rng))
        phone.perform(actions[-1])
    return frames, actions


def replay(phone, actions):
    frames = []
    for action in actions:
        frames.append(encode(phone.render().image))
        phone.perform(action)
    return frames


def test_one_seed_and_one_sequence_of_actions_give_the_same_screens():
    frames, actions = film(Phone(7, popup_probability=0.3), random.Random(1))
    assert replay(Phone(7, popup_probability=0.3), actions) == frames
    assert len(set(frames)) > 10


def test_another_seed_gives_other_screens():
    firsts = {encode(Phone(seed).render().image) for seed in range(12)}
    assert len(firsts) == 12


def test_a_restored_tree_has_the_same_future():
    rng = random.Random(2)
    phone = Phone(8, popup_probability=0.3)
    film(phone, rng, 10)
    tree = phone.snapshot()
    frames, actions = film(phone, rng, 15)
    other = Phone(99)
    other.restore(tree)
    assert replay(other, actions) == frames
    assert other.snapshot() == phone.snapshot()


def test_a_snapshot_shares_nothing_with_the_phone():
    phone = Phone(3)
    tree = phone.snapshot()
    phone.state["settings"]["networks"].append("elsewhere")
    assert tree["settings"]["networks"] != phone.state["settings"]["networks"]
    phone.restore(tree)
    phone.state["os"]["stack"].clear()
    assert tree["os"]["stack"]


def test_a_new_app_changes_the_data_of_no_other():
    fewer = {name: app for name, app in APPS.items() if name != "music"}
    small, whole = Phone(5, apps=fewer).snapshot(), Phone(5).snapshot()
    same = [name for name in fewer if name != "launcher"]  # the launcher shows them all
    assert {name: small[name] for name in same} == {name: whole[name] for name in same}
    assert small["os"] == whole["os"]


def test_the_tree_is_plain_data():
    def plain(node):
        if isinstance(node, dict):
            return all(isinstance(k, str) and plain(v) for k, v in node.items())
        return all(map(plain, node)) if type(node) is list else isinstance(node, str | int | float | None)

    assert plain(Phone(4).snapshot())
