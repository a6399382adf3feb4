"""The metadata comment of a memory: found, read, edited and written, one line of HTML comment.

In: one line of Markdown, or fields by name. Out: spans, typed fields with their problems, and
comments in which only what was asked has changed.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone

from palace.text.moments import in_utc

NOT_UTF8 = "bytes that are not UTF-8 text, as é and ü may be: save the file as UTF-8 in your editor"
ID_FIELD = "id"
FIELDS = (
    "id kind scope source provenance tags importance confidence created updated valid_from valid_to"
    " status superseded_by triggers project task session reason key links retired"
).split()
"""Keys of the comment in the order they are written; `source` is `Memory.trust`."""

_CHOICES: Mapping[str, frozenset[str]] = {
    "kind": frozenset({"fact", "preference", "procedure", "correction", "negative", "event"}),
    "source": frozenset({"user", "agent", "system"}),
    "status": frozenset({"active", "inactive"}),
}
_LISTS = frozenset({"tags", "triggers", "links"})
_UNITS = frozenset({"importance", "confidence"})
_TIMES = frozenset({"created", "updated", "valid_from", "valid_to", "retired"})

_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")

_OPEN = "<!--"
_NAME = re.compile(r"[ \t]*memory(?=[ \t]|-->|\Z)")
_PLAIN = re.compile(r"<!-- memory((?: [A-Za-z_][\w.-]*=[^\s\"\[]\S*)*) -->\Z")
_KEY = re.compile(r"([A-Za-z_][\w.-]*)=")
_QUOTED = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"(?=\s|\Z)')
_ARRAY = re.compile(r'\[(?:[^\[\]"]|"[^"\\]*(?:\\.[^"\\]*)*")*\](?=\s|\Z)')
_BARE_TOKEN = re.compile(r"\S*")
_SPACE = re.compile(r"\s*")
_BARE_VALUE = re.compile(r"[\w.:/+@#%-]+\Z")
_ID = re.compile(r"[A-Za-z0-9][\w.:-]{0,127}\Z", re.ASCII)
_TIME = re.compile(
    r"(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d)(?::(\d\d)(?:\.(\d{1,6})\d*)?)?)?"
    r"[ ]?(Z|z|UTC|[+-]\d\d:?\d\d)?\Z",
    re.ASCII,
)
_UNCLEAN = re.compile("[\x00\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Token:
    """One `key=value` of a comment; `start` and `end` are the value's offsets in it."""

    key: str
    start: int
    end: int


def clean(text: str) -> str:
    """Replace NUL and lone surrogates by U+FFFD, character for character."""
    return _UNCLEAN.sub("\ufffd", text)


def is_unclean(text: str) -> bool:
    """Tell whether `clean` would change the text."""
    return _UNCLEAN.search(text) is not None


def find_comment(line: str) -> tuple[int, int] | None:
    """Return the span of the first metadata comment of a line, outside inline code.

    Returns:
        (start, end); end is -1 if the comment does not end on its line. None without a comment.
    """
    for slashes, position in _marks(line):
        if slashes == position:
            end = line.find("-->", position + len(_OPEN))
            return position, end + 3 if end >= 0 else -1
    return None


def escape_comments(line: str) -> str:
    r"""Make a line's imitations of our comment read as text: `\<!-- memory`."""
    return _shift_slashes(line, lambda slashes: slashes + "\\")


def unescape_comments(line: str) -> str:
    """Undo `escape_comments`."""
    return _shift_slashes(line, lambda slashes: slashes[1:])


def tokens(comment: str) -> tuple[list[Token], list[str]]:
    """Split a comment into its `key=value` parts and the words that are none.

    Args:
        comment: From `<!--` to `-->`.
    """
    start = _NAME.match(comment, len(_OPEN))
    position = start.end() if start else len(_OPEN)
    stop = len(comment) - 3
    found: list[Token] = []
    junk: list[str] = []
    while True:
        position = _SPACE.match(comment, position, stop).end()  # type: ignore[union-attr]
        if position >= stop:
            return found, junk
        key = _KEY.match(comment, position, stop)
        value_at = key.end() if key else position
        value = _value(comment, value_at, stop)
        if key:
            found.append(Token(key.group(1), value_at, value))
        else:
            junk.append(comment[position:value])
        position = max(value, position + 1)


def read_comment(comment: str) -> tuple[dict[str, object], list[str]]:
    """Return a comment's fields, typed, and what is wrong with it.

    Unknown keys are left out silently: they belong to somebody else.
    """
    pairs, junk = _pairs(comment)
    values: dict[str, object] = {}
    problems = [f"{word[:40]!r} in a memory comment is not key=value" for word in junk]
    for key, raw in pairs:
        if key not in FIELDS:
            continue
        if key in values:
            problems.append(f"{key} is given twice; the first one counts")
            continue
        try:
            values[key] = _decode(key, raw)
        except ValueError as error:
            problems.append(f"{key}={raw[:60]} is ignored: {error}")
    return values, problems


def write_comment(fields: Mapping[str, object]) -> str:
    """Return a new comment holding the fields that are not empty.

    Raises:
        ValueError: If a field is unknown or its value is not of its kind.
    """
    return edit_comment("<!-- memory -->", fields)


def edit_comment(comment: str, fields: Mapping[str, object]) -> str:
    """Return the comment with these fields set; every other byte of it stays.

    Args:
        comment: From `<!--` to `-->`.
        fields: Keys of `FIELDS`; None, "" and empty lists take the field out.

    Raises:
        ValueError: If a field is unknown or its value is not of its kind.
    """
    pending = {key: _encode(key, fields[key]) for key in FIELDS if key in fields}
    unknown = set(fields) - set(FIELDS)
    if unknown:
        raise ValueError(f"a memory has no field {sorted(unknown)[0]!r}")
    found, _ = tokens(comment)
    kept: list[str] = []
    position = 0
    for token in found:
        if token.key not in pending:
            continue
        key_at = token.start - len(token.key) - 1
        value = pending.pop(token.key)
        head = comment[position:key_at]
        kept.append(head if value is not None else head.rstrip(" \t"))
        kept.append(f"{token.key}={value}" if value is not None else "")
        position = token.end
    body = ("".join(kept) + comment[position:-3]).rstrip(" \t")
    added = [f"{key}={value}" for key, value in pending.items() if value is not None]
    return " ".join([body, *added, "-->"])


def parse_time(text: str) -> datetime:
    """Return an ISO 8601 date or time as UTC; without an offset it is taken as UTC.

    Raises:
        ValueError: If it is no such time.
    """
    match = _TIME.match(text.strip())
    if match is None:
        raise ValueError("not a time like 2026-05-07T14:30:00Z")
    day, minute, second, fraction, zone = match.groups()
    zone = "+00:00" if not zone or zone in ("Z", "z", "UTC") else zone
    if ":" not in zone:
        zone = f"{zone[:3]}:{zone[3:]}"
    stamp = f"{day}T{minute or '00:00'}:{second or '00'}.{(fraction or '0').ljust(6, '0')}{zone}"
    try:
        return datetime.fromisoformat(stamp).astimezone(timezone.utc)
    except OverflowError as error:
        raise ValueError("beyond the calendar") from error


def format_time(when: datetime) -> str:
    """Return a time as ISO 8601 in UTC with a `Z`; naive times are taken as UTC."""
    return in_utc(when).replace(tzinfo=None).isoformat() + "Z"


def _pairs(comment: str) -> tuple[list[tuple[str, str]], list[str]]:
    plain = _PLAIN.match(comment)
    if plain:  # nearly all of them; several times quicker than the scanner
        words = plain.group(1).split(" ")[1:]
        return [(key, raw) for key, _, raw in (word.partition("=") for word in words)], []
    found, junk = tokens(comment)
    return [(token.key, comment[token.start : token.end]) for token in found], junk


def _marks(line: str) -> Iterator[tuple[int, int]]:
    """Yield (start of its backslashes, start) of each comment of ours, real or escaped."""
    position = line.find(_OPEN)
    ticks = scanned = 0
    last_tick = line.rfind("`")
    while position >= 0:
        ticks += line.count("`", scanned, position)
        scanned = position
        in_code = ticks % 2 and last_tick > position
        if not in_code and _NAME.match(line, position + len(_OPEN)):
            slashes = position
            while slashes and line[slashes - 1] == "\\":
                slashes -= 1
            yield slashes, position
        position = line.find(_OPEN, position + len(_OPEN))


def _shift_slashes(line: str, change: Callable[[str], str]) -> str:
    if _OPEN not in line:
        return line
    pieces: list[str] = []
    position = 0
    for slashes, mark in _marks(line):
        pieces += [line[position:slashes], change(line[slashes:mark])]
        position = mark
    return "".join([*pieces, line[position:]])


def _value(comment: str, start: int, stop: int) -> int:
    for pattern in (_QUOTED, _ARRAY):
        match = pattern.match(comment, start, stop)
        if match:
            return match.end()
    return _BARE_TOKEN.match(comment, start, stop).end()  # type: ignore[union-attr]


def _decode(key: str, raw: str) -> object:
    if key in _LISTS:
        return _decode_list(raw)
    text = _decode_text(raw)
    if key in _CHOICES and text not in _CHOICES[key]:
        raise ValueError(f"it must be one of {', '.join(sorted(_CHOICES[key]))}")
    if key == ID_FIELD and not _ID.match(text):
        raise ValueError("an id has letters, digits and '-_.:' only")
    if key in _UNITS:
        return _unit(text)
    return _moment(key, text) if key in _TIMES else text


def _moment(key: str, text: str) -> datetime:
    """Return a time; what holds until a day holds on that day."""
    moment = parse_time(text)
    is_last_day = key == "valid_to" and _DAY.fullmatch(text.strip()) is not None
    return moment + timedelta(days=1, microseconds=-1) if is_last_day else moment


def _decode_text(raw: str) -> str:
    if not _QUOTED.match(raw):
        return raw
    try:
        return clean(str(json.loads(raw, strict=False)))
    except json.JSONDecodeError as error:
        raise ValueError("its quoted text has a broken escape") from error


def _decode_list(raw: str) -> tuple[str, ...]:
    if not _ARRAY.match(raw):
        return tuple(part.strip() for part in _decode_text(raw).split(",") if part.strip())
    try:
        items = json.loads(raw, strict=False)
    except json.JSONDecodeError as error:
        raise ValueError("it is not a JSON array of strings") from error
    return tuple(clean(str(item)) for item in items)


def _unit(value: object) -> float:
    number = float(value)  # type: ignore[arg-type]
    if not (math.isfinite(number) and 0.0 <= number <= 1.0):
        raise ValueError("it must be between 0 and 1")
    return number


def _encode(key: str, value: object) -> str | None:
    if value is None or value in ("", (), []):
        return None
    if key in _LISTS:
        return _encode_list(value)
    if key in _UNITS:
        return repr(_unit(value))
    if key in _TIMES:
        return format_time(value if isinstance(value, datetime) else _moment(key, str(value)))
    raw = _encode_text(str(value))
    _decode(key, raw)
    return raw


def _encode_list(value: object) -> str:
    if isinstance(value, str) or not isinstance(value, (list, tuple, set, frozenset)):
        raise ValueError("tags, triggers and links are lists of strings")  # noqa: TRY004 - as the others
    items = [clean(str(item)) for item in value]
    if all(_is_bare(item) for item in items):
        return ",".join(items)
    return "[" + ",".join(_quote(item) for item in items) + "]"


def _encode_text(text: str) -> str:
    text = clean(text)
    return text if _is_bare(text) else _quote(text)


def _is_bare(text: str) -> bool:
    return bool(_BARE_VALUE.match(text)) and "--" not in text and text[-1] != "-"


def _quote(text: str) -> str:
    # `--` would end the comment, in the eyes of some readers.
    quoted = json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
    return quoted.replace("-", "\\u002d") if "--" in quoted or '-"' in quoted else quoted
