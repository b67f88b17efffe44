import math
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

from distrl.evaluation.charts import Line, line_chart
from distrl.evaluation.scales import percent, plain_number, signed, ticks


def drawn(*lines, **options):
    """The chart's picture, parsed: a chart that is no well-formed SVG fails here."""
    html = line_chart(lines, x_label="minutes", **options)
    return ElementTree.fromstring(f"<div>{html}</div>")


def test_ticks_are_round_and_enclose_the_data():
    assert ticks(0.0, 1.0) == [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
    assert ticks(3.0, 97.0) == [0.0, 20.0, 40.0, 60.0, 80.0, 100.0]
    for low, high in [(-3.2, 11.7), (1e-6, 2e-6), (5.0, 5.0), (0.0, 0.0), (-1e9, 1e9)]:
        found = ticks(low, high)
        assert found[0] <= low <= high <= found[-1]
        assert 2 <= len(found) <= 12


def test_numbers_are_written_for_people():
    assert [plain_number(v) for v in (0.12345, 12.0, 12345.6)] == ["0.123", "12", "12\u2009346"]
    assert percent(0.256) == "26\u2009%"
    assert [signed(v) for v in (3.0, -3.0)] == ["+3", "\u22123"]


def test_a_line_goes_through_its_points():
    chart = drawn(Line("a", np.array([0.0, 10.0]), np.array([0.0, 1.0])), y_range=(0.0, 1.0))
    points = chart.find(".//polyline").get("points").split()
    (x0, y0), (x1, y1) = (map(float, point.split(",")) for point in points)
    assert x0 < x1
    assert y0 > y1  # up is up
    assert [title.text for title in chart.iter("title")] == ["a: 0 at 0 minutes", "a: 1 at 10 minutes"]


def test_what_is_not_a_number_is_left_out():
    chart = drawn(Line("a", np.arange(4.0), np.array([1.0, math.nan, math.inf, 2.0])))
    assert len(chart.find(".//polyline").get("points").split()) == 2
    assert "nan" not in ElementTree.tostring(chart, "unicode")


@pytest.mark.parametrize("y", [[], [math.nan, math.nan]])
def test_a_chart_of_nothing_says_so(y):
    assert "Nothing recorded" in line_chart([Line("a", np.arange(float(len(y))), np.array(y))], x_label="x")


def test_one_value_and_a_flat_line_can_be_drawn():
    assert drawn(Line("a", np.array([3.0]), np.array([2.0]))).find(".//circle[@class='point']") is not None
    assert drawn(Line("a", np.arange(5.0), np.zeros(5))).find(".//polyline") is not None


def test_long_lines_are_thinned():
    chart = drawn(Line("a", np.arange(50_000.0), np.sin(np.arange(50_000.0))))
    assert len(chart.find(".//polyline").get("points").split()) <= 240
    assert len(list(chart.iter("title"))) <= 48


def test_points_have_whiskers_and_several_lines_a_legend():
    points = Line("b", np.array([1.0]), np.array([0.5]), "two", dots=True, low=np.array([0.4]), high=np.array([0.6]))
    chart = drawn(Line("a", np.arange(3.0), np.arange(3.0)), points)
    assert chart.find(".//path[@class='whisker']") is not None
    assert [span.find("i").tail for span in chart.find("div").iter("span")] == ["a", "b"]


def test_labels_are_escaped():
    assert "<script>" not in line_chart([Line("<script>", np.arange(2.0), np.arange(2.0))] * 2, x_label="<script>")
