"""The replay bench itself, not its figures."""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np
import pytest

from distrl.bench import _contenders, replay
from distrl.bench._contenders import Ours
from distrl.errors import ConfigError

needs_scipy = pytest.mark.skipif(find_spec("scipy") is None, reason="scipy is missing: pip install 'distrl[bench]'")

SIZE = 300
PRIORITIES = np.random.default_rng(0).lognormal(0.0, 1.0, SIZE)


@needs_scipy
def test_every_size_and_contender_has_one_figure_per_repeat_and_a_checked_distribution():
    figures = replay.run(sizes=("40", "300"), repeats=2, rounds=2, draws=20)
    for size in ("40", "300"):
        assert set(figures[size]) | set(figures["missing"]) == {"distrl", *_contenders.OTHERS}
        for one in figures[size].values():
            assert all(len(one[name]) == 2 for name in ("insert_us", "sample_256_us", "update_256_us"))
            assert one["distribution"]["right"]
        assert len(figures["share_of_learner_step"][size]) == 2
    assert figures["bars"]["distributions_right"]


@pytest.mark.parametrize("name", ["distrl", *_contenders.OTHERS])
def test_the_same_items_are_at_the_same_places(name):
    makers, missing = _contenders.available()
    if name in missing:
        pytest.skip(missing[name])
    contender = makers[name](4, 1.0, 0)
    contender.fill(np.array([1.0, 1.0, 1e7, 1.0]))
    assert set(contender.places(contender.sample(64)).tolist()) == {2}
    contender.update(contender.sample(4), np.zeros(4))
    assert set(contender.places(contender.sample(64)).tolist()) == {0, 1, 3}


def test_a_library_that_does_not_work_here_is_listed_with_the_reason_and_the_others_are_measured(monkeypatch):
    class Broken(Ours):
        def sample(self, count):
            raise RuntimeError("undefined symbol")

    monkeypatch.setattr(_contenders, "OTHERS", {"numpy": Broken, "no-such-library": Ours})
    makers, missing = _contenders.available()
    assert list(makers) == ["distrl"]
    assert "does not work here (RuntimeError)" in missing["numpy"]
    assert "not installed" in missing["no-such-library"]


class Wrong(Ours):
    """Draws by another exponent than it says."""

    def __init__(self, capacity, alpha, seed):
        super().__init__(capacity, 0.7, seed)


@needs_scipy
def test_a_sampler_of_another_distribution_is_found_out():
    right, wrong = Ours(SIZE, replay.ALPHA, 0), Wrong(SIZE, replay.ALPHA, 0)
    for contender in (right, wrong):
        contender.fill(PRIORITIES)
    assert replay.check(right, PRIORITIES, draws=100)["right"]
    assert not replay.check(wrong, PRIORITIES, draws=100)["right"]


@needs_scipy
def test_the_chances_of_chi_square_are_those_of_the_tables():
    expected = np.full(11, 100.0)  # ten degrees of freedom: 5 % are above 18.307, half above 9.342
    for distance, chance in ((18.307, 0.05), (9.342, 0.5)):
        off = np.sqrt(distance * 100.0 / 2)
        counts = expected + np.array([off, -off, *[0.0] * 9])
        assert replay.chi_square(counts, expected) == pytest.approx((distance, chance), rel=1e-4)


def test_without_scipy_it_says_what_to_install_before_anything_is_measured(monkeypatch):
    monkeypatch.setattr(replay.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ConfigError, match=r"distrl\[bench\]"):
        replay.run()


def test_classes_hold_every_item_and_all_of_the_mass():
    mass = PRIORITIES / PRIORITIES.sum()
    kinds, expected = replay.classes(mass)
    assert expected.sum() == pytest.approx(1.0)
    assert kinds.max() + 1 == len(expected) <= replay.BINS
    assert (expected > 0).all()


def test_the_share_of_a_learner_step_counts_one_draw_and_one_update():
    assert replay.learner_share({"sample_256_us": [300.0], "update_256_us": [200.0]}, 0, 2.0) == pytest.approx(2.5e-4)
