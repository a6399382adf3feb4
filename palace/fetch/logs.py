"""Log files that a prompt names: their end, a span of time, or the lines that hold a word.

In: prompts, and the paths of the logs that may be read. Out: a fetcher for host `logs`. A log is
read backwards in blocks, up to a limit, so its size does not matter.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from pathlib import Path
from typing import BinaryIO

import regex

from palace.errors import FetchDeniedError, FetchError
from palace.fetch.plain import (
    DENSE,
    MAX_PROMPT_CHARS,
    MAX_REFS,
    PATTERN_TIMEOUT_S,
    clip_bytes,
    is_binary,
    minutes,
    printable,
)
from palace.fetch.regular_file import open_regular, resolve_existing
from palace.fetch.timeframe import Window, find_window, line_moment
from palace.ports import Artifact, ArtifactRef
from palace.text.moments import utc_now

_BLOCK_BYTES = 65_536
_MAX_RECORD_LINES = 50
# So many records before the window, one behind the other, and it is over: a single one may have
# been written late, or begin with another date than its own.
_OLDER_RECORDS = 100
_HEAD_BYTES = 8192
_LEVELS: Mapping[str, tuple[str, ...]] = {
    "error": (
        "error",
        "fatal",
        "critical",
        "severe",
        "exception",
        "panic",
        "traceback",
        "emerg",
        "alert",
        "fail",
        "crash",
    ),
    "warning": ("warn",),
}
_LEVEL_WORDS = regex.compile(
    r"\b(?:(?P<error>errors?|exceptions?|failures?|crash(?:es)?|tracebacks?)|(?P<warning>warnings?))\b",
    regex.IGNORECASE,
)
_LINES = regex.compile(
    r"\b(?:last|tail|final|latest)\s{1,3}(?:-n\s{0,2}|-)?(?P<count>\d{1,5})(?:\s{1,3}(?:log\s)?lines?)?\b"
    r"(?!\s{0,3}(?:s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?|w|weeks?|months?)\b)",
    regex.IGNORECASE,
)
_QUOTED = regex.compile(r"`([^`\n]{1,200})`|\"([^\"\n]{1,200})\"|(?<!\w)'([^'\n]{1,200})'(?!\w)")
_AFTER_VERB = regex.compile(
    r"\b(?:grep(?:\s(?:for|-i))?|containing|mentioning|matching|(?:search|look)\sfor)\s{1,3}"
    r"(?P<word>[^\s`\"']{2,100})",
    regex.IGNORECASE,
)
_IDENTIFIER = regex.compile(
    r"(?<![\w./-])(?:[A-Z][A-Z0-9]*(?:[_-][A-Z0-9]+)+|[A-Z][A-Z0-9]{5,39}|E[A-Z]{3,20}|[A-Z]{1,8}\d{2,8}"
    r"|[a-z]{1,30}(?:_[a-z0-9]{1,30}){1,6}|[A-Z][a-z0-9]{1,30}(?:[A-Z][a-z0-9]{1,30}){1,6})(?![\w/]|\.\w)"
)
_NOT_SOUGHT = frozenset(
    "the a an any all in it this that my our critical please github gitlab".split()
)


class LogsFetcher:
    """Reads configured log files.

    Args:
        paths: The log files that may be read.
        tail_lines: Most lines of an artifact, unless the prompt asks for fewer or more.
        max_line_chars: Longest line, in characters; longer ones are cut.
        max_bytes: Longest text, in bytes.
        scan_bytes: How far back from the end a log is read, in bytes.
        zone: Zone of clock times that carry none, in logs and prompts; None is this machine's.
        now: Clock; returns aware moments.
    """

    host = "logs"

    def __init__(
        self,
        *,
        paths: Sequence[str | Path],
        tail_lines: int = 200,
        max_line_chars: int = 2000,
        max_bytes: int = 262_144,
        scan_bytes: int = 16 * 1024 * 1024,
        zone: tzinfo | None = None,
        now: Callable[[], datetime] | None = None,
    ) -> None:
        logs = (_Log.at(Path(path).expanduser().absolute()) for path in paths)
        self._logs = {str(log.path): log for log in logs}
        self._tail_lines = tail_lines
        self._max_line_chars = max_line_chars
        self._max_bytes = max_bytes
        self._scan_bytes = scan_bytes
        self._zone = zone
        self._now = now or utc_now

    def recognise(self, prompt: str) -> Sequence[ArtifactRef]:
        """Return the configured logs this prompt names, with what it wants to see of them.

        Options of a reference, all optional: `since` and `until` (ISO 8601), `grep` (a literal,
        case ignored), `level` (`error` or `warning`), `lines` (a count).
        """
        text = prompt[:MAX_PROMPT_CHARS]
        try:
            logs = self._logs.values()
            named = [log for log in logs if log.pattern.search(text, timeout=PATTERN_TIMEOUT_S)]
            if not named:
                return []
            options = self._options(text, named)
        except TimeoutError:
            return []
        return [ArtifactRef("log", self.host, str(log.path), options) for log in named[:MAX_REFS]]

    def fetch(self, ref: ArtifactRef) -> Artifact:
        """Read one log now.

        The first line of the text says what was looked for and how much of it there is; no line
        that fits is a finding too.

        Raises:
            FetchDeniedError: If the log is not configured or not readable.
            FetchNotFoundError: If it does not exist.
            FetchError: If it is no regular text file or an option is not understood.
        """
        log = self._logs.get(ref.target) if ref.host == self.host else None
        if log is None:
            raise FetchDeniedError(
                "this log is not among the configured ones",
                hint="add its path to artifacts.logs.paths",
            )
        now = self._now()
        wanted = self._wanted(ref.options, now)
        # The path was configured by a person, so links in it are meant.
        with open_regular(resolve_existing(log.path)) as file:
            if is_binary(file.read(_HEAD_BYTES)):
                raise FetchError(
                    f"{log.path.name} is not a text file",
                    hint="a compressed log has to be unpacked before it can be read",
                )
            source = _lines_from_end(
                file, scan_bytes=self._scan_bytes, line_chars=self._max_line_chars
            )
            found = _select(source, wanted)
        head = _headline(log.path.name, wanted, found)
        first_line = f"{head} (as of {minutes(now)})"
        body, cut = _newest(found.lines, self._max_bytes - len(first_line.encode()) - 1)
        text, head_cut = clip_bytes("\n".join([first_line, *body]), self._max_bytes)
        return Artifact(
            ref=f"{self.host}:{ref.target}",
            title=head,
            text=text,
            url=str(log.path),
            fetched_at=now,
            # "The last 200 lines" tells by itself that there are more; "no lines" does not.
            truncated=cut or head_cut or (found.more and not found.lines),
        )

    def _options(self, text: str, named: Sequence[_Log]) -> dict[str, str]:
        window = find_window(text, now=self._now(), zone=self._zone)
        grep = _sought(text, named)
        level = _LEVEL_WORDS.search(text, timeout=PATTERN_TIMEOUT_S)
        lines = _LINES.search(text, timeout=PATTERN_TIMEOUT_S)
        options = {
            "since": window.since.isoformat() if window.since else "",
            "until": window.until.isoformat() if window.until else "",
            "grep": grep,
            "level": (level.lastgroup or "") if level and not grep else "",
            "lines": lines["count"] if lines and int(lines["count"]) > 0 else "",
        }
        return {name: value for name, value in options.items() if value}

    def _wanted(self, options: Mapping[str, str], now: datetime) -> _Wanted:
        try:
            since, until = (
                datetime.fromisoformat(options[name]) if name in options else None
                for name in ("since", "until")
            )
            lines = int(options.get("lines", self._tail_lines))
            level = options.get("level", "")
            usable = all(at is None or at.tzinfo is not None for at in (since, until))
        except ValueError:
            usable = False
        if not usable or lines < 1 or (level and level not in _LEVELS):
            raise FetchError(
                "an option of this log reference is not understood", hint="see recognise"
            )
        return _Wanted(
            window=Window(since, until),
            grep=printable(options.get("grep", "")),
            level=level,
            max_lines=min(lines, 10_000),
            moment=lambda line: line_moment(line, now=now, zone=self._zone),
        )


@dataclass(frozen=True, slots=True)
class _Log:
    """A configured log and the ways a prompt may name it."""

    path: Path
    pattern: regex.Pattern[str]
    names: frozenset[str]

    @classmethod
    def at(cls, path: Path) -> _Log:
        stem = path.name.split(".")[0]
        exact = {str(path), path.as_posix(), path.name} - {""}
        # "the worker log", "logs of the worker": the stem says nothing without the word.
        spoken = regex.escape(stem) if stem and stem.lower() != "log" else r"(?!)"
        whole = "|".join(
            regex.escape(word)
            for word in sorted(exact, key=len, reverse=True)
            if any(char in word for char in "./\\") or word.lower().endswith("log")
        )
        letter = rf"[\w--[{DENSE}]]"  # what stands next to no name
        before, after = rf"(?<![{letter}./\\-])", rf"(?![{letter}/\\-]|\.{letter})"
        pattern = regex.compile(
            rf"{before}(?:\./)?(?:{whole or '(?!)'}){after}"
            rf"|(?<![\w./-])(?:{spoken})(?:'s)?[\s-](?:log\s?files?|logs?)(?![\w/-]|\.\w)"
            rf"|(?<![\w./-])(?:log\s?files?|logs?)\s(?:of|for|from)\s(?:the\s)?(?:{spoken})(?![\w/-]|\.\w)",
            regex.IGNORECASE | regex.VERSION1,
        )
        return cls(path, pattern, frozenset(word.casefold() for word in (exact | {stem})))


@dataclass(frozen=True, slots=True)
class _Wanted:
    """What is looked for; `moment` reads the time stamp of a line."""

    window: Window
    grep: str
    level: str
    max_lines: int
    moment: Callable[[str], datetime | None]


@dataclass(slots=True)
class _Found:
    """Lines in file order, and whether there are (or may be) more.

    Attributes:
        timed: Whether any record carries a time.
        begins: The time of the first record, None where reading did not come to it.
    """

    lines: list[str] = field(default_factory=list)
    more: bool = False
    timed: bool = False
    begins: datetime | None = None


def _lines_from_end(
    file: BinaryIO, *, scan_bytes: int, line_chars: int
) -> Iterator[tuple[str, bool]]:
    """Yield lines, newest first, and whether the limit of reading back lies just before one.

    A line longer than its cap never takes more memory than it.
    """
    keep_bytes = 4 * line_chars
    size_bytes = position = file.seek(0, os.SEEK_END)
    oldest = max(0, position - scan_bytes)
    rest = b""
    is_end = True
    while position > oldest:
        start = max(oldest, position - _BLOCK_BYTES)
        file.seek(start)
        block = file.read(position - start)
        position = start
        pieces = (block + rest).split(b"\n")
        for piece in reversed(pieces[1:]):
            if not (is_end and not piece):  # the end of the last line is no line
                yield _shown(piece, line_chars), False
            is_end = False
        rest = pieces[0][:keep_bytes] if len(pieces[0]) > keep_bytes else pieces[0]
    if size_bytes:
        yield _shown(rest, line_chars), oldest > 0


def _shown(line: bytes, line_chars: int) -> str:
    text = printable(line[: 4 * line_chars].decode("utf-8", errors="replace")).replace("\n", " ")
    return text.rstrip() if len(text) <= line_chars else text[: line_chars - 1] + "…"


def _select(source: Iterator[tuple[str, bool]], wanted: _Wanted) -> _Found:
    """Collect what is wanted, walking from the newest record to the oldest.

    A record is a line with a time stamp and the lines without one after it (a stack trace). In a
    log without any time stamp each line is a record, and a window cannot be applied.
    """
    found = _Found()
    undated: list[str] = []
    kept: list[str] = []
    oldest: datetime | None = None
    older = 0
    for record, at in _records(source, wanted, found):
        oldest = at or oldest
        if at is not None:
            is_older = wanted.window.since is not None and at < wanted.window.since
            older = older + 1 if is_older else 0
        if older > _OLDER_RECORDS:
            break
        lines = _fitting(record, wanted)
        if not lines:
            continue
        if wanted.window and at is None:
            undated += reversed(lines[-wanted.max_lines :])
            del undated[wanted.max_lines :]
        elif at is None or wanted.window.holds(at):
            kept += reversed(lines)
        if len(kept) > wanted.max_lines:
            found.more = True
            break
    else:
        found.begins = None if found.more else oldest
    found.timed = oldest is not None
    newest_first = kept if found.timed or not wanted.window else undated
    found.lines = newest_first[: wanted.max_lines][::-1]
    return found


def _records(
    source: Iterator[tuple[str, bool]], wanted: _Wanted, found: _Found
) -> Iterator[tuple[list[str], datetime | None]]:
    """Yield (lines in file order, moment), newest first."""
    pending: list[str] = []
    for line, is_limit in source:
        if is_limit:
            found.more = True  # this one may have lost its beginning, and there is more before it
            break
        at = wanted.moment(line)
        if at is None and len(pending) < _MAX_RECORD_LINES:
            pending.append(line)
        elif at is None:
            yield from (([text], None) for text in pending)
            pending = [line]
        else:
            yield [line, *reversed(pending)], at
            pending = []
    yield from (([text], None) for text in pending)


def _fitting(record: list[str], wanted: _Wanted) -> list[str]:
    if wanted.level:
        words = _LEVELS[wanted.level]
        if not any(word in line.lower() for line in record for word in words):
            return []
    if wanted.grep:
        sought = wanted.grep.casefold()
        return [line for line in record if sought in line.casefold()]
    return record


def _newest(lines: Sequence[str], max_bytes: int) -> tuple[list[str], bool]:
    """Return the last lines that fit, in order, and whether some did not."""
    size_bytes = 0
    for index in range(len(lines) - 1, -1, -1):
        size_bytes += len(lines[index].encode()) + 1
        if size_bytes > max_bytes:
            return list(lines[index + 1 :]), True
    return list(lines), False


def _headline(name: str, wanted: _Wanted, found: _Found) -> str:
    count = len(found.lines)
    what = "line" if count == 1 else "lines"
    parts = [f"{name}: {'the last ' if found.more and count else ''}{count or 'no'} {what}"]
    if wanted.level:
        parts.append(f"of {wanted.level}s")
    if wanted.grep:
        parts.append(f'with "{wanted.grep}"')
    if wanted.window and not found.timed and count:
        parts.append("of any time, for its lines carry none")
    elif wanted.window:
        since, until = wanted.window.since, wanted.window.until
        parts += [f"since {minutes(since)}"] if since else []
        parts += [f"until {minutes(until)}"] if until else []
        if since and found.begins and since < found.begins:
            parts.append(f"in a log that begins {minutes(found.begins)}")
    return " ".join(parts)


def _sought(text: str, named: Sequence[_Log]) -> str:
    """Return the literal a prompt wants to see in a log, "" if it names none."""
    names = frozenset().union(*(log.names for log in named)) | _NOT_SOUGHT
    for match in _QUOTED.finditer(text, timeout=PATTERN_TIMEOUT_S):
        word = (match[1] or match[2] or match[3]).strip()
        if word and word.casefold() not in names:
            return word
    words = [match["word"] for match in _AFTER_VERB.finditer(text, timeout=PATTERN_TIMEOUT_S)]
    words += [match[0] for match in _IDENTIFIER.finditer(text, timeout=PATTERN_TIMEOUT_S)]
    for word in (word.rstrip(".,;:!?") for word in words):
        if word.casefold() not in names and not _LEVEL_WORDS.fullmatch(word):
            return word
    return ""
