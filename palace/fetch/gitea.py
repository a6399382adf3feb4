"""Live issues, pull requests and files of a Gitea (or Forgejo) server.

In: the server's address and the repositories that may be read. Out: a fetcher for host `gitea`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

from palace.fetch.forge import RECENT_COMMENTS, ForgeFetcher
from palace.fetch.http import BoundedClient, Service, Session, checked_url

_API = "/api/v1"
_SERVICE = Service("Gitea", "artifacts.gitea", "PALACE_ARTIFACTS__GITEA__TOKEN")


class GiteaFetcher(ForgeFetcher):
    """Fetches from one Gitea server; needs the `gitea` extra when it fetches, not before.

    Args:
        base_url: Address of the server, http(s), e.g. `https://git.example.org`.
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
        Gitea API, `/api/v1/swagger`: issues, pulls, issue comments and contents.
    """

    host = "gitea"

    def __init__(
        self,
        *,
        base_url: str,
        repositories: Sequence[str],
        elsewhere: Sequence[str] = (),
        token: str | None = None,
        timeout_s: float = 10.0,
        max_bytes: int = 262_144,
        cache_s: float = 60.0,
        now: Callable[[], datetime] | None = None,
    ) -> None:
        web_url = checked_url(base_url, setting=f"{_SERVICE.setting}.base_url").removesuffix(_API)
        client = BoundedClient(
            api_url=web_url + _API,
            service=_SERVICE,
            token=token,
            auth_scheme="token",
            timeout_s=timeout_s,
            body_bytes=4 * max_bytes + 65_536,
            cache_s=cache_s,
            now=now,
        )
        super().__init__(
            client=client,
            web_url=web_url,
            repositories=repositories,
            elsewhere=elsewhere,
            max_bytes=max_bytes,
        )

    def _pull_address(self, repository: str, number: int) -> str:
        return f"{self._web_url}/{repository}/pulls/{number}"

    def _file_address(self, repository: str, path: str, git_ref: str) -> str:
        return f"{self._web_url}/{repository}/src/{git_ref or 'HEAD'}/{path}"

    def _recent_comments(self, session: Session, issue_path: str, count: int) -> list[Any]:
        # Gitea's list of comments knows no pages: it comes whole, or is too large.
        comments = session.get_json(f"{issue_path}/comments").data
        return comments[-min(count, RECENT_COMMENTS) :] if isinstance(comments, list) else []
