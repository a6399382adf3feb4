"""Embeddings from any server that speaks OpenAI's `/embeddings`, at home or elsewhere.

In: texts, an address, a model. Out: vectors. Needs the extra `embeddings`. What was embedded once
is kept on disk; the key goes into one header and nowhere else, not into logs and not into errors.
"""

from __future__ import annotations

import json
import math
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from email.utils import parsedate_to_datetime
from functools import partial
from typing import TYPE_CHECKING, Any, Literal
from weakref import WeakSet

from palace.deadline import done_within
from palace.errors import EmbedderUnavailableError, not_installed
from palace.models.packing import fitting, unit_vectors
from palace.models.vector_cache import VectorCache
from palace.ports import EmbedderIdentity, Vector
from palace.secrets import redact
from palace.text import counted
from palace.text.moments import utc_now

if TYPE_CHECKING:
    import httpx

DEFAULT_URL = "https://api.openai.com/v1"
_FLOAT_BYTES = 4
_RETRIED = frozenset({408, 409, 425, 429, 500, 502, 503, 504})
_TOO_LONG = frozenset({400, 413, 422})
_MAX_REQUEST_CHARS = 200_000
_MAX_REPLY_BYTES = 134_217_728
_MIN_CHARS = 200
_FIRST_WAIT_S = 0.5
_LONGEST_WAIT_S = 60.0
# A question is waited for; words can answer it too.
_QUERY_ATTEMPTS = 2
_QUERY_TIMEOUT_S = 5.0
_QUERY_WAIT_S = 0.5
_SLACK_S = 0.5  # in which what a socket notices by itself may be said as it is


class _RefusedInputError(Exception):
    """The server takes texts, but not these."""


class _PassingError(Exception):
    """A failure that may be over soon."""

    def __init__(self, what: str, wait_s: float | None = None) -> None:
        super().__init__(what)
        self.what = what
        self.wait_s = wait_s


class OpenAIEmbedder:
    """`Embedder` over an OpenAI-compatible endpoint.

    Args:
        model: Name of the model, as the server knows it.
        base_url: Address up to, and without, `/embeddings`.
        api_key: Sent as a bearer token to this server only; None sends none.
        dimensions: Dimensions to ask for, >= 1; None takes what the model gives.
        batch_size: Most texts in one request, >= 1.
        max_chars: Longest text; the rest is cut off, >= 1.
        timeout_s: Seconds for one request.
        attempts: Most requests for one batch, >= 1.
        cache: Where vectors are kept by model and content.
        sleep: Waits between attempts; None waits until then or until it is closed.
    """

    def __init__(
        self,
        *,
        model: str,
        base_url: str = DEFAULT_URL,
        api_key: str | None = None,
        dimensions: int | None = None,
        batch_size: int = 64,
        max_chars: int = 8000,
        timeout_s: float = 30.0,
        attempts: int = 5,
        cache: VectorCache | None = None,
        sleep: Callable[[float], object] | None = None,
    ) -> None:
        self.model = model
        self.url = f"{base_url.rstrip('/')}/embeddings"
        self._headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
        self._asked_dimensions = dimensions
        self._dimension = dimensions
        self._batch_size = batch_size
        self._max_chars = max_chars
        self._timeout_s = timeout_s
        self._attempts = attempts
        self._cache = cache or VectorCache(None)
        self._sleep = sleep
        self._opening = threading.Lock()
        self._closing = threading.Event()
        self._client: httpx.Client | None = None
        self._sockets: WeakSet[socket.socket] = WeakSet()

    def __repr__(self) -> str:
        return f"OpenAIEmbedder({self.model!r}, {self.url!r})"

    @property
    def identity(self) -> EmbedderIdentity:
        """The model; where no dimensions are set, the server (or the cache) is asked for them."""
        if self._dimension is None:
            self.embed(["."], kind="query")
        assert self._dimension is not None
        return EmbedderIdentity(f"openai/{self.model}", "", self._dimension)

    def embed(self, texts: Sequence[str], *, kind: Literal["query", "passage"]) -> list[Vector]:
        """Return one vector for each text, in order; blank texts count as a full stop.

        Secrets are redacted before anything is sent or kept. A question is given up after one
        retry, or after five seconds; passages after `attempts`.

        Raises:
            EmbedderUnavailableError: If the server cannot be reached, refuses, or answers nonsense.
        """
        fit = [fitting(redact(text), self._max_chars) for text in texts]
        sent = [text if text.strip() else "." for text in fit]
        space = f"{self.model}\0{self._asked_dimensions or ''}"
        scrubs = self._cache.scrubs()
        known = {t: v for t, v in self._cache.get(space, sent).items() if self._fits(v)}
        for batch in self._batches([t for t in dict.fromkeys(sent) if t not in known]):
            made = dict(zip(batch, self._embedded(batch, kind), strict=True))
            self._cache.put(space, made, scrubs=scrubs)
            known.update(made)
        return [known[text] for text in sent]

    def close(self) -> None:
        """Close connections and cache; both open again when they are needed.

        A call that waits for the server in another thread is given up.
        """
        self._cache.close()
        with self._opening:
            closing, self._closing = self._closing, threading.Event()
            client, self._client = self._client, None
            sockets = list(self._sockets)
        closing.set()
        for one in sockets:
            with suppress(OSError):  # closed already
                one.shutdown(socket.SHUT_RDWR)  # to close it alone would wake nobody who reads it
        if client is not None:
            client.close()

    def _batches(self, texts: Sequence[str]) -> Iterator[list[str]]:
        batch: list[str] = []
        chars = 0
        for text in texts:
            if batch and (len(batch) == self._batch_size or chars + len(text) > _MAX_REQUEST_CHARS):
                yield batch
                batch, chars = [], 0
            batch.append(text)
            chars += len(text)
        if batch:
            yield batch

    def _embedded(self, texts: Sequence[str], kind: Literal["query", "passage"]) -> list[Vector]:
        """Embed one batch; texts that the server finds too long are halved until it takes them."""
        try:
            return self._requested(texts, kind)
        except _RefusedInputError as error:
            refused = error
        if len(texts) > 1:
            middle = len(texts) // 2
            return self._embedded(texts[:middle], kind) + self._embedded(texts[middle:], kind)
        if len(texts[0]) <= _MIN_CHARS:
            raise EmbedderUnavailableError(
                f"the embeddings server refused the request ({refused})",
                hint="check embeddings.openai: model, dimensions and base_url",
                retryable=False,
            )
        return self._embedded([texts[0][: len(texts[0]) // 2]], kind)

    def _requested(self, texts: Sequence[str], kind: Literal["query", "passage"]) -> list[Vector]:
        is_query = kind == "query"
        attempts = min(self._attempts, _QUERY_ATTEMPTS) if is_query else self._attempts
        timeout_s = min(self._timeout_s, _QUERY_TIMEOUT_S) if is_query else self._timeout_s
        longest_s = _QUERY_WAIT_S if is_query else _LONGEST_WAIT_S
        ends = time.monotonic() + (timeout_s if is_query else math.inf)
        closing = self._closing
        sleep = self._sleep or closing.wait
        what, wait_s, tried = "", 0.0, 0
        while tried < attempts:
            if tried:
                sleep(min(wait_s, longest_s))
            given_s = min(timeout_s, ends - time.monotonic())
            if closing.is_set() or given_s <= 0:
                break
            try:
                return self._parsed(self._answered(texts, given_s), len(texts))
            except _PassingError as error:
                what = error.what
                wait_s = error.wait_s if error.wait_s is not None else _FIRST_WAIT_S * 2**tried
                tried += 1
        raise EmbedderUnavailableError(
            f"the embeddings server failed {counted(tried, 'time')}: {what}",
            hint="check embeddings.openai.base_url and the network; words answer meanwhile",
        )

    # -- one request ---------------------------------------------------------------------------

    def _answered(self, texts: Sequence[str], timeout_s: float) -> bytes:
        """Return the server's reply; a name that nobody resolves is not waited for longer."""
        exchange = partial(self._exchanged, texts, timeout_s)
        try:
            return done_within(timeout_s + _SLACK_S, exchange, name="palace-embedding")
        except TimeoutError:
            raise _PassingError(_no_answer(timeout_s)) from None

    def _exchanged(self, texts: Sequence[str], timeout_s: float) -> bytes:
        httpx = _httpx()
        body: dict[str, Any] = {"model": self.model, "input": list(texts)}
        body["encoding_format"] = "float"
        if self._asked_dimensions is not None:
            body["dimensions"] = self._asked_dimensions
        # Raised after the handlers, so that no error of ours carries a request, and with it the
        # key, along as its context.
        failure: Exception
        deadline = time.monotonic() + timeout_s
        try:
            with self._http().stream(
                "POST",
                self.url,
                json=body,
                timeout=timeout_s,
                extensions={"trace": self._traced},
            ) as response:
                self._check(response)
                return _read(response, deadline=deadline)
        except httpx.TimeoutException:
            failure = _PassingError(_no_answer(timeout_s))
        except (httpx.HTTPError, httpx.StreamError) as error:
            failure = _PassingError(type(error).__name__)
        # An address, a proxy or a certificate that httpx cannot even begin with; a client that
        # another thread has closed.
        except (httpx.InvalidURL, ImportError, OSError, RuntimeError, ValueError) as error:
            failure = EmbedderUnavailableError(
                f"no connection to the embeddings server can be set up ({type(error).__name__})",
                hint="check embeddings.openai.base_url, and the variables of the environment that"
                " name a proxy or certificates",
                retryable=False,
            )
        raise failure

    def _http(self) -> httpx.Client:
        with self._opening:
            if self._client is None:
                self._client = _httpx().Client(headers=self._headers, follow_redirects=False)
            return self._client

    def _traced(self, event: str, told: Mapping[str, Any]) -> None:
        """Note the socket of a new connection, so that `close` can end a read from it."""
        if event.endswith((".connect_tcp.complete", ".start_tls.complete")):
            with self._opening:
                self._sockets.add(told["return_value"].get_extra_info("socket"))

    def _check(self, response: httpx.Response) -> None:
        status = response.status_code
        if status == 200:
            return
        if status in _RETRIED:
            raise _PassingError(f"status {status}", _seconds(response.headers.get("retry-after")))
        if status in _TOO_LONG:
            raise _RefusedInputError(f"status {status}")
        hints = {
            401: "set EMBEDDING_API_KEY",
            403: "set EMBEDDING_API_KEY to a key that may use this model",
            404: "check embeddings.openai.base_url and embeddings.openai.model",
        }
        raise EmbedderUnavailableError(
            f"the embeddings server refused with status {status}",
            hint=hints.get(status, "check embeddings.openai.base_url"),
            retryable=False,
        )

    def _parsed(self, body: bytes, count: int) -> list[Vector]:
        try:
            items = json.loads(body)["data"]
            numbered = {
                item.get("index", place): item["embedding"] for place, item in enumerate(items)
            }
            vectors = unit_vectors([numbered[place] for place in range(count)])
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            vectors = []
        if len(vectors) != count or len(items) != count or not vectors[0]:
            raise EmbedderUnavailableError(
                "the embeddings server answered with something else than one vector a text",
                hint="check that embeddings.openai.base_url is an OpenAI-compatible address",
            )
        for vector in vectors:
            self._agree(vector)
        return vectors

    def _fits(self, vector: Vector) -> bool:
        dimension = len(vector) // _FLOAT_BYTES
        self._dimension = self._dimension or dimension
        return dimension == self._dimension

    def _agree(self, vector: Vector) -> None:
        if self._fits(vector):
            return
        before, now = self._dimension, len(vector) // _FLOAT_BYTES
        hint = "set embeddings.openai.dimensions to what the model has"
        if self._asked_dimensions is None:
            # What is kept and what was promised came from a model that is no longer there.
            self._cache.clear()
            self._dimension = now
            hint = (
                "another model answers to this name now; `palace embed --rebuild` embeds"
                " everything again"
            )
        raise EmbedderUnavailableError(
            f"the embeddings server answered with {now} dimensions instead of {before}",
            hint=hint,
            retryable=False,
        )


def _httpx() -> Any:  # noqa: ANN401 - the module itself
    try:
        import httpx
    except ImportError as error:
        raise not_installed("httpx", "embeddings") from error
    return httpx


def _no_answer(timeout_s: float) -> str:
    return f"no answer within {timeout_s:.2g} s"


def _read(response: httpx.Response, *, deadline: float) -> bytes:
    """Return the body, counted while it streams in, after decompression."""
    body = bytearray()
    for part in response.iter_bytes():
        body += part
        if len(body) > _MAX_REPLY_BYTES:
            raise EmbedderUnavailableError(
                "the embeddings server answers with more than can be a reply",
                hint="make embeddings.batch_size smaller",
                retryable=False,
            )
        if time.monotonic() > deadline:
            raise _PassingError("the reply came too slowly")
    return bytes(body)


def _seconds(retry_after: str | None) -> float | None:
    """Return how long a server asks to be left alone; it may give seconds or a moment."""
    said = (retry_after or "").strip()
    try:
        if said.endswith("GMT"):
            wait_s = max(0.0, (parsedate_to_datetime(said) - utc_now()).total_seconds())
        else:
            wait_s = float(said)
    except (ValueError, TypeError):
        return None
    return wait_s if 0 <= wait_s < float("inf") else None
