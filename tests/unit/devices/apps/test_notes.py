"""Notes."""

from __future__ import annotations


def test_a_new_note_is_on_top_of_those_that_are_not_pinned(use):
    finger = use("notes")
    finger.tap("Add note")
    finger.write("Title", "Idea")
    finger.enter()
    finger.write("Text", "Paint it blue")
    finger.tap("Save")
    pinned = sum(n["pinned"] for n in finger.data["notes"])
    assert finger.texts("row")[pinned] == "Idea"
    finger.tap("Idea")
    assert "Paint it blue" in finger.texts()


def test_a_pin_brings_a_note_to_the_top(use):
    finger = use("notes")
    for note in finger.data["notes"]:
        note["pinned"] = False
    last = finger.data["notes"][-1]["title"]
    finger.tap(last, "row")
    finger.tap("Pin", "icon")
    finger.back()
    finger.phone.frame["scroll"] = 0
    assert finger.texts("row")[0] == last


def test_items_are_ticked_and_added(use):
    finger = use("notes")
    note = next(n for n in finger.data["notes"] if n["items"])
    item = note["items"][0]
    done = item["done"]
    finger.tap(note["title"], "row")
    finger.tap(item["text"], "checkbox")
    assert item["done"] is not done
    finger.write("Add item", "Honey")
    finger.enter()
    assert note["items"][-1] == {"text": "Honey", "done": False}
    assert "Honey" in finger.texts("checkbox")


def test_delete_asks_and_removes(use):
    finger = use("notes")
    title = finger.data["notes"][0]["title"]
    finger.tap(title, "row")
    finger.tap("Delete", "icon")
    finger.tap("Cancel", "button")
    assert finger.page == "note"
    finger.tap("Delete", "icon")
    finger.tap("Delete", "button")
    assert title not in [n["title"] for n in finger.data["notes"]]


def test_search_lists_what_matches(use):
    finger = use("notes")
    title = finger.data["notes"][0]["title"]
    finger.tap("Search", "icon")
    finger.write("Search notes", title.lower())
    assert finger.texts("row") == [title]
