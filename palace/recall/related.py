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

_FOLDER = Path(__file__).parent / "related_words"
_DIGITS = 2


class _Table:
    """The table of one language, in memory as it is packed; a page is unpacked when it is asked.

    Args:
        path: The file.
    """

    def __init__(self, path: Path) -> None:
        from zipfile import ZipFile

        # Read at once: an open file's position would be shared with forked processes.
        self._packed = ZipFile(BytesIO(path.read_bytes()))
        self._first = self._packed.namelist()
        self._pages: dict[str, dict[str, str]] = {}

    def line(self, token: str) -> str:
        """Return what stands behind a token, empty if it has no line."""
        number = bisect_right(self._first, token)
        return self._page(self._first[number - 1]).get(token, "") if number else ""

    def tokens(self) -> list[str]:
        """Return the tokens of all lines, sorted."""
        return [token for first in self._first for token in self._page(first)]

    def _page(self, first: str) -> dict[str, str]:
        page = self._pages.get(first)
        if page is None:
            lines = (line.partition(" ") for line in self._packed.read(first).decode().splitlines())
            page = self._pages[first] = {token: rest for token, _, rest in lines}
        return page


def related_words(terms: Iterable[str], language: str) -> dict[str, Mapping[str, float]]:
    """Return what is related to each term, nearest first; a term without such words is left out.

    Args:
        terms: Index tokens of a question.
        language: Its language, a code; most have no table.

    Returns:
        Term -> token -> nearness in (0, 1).
    """
    return {term: near for term in terms if (near := _related(term, language))}


def listed_tokens(language: str) -> list[str]:
    """Return every token that has a line in the table of a language, sorted."""
    table = _table(language)
    return [] if table is None else table.tokens()


@lru_cache(maxsize=4096)
def _related(term: str, language: str) -> Mapping[str, float]:
    table = _table(language)
    pairs = table.line(term).split() if table is not None else ()
    return {pair[:-_DIGITS]: int(pair[-_DIGITS:]) / 100 for pair in pairs}


@cache
def _table(language: str) -> _Table | None:
    path = _FOLDER / f"{language}.zip"
    return _Table(path) if path.is_file() else None
