"""The view of a running run, in a terminal and in a log."""

from __future__ import annotations

import io

from rich.console import Console

from distrl.cli.progress import LinesProgress, LiveProgress, clock, line, open_progress

STATS = {
    "phase": "train",
    "elapsed_s": 65.0,
    "limit_s": 420.0,
    "success": 0.414,
    "trajectories": 1234,
    "trajectories_per_minute": 38.25,
    "queue": 3,
    "lag": 1.26,
    "learner_steps_per_s": 4.1,
}
EVALUATION = {"phase": "evaluate before", "evaluation": "before", "evaluation_done": 64, "evaluation_total": 128}


def plain() -> Console:
    return Console(file=io.StringIO(), width=100)


def printed(console: Console) -> list[str]:
    return console.file.getvalue().splitlines()


def test_a_line_shows_all_statistics():
    text = line(STATS)
    for part in ("train", "1:05 of 7:00", "success 41%", "1,234", "per minute 38.2", "queue 3", "lag 1.3", "4.10"):
        assert part in text


def test_a_line_leaves_out_what_is_not_known():
    assert line({"phase": "train", "lag": None}) == "train"


def test_a_full_disk_is_shown_with_what_to_do():
    assert "free some space" in line(STATS | {"disk_full": 1.0})
    assert "disk" not in line(STATS | {"disk_full": 0.0})


def test_devices_in_quarantine_are_shown_with_where_to_look():
    assert "quarantined 2, see `distrl devices watch RUN`" in line(STATS | {"quarantined": 2})
    assert "quarantined" not in line(STATS | {"quarantined": 0})


def test_a_line_shows_how_far_an_evaluation_is():
    assert "before: 64/128, 25% success" in line(EVALUATION | {"evaluation_successes": 16})


def test_lines_come_no_more_often_than_asked_for():
    now = 100.0
    console = plain()
    progress = LinesProgress(console, every_s=5.0, now=lambda: now)
    for now in (100.0, 101.0, 104.9, 105.0, 109.0):  # noqa: B007 - the clock reads it
        progress.update(STATS | {"elapsed_s": now})
    assert len(printed(console)) == 2


def test_a_new_phase_is_shown_at_once():
    console = plain()
    progress = LinesProgress(console, every_s=1000.0, now=lambda: 0.0)
    progress.update(STATS)
    progress.update(EVALUATION)
    assert [text.split(" · ")[0] for text in printed(console)] == ["train", "evaluate before"]


def test_the_end_of_an_evaluation_is_shown_at_once():
    console = plain()
    progress = LinesProgress(console, every_s=1000.0, now=lambda: 0.0)
    for done in (1, 2, 128, 128):
        progress.update(EVALUATION | {"evaluation_done": done})
    assert [text.rpartition(": ")[2] for text in printed(console)] == ["1/128", "128/128"]


def test_the_panel_keeps_the_bars_of_finished_evaluations():
    console = plain()
    progress = LiveProgress(console, "runs/mine")
    progress.update(EVALUATION | {"evaluation_done": 128, "evaluation_successes": 51})
    progress.update(STATS)
    console.print(progress.panel())
    text = "\n".join(printed(console))
    for part in ("runs/mine", "evaluation before", "128/128, 40% success", "success 41%", "lag 1.3"):
        assert part in text


def test_a_pipe_gets_lines_and_a_terminal_a_panel():
    with open_progress(plain(), "run", 5.0) as progress:
        assert isinstance(progress, LinesProgress)
    with open_progress(Console(file=io.StringIO(), force_terminal=True), "run", 5.0) as progress:
        assert isinstance(progress, LiveProgress)


def test_a_message_is_printed_as_it_is():
    console = plain()
    LinesProgress(console, 5.0).message("worker [1] is back")
    assert printed(console) == ["worker [1] is back"]


def test_a_clock_shows_hours_when_there_are_some():
    assert (clock(62), clock(3723)) == ("1:02", "1:02:03")
