"""The address book."""

from __future__ import annotations


def test_the_list_is_in_order_and_longer_than_the_screen(use):
    finger = use("contacts")
    shown = finger.texts("row")
    assert shown == sorted(shown)
    assert len(shown) < len(finger.data["people"])


def test_a_new_contact_is_kept_and_shown(use):
    finger = use("contacts")
    finger.tap("Add contact")
    finger.write("Name", "Bob")
    finger.write("Phone", "555-0199")
    finger.tap("Save")
    assert finger.data["people"][-1]["phone"] == "555-0199"
    assert {"Bob", "555-0199"} <= set(finger.texts())


def test_a_name_is_needed_and_is_unique(use):
    finger = use("contacts")
    taken = finger.data["people"][0]["name"]
    count = len(finger.data["people"])
    finger.tap("Add contact")
    finger.tap("Save")
    assert finger.texts("snackbar") == ["A name is needed"]
    finger.write("Name", taken.upper())
    finger.tap("Save")
    assert finger.texts("snackbar") == ["That name is taken"]
    assert len(finger.data["people"]) == count


def test_delete_asks_first(use):
    finger = use("contacts")
    name = finger.texts("row")[0]
    finger.tap(name)
    finger.tap("Delete", "icon")
    finger.tap("Cancel", "button")
    assert name in [p["name"] for p in finger.data["people"]]
    finger.tap("Delete", "icon")
    finger.tap("Delete", "button")
    assert name not in [p["name"] for p in finger.data["people"]]
    assert finger.page == "list"


def test_a_star_puts_a_person_among_the_starred(use):
    finger = use("contacts")
    name = next(p["name"] for p in finger.data["people"] if not p["star"])
    finger.tap(name, "row")
    finger.tap("Star", "icon")
    finger.back()
    finger.tap("Starred", "tab")
    assert name in finger.texts("row")


def test_search_finds_by_part_of_the_name(use):
    finger = use("contacts")
    name = max((p["name"] for p in finger.data["people"]), key=len)
    finger.tap("Search", "icon")
    finger.write("Search contacts", name[:4].lower())
    assert name in finger.texts("row")
    assert all(name[:4].lower() in shown.lower() for shown in finger.texts("row"))


def test_editing_changes_number_and_city(use):
    finger = use("contacts")
    entry = finger.data["people"][0]
    entry["city"] = "Rome"
    finger.tap(entry["name"], "row")
    finger.tap("Edit", "button")
    finger.tap(entry["phone"], "field")
    finger.tap("Clear", "icon")
    finger.write("Phone", "555-0001")
    finger.tap("Save")
    finger.tap("City", "row")
    finger.tap("Vienna")
    assert (entry["phone"], entry["city"]) == ("555-0001", "Vienna")
    assert finger.page == "person"
