"""The shell of the local HTTP servers that stand in for services: one answers, this one serves."""

from __future__ import annotations

import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, TypeVar

_Server = TypeVar("_Server", bound="LocalServer")


class LocalServer:
    """Serves on a free port while it is entered; a subclass says what it answers.

    Attributes:
        method: The only one it answers.
        stopping: Set when it is left; an answer that takes its time waits on it.
    """

    method = "GET"
    stopping: threading.Event

    def __enter__(self: _Server) -> _Server:
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def answer(self) -> None:
                try:
                    server.answer(self)
                except ConnectionError:
                    self.close_connection = True

            def log_message(self, *args: object) -> None:
                pass

        setattr(Handler, f"do_{self.method}", Handler.answer)
        self.stopping = threading.Event()
        self._http = _Http(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(
            target=self._http.serve_forever, kwargs={"poll_interval": 0.002}, daemon=True
        )
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()

    def stop(self) -> None:
        """Stop serving, for good; harmless where it has stopped already."""
        self.stopping.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    @property
    def url(self) -> str:
        """Address of the server."""
        return f"http://127.0.0.1:{self._http.server_port}"

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        """Answer one request."""
        raise NotImplementedError


class _Http(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients that hang up are part of the tests; anything else is shown."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


def body_of(handler: BaseHTTPRequestHandler) -> dict[str, Any]:
    """Return the JSON object that was sent."""
    body: dict[str, Any] = json.loads(handler.rfile.read(int(handler.headers["Content-Length"])))
    return body


def send(
    handler: BaseHTTPRequestHandler,
    data: Any,
    *,
    status: int = 200,
    headers: dict[str, str] | None = None,
    content_type: str = "application/json; charset=utf-8",
) -> None:
    """Send JSON, or bytes as they are."""
    body = data if isinstance(data, bytes) else json.dumps(data).encode()
    handler.send_response(status)
    handler.send_header("Content-Type", content_type)
    handler.send_header("Content-Length", str(len(body)))
    for name, value in (headers or {}).items():
        handler.send_header(name, value)
    handler.end_headers()
    handler.wfile.write(body)
