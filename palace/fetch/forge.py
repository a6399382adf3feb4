"""What forges have in common: recognising, checking, fetching and rendering their artifacts.

In: prompts and references. Out: references to what is named, and artifacts as plain lines. A forge
of one kind (`gitea`, `github`) adds its addresses and how it pages comments.
"""

from __future__ import annotations

import base64
import binascii
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, ClassVar
from urllib.parse import quote

import regex

from palace.errors import ConfigError, FetchDeniedError, FetchError
from palace.fetch.http import BoundedClient, Reply, Service, Session, checked_url
from palace.fetch.issue_text import IssueText, file_listing, is_pull, render_issue, repository_of
from palace.fetch.mentions import NAME, Mention, find_mentions
from palace.fetch.plain import MAX_REFS, clip_bytes, decode_text, minutes, one_line, printable
from palace.ports import Artifact, ArtifactRef

RECENT_COMMENTS = 5
_REPOSITORY = regex.compile(rf"({NAME})/({NAME})", regex.ASCII)
_NUMBERED = regex.compile(rf"({NAME}/{NAME})#([1-9]\d{{0,8}})", regex.ASCII)
_FILED = regex.compile(rf"({NAME}/{NAME}):([^\x00-\x1f\x7f\\\ud800-\udfff]{{1,1000}})")
_GIT_REF = regex.compile(r"[\w][\w./+-]{0,199}")


class ForgeFetcher(ABC):
    """Fetches issues, pull requests and files of the configured repositories of one forge.

    Needs the `gitea` extra when it fetches, not before.

    Args:
        base_url: Address of the forge, http(s).
        repositories: `owner/name` of each repository that may be read; case does not matter.
        elsewhere: Repositories other forges are configured for; none if this is the only forge.
            A number without a repository is only understood by the only forge with one
            repository, and an explicit reference to one of these is left to the others.
        token: Access token; sent to this forge only, never shown.
        timeout_s: Seconds for one whole fetch.
        max_bytes: Longest text of an artifact, in bytes of UTF-8. A reply may be four times as
            large and 64 KiB more, because JSON and base64 are longer than the text in them.
        cache_s: Seconds during which a reply is used again without asking.
        now: Clock; returns aware moments.

    Raises:
        ConfigError: If the address is not usable, or a repository is not `owner/name`.
    """

    host: str
    _service: ClassVar[Service]
    _pulls: ClassVar[str]
    """What stands before the number in the address of a pull request."""
    _files: ClassVar[str]
    """What stands before branch and path in the address of a file."""

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
        address = checked_url(base_url, setting=f"{self._service.setting}.base_url")
        api_url, self._web_url = self._addresses(address)
        self._client = BoundedClient(
            api_url=api_url,
            service=self._service,
            token=token,
            timeout_s=timeout_s,
            body_bytes=4 * max_bytes + 65_536,
            cache_s=cache_s,
            now=now,
        )
        self._max_bytes = max_bytes
        self._elsewhere = frozenset(name.lower() for name in elsewhere)
        for name in repositories:
            if not _is_repository(name):
                raise ConfigError(
                    f"{self._service.setting}.repositories holds {name[:80]!r}",
                    hint="write each repository as owner/name",
                )
        self._repositories = {name.lower(): name for name in repositories}

    def recognise(self, prompt: str) -> Sequence[ArtifactRef]:
        """Return the artifacts this prompt names, at most 8, each once; asks nobody."""
        refs: dict[tuple[str, str], ArtifactRef] = {}
        for mention in find_mentions(prompt, web_url=self._web_url):
            repository = self._resolve(mention)
            if repository:
                ref = self._ref(mention, repository)
                key = (ref.target.lower(), ref.options.get("ref", ""))
                # "PR 45, that is #45": who says pull request knows.
                if key not in refs or refs[key].kind == "issue":
                    refs[key] = ref
        return list(refs.values())[:MAX_REFS]

    def fetch(self, ref: ArtifactRef) -> Artifact:
        """Fetch one artifact live (or as confirmed within the cache time).

        Raises:
            FetchDeniedError: If its repository is not configured, or the forge refuses.
            FetchNotFoundError: If it does not exist.
            FetchTimeoutError: If the forge is too slow.
            FetchError: On any other failure.
        """
        if ref.host != self.host:
            raise FetchError(f"{self.host} cannot fetch from {ref.host[:40]!r}", hint="a bug")
        if ref.kind in ("issue", "pull"):
            match = _NUMBERED.fullmatch(ref.target)
            if match:
                repository, number = self._allowed(match[1]), int(match[2])
                return self._client.run(lambda s: self._issue(s, ref, repository, number))
        elif ref.kind == "repo_file":
            match = _FILED.fullmatch(ref.target)
            if match and _is_inside(match[2]) and _is_git_ref(ref.options.get("ref", "")):
                repository, path = self._allowed(match[1]), match[2]
                return self._client.run(lambda s: self._file(s, ref, repository, path))
        raise FetchDeniedError(
            f"{one_line(ref.target, max_chars=80)!r} is no artifact of {self._service.name}",
            hint="write owner/name#number or owner/name:path",
        )

    @abstractmethod
    def _addresses(self, base_url: str) -> tuple[str, str]:
        """Return where the API is, and where people see the forge."""

    @abstractmethod
    def _recent_comments(self, session: Session, issue_path: str, count: int) -> list[Any]:
        """Fetch the last few of `count` comments, oldest first, at least one request."""

    def _resolve(self, mention: Mention) -> str:
        """Return the repository a mention is meant for, "" if it is not meant for this forge."""
        name = mention.repository.lower()
        if name in self._repositories:
            return self._repositories[name]
        if mention.explicit:
            known = name in self._elsewhere or not _is_repository(name)
            return "" if known else mention.repository
        short = [full for key, full in self._repositories.items() if key.split("/")[1] == name]
        if len(short) == 1:
            return short[0]
        if short or mention.kind == "repo_file" or (name and not mention.loose):
            return ""
        alone = not self._elsewhere and len(self._repositories) == 1
        return next(iter(self._repositories.values())) if alone else ""

    def _ref(self, mention: Mention, repository: str) -> ArtifactRef:
        if mention.kind == "repo_file":
            options = {"ref": mention.git_ref} if mention.git_ref else {}
            return ArtifactRef("repo_file", self.host, f"{repository}:{mention.path}", options)
        return ArtifactRef(mention.kind, self.host, f"{repository}#{mention.number}", {})

    def _allowed(self, repository: str) -> str:
        known = self._repositories.get(repository.lower())
        if known is None:
            raise FetchDeniedError(
                f"{repository} is not among the configured repositories",
                hint=f"add it to {self._service.setting}.repositories",
            )
        return known

    def _issue(self, session: Session, ref: ArtifactRef, repository: str, number: int) -> Artifact:
        issue_path = f"/repos/{repository}/issues/{number}"
        is_pull_asked = ref.kind == "pull"
        path = f"/repos/{repository}/pulls/{number}" if is_pull_asked else issue_path
        reply = session.get_json(path)
        issue = self._checked_issue(reply, number)
        count = issue.get("comments")
        total = count if isinstance(count, int) and count > 0 else 0
        comments: list[Any] | None = []
        if total:
            try:
                comments = self._recent_comments(session, issue_path, total)
            except FetchError:
                comments = None  # the issue itself is known; the text says what is missing
        rendered = render_issue(
            issue,
            name=f"{repository}#{number}",
            as_of=reply.at,
            comments=comments,
            total_comments=total,
            max_bytes=self._max_bytes,
        )
        kind = self._pulls if is_pull_asked or is_pull(issue) else "issues"
        address = f"{self._web_url}/{repository}/{kind}/{number}"
        return self._artifact(ref, rendered, address, reply)

    def _checked_issue(self, reply: Reply, number: int) -> Mapping[str, Any]:
        issue = reply.data
        if not isinstance(issue, dict) or issue.get("number") != number:
            raise FetchError(
                f"{self._service.name} answered with something that is not #{number}",
                hint=f"check {self._service.setting}.base_url",
            )
        # A moved issue is answered from where it lives now.
        home = repository_of(issue)
        if home:
            self._allowed(home)
        return issue

    def _file(self, session: Session, ref: ArtifactRef, repository: str, path: str) -> Artifact:
        git_ref = ref.options.get("ref", "")
        reply = session.get_json(
            f"/repos/{repository}/contents/{quote(path, safe='/')}",
            query={"ref": git_ref} if git_ref else None,
        )
        label = f"{repository}:{path}" + (f" at {git_ref}" if git_ref else "")
        if isinstance(reply.data, list):
            text, title = file_listing(reply.data), f"{label} (folder)"
        else:
            text, title = self._decoded(reply.data, label), label
        clipped, cut = clip_bytes(text, self._max_bytes)
        title = f"{title}, as of {minutes(reply.at)}"
        place = f"{quote(git_ref, safe='/') or 'HEAD'}/{quote(path, safe='/')}"
        address = f"{self._web_url}/{repository}/{self._files}/{place}"
        return self._artifact(ref, IssueText(title, clipped, cut), address, reply)

    def _decoded(self, data: Any, label: str) -> str:  # noqa: ANN401 - JSON is what it is
        content = data.get("content") if isinstance(data, dict) else None
        if not isinstance(content, str) or data.get("encoding") != "base64":
            raise FetchError(
                f"{label} is no file that can be read", hint="name a text file below 1 MB"
            )
        try:
            text = decode_text(base64.b64decode("".join(content.split()), validate=True))
        except (binascii.Error, ValueError):
            text = None
        if text is None:
            raise FetchError(f"{label} is not a text file", hint="name a text file")
        return printable(text)

    def _artifact(self, ref: ArtifactRef, rendered: IssueText, url: str, reply: Reply) -> Artifact:
        git_ref = ref.options.get("ref", "")
        return Artifact(
            ref=f"{self.host}:{ref.target}" + (f"@{git_ref}" if git_ref else ""),
            title=one_line(rendered.title),
            text=rendered.text,
            url=url,
            fetched_at=reply.at,
            truncated=rendered.truncated,
        )


def _is_repository(name: str) -> bool:
    return bool(_REPOSITORY.fullmatch(name)) and not any(
        part in (".", "..") for part in name.split("/")
    )


def _is_inside(path: str) -> bool:
    return not path.startswith("/") and all(step not in ("", ".", "..") for step in path.split("/"))


def _is_git_ref(name: str) -> bool:
    return not name or (bool(_GIT_REF.fullmatch(name)) and ".." not in name)
