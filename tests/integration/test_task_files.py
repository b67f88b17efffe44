"""Runs whose tasks come from a file: on simulated phones, and on served ones with a model as judge."""

from __future__ import annotations

import asyncio
import hashlib
import json
import shutil
import time
from pathlib import Path

import pytest
import yaml
from filed import FiledBuilder
from served import served
from stub_endpoint import Question, Said, StubEndpoint, verdict
from toy import toy_config

from distrl.cli.train import resumed
from distrl.config import Config, load_config
from distrl.runtime import evaluate_policy, launch
from distrl.runtime.local_client import LocalClient
from distrl.store.run import RunStore
from distrl.tasks.base import load_suite
from distrl.types import Answer, Done

SERVED = Path(__file__).parents[2] / "examples" / "android" / "served.yaml"
LIST = "Go home\nOpen the mail\nOpen the clock\nLook at the notes\nOpen the weather\nGo home twice\n"


@pytest.fixture
def file(tmp_path) -> Path:
    """Rules that any phone can be judged by."""
    path = tmp_path / "mine.yaml"
    path.write_text(
        "defaults: {max_steps: 4}\n"
        "tasks:\n"
        "- {goal: Go home, judge: {foreground: org.distrl.launcher}}\n"
        "- {goal: 'What is {a} times 8?', judge: {answer: '56'}, params: {a: [7, seven]}}\n"
        "- {goal: Show the clock, split: test-instances, judge: {foreground: org.distrl.clock}}\n"
    )
    return path


def small(folder: Path, suite: Path, **changes) -> Config:
    return toy_config(folder, tasks={"suite": str(suite)}, **changes)


def goals(folder: Path) -> set[str]:
    with RunStore.read(folder) as store:
        return {trajectory.task.goal for trajectory in store.trajectories()}


def test_a_serial_run_plays_its_file_keeps_it_and_goes_on_with_it_whatever_became_of_it(tmp_path, file):
    text = file.read_bytes()
    config = small(tmp_path / "runs", file, run={"learner_steps": 2}, judge={"kind": "rules"})
    assert launch(config, serial=True, builder=FiledBuilder) == 0
    folder = config.run_folder
    digest = hashlib.sha256(text).hexdigest()
    assert (folder / "tasks" / f"mine-{digest[:8]}.yaml").read_bytes() == text
    assert json.loads((folder / "meta.json").read_text())["tasks"] == {"file": str(file), "sha256": digest}
    assert yaml.safe_load((folder / "config.yaml").read_text())["tasks"]["suite"] == f"tasks/mine-{digest[:8]}.yaml"
    assert goals(folder) <= {"Go home", "What is 7 times 8?", "What is seven times 8?"}

    file.write_text("- goal: Something else\n")
    moved = Path(shutil.move(folder, tmp_path / "elsewhere"))
    again = resumed(moved, ["run.learner_steps=3"])
    assert launch(again, serial=True, resume=moved, builder=FiledBuilder) == 0
    assert "Something else" not in goals(moved)
    evaluation = evaluate_policy(load_config(moved, ["evaluation.episodes=4"]), builder=FiledBuilder)
    assert "show-the-clock" in evaluation.by_template()


def test_two_serial_runs_of_one_file_are_the_same(tmp_path, file):
    played = []
    for name in ("one", "two"):
        config = small(tmp_path / name, file, run={"learner_steps": 1}, judge={"kind": "rules"})
        assert launch(config, serial=True, builder=FiledBuilder) == 0
        with RunStore.read(config.run_folder) as store:
            played.append([(each.task.id, each.outcome, len(each.steps)) for each in store.trajectories()])
    assert played[0] == played[1]


def test_a_worker_plays_a_file_on_served_phones_and_asks_a_model_only_what_no_rule_can_tell(tmp_path):
    mixed = tmp_path / "mixed.yaml"
    mixed.write_text(SERVED.read_text() + "\n  - goal: Is it tidy here?\n    judge: vlm\n")

    def script(question: Question) -> Said:
        return verdict(True, "tidy")

    async def play(config: Config) -> None:
        RunStore.create(config.run_folder, config.model_dump(mode="json"), {}).close()
        builder = FiledBuilder(config)
        host = builder.host(time.time)
        worker = builder.worker("w", builder.server(builder.worker_policy(0)), LocalClient(host, "w"), time.time)
        running = asyncio.ensure_future(worker.run())
        try:
            async with asyncio.timeout(120.0):
                while host.stats()["trajectories"] < 40 or not stub.questions:
                    await asyncio.sleep(0.05)
        finally:
            worker.stop()
            await running
            host.close()

    with served(phones=3, seed=5) as phones, StubEndpoint(script) as stub:
        config = small(
            tmp_path / "runs",
            mixed,
            devices={"address": f"adb://{','.join(phones.addresses)}?tree=1", "per_worker": 3},
            judge={"kind": "chain", "url": stub.url, "model": "stub", "key_env": "NO_KEY"},
        )
        config = config.model_copy(update={"tasks": config.tasks.model_copy(update={"split": "all"})})
        asyncio.run(play(config))
    assert {question.facts["goal"] for question in stub.questions} == {"Is it tidy here?"}
    with RunStore.read(config.run_folder) as store:
        found = list(store.trajectories())
        assert not store.ids(outcome="invalid")
    assert {each.task.template for each in found} == set(load_suite(str(mixed)).templates)
    for each in found:
        begins = each.steps[0].screen.foreground
        assert begins == {"home": "mail", "network": "settings", "change": "clock", "visit": "browser"}.get(
            each.task.template, "launcher"
        )
        wanted = each.task.params.get("judge", {}).get("foreground", [""])[0]
        said = isinstance(each.steps[-1].decision.action, Done | Answer)
        if each.task.template in ("open", "home", "change", "visit"):
            assert each.outcome.success == (said and f"org.distrl.{each.last_screen.foreground}" == wanted)
    assert {each.outcome.kind for each in found} == {"success", "failure"}


def test_a_training_run_on_ray_over_served_phones_with_a_list_of_goals_and_a_model_as_judge(tmp_path):
    """The whole graph in miniature: phones behind adb, a plain list, an endpoint that judges."""
    goals_file = tmp_path / "goals.txt"
    goals_file.write_text(LIST)
    asked = []

    def script(question: Question) -> Said:
        asked.append(question.facts["goal"])
        return verdict(question.number % 2 == 0)

    with served(phones=2, seed=1) as phones, StubEndpoint(script) as stub:
        config = small(
            tmp_path / "runs",
            goals_file,
            run={"learner_steps": 2},
            devices={"address": f"adb://{','.join(phones.addresses)}", "per_worker": 2},
            judge={"kind": "vlm", "url": stub.url, "model": "stub", "key_env": "NO_KEY"},
            evaluation={"before": False, "after": False},
        )
        assert launch(config, builder=FiledBuilder) == 0
    with RunStore.read(config.run_folder) as store:
        assert store.counts().trajectories >= 8
        assert not store.ids(outcome="invalid")
    assert list((config.run_folder / "checkpoints").iterdir())
    assert list((config.run_folder / "tasks").glob("goals-*.txt"))
    assert set(asked) <= set(LIST.splitlines())
    train = {task.goal for task in load_suite(str(goals_file)).tasks("train", 50, 0)}
    assert goals(config.run_folder) <= train
