"""Short messages."""

from __future__ import annotations


def test_a_sent_message_ends_its_thread_and_brings_it_to_the_top(use):
    finger = use("messages")
    name = finger.data["threads"][3]["name"]
    finger.tap(name, "row")
    finger.write("Message", "Good night, all!")
    finger.enter()
    newest = finger.data["threads"][0]
    assert newest["name"] == name
    assert newest["messages"][-1] == {"text": "Good night, all!", "mine": True}
    assert "Good night, all!" in finger.texts("bubble")


def test_opening_a_thread_marks_it_read(use):
    finger = use("messages")
    thread = finger.data["threads"][0]
    thread["unread"] = True
    assert "new" in finger.texts()
    finger.tap(thread["name"], "row")
    assert not thread["unread"]


def test_a_new_message_goes_to_a_contact_chosen_by_name(use):
    finger = use("messages")
    finger.phone.state["contacts"]["people"].append({"name": "Bob"})
    finger.tap("New message")
    finger.tap("Bob", "row")
    finger.write("Message", "Hi")
    finger.tap("Send")
    assert finger.data["threads"][0]["name"] == "Bob"


def test_nothing_is_sent_when_nothing_was_written(use):
    finger = use("messages")
    before = finger.phone.snapshot()["messages"]["threads"]
    finger.tap(before[0]["name"], "row")
    finger.tap("Send")
    assert [t["messages"] for t in finger.data["threads"]] == [t["messages"] for t in before]


def test_a_long_press_mutes_and_deletes(use):
    finger = use("messages")
    thread = finger.data["threads"][0]
    thread["muted"] = False
    finger.hold(thread["name"])
    finger.tap("Mute", "row")
    assert thread["muted"]
    finger.hold(thread["name"])
    finger.tap("Delete", "row")
    assert "Delete messages?" in finger.texts()
    finger.tap("Delete", "button")
    assert thread["name"] not in [t["name"] for t in finger.data["threads"]]
