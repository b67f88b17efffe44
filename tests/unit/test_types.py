"""Weights under a seal: whatever happens to them on the way is noticed."""

import numpy as np
import pytest

from distrl.types import VersionedWeights

ARRAYS = {"a": np.arange(6, dtype=np.float32).reshape(2, 3), "b": np.ones(4)}


def flipped() -> dict[str, np.ndarray]:
    flipped = ARRAYS["b"].copy()
    flipped.view(np.uint8)[3] ^= 1
    return {**ARRAYS, "b": flipped}


DAMAGED = {
    "one bit": flipped(),
    "two numbers swapped": {**ARRAYS, "a": ARRAYS["a"][:, ::-1].copy()},
    "another shape": {**ARRAYS, "a": ARRAYS["a"].reshape(3, 2)},
    "another type": {**ARRAYS, "a": ARRAYS["a"].view(np.int32)},
    "another name": {"a": ARRAYS["a"], "c": ARRAYS["b"]},
    "one missing": {"a": ARRAYS["a"]},
    "two under each other's names": {"a": ARRAYS["b"], "b": ARRAYS["a"]},
}


def test_weights_that_arrive_as_they_were_sent_are_intact():
    sealed = VersionedWeights.seal(3, ARRAYS)
    assert sealed.intact
    arrived = {name: np.asfortranarray(ARRAYS[name]) for name in reversed(ARRAYS)}  # other order, other layout
    assert VersionedWeights(3, arrived, sealed.checksum).intact


@pytest.mark.parametrize("what", DAMAGED)
def test_damage_is_noticed(what):
    assert not VersionedWeights(3, DAMAGED[what], VersionedWeights.seal(3, ARRAYS).checksum).intact
