"""Words that mean nearly what a word of the question means, from tables that ship.

In: index tokens and a language. Out: other index tokens with how near they are. In the folder
`related_words`, `en.zlib` was made once, by the vectors of a model; no model runs here. All others
were written by hand, in `benchmarks/data/related_words`, and packed: `<language>_written.zlib`
holds words of one language, `<language>_en.zlib` takes them to English ones, because a note need
not be in the language of the question. `python -m benchmarks.related_words --show` prints a table,
a line "token other93 another82" for each token, nearness in hundredths. A program that asks nothing
reads nothing, and one that asks unpacks the tables of its language once.
"""

from __future__ import annotations

import zlib
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from itertools import pairwise
from pathlib import Path

from palace.recall.lexicon import is_hiragana, is_word_of, load_lexicon

_FOLDER = Path(__file__).parent / "related_words"
_MOST_WORDS = 1 << 16
NEARLY_ALL_LISTED = frozenset({"en"})
"""Languages of which the tables hold nearly every word that people type."""
# Of one word of a question, so many words that mean nearly the same are looked for.
_MOST_NEAR = 24
# Languages that write compounds as one word, and the letters that their parts have at least.
_COMPOUNDING = frozenset({"de", "nl"})
_SHORTEST_PART, _SHORTEST_LAST_PART = 3, 4
_SHORTEST_HELD_PART = 4
IN_PART = 0.7
"""How near a part of a compound is, or the English word for it."""


class Table:
    """The words of one language, each with those that are near it.

    Packed it is the words, sorted, a line each, then an empty line, then three blocks of bytes:
    the upper and the lower half of the numbers of the words that are near, and by how many
    hundredths each is less near than the one before it, the first less than 1. Every word has as
    many places in a block; those that it does not need hold its own number.

    Args:
        packed: What `packed` returned.
    """

    def __init__(self, packed: bytes) -> None:
        words, _, self._blocks = zlib.decompress(packed).partition(b"\n\n")
        self.tokens = words.decode().split("\n")
        self._block_bytes = len(self._blocks) // 3
        self._places = self._block_bytes // len(self.tokens)

    def near(self, token: str) -> dict[str, float]:
        """Return what is near a token, nearest first, each in (0, 1); empty for an unknown one."""
        number = bisect_left(self.tokens, token)
        if self.tokens[number : number + 1] != [token]:
            return {}
        return dict(self._row(number))

    def rows(self) -> Iterator[tuple[str, Iterator[tuple[str, float]]]]:
        """Yield every token with what is near it, nearest first."""
        for number, token in enumerate(self.tokens):
            yield token, self._row(number)

    def _row(self, number: int) -> Iterator[tuple[str, float]]:
        blocks, size, near = self._blocks, self._block_bytes, 100
        for place in range(number * self._places, (number + 1) * self._places):
            other = 256 * blocks[place] + blocks[place + size]
            if other == number:  # nor is anything behind it needed
                return
            near -= blocks[place + 2 * size]
            yield self.tokens[other], near / 100


def packed(table: Mapping[str, Sequence[tuple[str, int]]]) -> bytes:
    """Return the bytes of a `Table`.

    Args:
        table: Token -> (another token of the table, nearness in hundredths), nearest first.

    Raises:
        ValueError: If there are more than 65,536 tokens.
    """
    tokens = sorted(table)
    if len(tokens) > _MOST_WORDS:
        raise ValueError(f"{len(tokens)} tokens are more than two bytes can number")
    number = {token: place for place, token in enumerate(tokens)}
    places = max(map(len, table.values()), default=0)
    others, less = [], bytearray()
    for token in tokens:
        row = table[token]
        spare = places - len(row)
        others += [*(number[other] for other, _ in row), *(number[token] for _ in range(spare))]
        nearness = [100, *(near for _, near in row)]
        less += bytes(before - here for before, here in pairwise(nearness))
        less += bytes(spare)
    words = "\n".join(tokens).encode()
    halves = (bytes(n >> 8 for n in others), bytes(n & 255 for n in others))
    return zlib.compress(b"".join((words, b"\n\n", *halves, less)), 9)


def related_words(terms: Iterable[str], language: str) -> dict[str, Mapping[str, float]]:
    """Return what is related to each term, nearest first; a term without such words is left out.

    Args:
        terms: Index tokens of a question.
        language: Its language, a code; eleven have tables, of any other nothing is related.

    Returns:
        Term -> token -> nearness in (0, 1).
    """
    return {term: near for term in terms if (near := _related(term, language))}


def translated(terms: Iterable[str], language: str) -> dict[str, tuple[str, ...]]:
    """Return the English tokens of each term of another language; one without any is left out."""
    return {term: tuple(found) for term in terms if (found := _english(term, language))}


def foreign_words(
    terms: Iterable[str], language: str, *, into: Iterable[str]
) -> dict[str, Mapping[str, float]]:
    """Return the tokens of other languages for each term; a term without any is left out.

    They are found by its English words, in the lists that lead to these. A token that is a word of
    English too is left out, because a gift is no poison, and so are function words.

    Args:
        terms: Index tokens of a question.
        language: Its language.
        into: The other languages; English is none of them, see `translated`.

    Returns:
        Term -> token -> nearness in (0, 1).
    """
    turned = [_turned_round(other) for other in into if other not in (language, "en")]
    found: dict[str, Mapping[str, float]] = {}
    for term in terms if turned else ():
        near: dict[str, float] = {}
        english = {term: 1.0} if language == "en" else _english(term, language)
        for word, nearness in english.items():
            for words in turned:
                add_nearer(near, {token: nearness * here for token, here in words.get(word, ())})
        near.pop(term, None)
        if near:
            found[term] = near
    return found


def compound_parts(term: str, language: str) -> frozenset[str]:
    """Return what may be a part of a compound that no list has: "budget" of "Laborbudget".

    Only the notes tell which of them is a word; function words of the language are left out.
    """
    if language not in _COMPOUNDING or not term.isalpha() or term in everyday_words(language):
        return frozenset()
    last = (term[start:] for start in range(_SHORTEST_PART, len(term) - _SHORTEST_HELD_PART + 1))
    first = (term[:end] for end in range(_SHORTEST_HELD_PART, len(term) - _SHORTEST_PART + 1))
    return frozenset((*last, *first)) - load_lexicon(language).stopwords


@cache
def leads_to_english(language: str) -> bool:
    """Whether a list leads from a language into English, and so back from it."""
    return (_FOLDER / f"{language}_en.zlib").is_file()


def listed_tokens(language: str) -> list[str]:
    """Return every token that has a line in the first table of a language, sorted."""
    return [*_tokens(language)]


@cache
def listed_set(language: str) -> frozenset[str]:
    """Return every token that has a line in one of the tables of a language."""
    return frozenset((*_tokens(language), *_tokens(f"{language}_written")))


def knows_any(tokens: Collection[str], *languages: str) -> bool:
    """Whether one of some tokens is listed in a language, or tells a number or a time.

    No table does that. Numbers and times are those of all languages.
    """
    return any(not listed_set(language).isdisjoint(tokens) for language in languages) or any(
        is_word_of("number_words", token) or is_word_of("relative_dates", token) for token in tokens
    )


@cache
def everyday_words(language: str) -> frozenset[str]:
    """Return the tokens of a language in the tables that were written by hand."""
    return frozenset((*_tokens(f"{language}_written"), *_tokens(f"{language}_en")))


def is_english(word: str) -> bool:
    """Whether a word may be English in a note: listed, or one of the small ones."""
    return word in listed_set("en") or word in _small_english_words()


@cache
def _small_english_words() -> frozenset[str]:
    """Return the function words, and those that tell a time or a number."""
    lexicon = load_lexicon("en")
    times = (*lexicon.listed("relative_dates"), *lexicon.listed("number_words"))
    return lexicon.function_words.union(times)


@lru_cache(maxsize=4096)
def _related(term: str, language: str) -> Mapping[str, float]:
    near: dict[str, float] = {}
    for name in (language, f"{language}_written"):
        add_nearer(near, _near(name, term))
    for english, nearness in _english(term, language).items():
        add_nearer(near, {english: nearness})
        further = _related(english, "en").items()
        add_nearer(near, {token: nearness * more for token, more in further if token != term})
    # Of equally near ones in the order of the tables, so that a question reads the same always.
    nearest = sorted(near.items(), key=lambda item: -item[1])[:_MOST_NEAR]
    return dict(nearest)


@lru_cache(maxsize=4096)
def _english(term: str, language: str) -> Mapping[str, float]:
    """Return the English tokens for a term, best first; of a compound, those for its two parts."""
    name = f"{language}_en"
    found = _near(name, term)
    if found or language not in _COMPOUNDING:
        return found
    for end in range(_SHORTEST_PART, len(term) - _SHORTEST_LAST_PART + 1):
        last = _near(name, term[end:])
        if last:
            first = next((n for head in _heads(term[:end]) if (n := _near(name, head))), {})
            return dict.fromkeys((*last, *first), IN_PART)
    return {}


@cache
def _turned_round(language: str) -> Mapping[str, Sequence[tuple[str, float]]]:
    """Return English token -> tokens of a language for it, and how near they are."""
    turned: dict[str, list[tuple[str, float]]] = {}
    small = load_lexicon(language).function_words
    table = _table(f"{language}_en")
    for token, near in table.rows() if table else ():
        if not (token in small or is_english(token) or is_hiragana(token)):
            for english, nearness in near:
                turned.setdefault(english, []).append((token, nearness))
    return turned


def _heads(part: str) -> Iterator[str]:
    """Yield what the first part of a compound may be by itself: "Hochzeits-" is a "Hochzeit"."""
    yield part
    for link in ("s", "n", "en", "es"):
        if part.endswith(link):
            yield part.removesuffix(link)


def add_nearer(near: dict[str, float], more: Mapping[str, float]) -> None:
    """Add tokens to what is near; one that is there already counts as near as it is nearest."""
    for token, nearness in more.items():
        if nearness > near.get(token, 0.0):
            near[token] = nearness


def _near(name: str, token: str) -> Mapping[str, float]:
    table = _table(name)
    return {} if table is None else table.near(token)


def _tokens(name: str) -> Sequence[str]:
    table = _table(name)
    return () if table is None else table.tokens


@cache
def _table(name: str) -> Table | None:
    path = _FOLDER / f"{name}.zlib"
    return Table(path.read_bytes()) if path.is_file() else None
