"""One text that an answer may draw on, read once: its words, dates, numbers and lists.

In: a text and when it was said. Out: a `Source` that is compared with what an answer says.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

import regex

from palace.enforce.answer_words import answer_words, read_words
from palace.enforce.dates import FoundDate, completed, days_meant, find_dates, find_weekdays
from palace.enforce.quantities import Quantity, find_quantities
from palace.text import fold

_QUOTES = str.maketrans(
    {
        **dict.fromkeys("‘’‚‛′ʼ", "'"),
        **dict.fromkeys("“”„‟″«»", '"'),
        **dict.fromkeys("‐‑‒–—―−", "-"),
    }
)
_LIST_SEPARATOR = regex.compile(
    r"\s*(?:,\s*(?:and|or|und|et|y)\s|,(?!\d{3})|;|/|\band\b|\bor\b|\bund\b|\bet\b|\by\b|\bplus\b|、|和)\s*"
)
_LAST_ITEM = regex.compile(r"\b(?:and|or|und|oder|et|ou|y|o|e)\b|[、和]")
_CLAUSE = regex.compile(r"[.!?;:—()\n。！？；：]+")
_COLON_LIST = regex.compile(
    r":\s+(\p{L}[\p{L}\s]{1,30}(?:,\s+\p{L}[\p{L}\s]{1,30}){2,})(?=[.;!?\n]|$)"
)
_PERIODIC = regex.compile(r"\b(\d{1,4}) (weekly|monthly|yearly|annual)\b", regex.IGNORECASE)
_PERIODS = {
    "weekly": ("time", 604_800.0),
    "monthly": ("months", 1.0),
    "yearly": ("months", 12.0),
    "annual": ("months", 12.0),
}
_LONGEST_LIST = 12


def listed_length(text: str) -> int:
    """Return how many items a list names; 0 if it is none or too long to be counted by a reader."""
    parts = [part for part in _LIST_SEPARATOR.split(text) if part.strip()]
    return len(parts) if 2 <= len(parts) <= _LONGEST_LIST else 0


def plain(text: str) -> str:
    """Return text as it is compared: folded, one blank for white space, straight quotes."""
    return " ".join(fold(text.translate(_QUOTES)).split())


@dataclass(frozen=True)
class Source:
    """One text that an answer may draw on.

    Attributes:
        text: The text.
        as_of: When it was said, if that is known.
        shown: Further text that belongs to it (where it stands), for names and paths.
    """

    text: str
    as_of: datetime | None = None
    shown: str = ""

    @cached_property
    def plain(self) -> str:
        """The text as it is compared."""
        return plain(f"{self.text}\n{self.shown}")

    @cached_property
    def tokens(self) -> frozenset[str]:
        """All index tokens, parts of identifiers and hyphenated words included."""
        found: set[str] = set()
        for word in read_words(self.text):
            found.update((word.token, *word.parts, *word.extra))
        return frozenset(found)

    @cached_property
    def names(self) -> frozenset[str]:
        """Its words and those of its place, folded but not stemmed: Simon is not Simone."""
        found: set[str] = set()
        for word in read_words(f"{self.text}\n{self.shown}"):
            found.update((fold(word.surface), *word.parts))
        return frozenset(found)

    @cached_property
    def groups(self) -> frozenset[int]:
        """Groups of words that may stand for words of this text."""
        groups = answer_words().groups
        return frozenset(g for token in self.tokens for g in groups.get(token, ()))

    @cached_property
    def dates(self) -> tuple[FoundDate, ...]:
        """Dates said or meant."""
        return tuple(days_meant(self.text, self.as_of))

    @cached_property
    def written(self) -> tuple[FoundDate, ...]:
        """Dates said, not worked out."""
        return tuple(completed(find_dates(self.text), self.as_of))

    @cached_property
    def weekdays(self) -> frozenset[int]:
        """Weekdays said, or of dates."""
        said = {number for number, _, _ in find_weekdays(self.text)}
        return frozenset(said | {d.weekday for d in self.written if d.weekday is not None})

    @cached_property
    def quantities(self) -> tuple[Quantity, ...]:
        """Numbers with their units; not those of dates."""
        taken = [(d.start, d.end) for d in find_dates(self.text)]
        found = find_quantities(self.text, taken)
        for match in _PERIODIC.finditer(self.text):  # 48 monthly payments take four years
            unit, factor = _PERIODS[match[2].casefold()]
            found.append(Quantity((float(match[1]),), unit, factor))
        return tuple(found)

    @cached_property
    def lengths(self) -> frozenset[int]:
        """How many things its lists name; without "and" only those behind a colon."""
        found: set[int] = set()
        for clause in _CLAUSE.split(self.text):
            if _LAST_ITEM.search(clause):
                found.add(listed_length(clause))
        found.update(listed_length(m[1]) for m in _COLON_LIST.finditer(self.text))
        return frozenset(found - {0, 1})
