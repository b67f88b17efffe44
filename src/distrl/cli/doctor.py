"""`distrl doctor`: checks this machine: what is there, what is missing, how to fix it."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from distrl.cli.checks import Finding, check_machine
from distrl.cli.train import DEFAULT, ConfigArgument, Overrides, split_arguments
from distrl.config import load_config

COLOURS = {"ok": "green", "warn": "yellow", "missing": "red"}


def doctor(
    config: ConfigArgument = DEFAULT,
    overrides: Overrides = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")] = False,
    deep: Annotated[
        bool,
        typer.Option(
            "--deep", help="Start Ray too, and look for Android phones and emulators; takes some ten seconds."
        ),
    ] = False,
) -> None:
    """Check this machine for a run of this config: what is there, what is missing, how to fix it."""
    findings = check_machine(load_config(*split_arguments(config, overrides)), deep)
    healthy = all(finding.status != "missing" for finding in findings)
    if as_json:
        typer.echo(json.dumps({"healthy": healthy, "findings": [asdict(finding) for finding in findings]}, indent=2))
    else:
        show(findings, healthy)
    raise typer.Exit(0 if healthy else 1)


def show(findings: list[Finding], healthy: bool) -> None:
    console = Console()
    table = Table("", "what", "found", box=None, pad_edge=False)
    for finding in findings:
        table.add_row(Text(finding.status, style=COLOURS[finding.status]), finding.name, Text(finding.detail))
    console.print(table)
    for finding in findings:
        if finding.mend:
            console.print(Text.assemble((f"{finding.name}: ", "bold"), finding.mend), soft_wrap=True)
    console.print("Ready: `distrl train` will work." if healthy else "Fix what is missing, then run the doctor again.")
