import errno
import math

import pytest
from tensorboardX.proto.event_pb2 import Event
from tensorboardX.record_writer import RecordWriter

from distrl.store.tensorboard import Tensorboard


def scalars(folder):
    """(step, name, value) of every scalar in the folder's event files."""
    found = []
    for path in sorted(folder.iterdir()):
        data = path.read_bytes()
        while data:
            length = int.from_bytes(data[:8], "little")
            event = Event.FromString(data[12 : 12 + length])
            found += [(event.step, value.tag, value.simple_value) for value in event.summary.value]
            data = data[16 + length :]
    return found


def test_metrics_are_in_the_event_file_at_once(tmp_path):
    board = Tensorboard(tmp_path / "tb")
    board.add(1, {"loss/policy": 0.5, "bad": math.nan}, at=10.0)
    assert scalars(tmp_path / "tb") == [(1, "loss/policy", 0.5)]


def test_a_restart_in_the_same_second_overwrites_nothing(tmp_path):
    for step in (1, 2):
        board = Tensorboard(tmp_path)
        board.add(step, {"loss": 0.5}, at=10.0)
        board.close()
    assert sorted(scalars(tmp_path)) == [(1, "loss", 0.5), (2, "loss", 0.5)]


def test_a_full_disk_stops_nothing(tmp_path, monkeypatch):
    def no_room(self, data):
        raise OSError(errno.ENOSPC, "No space left on device")

    board = Tensorboard(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(RecordWriter, "write", no_room)
        for step in range(50):
            board.add(step, {"loss": 0.5}, at=10.0)
    board.add(50, {"loss": 0.25}, at=11.0)
    assert (50, "loss", pytest.approx(0.25)) in scalars(tmp_path)
