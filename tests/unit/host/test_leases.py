from __future__ import annotations

import itertools

from toy import toy_task

from distrl.host.leases import MAX_ATTEMPTS, Leases


class Clock:
    now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


def leases(clock: Clock) -> Leases:
    numbers = itertools.count()
    return Leases(lambda: toy_task(next(numbers)), "0", duration_s=10.0, now=clock)


def test_a_task_given_back_is_the_next_one_handed_out() -> None:
    book = leases(Clock())
    first, second = book.issue("a"), book.issue("b")
    assert book.give_back([first.id]) == 1
    assert book.issue("b").task == first.task
    assert book.issue("b").task not in (first.task, second.task)


def test_giving_back_twice_is_no_error_and_no_second_task() -> None:
    book = leases(Clock())
    lease = book.issue("a")
    assert book.give_back([lease.id, lease.id]) == 1
    assert book.give_back([lease.id]) == 0


def test_a_lease_that_is_not_settled_in_time_is_given_back() -> None:
    clock = Clock()
    book = leases(clock)
    late, settled = book.issue("a"), book.issue("a")
    book.settle(settled.id, "a")
    clock.now_s = 10.0
    assert book.expire() == 1
    assert book.in_flight == 0
    assert book.issue("b").task == late.task


def test_all_tasks_of_a_lost_worker_are_given_back_and_no_others() -> None:
    book = leases(Clock())
    book.issue("a"), book.issue("b"), book.issue("a")
    assert book.give_back_all_of("a") == 2
    assert book.in_flight == 1


def test_a_task_whose_episode_was_invalid_is_played_again_but_not_for_ever() -> None:
    book = leases(Clock())
    lease = book.issue("a")
    task = lease.task
    played = 1
    while True:
        book.settle(lease.id, "a", again=True)
        lease = book.issue("a")
        if lease.task != task:
            break
        played += 1
    assert played == MAX_ATTEMPTS


def test_a_late_trajectory_of_an_expired_lease_is_no_error() -> None:
    clock = Clock()
    book = leases(clock)
    lease = book.issue("a")
    clock.now_s = 11.0
    book.expire()
    book.settle(lease.id, "a")
    assert book.in_flight == 0
