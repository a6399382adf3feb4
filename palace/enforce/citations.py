"""Which pieces of evidence a sentence of an answer cites: "[1]", "[1, 2]", "Note 1 says".

In: a sentence. Out: numbers of evidence, and citations that point nowhere.
"""

from __future__ import annotations

from collections.abc import Iterable

import regex

from palace.enforce.answer_words import answer_words
from palace.enforce.quantities import read_quantities
from palace.text import fold

CITATION = regex.compile(
    r"\[\^?(?:m|(?:item|note|memory|source)[ \t])?(\d{1,3}(?:[ \t]*[,–-][ \t]*\d{1,3})*)\](?!\()"
    r"|【(\d{1,3})】|\((?:m|(?:item|note|memory|source)[ \t])(\d{1,3})\)"
)


def citations_in(sentence: str, count: int) -> tuple[list[int], list[str]]:
    """Return the cited numbers that exist, and the citations that point nowhere."""
    cited: list[int] = []
    missing: list[str] = []
    for match in CITATION.finditer(sentence):
        for piece in regex.split(r"[ \t]*,[ \t]*", match[1] or match[2] or match[3]):
            ends = [int(n) for n in regex.findall(r"\d+", piece)]
            numbers = range(ends[0], min(ends[-1], ends[0] + 100) + 1) or ends
            if all(1 <= n <= count for n in numbers):
                cited.extend(numbers)
            else:
                missing.append(match[0])
    return list(dict.fromkeys(cited)), list(dict.fromkeys(missing))


def called_by_number(sentence: str, count: int, said: Iterable[str]) -> list[regex.Match[str]]:
    """Return where a number only names a piece of evidence, as in "Note 1 says".

    Args:
        sentence: Of an answer, without its citations.
        count: Pieces of evidence.
        said: The memories and the question: where one says just that, it is of something of its
            own.
    """
    called = list(answer_words().items.finditer(sentence))
    if not called:
        return []
    measured = {q.start for q in read_quantities(sentence) if q.unit}
    known = [fold(text) for text in said]
    return [
        match
        for match in called
        if all(1 <= int(n) <= count for n in regex.findall(r"\d+", match["numbers"]))
        and measured.isdisjoint(range(*match.span("numbers")))
        and not any(fold(match[0]) in text for text in known)
    ]
