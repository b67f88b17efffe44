from __future__ import annotations

import stat
from pathlib import Path

import pytest

from distrl.errors import ConfigError
from distrl.runtime.ray import tokens
from distrl.runtime.ray.tokens import check_token, use_token, write_token


@pytest.fixture(autouse=True)
def _new_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens, "_secret", [])


def given(path: Path, text: str) -> Path:
    path.write_text(text)
    path.chmod(0o600)
    return path


def test_a_token_is_private_and_hard_to_guess(tmp_path: Path) -> None:
    write_token(tmp_path / "token")
    assert stat.S_IMODE((tmp_path / "token").stat().st_mode) == 0o600
    assert len(check_token(tmp_path / "token")) == 64


def test_a_token_never_replaces_a_file(tmp_path: Path) -> None:
    given(tmp_path / "token", "of somebody else")
    with pytest.raises(FileExistsError):
        write_token(tmp_path / "token")


def test_all_tokens_of_a_process_are_the_same_secret(tmp_path: Path) -> None:
    use_token(given(tmp_path / "given", "secret\n"))
    write_token(tmp_path / "made")
    assert check_token(tmp_path / "made") == "secret"
    use_token(tmp_path / "made")


def test_a_process_that_used_one_token_cannot_use_another(tmp_path: Path) -> None:
    write_token(tmp_path / "first")
    with pytest.raises(ConfigError, match="in a process of its own"):
        use_token(given(tmp_path / "second", "another"))


@pytest.mark.parametrize(("text", "mode", "says"), [("", 0o600, "is empty"), ("secret", 0o644, "chmod 600")])
def test_a_token_that_ray_would_not_take_is_refused(tmp_path: Path, text: str, mode: int, says: str) -> None:
    token = given(tmp_path / "token", text)
    token.chmod(mode)
    with pytest.raises(ConfigError, match=says):
        use_token(token)


def test_a_token_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read"):
        use_token(tmp_path / "token")
