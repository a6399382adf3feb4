"""Issues and pull requests as plain lines, from the JSON that Gitea and GitHub share.

In: parsed JSON of an issue or pull request and its comments. Out: text whose first line says what
state it is in and as of when. Nothing in the JSON is trusted to be there or to have a type.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

from palace.errors import FetchError
from palace.fetch.plain import clip_bytes, minutes, one_line, printable
from palace.text.moments import iso_moment


@dataclass(frozen=True, slots=True)
class IssueText:
    """A rendered artifact: one line for a person, the text, and whether the cap cut it."""

    title: str
    text: str
    truncated: bool


def render_issue(
    issue: Mapping[str, Any],
    *,
    name: str,
    as_of: datetime,
    comments: Sequence[Any] | None,
    total_comments: int,
    max_bytes: int,
) -> IssueText:
    """Render an issue or pull request.

    Args:
        issue: JSON of `/issues/{n}` or `/pulls/{n}`.
        name: `owner/repo#n`.
        as_of: When the forge confirmed it.
        comments: JSON of the comments to show, oldest first; None if they could not be fetched.
        total_comments: How many there are.
        max_bytes: Longest text, in bytes; the body takes at most 6/10 of it, a comment 1/10.

    Raises:
        FetchError: If the JSON has no known state.
    """
    title = one_line(_string(issue, "title"))
    head = f'{name} "{title}" is {state_of(issue)}'
    body, body_cut = clip_bytes(printable(_string(issue, "body")).strip(), max_bytes * 6 // 10)
    lines = [f"{head} (as of {minutes(as_of)})", *_facts(issue)]
    if body:
        lines += ["", body]
    cut = body_cut
    if total_comments:
        shown, comments_cut = _comment_lines(comments, total_comments, max_bytes // 10)
        lines += ["", *shown]
        cut = cut or comments_cut
    text, text_cut = clip_bytes("\n".join(lines), max_bytes)
    return IssueText(head, text, cut or text_cut)


def state_of(issue: Mapping[str, Any]) -> str:
    """Return `open`, `closed` or `merged`.

    Raises:
        FetchError: If the JSON says none of them.
    """
    for told in (issue, _object(issue, "pull_request")):
        if told.get("merged") is True or _string(told, "merged_at"):
            return "merged"
    state = issue.get("state")
    if state in ("open", "closed"):
        return str(state)
    raise FetchError("the forge does not say whether it is open or closed", hint="look there")


def is_pull(issue: Mapping[str, Any]) -> bool:
    """Return whether the JSON is that of a pull request, fetched as such or as an issue."""
    return bool(_object(issue, "pull_request")) or bool(_object(issue, "head"))


def repository_of(issue: Mapping[str, Any]) -> str:
    """Return `owner/name` of the repository the JSON says it belongs to, "" if it does not."""
    for told in (_object(issue, "repository"), _object(_object(issue, "base"), "repo")):
        if full_name := _string(told, "full_name"):
            return full_name
    steps = urlsplit(_string(issue, "repository_url")).path.rstrip("/").split("/")
    return "/".join(steps[-2:]) if len(steps) >= 3 and steps[-3] == "repos" else ""


def file_listing(entries: Sequence[Any]) -> str:
    """Return the names in a folder, one per line, folders with a trailing slash."""
    names = (
        one_line(_string(entry, "name")) + ("/" if entry.get("type") == "dir" else "")
        for entry in entries
        if isinstance(entry, dict)
    )
    return "\n".join(name for name in names if name.strip("/"))


def _facts(issue: Mapping[str, Any]) -> Iterator[str]:
    pull = _object(issue, "pull_request")
    facts = {
        "type": ("draft " if issue.get("draft") is True else "")
        + ("pull request" if is_pull(issue) else "issue"),
        "author": _user(issue.get("user")),
        "labels": _joined(issue.get("labels"), "name"),
        "assignees": _joined(issue.get("assignees"), "login"),
        "milestone": one_line(_string(_object(issue, "milestone"), "title")),
        "created": _moment(issue, "created_at"),
        "updated": _moment(issue, "updated_at"),
        "closed": _moment(issue, "closed_at"),
        "closed as": one_line(_string(issue, "state_reason")).replace("_", " "),
        "merged": _moment(issue, "merged_at") or _moment(pull, "merged_at"),
        "merged by": _user(issue.get("merged_by")),
        "branches": _branches(issue),
    }
    return (f"{label}: {value}" for label, value in facts.items() if value)


def _comment_lines(
    comments: Sequence[Any] | None, total: int, max_bytes: int
) -> tuple[list[str], bool]:
    if comments is None:
        return [f"comments: {total} in all, none shown here"], True
    shown = [comment for comment in comments if isinstance(comment, dict)]
    lines = [f"comments: {total} in all, the last {len(shown)}:"]
    cut = False
    for comment in shown:
        body, body_cut = clip_bytes(printable(_string(comment, "body")).strip(), max_bytes)
        cut = cut or body_cut
        author, when = _user(comment.get("user")), _moment(comment, "created_at")
        lines.append(f"- {author or 'somebody'}, {when or 'no date'}: {body}")
    return lines, cut


def _branches(issue: Mapping[str, Any]) -> str:
    head, target = (one_line(_string(_object(issue, key), "ref")) for key in ("head", "base"))
    return f"{head} -> {target}" if head and target else ""


def _string(data: Mapping[str, Any], key: str) -> str:
    value = data.get(key)
    return value if isinstance(value, str) else ""


def _object(data: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = data.get(key)
    return value if isinstance(value, dict) else {}


def _user(value: object) -> str:
    return one_line(_string(value, "login"), max_chars=80) if isinstance(value, dict) else ""


def _joined(value: object, key: str) -> str:
    if not isinstance(value, list):
        return ""
    names = [one_line(_string(item, key), max_chars=80) for item in value if isinstance(item, dict)]
    return ", ".join(name for name in names if name)


def _moment(data: Mapping[str, Any], key: str) -> str:
    text = _string(data, key)
    try:
        at = iso_moment(text)
    except ValueError:
        return ""
    if at.year < 1970:  # the zero time of servers that do not know null
        return ""
    return minutes(at)
