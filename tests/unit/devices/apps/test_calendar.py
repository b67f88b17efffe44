"""The calendar."""

from __future__ import annotations

from distrl.devices.sim.apps.calendar import clock


def test_an_event_is_added_where_the_pickers_stand(use):
    finger = use("calendar")
    start = finger.data["first_hour"]
    finger.tap("Add event")
    finger.write("Title", "Chess")
    finger.enter()
    finger.tap("Fri", "chip")
    finger.tap("Increase Time")
    finger.tap("Increase Time")
    finger.tap("Decrease Time")
    finger.tap("Save")
    added = finger.data["events"][-1]
    assert (added["title"], added["day"], added["hour"]) == ("Chess", "Friday", start + 1)


def test_an_event_without_a_title_is_refused(use):
    finger = use("calendar")
    count = len(finger.data["events"])
    finger.tap("Add event")
    finger.tap("Save")
    assert finger.page == "add"
    assert len(finger.data["events"]) == count


def test_the_day_view_shows_that_day_only(use):
    finger = use("calendar")
    event = finger.data["events"][0]
    finger.tap("Day", "tab")
    finger.tap(event["day"][:3], "chip")
    expected = {e["title"] for e in finger.data["events"] if e["day"] == event["day"]}
    assert set(finger.texts("row")) == expected


def test_moving_starts_from_where_the_event_is(use):
    finger = use("calendar")
    event = finger.data["events"][0]
    event["day"], hour = "Monday", event["hour"]
    finger.tap(event["title"], "row")
    finger.tap("Move", "button")
    assert clock(hour) in finger.texts()
    finger.tap("Sun", "chip")
    finger.tap("Save")
    assert (event["day"], event["hour"]) == ("Sunday", hour)


def test_the_hour_stays_within_the_day(use):
    finger = use("calendar")
    finger.tap("Add event")
    for _ in range(30):
        finger.tap("Increase Time")
    assert "22:00" in finger.texts()


def test_delete_asks_and_removes(use):
    finger = use("calendar")
    title = finger.data["events"][0]["title"]
    finger.tap(title, "row")
    finger.tap("Delete", "icon")
    finger.tap("Delete", "button")
    assert title not in [e["title"] for e in finger.data["events"]]
    assert finger.page == "agenda"
