"""What is embedded for a memory, and the digest by which its vector is kept.

In: a memory. Out: its passage as text, and 16 bytes that are equal for equal passages.
"""

from __future__ import annotations

import hashlib
from datetime import datetime

from palace.types.memory import Memory

_DIGEST_BYTES = 16
_MONTHS = (
    "January February March April May June July August September October November December".split()
)


def passage_of(memory: Memory) -> str:
    """Return the text whose vector stands for a memory.

    A turn of a conversation is its words after its speaker and day, which questions name and turns
    do not; a note stands under its headings, without which "it runs on port 80" means nothing.
    """
    if memory.speaker:
        return f"{memory.speaker}{_on_day(memory.created)}: {memory.text}"
    places = dict.fromkeys(part for part in (memory.title, memory.heading) if part)
    return f"{' > '.join(places)}: {memory.text}" if places else memory.text


def _on_day(when: datetime | None) -> str:
    # Written out here, because `strftime` would follow the locale, and the digest with it.
    return f" on {when.day:02} {_MONTHS[when.month - 1]} {when.year}" if when else ""


def passage_digest(passage: str) -> bytes:
    """Return 16 bytes of SHA-256: the same for the same passage, whatever file it stands in."""
    return hashlib.sha256(passage.encode("utf-8", "replace")).digest()[:_DIGEST_BYTES]
