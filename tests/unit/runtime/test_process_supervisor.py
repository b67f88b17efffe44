"""How the end of a job is told from the end of a process; Ray itself is played by a fake."""

from __future__ import annotations

from typing import Any

import local_ray
import pytest
from local_ray import local
from ray.exceptions import ActorDiedError

from distrl.errors import StorageFull, Unreachable
from distrl.runtime.ray.handle import Handle, RemoteCall
from distrl.runtime.ray.process_supervisor import ProcessSupervisor, Supervised

WAIT_S = 10.0


class Player:
    """Does in its jobs what the script says: dies, raises, or nothing. `down`: how often it is then not up yet."""

    def __init__(self, *script: Exception | str, down: int = 0) -> None:
        self.script = list(script)
        self.down = down
        self.played = 0

    def ready(self) -> int:
        if self.down:
            self.down -= 1
            raise ActorDiedError
        return 1

    def play(self) -> str:
        step = self.script.pop(0)
        if isinstance(step, Exception):
            raise step
        self.played += 1
        return step


class Watching:
    """Duties that note what they are asked, and let nobody go."""

    def __init__(self) -> None:
        self.heard: list[Any] = []
        self.keeps = True

    def job(self, process: Supervised) -> RemoteCall[Any] | None:
        return process.handle.start(Player.play) if process.handle.actor._target.script else None

    def finished(self, process: Supervised, result: Any) -> None:
        self.heard.append(result)

    def raised(self, process: Supervised, error: Exception) -> bool:
        self.heard.append(error)
        return self.keeps

    def died(self, process: Supervised, *, restarts: bool) -> bool:
        self.heard.append(("died", process.deaths, restarts))
        return restarts


@pytest.fixture(autouse=True)
def ray(monkeypatch: pytest.MonkeyPatch) -> local_ray.Ray:
    return local_ray.install(monkeypatch)


def tended(player: Player, rounds: int, duties: Watching | None = None) -> tuple[list[Any], ProcessSupervisor]:
    duties = duties or Watching()
    supervisor = ProcessSupervisor(duties, max_restarts=1, wait_s=WAIT_S)
    supervisor.watch(Supervised("player", local(player, "player"), up=True))
    for _ in range(rounds):
        supervisor.tend(0.0)
    return duties.heard, supervisor


def test_a_process_gets_jobs_as_long_as_there_are_any() -> None:
    heard, supervisor = tended(Player("one", "two"), 5)
    assert heard == ["one", "two"]
    assert supervisor.busy == []


def test_calls_that_fail_until_the_new_process_is_up_are_no_other_deaths() -> None:
    heard, _ = tended(Player(ActorDiedError(), "again", down=3), 3 + 6)
    assert heard[-1] == "again"
    assert [each for each in heard if each != "again"] == [("died", 1, True)]


def test_a_process_that_does_not_come_back_in_time_has_died_once_more_and_is_let_go() -> None:
    heard, supervisor = tended(Player(ActorDiedError(), down=10**6), 100)
    assert heard == [("died", 1, True), ("died", 2, False)]
    assert supervisor.processes == {}


def test_what_a_job_raised_is_told_as_it_was() -> None:
    full = StorageFull("no room")
    heard, _ = tended(Player(full, "again"), 5)
    assert [type(heard[0]), heard[1]] == [StorageFull, "again"]


def test_a_process_that_is_not_to_go_on_after_an_error_is_watched_no_longer() -> None:
    duties = Watching()
    duties.keeps = False
    heard, supervisor = tended(Player(ValueError("broken"), "never"), 5, duties)
    assert len(heard) == 1
    assert supervisor.processes == {}


def test_a_death_is_told_from_the_error_of_a_process_that_asked_a_dead_one() -> None:
    """The second is both for Ray: an error of this process, and the death of another one."""
    handle: Handle[Player] = local(Player(), "player")
    arriving = local(Player(down=1)).start(Player.ready).reference
    supervisor = ProcessSupervisor(duties := Watching(), max_restarts=1, wait_s=WAIT_S)
    process = Supervised(
        "player", handle, up=True, job=RemoteCall("player", "play", handle.actor._call("play", arriving))
    )
    supervisor.watch(process)
    supervisor.tend(0.0)
    assert isinstance(duties.heard[0], ActorDiedError)
    assert process.deaths == 0


def test_an_error_of_ray_s_becomes_ours_in_one_place() -> None:
    with pytest.raises(Unreachable, match="The player gave no answer to ready within 10 s .ActorDiedError"):
        local(Player(down=1), "player").ask(Player.ready)
    with pytest.raises(ValueError, match="broken"):
        local(Player(ValueError("broken")), "player").ask(Player.play)
    assert local(Player(down=3), "player").ask_patiently(Player.ready) == 1
