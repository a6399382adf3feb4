"""Our own words in a reply, around the memories it quotes; a follow-up leans on the memories alone.

In: what an assistant said. Out: the same without the fallback, its explanations and citations.
"""

from __future__ import annotations

import regex

from palace.text.late_patterns import late

CLOSEST = "The closest I have, which may not answer it:"
"""Stands between the fallback and the memories of a near miss."""
PERHAPS_MORE = "These may belong to it as well:"
"""Stands between what answers a question for several things and what else was found for it."""
NOT_EVERYWHERE = "I could not look everywhere:"
"""Stands between the fallback and the layers that could not be read."""

# "(rooms/home/kettle.md:7, as of 2026-03-14, may be out of date)"
_CITATION = late(
    r"\((?!\s)(?:[^()\n]{1,200}\.\w{1,5}:\d+|(?:scratchpad:|https?://)[^()\s]{1,300}"
    r"|[^()\n]{1,200}(?=, as of \d{4}-\d{2}-\d{2}))"
    r"(?:, as of \d{4}-\d{2}-\d{2})?(?:, may be out of date)?(?:, state of \d{4}-\d{2}-\d{2})?\)"
)
_UNREAD = late(rf"{regex.escape(NOT_EVERYWHERE)}[^\n]*")


def without_own_words(reply: str, fallback_text: str) -> str:
    """Return a reply without what it says of itself: what is left are words of memories.

    Args:
        reply: What an assistant said.
        fallback_text: How a reply begins that found nothing.
    """
    if fallback_text and reply.startswith(fallback_text):
        rest = _UNREAD.sub(" ", reply[len(fallback_text) :])
        reply = rest.replace(CLOSEST, " ", 1)
    return _CITATION.sub(" ", reply.replace(PERHAPS_MORE, " ", 1))
