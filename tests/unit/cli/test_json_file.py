import io
import json

import pytest
from rich.console import Console

from distrl.cli.json_file import require_folder, write_figures
from distrl.errors import ConfigError


def test_a_folder_that_is_missing_is_named_with_its_option(tmp_path):
    require_folder(None)
    require_folder(tmp_path / "out.json")
    with pytest.raises(ConfigError, match=r"--out .*gone.* make it first"):
        require_folder(tmp_path / "gone" / "out.html", "--out")


def test_figures_are_written_and_that_is_said(tmp_path):
    said = io.StringIO()
    write_figures({"a": 1}, tmp_path / "[bold].json", Console(file=said, width=500))
    assert json.loads((tmp_path / "[bold].json").read_text()) == {"a": 1}
    assert f"written to {tmp_path / '[bold].json'}" in said.getvalue()


def test_without_a_file_nothing_is_written_or_said():
    said = io.StringIO()
    write_figures({"a": 1}, None, Console(file=said))
    assert said.getvalue() == ""
