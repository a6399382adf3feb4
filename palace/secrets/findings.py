"""Where something stands in a text that must not be shown, and the text without it.

In: a text and a finder. Out: findings in order, the text with them removed, or their places in
words. None of them holds or tells the value that was found.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

# Characters nobody sees and no writing system needs: controls, bidi marks, fillers, the tag block.
# `re` looks for one of a set of characters in a quarter of the time.
INVISIBLE = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u200b\u200e\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb\U000e0000-\U000e0fff]"
)


def hides_something(text: str) -> bool:
    """Whether a text holds characters that nobody sees; most texts are told at a glance."""
    plain = text.isascii() and text.isprintable()
    return not plain and INVISIBLE.search(text) is not None


@dataclass(frozen=True, slots=True)
class Finding:
    """One secret in a text; never holds its value.

    Attributes:
        kind: What it is, in lower-case words joined by hyphens.
        start: Index of its first character.
        end: Index after its last character.
    """

    kind: str
    start: int
    end: int


def cut_out(text: str, find: Callable[[str], Sequence[Finding]], *, what: str) -> str:
    """Return the text with all that a finder finds replaced by `[<what> removed: <kind>]`."""
    findings = find(text)
    while findings:
        pieces, position = [], 0
        for finding in findings:
            pieces += [text[position : finding.start], f"[{what} removed: {finding.kind}]"]
            position = finding.end
        text = "".join(pieces) + text[position:]
        # A removal can bare another finding that it touched; each round removes characters.
        findings = find(text)
    return text


def find_unseen_too(
    text: str, finders: Iterable[Callable[[str], Iterable[Finding]]]
) -> Iterator[Finding]:
    """Yield what finders find in a text, and in the text as an eye reads it.

    What is shown loses its invisible characters: what they hide must not be whole only then.
    """
    hides = hides_something(text)
    places = [n for n, c in enumerate(text) if not INVISIBLE.match(c)] if hides else []
    seen = "".join(text[place] for place in places)
    for find in finders:
        yield from find(text)
        for finding in find(seen) if hides else ():
            yield Finding(finding.kind, places[finding.start], places[finding.end - 1] + 1)


def join_findings(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return findings in order, those that overlap joined to one named after the first.

    Where two begin together, the one that was given first names the kind.
    """
    joined: list[Finding] = []
    for finding in sorted(findings, key=lambda finding: finding.start):
        if joined and finding.start < joined[-1].end:
            first = joined[-1]
            joined[-1] = Finding(first.kind, first.start, max(first.end, finding.end))
        else:
            joined.append(finding)
    return tuple(joined)


def describe(findings: Sequence[Finding], text: str) -> str:
    """Return the kinds and places of findings for a person, never their values.

    Args:
        findings: What `find_secrets` found in the text.
        text: The same text.

    Returns:
        Such as `aws-access-key at line 3, column 12; password at line 4, column 1` (1-based).
    """
    places = []
    for finding in findings:
        line_start = text.rfind("\n", 0, finding.start) + 1
        line = text.count("\n", 0, finding.start) + 1
        column = finding.start - line_start + 1
        places.append(f"{finding.kind} at line {line}, column {column}")
    return "; ".join(places)
