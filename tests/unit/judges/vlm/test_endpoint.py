"""One request over real HTTP, against a stub that behaves as badly as it can."""

from __future__ import annotations

import asyncio
import gzip
import logging

import pytest
from stub_endpoint import Said, StubEndpoint, completion, verdict

from distrl.errors import BadVerdict, JudgeRefused, JudgeTrouble
from distrl.judges.vlm import endpoint as module
from distrl.judges.vlm.api_key import ApiKey
from distrl.judges.vlm.endpoint import HttpEndpoint
from distrl.judges.vlm.reply import Reply

SECRET = "sk-planted-0123456789"


def complete(said: Said | str, timeout_s: float = 20.0, url: str = "") -> Reply:
    """Send a request to a stub with this answer, or to a closed port."""

    async def ask(address: str) -> Reply:
        endpoint = HttpEndpoint(url or address, ApiKey(SECRET), timeout_s)
        try:
            return await endpoint.complete({"model": "m"})
        finally:
            await endpoint.close()

    with StubEndpoint(lambda question: said) as stub:
        return asyncio.run(ask(stub.url))


def test_the_reply_comes_back_and_the_key_went_into_the_header_alone():
    with StubEndpoint(lambda question: verdict(True)) as stub:

        async def ask_twice() -> None:
            endpoint = HttpEndpoint(stub.url, ApiKey(SECRET), 20.0)
            for _ in range(2):
                assert (await endpoint.complete({"model": "m"})).tokens_in == 1000
            await endpoint.close()
            assert (await endpoint.complete({"model": "m"})).tokens_out == 20  # opens again by itself
            await endpoint.close()

        asyncio.run(ask_twice())
    for question in stub.questions:
        assert question.path == "/v1/chat/completions"
        assert question.headers["Authorization"] == f"Bearer {SECRET}"
        assert question.body == {"model": "m"}


@pytest.mark.parametrize("status", [408, 409, 425, 429, 500, 502, 503, 504, 529, 204])
def test_what_may_pass_is_trouble(status):
    with pytest.raises(JudgeTrouble, match=f"^{status}"):
        complete(Said(b"" if status == 204 else b"busy", status))


@pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 422])
def test_permanent_errors_are_refused_with_advice(status):
    with pytest.raises(JudgeRefused, match=r"judge\.(key_env|model)"):
        complete(Said(b"no such model", status))


def test_retry_after_is_passed_on():
    with pytest.raises(JudgeTrouble) as caught:
        complete(Said(b"slow down", 429, {"Retry-After": "17"}))
    assert caught.value.retry_after_s == 17.0


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_not_followed_and_the_key_goes_nowhere_else(status):
    with StubEndpoint(lambda question: verdict(True)) as elsewhere:
        with pytest.raises(JudgeRefused, match="redirects are not followed"):
            complete(Said(b"", status, {"Location": f"{elsewhere.url}/chat/completions"}))
        assert elsewhere.questions == []


@pytest.mark.parametrize(
    "said",
    [
        Said(hangs=True),
        Said(b'{"choices": []}' * 100, breaks=True),
        Said(b"<html>"),
        Said(b"x" * (module.MAX_ANSWER_BYTES + 1)),
        Said(gzip.compress(completion("x").body), headers={"Content-Encoding": "gzip"}),
    ],
    ids=["hangs", "breaks off", "is no JSON", "is too large", "is packed unasked"],
)
def test_an_answer_that_is_none_is_trouble(said):
    with pytest.raises(JudgeTrouble):
        complete(said, timeout_s=0.3 if said.hangs else 20.0)


def test_an_unreachable_endpoint_is_trouble():
    with StubEndpoint(lambda question: verdict(True)) as gone:
        pass
    with pytest.raises(JudgeTrouble, match="Connect"):
        complete("", url=gone.url)


def test_a_model_that_declines_gave_no_verdict():
    with pytest.raises(BadVerdict):
        complete(completion(None))


@pytest.mark.parametrize(
    "url", ["http://example.org/v1", "https://user:pw@example.org", "ftp://127.0.0.1", "https://a/?key=1"]
)
def test_an_address_that_no_key_may_go_to_is_refused(url):
    with pytest.raises(ValueError, match=r"^must "):
        HttpEndpoint(url, ApiKey(SECRET), 1.0)


@pytest.mark.parametrize("status", [400, 401, 429, 500])
def test_a_key_that_the_endpoint_echoes_is_redacted(status, caplog):
    caplog.set_level(logging.DEBUG)
    with pytest.raises((JudgeTrouble, JudgeRefused)) as caught:
        complete(Said(f"Incorrect API key provided: {SECRET}\x1b[2J".encode(), status))
    assert "Incorrect API key provided: [key]" in str(caught.value)
    assert SECRET not in f"{caught.value!r} {caught.value.__cause__!r} {caplog.text}"
    assert "\x1b" not in str(caught.value)


def test_a_proxy_of_the_environment_never_sees_a_request_to_this_machine(monkeypatch):
    with StubEndpoint(lambda question: verdict(False)) as proxy:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, proxy.url.removesuffix("/v1"))
        assert complete(verdict(True)).tokens_in == 1000
        assert proxy.questions == []


def look(status: int) -> str:
    with StubEndpoint(lambda question: Said(b"{}", status)) as stub:
        found = asyncio.run(HttpEndpoint(stub.url, ApiKey(SECRET), 20.0).look())
        assert [question.path for question in stub.questions] == ["/v1/models"]
        return found


def test_a_probe_reports_whether_it_answers_and_takes_the_key():
    assert look(200) == look(404) == "answers, and takes the key"
    with pytest.raises(JudgeRefused, match="does not take the key"):
        look(401)
    with pytest.raises(JudgeTrouble):
        look(503)
