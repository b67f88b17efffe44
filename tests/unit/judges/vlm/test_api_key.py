"""The key comes from the environment and shows itself nowhere."""

from __future__ import annotations

import base64
import copy
import pickle
from urllib.parse import quote

import pytest

from distrl.errors import ConfigError
from distrl.judges.settings import ModelSettings
from distrl.judges.vlm.api_key import ApiKey

SECRET = "sk-planted/7f3a+91"
REMOTE = ModelSettings(model="m", key_env="MY_KEY")
LOCAL = ModelSettings(model="m", key_env="MY_KEY", url="http://127.0.0.1:8000/v1")


def test_the_key_of_the_named_variable_goes_into_the_header():
    key = ApiKey.from_environment(REMOTE, {"MY_KEY": f"{SECRET}\n", "OPENAI_API_KEY": "another"})
    assert key.headers == {"Authorization": f"Bearer {SECRET}"}


def test_without_a_key_the_error_names_the_variable_and_a_local_server_may_have_none():
    with pytest.raises(ConfigError, match="MY_KEY is empty"):
        ApiKey.from_environment(REMOTE, {})
    assert ApiKey.from_environment(LOCAL, {}).headers == {}


@pytest.mark.parametrize("secret", ["sk-planted 7f3a", "sk-planted\r\nX-Evil: 1", "sk-plantéd"])
def test_a_key_that_no_header_can_carry_is_refused_without_showing_it(secret):
    with pytest.raises(ConfigError) as caught:
        ApiKey.from_environment(REMOTE, {"MY_KEY": secret})
    assert "MY_KEY" in str(caught.value)
    assert "planted" not in str(caught.value)


def test_a_key_is_neither_printed_nor_pickled_nor_copied():
    key = ApiKey(SECRET)
    assert SECRET not in f"{key!r} {key} {[key]}"
    for escape in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="stays in its process"):
            escape(key)


@pytest.mark.parametrize("form", [SECRET, quote(SECRET, safe=""), base64.b64encode(SECRET.encode()).decode()])
def test_a_text_that_echoes_the_key_loses_it(form):
    assert (
        ApiKey(SECRET).redact(f"Incorrect API key: {form}. Try again; {form}")
        == "Incorrect API key: [key]. Try again; [key]"
    )


def test_a_short_key_is_not_redacted():
    assert ApiKey("x").redact("next") == "next"
    assert ApiKey("").redact("next") == "next"
