"""Pack the lists of words that were written by hand into what ships with recall.

Run:
    python -m benchmarks.written_words

In: `benchmarks/data/related_words`. A line of `en.txt` is a word with words that come near to it,
"heavy | same: heaviness | near: weigh weight | about: kg kilos", and it to them; a line of the list
of another language is an English word with the words for it, "key: Schlüssel, Ersatzschlüssel".
Out: in `palace/recall/related_words` the table `<language>_written.zlib` of words of one language,
and `<language>_en.zlib` from a language to English.

In: `benchmarks/data/given_names`, a name a line. Out: `palace/recall/given_names.txt`, all that are
no function words. Whoever adds a word or a name runs this once more.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from benchmarks.related_words import telling_times
from palace.recall.given_names import LISTED, as_listed
from palace.recall.lexicon import DEFAULT_LANGUAGES, load_lexicons
from palace.recall.related import packed
from palace.text import words

LISTS = Path(__file__).parent / "data" / "related_words"
NAMES = Path(__file__).parent / "data" / "given_names"
TABLES = Path(__file__).parents[1] / "palace" / "recall" / "related_words"
NEARNESS = {"same": 75, "near": 70, "about": 55}
"""How near the words of each group are, in hundredths; chosen on held-out folds."""
TRANSLATED, TRANSLATED_IN_PART = 85, 70
SIBLING = 70
"""How near two words are that are both words for one English word: inflections, or synonyms."""
_MOST_PLACES = 24

Rows = dict[str, dict[str, int]]
"""Token -> another token -> nearness in hundredths."""


def english(lines: Iterable[str]) -> Rows:
    """Return the table of the English list.

    Raises:
        ValueError: If a line or a group is none, with its text.
    """
    rows: Rows = {}
    times = telling_times()
    for line in filter(str.strip, lines):
        word, *groups = (part.strip() for part in line.split("|"))
        for group in groups:
            name, _, listed = group.partition(":")
            if name not in NEARNESS:
                raise ValueError(f"a line names no group but {', '.join(NEARNESS)}: {line!r}")
            pair = ((_token(word), _token(other)) for other in listed.split())
            for token, other in pair:
                if times.isdisjoint((token, other)):
                    _add(rows, token, other, NEARNESS[name])
                    # How near two words are has no direction; a letter or a number is none.
                    if other.isalpha() and len(other) > 1:
                        _add(rows, other, token, NEARNESS[name])
    return rows


def foreign(lines: Iterable[str]) -> tuple[Rows, Rows]:
    """Return the tables of the list of another language: of its own words, and to English."""
    own: Rows = {}
    translated: Rows = {}
    for line in filter(str.strip, lines):
        word, colon, listed = line.partition(":")
        if not colon:
            raise ValueError(f"a line has no colon behind an English word: {line!r}")
        said = [_tokens(each) for each in listed.split(",") if each.strip()]
        for tokens in said:
            nearness = TRANSLATED if len(tokens) == 1 else TRANSLATED_IN_PART
            for token in tokens:
                _add(translated, token, _token(word), nearness)
        whole = [tokens[0] for tokens in said if len(tokens) == 1]
        for token in whole:
            for sibling in whole:
                _add(own, token, sibling, SIBLING)
    return own, translated


def _add(rows: Rows, token: str, other: str, nearness: int) -> None:
    if token and other and token != other:
        row = rows.setdefault(token, {})
        row[other] = max(row.get(other, 0), nearness)


def _token(text: str) -> str:
    """Return the one index token of a word, "" if it is none or several."""
    found = words(text)
    return found[0].token if len(found) == 1 else ""


def _tokens(text: str) -> list[str]:
    """Return the tokens of a word: in scripts without blanks its pairs, elsewhere one or none."""
    found = words(text)
    return [w.token for w in found] if all(w.shape == "dense" for w in found) else [_token(text)]


def pairs(rows: Rows) -> dict[str, list[tuple[str, int]]]:
    """Return a table as it is packed: every token has a row, nearest first."""
    tokens = {*rows, *(other for row in rows.values() for other in row)}
    return {
        token: sorted(rows.get(token, {}).items(), key=lambda item: (-item[1], item[0]))[
            :_MOST_PLACES
        ]
        for token in tokens
    }


def tables(folder: Path) -> Iterator[tuple[str, Mapping[str, list[tuple[str, int]]]]]:
    """Yield the name of every table with its rows."""
    for path in sorted(folder.glob("*.txt")):
        lines = path.read_text("utf-8").splitlines()
        if path.stem == "en":
            yield "en_written", pairs(english(lines))
        else:
            own, translated = foreign(lines)
            yield f"{path.stem}_written", pairs(own)
            yield f"{path.stem}_en", pairs(translated)


def given_names(folder: Path) -> list[str]:
    """Return the names of all lists as they ship, sorted.

    Left out are function words, and everyday words that only an accent or an ending sets apart
    ("Germán", "Åge", Сеня).
    """
    names = [word for path in folder.glob("*.txt") for word in words(path.read_text("utf-8"))]
    everyday = _everyday_words()
    kept = {as_listed(n) for n in names if as_listed(n) == n.surface.casefold()}
    kept |= {as_listed(n) for n in names} - everyday
    function_words = (lexicon.function_words for lexicon in load_lexicons(DEFAULT_LANGUAGES))
    return sorted(n for n in kept.difference(*function_words) if len(n) >= _shortest(n))


def _shortest(name: str) -> int:
    """Return how many letters tell a name: of a stem some more, many words share a short one."""
    return 3 if name.isascii() else 4


def _everyday_words() -> set[str]:
    """Return the words of all lists as names are listed; what is the same in English is a name."""
    said: set[str] = set()
    for path in LISTS.glob("*.txt"):
        for line in path.read_text("utf-8").splitlines():
            head, _, listed = line.partition(" | " if path.stem == "en" else ":")
            own = {as_listed(word) for word in words(head)}
            said |= {as_listed(word) for word in words(listed)} - own
    return said


def main() -> None:
    """Pack all lists."""
    argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0]).parse_args()
    for name, rows in tables(LISTS):
        size = (TABLES / f"{name}.zlib").write_bytes(packed(rows))
        print(f"{name}: {len(rows)} tokens, {size / 1e3:.0f} kB")
    names = given_names(NAMES)
    LISTED.write_text("\n".join((*names, "")), "utf-8")
    print(f"given names: {len(names)}")


if __name__ == "__main__":
    main()
