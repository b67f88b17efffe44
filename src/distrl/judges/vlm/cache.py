"""Cache of verdicts, by the hash of the request: the same request is sent once."""

from __future__ import annotations

import contextlib
import json
import os
import uuid
from pathlib import Path

from cachetools import LRUCache

from distrl.background import in_background
from distrl.errors import BadVerdict
from distrl.judges.vlm.reply import Verdict, parse_verdict

REMEMBERED = 10_000


class VerdictCache:
    """In memory, and in a folder if there is one: `ab/<sha256>.json`. A file that is missing,
    damaged or cannot be written is a cache miss."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        self._known: LRUCache[str, Verdict] = LRUCache(REMEMBERED)

    async def get(self, digest: str) -> Verdict | None:
        if digest in self._known:
            return self._known[digest]
        verdict = await in_background(lambda: self._read(digest)) if self._folder else None
        if verdict is not None:
            self._known[digest] = verdict
        return verdict

    async def put(self, digest: str, verdict: Verdict) -> None:
        self._known[digest] = verdict
        if self._folder is not None:
            await in_background(lambda: self._write(digest, verdict))

    def _path(self, digest: str) -> Path:
        assert self._folder is not None
        return self._folder / digest[:2] / f"{digest}.json"

    def _read(self, digest: str) -> Verdict | None:
        try:
            return parse_verdict(self._path(digest).read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError, BadVerdict):
            return None

    def _write(self, digest: str, verdict: Verdict) -> None:
        path = self._path(digest)
        partial = path.with_name(f".{digest}.{uuid.uuid4().hex}.partial")
        text = json.dumps({"success": verdict.success, "reason": verdict.reason})
        with contextlib.suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            try:
                partial.write_text(text, encoding="utf-8")
                os.replace(partial, path)  # atomic: several workers may share the folder
            finally:
                partial.unlink(missing_ok=True)
