"""The fleets of `bench faults` and `bench soak`, for a few seconds."""

from __future__ import annotations

import pytest

from distrl.bench.faults.campaign import FleetPair, survived
from distrl.bench.faults.rows import row
from distrl.bench.faults.trial import FaultJob, play


@pytest.mark.parametrize("number", [10, 24, 25])
def test_a_fleet_with_injected_faults_survives(number):
    report = play(FaultJob(number, True, 2, 12.0, 0))
    assert survived(row(number), FleetPair(report, report)), report


def test_killed_emulators_are_restarted():
    report = play(FaultJob(7, True, 1, 20.0, 0))
    assert survived(row(7), FleetPair(report, report)), report
    assert report.invalid >= 1
    assert len(report.recovery_s) == 1


def test_a_soak_in_a_hurry_loses_nothing():
    report = play(FaultJob(0, True, 4, 12.0, 0, every_s=10.0))
    assert (report.lost, report.doubled, report.leased) == (0, 0, 0)
    assert report.faults
    assert report.episodes + report.invalid > 0
