"""The rule judge: reads the phone's state, applies the template's rule, and allows no side effects."""

from __future__ import annotations

from collections.abc import Iterable

from distrl.errors import CannotJudge, UnknownName
from distrl.tasks.base import Ending, Template, load_suite
from distrl.trees import diff, under
from distrl.types import Action, Answer, Done, Impossible, Outcome, Task, Trajectory, Tree

FREE_SUBTREE = "os"
"""Foreground app and back stack; changes there are no side effects."""
FREE_KEYS = frozenset({"history", "recent"})
"""Histories; changes there are no side effects."""


class RuleJudge:
    """Success: the agent declared the task done, the rule holds, and nothing else on the phone changed."""

    async def judge(self, task: Task, trajectory: Trajectory, evidence: Tree | None) -> Outcome:
        if evidence is None:
            raise CannotJudge(
                f"The rule judge needs the phone's state and {trajectory.device or 'the device'} gave none. "
                "Use a device that can be inspected, such as sim://phone, or another judge: judge.kind=vlm or chain."
            )
        template = rule_of(task)
        last = trajectory.steps[-1].decision.action if trajectory.steps else None
        reason = unfinished(last) or unmet(template, task, last, evidence)
        return Outcome("failure", reason) if reason else Outcome("success")


def rule_of(task: Task) -> Template:
    """The template with this task's rule. Raises `CannotJudge` if there is none."""
    try:
        return load_suite(task.suite).templates[task.template]
    except (UnknownName, KeyError):
        raise CannotJudge(
            f"There is no rule for {task.template!r} of {task.suite!r}. Set judge.kind to vlm or chain for such tasks."
        ) from None


def unfinished(last: Action | None) -> str:
    """Why the episode did not end with the agent declaring it done, or an empty string."""
    if isinstance(last, Done | Answer):
        return ""
    return "the agent gave up" if isinstance(last, Impossible) else "out of steps"


def unmet(template: Template, task: Task, last: Action | None, evidence: Tree) -> str:
    """Why the end state is not what the goal asked for, or an empty string."""
    answer = last.text if isinstance(last, Answer) else ""
    ending = Ending(task.params, evidence["before"], evidence["after"], answer)
    if not template.check(ending):
        return "the goal is not reached"
    effects = side_effects(ending, template.may_change)
    return f"side effect: {', '.join(effects)}" if effects else ""


def side_effects(ending: Ending, may_change: Iterable[str]) -> list[str]:
    """Paths of the stored changes that the goal did not ask for."""
    allowed = (FREE_SUBTREE, *may_change)
    paths = (change.path for change in diff(ending.before, ending.after))
    return [path for path in paths if not under(path, allowed) and not FREE_KEYS.intersection(path.split("/"))]
