"""Words that mean nearly what a word of the question means, from a table that ships.

In: index tokens and a language. Out: other index tokens with how near they are. The table of a
language is `related_words/<language>.zip`: pages of sorted lines "token other93 another82",
nearness in hundredths, each page named by its first token (`unzip -p` prints all of it). A program
that asks nothing reads nothing, and one that asks unpacks the pages its words stand on. The table
was made once, by `python -m benchmarks.related_words`; no model runs here.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping
from functools import cache, lru_cache
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from zipfile import ZipFile

FOLDER = Path(__file__).parent / "related_words"
_NONE: Mapping[str, float] = {}
_DIGITS = 2


class _Table(NamedTuple):
    """A table in memory, packed, with the first token of every page, in order."""

    pages: ZipFile
    first: list[str]


def related_words(terms: Iterable[str], language: str) -> dict[str, Mapping[str, float]]:
    """Return what is related to each term, nearest first; a term without such words is left out.

    Args:
        terms: Index tokens of a question.
        language: Its language, a code; most have no table.

    Returns:
        Term -> token -> nearness in (0, 1).
    """
    found = {term: _related(term, language) for term in terms}
    return {term: near for term, near in found.items() if near}


def listed_tokens(language: str) -> list[str]:
    """Return every token that has a line in the table of a language, sorted."""
    table = _table(language)
    return [] if table is None else [t for n in range(len(table.first)) for t in _page(language, n)]


@lru_cache(maxsize=4096)
def _related(term: str, language: str) -> Mapping[str, float]:
    table = _table(language)
    number = bisect_right(table.first, term) - 1 if table is not None else -1
    line = _page(language, number).get(term, "") if number >= 0 else ""
    pairs = ((pair[:-_DIGITS], pair[-_DIGITS:]) for pair in line.split())
    return {token: int(hundredths) / 100 for token, hundredths in pairs} or _NONE


@cache
def _page(language: str, number: int) -> dict[str, str]:
    table = _table(language)
    text = table.pages.read(table.first[number]).decode() if table is not None else ""
    lines = (line.partition(" ") for line in text.splitlines())
    return {token: rest for token, _, rest in lines}


@cache
def _table(language: str) -> _Table | None:
    path = FOLDER / f"{language}.zip"
    if not path.is_file():
        return None
    from zipfile import ZipFile

    # Read at once: an open file's position would be shared with forked processes.
    pages = ZipFile(BytesIO(path.read_bytes()))
    return _Table(pages, pages.namelist())
