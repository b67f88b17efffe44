"""Doors that stay shut: nothing we read runs code, and nothing dies that we did not start."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src" / "distrl"
FILES = sorted(SOURCE.rglob("*.py"))

RUNS_WHAT_IT_READS = {"pickle", "cloudpickle", "dill", "joblib", "marshal", "shelve", "jsonpickle"}
CALLS_THAT_RUN_TEXT = {"eval", "exec", "compile", "__import__"}
WAYS_TO_A_SHELL = {"os.system", "os.popen", "subprocess.getoutput", "subprocess.getstatusoutput"}
WAYS_TO_KILL = {"os.kill", "os.killpg", "signal.pidfd_send_signal"}
PROGRAMS_THAT_KILL = {"kill", "pkill", "killall", "ray stop"}


def nodes(kind: type[ast.AST]) -> Iterator[tuple[Path, ast.AST]]:
    for path in FILES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, kind):
                yield path, node


def calls() -> Iterator[tuple[str, str, ast.Call]]:
    """Where, what, and the call itself, for every call in the source."""
    for path, node in nodes(ast.Call):
        assert isinstance(node, ast.Call)
        yield f"{path.relative_to(SOURCE)}:{node.lineno}", ast.unparse(node.func), node


def imported() -> Iterator[tuple[str, str]]:
    for path, node in nodes(ast.Import):
        assert isinstance(node, ast.Import)
        yield from ((str(path), alias.name.split(".")[0]) for alias in node.names)
    for path, node in nodes(ast.ImportFrom):
        assert isinstance(node, ast.ImportFrom)
        yield str(path), (node.module or "").split(".")[0]


def keyword(call: ast.Call, name: str) -> str:
    return next((ast.unparse(each.value) for each in call.keywords if each.arg == name), "")


def test_nothing_that_can_run_what_it_reads_is_imported():
    assert [place for place in imported() if place[1] in RUNS_WHAT_IT_READS] == []


@pytest.mark.parametrize("forbidden", [CALLS_THAT_RUN_TEXT, WAYS_TO_A_SHELL, {"torch.load", "np.load", "numpy.load"}])
def test_these_are_never_called(forbidden):
    assert [where for where, name, _ in calls() if name in forbidden] == []


def test_no_process_is_started_through_a_shell():
    assert [where for where, _, call in calls() if keyword(call, "shell") not in ("", "False")] == []


def test_yaml_is_read_by_a_loader_that_builds_plain_data_only():
    import yaml

    from distrl.loading import text

    loaders = {keyword(call, "Loader") for _, name, call in calls() if name in ("yaml.load", "yaml.load_all")}
    assert loaders == {"_Loader", "_LineLoader"}
    assert all(issubclass(getattr(text, name), yaml.SafeLoader) for name in loaders)
    unsafe = {"yaml.unsafe_load", "yaml.full_load", "yaml.unsafe_load_all", "yaml.full_load_all"}
    assert [where for where, name, _ in calls() if name in unsafe] == []


def test_code_from_a_model_folder_is_never_trusted():
    trusting = [where for where, _, call in calls() if keyword(call, "trust_remote_code") not in ("", "False")]
    assert trusting == []


def test_nothing_is_killed_but_actors_and_jobs_of_our_own():
    """Ray's `kill` takes a handle to an actor that we made; a race ends the session it opened for a job, and a worker
    those it opened for its adb server and its emulators; `bench faults` ends the fleets that it started, and strikes
    emulators of its own stand-in SDK; no other signal is sent to anybody by number or by name."""
    ends = {
        where.partition(":")[0]
        for where, name, _ in calls()
        if name in WAYS_TO_KILL or name.endswith((".terminate", ".killpg"))
    }
    ours = {"bench/learning/race.py", "devices/adb/server.py", "devices/avd/guard.py", "devices/avd/sessions.py"}
    ours |= {"bench/faults/emulators.py"}
    assert ends <= ours
    kills = {where.partition(":")[0] for where, name, _ in calls() if name.endswith(".kill")}
    assert kills <= {
        *("runtime/ray/handle.py", "runtime/ray/run.py", "runtime/ray/own_processes.py"),
        *("runtime/ray/evaluations.py", "runtime/ray/joined_workers.py"),
        *("bench/faults/campaign.py", "bench/faults/emulators.py"),
    }
    texts = [(path, node.value) for path, node in nodes(ast.Constant) if isinstance(node, ast.Constant)]
    obeys = SOURCE / "phone_server/emulator/program.py"  # the stand-in ends itself when its console is told to
    assert [path for path, text in texts if text in PROGRAMS_THAT_KILL and path != obeys] == []
