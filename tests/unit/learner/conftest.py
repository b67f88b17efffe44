"""A toy world: three screens in a row, four buttons on each, one of them right. All right means success.

The policy is a table of logits by screen, small enough to know what learning must do to it.
"""

from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from distrl.config import Config
from distrl.errors import CorruptData
from distrl.learner.learner import Learner
from distrl.policies.base import Scores
from distrl.replay.base import Sample
from distrl.types import Decision, Done, Invalid, Outcome, Screen, Step, Tap, Task, Trajectory, checksum

SCREENS = [Screen(f"screen {i}".encode(), 10, 20) for i in range(3)]
BUTTONS = 4
END = 9
"""An end-of-sequence token that is always written: it has probability 1."""


class TablePolicy:
    """Action = one token for the button, one for the end. Features of a screen are the number of its row."""

    def __init__(self, seed=0):
        torch.set_num_threads(1)
        generator = torch.Generator().manual_seed(seed)
        self.logits = torch.nn.Parameter(0.1 * torch.randn(len(SCREENS), BUTTONS, generator=generator))
        self.values = torch.nn.Parameter(torch.zeros(len(SCREENS), 2))
        self.version = 0
        self.rows = {}
        self.looked_at = []
        self.scored_at_once = []
        self.poison = False

    def row(self, screen):
        return self.rows[screen.digest]

    def missing(self, screens):
        return sorted({s.digest for s in screens} - set(self.rows))

    def remember(self, screens):
        for screen in screens:
            assert screen.image, "an image was promised"
            if screen.digest not in self.rows:
                self.looked_at.append(screen.digest)
                self.rows[screen.digest] = [s.image for s in SCREENS].index(screen.image)

    def adopt(self, screens, features):
        if any(array.shape != (1, 1) for array in features.values()):
            raise CorruptData("no row")
        self.rows |= {s.digest: int(features[s.digest][0, 0]) for s in screens if s.digest in features}

    def forget(self, digests):
        for digest in digests:
            self.rows.pop(digest, None)

    def known_features(self, digests):
        return {digest: np.array([[self.rows[digest]]], np.float32) for digest in digests if digest in self.rows}

    def score(self, prompts, token_ids):
        self.scored_at_once.append(len(prompts))
        rows = torch.tensor([self.row(p.screen) for p in prompts])
        distribution = torch.distributions.Categorical(logits=self.logits[rows])
        logprob = distribution.log_prob(torch.tensor([ids[0] for ids in token_ids]))
        if self.poison:
            logprob = logprob * float("nan")
        value, forecast = self.values[rows].unbind(1)
        return Scores(logprob, distribution.entropy() / 2, value, forecast)

    def act(self, prompts):
        raise NotImplementedError

    def policy_parameters(self):
        return [self.logits]

    def critic_parameters(self):
        return [self.values]

    def weights(self):
        return {"logits": self.logits.detach().numpy().copy(), "values": self.values.detach().numpy().copy()}

    def load(self, weights):
        assert weights.checksum == checksum(weights.arrays)
        with torch.no_grad():
            self.logits.copy_(torch.from_numpy(weights.arrays["logits"].copy()))
            self.values.copy_(torch.from_numpy(weights.arrays["values"].copy()))
        self.version = weights.version

    def save(self, folder: Path):
        (folder / "config.json").write_text("{}")
        save_file({"logits": self.logits.detach()}, folder / "model.safetensors")

    def probabilities(self):
        return torch.softmax(self.logits.detach(), 1).numpy()


RIGHT = (2, 0, 3)


def play(policy_weights, version, rng, name, right=RIGHT):
    """One episode under these weights; invalid text is never written here."""
    table = policy_weights["logits"].astype(np.float64)
    steps, success = [], True
    for i, screen in enumerate(SCREENS):
        p = np.exp(table[i]) / np.exp(table[i]).sum()
        button = int(rng.choice(BUTTONS, p=p))
        success &= button == right[i]
        action = Done() if i == len(SCREENS) - 1 else Tap(button, 0)
        entropy = float(-(p * np.log(p)).sum()) / 2
        decision = Decision(action, f"b{button}", (button, END), (float(np.log(p[button])), 0.0), entropy, version)
        steps.append(Step(screen.reference(), decision))
    return recorded(name, steps, "success" if success else "failure")


def recorded(name, steps, outcome):
    task = Task(id=f"t-{name}", suite="toy", split="train", template="t", goal="press right", seed=0, max_steps=3)
    return Trajectory(name, task, tuple(steps), Outcome(outcome))


def scripted(name, buttons, outcome, logprob=-1.0, version=0, invalid=()):
    """A trajectory written down by hand."""
    steps = [
        Step(
            SCREENS[i].reference(),
            Decision(
                Invalid("?", "no action") if i in invalid else Tap(b, 0),
                f"b{b}",
                (b, END),
                (logprob, 0.0),
                0.5,
                version,
            ),
        )
        for i, b in enumerate(buttons)
    ]
    return recorded(name, steps, outcome)


class Source:
    """All screens, and the features it was given; notes which images it was asked for."""

    def __init__(self, features=()):
        self.shared = dict(features)
        self.asked = []

    def features(self, digests):
        return {digest: self.shared.pop(digest) for digest in digests if digest in self.shared}

    def screens(self, digests):
        self.asked += digests
        return [next(s for s in SCREENS if s.digest == digest) for digest in digests]


def uniform(trajectories):
    """A sample as uniform replay would give it, all of one task."""
    count = len(trajectories)
    rewards = np.array([t.reward for t in trajectories])
    return Sample(
        tuple(t.id for t in trajectories),
        tuple(trajectories),
        np.ones(count),
        np.full(count, 1 / count),
        np.full(count, rewards.mean()),
        np.full(count, rewards.std()),
    )


def new_learner(policy=None, roll_back=None, learner=None, algorithm=None, replay=None, workers=None):
    rates = {"learning_rate": 0.05, "critic_learning_rate": 0.05, "weight_decay": 0.0}
    rates |= {"rate_warmup_steps": 0, "critic_warmup_steps": 0}
    config = Config.model_validate(
        {
            "learner": {**rates, **(learner or {})},
            "algorithm": algorithm or {},
            "replay": replay or {},
            "workers": workers or {},
        }
    )
    return Learner(policy or TablePolicy(), config, np.random.default_rng(0), roll_back)


class Toy:
    """Everything above under one name: test modules cannot import a conftest."""

    SCREENS, RIGHT, BUTTONS = SCREENS, RIGHT, BUTTONS
    TablePolicy, Source = TablePolicy, Source
    source = Source()
    play, scripted, uniform, learner = map(staticmethod, (play, scripted, uniform, new_learner))


@pytest.fixture
def toy():
    return Toy
