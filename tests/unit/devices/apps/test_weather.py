"""The weather app."""

from __future__ import annotations

from distrl.devices.sim.apps.weather import CITIES


def test_a_city_is_found_added_and_removed(use):
    finger = use("weather")
    name = next(city for city in CITIES if city not in [c["name"] for c in finger.data["cities"]])
    finger.tap("Add city")
    finger.write("Search city", name[:3].lower())
    finger.enter()
    finger.tap(name, "row")
    assert finger.data["cities"][-1]["name"] == name
    finger.tap(name, "row")
    finger.tap("Remove city")
    finger.tap("Remove")
    assert name not in [c["name"] for c in finger.data["cities"]]


def test_the_unit_changes_every_number_shown(use):
    finger = use("weather")
    city = finger.data["cities"][0]
    finger.tap(city["name"], "row")
    assert f"{city['now']} C" in finger.texts()
    finger.tap("Units")
    finger.tap("Fahrenheit")
    assert f"{round(city['now'] * 9 / 5 + 32)} F" in finger.texts()
    assert not any(text.endswith(" C") for text in finger.texts())


def test_the_days_ahead_are_six_and_do_not_hold_today(use):
    finger = use("weather")
    days = [day["day"] for day in finger.data["cities"][0]["days"]]
    assert len(set(days)) == 6
    assert finger.data["today"] not in days
    finger.tap(finger.data["cities"][0]["name"], "row")
    finger.tap("Days ahead", "tab")
    assert finger.texts("row") == days
