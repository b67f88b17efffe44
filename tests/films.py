"""Small trajectories with real pictures, for tests of judges."""

from __future__ import annotations

from toy import BUTTONS, picture, toy_task

from distrl.types import Action, Decision, Done, Outcome, Screen, Step, Tap, Task, Trajectory


def shown(pressed: int) -> Screen:
    return Screen(picture(pressed), 8, 8)


def film(
    number: int = 0, *actions: Action, outcome: Outcome | None = None, task: Task | None = None, last: int | None = None
) -> Trajectory:
    """An episode that took these actions; by default it pressed a button and said done."""
    actions = actions or (Tap(number % BUTTONS, 0), Done())
    steps = tuple(
        Step(shown(-1 if place == 0 else place % BUTTONS), Decision(action, "", (1,), (-0.5,), 0.1, 3))
        for place, action in enumerate(actions)
    )
    identifier = f"{number:08d}-0000-4000-8000-000000000000"
    end = shown(number % BUTTONS if last is None else last)
    return Trajectory(identifier, task or toy_task(number), steps, outcome or Outcome("invalid"), end, "w", "toy://0")
