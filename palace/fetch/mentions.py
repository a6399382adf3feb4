"""Finds issues, pull requests and repository files that a prompt names; it asks nobody.

In: a prompt, any text, and the web address of one forge. Out: mentions in the order they stand
in, each with as much of its repository as the words say. Time is linear in the prompt: it is
read up to a limit, and no pattern repeats without a bound.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal
from urllib.parse import SplitResult, unquote, urlsplit

import regex

from palace.fetch.plain import BARE_FILES, MAX_PROMPT_CHARS, PATTERN_TIMEOUT_S

MentionKind = Literal["issue", "pull", "repo_file"]
_MAX_MENTIONS = 16

# Of an owner, and of a repository.
NAME = r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}"
_REPO = rf"{NAME}/{NAME}"
_PATH = r"[\w.+@-]{1,100}(?:/[\w.+@-]{1,100}){0,20}"
_NUMBER = r"[1-9]\d{0,6}(?![\w%/-]|[.,:]\d)"
# "I had this issue 3 times", "PR 10 km": a count, not a number of something.
_NO_UNIT = (
    r"(?!\s{1,3}(?:times?|days?|hours?|hrs?|weeks?|months?|years?|minutes?|mins?|seconds?|secs?"
    r"|people|users?|percent|per|x|km|kg|k|more|other|out)\b)"
)
_KIND = (
    r"(?P<kind>issues?|prs?|pull[ -]requests?|merge[ -]requests?)"
    r"(?:\s{1,3}(?:number|no\.?|nr\.?))?"
)
_AFTER = (
    r"(?:\s{1,3}(?:in|of|from|on|at)\s{1,3}(?:the\s)?(?P<said>repo(?:sitory)?\s)?"
    rf"(?P<after>{NAME}(?:/{NAME})?))?"
)

_URL = regex.compile(r"https?://[^\s<>\"'`|\\^{}\[\]()]{1,2000}", regex.IGNORECASE)
_SHORTHAND = regex.compile(
    rf"(?<![\w./@#:-])(?P<repo>{_REPO})(?P<mark>#)(?P<number>{_NUMBER})", regex.ASCII
)
_NAMED = regex.compile(
    rf"(?<![\w./@#:-])(?!(?i:issues?|prs?)#)(?P<repo>{NAME})#(?P<number>{_NUMBER})", regex.ASCII
)
_COLON_FILE = regex.compile(rf"(?<![\w./@#:-])(?P<repo>{_REPO}):(?P<path>{_PATH})")
_FILE_IN = regex.compile(
    rf"(?<![\w./@#:-])(?P<path>{_PATH})[`'\"]?\s{{1,3}}(?:in|of|from|on|at)\s{{1,3}}(?:the\s)?"
    rf"(?:repo(?:sitory)?\s)?[`'\"]?(?P<repo>{NAME}(?:/{NAME})?)(?![\w/]|[.-]\w)"
)
_WORDED = regex.compile(
    rf"(?:(?<![\w./@#-])(?P<before>{NAME}(?:/{NAME})?)(?:'s)?\s{{1,3}})?(?<![\w./#-]){_KIND}"
    rf"\s{{0,3}}\#?\s?(?P<number>{_NUMBER}){_NO_UNIT}"
    rf"(?P<more>(?:\s?(?:,|and|&|or|,\s?and)\s{{0,2}}\#?[1-9]\d{{0,6}}(?![\w%/-]|[.,:]\d)){{0,7}})"
    rf"{_AFTER}",
    regex.IGNORECASE | regex.ASCII,
)
_BARE = regex.compile(rf"(?<![\w&#/.:=-])\#(?P<number>{_NUMBER}){_AFTER}", regex.ASCII)
_WHOLE_NUMBER = regex.compile(r"[1-9]\d{0,6}", regex.ASCII)
_DIGITS = regex.compile(r"\d{1,7}")
_COLOUR = regex.compile(
    r"\b(?:colou?rs?|hex|rgb|css|background|foreground|fill|stroke|palette|theme)\b"
    r"|#(?=[0-9a-f]{0,5}[a-f])(?:[0-9a-f]{3}|[0-9a-f]{6})\b",
    regex.IGNORECASE,
)
# "step #2", "the #1 reason": an ordinal, not an issue.
_ORDINAL_BEFORE = regex.compile(
    r"\b(?:steps?|options?|points?|items?|questions?|answers?|rooms?|players?|numbers?|no|rules?"
    r"|tips?|top|chapters?|pages?|figures?|tables?|slides?|lessons?|days?|weeks?|parts?|versions?"
    r"|channels?|ranked|we're|we are|you're|is our|is my|examples?|lines?|attempts?|track|phase"
    r"|suite|unit|apartment|apt|level|goal|variant|case|test|note|meetings?|sessions?|sprints?"
    r"|episodes?|invoices?|orders?|lockers?|boxe?s?|gates?|seats?|games?|matche?s?|rounds?)\s{0,2}$",
    regex.IGNORECASE,
)
_THE_FIRST = regex.compile(r"\b(?:the|our|my|your|a|world's)\s$", regex.IGNORECASE)
_FOLLOWING_NOUN = regex.compile(
    r"\s(?:priority|reason|rule|fan|choice|place|pick|spot|thing|cause|song|hit|question|goal"
    r"|problem|tool|tip|way|mistake|most|best|ranked|seller|player|team|in the|worldwide)\b",
    regex.IGNORECASE,
)
# "to issue 5 certificates": the verb.
_VERB_BEFORE = regex.compile(
    r"\b(?:to|please|will|must|should|can|could|would|we|they|i|you)\s$", regex.IGNORECASE
)
_SENTENCE_GOES_ON = regex.compile(
    r"\s{1,3}(?!(?:is|was|are|were|has|had|have|in|of|on|from|about|and|or|but|still|yet|open|closed"
    r"|merged|done|fixed|to|for|by|with|that|which|when|if|as|at|again|now|before|after|because)\b)"
    r"[a-z]",
    regex.IGNORECASE,
)
_NAME_LIKE = regex.compile(r"[a-z0-9][-_./][a-z0-9]", regex.IGNORECASE)
_EXTENSION = regex.compile(r"\.[A-Za-z][A-Za-z0-9]{0,9}$")


@dataclass(frozen=True, slots=True)
class Mention:
    """One artifact of a forge, as a prompt names it.

    Attributes:
        repository: `owner/name`; a name alone if that is all the prompt says; "" if it says none.
        number: Of the issue or pull request; 0 for a file.
        path: Of the file, with forward slashes; "" for an issue.
        git_ref: Branch, tag or commit a URL names, else "".
        explicit: Whether it can be meant for nothing but an artifact of this repository, so that
            it counts even if the repository is not configured.
        loose: Whether `repository` may be just a word that stands beside the number.
        start: Where in the prompt it stands, in characters.
    """

    kind: MentionKind
    repository: str
    number: int = 0
    path: str = ""
    git_ref: str = ""
    explicit: bool = False
    loose: bool = False
    start: int = 0


def find_mentions(prompt: str, *, web_url: str) -> list[Mention]:
    """Return at most 16 mentions in the order they stand in; never raises on any text.

    Args:
        prompt: Read up to `MAX_PROMPT_CHARS` characters.
        web_url: Where people see this forge; URLs elsewhere are not mentions.
    """
    scan = _Scan(prompt[:MAX_PROMPT_CHARS], web_url)
    with suppress(TimeoutError):
        scan.run()
    return sorted(scan.found, key=lambda mention: mention.start)[:_MAX_MENTIONS]


class _Scan:
    """One pass per way of writing; what a pass reads is blanked for the next ones."""

    def __init__(self, text: str, web_url: str) -> None:
        self.text = text
        self.found: list[Mention] = []
        self._web = urlsplit(web_url)

    def run(self) -> None:
        for match in self._matches(_URL):
            self._read_url(match)
        for match in self._matches(_SHORTHAND):
            self._add("issue", match, (match["repo"], True, False))
        for match in self._matches(_NAMED):
            self._add("issue", match, (match["repo"], False, False))
        for match in self._matches(_COLON_FILE):
            self._read_file(match, explicit=True)
        for match in self._matches(_FILE_IN, blank=False):
            self._read_file(match, explicit=False)
        for match in self._matches(_WORDED):
            self._read_worded(match)
        is_colour = bool(_COLOUR.search(self.text, timeout=PATTERN_TIMEOUT_S))
        for match in self._matches(_BARE):
            if not _is_no_issue(match, self.text, is_colour=is_colour):
                self._add("issue", match, _place(match))

    def _matches(
        self, pattern: regex.Pattern[str], *, blank: bool = True
    ) -> Iterator[regex.Match[str]]:
        text = self.text
        for match in pattern.finditer(text, timeout=PATTERN_TIMEOUT_S):
            if len(self.found) >= 2 * _MAX_MENTIONS:
                return
            yield match
            if blank:
                start, end = match.span()
                self.text = self.text[:start] + " " * (end - start) + self.text[end:]

    def _add(
        self,
        kind: MentionKind,
        match: regex.Match[str],
        place: tuple[str, bool, bool],
        *,
        number: str = "",
    ) -> None:
        repository, explicit, loose = place
        self.found.append(
            Mention(
                kind,
                _trimmed(repository),
                number=int(number or match["number"]),
                explicit=explicit,
                loose=loose,
                start=match.start("number"),
            )
        )

    def _read_worded(self, match: regex.Match[str]) -> None:
        word = match["kind"].lower()
        if word == "issue" and self._is_verb(match):
            return
        kind: MentionKind = "issue" if word.startswith("issue") else "pull"
        place = _place(match, before=match["before"] or "")
        self._add(kind, match, place)
        more = match["more"]
        if not word.endswith("s"):
            # "issue 12 and 3 others": only a plural word announces a list of plain numbers.
            more = " ".join(part for part in more.split() if part.startswith("#"))
        for number in _DIGITS.findall(more):
            self._add(kind, match, place, number=number)

    def _is_verb(self, match: regex.Match[str]) -> bool:
        start = match.start("kind")
        return (
            "#" not in match[0]
            and bool(_VERB_BEFORE.search(self.text[max(0, start - 12) : start]))
            and bool(_SENTENCE_GOES_ON.match(self.text, match.end("number")))
        )

    def _read_file(self, match: regex.Match[str], *, explicit: bool) -> None:
        path = match["path"].rstrip(".")
        is_path = "/" in path and any(char.isalpha() for char in path)
        if is_path or _EXTENSION.search(path) or path in BARE_FILES:
            self.found.append(
                Mention(
                    "repo_file",
                    _trimmed(match["repo"]),
                    path=path,
                    explicit=explicit,
                    start=match.start(),
                )
            )

    def _read_url(self, match: regex.Match[str]) -> None:
        try:
            parts = urlsplit(match[0].rstrip(".,;:!?*_"))
            same = (parts.hostname, parts.port) == (self._web.hostname, self._web.port)
        except ValueError:
            return
        if same and "@" not in parts.netloc:
            mention = _read_web_path(parts, home=self._web.path, start=match.start())
            if mention is not None:
                self.found.append(mention)


def _trimmed(repository: str) -> str:
    return repository.rstrip(".-")


def _place(match: regex.Match[str], *, before: str = "") -> tuple[str, bool, bool]:
    """Return the repository beside a number, whether it is explicit and whether it is loose."""
    after = match["after"] or ""
    if not after:
        return before, False, True
    loose = not (match["said"] or _NAME_LIKE.search(after))
    return after, "/" in after, loose


def _is_no_issue(match: regex.Match[str], text: str, *, is_colour: bool) -> bool:
    digits = match["number"]
    before = text[max(0, match.start() - 24) : match.start()]
    if len(digits) == 6 or (len(digits) == 3 and is_colour):
        return True  # reads like a colour
    if _ORDINAL_BEFORE.search(before):
        return True
    after = text[match.end("number") : match.end("number") + 24]
    return bool(_THE_FIRST.search(before) and _FOLLOWING_NOUN.match(after))


def _read_web_path(parts: SplitResult, *, home: str, start: int) -> Mention | None:
    prefix = home.rstrip("/") + "/"
    if not parts.path.startswith(prefix):
        return None
    steps = [unquote(step) for step in parts.path[len(prefix) :].split("/") if step]
    if len(steps) < 4:
        return None
    repository, what, rest = "/".join(steps[:2]), steps[2], steps[3:]
    if what in ("issues", "pulls", "pull") and _WHOLE_NUMBER.fullmatch(rest[0]):
        kind: MentionKind = "issue" if what == "issues" else "pull"
        return Mention(kind, repository, int(rest[0]), explicit=True, start=start)
    if what in ("src", "raw", "blob"):
        if what != "blob" and rest[0] in ("branch", "tag", "commit"):
            rest = rest[1:]
        if len(rest) >= 2:
            return Mention(
                "repo_file",
                repository,
                path="/".join(rest[1:]),
                git_ref=rest[0],
                explicit=True,
                start=start,
            )
    return None
