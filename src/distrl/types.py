"""The shared vocabulary: whatever crosses from one room to another is one of these frozen values.

Importing this module imports neither torch nor ray.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.floating[Any]]
"""An array of floats; the docstring beside it gives its shape."""

Weights = Mapping[str, npt.NDArray[Any]]
"""Parameter name → numpy array. Never torch tensors: Ray shares numpy arrays without a copy."""

Features = Mapping[str, Floats]
"""A screen's digest → what a frozen vision tower makes of it, [image tokens, width]."""

Tree = dict[str, Any]
"""A plain tree of dicts, lists, strings, numbers, booleans and None: JSON in memory."""

COORDINATE_MAX = 1000
"""Coordinates of actions are integers from 0 to this, over the screen's width and height."""


# --- actions ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Tap:
    x: int
    y: int


@dataclass(frozen=True, slots=True)
class LongPress:
    x: int
    y: int


@dataclass(frozen=True, slots=True)
class Swipe:
    """A finger that goes down at (x, y) and up at (to_x, to_y). Moving up scrolls a list down."""

    x: int
    y: int
    to_x: int
    to_y: int


@dataclass(frozen=True, slots=True)
class Type:
    """Text that goes into the focused field, verbatim."""

    text: str


@dataclass(frozen=True, slots=True)
class Press:
    key: Literal["back", "home", "enter"]


@dataclass(frozen=True, slots=True)
class Wait:
    pass


@dataclass(frozen=True, slots=True)
class Done:
    """The agent says the task is complete."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The agent says the task is complete and gives the answer that the goal asked for."""

    text: str


@dataclass(frozen=True, slots=True)
class Impossible:
    """The agent gives up."""


@dataclass(frozen=True, slots=True)
class Invalid:
    """Text that is no action. It costs its penalty and changes nothing on the device."""

    text: str
    reason: str


Action = Tap | LongPress | Swipe | Type | Press | Wait | Done | Answer | Impossible | Invalid


def ends_episode(action: Action) -> bool:
    return isinstance(action, Done | Answer | Impossible)


# --- what a device shows ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Element:
    """One visible UI element, as Android's accessibility tree gives it."""

    text: str
    role: str
    """button, icon, row, toggle, checkbox, tab, field, text, slider, card, key …"""
    bounds: tuple[int, int, int, int]
    """left, top, right, bottom in pixels of the screen."""
    checked: bool | None = None
    """On or off for a toggle, checkbox, tab; None for what cannot be checked."""
    focused: bool = False
    clickable: bool = False


@dataclass(frozen=True, slots=True)
class Screen:
    """What a device shows. `image` is an encoded JPEG: the bytes the policy saw are the bytes stored."""

    image: bytes
    width: int
    height: int
    elements: tuple[Element, ...] = ()
    foreground: str = ""
    """The app in front, as the device names it."""
    digest: str = ""
    """SHA-256 of the image: the screen's name in the blob store and in feature caches. Computed."""
    flags: tuple[str, ...] = ()
    """What is odd about it: `black` (a secure window, or no light), `no-tree` (elements were wanted, none came),
    `dismissed-anr`, `-crash`, `-permission` (a box of the system was in the way). Like the elements, they are not
    stored."""

    def __post_init__(self) -> None:
        if not self.digest:
            object.__setattr__(self, "digest", hashlib.sha256(self.image).hexdigest())

    def reference(self) -> Screen:
        """The same screen without its image and elements: replay and batches hold these."""
        return replace(self, image=b"", elements=())


# --- tasks and outcomes -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Task:
    """A goal with its parameters. Everything a device and a judge need is in here, as plain data."""

    id: str
    suite: str
    split: str
    template: str
    goal: str
    seed: int
    """Decides layout, stored data and start state of the device."""
    max_steps: int
    params: Mapping[str, Any] = field(default_factory=dict)
    start: tuple[tuple[Any, ...], ...] = ()
    """Edits that a device applies to its seeded state at reset, as plain data; see `distrl.tasks.base`."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the judge says. An infrastructure failure is `invalid`, never a failure of the agent."""

    kind: Literal["success", "failure", "invalid"]
    reason: str = ""

    @property
    def success(self) -> bool:
        return self.kind == "success"


# --- decisions, steps, trajectories -------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Prompt:
    """All that a policy may look at: the goal, the screen, and what it did before (oldest first)."""

    goal: str
    screen: Screen
    history: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Decision:
    """One action as the policy wrote it, with the probabilities it was really sampled with."""

    action: Action
    text: str
    token_ids: tuple[int, ...]
    """The sampled tokens, end-of-sequence included when it was sampled. Never re-tokenise `text`."""
    logprobs: tuple[float, ...]
    """Per token, under the very distribution it was drawn from."""
    entropy: float
    """Mean over the tokens of the entropy of that distribution, in nats."""
    policy_version: int
    value: float = 0.0
    """The critic's estimate of success at this state, under the same weights."""

    @property
    def logprob(self) -> float:
        """log μ(a|s): the action's log-probability is the sum over its tokens."""
        return float(sum(self.logprobs))


@dataclass(frozen=True, slots=True)
class Step:
    screen: Screen
    decision: Decision
    duration_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Trajectory:
    """One episode, whole."""

    id: str
    task: Task
    steps: tuple[Step, ...]
    outcome: Outcome
    last_screen: Screen | None = None
    worker: str = ""
    device: str = ""
    """Address and slot, `sim://phone?latency=emulator#3`: one device of this worker, however many share the address."""
    started_at: float = 0.0
    """Seconds of the host's clock."""
    duration_s: float = 0.0
    lease_id: str = ""
    """The lease that it settles."""

    @property
    def reward(self) -> float:
        return 1.0 if self.outcome.success else 0.0

    @property
    def policy_version(self) -> int:
        """The oldest version that acted in it: what lag is counted from."""
        return min((step.decision.policy_version for step in self.steps), default=0)

    @property
    def invalid_actions(self) -> int:
        return sum(isinstance(step.decision.action, Invalid) for step in self.steps)


@dataclass(frozen=True, slots=True)
class Lease:
    """The right to play one task. Unless it is settled before `expires_at`, the task is given back."""

    id: str
    task: Task
    expires_at: float


@dataclass(frozen=True, slots=True)
class Receipt:
    """The host's answer to a delivered trajectory. `settled`: it is safe, and its spool entry may go."""

    status: Literal["inserted", "invalid", "duplicate", "later", "refused"]
    """`later`: the host cannot store it now, keep it and try again; `refused`: its bytes are no trajectory."""

    @property
    def settled(self) -> bool:
        return self.status in ("inserted", "invalid", "duplicate")


@dataclass(frozen=True, slots=True)
class VersionedWeights:
    version: int
    arrays: Weights
    checksum: str

    @staticmethod
    def seal(version: int, arrays: Weights) -> VersionedWeights:
        """These arrays under this version, with the checksum that whoever loads them compares."""
        return VersionedWeights(version, arrays, checksum(arrays))

    @property
    def intact(self) -> bool:
        return self.checksum == checksum(self.arrays)


def checksum(arrays: Weights) -> str:
    """SHA-256 over names, dtypes, shapes and the CRC-32 of the bytes, in the order of the names.

    It finds accidents, not attacks: hashing the bytes themselves takes three times as long, in every process that takes
    part, for every version."""
    total = hashlib.sha256()
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        sum32 = zlib.crc32(array.reshape(-1).view(np.uint8).data)  # no copy is made, and other threads run meanwhile
        total.update(f"{name} {array.dtype.str} {arrays[name].shape} {sum32:08x}\n".encode())
    return total.hexdigest()
