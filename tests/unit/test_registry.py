"""Names, and what they stand for."""

from __future__ import annotations

import pytest

from distrl.errors import UnknownName
from distrl.registry import ALGORITHMS, DEVICES, JUDGES, SUITES, Registry, locate


@pytest.mark.parametrize("registry", [ALGORITHMS, DEVICES, JUDGES, SUITES], ids=lambda registry: registry.kind)
def test_everything_that_is_registered_is_there(registry):
    assert registry.names()
    for name in registry.names():
        assert registry.load(name) is not None


@pytest.mark.parametrize("registry", [ALGORITHMS, DEVICES], ids=lambda registry: registry.kind)
def test_settings_and_options_name_the_class_that_they_are_for(registry):
    for name in registry.names():
        assert isinstance(locate(registry.load(name).implementation), type)


def test_nothing_is_imported_before_it_is_asked_for():
    registry = Registry("colour", {"red": "no.such.module:Red", "dict": "collections:OrderedDict"})
    assert registry.names() == ("red", "dict")
    assert registry.load("dict").__name__ == "OrderedDict"
    with pytest.raises(ModuleNotFoundError):
        registry.load("red")


def test_an_unknown_name_is_refused_with_the_nearest():
    with pytest.raises(UnknownName, match=r"no colour 'redd'. Did you mean 'red'\? Known: green, red"):
        Registry("colour", {"red": "a:B", "green": "a:C"}).load("redd")
