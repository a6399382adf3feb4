"""What an answer may say: everything that stands in the evidence, the question and the identity.

In: texts. Out: `Support`, which tells whether a word or a name stands there, and holds the parts
that tell the same of dates, of numbers and of what must be exact.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import regex

from palace.enforce.answer_words import answer_words, read_words
from palace.enforce.known_dates import KnownDates
from palace.enforce.known_quantities import KnownQuantities
from palace.enforce.known_specifics import KnownSpecifics
from palace.enforce.source import Source, is_cut_from, is_cut_name, is_in_other_case
from palace.enforce.specifics import is_everyday, may_be_name
from palace.recall.related import translated
from palace.text import Word, fold, is_cyrillic, stem

_NO_DIGITS = regex.compile(r"\D+")
_LETTERED = regex.compile(r"(?<!\p{L})(\p{L}{3,20})\.?\s\p{Lu}(?![\w'’])")
_ENDING = regex.compile(r"e[nrsm]?$")
_PEOPLES = ("ian", "ians", "ean", "ese")
_LEAST_PREFIX_CHARS = 5
_LIKE_CHARS = 3


def _is_capital(word: Word) -> bool:
    return (
        word.surface[0].isupper()
        and len(word.surface) > _LIKE_CHARS
        and word.surface.isalpha()
        and may_be_name(word.surface)
    )


def _without_ending(surface: str) -> str:
    """Return a word as it is without a German ending: "Rotes" and "Roten" are one."""
    return _ENDING.sub("", fold(surface))


def _with_neighbours(listed: Sequence[Word]) -> Iterator[tuple[Word, str, str]]:
    """Yield words with the tokens of those before and behind them."""
    tokens = [word.token for word in listed]
    return zip(listed, ("", *tokens), (*tokens[1:], ""), strict=False)


def _beside(word: Word, sentence: str) -> tuple[Word | None, Word | None]:
    """Return the words before and behind a word of a sentence."""
    listed = (None, *read_words(sentence), None)
    place = listed.index(word)
    return listed[place - 1], listed[place + 1]


@dataclass(frozen=True, eq=False)
class Support:
    """Several sources together.

    Attributes:
        sources: Texts that an answer may draw on.
        strict: Whether little may be worked out, as after unclear evidence.
        language: Of the question, and so of the answer: its words may stand there in English.
    """

    sources: tuple[Source, ...]
    strict: bool = False
    language: str = "en"

    @cached_property
    def tokens(self) -> frozenset[str]:
        """All index tokens."""
        return frozenset().union(*(s.tokens for s in self.sources))

    @cached_property
    def groups(self) -> frozenset[int]:
        """Groups of words that may stand for words of the sources."""
        return frozenset().union(*(s.groups for s in self.sources))

    @cached_property
    def _prefixes(self) -> frozenset[str]:
        return frozenset(
            t[:_LEAST_PREFIX_CHARS]
            for t in self.tokens
            if len(t) >= _LEAST_PREFIX_CHARS and t.isalpha()
        )

    @cached_property
    def _abbreviations(self) -> frozenset[str]:
        return frozenset().union(*(s.abbreviations for s in self.sources))

    @cached_property
    def _names(self) -> frozenset[str]:
        return frozenset().union(*(s.names for s in self.sources))

    @cached_property
    def _full_names(self) -> frozenset[tuple[str, str]]:
        return frozenset().union(*(s.full_names for s in self.sources))

    @cached_property
    def dates(self) -> KnownDates:
        """Their days."""
        return KnownDates(self.sources, strict=self.strict)

    @cached_property
    def quantities(self) -> KnownQuantities:
        """Their numbers."""
        return KnownQuantities(self.sources, self.dates, strict=self.strict)

    @cached_property
    def specifics(self) -> KnownSpecifics:
        """What stands there as it is written."""
        return KnownSpecifics(self.sources)

    def has_digits(self, text: str) -> bool:
        """Whether the digits of a text stand in one source in this order, however grouped."""
        digits = _NO_DIGITS.sub("", text)
        return any(digits in _NO_DIGITS.sub("", source.text) for source in self.sources)

    def has_word(self, word: Word) -> bool:
        """Whether a word stands there, as it is, in parts, or in another form."""
        if word.token in self.tokens or any(t in self.tokens for t in word.extra if len(t) > 1):
            return True
        return word.token[:_LEAST_PREFIX_CHARS] in self._prefixes and word.token.isalpha()

    def resembles(self, word: Word) -> bool:
        """Whether a word that may stand for this one stands there."""
        if self.has_synonym(word) or self._has_translation(word):
            return True
        folded = fold(word.surface)
        return len(folded) > 3 and any(is_cut_from(short, folded) for short in self._abbreviations)

    def has_synonym(self, word: Word) -> bool:
        """Whether a word of the same meaning stands there."""
        return not self.groups.isdisjoint(answer_words().groups.get(word.token, ()))

    def knows(self, word: Word) -> bool:
        """Whether a word with a capital that may only open a sentence is no name."""
        everyday = is_everyday(word.surface, self.language)
        stands = not self.tokens.isdisjoint((word.token, *word.extra))
        return stands or self.has_synonym(word) or everyday

    def _has_translation(self, word: Word) -> bool:
        """Whether an English word for one of another language stands there.

        After unclear evidence that is not enough: there the quoted memory alone is proved.
        """
        if self.strict:
            return False
        english = translated([word.token], self.language).get(word.token, ())
        return not self.tokens.isdisjoint(english)

    def has_name(self, word: Word) -> bool:
        """Whether a name stands there, in any case and any of its forms."""
        folded = fold(word.surface)
        bare = folded.replace("-", "")
        if not self._names.isdisjoint({folded, f"{folded}s", folded.removesuffix("s"), bare}):
            return True
        inflected = is_cyrillic(folded) and any(
            is_in_other_case(folded, name) for name in self._names
        )
        if inflected or any(
            is_cut_name(short, folded, whole=short in s.heads)
            for s in self.sources
            for short in s.heads | s.marked
        ):
            return True
        codes = answer_words().codes.get(folded, frozenset())
        if any(
            not codes.isdisjoint(s.marked) or any(c in s.names for c in codes if len(c) > 2)
            for s in self.sources
        ):
            return True
        if word.parts and all(part in self._names for part in word.parts):
            return True
        people = (folded.removesuffix(end) for end in _PEOPLES if folded.endswith(end))
        if not self._names.isdisjoint(people):
            return True  # "Dobsonian", of Dobson
        *heads, tail = word.surface.split("-")
        return (
            tail.islower()
            and is_everyday(tail)
            and bool(heads)
            and self._names.issuperset(map(fold, heads))
        )

    def is_added_to_name(self, word: Word, sentence: str) -> bool:
        """Whether a word of every day only says what a name is of that stands alone there.

        So "Circuit Court" is, where "Lake County Circuit" is remembered, but not "Lake County
        Court".
        """
        name, _ = _beside(word, sentence)
        if name is None or not _is_capital(name) or sentence[name.end : word.start] != " ":
            return False
        stands = regex.compile(rf"(?<!\p{{L}}){regex.escape(name.surface)}(?!\p{{L}})(\s\p{{Lu}})?")
        found = [match for source in self.sources for match in stands.finditer(source.text)]
        ordinary = is_everyday(word.surface, self.language)
        return ordinary and bool(found) and not any(match[1] for match in found)

    def is_of_another(self, word: Word, sentence: str) -> bool:
        """Whether a name stands before a surname that only others have there.

        So "Bruno Aaberg" does, where Nils Aaberg and Bruno are remembered.
        """
        _, behind = _beside(word, sentence)
        if behind is None or sentence[word.end : behind.start] != " " or behind.surface.isupper():
            return False
        said = fold(word.surface), fold(behind.surface)
        others = said[1] in {surname for _, surname in self._full_names}
        return others and said[0] in self._names and said not in self._full_names

    def has_other_label(self, label: Word, sentence: str) -> bool:
        """Whether the thing that a single letter marks has another letter there: "bed B"."""
        before, _ = _beside(label, sentence)
        if before is None:
            return False
        said = fold(before.surface)
        return any(
            stem(head) == before.token or is_cut_from(head, said)
            for s in self.sources
            for head in (fold(m[1]) for m in _LETTERED.finditer(s.text))
        )

    def has_like_name(self, word: Word, sentence: str) -> bool:
        """Whether a name that begins alike stands in the place of one that stands nowhere.

        Beside the same word, as in "with Robert" for "with Ruben": so names are told that only
        open a sentence or stand in a language in which every noun has a capital.
        """
        if not _is_capital(word) or self.has_word(word):
            return False
        if is_everyday(word.surface, self.language) or translated([word.token], self.language):
            return False
        beside = [one.token if one else "" for one in _beside(word, sentence)]
        return any(
            _is_capital(known)
            and known.surface[0] == word.surface[0]
            and abs(len(known.surface) - len(word.surface)) <= _LIKE_CHARS
            and any(one and one == token for one, token in zip(beside, around, strict=True))
            and _without_ending(known.surface) != _without_ending(word.surface)
            for source in self.sources
            for known, *around in _with_neighbours(read_words(source.text))
        )

    def has_another(self, word: Word) -> bool:
        """Whether a thing of the word's class stands there, and the word itself does not."""
        return any(
            self.tokens.isdisjoint(names) and not self.tokens.isdisjoint(members)
            for names, members in answer_words().classes.get(word.token, ())
        )
