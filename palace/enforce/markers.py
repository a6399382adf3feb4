"""Escape our own tag inside content, however it is spelled.

In: the words of a memory. Out: the same words, with no text in them that reads as the beginning or
the end of our evidence block.
"""

from __future__ import annotations

import unicodedata

import regex

OPEN_TAG = "<memory-context>"
CLOSE_TAG = "</memory-context>"

# Characters nobody sees and no writing system needs: controls, bidi marks, fillers, the tag block.
_INVISIBLE = regex.compile(
    "[\x00-\x08\x0e-\x1f\x7f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u200b\u200e\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb\U000e0000-\U000e0fff]"
)
# Look-alikes that compatibility folding leaves as they are.
_LOOKALIKES = str.maketrans(
    {
        **dict.fromkeys("‹〈⟨《≺ᐸ", "<"),
        **dict.fromkeys("›〉⟩》≻ᐳ", ">"),
        **dict.fromkeys("∕⁄╱\\", "/"),
        **dict.fromkeys("‐‑‒–—―−_·.", "-"),
        **dict.fromkeys("мϻ", "m"),
        **dict.fromkeys("еεє", "e"),
        **dict.fromkeys("оοσ0", "o"),
        **dict.fromkeys("гᴦꭇ", "r"),
        **dict.fromkeys("уγү", "y"),
        **dict.fromkeys("сϲᴄ", "c"),
        **dict.fromkeys("пηո", "n"),
        **dict.fromkeys("тτᴛ", "t"),
        **dict.fromkeys("хχ", "x"),
    }
)
# Character references; a zero reads as the letter in them, see the look-alikes.
_TAG_START = r"(?:<|&(?:amp;)*(?:lt|\#o*6o|\#xo*3c);?)"
_TAG_END = r"(?:>|&(?:amp;)*(?:gt|\#o*62|\#xo*3e);?)"
_TAG = regex.compile(rf"{_TAG_START}(?P<slash>/?+)memory-*+context(?:[^<>\n]{{0,80}}?{_TAG_END})?+")
_DROPPED_CATEGORIES = frozenset({"Cf", "Mn", "Cc", "Zs", "Zl", "Zp"})
_BEGINNINGS = frozenset("<&＜﹤‹〈⟨《≺ᐸ＆﹠")


def escape_markers(text: str) -> str:
    """Return `text` without anything that reads as our tag; escaping twice changes nothing.

    Invisible characters go first. Our tag in any spelling (case, blanks, full width, look-alike
    letters, character references) becomes `[memory-context]` in square brackets.
    """
    seen = _INVISIBLE.sub("", text)
    while not _BEGINNINGS.isdisjoint(seen):
        plain, places = _skeleton(seen)
        found = _TAG.search(plain)
        if found is None:
            break
        start, end = places[found.start()], places[found.end() - 1] + 1
        name = "/memory-context" if found["slash"] else "memory-context"
        seen = f"{seen[:start]}[{name}]{seen[end:]}"
    return seen


def _skeleton(text: str) -> tuple[str, list[int]]:
    """Return the text as an eye reads it, and for each of its characters the place in `text`."""
    plain: list[str] = []
    places: list[int] = []
    for place, character in enumerate(text):
        if character != "\n" and unicodedata.category(character) in _DROPPED_CATEGORIES:
            continue
        folded = unicodedata.normalize("NFKC", character).casefold().translate(_LOOKALIKES)
        plain.append(folded)
        places.extend([place] * len(folded))
    return "".join(plain), places
