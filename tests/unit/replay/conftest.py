import pytest

from distrl.types import Decision, Done, Outcome, Screen, Step, Task, Trajectory


def make_trajectory(name, outcome="success", steps=2):
    task = Task(id=f"task-{name}", suite="toy", split="train", template="t", goal="g", seed=0, max_steps=5)
    decision = Decision(Done(), "done", (1, 2), (-0.5, -0.1), 0.3, policy_version=0)
    played = tuple(Step(Screen(f"{name}-{i}".encode(), 10, 20), decision) for i in range(steps))
    return Trajectory(str(name), task, played, Outcome(outcome), last_screen=Screen(b"end", 10, 20))


@pytest.fixture
def trajectory():
    """Makes a small finished trajectory: trajectory(name, outcome="success", steps=2)."""
    return make_trajectory
