"""Tasks over store, browser, weather, music and the shops, played on the phone itself."""

from __future__ import annotations

import asyncio
import random

import pytest

from distrl.devices.sim.apps import music as music_app
from distrl.devices.sim.apps import store as store_app
from distrl.devices.sim.apps import weather as weather_app
from distrl.devices.sim.apps.web import facts, places
from distrl.devices.sim.apps.web import goods as shop_goods
from distrl.devices.sim.apps.web import shop as shop_pages
from distrl.devices.sim.apps.web.shops import SHOPS
from distrl.devices.sim.device import SimPhone
from distrl.evaluation.oracle import as_trajectory, play_oracle
from distrl.judges.rules import RuleJudge, unmet
from distrl.tasks.base import Template, load_suite
from distrl.tasks.general import browser, music, store, weather
from distrl.tasks.splits import normalise
from distrl.tasks.webshop import HELD_OUT_SHOPS, SUITE, goods
from distrl.types import Done, Outcome, Task

GENERAL = [t for module in (store, browser, weather, music) for t in module.TEMPLATES]
TEMPLATES = {(suite, t.name): t for suite, ts in (("general", GENERAL), ("webshop", SUITE.members)) for t in ts}


def a_task(suite: str, template: Template, seed: int) -> Task:
    rng = random.Random(seed)
    params = rng.choice(template.combinations())
    start = template.start(params, rng)
    return Task("t", suite, "train", template.name, "", seed, template.max_steps, params, start)


async def solve(task: Task, popups: float) -> tuple[Outcome, int]:
    phone = SimPhone(f"sim://phone?popups={popups}")
    demonstration = await play_oracle(phone, task)
    outcome = await RuleJudge().judge(task, as_trajectory(task, demonstration), await phone.evidence())
    return outcome, len(demonstration.steps)


@pytest.mark.parametrize(("suite", "name"), TEMPLATES)
def test_the_oracle_solves_the_task_within_its_limit(suite, name):
    seed = 40 + len(name)
    task = a_task(suite, TEMPLATES[suite, name], seed)
    outcome, steps = asyncio.run(solve(task, popups=0.05 * (seed % 2)))
    assert outcome == Outcome("success")
    assert 2 <= steps <= task.max_steps <= (15 if suite == "general" else 20)


@pytest.mark.parametrize(("suite", "name"), TEMPLATES)
def test_doing_nothing_solves_no_task(suite, name):
    template = TEMPLATES[suite, name]
    for seed in range(2):
        task = a_task(suite, template, seed)
        phone = SimPhone("sim://phone")
        asyncio.run(phone.reset(task))
        assert unmet(template, task, Done(), asyncio.run(phone.evidence()))


@pytest.mark.parametrize(("suite", "name"), TEMPLATES)
def test_a_template_has_room_and_several_phrasings(suite, name):
    template = TEMPLATES[suite, name]
    assert len(template.combinations()) >= 8
    assert len(set(template.phrasings)) >= 3


@pytest.mark.parametrize("split", ["test-instances", "test-templates", "test-apps"])
def test_webshop_asks_128_goals_of_each_test_split_that_training_never_hears(split):
    suite = load_suite("webshop")
    tested = {normalise(task.goal) for task in suite.tasks(split, 160, seed=1)}
    assert len(tested) >= 128
    assert not tested & {normalise(goal) for goal in SUITE.goals("train")}


def test_no_training_task_goes_to_a_shop_that_is_held_out():
    goals = " ".join(SUITE.goals("train"))
    assert not any(shop in goals for shop in HELD_OUT_SHOPS)
    assert all(shop in goals for shop in SHOPS if shop not in HELD_OUT_SHOPS)


def test_goals_speak_of_what_the_shops_sell():
    assert tuple(SHOPS) == goods.SHOPS
    assert tuple(shop_goods.SECTIONS) == goods.SECTIONS
    assert shop_goods.NOUNS == goods.NOUNS
    assert tuple(look.casefold() for look in shop_goods.LOOKS) == goods.LOOKS
    assert shop_goods.BRANDS == goods.BRANDS
    assert tuple(order.casefold() for order in shop_goods.SORTS) == goods.ORDERS
    assert shop_pages.INFO == goods.PAGES
    assert set(goods.OTHER_SITES) <= set(places.SITES)


def test_goals_speak_of_what_the_apps_hold():
    assert tuple(title for titles in store_app.CATALOGUE.values() for title in titles) == store.APPS
    assert (weather_app.CITIES, weather_app.SKIES, weather_app.DAYS) == (weather.CITIES, weather.SKIES, weather.DAYS)
    assert (music_app.SONGS, music_app.ARTISTS, music_app.PLAYLISTS) == (music.SONGS, music.ARTISTS, music.PLAYLISTS)
    assert {country: values[0] for country, values in facts.COUNTRIES.items()} == browser.CAPITALS
    assert (places.PAPERS, facts.VENUES) == (browser.PAPERS, browser.VENUES)
