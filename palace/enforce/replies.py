"""What a caller without a model may show: quotes, near misses and the honest fallback.

In: evidence or reports. Out: plain text that never claims more than the evidence says.
"""

from __future__ import annotations

from collections.abc import Sequence

from palace.enforce.markers import harmless
from palace.recall.own_replies import CLOSEST, NOT_EVERYWHERE, PERHAPS_MORE
from palace.text import clip
from palace.types.verdict import Evidence, LayerReport

NEAR_MISSES_NAMED = 2
_QUOTE_CHARS = 280


def quote_evidence(evidence: Sequence[Evidence]) -> str:
    """Return each piece of evidence verbatim, with its source and as-of time."""
    return "\n".join(f"{harmless(item.text)} ({_origin(item)})" for item in evidence)


def quote_several(answering: Sequence[Evidence], others: Sequence[Evidence]) -> str:
    """Return what answers a question for several things, and, named as such, what else may."""
    quotes = quote_evidence(answering)
    return f"{quotes}\n{PERHAPS_MORE}\n{quote_evidence(others)}" if others else quotes


def reply_for_near_miss(
    fallback_text: str,
    evidence: Sequence[Evidence],
    *,
    most: int = NEAR_MISSES_NAMED,
    broken: Sequence[LayerReport] = (),
) -> str:
    """Return the fallback, the closest memories, so many at most, and what could not be read."""
    if not evidence:
        return reply_for_miss(fallback_text, broken)
    quotes = "; ".join(
        f'"{clip(harmless(item.text), _QUOTE_CHARS)}" ({_origin(item)})' for item in evidence[:most]
    )
    return f"{fallback_text} {CLOSEST} {quotes}" + _not_everywhere(broken, before="\n")


def reply_for_miss(fallback_text: str, broken: Sequence[LayerReport]) -> str:
    """Return the fallback and which layers could not be read, if any."""
    return fallback_text + _not_everywhere(broken, before=" ")


def _not_everywhere(broken: Sequence[LayerReport], *, before: str) -> str:
    where = "; ".join(
        f"{report.layer} ({report.reason})" if report.reason else report.layer for report in broken
    )
    return f"{before}{NOT_EVERYWHERE} {where}" if broken else ""


def _origin(item: Evidence) -> str:
    when = f", as of {item.as_of.date()}" if item.as_of else ""
    stale = ", may be out of date" if item.stale else ""
    if item.state_of:
        stale += f", state of {item.state_of.date()}"
    return f"{item.source}{when}{stale}"
