"""The browser: addresses, tabs, bookmarks, history and the search engine."""

from __future__ import annotations

HINT = "Search or visit"


def test_an_address_opens_its_site_and_other_text_is_searched_for(use):
    finger = use("browser")
    finger.write(HINT, "museum.com")
    finger.enter()
    assert "City museum" in finger.texts()
    finger.write("museum.com", "capital of Japan")
    finger.enter()
    assert "Tokyo" in finger.texts()
    finger.back()
    assert "City museum" in finger.texts()


def test_results_hold_the_page_that_was_asked_for_among_others(use):
    finger = use("browser")
    finger.write(HINT, "museum")
    finger.enter()
    rows = finger.texts("row")
    assert "Museum" in rows
    assert len(rows) == 6


def test_a_private_tab_leaves_no_history(use):
    finger = use("browser")
    visited = list(finger.data["history"])
    finger.tap("Menu")
    finger.tap("New private tab")
    finger.write(HINT, "zoo.com")
    finger.enter()
    assert "City zoo" in finger.texts()
    assert finger.data["history"] == visited
    assert finger.data["tabs"][-1]["private"]


def test_a_site_visited_is_on_top_of_the_history(use):
    finger = use("browser")
    finger.write(HINT, "zoo.com")
    finger.enter()
    finger.tap("Menu")
    finger.tap("History")
    assert finger.texts("row")[0] == "Zoo"


def test_a_bookmark_is_added_opened_and_deleted(use):
    finger = use("browser")
    finger.data["bookmarks"].clear()
    finger.write(HINT, "zoo.com")
    finger.enter()
    finger.tap("Menu")
    finger.tap("Add bookmark")
    finger.tap("Menu")
    finger.tap("Bookmarks")
    finger.tap("Zoo", "row")
    assert "City zoo" in finger.texts()
    finger.back()
    finger.tap("Delete bookmarks")
    finger.tap("Zoo", "row")
    assert finger.data["bookmarks"] == []


def test_a_tab_comes_back_where_it_was_left(use):
    finger = use("browser")
    finger.write(HINT, "zoo.com")
    finger.enter()
    finger.tap("Tabs")
    finger.tap("New tab", "icon")
    assert HINT in finger.texts("field")
    finger.tap("Tabs")
    finger.tap("Zoo", "row")
    assert "City zoo" in finger.texts()


def test_closing_the_last_tab_leaves_an_empty_one(use):
    finger = use("browser")
    finger.data["tabs"] = finger.data["tabs"][:1]
    finger.data["recent"] = finger.data["tabs"][0]["id"]
    finger.tap("Tabs")
    finger.tap("Close tabs")
    finger.tap(finger.texts("row")[0], "row")
    assert [tab["history"] for tab in finger.data["tabs"]] == [[{"site": "newtab", "view": "home"}]]
