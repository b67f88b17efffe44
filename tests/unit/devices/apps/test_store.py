"""The app store."""

from __future__ import annotations


def test_an_installed_app_is_kept_and_can_be_opened(use):
    finger = use("store")
    title = next(app["title"] for app in finger.data["apps"] if app["title"] not in finger.data["installed"])
    finger.write("Search apps", title)
    finger.enter()
    finger.tap(title, "row")
    finger.tap("Install")
    assert title in finger.data["installed"]
    finger.tap("Open")
    assert f"Welcome to {title}" in finger.texts()


def test_uninstalling_asks_first_and_takes_the_update_away_too(use):
    finger = use("store")
    title = finger.data["updates"][0]
    finger.tap("My apps", "tab")
    finger.tap(title, "row")
    finger.tap("Uninstall")
    finger.tap("Cancel")
    assert title in finger.data["installed"]
    finger.tap("Uninstall")
    finger.tap("Uninstall")
    assert title not in finger.data["installed"] + finger.data["updates"]


def test_an_update_is_offered_until_it_is_made(use):
    finger = use("store")
    title = finger.data["updates"][0]
    finger.tap("My apps", "tab")
    finger.tap(title, "row")
    finger.tap("Update")
    assert title not in finger.data["updates"]
    assert "Open" in finger.texts("button")


def test_a_query_without_a_match_says_so(use):
    finger = use("store")
    finger.write("Search apps", "unheard of")
    finger.enter()
    assert "No apps found" in finger.texts()


def test_a_tab_shows_only_apps_of_its_kind(use):
    finger = use("store")
    finger.tap("Health", "tab")
    kinds = {app["title"]: app["kind"] for app in finger.data["apps"]}
    assert {kinds[title] for title in finger.texts("row")} == {"Health"}
