"""The host: tasks out, trajectories in, batches and weights through.

A plain synchronous object with one caller at a time. Invariants:
- A trajectory is in the store before it is in replay, and in both before its receipt goes out. After a crash in
  between, the next start fills replay from the store.
- A trajectory's id is inserted once; a second delivery gets the receipt `duplicate` and changes nothing.
- A version is on disk before its weights can be fetched, so that versions increase over restarts too. The weights
  themselves are in memory only; after a restart the learner publishes them again.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from distrl.config import Config
from distrl.devices.base import Health
from distrl.errors import CorruptData, StorageFull
from distrl.host import admission
from distrl.host.counters import RunCounters
from distrl.host.curriculum import Curriculum
from distrl.host.features import FeatureCache
from distrl.host.leases import Leases
from distrl.host.weights import NewestWeights, Published
from distrl.replay.base import Sample
from distrl.replay.buffer import ReplayBuffer
from distrl.replay.pacing import Backlog, Pacing
from distrl.store.codec import decode
from distrl.store.files import write_whole
from distrl.store.run import RunStore
from distrl.types import Features, Lease, Receipt, Screen, Trajectory, Tree, VersionedWeights

if TYPE_CHECKING:
    from distrl.tasks.base import Suite

STARTED = "host_started"
JOINED = "worker_joined"
VERSION = "version"
TRAINED = "run/trained_s"
INDEX = "replay.json"
INDEX_EVERY_S = 10.0


@dataclass(frozen=True, slots=True)
class Draw:
    """What the learner is given for one step, in one answer."""

    sample: Sample | None
    """None while there is too little to learn from."""
    features: Features
    """What workers made of its screens, as far as it is here."""
    weights_missing: bool
    """The host started again and has no weights to give out: they should be published again."""


class Host:
    """Owns the run store and the replay buffer."""

    def __init__(
        self,
        config: Config,
        store: RunStore,
        replay: ReplayBuffer,
        suite: Suite,
        *,
        now: Callable[[], float],
        free_mb: Callable[[], float],
    ) -> None:
        self.config = config
        self.store = store
        self.replay = replay
        self.pacing = Pacing(config.pacing)
        self.backlog = Backlog(config.pacing.trajectories_per_version, config.replay.warmup)
        self.now = now
        self.free_mb = free_mb
        self.counters = RunCounters(store.counts(), _last_step(store), now)
        kinds = [event.kind for event in store.events()]
        self._joined = kinds.count(JOINED)
        part = kinds.count(STARTED)
        store.add_event(STARTED, f"number {part + 1}", now())
        self._features = FeatureCache(config.replay.feature_cache_mb)
        self._weights = NewestWeights(highest=_highest_version(store))
        self._listeners: dict[str, Callable[[int], None]] = {}
        self.curriculum = Curriculum(
            suite,
            config.tasks.split,
            config.tasks.curriculum,
            seed=config.run.seed,
            part=part,
            group_size=config.tasks.group_size,
        )
        self.leases = Leases(self.curriculum.draw, f"{part}", duration_s=config.tasks.lease_s, now=now)
        self._seen_at: dict[str, float] = {}
        self._quarantined: dict[tuple[str, int], bool] = {}
        self._held_for_disk = False
        self._index_due_at = now()

    # -- workers

    def join(self, worker: str) -> int:
        """A worker starts or restarts: its leases are given back. Returns a number never used before."""
        self._joined += 1
        self.leases.give_back_all_of(worker)
        self._forget_devices(worker)
        self._seen_at[worker] = self.now()
        # Not `_note`, which may drop it: a number that is not on disk could be used again after a crash.
        self.store.add_event(JOINED, f"{worker}: number {self._joined}", self.now())
        return self._joined

    def lease(self, worker: str, count: int) -> list[Lease]:
        """Tasks to play now; fewer than asked for, or none, while collection is too far ahead or the disk is full."""
        self._seen_at[worker] = self.now()
        self._forget_the_silent()
        leases: list[Lease] = []
        while len(leases) < count and self._may_start():
            leases.append(self.leases.issue(worker))
        return leases

    def give_back(self, lease_ids: Iterable[str]) -> None:
        self.leases.give_back(lease_ids)

    def lose_worker(self, worker: str) -> None:
        """This worker is gone; its tasks are leased to others."""
        self._seen_at.pop(worker, None)
        self._listeners.pop(worker, None)
        self._forget_devices(worker)
        given_back = self.leases.give_back_all_of(worker)
        self.report(worker, "worker_lost", f"{given_back} tasks given back")

    def deliver(self, payload: bytes) -> Receipt:
        return self.deliver_all([payload])[0]

    def deliver_all(self, payloads: Sequence[bytes]) -> list[Receipt]:
        """A receipt for each, with one database transaction. Refused: bytes that are no trajectory, a trajectory whose
        screens are missing, one that cannot be learned from. If the task of a refused one can be read, it is leased
        again at once."""
        read = [self._read(payload) for payload in payloads]
        whole = [each for each in read if isinstance(each, Trajectory)]
        try:
            added = iter(self.store.add_all(whole, self.version) if whole else [])
        except StorageFull:
            return [Receipt("later") if isinstance(each, Trajectory) else each for each in read]
        return [self._insert(each, next(added)) if isinstance(each, Trajectory) else each for each in read]

    def share(self, features: Features) -> None:
        self._features.put(features)

    def report(self, worker: str, kind: str, detail: str) -> None:
        self._note(kind, f"{worker}: {detail}")

    def health(self, worker: str, health: Health) -> None:
        """Store a device's health; only the newest is kept."""
        self._quarantined[worker, health.slot] = health.condition == "quarantined"
        with contextlib.suppress(StorageFull):  # a newer health report will follow
            self.store.keep_health(worker, health, self.now())

    @property
    def quarantined(self) -> int:
        """Devices in quarantine, of all workers."""
        return sum(self._quarantined.values())

    # -- the learner

    def sample(self, count: int) -> Sample | None:
        """A batch for one learner step, or None while there is too little to learn from."""
        if not self._may_learn(count):
            return None
        sample = self.replay.sample(count)
        self.counters.sampled(len(sample.trajectories), [self._lag(t) for t in sample.trajectories])
        return sample

    def draw(self, count: int) -> Draw:
        """`sample` together with what else the learner needs for its step: one call instead of three."""
        sample = self.sample(count)
        trajectories = sample.trajectories if sample else ()
        features = self.features([step.screen.digest for each in trajectories for step in each.steps])
        return Draw(sample, features, self.weights_missing)

    def first(self, count: int) -> list[Trajectory]:
        """The trajectories inserted first, screens as references."""
        return list(self.store.trajectories(ids=self.store.ids()[:count]))

    def update_priorities(self, ids: Sequence[str], priorities: Sequence[float]) -> None:
        self.replay.update(ids, priorities)
        if self.now() >= self._index_due_at:
            self._index_due_at = self.now() + INDEX_EVERY_S
            self._keep_index()

    def features(self, digests: Sequence[str]) -> Features:
        return self._features.take(digests)

    def screens(self, digests: Sequence[str]) -> list[Screen]:
        return [self.store.screen(digest) for digest in digests]

    def record(self, step: int, metrics: Mapping[str, float]) -> None:
        """Store the metrics of a learner step together with the host's own."""
        self.counters.learned(step)
        ours = {**self.counters.curves(), **self.replay.describe(), "host/backlog": self.queue}
        self.store.add_metrics(step, {**metrics, **ours}, self.now())

    def replay_state(self) -> Tree:
        return self.replay.state()

    # -- weights

    @property
    def version(self) -> int:
        return self._weights.highest

    @property
    def weights_missing(self) -> bool:
        return self._weights.missing

    def publish(self, weights: VersionedWeights) -> None:
        """Keep a copy of the learner's weights, and give it out."""
        self.announce(replace(weights, arrays={name: array.copy() for name, array in weights.arrays.items()}))

    def announce(self, weights: Published) -> None:
        """Give out weights that stay as they are. Raises `StaleVersion` for a version that is not the highest."""
        self._weights.check(weights.version)
        if weights.version > self.version:
            self.store.add_metrics(self.counters.learner_steps, {VERSION: weights.version}, self.now())
            self.backlog.learned()
        self._weights.put(weights)
        for notify in self._listeners.values():
            notify(weights.version)

    def subscribe(self, name: str, notify: Callable[[int], None]) -> None:
        """Call this with every version from now on, until the worker of this name is lost. It must not block."""
        self._listeners[name] = notify

    def latest(self, newer_than: int, worker: str = "") -> Published | None:
        """The newest weights if they are newer. The call also serves as the worker's heartbeat."""
        if worker in self._seen_at:
            self._seen_at[worker] = self.now()
        return self._weights.latest(newer_than)

    # -- the run

    @property
    def queue(self) -> float:
        """Trajectories inserted and not yet used up by a version."""
        return max(0.0, self.backlog.waiting)

    def restore(self, replay_state: Tree | None) -> None:
        """Fill replay after a restart: from the host's own index or the checkpoint's, then what was inserted since."""
        replay_state = self._kept_index() or replay_state
        newest = list(self.store.trajectories(newest=self.config.replay.capacity))
        for trajectory in newest if replay_state is None else ():
            self.replay.insert(trajectory)
        if replay_state is not None:
            self.replay.restore(replay_state, newest)
        self.backlog = Backlog(self.config.pacing.trajectories_per_version, self._missing_for_warmup)

    def mark(self, trained_s: float) -> None:
        """Store the training time so far, for a later resume."""
        self.store.add_metrics(self.counters.learner_steps, {TRAINED: trained_s}, self.now())

    @property
    def trained_s(self) -> float:
        marks = self.store.metrics(TRAINED).value
        return float(marks[-1]) if len(marks) else 0.0

    def keep_evaluation(self, name: str, step: int, trajectories: Sequence[Trajectory]) -> None:
        self.store.add_evaluation(name, step, trajectories, self.now())

    def evaluated(self) -> list[str]:
        """Names of the evaluations in the store."""
        return [entry.name for entry in self.store.evaluations()]

    def close(self) -> None:
        self.store.close()

    def stats(self) -> dict[str, float]:
        self._forget_the_silent()
        return {
            **self.counters.stats(),
            "queue": self.queue,
            "in_flight": self.leases.in_flight,
            "version": self.version,
            "replay": len(self.replay),
            "workers": len(self._seen_at),
            "disk_full": float(self._held_for_disk),
            "quarantined": self.quarantined,
        }

    # -- inside

    def _read(self, payload: bytes) -> Trajectory | Receipt:
        """The trajectory with its images on disk, or the receipt of one that cannot be stored."""
        trajectory = None
        try:
            trajectory = decode(payload)
            if trajectory.outcome.kind != "invalid":
                admission.check(trajectory)
            self.store.keep_images(trajectory)
            return trajectory
        except CorruptData as error:
            if trajectory is not None:
                self.leases.settle(trajectory.lease_id, trajectory.worker, again=True)
            self._note("delivery_refused", str(error))
            return Receipt("refused")
        except StorageFull:
            return Receipt("later")

    def _insert(self, trajectory: Trajectory, new: bool) -> Receipt:
        """Put a stored trajectory into replay and settle its lease."""
        if not new:
            self.counters.duplicates += 1
            return Receipt("duplicate")
        valid = trajectory.outcome.kind != "invalid"
        self.leases.settle(trajectory.lease_id, trajectory.worker, again=not valid)
        if not valid:
            self.counters.invalid += 1
            return Receipt("invalid")
        self.replay.insert(trajectory)
        self.backlog.inserted()
        self.curriculum.learn_of(trajectory)
        self.counters.inserted(trajectory.reward, self._lag(trajectory))
        return Receipt("inserted")

    def _lag(self, trajectory: Trajectory) -> int:
        return self.version - trajectory.policy_version

    def _may_start(self) -> bool:
        return not self._short_of_disk() and self.pacing.may_start(self.leases.in_flight, self.backlog.waiting)

    def _may_learn(self, count: int) -> bool:
        return (
            not self._missing_for_warmup
            and self.pacing.may_learn(self.leases.in_flight, self.backlog.waiting)
            and not self.counters.overused(self.config.pacing.max_reuse, count)
        )

    @property
    def _missing_for_warmup(self) -> int:
        return max(0, self.config.replay.warmup - len(self.replay))

    def _forget_devices(self, worker: str) -> None:
        """A worker that restarts reports the health of its devices anew."""
        self._quarantined = {key: value for key, value in self._quarantined.items() if key[0] != worker}

    def _short_of_disk(self) -> bool:
        short = self.free_mb() < self.config.run.minimum_free_mb
        if short and not self._held_for_disk:
            self._note("disk_full", f"less than {self.config.run.minimum_free_mb} MB are free; workers are held")
        if not short and self._held_for_disk:
            self._note("disk_freed", "workers go on")
        self._held_for_disk = short
        return short

    def _keep_index(self) -> None:
        """Save ids and priorities of replay: after a crash of the host they are seconds old at most."""
        with contextlib.suppress(StorageFull):  # the checkpoints have an older one
            write_whole(self.store.folder / INDEX, json.dumps(self.replay.state()).encode())

    def _kept_index(self) -> Tree | None:
        try:
            index: Tree = json.loads((self.store.folder / INDEX).read_bytes())
        except (OSError, ValueError):
            return None
        return index

    def _note(self, kind: str, detail: str) -> None:
        try:
            self.store.add_event(kind, detail, self.now())
        except StorageFull:
            return  # no disk space for the event either; workers are held anyway

    def _forget_the_silent(self) -> None:
        self.leases.expire()
        deadline = self.now() - self.config.runtime.wait_s
        for worker in [name for name, seen_at in self._seen_at.items() if seen_at < deadline]:
            self.lose_worker(worker)


def _last_step(store: RunStore) -> int:
    steps = store.metrics(VERSION).step
    return int(steps[-1]) if len(steps) else 0


def _highest_version(store: RunStore) -> int:
    published = store.metrics(VERSION).value
    return int(published.max()) if len(published) else 0
