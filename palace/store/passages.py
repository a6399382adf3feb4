"""What is embedded for a memory, and the digest by which its vector is kept.

In: a memory. Out: its passage as text, and 16 bytes that are equal for equal passages.
"""

from __future__ import annotations

import hashlib

from palace.types import Memory

_DIGEST_BYTES = 16


def passage_of(memory: Memory) -> str:
    """Return the text whose vector stands for a memory.

    A turn of a conversation is its words after its speaker; a note stands under its headings,
    without which "it runs on port 80" means nothing.
    """
    if memory.speaker:
        return f"{memory.speaker}: {memory.text}"
    places = dict.fromkeys(part for part in (memory.title, memory.heading) if part)
    return f"{' > '.join(places)}: {memory.text}" if places else memory.text


def passage_digest(passage: str) -> bytes:
    """Return 16 bytes of SHA-256: the same for the same passage, whatever file it stands in."""
    return hashlib.sha256(passage.encode("utf-8", "replace")).digest()[:_DIGEST_BYTES]
