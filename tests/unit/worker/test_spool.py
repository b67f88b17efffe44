import errno
import os
import uuid

import pytest

from distrl.errors import CorruptData, StorageFull
from distrl.worker.spool import Spool

IDS = [str(uuid.UUID(int=number)) for number in (9, 3, 7)]


def test_payloads_wait_oldest_first_also_for_the_next_owner(tmp_path):
    spool = Spool(tmp_path / "spool")
    for id_ in IDS:
        spool.put(id_, id_.encode())
    reopened = Spool(tmp_path / "spool")
    assert spool.pending() == reopened.pending() == IDS
    assert reopened.read(IDS[1]) == IDS[1].encode()
    assert reopened.size_bytes == spool.size_bytes == 3 * 36


def test_order_holds_over_a_restart(tmp_path):
    Spool(tmp_path).put(IDS[0], b"a")
    Spool(tmp_path).put(IDS[1], b"b")
    assert Spool(tmp_path).pending() == IDS[:2]


def test_putting_twice_keeps_the_first(tmp_path):
    spool = Spool(tmp_path)
    spool.put(IDS[0], b"first")
    spool.put(IDS[0], b"second")
    assert spool.pending() == [IDS[0]]
    assert spool.read(IDS[0]) == b"first"


def test_what_is_removed_is_gone_and_may_be_removed_again(tmp_path):
    spool = Spool(tmp_path)
    spool.put(IDS[0], b"payload")
    spool.remove(IDS[0])
    spool.remove(IDS[0])
    assert spool.pending() == Spool(tmp_path).pending() == []
    assert spool.size_bytes == 0
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(KeyError):
        spool.read(IDS[0])


def test_a_put_killed_before_the_rename_leaves_nothing(tmp_path, monkeypatch):
    """`kill -9` runs no clean-up: the partial file stays, and the next owner deletes it."""
    spool = Spool(tmp_path)
    spool.put(IDS[0], b"whole")
    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            spool.put(IDS[1], b"half")
    assert len(list(tmp_path.iterdir())) == 2
    reopened = Spool(tmp_path)
    assert reopened.pending() == [IDS[0]]
    assert len(list(tmp_path.iterdir())) == 1


def test_a_put_killed_after_the_rename_is_there_whole(tmp_path, monkeypatch):
    spool = Spool(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr("distrl.worker.spool.sync_folder", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            spool.put(IDS[0], b"whole")
    assert Spool(tmp_path).read(IDS[0]) == b"whole"


def test_files_of_others_are_left_alone(tmp_path):
    (tmp_path / "readme.txt").write_text("hello")
    assert Spool(tmp_path).pending() == []
    assert (tmp_path / "readme.txt").exists()


def test_an_id_that_is_no_uuid_is_refused(tmp_path):
    with pytest.raises(CorruptData):
        Spool(tmp_path / "spool").put("../../escape", b"payload")


def test_a_full_disk_is_named_and_the_spool_goes_on_when_there_is_room(tmp_path, monkeypatch):
    spool = Spool(tmp_path)
    spool.put(IDS[0], b"kept")

    def no_room(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", no_room)
        with pytest.raises(StorageFull):
            spool.put(IDS[1], b"too much")
    assert spool.pending() == Spool(tmp_path).pending() == [IDS[0]]
    spool.put(IDS[1], b"now it fits")
    assert spool.read(IDS[1]) == b"now it fits"
