"""A local HTTP server that speaks the chat completions protocol, with one scripted reply."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any

from tests.local_server import LocalServer, body_of, send


@dataclass
class Server(LocalServer):
    """A chat completions server; use it as a context manager.

    Attributes:
        status: Of every reply.
        body: Of every reply; a greeting if None.
        delay_s: Seconds before every reply.
        requests: Path, key and body of every request, in order.
    """

    method = "POST"
    status: int = 200
    body: bytes | None = None
    delay_s: float = 0.0
    requests: list[dict[str, Any]] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"{super().url}/v1"

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        key = handler.headers.get("Authorization")
        self.requests.append({"path": handler.path, "key": key, **body_of(handler)})
        self.stopping.wait(self.delay_s)
        said = self.body if self.body is not None else completion("Hello.")
        send(handler, said, status=self.status)


def completion(text: object) -> bytes:
    choice = {
        "index": 0,
        "message": {"role": "assistant", "content": text},
        "finish_reason": "stop",
    }
    return json.dumps({"object": "chat.completion", "choices": [choice]}).encode()
