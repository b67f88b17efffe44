from __future__ import annotations

import asyncio
from typing import Any

from toy import toy_task

from distrl.devices.base import Health
from distrl.runtime.evaluation import PrintEvents, TaskList
from distrl.runtime.progress import Silent


class Listening(Silent):
    def __init__(self) -> None:
        self.said: list[str] = []

    def message(self, text: str) -> None:
        self.said.append(text)


def test_whoever_watches_an_evaluation_hears_why_nothing_goes_on() -> None:
    progress = Listening()
    task_list = TaskList("x", [toy_task(0)], events=PrintEvents(progress))

    async def scene() -> None:
        await task_list.report("w", "device_lost", "one episode")
        await task_list.report("w", "device_quarantined", "adb://a#0: for 60 s: no phone")
        await task_list.health("w", Health(0, "adb://a#0"))

    asyncio.run(scene())
    assert progress.said == ["device_quarantined: adb://a#0: for 60 s: no phone"]


def test_an_evaluation_that_nobody_watches_takes_events_and_health() -> None:
    task_list = TaskList("x", [toy_task(0)])

    async def scene() -> Any:
        await task_list.report("w", "device_lost", "one episode")
        await task_list.health("w", Health(0, "adb://a#0"))
        return await task_list.lease("w", 1)

    assert asyncio.run(scene())[0].task == toy_task(0)
