"""A local HTTP server that speaks OpenAI's `/v1/embeddings`, and misbehaves on demand."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any

from palace.testing import HashedEmbedder
from tests.local_server import LocalServer, body_of, send

Behaviour = Callable[[BaseHTTPRequestHandler, dict[str, Any]], None]


@dataclass
class FakeEmbeddings(LocalServer):
    """Embeds by hashed words; use it as a context manager.

    Attributes:
        dimension: What the model gives when no dimensions are asked for.
        max_chars: Longer texts are refused, as a server refuses more than its context.
        key: The key that must be sent, if any.
        script: What to do instead of answering, one for each request, first come first served.
        requests: The body of every request, in order.
        headers: The headers of every request, in order.
    """

    method = "POST"
    dimension: int = 8
    max_chars: int = 10_000
    key: str = ""
    script: list[Behaviour] = field(default_factory=list)
    requests: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)

    @property
    def url(self) -> str:
        """Address up to `/embeddings`."""
        return f"{super().url}/v1"

    @property
    def texts(self) -> list[str]:
        """Every text that was sent, in order."""
        return [text for body in self.requests for text in body["input"]]

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        """Answer one request."""
        body = body_of(handler)
        self.requests.append(body)
        self.headers.append({name.lower(): value for name, value in handler.headers.items()})
        if self.script:
            self.script.pop(0)(handler, body)
        elif handler.path != "/v1/embeddings":
            send(handler, {"error": {"message": "no such path"}}, status=404)
        elif self.key and handler.headers.get("Authorization") != f"Bearer {self.key}":
            told = handler.headers.get("Authorization")
            send(handler, {"error": {"message": f"Incorrect API key: {told}"}}, status=401)
        elif any(not text or len(text) > self.max_chars for text in body["input"]):
            send(handler, {"error": {"message": "maximum context length"}}, status=400)
        else:
            send(handler, self.reply(body))

    def reply(self, body: dict[str, Any]) -> dict[str, Any]:
        """Return the right answer to a request."""
        model = HashedEmbedder(dimension=body.get("dimensions", self.dimension))
        vectors = model.embed(body["input"], kind="passage")
        return {
            "object": "list",
            "data": [
                {"object": "embedding", "index": n, "embedding": list(array("f", vector))}
                for n, vector in enumerate(vectors)
            ],
            "model": body["model"],
            "usage": {"prompt_tokens": 1, "total_tokens": 1},
        }


def says(data: Any, **how: Any) -> Behaviour:
    """Behaviour: one fixed answer."""
    return lambda handler, _: send(handler, data, **how)
