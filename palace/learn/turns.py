"""Conversations from JSON lines or a JSON list: each line or element a turn or message, verbatim.

In: a file of objects `{"session", "speaker", "text", "at"}`, or for a history also `{"role",
"content"}`. Out: turns, and for every line that is no turn its number and the reason; or messages.
"""

from __future__ import annotations

import json
from codecs import BOM_UTF8
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from palace.arguments import message_in
from palace.errors import ConfigError, unreadable_hint
from palace.learn.foreign import items_of
from palace.learn.json_stream import UTF16_MARKS
from palace.learn.moment import parse_moment
from palace.ports import Progress
from palace.types.session import ConversationTurn, Message

KEYS = ("session", "speaker", "text", "at")
_PROGRESS_LINES = 500
_IS_MESSAGE = "it is a message with role and content, and no turn"
_MESSAGE_EXAMPLE = '{"role": "user", "content": "Hello.", "at": "2026-05-08T13:56:00Z"}'
_EXAMPLE = '{"session": "s1", "speaker": "Ann", "text": "Hello.", "at": "2026-05-08T13:56:00Z"}'


@dataclass(frozen=True, slots=True)
class RefusedLine:
    """A line that is no turn.

    Attributes:
        line: In the file, 1-based.
        reason: For a person; never holds what stood there.
    """

    line: int
    reason: str


def read_turns(
    source: Path, *, progress: Progress | None = None
) -> tuple[list[tuple[int, ConversationTurn]], list[RefusedLine]]:
    """Read a file of turns; empty lines are skipped, keys that are not ours are ignored.

    Args:
        source: UTF-8, with or without a byte order mark; one turn a line, or a list of turns.
        progress: Called with (lines or bytes done, to do).

    Returns:
        The turns with their lines, in the order of the file, and the lines that were refused. What
        is private in a turn is for the caller to judge.

    Raises:
        ConfigError: If the file cannot be read or no line of it is a turn.
    """
    try:
        turns: list[tuple[int, ConversationTurn]] = []
        refused: list[RefusedLine] = []
        understood = False
        for number, read in (_listed if _is_list(source) else _by_line)(source, progress):
            if isinstance(read, _Refused):
                refused.append(RefusedLine(number, read.reason))
                understood = understood or read.understood
            else:
                turns.append((number, read))
                understood = True
    except OSError as error:
        raise ConfigError(
            f"{source} cannot be read: {error.strerror or error}", hint=unreadable_hint(error)
        ) from error
    if refused and not understood:
        first = refused[0]
        hint = f"every line is one JSON object with the keys {', '.join(KEYS)}: {_EXAMPLE}"
        if first.reason == _IS_MESSAGE:
            hint = f"put such messages in a .json file as one list, [{{…}}, {{…}}]; else {hint}"
        raise ConfigError(
            f"{source}:{first.line}: {first.reason}; no line of the file is a turn", hint=hint
        )
    return turns, refused


def _listed(source: Path, progress: Progress | None) -> Iterator[_Read]:
    for item in items_of(source, progress=progress):
        yield item.line, _Refused(item.problem) if item.problem else _turn_or_reason(item.value)


def _by_line(source: Path, progress: Progress | None) -> Iterator[_Read]:
    to_do = sum(1 for _ in _lines(source)) if progress else 0
    for number, line in enumerate(_lines(source), 1):
        if line.strip():
            yield number, _turn_of_line(line)
        if progress and (number % _PROGRESS_LINES == 0 or number == to_do):
            progress(number, to_do)


def _is_list(source: Path) -> bool:
    """Whether a file holds a list, and not lines of which the first one is a list."""
    lines = (line for line in _lines(source) if line.strip())
    first, is_all = next(lines, b""), next(lines, None) is None
    if is_all or first.lstrip()[:1] != b"[":
        return first.lstrip()[:1] == b"["
    try:
        json.loads(first)
    except (ValueError, RecursionError):
        return True
    return False


_ROLES = {"human": "user", "ai": "assistant", "agent": "assistant"}
_KNOWN_ROLES = frozenset({"user", "assistant", "system", "tool"})


def read_history(source: Path, *, session: str | None = None) -> list[Message]:
    """Read a conversation from JSON lines or a JSON list, as what consolidation condenses.

    A line is a message, `{"role", "content", "at"}`, or a turn, `{"session", "speaker", "text",
    "at"}`. Whoever is not `assistant`, `system` or `tool` is the user. Content may be in parts, and
    is missing where a message only calls tools.

    Args:
        source: UTF-8, a list of JSON objects or one a line; empty lines are skipped.
        session: Lines that name another session are left out.

    Raises:
        ConfigError: If the file cannot be read or a line is neither; names the line.
    """
    try:
        values = list(_values(source))
    except OSError as error:
        raise ConfigError(
            f"{source} cannot be read: {error.strerror or error}", hint=unreadable_hint(error)
        ) from error
    return [
        message
        for number, value in values
        if (message := _message(source, number, value, session)) is not None
    ]


def _values(source: Path) -> Iterator[tuple[int, Any]]:
    """Yield the elements of a list, or what each line holds, with its line; None is no JSON."""
    lines = [(number, line) for number, line in enumerate(_lines(source), 1) if line.strip()]
    if lines and lines[0][1].startswith(UTF16_MARKS):
        raise ConfigError(f"{source} is written in UTF-16", hint="save it as UTF-8")
    if lines and lines[0][1].lstrip()[:1] == b"[":
        for item in items_of(source):
            if item.problem:
                raise ConfigError(f"{source}:{item.line}: {item.problem}", hint=_MESSAGE_EXAMPLE)
            yield item.line, item.value
        return
    for number, line in lines:
        try:
            yield number, json.loads(line.decode("utf-8"))
        except (ValueError, RecursionError):
            yield number, None


def _message(source: Path, number: int, data: Any, session: str | None) -> Message | None:  # noqa: ANN401 - any JSON value
    given = data if isinstance(data, dict) else {}
    who, said = given.get("role", given.get("speaker")), given.get("content", given.get("text"))
    if not isinstance(who, str) or (said is None and not given.get("tool_calls")):
        raise _no_message(source, number)
    try:
        message = message_in({**given, "content": said})
    except ConfigError as error:
        raise _no_message(source, number) from error
    if session is not None and str(given.get("session") or session) != session:
        return None
    role = _ROLES.get(who.lower(), who.lower())
    known = role if role in _KNOWN_ROLES else "user"
    return replace(message, role=known, at=parse_moment(given.get("at")))


def _no_message(source: Path, number: int) -> ConfigError:
    return ConfigError(
        f"{source}:{number} is no message", hint=f"{_MESSAGE_EXAMPLE}, or {_EXAMPLE}"
    )


@dataclass(frozen=True, slots=True)
class _Refused:
    """Why a line is refused; `understood` if it is a turn all the same."""

    reason: str
    understood: bool = False


_Read = tuple[int, ConversationTurn | _Refused]


def _lines(source: Path) -> Iterator[bytes]:
    with source.open("rb") as file:
        for number, line in enumerate(file):
            yield line.removeprefix(BOM_UTF8) if number == 0 else line


def _turn_of_line(line: bytes) -> ConversationTurn | _Refused:
    try:
        data = json.loads(line.decode("utf-8"))
    except UnicodeDecodeError:
        return _Refused("it is not UTF-8 text")
    except json.JSONDecodeError as error:
        return _Refused(f"it is not JSON: {error.msg} at column {error.colno}")
    except (RecursionError, ValueError):
        return _Refused("it is JSON that nests too deeply or holds too large a number")
    return _turn_or_reason(data)


def _turn_or_reason(data: object) -> ConversationTurn | _Refused:
    if not isinstance(data, dict):
        return _Refused("it is not a JSON object")
    missing = [key for key in KEYS if data.get(key) is None]
    if missing and {"role", "content"} <= data.keys():
        return _Refused(_IS_MESSAGE)
    if missing:
        return _Refused(f"the key {missing[0]!r} is missing")
    return _turn(data)


def _turn(data: dict[str, Any]) -> ConversationTurn | _Refused:
    wrong = [key for key in ("session", "speaker") if not _is_name(data[key])]
    if wrong or not isinstance(data["text"], str):
        return _Refused(f"{wrong[0] if wrong else 'text'!r} is not text")
    session, text = str(data["session"]).strip(), data["text"]
    if not session:
        return _Refused("'session' is empty")
    if not text.strip():
        return _Refused("'text' is empty", understood=True)
    at = parse_moment(data["at"])
    if at is None:
        return _Refused("'at' is no moment such as 2026-05-08T13:56:00Z or 1778248560")
    provenance = str(data["id"]) if _is_name(data.get("id")) else ""
    speaker = str(data["speaker"])
    return ConversationTurn(session, speaker, text, at, provenance=provenance)


def _is_name(value: object) -> bool:
    return isinstance(value, (str, int)) and not isinstance(value, bool)
