from __future__ import annotations

import tempfile
import threading
from pathlib import Path

import pytest

from distrl.devices.adb.file_lock import FileLock


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def files(folder: Path) -> list[str]:
    return [path.name for path in folder.rglob("*") if path.is_file()]


def test_a_lock_that_is_released_leaves_no_file(folder):
    lock = FileLock.acquire("127.0.0.1:5555")
    assert lock is not None
    assert FileLock.acquire("127.0.0.1:5555") is None
    assert files(folder) == ["127.0.0.1_5555"]
    lock.release()
    lock.release()
    assert files(folder) == []


def test_who_finds_a_file_that_was_removed_under_its_lock_takes_the_next(folder, monkeypatch):
    """Between another's opening and our locking of it, a file is removed: its lock would be worth nothing."""
    import fcntl

    first = FileLock.acquire("x")
    flock, removed = fcntl.flock, []

    def slow(file, how):
        if not removed:
            removed.append(True)
            first.release()
        flock(file, how)

    monkeypatch.setattr(fcntl, "flock", slow)
    second = FileLock.acquire("x")
    assert second is not None
    assert files(folder) == ["x"]
    assert FileLock.acquire("x") is None
    second.release()


def test_a_phone_never_has_two_owners_however_many_want_it(folder):
    owners, most, lock = [0], [0], threading.Lock()

    def strive():
        for _ in range(200):
            held = FileLock.acquire("x")
            if held is None:
                continue
            with lock:
                owners[0] += 1
                most[0] = max(most[0], owners[0])
            with lock:
                owners[0] -= 1
            held.release()

    threads = [threading.Thread(target=strive) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most[0] == 1
    assert files(folder) == []
