"""A local HTTP server that speaks the JSON of Gitea's and GitHub's API, and misbehaves on demand."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from tests.local_server import LocalServer, send


@dataclass
class Seen:
    """One request as it arrived."""

    path: str
    headers: dict[str, str]


def gitea_user(login: str) -> dict[str, Any]:
    return {"id": 1, "login": login, "full_name": "", "email": f"{login}@noreply.localhost"}


def gitea_issue(repository: str, number: int, **changes: Any) -> dict[str, Any]:
    """An issue as Gitea renders it."""
    owner, name = repository.split("/")
    issue = {
        "id": 1000 + number,
        "url": f"http://forge.test/api/v1/repos/{repository}/issues/{number}",
        "html_url": f"http://forge.test/{repository}/issues/{number}",
        "number": number,
        "user": gitea_user("alice"),
        "original_author": "",
        "original_author_id": 0,
        "title": "Printer jams on Mondays",
        "body": "The tray opens.\r\nThen it stops.",
        "ref": "",
        "assets": [],
        "labels": [{"id": 1, "name": "bug", "color": "ee0701"}, {"id": 2, "name": "urgent"}],
        "milestone": {"id": 3, "title": "spring", "state": "open"},
        "assignee": gitea_user("bob"),
        "assignees": [gitea_user("bob")],
        "state": "open",
        "is_locked": False,
        "comments": 0,
        "created_at": "2026-03-01T10:00:00+01:00",
        "updated_at": "2026-03-02T11:30:00Z",
        "closed_at": None,
        "due_date": None,
        "pull_request": None,
        "repository": {"id": 7, "name": name, "owner": owner, "full_name": repository},
        "pin_order": 0,
    }
    return {**issue, **changes}


def gitea_pull(repository: str, number: int, **changes: Any) -> dict[str, Any]:
    """A pull request as Gitea renders it."""
    issue = gitea_issue(repository, number)
    for key in ("repository", "pull_request", "original_author", "ref", "assets"):
        issue.pop(key)
    side = {"label": "main", "ref": "main", "sha": "0" * 40, "repo_id": 7}
    pull = {
        "title": "Fix the tray",
        "draft": False,
        "mergeable": True,
        "merged": False,
        "merged_at": None,
        "merged_by": None,
        "base": {**side, "repo": {"id": 7, "full_name": repository}},
        "head": {**side, "label": "tray", "ref": "tray", "repo": {"full_name": "fork/elsewhere"}},
    }
    return {**issue, **pull, **changes}


def comment(number: int, author: str = "carol", body: str = "") -> dict[str, Any]:
    """A comment as both forges render it."""
    return {
        "id": number,
        "user": gitea_user(author),
        "body": body or f"comment number {number}",
        "created_at": f"2026-03-03T12:{number % 60:02}:00Z",
        "updated_at": f"2026-03-03T12:{number % 60:02}:00Z",
    }


def github_issue(repository: str, number: int, **changes: Any) -> dict[str, Any]:
    """An issue as GitHub renders it."""
    api = f"https://api.github.com/repos/{repository}"
    issue = {
        "url": f"{api}/issues/{number}",
        "repository_url": api,
        "html_url": f"https://github.com/{repository}/issues/{number}",
        "id": 5000 + number,
        "node_id": "I_x",
        "number": number,
        "title": "Printer jams on Mondays",
        "user": {"login": "alice", "id": 1, "type": "User"},
        "labels": [{"id": 1, "name": "bug", "color": "d73a4a", "default": True}],
        "state": "open",
        "locked": False,
        "assignee": None,
        "assignees": [],
        "milestone": None,
        "comments": 0,
        "created_at": "2026-03-01T09:00:00Z",
        "updated_at": "2026-03-02T11:30:00Z",
        "closed_at": None,
        "author_association": "MEMBER",
        "body": "The tray opens.",
        "state_reason": None,
    }
    return {**issue, **changes}


def github_pull(repository: str, number: int, **changes: Any) -> dict[str, Any]:
    """A pull request as GitHub renders it."""
    issue = github_issue(repository, number)
    issue.pop("repository_url")
    pull = {
        "title": "Fix the tray",
        "draft": False,
        "merged": False,
        "merged_at": None,
        "merged_by": None,
        "head": {"label": "fork:tray", "ref": "tray", "repo": {"full_name": "fork/elsewhere"}},
        "base": {"label": "own:main", "ref": "main", "repo": {"full_name": repository}},
    }
    return {**issue, **pull, **changes}


def contents(path: str, data: bytes, **changes: Any) -> dict[str, Any]:
    """A file of a repository as both forges render it."""
    encoded = base64.b64encode(data).decode()
    lines = "\n".join(encoded[i : i + 60] for i in range(0, len(encoded), 60))
    file = {
        "name": path.rsplit("/", 1)[-1],
        "path": path,
        "sha": hashlib.sha256(data).hexdigest(),
        "type": "file",
        "size": len(data),
        "encoding": "base64",
        "content": lines,
    }
    return {**file, **changes}


@dataclass
class FakeForge(LocalServer):
    """Serves documents by path below `prefix`; use it as a context manager.

    Attributes:
        documents: Decoded path without the prefix -> JSON; lists under `…/comments` obey `page`.
        behaviours: Path -> what to do instead of answering.
        seen: Every request, in order.
    """

    prefix: str = ""
    documents: dict[str, Any] = field(default_factory=dict)
    behaviours: dict[str, Callable[[BaseHTTPRequestHandler], None]] = field(default_factory=dict)
    seen: list[Seen] = field(default_factory=list)

    def paths(self) -> list[str]:
        """Paths that were asked for, in order, with their query."""
        return [request.path for request in self.seen]

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        """Answer one request."""
        headers = {name.lower(): value for name, value in handler.headers.items()}
        self.seen.append(Seen(handler.path, headers))
        parts = urlsplit(handler.path)
        path = unquote(parts.path).removeprefix(self.prefix)
        if path in self.behaviours:
            self.behaviours[path](handler)
        elif path not in self.documents:
            send(handler, {"message": "not found", "errors": None}, status=404)
        else:
            data = _paged(self.documents[path], parse_qs(parts.query))
            etag = f'"{hashlib.sha256(json.dumps(data).encode()).hexdigest()[:16]}"'
            if headers.get("if-none-match") == etag:
                send(handler, b"", status=304, headers={"ETag": etag})
            else:
                send(handler, data, headers={"ETag": etag})

    def drip(self, chunk: bytes, *, every_s: float) -> Callable[[BaseHTTPRequestHandler], None]:
        """Behaviour: an endless body, a chunk at a time."""

        def behave(handler: BaseHTTPRequestHandler) -> None:
            handler.send_response(200)
            handler.send_header("Content-Type", "application/json")
            handler.end_headers()
            handler.close_connection = True
            while not self.stopping.wait(every_s):
                handler.wfile.write(chunk)

        return behave

    def drip_headers(self, *, every_s: float) -> Callable[[BaseHTTPRequestHandler], None]:
        """Behaviour: headers that never end, a byte at a time."""

        def behave(handler: BaseHTTPRequestHandler) -> None:
            handler.wfile.write(b"HTTP/1.1 200 OK\r\nX-Long: ")
            handler.close_connection = True
            while not self.stopping.wait(every_s):
                handler.wfile.write(b"a")

        return behave


def _paged(data: Any, query: dict[str, list[str]]) -> Any:
    if not isinstance(data, list) or "page" not in query:
        return data
    size = int(query.get("per_page", ["30"])[0])
    start = (int(query["page"][0]) - 1) * size
    return data[start : start + size]


def replies(data: Any, **how: Any) -> Callable[[BaseHTTPRequestHandler], None]:
    """Behaviour: one fixed answer."""
    return lambda handler: send(handler, data, **how)


def gzipped(data: bytes) -> Callable[[BaseHTTPRequestHandler], None]:
    """Behaviour: a compressed body."""
    return replies(gzip.compress(data), headers={"Content-Encoding": "gzip"})


def redirects(location: str, status: int = 302) -> Callable[[BaseHTTPRequestHandler], None]:
    """Behaviour: a redirect."""
    return replies(b"", status=status, headers={"Location": location})


def wait_until(condition: Callable[[], bool], *, at_most_s: float = 3.0) -> bool:
    """Wait for a condition; returns whether it came true."""
    end = time.monotonic() + at_most_s
    while not condition() and time.monotonic() < end:
        time.sleep(0.02)
    return condition()
