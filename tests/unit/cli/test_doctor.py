"""`distrl doctor`: what it finds, and what it says of what it does not find."""

from __future__ import annotations

import json
import shutil
from types import SimpleNamespace

import pytest
from stub_endpoint import Said, StubEndpoint
from typer.testing import CliRunner

from distrl.cli import checks, doctor, main
from distrl.cli.checks import Finding
from distrl.config import load_config


def invoke(*arguments: str):
    return CliRunner().invoke(main.app, ["doctor", *arguments])


@pytest.mark.parametrize(("status", "code"), [("ok", 0), ("warn", 0), ("missing", 1)])
def test_only_what_is_missing_makes_the_doctor_fail(monkeypatch, status, code):
    monkeypatch.setattr(doctor, "check_machine", lambda config, deep: [Finding("ray", status, "2.60", "install it")])
    result = invoke()
    assert result.exit_code == code
    assert "install it" in result.output


def test_json_holds_every_finding(monkeypatch):
    monkeypatch.setattr(doctor, "check_machine", lambda config, deep: [Finding("ray", "missing", "gone", "install it")])
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


@pytest.mark.parametrize(
    ("overrides", "where"),
    [
        (["policy.device=cpu"], "(policy.device=cpu)"),
        (["policy.device=auto", "learner.device=cuda"], "(policy.device=auto)"),
        (["learner.device=cpu"], "(learner.device=cpu)"),
        (["policy.device=cpu", "learner.device=cpu"], "(policy.device=cpu, learner.device=cpu)"),
    ],
)
def test_bfloat16_on_a_cpu_is_a_warning(overrides, where, monkeypatch):
    torch = pytest.importorskip("torch")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    devices = ["policy.device=cuda", "learner.device=cuda"]
    finding = checks.precision(load_config("quickstart", ["policy.dtype=bfloat16", *devices, *overrides]))
    assert finding.status == "warn"
    assert finding.detail == f"bfloat16 on a CPU {where}"
    assert "policy.dtype=float32" in finding.mend


def test_bfloat16_on_a_gpu_and_float32_anywhere_are_well(monkeypatch):
    torch = pytest.importorskip("torch")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert checks.precision(load_config("quickstart", ["policy.dtype=bfloat16"])).status == "ok"
    assert checks.precision(load_config("quickstart", ["policy.device=cpu", "learner.device=cpu"])).status == "ok"


def test_a_device_that_torch_does_not_know_is_a_finding():
    finding = checks.precision(load_config("quickstart", ["policy.dtype=bfloat16", "policy.device=abacus"]))
    assert (finding.status, bool(finding.mend)) == ("missing", True)


def test_the_doctor_examines_the_machine_for_the_config_it_is_given(monkeypatch):
    asked = []
    monkeypatch.setattr(doctor, "check_machine", lambda config, deep: asked.append(config) or [])
    invoke(), invoke("policy.dtype=bfloat16"), invoke("webshop", "run.seed=3")
    assert [(config.tasks.suite, config.policy.dtype, config.run.seed) for config in asked] == [
        ("general", "float32", load_config("quickstart").run.seed),
        ("general", "bfloat16", load_config("quickstart").run.seed),
        ("webshop", "float32", 3),
    ]


def test_a_check_that_breaks_is_a_finding(monkeypatch):
    def broken() -> str:
        raise OSError("no font")

    assert checks._attempt("phone", broken, "reinstall") == Finding("phone", "missing", "OSError: no font", "reinstall")


@pytest.mark.parametrize("check", [checks.python, checks.cores, checks.memory, checks.gpu, checks.chromium])
def test_every_problem_says_how_to_fix_it(check):
    finding = check()
    assert finding.status == "ok" or finding.mend


def judge_of(*overrides: str) -> list[Finding]:
    return checks.judge(
        load_config("quickstart", ["judge.kind=vlm", "judge.model=m", "judge.key_env=PLANTED", *overrides])
    )


def test_a_judge_by_rules_needs_no_looking_at():
    assert checks.judge(load_config("quickstart")) == []


@pytest.mark.parametrize(("status", "found"), [(200, "ok"), (404, "ok"), (401, "missing"), (503, "missing")])
def test_the_judges_endpoint_is_asked_and_the_key_is_not_shown(monkeypatch, status, found):
    monkeypatch.setenv("PLANTED", "sk-planted-0123456789")
    with StubEndpoint(lambda question: Said(b"you sent sk-planted-0123456789", status)) as stub:
        (finding,) = judge_of(f"judge.url={stub.url}")
    assert finding.status == found
    assert stub.questions[0].headers["Authorization"] == "Bearer sk-planted-0123456789"
    assert "sk-planted" not in f"{finding}"


def test_a_judge_without_key_or_model_is_missing_and_says_what_to_do(monkeypatch):
    monkeypatch.delenv("PLANTED", raising=False)
    (finding,) = judge_of()
    assert finding.status == "missing"
    assert "PLANTED" in finding.mend
    assert judge_of("judge.model=''")[0].status == "missing"
