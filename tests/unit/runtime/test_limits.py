from __future__ import annotations

import os
import pickle
import signal

import pytest

from distrl.config import RunConfig
from distrl.errors import DeviceLost, StaleVersion
from distrl.runtime.interrupt import Interrupt
from distrl.runtime.limits import TrainingLimits


class Clock:
    now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


def test_time_counts_only_while_training_and_goes_on_after_a_resume() -> None:
    clock = Clock()
    limits = TrainingLimits(RunConfig(minutes=1.0), clock, trained_s=30.0)
    clock.now_s = 100.0  # an evaluation
    assert limits.trained_s == 30.0
    limits.start()
    clock.now_s = 125.0
    assert not limits.reached({})
    clock.now_s = 130.0
    assert limits.reached({})
    limits.stop()
    clock.now_s = 500.0
    assert limits.trained_s == 60.0


@pytest.mark.parametrize(("limit", "stat"), [("learner_steps", "learner_steps"), ("trajectories", "trajectories")])
def test_counts_end_training(limit: str, stat: str) -> None:
    limits = TrainingLimits(RunConfig.model_validate({limit: 5}), Clock())
    assert not limits.reached({stat: 4})
    assert limits.reached({stat: 5})


def test_no_limit_never_ends() -> None:
    assert not TrainingLimits(RunConfig(), Clock()).reached({"learner_steps": 10**9, "trajectories": 10**9})


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_first_signal_is_a_wish_and_the_second_an_order(number: signal.Signals) -> None:
    before = signal.getsignal(number)
    with Interrupt() as interrupt:
        os.kill(os.getpid(), number)
        assert interrupt.requested
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), number)
    assert signal.getsignal(number) is before


@pytest.mark.parametrize("error", [StaleVersion(1, 2), DeviceLost("sim://phone", "reset", 3.0)])
def test_an_error_keeps_its_kind_and_message_from_process_to_process(error: Exception) -> None:
    copy = pickle.loads(pickle.dumps(error))  # as Ray does it
    assert type(copy) is type(error)
    assert str(copy) == str(error)
