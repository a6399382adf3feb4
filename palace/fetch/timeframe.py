"""Times in prompts ("last 2 hours") and at the beginning of log lines.

In: words of a prompt, or one line of a log. Out: a window of aware moments, or the moment of the
line. Moments without a zone are those of the given zone, or of this machine.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta, timezone, tzinfo

import regex

from palace.fetch.plain import MAX_PROMPT_CHARS, PATTERN_TIMEOUT_S

_MONTHS = {
    name: number
    for number, name in enumerate(
        "jan feb mar apr may jun jul aug sep oct nov dec".split(), start=1
    )
}
_SMALL = {
    name: number
    for number, name in enumerate(
        "one two three four five six seven eight nine ten eleven twelve".split(), start=1
    )
}
_UNITS_S = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}
_MONTH_S = 30 * 86_400

_CLOCK = r"(?P<hour>[01]?\d|2[0-3])(?::(?P<minute>[0-5]\d))?\s?(?P<half>[ap]m)?(?![\w:])"
_LAST = regex.compile(
    r"\b(?:last|past|previous)\s{1,3}(?:(?P<count>\d{1,5}|" + "|".join(_SMALL) + r")\s{0,3})?"
    r"(?P<unit>seconds?|secs?|s|minutes?|mins?|m|hours?|hrs?|h|days?|d|weeks?|w|months?)\b",
    regex.IGNORECASE,
)
_SINCE_DAY = regex.compile(
    r"\b(?:since|after|from)\s{1,3}(?P<day>\d{4}-\d\d-\d\d|yesterday|today|midnight)"
    r"(?:[T\s,]{1,2}(?:at\s)?" + _CLOCK + ")?",
    regex.IGNORECASE,
)
_SINCE_CLOCK = regex.compile(r"\b(?:since|after)\s{1,3}" + _CLOCK, regex.IGNORECASE)
_BETWEEN = regex.compile(
    r"\b(?:between|from)\s{1,3}(?P<from>(?:[01]?\d|2[0-3]):[0-5]\d)\s{1,3}(?:and|to|until)\s{1,3}"
    r"(?P<to>(?:[01]?\d|2[0-3]):[0-5]\d)(?![\w:])",
    regex.IGNORECASE,
)
_DAY = regex.compile(
    r"\b(?:today|yesterday|this\smorning|last\snight|(?:on\s)?\d{4}-\d\d-\d\d)\b", regex.IGNORECASE
)

_NUMERIC = regex.compile(
    r"(?P<year>\d{4})[-/](?P<month>\d\d)[-/](?P<day>\d\d)[T\s_](?P<hour>\d\d):(?P<minute>\d\d)"
    r"(?::(?P<second>\d\d)(?:[.,]\d{1,9})?)?"
    r"(?:\s?(?P<zone>(?:Z|UTC|GMT)\b|[+-]\d\d:?\d\d\b)|(?P<zone>[+-]\d\d)(?![\w:-]))?"
)
_DOTTED = regex.compile(
    r"(?<![\d.])(?P<day>\d\d)\.(?P<month>\d\d)\.(?P<year>\d{4}),?[T\s_]{1,2}"
    r"(?P<hour>\d\d):(?P<minute>\d\d)(?::(?P<second>\d\d)(?:[.,]\d{1,9})?)?(?P<zone>Z\b)?"
)
_ACCESS = regex.compile(
    r"(?P<day>\d\d)/(?P<name>[A-Z][a-z]{2})/(?P<year>\d{4}):(?P<hour>\d\d):(?P<minute>\d\d)"
    r":(?P<second>\d\d)\s?(?P<zone>[+-]\d{4})?"
)
_SYSLOG = regex.compile(
    r"(?:<\d{1,3}>)?(?P<name>[A-Z][a-z]{2})\s{1,2}(?P<day>\d{1,2})\s(?P<hour>\d\d):(?P<minute>\d\d)"
    r":(?P<second>\d\d)\b"
)
_EPOCH = regex.compile(r"\[?(?P<seconds>1\d{9})(?:\d{3})?(?:\.\d{1,9})?\b")
_STAMP_CHARS = 160


@dataclass(frozen=True, slots=True)
class Window:
    """A span of time; an open end is None. Both ends belong to it."""

    since: datetime | None = None
    until: datetime | None = None

    def __bool__(self) -> bool:
        return self.since is not None or self.until is not None

    def holds(self, at: datetime) -> bool:
        """Return whether a moment lies inside."""
        return (self.since is None or at >= self.since) and (self.until is None or at <= self.until)


@dataclass(frozen=True, slots=True)
class _Here:
    """The present moment in the zone that clock times are meant in."""

    now: datetime
    zone: tzinfo | None

    def at(self, day: date, hour: int = 0, minute: int = 0) -> datetime:
        return _aware(datetime.combine(day, time(hour, minute)), None, self.zone)

    def day(self, ago_days: int = 0) -> date:
        return self.now.date() - timedelta(days=ago_days)


def find_window(prompt: str, *, now: datetime, zone: tzinfo | None = None) -> Window:
    """Return the window a prompt speaks of; both ends open if it speaks of none.

    Args:
        prompt: Any text; the first 20000 characters are read.
        now: The present moment, aware.
        zone: Zone of the clock times in the prompt; None is this machine's.
    """
    text, here = prompt[:MAX_PROMPT_CHARS], _Here(now.astimezone(zone), zone)
    with suppress(ValueError, OverflowError, TimeoutError):
        for pattern, read in _READERS:
            match = pattern.search(text, timeout=PATTERN_TIMEOUT_S)
            window = read(match, here) if match else None
            if window is not None:
                return window
    return Window()


def line_moment(line: str, *, now: datetime, zone: tzinfo | None = None) -> datetime | None:
    """Return the moment a log line was written, if it says so near its beginning.

    Known forms: ISO 8601 and its variants with slashes or a blank, days written 24.11.2026, the
    common log format of web servers, syslog (the year is the one that makes it no later than
    tomorrow), Unix seconds.

    Args:
        line: One line.
        now: The present moment, aware; only for syslog's missing year.
        zone: Zone of moments that carry none; None is this machine's.
    """
    head = line[:_STAMP_CHARS]
    with suppress(ValueError, KeyError, OverflowError, OSError):
        match = _NUMERIC.search(head) or _DOTTED.search(head) or _ACCESS.search(head)
        if match:
            return _aware(_from_fields(match, int(match["year"])), match["zone"], zone)
        match = _SYSLOG.match(head)
        if match:
            at = _aware(_from_fields(match, now.year), None, zone)
            if at > now + timedelta(days=1):
                at = _aware(_from_fields(match, now.year - 1), None, zone)
            return at
        match = _EPOCH.match(head)
        if match:
            return datetime.fromtimestamp(int(match["seconds"]), tz=timezone.utc)
    return None


def _from_fields(match: regex.Match[str], year: int) -> datetime:
    fields = match.groupdict()
    month = int(fields["month"]) if "month" in fields else _MONTHS[fields["name"].lower()]
    return datetime(  # noqa: DTZ001 - the zone is added by the caller
        year,
        month,
        int(fields["day"]),
        int(fields["hour"]),
        int(fields["minute"]),
        min(int(fields.get("second") or 0), 59),
    )


def _aware(at: datetime, offset: str | None, zone: tzinfo | None) -> datetime:
    if offset in ("Z", "UTC", "GMT"):
        return at.replace(tzinfo=timezone.utc)
    if offset:
        sign = -1 if offset[0] == "-" else 1
        digits = offset[1:].replace(":", "")
        span = timedelta(hours=int(digits[:2]), minutes=int(digits[2:] or 0))
        return at.replace(tzinfo=timezone(sign * span))
    return at.replace(tzinfo=zone) if zone is not None else at.astimezone()


def _clock(match: regex.Match[str]) -> tuple[int, int] | None:
    if match["hour"] is None or (match["minute"] is None and match["half"] is None):
        return None
    hour, half = int(match["hour"]), (match["half"] or "").lower()
    if half:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if half == "pm" else 0)
    return hour, int(match["minute"] or 0)


def _named_day(name: str, here: _Here) -> date:
    if name == "yesterday":
        return here.day(1)
    if name in ("today", "midnight"):
        return here.day()
    return date.fromisoformat(name[-10:])


def _read_between(match: regex.Match[str], here: _Here) -> Window:
    day = here.day(1 if "yesterday" in match.string.lower() else 0)
    first, last = (tuple(map(int, match[name].split(":"))) for name in ("from", "to"))
    start = here.at(day if first <= last else day - timedelta(days=1), *first)
    return Window(start, here.at(day, *last))


def _read_since_day(match: regex.Match[str], here: _Here) -> Window:
    return Window(here.at(_named_day(match["day"].lower(), here), *(_clock(match) or (0, 0))))


def _read_since_clock(match: regex.Match[str], here: _Here) -> Window | None:
    clock = _clock(match)
    if clock is None:
        return None
    start = here.at(here.day(1 if "yesterday" in match.string.lower() else 0), *clock)
    return Window(start if start <= here.now else here.at(here.day(1), *clock))


def _read_last(match: regex.Match[str], here: _Here) -> Window:
    count, unit = (match["count"] or "one").lower(), match["unit"].lower()
    unit_s = _MONTH_S if unit.startswith("mo") else _UNITS_S[unit[0]]
    number = _SMALL[count] if count in _SMALL else int(count)
    return Window(here.now - timedelta(seconds=number * unit_s), here.now)


def _read_day(match: regex.Match[str], here: _Here) -> Window:
    words = " ".join(match[0].lower().split())
    if words == "this morning":
        return Window(here.at(here.day()), min(here.now, here.at(here.day(), 12)))
    if words == "last night":
        return Window(here.at(here.day(1), 18), min(here.now, here.at(here.day(), 6)))
    day = _named_day(words, here)
    end = here.at(day + timedelta(days=1)) - timedelta(microseconds=1)
    return Window(here.at(day), end)


_READERS: tuple[
    tuple[regex.Pattern[str], Callable[[regex.Match[str], _Here], Window | None]], ...
] = (
    (_BETWEEN, _read_between),
    (_SINCE_DAY, _read_since_day),
    (_SINCE_CLOCK, _read_since_clock),
    (_LAST, _read_last),
    (_DAY, _read_day),
)
