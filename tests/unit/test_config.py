"""Loading: what a user may write, and what they are told when it is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from distrl import config as public
from distrl import loading
from distrl.config import Config, RunConfig, known_configs, load_config, to_yaml, with_free_name
from distrl.errors import ConfigError

SHIPPED = Path(__file__).parents[2] / "src" / "distrl" / "configs"


@pytest.fixture
def written(tmp_path: Path):
    def write(text: str) -> Path:
        path = tmp_path / "mine.yaml"
        path.write_text(text, encoding="utf-8")
        return path

    return write


@pytest.mark.parametrize("name", [path.stem for path in SHIPPED.glob("*.yaml")])
def test_every_shipped_config_loads_from_any_folder(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert isinstance(load_config(name), Config)


def test_every_section_is_imported_from_the_package_itself():
    sections = {info.annotation.__name__: info.annotation for info in Config.model_fields.values()}
    assert {name: getattr(public, name, None) for name in sections} == sections
    assert set(sections) <= set(public.__all__)


def test_the_folder_at_the_root_of_a_clone_shows_the_shipped_configs():
    assert (Path(__file__).parents[2] / "configs" / "quickstart.yaml").samefile(SHIPPED / "quickstart.yaml")


def test_a_config_in_the_working_folder_comes_before_a_shipped_one(tmp_path, monkeypatch):
    (tmp_path / "configs").mkdir()
    (tmp_path / "configs" / "quickstart.yaml").write_text("run: {seed: 77}")
    monkeypatch.chdir(tmp_path)
    assert load_config("quickstart").run.seed == 77


def test_a_run_folder_stands_for_the_config_in_it(tmp_path):
    (tmp_path / "config.yaml").write_text("run: {seed: 5}")
    assert load_config(tmp_path).run.seed == 5


def test_what_is_written_as_yaml_reads_back_equal():
    config = load_config("quickstart", ["run.name=1e-4", "learner.weight_decay=1e-17", "run.minutes=null"])
    assert loading.build(Config, loading.with_lines(to_yaml(config), "test"), "test") == config


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1e-4", 1e-4), ("-2.5E+3", -2500.0), ("3", 3), ("2_000", 2000), (".5", 0.5), ("true", True), ("null", None),
        ("", None), ("on", "on"), ("2024-01-01", "2024-01-01"), ("1:30", "1:30"), ("010", "010"), ("'3'", "3"),
        ("sim://phone?latency=emulator", "sim://phone?latency=emulator"), ("@at", "@at"), ("a: b", "a: b"),
    ],
)  # fmt: skip
def test_an_override_reads_as_people_mean_it(text, value):
    assert loading.scalar(text) == value
    assert type(loading.scalar(text)) is type(value)


def test_overrides_win_over_the_file_and_the_last_one_over_the_others(written):
    path = written("learner: {learning_rate: 0.5, max_grad_norm: 2}")
    config = load_config(path, ["learner.learning_rate=1e-4", "learner.learning_rate=2e-4"])
    assert (config.learner.learning_rate, config.learner.max_grad_norm) == (2e-4, 2.0)


def test_a_value_may_hold_an_equals_sign():
    assert load_config("quickstart", ["devices.address=sim://phone?latency=none"]).devices.address.endswith("=none")


def test_an_unknown_key_in_a_file_names_the_nearest_one_with_its_dotted_path(written):
    with pytest.raises(ConfigError, match=r"mine\.yaml: .*'learner\.lerning_rate'.*mean 'learner\.learning_rate'"):
        load_config(written("learner: {lerning_rate: 1}"))


def test_an_unknown_override_names_the_nearest_one():
    with pytest.raises(ConfigError, match=r"'replay\.capasity'.*mean 'replay\.capacity'"):
        load_config("quickstart", ["replay.capasity=3"])


def test_a_key_without_its_section_is_found_in_its_section():
    with pytest.raises(ConfigError, match=r"'minutes'.*mean 'run\.minutes'"):
        load_config("quickstart", ["minutes=3"])


def test_a_key_in_the_wrong_section_is_found_in_the_right_one():
    with pytest.raises(ConfigError, match=r"mean 'learner\.learning_rate'"):
        load_config("quickstart", ["policy.learning_rate=3"])


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("workers.count=many", "workers.count is 'many', but it must be a whole number above 0."),
        ("workers.count=0", "workers.count is 0, but it must be a whole number above 0."),
        ("replay.priority_exponent=2", "replay.priority_exponent is 2, but it must be a number from 0 to 1."),
        ("policy.dtype=float8", "policy.dtype is 'float8', but it must be float32 or bfloat16."),
        ("policy.freeze_vision=perhaps", "policy.freeze_vision is 'perhaps', but it must be true or false."),
        ("run.minutes=soon", "run.minutes is 'soon', but it must be a number above 0, or null."),
        ("tasks.suite=[1]", "tasks.suite is [1], but it must be text."),
        ("learner=3", "learner is a section, with learning_rate,"),
    ],
)  # fmt: skip
def test_a_wrong_value_says_which_field_what_was_given_and_what_is_expected(override, message):
    with pytest.raises(ConfigError) as caught:
        load_config("quickstart", [override])
    assert message in str(caught.value)


def test_all_wrong_fields_are_named_at_once(written):
    with pytest.raises(ConfigError) as caught:
        load_config(written("run: {seed: -1}\nworkers: {count: 0}"))
    assert "run.seed is -1" in str(caught.value)
    assert "workers.count is 0" in str(caught.value)


def test_a_config_that_is_not_there_lists_the_known_ones():
    with pytest.raises(ConfigError, match=r"'quikstart'.*mean 'quickstart'.*Known: .*webshop"):
        load_config("quikstart")


@pytest.mark.parametrize(
    ("text", "message"),
    [("run: [", "not valid YAML"), ("- 1", "must hold sections"), ("run: {seed: 1}\nrun: {seed: 2}", "written twice")],
)
def test_a_file_that_is_no_config_says_so(text, message, written):
    with pytest.raises(ConfigError, match=message):
        load_config(written(text))


def test_an_override_without_an_equals_sign_is_explained():
    with pytest.raises(ConfigError, match="key=value"):
        load_config("quickstart", ["run.seed"])


def test_a_number_may_name_a_run():
    assert load_config("quickstart", ["run.name=7"]).run.name == "7"


def test_the_number_in_a_run_name_is_the_next_free_one(tmp_path):
    config = Config(run=RunConfig(folder=tmp_path, name="demo{n}"))
    names = []
    for _ in range(3):
        free = with_free_name(config)
        free.run_folder.mkdir()
        names.append(free.run.name)
    assert names == ["demo", "demo-2", "demo-3"]


def test_a_plain_run_name_stays_as_it_is(tmp_path):
    config = Config(run=RunConfig(folder=tmp_path, name="demo"))
    config.run_folder.mkdir()
    assert with_free_name(config) == config


def test_the_known_configs_are_those_that_ship(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert known_configs() == sorted(path.stem for path in SHIPPED.glob("*.yaml"))


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("judge.url=http://example.org/v1", "judge.url must begin with https://"),
        ("judge.url=http://127.0.0.1.example.org/v1", "judge.url must begin with https://"),
        ("judge.url=http://127.1/v1", "judge.url must begin with https://"),
        ("judge.url=http://0x7f000001/v1", "judge.url must begin with https://"),
        ("judge.url=https://me:sk-planted@example.org/v1", "judge.url must hold no user, password, query or fragment"),
        ("judge.url=http://127.0.0.1@example.org/v1", "judge.url must hold no user"),
        ("judge.url=https://example.org/v1?key=sk-planted", "judge.url must hold no user"),
        ("judge.url=https://example.org/v1#sk-planted", "judge.url must hold no user"),
        ("judge.url=file:///sk-planted", "judge.url must be a plain URL"),
        ("judge.url=sk-planted", "judge.url must be a plain URL"),
        ("judge.url=https://[sk-planted", "judge.url must be a plain URL"),
        ("judge.url='https://example.org/ sk-planted'", "judge.url must be a plain URL"),
        ("judge.url=https://example.org:99999/sk-planted", "judge.url must be a plain URL"),
        (r"judge.url=https://example.org\\@sk-planted", "judge.url must be a plain URL"),
        ("judge.key_env=sk-planted", "judge.key_env must be the name of an environment variable"),
        ("judge.key=sk-planted", "There is no setting 'judge.key'"),
    ],
)  # fmt: skip
def test_where_no_key_may_go_and_what_may_hold_one_is_refused_without_showing_it(override, message):
    with pytest.raises(ConfigError) as caught:
        load_config("quickstart", [override, "judge.kind=vlm"])
    assert message in str(caught.value)
    assert "planted" not in str(caught.value)


@pytest.mark.parametrize(
    "url", ["https://example.org/v1", "https://10.0.0.7:8443", "http://127.0.0.1:8000/v1", "http://[::1]:8000", "http://localhost:1/v1/"]
)  # fmt: skip
def test_an_endpoint_is_https_anywhere_or_http_on_this_machine(url):
    assert load_config("quickstart", [f"judge.url={url}", "judge.kind=vlm"]).judge.url == url.rstrip("/")


def test_a_task_file_beside_a_config_is_found_from_anywhere(tmp_path, monkeypatch):
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "goals.txt").write_text("Open it\n")
    (tmp_path / "here" / "mine.yaml").write_text("tasks: {suite: goals.txt}\n")
    monkeypatch.chdir(tmp_path)
    assert load_config("here/mine.yaml").tasks.suite == str(tmp_path / "here" / "goals.txt")
    assert load_config("here/mine.yaml", ["tasks.suite=goals.txt"]).tasks.suite == "goals.txt"
    assert load_config("here/mine.yaml", ["tasks.suite=webshop"]).tasks.suite == "webshop"
