"""Live issues, pull requests and files of GitHub repositories.

In: the repositories that may be read. Out: a fetcher for host `github`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

from palace.fetch.forge import RECENT_COMMENTS, ForgeFetcher
from palace.fetch.http import BoundedClient, Service, Session

_SERVICE = Service("GitHub", "artifacts.github", "PALACE_ARTIFACTS__GITHUB__TOKEN")


class GitHubFetcher(ForgeFetcher):
    """Fetches from GitHub; needs the `gitea` extra when it fetches, not before.

    Args:
        base_url: Address of the API; `https://<host>/api/v3` for an Enterprise server.
        repositories: `owner/name` of each repository that may be read.
        elsewhere: Repositories of other configured forges; none if this is the only forge.
        token: Access token; sent to this server only, never shown.
        timeout_s: Seconds for one whole fetch.
        max_bytes: Longest text of an artifact, in bytes. A reply may be four times as large and
            64 KiB more, because JSON and base64 are longer than the text in them.
        cache_s: Seconds during which a reply is used again without asking.
        now: Clock; returns aware moments.

    Raises:
        ConfigError: If the address or a repository is not usable.

    Source:
        GitHub REST API: issues, pulls, issue comments and contents.
    """

    host = "github"

    def __init__(
        self,
        *,
        repositories: Sequence[str],
        base_url: str = "https://api.github.com",
        elsewhere: Sequence[str] = (),
        token: str | None = None,
        timeout_s: float = 10.0,
        max_bytes: int = 262_144,
        cache_s: float = 60.0,
        now: Callable[[], datetime] | None = None,
    ) -> None:
        client = BoundedClient(
            api_url=base_url,
            service=_SERVICE,
            token=token,
            auth_scheme="Bearer",
            accept="application/vnd.github+json",
            timeout_s=timeout_s,
            body_bytes=4 * max_bytes + 65_536,
            cache_s=cache_s,
            now=now,
        )
        super().__init__(
            client=client,
            web_url=_web_url(client.api_url),
            repositories=repositories,
            elsewhere=elsewhere,
            max_bytes=max_bytes,
        )

    def _pull_address(self, repository: str, number: int) -> str:
        return f"{self._web_url}/{repository}/pull/{number}"

    def _file_address(self, repository: str, path: str, git_ref: str) -> str:
        return f"{self._web_url}/{repository}/blob/{git_ref or 'HEAD'}/{path}"

    def _recent_comments(self, session: Session, issue_path: str, count: int) -> list[Any]:
        # Pages are counted from the oldest comment, so the last few stand on the last two.
        last = -(-count // RECENT_COMMENTS)
        comments: list[Any] = []
        for page in range(max(1, last - 1), last + 1):
            query = {"per_page": str(RECENT_COMMENTS), "page": str(page)}
            data = session.get_json(f"{issue_path}/comments", query=query).data
            comments += data if isinstance(data, list) else []
        return comments[-RECENT_COMMENTS:]


def _web_url(api_url: str) -> str:
    if api_url == "https://api.github.com":
        return "https://github.com"
    return api_url.removesuffix("/api/v3")
