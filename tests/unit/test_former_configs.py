"""Configs from before each algorithm and judge had settings of its own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from former_config import FORMER

from distrl.config import Config, load_config
from distrl.config.former import MOVED, is_former, translated
from distrl.errors import ConfigError
from distrl.loading import choices, leaves

RECORDS = sorted((Path(__file__).parents[2] / "results" / "records").glob("*/*.json"))


@pytest.fixture
def run(tmp_path: Path):
    def make(**algorithm) -> Path:
        tree = {**FORMER, "algorithm": {**FORMER["algorithm"], **algorithm}}
        (tmp_path / "config.yaml").write_text(yaml.safe_dump(tree), encoding="utf-8")
        return tmp_path

    return make


def test_the_config_of_an_old_run_reads_as_it_was_meant(run):
    config = load_config(run(), ["run.seed=4"])
    assert (config.run.name, config.run.seed, config.replay.capacity) == ("old", 4, 400)
    algorithm = config.algorithm.model_dump()
    assert (algorithm["ratio_clip"], algorithm["trace_decay"], algorithm["corrected"]) == (1.25, 0.9, "critics")
    assert [algorithm[f"priority_{key}_weight"] for key in ("td_error", "ratio", "entropy", "failure")] == [
        *(1.0, 0.25, 0.125, 0.5)
    ]
    assert config.judge.model_dump() == {"kind": "rules", "max_pending": 7, "give_up_s": 600.0}


def test_what_an_old_run_s_algorithm_did_not_read_is_left_out(run):
    digirl = load_config(run(name="digirl")).algorithm.model_dump()
    assert digirl == {
        "name": "digirl", "outcome_decay": 0.9, "instruction_filter": 0.5, "invalid_penalty": 0.2, "value_weight": 0.5,
        "trajectory_value_weight": 0.5,
    }  # fmt: skip
    assert load_config(run(name="filtered_bc")).algorithm.model_dump() == {"name": "filtered_bc"}


def test_what_no_algorithm_ever_had_is_refused_also_in_an_old_run(run):
    with pytest.raises(ConfigError, match="no setting 'algorithm.ratio_klip'"):
        load_config(run(ratio_klip=1))


@pytest.mark.parametrize(("former", "now"), MOVED.items())
def test_a_config_that_somebody_wrote_is_told_where_a_key_is_now(former, now, tmp_path):
    section, _, key = former.partition(".")
    (tmp_path / "mine.yaml").write_text(yaml.safe_dump({section: {key: 1}}))
    with pytest.raises(ConfigError, match=f"mine.yaml: The setting '{former}' is '{now}' now"):
        load_config(tmp_path / "mine.yaml")
    with pytest.raises(ConfigError, match=f"The setting '{former}' is '{now}' now"):
        load_config("quickstart", [f"{former}=1"])
    assert now in [path for path, _, _ in leaves(Config)]


def test_a_present_config_is_left_as_it_is():
    tree = Config().model_dump(mode="json")
    assert not is_former(tree)
    assert translated(tree) == tree


@pytest.mark.parametrize("path", RECORDS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_the_published_runs_compare_with_runs_of_today(path):
    """Every setting of their algorithm stands where it would today; those that are gone since are the only others."""
    config = translated(json.loads(path.read_text(encoding="utf-8"))["config"])
    known = choices(Config)["algorithm"].model(config["algorithm"]).model_fields
    assert set(config["algorithm"]) - set(known) <= {"ratio_floor"}
    assert not is_former(config)
