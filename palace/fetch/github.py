"""Live issues, pull requests and files of GitHub repositories.

In: the API's address and the repositories that may be read. Out: a fetcher for host `github`.
"""

from __future__ import annotations

from typing import Any

from palace.fetch.forge import RECENT_COMMENTS, ForgeFetcher
from palace.fetch.http import Service, Session


class GitHubFetcher(ForgeFetcher):
    """Fetches from GitHub; the address of an Enterprise server is `https://<host>/api/v3`.

    Source:
        GitHub REST API: issues, pulls, issue comments and contents.
    """

    host = "github"
    _service = Service(
        "GitHub",
        "artifacts.github",
        "PALACE_ARTIFACTS__GITHUB__TOKEN",
        accept="application/vnd.github+json",
    )
    _pulls, _files = "pull", "blob"

    def _addresses(self, base_url: str) -> tuple[str, str]:
        if base_url == "https://api.github.com":
            return base_url, "https://github.com"
        return base_url, base_url.removesuffix("/api/v3")

    def _recent_comments(self, session: Session, issue_path: str, count: int) -> list[Any]:
        # Pages are counted from the oldest comment, so the last few stand on the last two.
        last = -(-count // RECENT_COMMENTS)
        comments: list[Any] = []
        for page in range(max(1, last - 1), last + 1):
            query = {"per_page": str(RECENT_COMMENTS), "page": str(page)}
            data = session.get_json(f"{issue_path}/comments", query=query).data
            comments += data if isinstance(data, list) else []
        return comments[-RECENT_COMMENTS:]
