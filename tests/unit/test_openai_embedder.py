"""The OpenAI-compatible embedder against a server that speaks the protocol, and against worse."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import socket
import threading
import time
import traceback
from array import array
from collections.abc import Callable, Iterator
from datetime import timedelta
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Literal

import pytest

from palace.errors import EmbedderUnavailableError
from palace.models.openai_embedder import OpenAIEmbedder
from palace.models.vector_cache import VectorCache
from palace.testing import EmbedderContract, HashedEmbedder
from palace.text.moments import utc_now
from tests.e2e.fake_embeddings import FakeEmbeddings, says
from tests.local_server import send

KEY = "sk-abcdefghij0123456789"
WORDS = [f"word{n}" for n in range(10)]


@pytest.fixture
def server() -> Iterator[FakeEmbeddings]:
    with FakeEmbeddings() as running:
        yield running


Made = Callable[..., OpenAIEmbedder]


@pytest.fixture
def waits() -> list[float]:
    return []


@pytest.fixture
def made(server: FakeEmbeddings, waits: list[float]) -> Iterator[Made]:
    embedders: list[OpenAIEmbedder] = []

    def _make(**keywords: object) -> OpenAIEmbedder:
        values = {"model": "small", "base_url": server.url, "sleep": waits.append, **keywords}
        embedders.append(OpenAIEmbedder(**values))  # type: ignore[arg-type]
        return embedders[-1]

    yield _make
    for embedder in embedders:
        embedder.close()


class TestContract(EmbedderContract):
    @pytest.fixture
    def embedder(self, server: FakeEmbeddings, made: Made) -> OpenAIEmbedder:
        server.dimension = 64
        return made()


def test_a_request_as_the_protocol_wants_it(server: FakeEmbeddings, made: Made) -> None:
    server.key = KEY
    embedder = made(api_key=KEY, dimensions=4)
    vectors = embedder.embed(WORDS[:2], kind="passage")
    assert vectors == HashedEmbedder(dimension=4).embed(WORDS[:2], kind="passage")
    assert server.requests == [
        {"model": "small", "input": WORDS[:2], "encoding_format": "float", "dimensions": 4}
    ]
    assert server.headers[0]["content-type"] == "application/json"
    assert (str(embedder.identity), len(server.requests)) == ("openai/small (4 dimensions)", 1)


def test_dimensions_are_asked_for_once(server: FakeEmbeddings, made: Made) -> None:
    embedder = made()
    assert [embedder.identity.dimension for _ in range(3)] == [8, 8, 8]
    assert len(server.requests) == 1
    assert "dimensions" not in server.requests[0]
    assert "authorization" not in server.headers[0]


def test_batches_by_number_and_size(server: FakeEmbeddings, made: Made) -> None:
    made(batch_size=4).embed(WORDS, kind="passage")
    assert [len(body["input"]) for body in server.requests] == [4, 4, 2]
    server.max_chars = 200_000
    made(max_chars=90_000).embed([c * 90_000 for c in "abc"], kind="passage")
    assert [len(body["input"]) for body in server.requests[3:]] == [2, 1]


def test_equal_texts_are_sent_once(server: FakeEmbeddings, made: Made) -> None:
    first, second, third = made().embed(["a lamp", "a rug", "a lamp"], kind="passage")
    assert first == third != second
    assert server.texts == ["a lamp", "a rug"]


def test_order_is_by_index(server: FakeEmbeddings, made: Made) -> None:
    def shuffled(handler, body):
        reply = server.reply(body)
        reply["data"].reverse()
        send(handler, reply)

    server.script = [shuffled]
    assert made().embed(WORDS, kind="passage") == HashedEmbedder(dimension=8).embed(
        WORDS, kind="passage"
    )


def test_secrets_are_not_sent(server: FakeEmbeddings, made: Made) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9" * 2
    made().embed([f"The token is {secret} now."], kind="passage")
    assert len(server.texts) == 1
    assert secret not in server.texts[0]
    assert "[secret removed" in server.texts[0]


def test_vectors_are_made_units(server: FakeEmbeddings, made: Made) -> None:
    server.script = [says({"data": [{"index": 0, "embedding": [3, 4]}]})]
    (vector,) = made().embed(["x"], kind="passage")
    assert list(array("f", vector)) == pytest.approx([0.6, 0.8])


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504])
def test_passing_failures_are_tried_again(
    server: FakeEmbeddings, made: Made, waits: list[float], status: int
) -> None:
    server.script = [says({"error": {}}, status=status)] * 3
    assert len(made().embed(["x"], kind="passage")) == 1
    assert waits == [0.5, 1.0, 2.0]


def test_the_server_says_when_to_come_back(
    server: FakeEmbeddings, made: Made, waits: list[float]
) -> None:
    after = ("7", "100000", "soon", "-3", "nan", "inf")
    server.script = [says(b"", status=429, headers={"Retry-After": a}) for a in after]
    made(attempts=9).embed(["x"], kind="passage")
    assert waits == [7.0, 60.0, 2.0, 4.0, 8.0, 16.0]


def test_the_server_says_when_to_come_back_as_a_date(
    server: FakeEmbeddings, made: Made, waits: list[float]
) -> None:
    soon = format_datetime(utc_now() + timedelta(seconds=40), usegmt=True)
    after = (soon, "Sat, 14 Mar 2020 09:45:00 GMT", "Sat, 40 Mar 2026 09:45:00 GMT")
    server.script = [says(b"", status=429, headers={"Retry-After": a}) for a in after]
    made(attempts=9).embed(["x"], kind="passage")
    assert waits == [pytest.approx(38, abs=3), 0.0, 2.0]


def test_it_ends_some_time(server: FakeEmbeddings, made: Made, waits: list[float]) -> None:
    server.script = [says(b"", status=500)] * 99
    with pytest.raises(EmbedderUnavailableError, match="failed 3 times: status 500") as caught:
        made(attempts=3).embed(["x"], kind="passage")
    assert caught.value.retryable
    assert (len(server.requests), len(waits)) == (3, 2)


def test_a_question_is_not_waited_for(
    server: FakeEmbeddings, made: Made, waits: list[float]
) -> None:
    server.script = [says(b"", status=429, headers={"Retry-After": "60"})] * 99
    with pytest.raises(EmbedderUnavailableError):
        made().embed(["x"], kind="query")
    assert (len(server.requests), waits) == (2, [0.5])


def test_slow_answers_time_out(server: FakeEmbeddings, made: Made) -> None:
    server.script = [lambda *_: server.stopping.wait(2)] * 9
    with pytest.raises(EmbedderUnavailableError, match=r"no answer within 0\.05 s"):
        made(timeout_s=0.05, attempts=2).embed(["x"], kind="passage")


@pytest.mark.parametrize("kind", ["query", "passage"])
def test_a_name_that_nobody_resolves_is_not_waited_for(
    made: Made, monkeypatch: pytest.MonkeyPatch, kind: Literal["query", "passage"]
) -> None:
    resolved = threading.Event()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: resolved.wait(20))
    started = time.monotonic()
    with pytest.raises(EmbedderUnavailableError, match=r"no answer within 0\.1 s"):
        made(timeout_s=0.1, attempts=2).embed(["x"], kind=kind)
    assert time.monotonic() - started < 5
    resolved.set()


def test_an_answer_that_trickles_times_out(server: FakeEmbeddings, made: Made) -> None:
    def drip(handler, _):
        handler.send_response(200)
        handler.end_headers()
        handler.close_connection = True
        while not server.stopping.wait(0.02):
            handler.wfile.write(b" ")

    server.script = [drip]
    with pytest.raises(EmbedderUnavailableError, match="too slowly"):
        made(timeout_s=1.0, attempts=1).embed(["x"], kind="passage")


def test_headers_and_body_share_the_time(server: FakeEmbeddings, made: Made) -> None:
    def late(handler, body):
        server.stopping.wait(0.6)
        handler.send_response(200)
        handler.end_headers()
        handler.close_connection = True
        handler.wfile.write(b" ")
        server.stopping.wait(0.6)
        handler.wfile.write(json.dumps(server.reply(body)).encode())

    server.script = [late]
    with pytest.raises(EmbedderUnavailableError, match="too slowly"):
        made(timeout_s=1.0, attempts=1).embed(["x"], kind="passage")


def test_the_attempts_of_a_question_share_the_time(server: FakeEmbeddings, made: Made) -> None:
    server.script = [lambda *_: server.stopping.wait(2)] * 9
    with pytest.raises(EmbedderUnavailableError, match=r"failed 1 time: no answer within 0\.05 s"):
        made(timeout_s=0.05).embed(["x"], kind="query")
    assert len(server.requests) == 1


@pytest.mark.parametrize("is_answered", [True, False])
def test_to_close_ends_what_waits(server: FakeEmbeddings, made: Made, is_answered: bool) -> None:
    asked = threading.Event()

    def late(handler: BaseHTTPRequestHandler, _: object) -> None:
        if is_answered:
            send(handler, b"", status=429, headers={"Retry-After": "50"})
        asked.set()
        server.stopping.wait(50 * (not is_answered))

    server.script = [late]
    embedder = made(sleep=None)
    failures: list[str] = []

    def _embed() -> None:
        with pytest.raises(EmbedderUnavailableError) as caught:
            embedder.embed(["x"], kind="passage")
        failures.append(caught.value.message)

    thread = threading.Thread(target=_embed)
    thread.start()
    assert asked.wait(20)
    embedder.close()
    thread.join(20)
    assert len(failures) == 1
    assert len(embedder.embed(["y"], kind="passage")) == 1  # it opens again


def test_nobody_is_there(made: Made, waits: list[float]) -> None:
    with pytest.raises(EmbedderUnavailableError, match="failed 5 times: ConnectError"):
        made(base_url="http://127.0.0.1:1/v1").embed(["x"], kind="passage")
    assert len(waits) == 4


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("ALL_PROXY", "socks4://127.0.0.1:9"),
        ("HTTP_PROXY", "other://127.0.0.1:9"),
        ("SSL_CERT_FILE", "/no/such/certificates.pem"),
    ],
)
def test_an_environment_that_no_connection_can_be_made_in(
    made: Made, waits: list[float], monkeypatch: pytest.MonkeyPatch, variable: str, value: str
) -> None:
    monkeypatch.setenv(variable, value)
    with pytest.raises(EmbedderUnavailableError, match="can be set up") as caught:
        made().embed(["x"], kind="passage")
    assert "proxy" in caught.value.hint
    assert waits == []


@pytest.mark.parametrize("host", ["a..b", "xn--", "[::1", "a:99999999"])
def test_an_address_that_is_none(made: Made, host: str) -> None:
    with pytest.raises(EmbedderUnavailableError):
        made(base_url=f"http://{host}/v1", attempts=1).embed(["x"], kind="passage")


def test_long_texts_are_cut(server: FakeEmbeddings, made: Made) -> None:
    made(max_chars=500).embed(["x" * 9000], kind="passage")
    assert [len(text) for text in server.texts] == [500]


def test_what_the_server_finds_too_long_is_halved(server: FakeEmbeddings, made: Made) -> None:
    server.max_chars = 1000
    texts = ["a short one", "b" * 7000, "another"]
    vectors = made().embed(texts, kind="passage")
    expected = HashedEmbedder(dimension=8).embed([texts[0], "b" * 875, texts[2]], kind="passage")
    assert vectors == expected


def test_a_request_that_is_never_right_is_given_up(server: FakeEmbeddings, made: Made) -> None:
    server.script = [says({"error": {"message": "unknown model"}}, status=400)] * 99
    with pytest.raises(EmbedderUnavailableError, match="status 400") as caught:
        made().embed(["x" * 8000, *WORDS], kind="passage")
    assert not caught.value.retryable
    assert len(server.requests) < 20


@pytest.mark.parametrize(
    ("status", "hint"), [(401, "EMBEDDING_API_KEY"), (403, "EMBEDDING_API_KEY"), (404, "model")]
)
def test_refusals_are_not_tried_again(
    server: FakeEmbeddings, made: Made, status: int, hint: str
) -> None:
    server.script = [says({"error": {}}, status=status)] * 9
    with pytest.raises(EmbedderUnavailableError, match=str(status)) as caught:
        made().embed(["x"], kind="passage")
    assert hint in caught.value.hint
    assert len(server.requests) == 1


def test_redirects_are_not_followed(server: FakeEmbeddings, made: Made) -> None:
    with FakeEmbeddings() as other:
        server.script = [says(b"", status=307, headers={"Location": f"{other.url}/embeddings"})]
        with pytest.raises(EmbedderUnavailableError, match="307"):
            made(api_key=KEY).embed(["x"], kind="passage")
        assert other.requests == []


def one(embedding: object) -> dict[str, object]:
    return {"data": [{"index": 0, "embedding": embedding}]}


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>Bad gateway</html>",
        b"[" * 100_000,
        b"\xff\xfe",
        b"null",
        b"{}",
        b'{"data": null}',
        b'{"data": [null]}',
        b'{"data": []}',
        b'{"data": {"0": 1}}',
        b'{"data": [{"index": 0, "embedding": [NaN, 1]}]}',
        b'{"data": [{"index": 0, "embedding": [1%s, 1]}]}' % (b"0" * 400),
        b'{"data": [{"index": 0, "embedding": [1e999, 1]}]}',
        *(json.dumps(one(e)).encode() for e in ([], None, "AACAPw==", ["a"], [[1]], 1, {"a": 1})),
        json.dumps({"data": one([1, 0])["data"] * 2}).encode(),  # type: ignore[operator]
        b'{"data": [{"index": 1, "embedding": [1, 0]}]}',
        b'{"data": [{"index": [], "embedding": [1, 0]}]}',
        b'{"error": {"message": "rate limited"}}',
    ],
)
def test_nonsense_is_an_error(server: FakeEmbeddings, made: Made, body: bytes) -> None:
    server.script = [says(body)]
    embedder = made()
    with pytest.raises(EmbedderUnavailableError) as caught:
        embedder.embed(["x"], kind="passage")
    assert caught.value.hint
    assert len(embedder.embed(["x"], kind="passage")) == 1  # and nothing of it is kept


def test_another_dimension_is_an_error(server: FakeEmbeddings, made: Made) -> None:
    embedder = made()
    embedder.embed(["x"], kind="passage")
    server.dimension = 6
    with pytest.raises(EmbedderUnavailableError, match="6 dimensions instead of 8"):
        embedder.embed(["y"], kind="passage")
    server.script = [says(one([1.0, 0.0]))]
    with pytest.raises(EmbedderUnavailableError, match="2 dimensions instead of 4"):
        made(dimensions=4).embed(["x"], kind="passage")


def test_another_model_behind_the_same_name(
    server: FakeEmbeddings, made: Made, tmp_path: Path
) -> None:
    path = tmp_path / "embeddings.sqlite"
    first = made(cache=VectorCache(path))
    assert (first.identity.dimension, len(first.embed(["x"], kind="passage"))) == (8, 1)
    server.dimension = 6
    later = made(cache=VectorCache(path))
    assert later.identity.dimension == 8  # as it is kept
    with pytest.raises(EmbedderUnavailableError) as caught:
        later.embed(["y"], kind="passage")
    assert "palace embed --rebuild" in caught.value.hint
    assert later.identity.dimension == 6
    assert [len(v) for v in later.embed(["x", "y"], kind="passage")] == [24, 24]
    assert made(cache=VectorCache(path)).identity.dimension == 6


def test_the_key_never_shows(
    server: FakeEmbeddings, made: Made, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    server.key = "another"
    embedder = made(api_key=KEY, timeout_s=0.5, attempts=2)
    told = [repr(embedder)]
    for script in (
        [],
        [says(b"", status=500)] * 9,
        [says(b"?")],
        [lambda *_: server.stopping.wait(0.8)] * 9,
    ):
        server.script = list(script)
        with pytest.raises(EmbedderUnavailableError) as caught:
            embedder.embed(["x"], kind="passage")
        error: BaseException | None = caught.value
        told += traceback.format_exception(caught.value)
        while error is not None:
            told += [repr(error), repr(vars(error))]
            error = error.__cause__ or error.__context__
    assert server.headers[0]["authorization"] == f"Bearer {KEY}"
    assert KEY not in "".join(told) + caplog.text


# The cache


def test_nothing_is_paid_for_twice(server: FakeEmbeddings, made: Made, tmp_path: Path) -> None:
    path = tmp_path / ".palace" / "embeddings.sqlite"
    first = made(cache=VectorCache(path)).embed(WORDS, kind="passage")
    sent = len(server.texts)
    again = made(cache=VectorCache(path))
    assert again.embed(WORDS, kind="query") == first
    assert again.identity.dimension == 8
    assert len(server.texts) == sent
    assert [made(cache=VectorCache(path)).identity.dimension for _ in range(2)] == [8, 8]
    assert server.texts[sent:] == ["."]  # which tells the dimensions
    made(cache=VectorCache(path), model="large").embed(WORDS[:1], kind="query")
    made(cache=VectorCache(path), dimensions=4).embed(WORDS[:1], kind="query")
    assert server.texts[sent + 1 :] == WORDS[:1] * 2
    assert path.stat().st_mode & 0o077 == 0


def test_a_damaged_cache_is_made_anew(server: FakeEmbeddings, made: Made, tmp_path: Path) -> None:
    path = tmp_path / "embeddings.sqlite"
    path.write_bytes(b"no database at all" * 300)
    for _ in range(2):
        made(cache=VectorCache(path)).embed(WORDS, kind="passage")
    assert len(server.requests) == 1


def test_what_comes_after_a_scrub_is_not_kept(
    server: FakeEmbeddings, made: Made, tmp_path: Path
) -> None:
    path = tmp_path / "embeddings.sqlite"

    def scrubbed(handler, body):
        VectorCache(path).scrub()
        send(handler, server.reply(body))

    embedder = made(cache=VectorCache(path))
    embedder.embed(["y"], kind="passage")
    server.script = [scrubbed]
    embedder.embed(["x"], kind="passage")
    space = "small\0"
    with contextlib.closing(VectorCache(path)) as cache:
        assert cache.get(space, ["x", "y"]) == {}
        embedder.embed(["z"], kind="passage")
        assert set(cache.get(space, ["x", "y", "z"])) == {"z"}


def test_a_cache_that_is_damaged_inside_is_made_anew(tmp_path: Path) -> None:
    path = tmp_path / "embeddings.sqlite"
    texts = {f"text {n}": bytes(4000) for n in range(50)}
    cache = VectorCache(path)
    cache.put("m", texts)
    cache.close()
    whole = path.read_bytes()
    path.write_bytes(whole[:4096] + b"\xff" * (len(whole) - 4096))
    cache = VectorCache(path)
    assert cache.get("m", list(texts)) == {}
    cache.put("m", texts)
    assert cache.get("m", list(texts)) == texts
    cache.close()


@pytest.mark.skipif(os.name == "nt", reason="open files cannot be deleted there")
def test_a_cache_that_is_deleted_while_open_is_made_anew(tmp_path: Path) -> None:
    path = tmp_path / "embeddings.sqlite"
    cache = VectorCache(path)
    cache.put("m", {"x": bytes(8)})
    for file in tmp_path.iterdir():
        file.unlink()
    cache.put("m", {"y": bytes(8)})
    cache.close()
    cache = VectorCache(path)
    assert cache.get("m", ["x", "y"]) == {"y": bytes(8)}
    cache.close()


def test_a_cache_that_cannot_be_written_costs_only_money(
    server: FakeEmbeddings, made: Made, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("in the way")
    embedder = made(cache=VectorCache(tmp_path / "file" / "embeddings.sqlite"))
    assert len(embedder.embed(WORDS, kind="passage")) == len(embedder.embed(WORDS, kind="query"))
    assert len(server.requests) == 2


def test_the_oldest_go_when_the_cache_is_full(tmp_path: Path) -> None:
    cache = VectorCache(tmp_path / "embeddings.sqlite", max_bytes=32 * 100)
    for n in range(0, 300, 5):
        cache.put("m", {f"text {n + offset}": bytes(32) for offset in range(5)})
    kept = cache.get("m", [f"text {n}" for n in range(300)])
    assert 75 <= len(kept) <= 100
    assert "text 299" in kept
    assert "text 0" not in kept
    cache.close()
