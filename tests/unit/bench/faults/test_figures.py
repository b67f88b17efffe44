"""What is made of two fleets' reports."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from distrl.bench import soak
from distrl.bench.faults import campaign
from distrl.bench.faults.campaign import FleetPair, chosen, figures, headline, run, survived
from distrl.bench.faults.rows import ROWS, row
from distrl.bench.faults.trial import UNKNOWN, FaultReport, InjectedFault, assign_slots, recovery, returned
from distrl.cli.main import app
from distrl.errors import ConfigError

# slot, beginning, end, valid
PLAYED = [(0, 0.0, 5.0, True), (0, 6.0, 12.0, False), (0, 19.0, 25.0, True), (1, 0.0, 9.0, True), (1, 9.0, 20.0, True)]


def test_recovery_is_from_the_fault_to_the_next_valid_episode():
    assert recovery(InjectedFault(10.0, 0), PLAYED) == 9.0
    assert returned(InjectedFault(10.0, 0), PLAYED)


def test_a_fault_that_cost_no_episode_needs_no_recovery():
    assert recovery(InjectedFault(10.0, 1), PLAYED) is None
    assert recovery(InjectedFault(-1.0, 0), PLAYED) is None  # a valid episode came before the broken one
    assert not returned(InjectedFault(10.0, 1), PLAYED)  # and nothing began after it


def test_a_phone_that_never_plays_again_has_no_recovery_time():
    assert recovery(InjectedFault(10.0, 0), PLAYED[:2]) is None
    assert not returned(InjectedFault(10.0, 0), PLAYED[:2])


def test_faults_of_processes_are_assigned_to_the_phones_that_break_next():
    played = [(2, 0.0, 6.0, False), (0, 0.0, 11.0, False), (1, 0.0, 30.0, True)]
    faults = [InjectedFault(5.0, UNKNOWN), InjectedFault(10.0, UNKNOWN), InjectedFault(10.0, 1)]
    assign_slots(faults, played)
    assert [fault.slot for fault in faults] == [2, 0, 1]


def pair(**changes):
    given = {"episodes": 9, "faults": [InjectedFault(1.0, 0)], "came_back": 1, "recovery_s": [3.0]} | changes
    return FleetPair(FaultReport(**given), FaultReport(episodes=10))


@pytest.mark.parametrize("fault", ["lost", "doubled", "wrong", "leased"])
def test_a_fleet_that_loses_doubles_or_makes_up_anything_has_not_survived(fault):
    assert survived(row(6), pair())
    assert not survived(row(6), pair(**{fault: 1}))


def test_every_phone_that_can_recover_must():
    assert not survived(row(6), pair(came_back=0))
    assert survived(row(4), pair(came_back=0))  # unauthorized phones do not recover; the others play on
    assert not survived(row(4), pair(episodes=0))


def test_the_figures_of_a_row_and_of_all():
    pairs = [pair(), pair(episodes=8, recovery_s=[5.0], invalid=2, rungs={"reboot": 1}, quarantines=1)]
    found = figures(row(6), pairs)
    assert found["throughput_kept"] == [0.9, 0.8]
    assert (found["recovery_p50_s"], found["recovery_p95_s"], found["recoveries"]) == (4.0, 4.9, 2)
    assert (found["episodes_invalid"], found["rungs"], found["strikes"], found["lost"]) == (2, {"reboot": 1}, 2, 0)
    assert headline([found], pairs) == {
        "survived": 1, "of": 1, "lost": 0, "doubled": 0, "recovery_p50_s": 4.0, "recovery_p95_s": 4.9,
        "throughput_kept": pytest.approx(0.85),
    }  # fmt: skip


def test_the_rows_are_numbered_as_in_the_docs():
    assert [each.number for each in ROWS] == [*range(1, 16), 24, 25]
    assert chosen("all") == tuple(each.number for each in ROWS)
    assert chosen("6, 24") == (6, 24)
    with pytest.raises(ConfigError, match="--rows 16"):
        chosen("16")


def test_every_row_is_played_in_every_repeat_and_emulators_are_fewer(monkeypatch):
    jobs = []
    monkeypatch.setattr(campaign, "play_pair", lambda job: jobs.append(job) or pair())
    run("6,7", phones=8, seconds=30, repeats=2)
    assert [(job.row, job.phones, job.seed) for job in jobs] == [(6, 8, 0), (7, 4, 0), (6, 8, 1), (7, 4, 1)]


def test_the_command_prints_the_table_and_writes_it(monkeypatch, tmp_path):
    monkeypatch.setattr(campaign, "play_pair", lambda job: pair())
    file = tmp_path / "faults.json"
    result = CliRunner().invoke(app, ["bench", "faults", "--rows", "6", "--repeats", "1", "--json", str(file)])
    assert result.exit_code == 0, result.output
    assert "1 of 1 survived; trajectories lost 0, doubled 0; back after 3.0 s (p50)" in result.output
    assert json.loads(file.read_text())["figures"]["rows"][0]["row"] == 6


def test_a_soak_reports_whether_the_threshold_is_met(monkeypatch):
    monkeypatch.setattr(soak, "play_pair", lambda job: pair(faults=[InjectedFault(1.0, 0, "freeze")]))
    kept = soak.run()
    assert (kept["kinds"], kept["throughput_kept"], kept["bars"]["met"]) == ({"freeze": 1}, 0.9, True)
    monkeypatch.setattr(soak, "play_pair", lambda job: pair(lost=1))
    assert not soak.run()["bars"]["met"]
