"""Moments, and ids that begin with one.

In: texts in ISO 8601, and ids. Out: moments, and ids that sort by when they were made.
"""

from __future__ import annotations

import re
import secrets
import time
from datetime import date, datetime, timezone

_last_value = 0
_CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"


def utc_now() -> datetime:
    """Return the present moment, aware, UTC, without microseconds."""
    return datetime.now(tz=timezone.utc).replace(microsecond=0)


def today_here() -> date:
    """Return the present day of the machine's own time zone, in which a person says "today"."""
    return day_here(utc_now())


def day_here(moment: datetime) -> date:
    """Return the day of an aware moment in the machine's own time zone; of itself if it has none.

    At both ends of the calendar there is no such day.
    """
    try:
        return moment.astimezone().date()
    except (OverflowError, ValueError, OSError):
        return moment.date()


def in_utc(moment: datetime) -> datetime:
    """Return a moment in UTC, which one of no zone is in already.

    Raises:
        OverflowError: If UTC knows no such moment.
    """
    zoned = moment if moment.tzinfo is not None else moment.replace(tzinfo=timezone.utc)
    return zoned.astimezone(timezone.utc)


def iso_moment(text: str) -> datetime:
    """Return the moment of a text in ISO 8601, in UTC, which one of no zone is in already.

    Raises:
        ValueError: If it is no such text, or UTC knows no such moment.
    """
    try:
        return in_utc(_as_written(text))
    except OverflowError as error:
        raise ValueError("beyond the calendar") from error


def aware_moment(value: object) -> datetime | None:
    """Return a moment or its ISO text in UTC, or None for anything else and for one of no zone."""
    try:
        moment = _as_written(value) if isinstance(value, str) else value
        if isinstance(moment, datetime) and moment.tzinfo is not None:
            return in_utc(moment)
    except (ValueError, OverflowError):  # no moment, or none that UTC knows
        pass
    return None


def _as_written(text: str) -> datetime:
    # Python 3.10 does not know the Z of ISO 8601.
    return datetime.fromisoformat(re.sub(r"[zZ]\Z", "+00:00", text))


def new_id(prefix: str) -> str:
    """Return a new time-ordered id, `<prefix>-` and 26 characters of Crockford base 32.

    Of two that are made one after the other the later one sorts behind, in one millisecond too.

    Source: the ULID specification (48 bits of milliseconds, 80 bits of randomness).
    """
    global _last_value
    now = (time.time_ns() // 1_000_000) << 80
    is_same = _last_value >> 80 == now >> 80
    # A forked program goes on from the same value, so chance says how far; there is room for that.
    value = (_last_value if is_same else now | secrets.randbits(79)) + 1 + secrets.randbits(60)
    _last_value = value
    return f"{prefix}-" + "".join(_CROCKFORD[(value >> shift) & 31] for shift in range(125, -1, -5))


def id_time(identifier: str) -> datetime | None:
    """Return when an id of `new_id` was made, UTC, or None for any other text."""
    body = identifier.rpartition("-")[2]
    if len(body) != 26 or any(c not in _CROCKFORD for c in body):
        return None
    value = 0
    for character in body:
        value = value * 32 + _CROCKFORD.index(character)
    millis = value >> 80
    if millis > 253_402_300_799_999:  # year 9999
        return None
    return datetime.fromtimestamp(millis / 1000, tz=timezone.utc)
