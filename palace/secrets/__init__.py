"""The secrets filter: used before every write and before every injection.

In: any text. Out: where secrets stand in it and of which kind, or the text with them removed. No
function here returns, logs or raises the value of a secret, except as the text it was given.

Three sources are joined. *Shapes*: keys whose form gives them away. *Places*: a value where only a
secret belongs (a URL's password, an Authorization header, the body of a private key).
*Assignments*: `name = value`, where the name says password, token, secret or key and the value
looks like one, or where the value alone is random enough. Patterns are bounded or possessive, so
that no text takes more than linear time.

False alarms matter as much as misses: prose about passwords, code that reads them from somewhere,
placeholders, hashes and identifiers are no secrets.
"""

from __future__ import annotations

import bisect
import math

import regex

from palace.secrets.assignments import find_assigned
from palace.secrets.findings import Finding, cut_out, find_unseen_too, join_findings
from palace.secrets.places import find_in_places, find_private_keys
from palace.secrets.shapes import find_shapes

_SOURCES = (find_private_keys, find_shapes, find_in_places, find_assigned)
_MARKER = regex.compile(r"\[secret removed: [a-z0-9-]{1,40}\]")
_DATA_URI = regex.compile(r"\bdata:[\w/+.;=-]{0,100}?;base64,[A-Za-z0-9+/=_-]++")


def find_secrets(text: str) -> tuple[Finding, ...]:
    """Return the secrets of a text, in order, without overlaps.

    Args:
        text: Any text at all.

    Returns:
        Findings that cover the values only: of `password = …` the part after the sign, of a URL
        the password alone.
    """
    found = list(find_unseen_too(text, _SOURCES))
    if not found:
        return ()
    marked = [marker.span() for marker in _MARKER.finditer(text)]
    images = [image.span() for image in _DATA_URI.finditer(text)] if "base64," in text else []
    told = (f for f in found if not _is_inside(f, marked) and not _is_inside(f, images))
    return join_findings(told)


def redact(text: str) -> str:
    """Return the text with every secret replaced by `[secret removed: <kind>]`.

    What is returned holds no finding, so redacting twice changes nothing more.
    """
    return cut_out(text, find_secrets, what="secret")


def _is_inside(finding: Finding, spans: list[tuple[int, int]]) -> bool:
    """Whether the finding lies within one of the spans, which are sorted and disjoint."""
    at = bisect.bisect_right(spans, (finding.start, math.inf)) - 1
    return at >= 0 and finding.end <= spans[at][1]
