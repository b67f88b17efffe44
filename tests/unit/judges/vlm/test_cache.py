from __future__ import annotations

import asyncio
import json

import pytest

from distrl.judges.vlm import cache as module
from distrl.judges.vlm.cache import VerdictCache
from distrl.judges.vlm.reply import Verdict

NAME, OTHER = "ab" + "0" * 62, "cd" + "1" * 62
YES = Verdict(True, "It says “on”.")


def put(cache, name=NAME, verdict=YES):
    asyncio.run(cache.put(name, verdict))


def get(cache, name=NAME):
    return asyncio.run(cache.get(name))


def test_what_was_put_is_there_and_nothing_else_is(tmp_path):
    for folder in (None, tmp_path):
        cache = VerdictCache(folder)
        assert get(cache) is None
        put(cache)
        assert get(cache) == YES
        assert get(cache, OTHER) is None


def test_a_folder_outlives_the_process_and_holds_json(tmp_path):
    put(VerdictCache(tmp_path / "deep" / "cache"))
    assert get(VerdictCache(tmp_path / "deep" / "cache")) == YES
    (file,) = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert file.name == f"{NAME}.json"
    assert json.loads(file.read_text()) == {"success": True, "reason": "It says “on”."}


@pytest.mark.parametrize("damage", [b"", b'{"success": true', b"\xff\xfe", b'{"success": "true", "reason": ""}', b"[]"])
def test_a_damaged_file_only_means_that_the_model_is_asked(tmp_path, damage):
    put(VerdictCache(tmp_path))
    (tmp_path / "ab" / f"{NAME}.json").write_bytes(damage)
    cache = VerdictCache(tmp_path)
    assert get(cache) is None
    put(cache)
    assert get(VerdictCache(tmp_path)) == YES


def test_a_folder_that_cannot_be_written_does_no_harm(tmp_path):
    (tmp_path / "file").write_text("in the way")
    cache = VerdictCache(tmp_path / "file")
    put(cache)
    assert get(cache) == YES


def test_memory_is_bounded(monkeypatch):
    monkeypatch.setattr(module, "REMEMBERED", 2)
    cache = VerdictCache()
    for name in (NAME, OTHER):
        put(cache, name)
    get(cache, NAME)
    put(cache, "ef")
    assert [get(cache, name) for name in (NAME, OTHER, "ef")] == [YES, None, YES]
