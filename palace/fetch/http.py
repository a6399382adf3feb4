"""A client for one forge that stays within its bounds, whatever the server does.

In: paths below one API address. Out: parsed JSON with the moment it was confirmed, or a
`FetchError`. One fetch has one deadline for all its requests together; bodies are counted while
they stream in, after decompression; redirects never leave the server; the token never shows.
"""

from __future__ import annotations

import contextlib
import json
import socket
import threading
import time
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar
from urllib.parse import SplitResult, urlencode, urljoin, urlsplit

from palace.deadline import done_within
from palace.errors import (
    ConfigError,
    FetchDeniedError,
    FetchError,
    FetchNotFoundError,
    FetchTimeoutError,
    install_hint,
)
from palace.fetch.plain import minutes
from palace.kept import Kept
from palace.text.moments import utc_now

if TYPE_CHECKING:
    import ssl

    import httpx

_T = TypeVar("_T")
_MAX_REDIRECTS = 3
_CACHED_BYTES = 16 * 1024 * 1024
_SHORTEST_TOKEN = 8  # shorter ones are words of other texts
_REDIRECTS = frozenset({301, 302, 303, 307, 308})


class ReplyTooLargeError(FetchError):
    """A reply is larger than what may be read."""


@dataclass(frozen=True, slots=True)
class Service:
    """How a forge is named in errors and settings, and spoken to.

    Attributes:
        name: For a person, e.g. `Gitea`.
        setting: The section of the settings, e.g. `artifacts.gitea`.
        token_env: The environment variable that carries the token.
        auth_scheme: What stands before the token in its header.
        accept: Value of the `Accept` header.
    """

    name: str
    setting: str
    token_env: str
    auth_scheme: str = "Bearer"
    accept: str = "application/json"


@dataclass(frozen=True, slots=True)
class Reply:
    """Parsed JSON and when the server last confirmed it (UTC)."""

    data: Any
    at: datetime


@dataclass(frozen=True, slots=True)
class _CachedReply:
    """A body as it was sent, its version mark or "", and when the server last confirmed it."""

    body: bytes
    etag: str
    at: datetime


class Token:
    """A token that does not show in `repr`, `str` or a traceback's locals.

    Raises:
        ConfigError: If it cannot be a token: anything but visible ASCII.
    """

    __slots__ = ("_value",)

    def __init__(self, value: str | None, *, setting: str) -> None:
        self._value = (value or "").strip()
        if not all("!" <= char <= "~" for char in self._value):
            raise ConfigError(
                "the token holds characters that no token has", hint=f"set {setting} again"
            )

    def __repr__(self) -> str:
        return "Token(***)" if self._value else "Token()"

    def reveal(self) -> str:
        """Return the token itself, "" if there is none."""
        return self._value

    def taken_out_of(self, body: bytes) -> bytes:
        """Return a JSON body without the token, should somebody have pasted it into a page."""
        if len(self._value) < _SHORTEST_TOKEN:
            return body
        for form in {self._value, json.dumps(self._value)[1:-1], self._value.replace("/", "\\/")}:
            body = body.replace(form.encode("ascii"), b"[token removed]")
        return body


class BoundedClient:
    """Fetches JSON below one API address.

    Args:
        api_url: Address of the API, http or https, without user, query or fragment.
        service: The forge.
        token: Sent as `Authorization: <auth_scheme> <token>` to this server only.
        timeout_s: Seconds for one whole fetch, all its requests together.
        body_bytes: Largest body, in bytes after decompression.
        cache_s: Seconds during which a reply is used again without asking; 0 always asks.
        now: Clock; returns aware moments.

    Raises:
        ConfigError: If the address or the token is not usable.
    """

    def __init__(
        self,
        *,
        api_url: str,
        service: Service,
        token: str | None = None,
        timeout_s: float = 10.0,
        body_bytes: int = 1_114_112,
        cache_s: float = 60.0,
        now: Callable[[], datetime] | None = None,
    ) -> None:
        self.api_url = checked_url(api_url, setting=f"{service.setting}.base_url")
        self.service = service
        self.timeout_s = timeout_s
        self.body_bytes = body_bytes
        self.cached_for = timedelta(seconds=cache_s)
        self.replies: Kept[str, _CachedReply] = Kept(max(1, _CACHED_BYTES // body_bytes))
        self.now = now or utc_now
        self.token = Token(token, setting=service.token_env)
        self._tls: ssl.SSLContext | None = None

    def __repr__(self) -> str:
        return f"BoundedClient({self.api_url!r})"

    def run(self, job: Callable[[Session], _T]) -> _T:
        """Run the requests of one fetch within the deadline.

        When time is up its connection is cut and the caller goes on.

        Raises:
            FetchTimeoutError: If the job is not done after `timeout_s`.
            FetchError: As the job does.
        """
        session = Session(self, deadline=time.monotonic() + self.timeout_s)
        try:
            return done_within(self.timeout_s, lambda: session.run(job), name="palace-fetch")
        except TimeoutError:
            raise self.timed_out() from None
        finally:
            session.cut()

    def timed_out(self) -> FetchTimeoutError:
        """Return the error for a server that took too long."""
        return FetchTimeoutError(
            f"{self.service.name} did not answer within {self.timeout_s:g} s",
            hint="try again, or raise artifacts.timeout_s",
        )

    def connect(self) -> httpx.Client:
        """Return a new client that holds connections for one fetch.

        Raises:
            FetchError: If the optional package for HTTP, or the certificates it trusts, are not
                there.
        """
        library = _httpx()
        try:
            if self._tls is None:
                self._tls = library.create_ssl_context(trust_env=False)
        except OSError as error:
            raise FetchError(
                f"no connection to {self.service.name} can be set up ({type(error).__name__})",
                hint="install the package certifi anew: its certificates cannot be read",
            ) from None
        client: httpx.Client = library.Client(
            headers=self._headers(), trust_env=False, follow_redirects=False, verify=self._tls
        )
        return client

    def _headers(self) -> dict[str, str]:
        headers = {
            "Accept": self.service.accept,
            "Accept-Encoding": "gzip",
            "User-Agent": "mempalace-enforcer",
        }
        if self.token.reveal():
            headers["Authorization"] = f"{self.service.auth_scheme} {self.token.reveal()}"
        return headers


class Session:
    """The requests of one fetch: one deadline, one set of connections."""

    def __init__(self, client: BoundedClient, *, deadline: float) -> None:
        self._client = client
        self._deadline = deadline
        self._http: httpx.Client | None = None
        self._socket: Any = None
        self._over = threading.Event()

    def run(self, job: Callable[[Session], _T]) -> _T:
        """Run a job with this session and close the connections after it."""
        try:
            return job(self)
        finally:
            if self._http is not None:
                self._http.close()

    def cut(self) -> None:
        """End the session from another thread: whoever waits for bytes wakes up."""
        self._over.set()
        if self._socket is not None:
            # The plain method on purpose: the one of TLS sockets changes state that the other
            # thread is using.
            with contextlib.suppress(OSError):
                socket.socket.shutdown(self._socket, socket.SHUT_RDWR)

    def get_json(self, path: str, *, query: Mapping[str, str] | None = None) -> Reply:
        """Fetch one document, from the cache while it is fresh.

        Args:
            path: Below the API address, starting with `/`, percent-encoded already.
            query: Parameters, not encoded.

        Raises:
            FetchDeniedError: On 401, 403 or a redirect elsewhere.
            FetchNotFoundError: On 404 or 410.
            FetchTimeoutError: If time is up.
            ReplyTooLargeError: If the body exceeds `body_bytes`.
            FetchError: On any other failure.
        """
        client = self._client
        url = client.api_url + path + (f"?{urlencode(query)}" if query else "")
        cached = client.replies.get(url)
        if cached is not None and timedelta(0) <= client.now() - cached.at < client.cached_for:
            return Reply(self._parse(cached.body), cached.at)
        sent, etag = self._exchange(url, cached)
        body = client.token.taken_out_of(sent)
        data = self._parse(body)
        at = client.now()
        client.replies.put(url, _CachedReply(body, etag, at))
        return Reply(data, at)

    def _exchange(self, url: str, cached: _CachedReply | None) -> tuple[bytes, str]:
        httpx = _httpx()
        # Raised after the handlers, so that no error of ours carries a request, and with it the
        # token, along as its context.
        try:
            return self._follow(url, cached)
        except httpx.TimeoutException:
            failure: FetchError = self._client.timed_out()
        except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError) as error:
            name = self._client.service.name
            failure = FetchError(
                f"{name} could not be reached ({type(error).__name__})",
                hint=f"check {self._client.service.setting}.base_url and the network",
                retryable=True,
            )
        raise failure

    def _follow(self, url: str, cached: _CachedReply | None) -> tuple[bytes, str]:
        for _ in range(_MAX_REDIRECTS + 1):
            with self._open(url, cached) as response:
                if response.status_code in _REDIRECTS:
                    url = self._redirected(url, response.headers.get("location", ""))
                    continue
                if response.status_code == 304 and cached is not None:
                    return cached.body, cached.etag
                self._check(response)
                return self._read(response), response.headers.get("etag", "")
        raise FetchError(
            f"{self._client.service.name} redirected more than {_MAX_REDIRECTS} times",
            hint=f"check {self._client.service.setting}.base_url",
        )

    @contextlib.contextmanager
    def _open(self, url: str, cached: _CachedReply | None) -> Iterator[httpx.Response]:
        remaining_s = self._deadline - time.monotonic()
        if remaining_s <= 0 or self._over.is_set():
            raise self._client.timed_out()
        if self._http is None:
            self._http = self._client.connect()
        headers = {"If-None-Match": cached.etag} if cached and cached.etag else {}
        with self._http.stream(
            "GET",
            url,
            headers=headers,
            timeout=remaining_s,
            extensions={"trace": self._trace},
        ) as response:
            yield response

    def _trace(self, event: str, info: Mapping[str, Any]) -> None:
        if event in ("connection.connect_tcp.complete", "connection.start_tls.complete"):
            self._socket = info["return_value"].get_extra_info("socket")

    def _redirected(self, url: str, location: str) -> str:
        try:
            target = urljoin(url, location)
            parts = urlsplit(target)
        except ValueError:
            target, parts = "", urlsplit("")
        home = urlsplit(self._client.api_url)
        same = _origin(parts) == _origin(home)
        inside = parts.path.startswith(home.path.rstrip("/") + "/") and ".." not in parts.path
        if not (location and same and inside) or "@" in parts.netloc:
            raise FetchDeniedError(
                f"{self._client.service.name} redirected to another place; not followed",
                hint=f"set {self._client.service.setting}.base_url to where it lives now",
            )
        return target

    def _check(self, response: httpx.Response) -> None:
        status = response.status_code
        if status != 200:
            _refuse(status, response.headers, self._client)
        kind = response.headers.get("content-type", "").split(";")[0].strip().lower()
        if kind != "application/json" and not kind.endswith("+json"):
            raise FetchError(
                f"{self._client.service.name} answered with {kind[:60] or 'no content type'!r}"
                " instead of JSON",
                hint=f"check that {self._client.service.setting}.base_url is the forge itself",
            )

    def _read(self, response: httpx.Response) -> bytes:
        body = bytearray()
        for chunk in self._chunks(response):
            body += chunk
            if len(body) > self._client.body_bytes:
                raise ReplyTooLargeError(
                    f"{self._client.service.name} answered with more than"
                    f" {self._client.body_bytes} bytes",
                    hint="raise artifacts.max_bytes",
                )
            if time.monotonic() > self._deadline or self._over.is_set():
                raise self._client.timed_out()
        return bytes(body)

    def _chunks(self, response: httpx.Response) -> Iterator[bytes]:
        encoding = response.headers.get("content-encoding", "identity").strip().lower()
        if encoding == "identity":
            yield from response.iter_raw()
        elif encoding == "gzip":
            yield from _gunzip(response.iter_raw(), max_bytes=self._client.body_bytes)
        else:
            raise FetchError(
                f"{self._client.service.name} answered in an encoding nobody asked for",
                hint="look at the proxy in front of it",
            )

    def _parse(self, body: bytes) -> Any:  # noqa: ANN401 - JSON is what it is
        try:
            return json.loads(body)
        except (ValueError, RecursionError):
            pass
        raise FetchError(
            f"{self._client.service.name} answered with broken JSON",
            hint="try again; if it stays, look at the proxy in front of it",
            retryable=True,
        )


def checked_url(url: str, *, setting: str) -> str:
    """Return an http(s) address without a trailing slash.

    Raises:
        ConfigError: If it has another scheme, no host, or a user, query or fragment. The message
            never repeats the address: it may hold a password.
    """
    try:
        parts = urlsplit(url.strip())
        usable = parts.scheme in ("http", "https") and bool(parts.hostname)
        plain = "@" not in parts.netloc and not parts.query and not parts.fragment
        _ = parts.port
    except ValueError:
        usable = plain = False
    if not (usable and plain) or any(ord(c) <= 32 or c == "\\" for c in url.strip()):
        raise ConfigError(
            f"{setting} is no usable address",
            hint="give http(s)://host[:port][/path] without user, password, query or fragment",
        )
    return url.strip().rstrip("/")


def _httpx() -> Any:  # noqa: ANN401 - a module
    try:
        import httpx
    except ImportError as error:
        raise FetchError(
            "the extra `gitea` is not installed, and issues and pull requests need it",
            hint=install_hint("gitea"),
        ) from error
    return httpx


def _origin(parts: SplitResult) -> tuple[str, str, int]:
    try:
        port = parts.port
    except ValueError:
        port = -1
    usual = 443 if parts.scheme == "https" else 80
    return parts.scheme, parts.hostname or "", usual if port is None else port


def _gunzip(chunks: Iterator[bytes], *, max_bytes: int) -> Iterator[bytes]:
    unzip = zlib.decompressobj(wbits=31)
    try:
        for chunk in chunks:
            data = chunk
            while data and not unzip.eof:
                # One byte more than allowed is enough for the reader to refuse.
                yield unzip.decompress(data, max_bytes + 1)
                data = unzip.unconsumed_tail
        complete = unzip.eof
    except zlib.error:
        complete = False
    if not complete:
        raise FetchError("the reply's compression is broken", hint="try again", retryable=True)


def _refuse(status: int, headers: Mapping[str, str], client: BoundedClient) -> NoReturn:
    service = client.service
    is_limited = headers.get("x-ratelimit-remaining") == "0" or "retry-after" in headers
    if status == 429 or (status == 403 and is_limited):
        when = _reset_time(headers, client.now())
        raise FetchError(
            f"{service.name} limits the rate of requests" + (f" until {when}" if when else ""),
            hint=f"wait, or set a token in {service.token_env} for a higher limit",
            retryable=True,
        )
    if status in (401, 403):
        raise FetchDeniedError(
            f"{service.name} refused access ({status})",
            hint=f"set a token that may read this repository in {service.token_env}",
        )
    if status in (404, 410):
        raise FetchNotFoundError(
            f"{service.name} has no such thing ({status})",
            hint="check the number or path; private repositories need a token"
            f" in {service.token_env}",
        )
    raise FetchError(
        f"{service.name} answered with status {status}",
        hint="try again later" if status >= 500 else f"check {service.setting}",
        retryable=status >= 500,
    )


def _reset_time(headers: Mapping[str, str], now: datetime) -> str:
    try:
        after = headers.get("retry-after")
        if after and after.strip().isdigit():
            return minutes(now + timedelta(seconds=min(float(after), 1e7)))
        if after:
            return minutes(parsedate_to_datetime(after))
        reset = float(headers["x-ratelimit-reset"])
        return minutes(datetime.fromtimestamp(reset, tz=timezone.utc))
    except (KeyError, ValueError, OverflowError, OSError):
        return ""
