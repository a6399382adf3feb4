"""Conversations from JSON lines or a JSON list: each line or element a turn or message, verbatim.

In: a file of objects `{"session", "speaker", "text", "at"}`, or for a history also `{"role",
"content"}`. Out: turns, and for every line that is no turn its number and the reason; or messages.
"""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from palace.arguments import message_in
from palace.errors import ConfigError
from palace.learn.foreign import Left, Said, items_of, reading
from palace.learn.json_stream import UTF16_MARKS, Item, is_json, item_in
from palace.learn.moment import parse_moment
from palace.ports import Progress
from palace.types.session import ConversationTurn, Message

KEYS = ("session", "speaker", "text", "at")
_PROGRESS_LINES = 500
_IS_EMPTY = "'text' is empty"
_IS_MESSAGE = "it is a message with role and content, and no turn"
_MESSAGE_EXAMPLE = '{"role": "user", "content": "Hello.", "at": "2026-05-08T13:56:00Z"}'
_EXAMPLE = '{"session": "s1", "speaker": "Ann", "text": "Hello.", "at": "2026-05-08T13:56:00Z"}'


def read_turns(source: Path, *, progress: Progress | None = None) -> list[Said | Left]:
    """Read a file of turns; empty lines are skipped, keys that are not ours are ignored.

    Args:
        source: UTF-8, with or without a byte order mark; one turn a line, or a list of turns.
        progress: Called with (lines or bytes done, to do).

    Returns:
        The turns and the lines that are none, in the order of the file. No reason holds what stood
        there; what is private in a turn is for the caller to judge.

    Raises:
        ConfigError: If the file cannot be read or no line of it is a turn.
    """
    with reading(source):
        items = _items(source, as_list=_is_list(source), progress=progress)
        read = [_read(item.line, item.problem or _turn_or_reason(item.value)) for item in items]
    refused = [left for left in read if isinstance(left, Left) and left.reason != _IS_EMPTY]
    if refused and len(refused) == len(read):
        first = refused[0]
        hint = f"every line is one JSON object with the keys {', '.join(KEYS)}: {_EXAMPLE}"
        if first.reason == _IS_MESSAGE:
            hint = f"put such messages in a .json file as one list, [{{…}}, {{…}}]; else {hint}"
        raise ConfigError(
            f"{source}:{first.line}: {first.reason}; no line of the file is a turn", hint=hint
        )
    return read


def _items(source: Path, *, as_list: bool, progress: Progress | None = None) -> Iterator[Item]:
    """Yield the elements of a list, or what each line holds; empty lines are skipped."""
    if as_list:
        yield from items_of(source, progress=progress)
        return
    to_do = sum(1 for _ in _lines(source)) if progress else 0
    for number, line in enumerate(_lines(source), 1):
        if line.strip():
            yield item_in(line, line=number)
        if progress and (number % _PROGRESS_LINES == 0 or number == to_do):
            progress(number, to_do)


def _is_list(source: Path) -> bool:
    """Whether a file holds a list, and not lines of which the first one is a list."""
    lines = (line for line in _lines(source) if line.strip())
    first, is_all = next(lines, b""), next(lines, None) is None
    return first.lstrip()[:1] == b"[" and (is_all or not is_json(first))


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
    with reading(source):
        first = next((line.lstrip() for line in _lines(source) if line.strip()), b"")
        if first.startswith(UTF16_MARKS):
            raise ConfigError(f"{source} is written in UTF-16", hint="save it as UTF-8")
        items = list(_items(source, as_list=first[:1] == b"["))
    found = (_message(source, item, session) for item in items)
    return [message for message in found if message is not None]


def _message(source: Path, item: Item, session: str | None) -> Message | None:
    given = item.value if isinstance(item.value, dict) else {}
    who, said = given.get("role", given.get("speaker")), given.get("content", given.get("text"))
    why = f": {item.problem}" if item.problem else ""
    fault = ConfigError(
        f"{source}:{item.line} is no message{why}", hint=f"{_MESSAGE_EXAMPLE}, or {_EXAMPLE}"
    )
    if not isinstance(who, str) or (said is None and not given.get("tool_calls")):
        raise fault
    try:
        message = message_in({**given, "content": said})
    except ConfigError as error:
        raise fault from error
    if session is not None and str(given.get("session") or session) != session:
        return None
    role = _ROLES.get(who.lower(), who.lower())
    known = role if role in _KNOWN_ROLES else "user"
    return replace(message, role=known, at=parse_moment(given.get("at")))


def _lines(source: Path) -> Iterator[bytes]:
    with source.open("rb") as file:
        for number, line in enumerate(file):
            yield line.removeprefix(BOM_UTF8) if number == 0 else line


def _read(line: int, found: ConversationTurn | str) -> Said | Left:
    return Left(line, found) if isinstance(found, str) else Said(line, found)


def _turn_or_reason(data: object) -> ConversationTurn | str:
    if not isinstance(data, dict):
        return "it is not a JSON object"
    missing = [key for key in KEYS if data.get(key) is None]
    if missing and {"role", "content"} <= data.keys():
        return _IS_MESSAGE
    if missing:
        return f"the key {missing[0]!r} is missing"
    return _turn(data)


def _turn(data: dict[str, Any]) -> ConversationTurn | str:
    wrong = [key for key in ("session", "speaker") if not _is_name(data[key])]
    if wrong or not isinstance(data["text"], str):
        return f"{wrong[0] if wrong else 'text'!r} is not text"
    session, text = str(data["session"]).strip(), data["text"]
    if not session:
        return "'session' is empty"
    if not text.strip():
        return _IS_EMPTY
    at = parse_moment(data["at"])
    if at is None:
        return "'at' is no moment such as 2026-05-08T13:56:00Z or 1778248560"
    provenance = str(data["id"]) if _is_name(data.get("id")) else ""
    speaker = str(data["speaker"])
    return ConversationTurn(session, speaker, text, at, provenance=provenance)


def _is_name(value: object) -> bool:
    return isinstance(value, (str, int)) and not isinstance(value, bool)
