import xml.etree.ElementTree as ElementTree

import numpy as np

from distrl.evaluation.charts import Line
from distrl.evaluation.plots import PlotInterval, colour, interval_plot, line_plot

SVG = "{http://www.w3.org/2000/svg}"


def a_line(label="a", **options):
    return Line(label, np.array([0.0, 50.0, 100.0]), np.array([0.0, 0.5, 1.0]), **options)


def texts(picture):
    return [text.text for text in ElementTree.fromstring(picture).iter(f"{SVG}text")]


def test_a_plot_has_its_title_axis_and_names():
    assert {"a title", "seconds", "a", "b", "100\u2009%"} <= set(
        texts(line_plot([a_line(), a_line("b")], "a title", "seconds"))
    )


def test_the_band_goes_along_the_lowest_values_and_back_along_the_highest():
    low, high = np.array([0.0, 0.4, 0.9]), np.array([0.1, 0.6, 1.0])
    picture = ElementTree.fromstring(line_plot([a_line(low=low, high=high)], "", "x"))
    points = [tuple(map(float, point.split(","))) for point in picture.find(f".//{SVG}polygon").get("points").split()]
    assert len(points) == 6
    assert [x for x, _ in points[:3]] == [x for x, _ in reversed(points[3:])]
    assert all(below > above for (_, below), (_, above) in zip(points[:3], reversed(points[3:]), strict=True))


def test_a_plot_of_nothing_can_be_drawn():
    nothing = Line("a", np.array([0.0, 1.0]), np.array([np.nan, np.nan]))
    assert "title" in texts(line_plot([nothing], "title", "x"))


def test_intervals_enclose_their_rates():
    picture = ElementTree.fromstring(
        interval_plot([PlotInterval("a", 0.5, 0.25, 1.0), PlotInterval("b", 0.5, 0.5, 0.5)], "t")
    )
    dots = [float(dot.get("cx")) for dot in picture.iter(f"{SVG}circle")]
    low, high = picture.find(f".//{SVG}path").get("d").removeprefix("M").split("H")
    assert float(low.split()[0]) < dots[0] < float(high)
    assert dots[0] == dots[1]


def test_names_and_titles_are_text():
    evil = "</text><script>alert(1)</script>"
    for picture in (line_plot([a_line(evil)], evil, evil), interval_plot([PlotInterval(evil, 0.5, 0.4, 0.6)], evil)):
        assert ElementTree.fromstring(picture).find(f".//{SVG}script") is None
        assert evil in texts(picture)


def test_colours_begin_again():
    assert [colour(number) for number in (0, 11, 12)] == ["c1", "c12", "c1"]
