"""The command `distrl`. Heavy libraries are imported by the command that needs them, so that `--help` is instant."""

from __future__ import annotations

from typing import Any

import typer
from rich.console import Console
from rich.text import Text
from typer.core import TyperGroup

import distrl
from distrl.cli import bench, devices, doctor, evaluate, judge, phone, plan, replay, settings, sft, tasks, train, worker
from distrl.errors import DistrlError

WRONG = 2
"""Exit code of a `DistrlError`."""
INTERRUPTED = 130
"""Exit code after Ctrl-C: 128 + SIGINT, as in shells."""


class Commands(TyperGroup):
    """Prints a `DistrlError` as its message; other exceptions show their traceback."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except DistrlError as error:
            Console(stderr=True).print(Text.assemble(("error: ", "bold red"), str(error)), soft_wrap=True)
            raise typer.Exit(WRONG) from None
        except KeyboardInterrupt:
            Console(stderr=True).print("interrupted")
            raise typer.Exit(INTERRUPTED) from None


app = typer.Typer(
    cls=Commands,
    help="Asynchronous reinforcement learning for agents that use phones.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("train")(train.train)
app.command("worker")(worker.worker)
app.command("eval")(evaluate.evaluate)
app.command("sft")(sft.sft)
app.command("doctor")(doctor.doctor)
app.add_typer(bench.app, name="bench")
app.add_typer(judge.app, name="judge")
app.add_typer(devices.app, name="devices")
app.command("phone")(phone.phone)
app.command("plan")(plan.plan)
app.command("tasks")(tasks.tasks)
app.command("replay")(replay.replay)
app.command("config")(settings.config)


def show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(distrl.__version__)
        raise typer.Exit


@app.callback()
def options(version: bool = typer.Option(False, "--version", callback=show_version, help="Print the version.")) -> None:
    pass


def main() -> None:
    app()


if __name__ == "__main__":
    main()
