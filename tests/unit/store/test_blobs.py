import errno
import hashlib
import os

import pytest

from distrl.errors import CorruptData, StorageFull
from distrl.store.blobs import Blobs


def test_an_image_lies_under_its_hash(tmp_path):
    blobs = Blobs(tmp_path)
    digest = blobs.put(b"picture")
    assert digest == hashlib.sha256(b"picture").hexdigest()
    assert (tmp_path / digest[:2] / f"{digest}.jpg").read_bytes() == b"picture"
    assert blobs.has(digest)
    assert blobs.get(digest) == b"picture"


def test_the_same_image_is_stored_once(tmp_path):
    blobs = Blobs(tmp_path)
    blobs.put(b"picture")
    blobs.put(b"picture")
    assert len([path for path in tmp_path.rglob("*") if path.is_file()]) == 1


def test_a_damaged_or_missing_image_is_named(tmp_path):
    blobs = Blobs(tmp_path)
    digest = blobs.put(b"picture")
    blobs.path(digest).write_bytes(b"pictura")
    with pytest.raises(CorruptData, match="damaged"):
        blobs.get(digest)
    blobs.path(digest).unlink()
    with pytest.raises(CorruptData, match="missing"):
        blobs.get(digest)


@pytest.mark.parametrize("name", ["../../secret", "", "A" * 64, "a" * 63, "a" * 64 + "\n"])
def test_a_name_that_is_no_digest_leads_nowhere(tmp_path, name):
    with pytest.raises(CorruptData):
        Blobs(tmp_path).get(name)


def test_a_full_disk_is_named_and_leaves_nothing_behind(tmp_path, monkeypatch):
    def no_room(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", no_room)
    with pytest.raises(StorageFull):
        Blobs(tmp_path).put(b"picture")
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
