"""A world small enough to see through: four buttons, a goal that names one, a policy that is a table.

Runs in milliseconds and learns in seconds; tests of worker, host and runtimes play in it. Importable by Ray's
processes because `tests/conftest.py` puts this folder on the path.
"""

from __future__ import annotations

import asyncio
import io
import os
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
from PIL import Image

from distrl.config import Config
from distrl.errors import CorruptData, DeviceLost
from distrl.policies.base import Scores
from distrl.runtime.topology import Builder
from distrl.types import (
    Action,
    Decision,
    Done,
    Features,
    Outcome,
    Prompt,
    Screen,
    Tap,
    Task,
    Trajectory,
    Tree,
    VersionedWeights,
)
from distrl.worker.spool import Spool

BUTTONS = 4
DONE = BUTTONS


@lru_cache
def picture(pressed: int) -> bytes:
    file = io.BytesIO()
    Image.new("RGB", (8, 8), (40 * (pressed + 1), 0, 0)).save(file, "JPEG")
    return file.getvalue()


def toy_task(number: int, button: int | None = None) -> Task:
    button = number % BUTTONS if button is None else button
    return Task(
        id=f"toy/press/{number}",
        suite="toy",
        split="train",
        template=f"press/{button}",
        goal=f"press {button}",
        seed=number,
        max_steps=4,
        params={"button": button},
    )


class ToySuite:
    name = "toy"

    @property
    def templates(self) -> Mapping[str, Any]:
        return {f"press/{button}": None for button in range(BUTTONS)}

    def tasks(self, split: str, count: int, seed: int) -> list[Task]:
        return [toy_task(1000 * (seed % 1_000_000) + number, number % BUTTONS) for number in range(count)]


class ToyDevice:
    """Four buttons. `lost_at` names operations, counted over the device's life, that raise `DeviceLost`."""

    def __init__(self, address: str = "toy://0", *, latency_s: float = 0.01, lost_at: Sequence[int] = ()) -> None:
        self.address = address
        self.latency_s = latency_s
        self.lost_at = lost_at
        self.operations = 0
        self.closed = False
        self.pressed = -1

    async def reset(self, task: Task) -> Screen:
        self.pressed = -1
        await self._wait("reset")
        return self._screen()

    async def perform(self, action: Action) -> None:
        await self._wait("perform")
        if isinstance(action, Tap):
            self.pressed = action.x

    async def screen(self) -> Screen:
        return self._screen()

    async def close(self) -> None:
        self.closed = True

    async def evidence(self) -> Tree:
        return {"before": {"pressed": -1}, "after": {"pressed": self.pressed}}

    async def _wait(self, operation: str) -> None:
        self.operations += 1
        await asyncio.sleep(self.latency_s)
        if self.operations in self.lost_at:
            raise DeviceLost(self.address, operation, self.latency_s)

    def _screen(self) -> Screen:
        return Screen(picture(self.pressed), 8, 8)


class ToyJudge:
    async def judge(self, task: Task, trajectory: Trajectory, evidence: Tree | None) -> Outcome:
        assert evidence is not None
        done = bool(trajectory.steps) and isinstance(trajectory.steps[-1].decision.action, Done)
        right = evidence["after"]["pressed"] == task.params["button"]
        return Outcome("success") if done and right else Outcome("failure", "wrong button" if done else "out of steps")


class ToyPolicy:
    """Logits by goal and by whether something was pressed before; one token per action. A `TrainablePolicy`."""

    def __init__(self, seed: int = 0, temperature: float = 1.0) -> None:
        self.version = 0
        self.temperature = temperature
        self.generator = torch.Generator().manual_seed(seed)
        self.logits = torch.nn.Parameter(torch.zeros(BUTTONS, 2, BUTTONS + 1))
        with torch.no_grad():
            self.logits[:, 1, DONE] = 2.0
        self.values = torch.nn.Parameter(torch.zeros(2, BUTTONS, 2))
        self.remembered: set[str] = set()

    # -- playing

    def act(self, prompts: Sequence[Prompt]) -> list[Decision]:
        self.remember([prompt.screen for prompt in prompts])
        with torch.no_grad():
            logprobs = self._logprobs(prompts)
        tokens = torch.multinomial(logprobs.exp(), 1, generator=self.generator).squeeze(1)
        return [self._decision(int(token), row) for token, row in zip(tokens, logprobs, strict=True)]

    def load(self, weights: VersionedWeights) -> None:
        if not weights.intact:
            raise CorruptData(f"Weights of version {weights.version} are torn.")
        with torch.no_grad():
            self.logits.copy_(torch.from_numpy(np.array(weights.arrays["logits"])))
            self.values.copy_(torch.from_numpy(np.array(weights.arrays["values"])))
        self.version = weights.version

    def known_features(self, digests: Sequence[str]) -> Features:
        return {digest: np.ones((1, 1), np.float32) for digest in digests if digest in self.remembered}

    # -- learning

    def missing(self, screens: Sequence[Screen]) -> list[str]:
        return [digest for digest in dict.fromkeys(s.digest for s in screens) if digest not in self.remembered]

    def remember(self, screens: Sequence[Screen]) -> None:
        assert all(screen.image for screen in screens)
        self.remembered.update(screen.digest for screen in screens)

    def adopt(self, screens: Sequence[Screen], features: Features) -> None:
        self.remembered.update(screen.digest for screen in screens if screen.digest in features)

    def forget(self, digests: Sequence[str]) -> None:
        self.remembered.difference_update(digests)

    def score(self, prompts: Sequence[Prompt], token_ids: Sequence[Sequence[int]]) -> Scores:
        logprobs = self._logprobs(prompts)
        tokens = torch.tensor([ids[0] for ids in token_ids])
        goals, stages = self._places(prompts)
        return Scores(
            logprob=logprobs.gather(1, tokens[:, None]).squeeze(1),
            entropy=-(logprobs.exp() * logprobs).sum(1),
            value_logit=self.values[0, goals, stages],
            trajectory_value_logit=self.values[1, goals, stages],
        )

    def policy_parameters(self) -> list[torch.nn.Parameter]:
        return [self.logits]

    def critic_parameters(self) -> list[torch.nn.Parameter]:
        return [self.values]

    def weights(self) -> dict[str, np.ndarray[Any, Any]]:
        return {"logits": self.logits.detach().numpy().copy(), "values": self.values.detach().numpy().copy()}

    def save(self, folder: Path) -> None:
        from safetensors.torch import save_file

        folder.mkdir(parents=True, exist_ok=True)
        save_file({"logits": self.logits.detach(), "values": self.values.detach()}, folder / "model.safetensors")

    # -- inside

    def _places(self, prompts: Sequence[Prompt]) -> tuple[torch.Tensor, torch.Tensor]:
        goals = torch.tensor([int(prompt.goal.split()[-1]) for prompt in prompts])
        return goals, torch.tensor([int(bool(prompt.history)) for prompt in prompts])

    def _logprobs(self, prompts: Sequence[Prompt]) -> torch.Tensor:
        goals, stages = self._places(prompts)
        return torch.log_softmax(self.logits[goals, stages] / max(self.temperature, 1e-3), dim=1)

    def _decision(self, token: int, logprobs: torch.Tensor) -> Decision:
        return Decision(
            action=Done() if token == DONE else Tap(token, 0),
            text="done" if token == DONE else f"tap {token} 0",
            token_ids=(token,),
            logprobs=(float(logprobs[token]),),
            entropy=float(-(logprobs.exp() * logprobs).sum()),
            policy_version=self.version,
        )


class ToyBuilder(Builder):
    """The toy world as the parts of a run."""

    def suite(self) -> Any:
        return ToySuite()

    def judge(self) -> Any:
        return ToyJudge()

    async def device(self, worker: str, slot: int) -> Any:
        return ToyDevice(f"toy://{worker}/{slot}", latency_s=0.05 * (1 + slot))

    def policy(self, seed: int, device: str) -> Any:
        torch.set_num_threads(1)
        return ToyPolicy(seed, self.config.policy.temperature)


def toy_config(folder: Path, **changes: Any) -> Config:
    """A small run in `folder`; `changes` are sections, e.g. `run={"learner_steps": 5}`."""
    tree: dict[str, Any] = {
        "run": {"folder": str(folder), "name": "toy", "learner_steps": 5, "minimum_free_mb": 0},
        "devices": {"per_worker": 3},
        "replay": {"warmup": 8},
        "learner": {
            "trajectories_per_step": 4,
            "learning_rate": 0.1,
            "critic_learning_rate": 0.1,
            "critic_warmup_steps": 0,
            "checkpoint_every_s": 5.0,
        },
        "evaluation": {"episodes": 8},
        "runtime": {"serial_step_s": 0.3, "object_store_mb": 128},
    }
    for section, values in changes.items():
        tree[section] = {**tree.get(section, {}), **values}
    return Config.model_validate(tree)


class JournalSpool(Spool):
    """A spool that writes down, durably, what it is about to keep and what it has kept."""

    def put(self, id: str, payload: bytes) -> None:
        self._write("intended", id)
        super().put(id, payload)
        self._write("produced", id)

    def _write(self, name: str, id: str) -> None:
        with (self.folder.parent / f"{name}-{self.folder.name}.txt").open("a") as file:
            file.write(f"{id}\n")
            file.flush()
            os.fsync(file.fileno())


def journal(run_folder: Path, name: str) -> list[str]:
    """Ids in the journals of all workers of a run."""
    return [line for path in (run_folder / "spool").rglob(f"{name}-*.txt") for line in path.read_text().split()]


class JournalBuilder(ToyBuilder):
    """Toy parts that keep account of every trajectory."""

    def worker(self, name: str, server: Any, client: Any, now: Any, spool: Any = None) -> Any:
        return super().worker(name, server, client, now, spool or JournalSpool(self.spool_folder / name))
