"""A model behind the chat completions protocol, against a server that speaks it."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from palace import Message, ModelError
from palace.models.chat_completions import ChatCompletions

KEY = "sk-local-0123456789abcdef"
ASK = [Message("system", "Be short."), Message("user", "Hello?")]


class Server:
    """A chat completions server with one scripted reply."""

    def __init__(self) -> None:
        self.status = 200
        self.body: bytes | None = None
        self.delay_s = 0.0
        self.requests: list[dict] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                outer.requests.append(
                    {
                        "path": self.path,
                        "key": self.headers.get("Authorization"),
                        **json.loads(body),
                    }
                )
                time.sleep(outer.delay_s)
                said = outer.body if outer.body is not None else completion("Hello.")
                self.send_response(outer.status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(said)))
                self.end_headers()
                self.wfile.write(said)

            def log_message(self, *_: object) -> None:
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.thread = threading.Thread(target=self.http.serve_forever, daemon=True)
        self.thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.http.server_address[1]}/v1"


def completion(text: object) -> bytes:
    choice = {
        "index": 0,
        "message": {"role": "assistant", "content": text},
        "finish_reason": "stop",
    }
    return json.dumps({"object": "chat.completion", "choices": [choice]}).encode()


@pytest.fixture
def server() -> Iterator[Server]:
    made = Server()
    yield made
    made.http.shutdown()
    made.http.server_close()
    made.thread.join()


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


def test_an_endless_reply_is_cut_off(server):
    server.body = completion("x" * 1_200_000)
    with pytest.raises(ModelError, match="larger than"):
        ChatCompletions(base_url=server.url, model="m").generate(ASK, max_tokens=5)


def test_nobody_is_there():
    with pytest.raises(ModelError, match="cannot be reached"):
        ChatCompletions(base_url="http://127.0.0.1:9/v1", model="m").generate(ASK, max_tokens=5)


def test_the_token_is_not_shown():
    assert KEY not in repr(ChatCompletions(base_url="http://x/v1", model="m", api_key=KEY))
