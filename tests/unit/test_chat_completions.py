"""A model behind the chat completions protocol, against a server that speaks it."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator

import pytest

from palace import Message, ModelError
from palace.models.chat_completions import ChatCompletions
from tests.fake_chat import Server, completion

KEY = "sk-local-0123456789abcdef"
ASK = [Message("system", "Be short."), Message("user", "Hello?")]


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as made:
        yield made


def test_it_speaks_the_protocol(server):
    model = ChatCompletions(base_url=server.url + "/", model="small", api_key=KEY)
    assert model.generate(ASK, max_tokens=50) == "Hello."
    [asked] = server.requests
    assert asked["path"] == "/v1/chat/completions"
    assert asked["key"] == f"Bearer {KEY}"
    assert (asked["model"], asked["max_tokens"], asked["stream"]) == ("small", 50, False)
    assert asked["messages"] == [
        {"role": "system", "content": "Be short."},
        {"role": "user", "content": "Hello?"},
    ]


def test_no_token_is_sent_without_one(server):
    ChatCompletions(base_url=server.url, model="small").generate(ASK, max_tokens=5)
    assert server.requests[0]["key"] is None


@pytest.mark.parametrize(
    ("status", "hint"),
    [(401, "token"), (404, "generator.model"), (429, "later"), (500, "later"), (302, "protocol")],
)
def test_a_refusal_says_what_to_do(server, status, hint):
    server.status = status
    with pytest.raises(ModelError, match=f"status {status}") as caught:
        ChatCompletions(base_url=server.url, model="m", api_key=KEY).generate(ASK, max_tokens=5)
    assert hint in caught.value.hint
    assert caught.value.retryable is (status in (429, 500))
    assert KEY not in str(caught.value)


@pytest.mark.parametrize(
    "body",
    [b"", b"no json", b"[]", b"{}", b'{"choices": []}', completion(None), completion(" "), b"\xff"],
)
def test_a_reply_that_is_none_is_a_model_error(server, body):
    server.body = body
    with pytest.raises(ModelError, match="no chat completion|no text"):
        ChatCompletions(base_url=server.url, model="m").generate(ASK, max_tokens=5)


def test_it_does_not_wait_for_ever(server):
    server.delay_s = 1.0
    with pytest.raises(ModelError, match="within 0.2 s") as caught:
        ChatCompletions(base_url=server.url, model="m", timeout_s=0.2).generate(ASK, max_tokens=5)
    assert caught.value.retryable


def test_a_name_that_nobody_resolves_is_not_waited_for(monkeypatch):
    resolved = threading.Event()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: resolved.wait(20))
    model = ChatCompletions(base_url="http://model.example/v1", model="m", timeout_s=0.2)
    started = time.monotonic()
    with pytest.raises(ModelError, match=r"within 0\.2 s"):
        model.generate(ASK, max_tokens=5)
    assert time.monotonic() - started < 5
    resolved.set()


def test_an_endless_reply_is_cut_off(server):
    server.body = completion("x" * 1_200_000)
    with pytest.raises(ModelError, match="larger than"):
        ChatCompletions(base_url=server.url, model="m").generate(ASK, max_tokens=5)


def test_nobody_is_there():
    with pytest.raises(ModelError, match="cannot be reached"):
        ChatCompletions(base_url="http://127.0.0.1:9/v1", model="m").generate(ASK, max_tokens=5)


def test_the_token_is_not_shown():
    assert KEY not in repr(ChatCompletions(base_url="http://x/v1", model="m", api_key=KEY))
