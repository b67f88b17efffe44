from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from processes import free_port

from distrl.config import RuntimeConfig
from distrl.errors import ConfigError
from distrl.runtime.ray.environment import AT_IMPORT, answers, of_joining_process, of_node, prepare


def test_nothing_imports_ray_before_its_environment_is_there() -> None:
    code = (
        "import sys, distrl.runtime, distrl.runtime.ray, distrl.runtime.join_watcher; assert 'ray' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_ray_that_was_imported_without_authentication_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", pytest)
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")
    with pytest.raises(ConfigError, match="RAY_AUTH_MODE=token"):
        prepare(RuntimeConfig())


def test_a_cluster_that_somebody_else_started_keeps_its_own_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")
    prepare(RuntimeConfig(address="192.0.2.1:6379"))
    assert os.environ["RAY_AUTH_MODE"] == "disabled"


def test_preparing_sets_what_ray_reads_at_import(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "ray", raising=False)
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")
    prepare(RuntimeConfig())
    assert {name: os.environ[name] for name in AT_IMPORT} == AT_IMPORT


def test_a_node_gets_the_token_file_and_no_other_token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAY_AUTH_TOKEN", "another")
    environment = of_node(Path("/token"), cluster=False)
    assert environment["RAY_AUTH_TOKEN_PATH"] == "/token"
    assert environment["RAY_AUTH_MODE"] == "token"
    assert environment["RAY_worker_niceness"] == "0"
    assert "RAY_AUTH_TOKEN" not in environment


def test_a_node_without_a_token_file_keeps_the_user_s_authentication(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAY_AUTH_TOKEN", "the user's")
    assert of_node(None, cluster=True)["RAY_AUTH_TOKEN"] == "the user's"
    assert "RAY_AUTH_MODE" not in of_joining_process("192.0.2.1:6379", None)


def test_nobody_answers_at_a_free_port() -> None:
    assert not answers(f"127.0.0.1:{free_port()}")
    assert not answers("no address")
