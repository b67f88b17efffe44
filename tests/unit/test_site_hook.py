"""The links of the documentation, as the site rewrites them."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SPEC = importlib.util.spec_from_file_location("site_hook", ROOT / "tools" / "site_hook.py")
site_hook = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(site_hook)


@pytest.mark.parametrize(
    ("page", "link", "in_the_site"),
    [
        ("README.md", "[all](docs/commands.md)", "[all](commands.md)"),
        ("README.md", "![phone](docs/images/phone.png)", "![phone](images/phone.png)"),
        ("docs/tasks.md", "[judges](judges.md#costs)", "[judges](judges.md#costs)"),
        ("docs/log/2026-11.md", "[page](../reproduction.md)", "[page](../reproduction.md)"),
        ("docs/cluster.md", "[ray](../deploy/ray-up.yaml)", "[ray](repository/deploy/ray-up.yaml)"),
        ("docs/commands.md", "[how](../CONTRIBUTING.md)", "[how](contributing.md)"),
        ("docs/tasks.md", "[some](../examples/android)", "[some](repository/examples/android/README.md)"),
        ("examples/android/README.md", "[format](../../docs/tasks.md)", "[format](../../../tasks.md)"),
        ("docs/benchmarks.md", "[results/](../results)", "results/"),
        ("docs/benchmarks.md", "[there](https://example.org/a.md)", "[there](https://example.org/a.md)"),
        ("docs/benchmarks.md", "[here](#overhead)", "[here](#overhead)"),
        ("docs/benchmarks.md", "[theirs](/etc/passwd)", "[theirs](/etc/passwd)"),
    ],
)
def test_a_link_leads_to_the_same_thing_in_the_site(page, link, in_the_site):
    assert site_hook.rewritten(link, page) == in_the_site


def test_what_is_fenced_is_no_link():
    code = "```\n[a](../results/async.json)\n```"
    assert site_hook.rewritten(code, "docs/tasks.md") == code


def test_files_that_pages_link_to_are_served_with_those_that_they_link_to_in_turn():
    found = site_hook.linked(["docs/reproduction.md"])
    assert "results/starts/beginner/README.md" in found
    assert "src/distrl/policies/pocket/weights/README.md" in found  # linked by the beginner's page
    assert not any(path.startswith("docs/") for path in found)


def test_nothing_outside_of_the_repository_is_served(tmp_path, monkeypatch):
    (tmp_path / "secret.txt").write_text("")
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "page.md").write_text(f"[a](../secret.txt) [b]({tmp_path}/secret.txt) [c](own.txt)")
    (tmp_path / "here" / "own.txt").write_text("")
    monkeypatch.setattr(site_hook, "ROOT", tmp_path / "here")
    assert site_hook.linked(["page.md"]) == {"own.txt"}


def test_every_file_of_the_repository_has_one_place_in_the_site_and_back():
    for path in ("README.md", "docs/tasks.md", "docs/log/index.md", "results/async.json"):
        assert site_hook.in_repository(site_hook.in_site(path)) == path
