"""The bounded client against a server that misbehaves."""

import builtins
import gzip
import json
import logging
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import httpx
import pytest

from palace.errors import (
    ConfigError,
    FetchDeniedError,
    FetchError,
    FetchNotFoundError,
    FetchTimeoutError,
)
from palace.fetch.http import BoundedClient, Reply, ReplyTooLargeError, Service
from tests.e2e.fake_forge import FakeForge, gzipped, redirects, replies, wait_until

SERVICE = Service("Forge", "artifacts.forge", "FORGE_TOKEN")
TOKEN = "s3cret-t0ken-value"
NOW = datetime(2026, 3, 14, 9, 30, tzinfo=timezone.utc)


class Clock:
    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def server() -> Iterator[FakeForge]:
    with FakeForge(prefix="/api") as forge:
        yield forge


def client(server: FakeForge, **keywords: Any) -> BoundedClient:
    defaults = {
        "api_url": f"{server.url}/api",
        "service": SERVICE,
        "token": TOKEN,
        "timeout_s": 3.0,
        "now": lambda: NOW,
    }
    return BoundedClient(**{**defaults, **keywords})


def get(bounded: BoundedClient, path: str = "/x", **how: Any) -> Reply:
    return bounded.run(lambda session: session.get_json(path, **how))


# Bounds


def test_document(server: FakeForge) -> None:
    server.documents["/x"] = {"a": [1, "ü"]}
    assert get(client(server)) == Reply({"a": [1, "ü"]}, NOW)
    assert server.seen[0].headers["authorization"] == f"Bearer {TOKEN}"


def test_endless_body_stops_at_the_cap(server: FakeForge) -> None:
    server.behaviours["/x"] = server.drip(b" " * 50_000, every_s=0.001)
    with pytest.raises(ReplyTooLargeError) as error:
        get(client(server, body_bytes=200_000))
    assert "artifacts.max_bytes" in error.value.hint


def test_slow_body_stops_at_the_deadline(server: FakeForge) -> None:
    server.behaviours["/x"] = server.drip(b" ", every_s=0.05)
    started = time.monotonic()
    with pytest.raises(FetchTimeoutError) as error:
        get(client(server, timeout_s=0.4))
    assert time.monotonic() - started < 1.5
    assert error.value.retryable


def test_endless_headers_stop_at_the_deadline_and_leave_no_thread(server: FakeForge) -> None:
    server.behaviours["/x"] = server.drip_headers(every_s=0.05)
    with pytest.raises(FetchTimeoutError):
        get(client(server, timeout_s=0.3))
    assert wait_until(
        lambda: not any(t.name.startswith("palace-fetch") for t in threading.enumerate())
    )


def test_a_name_that_nobody_resolves_does_not_hold_up_the_end_of_the_program() -> None:
    code = (
        "import socket, time\n"
        "from palace.errors import FetchTimeoutError\n"
        "from palace.fetch.github import GitHubFetcher\n"
        "from palace.ports import ArtifactRef\n"
        "socket.getaddrinfo = lambda *_, **__: time.sleep(30)\n"
        "fetcher = GitHubFetcher(\n"
        "    base_url='https://api.github.com', repositories=['a/b'], timeout_s=0.2\n"
        ")\n"
        "try:\n"
        "    fetcher.fetch(ArtifactRef('issue', 'github', 'a/b#1', {}))\n"
        "except FetchTimeoutError:\n"
        "    print('in time')\n"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=20)
    assert ended.stdout.split() == [b"in", b"time"]


def test_silent_server_stops_at_the_deadline(server: FakeForge) -> None:
    server.behaviours["/x"] = lambda handler: server.stopping.wait(5)
    with pytest.raises(FetchTimeoutError, match=r"within 0\.2 s"):
        get(client(server, timeout_s=0.2))


def test_slow_server_may_take_all_the_time_there_is(
    server: FakeForge, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: list[object] = []
    stream = httpx.Client.stream

    def watched(self: httpx.Client, *args: Any, **how: Any) -> Any:
        waits.append(how["timeout"])
        return stream(self, *args, **how)

    monkeypatch.setattr(httpx.Client, "stream", watched)
    server.documents["/x"] = {"a": 1}
    get(client(server, timeout_s=60.0))
    assert waits == [pytest.approx(60.0, abs=5.0)]


def test_all_requests_of_a_fetch_share_one_deadline(server: FakeForge) -> None:
    def slow(handler: Any) -> None:
        time.sleep(0.15)
        replies({})(handler)

    server.behaviours = {f"/{n}": slow for n in range(20)}

    def job(session: Any) -> None:
        for n in range(20):
            session.get_json(f"/{n}")

    with pytest.raises(FetchTimeoutError):
        client(server, timeout_s=0.5).run(job)
    assert len(server.seen) < 8


def test_decompression_bomb_stops_at_the_cap(server: FakeForge) -> None:
    bomb = gzip.compress(b" " * 50_000_000, mtime=0)
    assert len(bomb) < 60_000
    server.behaviours["/x"] = replies(bomb, headers={"Content-Encoding": "gzip"})
    with pytest.raises(ReplyTooLargeError):
        get(client(server, body_bytes=100_000))


def test_compressed_document(server: FakeForge) -> None:
    server.behaviours["/x"] = gzipped(json.dumps({"a": "b" * 200_000}).encode())
    assert len(get(client(server)).data["a"]) == 200_000


# Answers


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (replies(b"no gzip at all", headers={"Content-Encoding": "gzip"}), "compression"),
        (
            replies(gzip.compress(b"{}" * 100)[:-12], headers={"Content-Encoding": "gzip"}),
            "compression",
        ),
        (replies(b"{}", headers={"Content-Encoding": "br"}), "encoding"),
        (replies(b"{}", content_type="text/html"), "instead of JSON"),
        (replies(b"{}", content_type=""), "instead of JSON"),
        (replies(b"{}", content_type="application/octet-stream"), "instead of JSON"),
        (replies(b"{"), "broken JSON"),
        (replies(b""), "broken JSON"),
        (replies(b"\xff\xfe"), "broken JSON"),
        (replies(b"[" * 100_000), "broken JSON"),
        (lambda handler: setattr(handler, "close_connection", True), "could not be reached"),
        (redirects("http://[::1/api/y"), "could not be reached"),
    ],
)
def test_an_answer_that_is_none_is_an_error(server: FakeForge, answer: Any, said: str) -> None:
    server.behaviours["/x"] = answer
    with pytest.raises(FetchError, match=said):
        get(client(server))


@pytest.mark.parametrize(
    ("status", "error_type", "retryable"),
    [
        (404, FetchNotFoundError, False),
        (410, FetchNotFoundError, False),
        (401, FetchDeniedError, False),
        (403, FetchDeniedError, False),
        (418, FetchError, False),
        (204, FetchError, False),
        (500, FetchError, True),
        (503, FetchError, True),
    ],
)
def test_status(
    server: FakeForge, status: int, error_type: type[FetchError], retryable: bool
) -> None:
    server.behaviours["/x"] = replies(b"" if status == 204 else b"secret detail", status=status)
    with pytest.raises(FetchError) as error:
        get(client(server))
    assert type(error.value) is error_type
    assert error.value.retryable is retryable
    assert error.value.hint
    assert "secret detail" not in str(error.value)


@pytest.mark.parametrize(
    ("status", "headers", "when"),
    [
        (429, {"Retry-After": "90"}, "until 2026-03-14 09:31 UTC"),
        (429, {}, "rate of requests ("),
        (429, {"Retry-After": "later"}, "rate of requests ("),
        (429, {"Retry-After": "Sat, 14 Mar 2026 09:45:00 GMT"}, "until 2026-03-14 09:45 UTC"),
        (
            403,
            {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1773482400"},
            "until 2026-03-14 10:00 UTC",
        ),
        (403, {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "9" * 30}, "rate of requests ("),
    ],
)
def test_rate_limit(server: FakeForge, status: int, headers: dict[str, str], when: str) -> None:
    server.behaviours["/x"] = replies(b"{}", status=status, headers=headers)
    with pytest.raises(FetchError) as error:
        get(client(server))
    assert when in str(error.value)
    assert error.value.retryable
    assert not isinstance(error.value, FetchDeniedError)


def test_nobody_listens() -> None:
    with FakeForge() as gone:
        pass
    with pytest.raises(FetchError, match="could not be reached") as error:
        get(client(gone))
    assert error.value.retryable


# Redirects


def test_redirect_on_the_same_server(server: FakeForge) -> None:
    server.behaviours["/x"] = redirects("/api/y", 301)
    server.behaviours["/y"] = redirects(f"{server.url}/api/z", 307)
    server.documents["/z"] = {"ok": True}
    assert get(client(server)).data == {"ok": True}
    assert len(server.seen) == 3


def test_too_many_redirects(server: FakeForge) -> None:
    server.behaviours["/x"] = redirects("/api/x")
    with pytest.raises(FetchError, match="more than 3 times"):
        get(client(server))
    assert len(server.seen) == 4


def test_redirect_to_another_port_gets_nothing(server: FakeForge) -> None:
    with FakeForge(prefix="/api") as other:
        other.documents["/x"] = {"stolen": True}
        server.behaviours["/x"] = redirects(f"{other.url}/api/x")
        with pytest.raises(FetchDeniedError) as error:
            get(client(server))
        assert other.seen == []
    assert "artifacts.forge.base_url" in error.value.hint


@pytest.mark.parametrize(
    "location",
    [
        "https://{host}/api/y",
        "http://evil.example/api/y",
        "http://user@{host}/api/y",
        "//evil.example/api/y",
        "file:///etc/passwd",
        "/login",
        "/apiary/y",
        "/api/../login",
        "http://{name}:99999/api/y",
        "",
    ],
)
def test_redirect_elsewhere_is_denied(server: FakeForge, location: str) -> None:
    host = server.url.removeprefix("http://")
    target = location.format(host=host, name=host.split(":")[0])
    server.behaviours["/x"] = redirects(target)
    with pytest.raises(FetchDeniedError):
        get(client(server))
    assert len(server.seen) == 1


# Cache


def test_fresh_reply_needs_no_request(server: FakeForge) -> None:
    server.documents["/x"] = {"n": 1}
    clock = Clock()
    bounded = client(server, now=clock, cache_s=60)
    get(bounded)
    server.documents["/x"] = {"n": 2}
    clock.now += timedelta(seconds=59)
    assert get(bounded) == Reply({"n": 1}, NOW)
    assert len(server.seen) == 1
    clock.now += timedelta(seconds=2)
    assert get(bounded).data == {"n": 2}


def test_unchanged_reply_is_confirmed_by_its_etag(server: FakeForge) -> None:
    server.documents["/x"] = {"n": 1}
    clock = Clock()
    bounded = client(server, now=clock)
    get(bounded)
    clock.now += timedelta(hours=1)
    assert get(bounded) == Reply({"n": 1}, clock.now)
    assert server.seen[1].headers["if-none-match"].startswith('"')
    clock.now += timedelta(seconds=30)
    get(bounded)
    assert len(server.seen) == 2


def test_a_clock_set_back_makes_nothing_fresh(server: FakeForge) -> None:
    server.documents["/x"] = {"n": 1}
    clock = Clock()
    bounded = client(server, now=clock)
    get(bounded)
    clock.now -= timedelta(days=1)
    get(bounded)
    assert len(server.seen) == 2


def test_no_cache_time_always_asks(server: FakeForge) -> None:
    server.documents["/x"] = {"n": 1}
    bounded = client(server, cache_s=0)
    get(bounded)
    get(bounded)
    assert len(server.seen) == 2


def test_errors_are_not_kept(server: FakeForge) -> None:
    bounded = client(server)
    with pytest.raises(FetchNotFoundError):
        get(bounded)
    server.documents["/x"] = {"n": 1}
    assert get(bounded).data == {"n": 1}


# The token, the environment, the address


def test_the_token_shows_nowhere(server: FakeForge, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    server.documents["/ok"] = {}
    server.behaviours["/x"] = replies(b"{}", status=500)
    server.behaviours["/cut"] = lambda handler: setattr(handler, "close_connection", True)
    bounded = client(server)
    get(bounded, "/ok")
    shown = [repr(bounded), repr(bounded.token), str(bounded.token), caplog.text]
    for path in ("/x", "/missing", "/cut"):
        with pytest.raises(FetchError) as error:
            get(bounded, path)
        assert error.value.__cause__ is None
        assert error.value.__context__ is None
        frames = traceback.TracebackException.from_exception(error.value, capture_locals=True)
        ours = [frame for frame in frames.stack if "palace" in Path(frame.filename).parts]
        assert ours
        shown += [*(str(frame.locals) for frame in ours), repr(error.value.args)]
    assert caplog.text
    assert not any(TOKEN in text for text in [*shown, caplog.text])
    assert all(TOKEN not in request.path for request in server.seen)


@pytest.mark.parametrize("token", [TOKEN, "with/slash+and=more", 'quo"ted-back\\slash'])
def test_a_token_that_a_page_repeats_is_taken_out(server: FakeForge, token: str) -> None:
    server.documents["/x"] = {"body": f"curl -H 'Authorization: {token}' fails"}
    slashed = json.dumps({"body": token}).replace("/", "\\/").encode()
    server.behaviours["/y"] = replies(slashed)
    bounded = client(server, token=token)
    for path in ("/x", "/x", "/y"):
        assert token not in get(bounded, path).data["body"]
        assert "[token removed]" in get(bounded, path).data["body"]
    server.documents["/z"] = {"body": "a cat"}
    assert get(client(server, token="a"), "/z").data == {"body": "a cat"}


@pytest.mark.parametrize("token", ["line\nbreak", "ünicode", "a b"])
def test_impossible_tokens_are_refused_without_showing_them(server: FakeForge, token: str) -> None:
    with pytest.raises(ConfigError) as error:
        client(server, token=token)
    assert token not in str(error.value)


def test_proxies_of_the_environment_are_not_used(
    server: FakeForge, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.documents["/x"] = {"n": 1}
    with FakeForge() as proxy:
        for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, proxy.url)
        monkeypatch.delenv("no_proxy", raising=False)
        monkeypatch.delenv("NO_PROXY", raising=False)
        assert get(client(server)).data == {"n": 1}
        assert proxy.seen == []


@pytest.mark.parametrize(
    "url",
    [
        "ftp://forge.example",
        "forge.example",
        "file:///etc",
        "http://",
        "http://user:hunter2@forge.example",
        "http://forge.example?x=hunter2",
        "http://forge.example#x",
        "http://forge.example:99999",
        "http://[::1",
        "http://for ge.example",
        "http://forge.example\\@evil.example",
        "",
    ],
)
def test_unusable_addresses(url: str) -> None:
    with pytest.raises(ConfigError, match=r"artifacts\.forge\.base_url") as error:
        BoundedClient(api_url=url, service=SERVICE)
    assert "hunter2" not in str(error.value)


def test_certificates_of_the_environment_are_not_used(
    server: FakeForge, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "missing.pem"))
    server.documents["/x"] = {}
    assert get(client(server)).data == {}


def test_certificates_that_are_missing_are_an_error(
    server: FakeForge, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("certifi.where", lambda: str(tmp_path / "missing.pem"))
    with pytest.raises(FetchError, match="set up"):
        get(client(server))


def test_missing_package_says_how_to_install_it(
    server: FakeForge, monkeypatch: pytest.MonkeyPatch
) -> None:
    genuine = builtins.__import__

    def without_httpx(name: str, *args: Any, **keywords: Any) -> Any:
        if name == "httpx":
            raise ImportError(name)
        return genuine(name, *args, **keywords)

    monkeypatch.setattr(builtins, "__import__", without_httpx)
    with pytest.raises(FetchError) as error:
        get(client(server))
    assert "the extra `gitea` is not installed" in error.value.message
    assert "pip install 'mempalace-enforcer[gitea]'" in error.value.hint
    assert "in a checkout: python -m pip install '.[gitea]'" in error.value.hint


def test_importing_the_fetchers_imports_no_httpx() -> None:
    code = (
        "import sys, palace.fetch.gitea, palace.fetch.github, palace.fetch.files, palace.fetch.logs;"
        "palace.fetch.gitea.GiteaFetcher(base_url='http://x', repositories=['a/b']).recognise('#1');"
        "sys.exit('httpx' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
