"""Mail."""

from __future__ import annotations

import pytest


def open_first(finger):
    mail = next(m for m in finger.data["mails"] if m["folder"] == "Inbox")
    finger.tap(mail["name"], "row")
    return mail


def test_opening_a_mail_marks_it_read_and_it_can_be_unread_again(use):
    finger = use("mail")
    mail = open_first(finger)
    assert not mail["unread"]
    assert mail["subject"] in finger.texts()
    finger.tap("Mark unread", "button")
    assert mail["unread"]


@pytest.mark.parametrize(("taps", "folder"), [(("Archive",), "Archive"), (("Delete", "Delete"), "Bin")])
def test_a_filed_mail_leaves_the_inbox_and_lies_in_its_folder(use, taps, folder):
    finger = use("mail")
    mail = open_first(finger)
    for label in taps:
        finger.tap(label)
    assert mail["name"] not in finger.texts("row")
    finger.tap("Folders")
    finger.tap(folder, "row")
    assert mail["name"] in finger.texts("row")


def test_a_written_mail_is_found_under_sent(use):
    finger = use("mail")
    finger.tap("Write")
    finger.write("To", "Bob")
    finger.write("Subject", "New job")
    finger.write("Text", "Call me")
    finger.tap("Send")
    assert finger.data["mails"][0]["body"] == "Call me"
    finger.tap("Sent", "tab")
    assert "Bob" in finger.texts("row")


def test_a_mail_to_nobody_is_not_sent(use):
    finger = use("mail")
    count = len(finger.data["mails"])
    finger.tap("Write")
    finger.tap("Send")
    assert finger.page == "write"
    assert len(finger.data["mails"]) == count


def test_a_reply_goes_to_the_writer(use):
    finger = use("mail")
    mail = open_first(finger)
    finger.tap("Reply", "button")
    finger.write("Text", "Thank you")
    finger.tap("Send")
    sent = finger.data["mails"][0]
    assert (sent["name"], sent["subject"], sent["folder"]) == (mail["name"], f"Re {mail['subject']}", "Sent")


def test_a_star_shows_under_starred(use):
    finger = use("mail")
    mail = next(m for m in finger.data["mails"] if m["folder"] == "Inbox")
    mail["star"] = False
    finger.tap(mail["name"], "row")
    finger.tap("Star", "icon")
    finger.back()
    finger.tap("Starred", "tab")
    assert mail["name"] in finger.texts("row")
