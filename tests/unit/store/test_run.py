import errno
import json
import math
import multiprocessing
import os
import sqlite3
from dataclasses import replace

import pytest

from distrl.devices.base import Health
from distrl.errors import CorruptData, RunBusy, RunExists, RunNotFound, StorageFull
from distrl.store import files
from distrl.store.run import Counts, RunStore
from distrl.types import Outcome, Screen, Trajectory


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "runs" / "first"


@pytest.fixture
def store(folder):
    folder.parent.mkdir(exist_ok=True)
    with RunStore.create(folder, {"run": {"name": "first"}}, {"seed": 3}) as store:
        yield store


def test_a_new_run_has_its_config_and_its_provenance(store, folder):
    assert store.config == {"run": {"name": "first"}}
    assert store.meta == {"seed": 3}
    assert (folder / "config.yaml").read_text() == "run:\n  name: first\n"
    assert json.loads((folder / "meta.json").read_text()) == {"seed": 3}


def test_a_run_is_never_created_over_another(store, folder, make):
    store.add_trajectory(make(1), 5)
    with pytest.raises(RunExists, match="--resume"):
        RunStore.create(folder, {}, {})
    assert store.counts().trajectories == 1
    assert list(folder.parent.iterdir()) == [folder]


def test_what_is_no_run_is_not_found(tmp_path):
    for opened in (RunStore.open, RunStore.read):
        with pytest.raises(RunNotFound):
            opened(tmp_path / "nothing")


def test_one_process_writes_and_others_read(store, folder):
    with pytest.raises(RunBusy):
        RunStore.open(folder)
    with RunStore.read(folder) as reader:
        assert reader.counts().trajectories == 0
        with pytest.raises(sqlite3.OperationalError, match="readonly"):
            reader.add_event("x", "y", 0.0)
    store.close()
    RunStore.open(folder).close()


def test_a_trajectory_comes_back_with_screens_as_references(store, make):
    sent = make(1)
    assert store.add_trajectory(sent, 5)
    (read,) = store.trajectories()
    assert read.steps[0].screen == sent.steps[0].screen.reference()
    assert (read.task, read.outcome, read.id) == (sent.task, sent.outcome, sent.id)
    assert store.screen(read.steps[0].screen.digest) == sent.steps[0].screen
    assert store.screen(read.last_screen.digest).image == sent.last_screen.image


def test_inserting_twice_counts_once(store, make):
    assert store.add_trajectory(make(1), 5)
    assert not store.add_trajectory(make(1), 6)
    assert store.counts() == Counts(trajectories=1, successes=1, invalid=0, steps=3)


def test_invalid_trajectories_are_accounted_for_but_not_inserted(store, make):
    store.add_trajectory(make(1, kind="failure"), 5)
    assert store.declare_invalid(make(2, kind="invalid"))
    assert not store.declare_invalid(make(2, kind="invalid"))
    assert store.counts() == Counts(trajectories=1, successes=0, invalid=1, steps=3)
    assert store.has(make(2).id)
    assert store.ids() == [make(1).id]
    assert store.ids(outcome="invalid") == [make(2).id]
    with pytest.raises(ValueError, match="declare_invalid"):
        store.add_trajectory(make(3, kind="invalid"), 0)
    with pytest.raises(ValueError, match="add_trajectory"):
        store.declare_invalid(make(3))


def test_an_invalid_trajectory_may_have_no_step_at_all(store, make):
    assert store.declare_invalid(Trajectory(make(9).id, make(9).task, (), Outcome("invalid", "device lost")))
    assert store.counts().invalid == 1


def test_trajectories_come_in_the_order_of_insertion(store, make):
    for number in (5, 2, 9, 4):
        store.add_trajectory(make(number, kind="failure" if number == 9 else "success"), number)
    names = [make(number).id for number in (5, 2, 9, 4)]
    assert store.ids() == names
    assert store.ids(newest=2) == names[2:]
    assert store.ids(outcome="failure") == [names[2]]
    assert [t.id for t in store.trajectories(ids=[names[3], names[0]])] == [names[3], names[0]]
    with pytest.raises(KeyError):
        list(store.trajectories(ids=["nobody"]))


def test_columns_for_curves(store, make):
    store.add_trajectory(make(1, version=2), 5)
    store.declare_invalid(make(2, kind="invalid"))
    table = store.table("policy_version", "version_at_insert", "outcome")
    assert table["version_at_insert"].tolist() == [5]
    assert table["policy_version"].tolist() == [2]
    assert table["outcome"].tolist() == ["success"]
    with pytest.raises(KeyError):
        store.table("record")


def test_metrics_keep_their_order_and_what_is_not_a_number(store):
    store.add_metrics(1, {"loss": 2.0, "lag": 0.0}, at=10.0)
    store.add_metrics(2, {"loss": math.nan}, at=11.0)
    loss = store.metrics("loss")
    assert loss.step.tolist() == [1, 2]
    assert loss.at.tolist() == [10.0, 11.0]
    assert loss.value[0] == 2.0
    assert math.isnan(loss.value[1])
    assert store.metrics("unheard of").value.shape == (0,)
    assert store.metric_names() == ["lag", "loss"]


def test_metrics_are_beside_in_tensorboard_files(store, folder):
    store.add_metrics(1, {"loss": 2.0}, at=10.0)
    store.close()
    assert [path.name for path in (folder / "tb").iterdir() if path.stat().st_size > 0]


def test_events_are_kept(store):
    store.add_event("worker lost", "worker-1 \ud800 <b>", 3.0)
    (event,) = store.events()
    assert (event.kind, event.at) == ("worker lost", 3.0)


def test_evaluations_are_kept_apart_from_training(store, make):
    store.add_evaluation("before", 0, [make(1), make(2, kind="failure")], at=1.0)
    assert store.counts() == Counts(0, 0, 0, 0)
    assert store.ids() == []
    assert not store.has(make(1).id)
    (entry,) = store.evaluations()
    assert (entry.name, entry.step, entry.episodes) == ("before", 0, 2)
    played = list(store.evaluation_trajectories("before"))
    assert [t.id for t in played] == [make(1).id, make(2).id]
    assert store.screen(played[0].steps[1].screen.digest).image == make(1).steps[1].screen.image


def test_an_evaluation_of_the_same_name_is_replaced(store, make):
    store.add_evaluation("after", 4, [make(1), make(2)], at=1.0)
    store.add_evaluation("after", 9, [make(3)], at=2.0)
    assert [(entry.step, entry.episodes) for entry in store.evaluations()] == [(9, 1)]
    assert [t.id for t in store.evaluation_trajectories("after")] == [make(3).id]


def test_every_device_of_every_worker_has_a_row_of_its_own(store, make):
    played = [("w", "sim://phone#0"), ("w", "sim://phone#0"), ("w", "sim://phone#1"), ("v", "sim://phone#0")]
    for number, (worker, device) in enumerate(played):
        store.add_trajectory(replace(make(number), worker=worker, device=device), 0)
    store.declare_invalid(replace(make(9, kind="invalid"), worker="w", device="sim://phone#1"))
    rows = store._database.rows("SELECT worker, address, episodes, invalid, last_seen_at FROM devices ORDER BY 1, 2")
    assert rows == [
        ("v", "sim://phone#0", 1, 0, 107.0),
        ("w", "sim://phone#0", 2, 0, 105.0),
        ("w", "sim://phone#1", 2, 1, 113.0),
    ]


def test_any_text_can_be_stored(store, make):
    strange = "quotes \"' emoji 🙂 newline \n nul \x00 lone \ud800"
    sent = Trajectory(make(1).id, make(1).task, (), Outcome("failure", strange), device=strange, worker=strange)
    store.add_trajectory(sent, 0)
    assert next(store.trajectories()) == sent


def test_an_id_is_only_ever_a_value(store, make):
    sent = Trajectory("../../etc/passwd'; DROP TABLE steps", make(1).task, (), Outcome("failure"))
    store.add_trajectory(sent, 0)
    assert store.ids() == [sent.id]


def test_a_screen_without_its_image_is_refused_unless_we_have_it(store, make):
    bare = Trajectory("t", make(1).task, (), Outcome("failure"), make(1).last_screen.reference())
    with pytest.raises(CorruptData, match="without its image"):
        store.add_trajectory(bare, 0)
    store.add_trajectory(make(1), 0)
    assert store.add_trajectory(bare, 0)


def test_a_screen_that_no_trajectory_shows_is_refused(store):
    with pytest.raises(CorruptData):
        store.screen(Screen(b"never seen", 1, 1).digest)


def test_a_full_disk_below_the_database_loses_nothing_and_the_run_goes_on(store, make):
    store.add_trajectory(make(1), 0)
    (pages,) = store._database.connection.execute("PRAGMA page_count").fetchone()
    store._database.connection.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(StorageFull, match="free space"):
        store.add_trajectory(make(2, steps=400), 0)
    assert store.ids() == [make(1).id]
    store._database.connection.execute("PRAGMA max_page_count = 1000000")
    assert store.add_trajectory(make(2, steps=400), 0)
    assert store.counts().steps == 403


def test_a_full_disk_below_the_blobs_inserts_nothing(store, make, monkeypatch):
    def no_room(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", no_room)
        with pytest.raises(StorageFull):
            store.add_trajectory(make(1), 0)
    assert store.counts().trajectories == 0
    assert store.add_trajectory(make(1), 0)


def test_a_crash_between_blobs_and_transaction_is_mended_by_the_next_delivery(store, make, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr("distrl.store.run.insert_trajectory", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            store.add_trajectory(make(1), 0)
    assert store.counts() == Counts(0, 0, 0, 0)
    assert store.add_trajectory(make(1), 0)


def test_a_damaged_database_is_named(store, folder):
    store.close()
    (folder / "run.sqlite").write_bytes(b"not a database, not even nearly" * 100)
    with pytest.raises(CorruptData, match="damaged"):
        RunStore.read(folder)


def test_a_database_of_another_format_is_refused(store, folder):
    store._database.connection.execute("PRAGMA user_version = 99")
    store.close()
    with pytest.raises(CorruptData, match="version 99"):
        RunStore.read(folder)


def insert_and_die(folder, trajectories):
    store = RunStore.open(folder)
    for trajectory in trajectories:
        store.add_trajectory(trajectory, 0)
    os.kill(os.getpid(), 9)


def test_what_was_inserted_survives_the_death_of_the_writer(store, folder, make):
    store.close()
    dying = multiprocessing.get_context("fork").Process(target=insert_and_die, args=(folder, [make(1), make(2)]))
    dying.start()
    dying.join()
    assert dying.exitcode == -9
    with RunStore.open(folder) as reopened:  # the lock died with its owner
        assert reopened.ids() == [make(1).id, make(2).id]
        assert not reopened.add_trajectory(make(2), 0)


def test_a_reader_sees_only_whole_trajectories(store, folder, make):
    with RunStore.read(folder) as reader, store._database.transaction() as db:
        from distrl.store.records import insert_screens, insert_trajectory

        store.keep_images(make(1))
        insert_screens(db, make(1))
        insert_trajectory(db, make(1), 0)
        assert list(reader.trajectories()) == []
        db.execute("COMMIT")
        db.execute("BEGIN")
        assert [len(t.steps) for t in reader.trajectories()] == [3]


def test_ids_that_are_no_uuid_are_not_used_as_file_names():
    assert files.checked_id("0" * 8 + "-0000-4000-8000-" + "0" * 12)
    for name in ("../x", "", "a" * 35, "a" * 37, "g" * 36, "a" * 36 + "\n"):
        with pytest.raises(CorruptData):
            files.checked_id(name)


def test_the_newest_health_of_a_device_is_stored_beside_its_counts(store, folder, make):
    store.add_trajectory(make(1), 5)
    store.declare_invalid(make(2, kind="invalid"))
    for condition, at in (("recovering", 200.0), ("quarantined", 300.0)):
        told = Health(1, "sim://phone#1", condition, tried={"retry": 2}, recovery_s=(1.5,), facts={"serial": "x"})
        store.keep_health("worker-0", told, at)
    store.keep_health("worker-1", Health(0, "adb://y#0", reason="lone \ud800 half"), 400.0)
    with RunStore.read(folder) as reader:
        played, never_opened = reader.devices()
    assert (played.worker, played.device, played.episodes, played.invalid) == ("worker-0", "sim://phone#1", 2, 1)
    assert (played.health, played.last_seen_at) == (told, 300.0)
    assert (never_opened.device, never_opened.episodes, never_opened.last_seen_at) == ("adb://y#0", 0, 400.0)


def test_a_run_from_before_health_was_kept_reads_without_and_writes_with_it(store, folder, make):
    store.add_trajectory(make(1), 5)
    store.close()
    with sqlite3.connect(folder / "run.sqlite") as old:
        old.execute("DROP TABLE health")
    old.close()
    with RunStore.read(folder) as reader:
        assert [(entry.device, entry.health) for entry in reader.devices()] == [("sim://phone#1", None)]
    with RunStore.open(folder) as writer:
        writer.keep_health("worker-0", Health(1, "sim://phone#1"), 1.0)
        assert writer.devices()[0].health == Health(1, "sim://phone#1")


def test_health_that_cannot_be_read_is_corrupt(store):
    with store._database.transaction() as db:
        db.execute("INSERT INTO health VALUES ('w', 0, 0.0, '{\"slot\": 1}')")
    with pytest.raises(CorruptData, match="health"):
        store.devices()
