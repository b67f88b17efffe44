"""A trajectory as bytes, and back: what the spool, the wire and the run's database hold.

msgpack with a schema written out by hand, checked both ways. Reading runs no code: extension types, unknown keys,
wrong types, wrong lengths and hashes that do not fit their image are all `CorruptData`.

A screen that occurs more than once is written once. Its elements are not written at all. Tuples inside `Task.params`
and inside the values of `Task.start` come back as lists.
"""

from __future__ import annotations

import hashlib
from typing import Any, NoReturn

import msgpack

from distrl.errors import CorruptData
from distrl.store import schema
from distrl.store.files import DIGEST
from distrl.types import (
    Action,
    Answer,
    Decision,
    Done,
    Impossible,
    Invalid,
    LongPress,
    Outcome,
    Press,
    Screen,
    Step,
    Swipe,
    Tap,
    Task,
    Trajectory,
    Type,
    Wait,
)

VERSION = 2
"""1 had no `lease_id`; it is still read."""

ACTIONS: dict[str, type[Any]] = {
    "tap": Tap,
    "long_press": LongPress,
    "swipe": Swipe,
    "type": Type,
    "press": Press,
    "wait": Wait,
    "done": Done,
    "answer": Answer,
    "impossible": Impossible,
    "invalid": Invalid,
}
NAMES = {kind: name for name, kind in ACTIONS.items()}
TEXT_ACTIONS = (Type, Press, Answer, Invalid)


def encode(trajectory: Trajectory) -> bytes:
    """The trajectory with every image it holds. Raises `CorruptData` for values that `decode` would refuse."""
    screens = _ScreenTable()
    tree = {
        "version": VERSION,
        "id": trajectory.id,
        "task": _task_tree(trajectory.task),
        "steps": [_step_tree(step, screens) for step in trajectory.steps],
        "outcome": [trajectory.outcome.kind, trajectory.outcome.reason],
        "last_screen": None if trajectory.last_screen is None else screens.index(trajectory.last_screen),
        "worker": trajectory.worker,
        "device": trajectory.device,
        "started_at": float(trajectory.started_at),
        "duration_s": float(trajectory.duration_s),
        "lease_id": trajectory.lease_id,
        "screens": screens.rows,
    }
    try:
        payload: bytes = msgpack.packb(tree, use_bin_type=True, unicode_errors="surrogatepass")
    except (TypeError, ValueError, OverflowError) as error:
        raise CorruptData(f"Trajectory {trajectory.id!r} holds a value that cannot be written: {error}.") from error
    decode(payload)  # a payload that no host would take must not reach the spool
    return payload


def decode(payload: bytes) -> Trajectory:
    """The trajectory that `encode` wrote. Raises `CorruptData` for anything else."""
    tree = _unpack(payload)
    if isinstance(tree, dict) and tree.get("version") == 1 and tree["version"] is not True:
        tree = {**tree, "version": VERSION, "lease_id": ""}
    version, *values = schema.fields(
        tree,
        "version", "id", "task", "steps", "outcome", "last_screen",
        "worker", "device", "started_at", "duration_s", "lease_id", "screens",
    )  # fmt: skip
    if version != VERSION or isinstance(version, bool):
        schema.refuse(f"it has format version {version!r:.40} and this program reads version {VERSION}")
    id_, task, steps, outcome, last_screen, worker, device, started_at, duration_s, lease_id, rows = values
    screens = schema.list_of(rows, _screen)
    return Trajectory(
        id=schema.text(id_),
        task=_task(task),
        steps=tuple(schema.list_of(steps, lambda value: _step(value, screens))),
        outcome=_outcome(outcome),
        last_screen=None if last_screen is None else _one_of(screens, last_screen),
        worker=schema.text(worker),
        device=schema.text(device),
        started_at=schema.finite(started_at),
        duration_s=schema.finite(duration_s),
        lease_id=schema.text(lease_id),
    )


# --- writing ------------------------------------------------------------------------------------


class _ScreenTable:
    """Each different screen once, in order of appearance."""

    def __init__(self) -> None:
        self.rows: list[list[Any]] = []
        self._places: dict[tuple[str, int, int, str], int] = {}

    def index(self, screen: Screen) -> int:
        key = (screen.digest, screen.width, screen.height, screen.foreground)
        place = self._places.setdefault(key, len(self.rows))
        if place == len(self.rows):
            self.rows.append([*key, b""])
        if screen.image:  # the same screen may come once as a reference and once in full
            self.rows[place][4] = screen.image
        return place


def _task_tree(task: Task) -> dict[str, Any]:
    return {
        "id": task.id,
        "suite": task.suite,
        "split": task.split,
        "template": task.template,
        "goal": task.goal,
        "seed": int(task.seed),
        "max_steps": int(task.max_steps),
        "params": schema.plain(task.params),
        "start": schema.plain(task.start),
    }


def _step_tree(step: Step, screens: _ScreenTable) -> dict[str, Any]:
    decision = step.decision
    return {
        "screen": screens.index(step.screen),
        "action": _action_tree(decision.action),
        "text": decision.text,
        "token_ids": [int(token) for token in decision.token_ids],
        "logprobs": [float(logprob) for logprob in decision.logprobs],
        "entropy": float(decision.entropy),
        "policy_version": int(decision.policy_version),
        "value": float(decision.value),
        "duration_s": float(step.duration_s),
    }


def _action_tree(action: Action) -> list[Any]:
    return [NAMES[type(action)], *(getattr(action, name) for name in action.__dataclass_fields__)]


# --- reading ------------------------------------------------------------------------------------


def _unpack(payload: bytes) -> Any:
    try:
        return msgpack.unpackb(payload, raw=False, unicode_errors="surrogatepass", ext_hook=_no_extension)
    except CorruptData:
        raise
    except Exception as error:  # msgpack raises half a dozen kinds; to the caller they are all one: not our bytes
        schema.refuse(f"it is no whole msgpack value ({type(error).__name__}: {str(error)[:80]})", error)


def _no_extension(code: int, data: bytes) -> NoReturn:
    schema.refuse(f"it holds an extension type ({code})")


def _screen(value: Any) -> Screen:
    digest, width, height, foreground, image = schema.items(value, 5)
    if not DIGEST.fullmatch(schema.text(digest)):
        schema.refuse("a screen's digest is no SHA-256")
    if not isinstance(image, bytes):
        schema.refuse("a screen's image is not bytes")
    if image and hashlib.sha256(image).hexdigest() != digest:
        schema.refuse("a screen's image does not match its digest")
    return Screen(image, schema.count(width), schema.count(height), (), schema.text(foreground), digest)


def _task(value: Any) -> Task:
    id_, suite, split, template, goal, seed, max_steps, params, start = schema.fields(
        value, "id", "suite", "split", "template", "goal", "seed", "max_steps", "params", "start"
    )
    if not isinstance(params, dict):
        schema.refuse("a task's parameters are no map")
    return Task(
        id=schema.text(id_),
        suite=schema.text(suite),
        split=schema.text(split),
        template=schema.text(template),
        goal=schema.text(goal),
        seed=schema.integer(seed),
        max_steps=schema.count(max_steps),
        params=schema.plain(params),
        start=tuple(schema.list_of(start, lambda edit: tuple(schema.list_of(edit, schema.plain)))),
    )


def _step(value: Any, screens: list[Screen]) -> Step:
    screen, action, text, token_ids, logprobs, entropy, policy_version, state_value, duration_s = schema.fields(
        value, "screen", "action", "text", "token_ids", "logprobs", "entropy", "policy_version", "value", "duration_s"
    )
    decision = Decision(
        action=_action(action),
        text=schema.text(text),
        token_ids=tuple(schema.list_of(token_ids, schema.integer)),
        logprobs=tuple(schema.list_of(logprobs, schema.number)),
        entropy=schema.number(entropy),
        policy_version=schema.count(policy_version),
        value=schema.number(state_value),
    )
    return Step(_one_of(screens, screen), decision, schema.number(duration_s))


def _action(value: Any) -> Action:
    name, *values = schema.list_of(value, lambda item: item) or [None]
    kind = ACTIONS.get(name) if isinstance(name, str) else None
    if kind is None:
        schema.refuse(f"there is no action {name!r:.40}")
    wanted = schema.text if issubclass(kind, TEXT_ACTIONS) else schema.integer
    if len(values) != len(kind.__dataclass_fields__):
        schema.refuse(f"an action {name!r} has {len(values)} values")
    if kind is Press and values[0] not in ("back", "home", "enter"):
        schema.refuse(f"there is no key {values[0]!r:.40}")
    action: Action = kind(*(wanted(item) for item in values))
    return action


def _outcome(value: Any) -> Outcome:
    kind, reason = schema.items(value, 2)
    if kind not in ("success", "failure", "invalid"):
        schema.refuse(f"there is no outcome {kind!r:.40}")
    return Outcome(kind, schema.text(reason))


def _one_of(screens: list[Screen], index: Any) -> Screen:
    place = schema.integer(index)
    if not 0 <= place < len(screens):
        schema.refuse("a step names a screen that is not there")
    return screens[place]
