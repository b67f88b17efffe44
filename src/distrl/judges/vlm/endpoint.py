"""One request to a chat endpoint: with a timeout, a size limit, and no redirects."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Protocol

import httpx2

from distrl.errors import JudgeRefused, JudgeTrouble
from distrl.judges.settings import endpoint_url
from distrl.judges.vlm.api_key import ApiKey
from distrl.judges.vlm.reply import Reply, parse_completion, plain
from distrl.judges.vlm.retry_after import retry_after_s
from distrl.types import Tree

RETRYABLE = (408, 409, 425, 429)
"""HTTP status codes that are retried; so are all of 500 and above."""
UNAUTHORIZED = (401, 403)
MAX_ANSWER_BYTES = 2**20
QUOTED_LETTERS = 200


class Endpoint(Protocol):
    """Answers chat requests."""

    async def complete(self, body: Tree) -> Reply:
        """Raises `JudgeTrouble` for errors that may be retried, `JudgeRefused` for permanent ones, `BadVerdict` for a
        model that declined."""

    async def close(self) -> None: ...


class HttpEndpoint:
    """Keeps its connections; `close` it in the loop it was used in. It may be used again after that."""

    def __init__(self, url: str, key: ApiKey, timeout_s: float) -> None:
        self._url = endpoint_url(url)
        self._key = key
        self._timeout_s = timeout_s
        self._client: httpx2.AsyncClient | None = None

    async def complete(self, body: Tree) -> Reply:
        status, answer, retry_after = await self._send("POST", "/chat/completions", json.dumps(body).encode())
        if status == HTTPStatus.OK:
            return parse_completion(answer)
        raise self._error(status, answer, retry_after)

    async def look(self) -> str:
        """Probe the endpoint with `GET /models`. Raises `JudgeTrouble` or `JudgeRefused`."""
        status, answer, retry_after = await self._send("GET", "/models", None)
        if status in UNAUTHORIZED or 300 <= status < 400 or status >= 500:
            raise self._error(status, answer, retry_after)
        return "answers, and takes the key" if self._key.headers else "answers"

    async def close(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    async def _send(self, method: str, path: str, content: bytes | None) -> tuple[int, bytes, float]:
        """Status, body, and the seconds of `Retry-After`."""
        try:
            async with asyncio.timeout(self._timeout_s):
                return await self._exchange(method, path, content)
        except TimeoutError:
            raise JudgeTrouble(f"no answer within {self._timeout_s:g} s") from None
        except httpx2.HTTPError as error:
            raise JudgeTrouble(self._quoted(f"{type(error).__name__}: {error}")) from None

    async def _exchange(self, method: str, path: str, content: bytes | None) -> tuple[int, bytes, float]:
        # Read raw, not decompressed: a small answer could decompress to any size.
        headers = {**self._key.headers, "Accept-Encoding": "identity", "Content-Type": "application/json"}
        async with self._open().stream(method, self._url + path, content=content, headers=headers) as response:
            answer = b""
            async for chunk in response.aiter_raw():
                answer += chunk
                if len(answer) > MAX_ANSWER_BYTES:
                    raise JudgeTrouble(f"the answer is larger than {MAX_ANSWER_BYTES} bytes")
            asked = retry_after_s(response.headers.get("Retry-After", ""), datetime.now(UTC))
            return response.status_code, answer, asked

    def _open(self) -> httpx2.AsyncClient:
        if self._client is None:
            # A proxy from the environment is used for https only: over plain http it could read the key.
            proxied = self._url.startswith("https:")
            self._client = httpx2.AsyncClient(follow_redirects=False, trust_env=proxied, timeout=None)
        return self._client

    def _error(self, status: int, answer: bytes, retry_after: float) -> JudgeTrouble | JudgeRefused:
        said = f"{status}: {self._quoted(answer.decode('utf-8', 'replace'))}"
        if status in RETRYABLE or status >= 500 or status < 300:
            return JudgeTrouble(said, retry_after)
        if status < 400:
            return JudgeRefused(f"{self._url} redirects ({status}), and redirects are not followed. Set judge.url.")
        if status in UNAUTHORIZED:
            return JudgeRefused(f"{self._url} does not take the key ({said}). Look at the variable of judge.key_env.")
        return JudgeRefused(f"{self._url} refuses the request ({said}). Look at judge.model and judge.url.")

    def _quoted(self, text: str) -> str:
        """Text from the endpoint as one short line, with the key redacted."""
        return plain(self._key.redact(text), QUOTED_LETTERS)
