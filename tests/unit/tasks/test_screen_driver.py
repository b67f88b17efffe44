import pytest

from distrl.tasks.base import ScreenDriver, load_suite
from distrl.types import Element, Screen, Swipe, Tap


def screen(*elements, image=b"page"):
    return Screen(image, 100, 200, elements)


def ui(*elements):
    it = ScreenDriver()
    it.look(screen(*elements), {})
    return it


def button(text, top=0):
    return Element(text, "button", (10, top, 50, top + 20))


def test_elements_are_found_in_any_case_by_text_and_role():
    it = ui(Element("Save", "text", (0, 0, 10, 10)), button("Save", 40))
    assert it.find("save", "button").bounds == (10, 40, 50, 60)
    assert it.find("Send") is None


def test_a_tap_goes_to_the_middle_in_steps_of_ten():
    assert list(ui(button("Save", 33)).tap("Save")) == [Tap(300, 220)]


def test_a_page_is_searched_downwards_then_upwards_then_given_up():
    it = ui(button("Other"))
    search = it.reveal("Save")
    down = next(search)
    assert isinstance(down, Swipe)
    assert down.to_y < down.y
    up = next(search)  # the screen did not move: its end
    assert up.to_y > up.y
    with pytest.raises(LookupError, match="Other"):
        next(search)


def test_scrolling_stops_once_the_element_shows():
    it = ui(button("Other"))
    search = it.tap("Save")
    next(search)
    it.look(screen(button("Save", 100), image=b"next"), {})
    assert next(search) == Tap(300, 550)


def test_a_popup_is_closed_by_the_button_without_a_consequence():
    popup = Element("Rate this app", "popup", (0, 0, 100, 100))
    it = ui(popup, button("Rate", 0), button("Not now", 40))
    assert it.dismissal() == Tap(300, 250)
    assert ui(button("Not now")).dismissal() is None


@pytest.mark.parametrize(("value", "x"), [(0, 100), (50, 500), (100, 890)])
def test_a_slider_is_tapped_inside_its_track(value, x):
    assert list(ui(Element("Volume", "slider", (10, 0, 90, 20))).slide("Volume", value)) == [Tap(x, 50)]


def wheel(hour):
    rows = [(hour - 1, 0, None), (hour, 20, True), (hour + 1, 40, None)]
    return [Element(str(value), "wheel", (0, top, 40, top + 20), checked) for value, top, checked in rows]


def test_a_wheel_is_turned_towards_the_value_and_left_there():
    it = ui(*wheel(7))
    turning = it.turn(0, "8")
    assert next(turning) == Tap(200, 250)  # the line below
    it.look(screen(*wheel(8)), {})
    assert list(turning) == []
    assert next(it.turn(0, "5")) == Tap(200, 50)


def test_a_misspelt_suite_is_refused_with_the_nearest_name():
    with pytest.raises(Exception, match="Did you mean 'general'"):
        load_suite("genral")
