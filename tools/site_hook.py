"""The site's hook: links out of docs/ work in the site as they do on a code host.

The repository has no public address that such a link could lead to. So what is linked is served along: README.md is
the first page, other Markdown becomes a page, any other file is copied. `repository/` in the site is the repository's
root. A link to a folder leads to its README; where it has none, only its text stays.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[1]
DOCS, OTHERS = "docs/", "repository/"
AT_THE_TOP = {"README.md": "index.md", "CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}
"""By path in the repository: pages in the site's menu."""
FENCED = re.compile(r"^(```.*?^```[^\n]*)$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[(?P<text>[^\]]*)\]\((?P<target>[^)\s#:/][^)\s#:]*)(?P<anchor>#[^)\s]*)?\)")


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Headings get the anchors that code hosts give them."""
    from pymdownx.slugs import slugify

    config.mdx_configs.setdefault("toc", {})["slugify"] = slugify(case="lower")
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    from mkdocs.structure.files import File, InclusionLevel

    def add(path: str, **options: Any) -> None:
        files.append(File.generated(config, in_site(path), abs_src_path=str(ROOT / path), **options))

    for path in AT_THE_TOP:
        add(path)
    pages = [in_repository(file.src_uri) for file in files.documentation_pages()]
    for path in sorted(linked(pages)):
        add(path, inclusion=InclusionLevel.NOT_IN_NAV)
    return files


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    return rewritten(markdown, in_repository(page.file.src_uri))


def in_site(path: str) -> str:
    """Where a file of the repository stands among the site's sources."""
    if path.startswith(DOCS):
        return path.removeprefix(DOCS)
    return AT_THE_TOP.get(path) or f"{OTHERS}{path}"


def in_repository(uri: str) -> str:
    at_the_top = {site: path for path, site in AT_THE_TOP.items()}
    return at_the_top.get(uri) or (uri.removeprefix(OTHERS) if uri.startswith(OTHERS) else f"{DOCS}{uri}")


def linked(pages: Iterable[str]) -> set[str]:
    """Files outside docs/ to which pages link, and to which those link that are pages themselves."""
    found: set[str] = set()
    todo = list(pages)
    while todo:
        for path in _targets(todo.pop()):
            there = path in found or path in AT_THE_TOP or path.startswith(DOCS)
            if there or path.startswith("..") or not (ROOT / path).is_file():
                continue  # mkdocs reports a link that leads nowhere, or out of the repository
            found.add(path)
            todo += [path] if path.endswith(".md") else []
    return found


def rewritten(markdown: str, page: str) -> str:
    """The same with every relative link as it has to be in the site; `page` is a path in the repository."""

    def link(match: re.Match[str]) -> str:
        path = _target(match, page)
        if (ROOT / path).is_dir():
            return match["text"]
        uri = posixpath.relpath(in_site(path), posixpath.dirname(in_site(page)) or ".")
        return f"[{match['text']}]({uri}{match['anchor'] or ''})"

    parts = FENCED.split(markdown)
    return "".join(part if part.startswith("```") else LINK.sub(link, part) for part in parts)


def _targets(page: str) -> Iterator[str]:
    for part in FENCED.split((ROOT / page).read_text(encoding="utf-8")):
        if not part.startswith("```"):
            yield from (_target(match, page) for match in LINK.finditer(part))


def _target(match: re.Match[str], page: str) -> str:
    """The path in the repository to which a link on a page leads."""
    path = posixpath.normpath(posixpath.join(posixpath.dirname(page), match["target"]))
    readme = posixpath.join(path, "README.md")
    return readme if (ROOT / readme).is_file() else path
