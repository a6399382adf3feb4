"""Moments as people and programs write them: ISO 8601, epoch numbers and common spoken forms.

In: a number or a text such as `1:56 pm on 8 May, 2023`. Out: an aware UTC datetime, or None for
what is no moment or could mean two.
"""

from __future__ import annotations

import math
from datetime import datetime, timedelta, timezone

import regex

from palace.text import month_token

MAX_CHARS = 80
_MILLISECONDS_FROM = 1e11
"""Epoch numbers from here on are milliseconds: as seconds they would lie beyond the year 5000."""

_YEAR_FIRST = regex.compile(
    r"(?<!\d)(?P<year>\d{4})(?P<sign>[-/.])(?P<month>\d{1,2})(?P=sign)(?P<day>\d{1,2})(?!\d)"
)
_COMPACT = regex.compile(
    r"\A(?P<year>\d{4})(?P<month>\d{2})(?P<day>\d{2})"
    r"(?:T(?P<hour>\d{2})(?P<minute>\d{2})(?P<second>\d{2})?(?P<zone>Z|[+-]\d{2}:?\d{2})?)?\Z"
)
_DAY_FIRST = regex.compile(
    r"(?<!\d)(?P<day>\d{1,2})(?:st|nd|rd|th|\.)?\s+(?:of\s+)?(?P<word>\p{L}{3,12})\.?,?\s+"
    r"(?P<year>\d{4})(?!\d)",
    regex.IGNORECASE,
)
_MONTH_FIRST = regex.compile(
    r"(?P<word>\p{L}{3,12})\.?\s+(?P<day>\d{1,2})(?:st|nd|rd|th)?,?\s+(?P<year>\d{4})(?!\d)",
    regex.IGNORECASE,
)
_CLOCK = regex.compile(
    r"(?<![\d:])(?P<hour>\d{1,2})"
    r"(?::(?P<minute>\d{2})(?::(?P<second>\d{2})(?:[.,](?P<fraction>\d{1,9}))?)?)?"
    r"\s*(?P<half>[ap]\.?m\b\.?)?"
    r"\s*(?P<zone>Z\b|UTC\b|GMT\b|[+-]\d{2}(?::?\d{2})?(?!\d))?",
    regex.IGNORECASE,
)
_FILLER = regex.compile(
    r"\b(?:on|at|the|um|(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?|t)\b"
    r"|[\s,;()]+",
    regex.IGNORECASE,
)
_EPOCH = regex.compile(r"-?\d{9,14}(?:\.\d+)?")


def parse_moment(value: object) -> datetime | None:
    """Return the moment a value means, in UTC.

    Args:
        value: Epoch seconds or, from 1e11 on, milliseconds; or text: ISO 8601 (naive is UTC, `Z`,
            offsets), `2023/05/08 13:56`, `8 May 2023 13:56`, `1:56 pm on 8 May, 2023`,
            `May 8th, 2023`; a date alone is its midnight. Months may be named in any language
            the palace knows.

    Returns:
        None if it is nothing of this, if the calendar has no such moment, or if day and month
        could be swapped (`05/08/2023`).
    """
    if isinstance(value, bool):
        return None
    if isinstance(value, (int, float)):
        return _of_epoch(value)
    if not isinstance(value, str) or len(value) > MAX_CHARS:
        return None
    text = value.strip()
    if _EPOCH.fullmatch(text):
        return _of_epoch(float(text))
    try:
        return _of_text(text)
    except (ValueError, OverflowError):
        return None


def _of_epoch(number: float) -> datetime | None:
    try:
        if not math.isfinite(number):
            return None
        seconds = number / 1000 if abs(number) >= _MILLISECONDS_FROM else number
        return datetime(1970, 1, 1, tzinfo=timezone.utc) + timedelta(seconds=seconds)
    except OverflowError:
        return None


def _of_text(text: str) -> datetime | None:
    compact = _COMPACT.match(text)
    if compact:
        return _moment(compact.groupdict(), compact.groupdict())
    found = _dated(text)
    if found is None:
        return None
    date, (start, end) = found
    # What the date stood between must not run together: `13:56` and `+02:00` mean something.
    rest = f"{text[:start]} ; {text[end:]}"
    clock = next((m for m in _CLOCK.finditer(rest) if m["minute"] or m["half"]), None)
    if clock:
        rest = rest[: clock.start()] + " ; " + rest[clock.end() :]
    if _FILLER.sub("", rest):
        return None
    return _moment(date, clock.groupdict() if clock else {})


def _dated(text: str) -> tuple[dict[str, str | None], tuple[int, int]] | None:
    """Return the parts of the one date in a text and where it stands."""
    for pattern in (_YEAR_FIRST, _DAY_FIRST, _MONTH_FIRST):
        found = pattern.search(text)
        if not found:
            continue
        parts: dict[str, str | None] = dict(found.groupdict())
        if "word" in parts:
            month = month_token((parts["word"] or "").capitalize())
            if month is None:
                continue
            parts["month"] = month[-2:]
        return parts, found.span()
    return None


def _moment(date: dict[str, str | None], clock: dict[str, str | None]) -> datetime:
    local = datetime(
        int(date["year"] or 0),
        int(date["month"] or 0),
        int(date["day"] or 0),
        _hour(clock),
        int(clock.get("minute") or 0),
        int(clock.get("second") or 0),
        int((clock.get("fraction") or "0").ljust(6, "0")[:6]),
        tzinfo=timezone.utc,
    )
    return local - _offset(clock.get("zone") or "")


def _hour(clock: dict[str, str | None]) -> int:
    hour = int(clock.get("hour") or 0)
    half = (clock.get("half") or "").lower()
    if not half:
        return hour
    if not 1 <= hour <= 12:
        raise ValueError("a twelve-hour clock has 1 to 12")
    return hour % 12 + (12 if half.startswith("p") else 0)


def _offset(zone: str) -> timedelta:
    if zone[:1] not in ("+", "-"):
        return timedelta()
    digits = zone[1:].replace(":", "").ljust(4, "0")
    hours, minutes = int(digits[:2]), int(digits[2:])
    if hours > 23 or minutes > 59:
        raise ValueError("no such offset")
    ahead = timedelta(hours=hours, minutes=minutes)
    return -ahead if zone[0] == "-" else ahead
