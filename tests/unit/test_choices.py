"""Sections whose keys depend on what they name: `algorithm` on `algorithm.name`, `judge` on `judge.kind`."""

from __future__ import annotations

from pathlib import Path

import pytest

from distrl.config import Config, load_config, to_yaml
from distrl.config.learning import ALGORITHM
from distrl.errors import ConfigError
from distrl.loading import choices, describe, hints
from distrl.registry import ALGORITHMS, JUDGES

STRANGERS = [
    (name, key, ALGORITHM.owners(key))
    for name in ALGORITHMS.names()
    for key in sorted({field for other in ALGORITHM.models().values() for field in other.model_fields})
    if key not in ALGORITHMS.load(name).model_fields
]


@pytest.fixture
def written(tmp_path: Path):
    def write(text: str) -> Path:
        path = tmp_path / "mine.yaml"
        path.write_text(text, encoding="utf-8")
        return path

    return write


@pytest.mark.parametrize(("name", "key", "owners"), STRANGERS)
def test_a_key_of_another_algorithm_is_refused_with_the_chosen_one_named(name, key, owners):
    with pytest.raises(ConfigError) as caught:
        load_config("serial", [f"algorithm.name={name}", f"algorithm.{key}=0.5"])
    message = str(caught.value)
    assert f"There is no setting 'algorithm.{key}' with algorithm.name={name}." in message
    assert f"It belongs to algorithm.name={' or '.join(owners)}." in message
    own = [field for field in ALGORITHMS.load(name).model_fields if field != "name"]
    assert f"{name} has {', '.join(own) or 'no settings of its own'}." in message


def test_a_key_of_another_algorithm_in_a_file_is_refused(written):
    with pytest.raises(ConfigError, match=r"mine\.yaml: .*'algorithm\.ratio_clip' with algorithm\.name=digirl\."):
        load_config(written("algorithm: {name: digirl, ratio_clip: 2}"))


def test_a_key_of_the_judge_that_asks_a_model_is_refused_for_rules():
    with pytest.raises(ConfigError, match=r"'judge\.url' with judge\.kind=rules\. It belongs to judge\.kind=vlm"):
        load_config("quickstart", ["judge.url=https://example.org/v1"])


def test_a_misspelt_key_of_the_chosen_one_has_a_nearest():
    with pytest.raises(ConfigError, match=r"Did you mean 'algorithm\.surrogate_clip'\? grpo has surrogate_clip, "):
        load_config("quickstart", ["algorithm.name=grpo", "algorithm.surogate_clip=0.1"])


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("algorithm.name=digril", "There is no algorithm 'digril'. Did you mean 'digirl'? Known: a_ride, digirl,"),
        ("judge.kind=rule", "There is no judge 'rule'. Did you mean 'rules'?"),
    ],
)
def test_an_unknown_name_lists_the_known_ones(override, message):
    with pytest.raises(ConfigError) as caught:
        load_config("quickstart", [override])
    assert message in str(caught.value)


def test_an_unknown_name_in_a_file_says_where_it_stands(written):
    with pytest.raises(ConfigError, match=r"mine\.yaml: algorithm\.name: There is no algorithm 'sac'\."):
        load_config(written("algorithm: {name: sac, alpha: 1}"))


@pytest.mark.parametrize("name", ALGORITHMS.names())
@pytest.mark.parametrize("kind", JUDGES.names())
def test_every_choice_reads_back_equal(name, kind, tmp_path):
    config = load_config("quickstart", [f"algorithm.name={name}", f"judge.kind={kind}"])
    (tmp_path / "config.yaml").write_text(to_yaml(config), encoding="utf-8")
    assert load_config(tmp_path) == config
    assert type(load_config(tmp_path).algorithm) is ALGORITHMS.load(name)
    assert Config.model_validate(config.model_dump(mode="json")) == config


def test_overrides_of_a_choice_work_in_any_order():
    overrides = [
        "judge.model=m",
        "judge.kind=chain",
        "judge.url=http://127.0.0.1:8000/v1",
        "algorithm.surrogate_clip=0.1",
    ]
    config = load_config("quickstart", [*overrides, "algorithm.name=grpo"])
    assert config == load_config("quickstart", ["algorithm.name=grpo", *reversed(overrides)])
    assert config.algorithm.model_dump()["surrogate_clip"] == 0.1
    assert config.judge.model_dump()["model"] == "m"


def test_another_algorithm_takes_the_keys_that_both_have_from_the_file_and_leaves_the_others(written):
    path = written("algorithm: {discount: 0.5, failure_weight: 0, ratio_clip: 3, corrected: critics}")
    impala = load_config(path, ["algorithm.name=impala"]).algorithm.model_dump()
    assert (impala["discount"], impala["failure_weight"], impala["vtrace_ratio_clip"]) == (0.5, 0.0, 1.0)
    assert load_config(path, ["algorithm.name=digirl"]).algorithm == ALGORITHMS.load("digirl")()


def test_the_last_of_several_choices_counts_and_naming_the_same_again_changes_nothing(written):
    path = written("algorithm: {name: grpo, surrogate_clip: 0.3}")
    assert load_config(path, ["algorithm.name=grpo"]) == load_config(path)
    assert load_config(path, ["algorithm.name=digirl", "algorithm.name=grpo"]) == load_config(path)


def test_what_neither_has_is_reported_also_when_another_is_chosen(written):
    with pytest.raises(ConfigError, match=r"no setting 'algorithm\.ratio_klip' with algorithm\.name=digirl"):
        load_config(written("algorithm: {ratio_klip: 3}"), ["algorithm.name=digirl"])


def test_a_key_of_the_same_name_has_the_same_type_and_default_in_all():
    """What an override takes over from a file is valid for the other one, and means the same."""
    for choice in choices(Config).values():
        found = {}
        for model in choice.models().values():
            for field, info in model.model_fields.items():
                meaning = (describe(hints(model)[field]), info.default)
                assert field == choice.key or found.setdefault(field, meaning) == meaning


def test_wrong_values_of_a_choice_are_explained_by_its_own_bounds():
    with pytest.raises(ConfigError, match=r"algorithm\.surrogate_clip is 2, but it must be a number above 0 below 1\."):
        load_config("quickstart", ["algorithm.name=grpo", "algorithm.surrogate_clip=2"])
    with pytest.raises(ConfigError, match=r"algorithm is a section, with name, discount, .*; 'grpo' was given"):
        load_config("quickstart", ["algorithm=grpo"])
