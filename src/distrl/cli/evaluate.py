"""`distrl eval`: evaluation of a policy on held-out tasks, with 95 % intervals."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from distrl.cli.progress import open_progress
from distrl.cli.runs import find_run, is_run, known_runs
from distrl.config import Config, load_config
from distrl.errors import ModelNotFound, nearest
from distrl.loading import build, overlay

if TYPE_CHECKING:
    from distrl.evaluation.evaluate import Evaluation


def evaluate(
    target: Annotated[str, typer.Argument(metavar="RUN|MODEL", help="A run, `pocket`, or a model folder.")],
    overrides: Annotated[list[str] | None, typer.Argument(metavar="[KEY=VALUE]...", help="Settings to change.")] = None,
    suite: Annotated[str | None, typer.Option(help="Suite of tasks; default: the run's own, or general.")] = None,
    split: Annotated[str | None, typer.Option(help="Split the tasks come from; default: test-instances.")] = None,
    episodes: Annotated[int | None, typer.Option(min=1, help="How many tasks; default: 128.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Evaluate a run's newest policy or a model on held-out tasks: success rates with intervals."""
    changes = {"tasks.suite": suite, "evaluation.split": split, "evaluation.episodes": episodes}
    chosen = [f"{key}={value}" for key, value in changes.items() if value is not None]
    settings = settings_for(target, [*chosen, *(overrides or [])])
    from distrl.runtime import evaluate_policy
    from distrl.runtime.preflight import check

    check(settings)
    # Progress goes to stderr, so that the result alone can be piped.
    with open_progress(Console(stderr=True), f"evaluating {target}", settings.runtime.progress_s) as progress:
        evaluation = evaluate_policy(settings, progress=progress)
    if as_json:
        typer.echo(json.dumps(as_tree(target, settings, evaluation), indent=2))
    else:
        show(Console(), evaluation)


def settings_for(target: str, overrides: list[str]) -> Config:
    """A run's settings with its newest policy, or the defaults with a model."""
    if is_model(target):
        return build(Config, overlay({"policy": {"model": target}}, overrides, Config), target)
    if not is_run(Path(target)) and target not in known_runs():
        raise ModelNotFound(
            f"{target!r} is neither a run nor a model.{nearest(target, ['pocket', *known_runs()])} "
            "Give a run folder, `pocket`, or a folder with config.json, weights and processor files."
        )
    run = find_run(target)
    from distrl.runtime.preflight import newest_model

    settings = load_config(run, overrides)
    model = newest_model(run, lambda warning: typer.echo(f"warning: {warning}", err=True))
    return settings.model_copy(update={"policy": settings.policy.model_copy(update={"model": str(model)})})


def is_model(target: str) -> bool:
    return target == "pocket" or (Path(target) / "config.json").is_file()


def show(console: Console, evaluation: Evaluation) -> None:
    table = Table("template", "success", "of", "rate", "invalid", box=None, pad_edge=False)
    for column in table.columns[1:]:
        column.justify = "right"
    for template, part in evaluation.by_template().items():
        table.add_row(template, str(part.successes), str(part.episodes), f"{part.success:.0%}", str(part.invalid or ""))
    console.print(table)
    low, high = evaluation.ci95
    console.print(
        f"success {evaluation.success:.1%} ({evaluation.successes} of {evaluation.episodes}), "
        f"95 % interval {low:.1%} to {high:.1%}; {evaluation.invalid} invalid",
        highlight=False,
    )


def as_tree(target: str, settings: Config, evaluation: Evaluation) -> dict[str, Any]:
    return {
        "target": target,
        "suite": settings.tasks.suite,
        "split": settings.evaluation.split,
        **figures(evaluation),
        "templates": {name: figures(part) for name, part in evaluation.by_template().items()},
    }


def figures(evaluation: Evaluation) -> dict[str, Any]:
    return {
        "success": evaluation.success,
        "ci95": list(evaluation.ci95),
        "successes": evaluation.successes,
        "episodes": evaluation.episodes,
        "invalid": evaluation.invalid,
    }
