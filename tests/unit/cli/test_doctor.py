"""`distrl doctor`: what it finds, and what it says of what it does not find."""

from __future__ import annotations

import json
import shutil
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

from distrl.cli import checks, doctor, main
from distrl.cli.checks import Finding


def invoke(*arguments: str):
    return CliRunner().invoke(main.app, ["doctor", *arguments])


@pytest.mark.parametrize(("status", "code"), [("ok", 0), ("warn", 0), ("missing", 1)])
def test_only_what_is_missing_makes_the_doctor_fail(monkeypatch, status, code):
    monkeypatch.setattr(doctor, "examine", lambda deep: [Finding("ray", status, "2.60", "install it")])
    result = invoke()
    assert result.exit_code == code
    assert "install it" in result.output


def test_json_holds_every_finding(monkeypatch):
    monkeypatch.setattr(doctor, "examine", lambda deep: [Finding("ray", "missing", "gone", "install it")])
    answer = json.loads(invoke("--json").output)
    assert answer == {
        "healthy": False,
        "findings": [{"name": "ray", "status": "missing", "detail": "gone", "mend": "install it"}],
    }


def test_a_library_that_is_not_installed_is_missing():
    assert checks.library("no-such-library").status == "missing"
    assert checks.library("pytest").status == "ok"


def test_a_program_that_is_not_on_the_path_is_a_warning(monkeypatch):
    monkeypatch.setenv("PATH", "")
    assert checks.adb().status == "warn"
    assert "platform-tools" in checks.adb().mend


def test_a_full_disk_is_a_warning(monkeypatch):
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: SimpleNamespace(free=2**20))
    assert checks.disk().status == "warn"


def test_more_threads_than_cores_is_a_warning(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "4096")
    assert checks.threads().status == "warn"


def test_a_check_that_breaks_is_a_finding(monkeypatch):
    def broken() -> str:
        raise OSError("no font")

    assert checks._attempt("phone", broken, "reinstall") == Finding("phone", "missing", "OSError: no font", "reinstall")


@pytest.mark.parametrize("check", [checks.python, checks.cores, checks.memory, checks.gpu, checks.chromium])
def test_whatever_is_not_well_says_how_to_mend_it(check):
    finding = check()
    assert finding.status == "ok" or finding.mend
