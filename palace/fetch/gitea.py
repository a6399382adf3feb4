"""Live issues, pull requests and files of a Gitea (or Forgejo) server.

In: the server's address and the repositories that may be read. Out: a fetcher for host `gitea`.
"""

from __future__ import annotations

from typing import Any

from palace.fetch.forge import RECENT_COMMENTS, ForgeFetcher
from palace.fetch.http import Service, Session

_API = "/api/v1"


class GiteaFetcher(ForgeFetcher):
    """Fetches from one Gitea server, whose address is such as `https://git.example.org`.

    Source:
        Gitea API, `/api/v1/swagger`: issues, pulls, issue comments and contents.
    """

    host = "gitea"
    _service = Service(
        "Gitea", "artifacts.gitea", "PALACE_ARTIFACTS__GITEA__TOKEN", auth_scheme="token"
    )
    _pulls, _files = "pulls", "src"

    def _addresses(self, base_url: str) -> tuple[str, str]:
        web_url = base_url.removesuffix(_API)
        return web_url + _API, web_url

    def _recent_comments(self, session: Session, issue_path: str, count: int) -> list[Any]:
        # Gitea's list of comments knows no pages: it comes whole, or is too large.
        comments = session.get_json(f"{issue_path}/comments").data
        return comments[-min(count, RECENT_COMMENTS) :] if isinstance(comments, list) else []
