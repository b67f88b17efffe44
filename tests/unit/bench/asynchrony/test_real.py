"""What is read off a run folder, without a run."""

from __future__ import annotations

import asyncio
import io
import json

import numpy as np
import pytest
from toy import ToyDevice, toy_task

from distrl.bench.asynchrony.profiles import EpisodeDurations
from distrl.bench.asynchrony.real import PacedDevice, RealTrial, _episodes, _learner_s, _round_starts, pace_of
from distrl.bench.asynchrony.timeline import BusyTimes
from distrl.devices.base import Inspectable


def rows(*episodes):
    """(slot, started_at, duration_s, version, version at insertion) each."""
    names = ("started_at", "duration_s", "policy_version", "version_at_insert")
    table = {"device": np.array([f"sim://phone#{slot}" for slot, *_ in episodes])}
    table |= {name: np.array([episode[place + 1] for episode in episodes]) for place, name in enumerate(names)}
    return {**table, "steps": np.full(len(episodes), 5)}


def resets(*starts, until):
    uses = BusyTimes()
    for slot, at in starts:
        uses.add(slot, "reset", at, at + 0.5)
    uses.add(0, "act", until - 0.1, until)
    return uses


PLAYED = rows((0, 0.0, 4.0, 0, 0), (1, 0.0, 9.0, 0, 0), (0, 11.0, 5.0, 1, 1), (1, 11.0, 2.0, 1, 1))


def test_episodes_of_a_device_follow_each_other_and_the_last_may_still_be_playing():
    uses = resets((0, 0.0), (1, 0.0), (0, 11.0), (1, 11.0), (1, 18.0), until=20.0)
    found = {(e.slot, e.started_at): e for e in _episodes(PLAYED, uses)}
    assert found[0, 0.0].next_at == 11.0
    assert found[0, 11.0].next_at is None
    assert found[1, 11.0].next_at == 18.0
    playing = found[1, 18.0]
    assert playing.ended_at is None
    assert playing.own_s == pytest.approx(np.mean([4.0, 9.0, 5.0]))  # as those did that lasted longer than 2 s
    assert len(found) == 5


def test_rounds_begin_with_their_first_episode_and_the_learner_with_the_end_of_the_last():
    episodes = _episodes(PLAYED, resets((0, 0.0), (1, 0.0), until=20.0))
    assert _round_starts(episodes) == [0.0, 11.0]
    assert _learner_s(episodes, [1.0, 2.0], [10.5, 17.0]) == pytest.approx(1.25)


def test_a_paced_phone_does_what_the_phone_does_and_keeps_account_of_it():
    file = io.StringIO()
    device = PacedDevice(ToyDevice(latency_s=0.0), 3, EpisodeDurations("homogeneous", 1e-6), file)

    async def use() -> None:
        task = toy_task(1)
        screen = await device.reset(task)
        assert screen == await device.screen()

    asyncio.run(use())
    assert isinstance(device, Inspectable)
    notes = [json.loads(line) for line in file.getvalue().splitlines()]
    assert [(slot, kind) for slot, kind, *_ in notes] == [(3, "reset"), (3, "act")]
    assert all(started_at <= ended_at for *_, started_at, ended_at in notes)


def test_both_kinds_differ_in_the_barrier_alone(tmp_path):
    free, held = (
        RealTrial("quickstart", EpisodeDurations("two-speed", 0.2), 8, 0, barrier, 3.0, tmp_path).settings()
        for barrier in (False, True)
    )
    assert (free.pacing.max_lag, held.pacing.max_lag) == (None, 0)
    assert pace_of(held.run.name) == EpisodeDurations("two-speed", 0.2)
    same = {"run": {**held.run.model_dump(), "name": free.run.name}, "pacing": free.pacing.model_dump()}
    assert {**held.model_dump(), **same} == free.model_dump()
