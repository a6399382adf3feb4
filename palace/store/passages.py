"""What is embedded for a memory, and the digest by which its vector is kept.

In: a memory, and what stands before it. Out: its passage as text, and 16 bytes that are equal for
equal passages.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from datetime import datetime
from functools import lru_cache

from palace.secrets import redact
from palace.types.memory import Memory

# How many turns before it a turn is embedded with.
TURNS_BEFORE = 2
_END_CHARS = 120
_DIGEST_BYTES = 16
_MONTHS = (
    "January February March April May June July August September October November December".split()
)


def passage_of(memory: Memory, before: Sequence[Memory] = ()) -> str:
    """Return the text whose vector stands for a memory.

    A turn of a conversation is its words after its speaker and day, which questions name and turns
    do not, and then what it replies to: "Since March!" means nothing alone. A note stands under
    its headings, without which "it runs on port 80" means nothing.

    Args:
        memory: What is embedded.
        before: The `TURNS_BEFORE` memories before it in its file, the nearest first. Only active
            turns of its own session count.
    """
    if memory.speaker:
        replied = "".join(
            f" ({turn.speaker}: {_end_of(turn.text)})" for turn in before if _leads_to(memory, turn)
        )
        return f"{memory.speaker}{_on_day(memory.created)}: {memory.text}{replied}"
    places = dict.fromkeys(part for part in (memory.title, memory.heading) if part)
    return f"{' > '.join(places)}: {memory.text}" if places else memory.text


def _leads_to(memory: Memory, turn: Memory) -> bool:
    return bool(turn.speaker) and turn.session == memory.session and turn.status == "active"


@lru_cache(maxsize=4)  # two turns reply to each
def _end_of(text: str) -> str:
    """Return the last words of a turn, where it asks; what is cut off hides no secret's name."""
    if len(text) <= _END_CHARS:
        return text
    end = redact(text)[-_END_CHARS:]
    return end.partition(" ")[2] or end


def _on_day(when: datetime | None) -> str:
    # Written out here, because `strftime` would follow the locale, and the digest with it.
    return f" on {when.day:02} {_MONTHS[when.month - 1]} {when.year}" if when else ""


def passage_digest(passage: str) -> bytes:
    """Return 16 bytes of SHA-256: the same for the same passage, whatever file it stands in."""
    return hashlib.sha256(passage.encode("utf-8", "replace")).digest()[:_DIGEST_BYTES]
