"""Other words that memories may have for what a prompt says: related, foreign, a part of it, a day.

In: terms, their language and a scope. Out: index token -> the other tokens, each with how near it
is. They bring memories and prove nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import partial
from itertools import chain

from palace.ports import Scope, Vocabulary
from palace.recall.days import named_days
from palace.recall.related import (
    IN_PART,
    compound_parts,
    foreign_words,
    leads_to_english,
    related_words,
)
from palace.recall.written_in import written_languages
from palace.text import Word
from palace.text.moments import utc_now

# How near another writing of a day is: it may be that of another year.
_SAME_DAY = 0.99
# A host has many sessions, and asks for one after the other.
_KEPT_SCOPES = 1000

Near = Mapping[str, float]


class OtherWords:
    """Looks up what else a palace may say for a term.

    Args:
        vocabulary: What the palace's words are.
        languages: Codes of the languages to know.
    """

    def __init__(self, vocabulary: Vocabulary, languages: Iterable[str]) -> None:
        self._vocabulary = vocabulary
        self._languages = tuple(filter(leads_to_english, languages))
        # Of one state of the palace: what languages the memories of each scope are in.
        self._written: tuple[object, dict[Scope, tuple[str, ...]]] = (None, {})

    def of(
        self, terms: Sequence[str], language: str, *, unheld: Sequence[str], scope: Scope
    ) -> tuple[dict[str, Near], dict[str, Near]]:
        """Return all other words for terms, and those of other languages alone, nearest first.

        Args:
            terms: Index tokens.
            language: Their language.
            unheld: Those of them that no memory has.
            scope: Whose memories count.
        """
        foreign = self._foreign(terms, language, scope=scope)
        related = related_words(terms, language)
        for more in (self._held_parts(unheld, language, scope=scope), foreign):
            related = _nearest_first(related, more) if more else related
        return related, foreign

    def of_days(
        self, prompt: str, found: Sequence[Word], terms: Collection[str], *, scope: Scope
    ) -> dict[str, Near]:
        """Return the other writings that the palace has of the days in a prompt.

        Args:
            prompt: What is asked.
            found: Its words, in order.
            terms: Index tokens of its content.
            scope: Whose memories count.
        """
        written: dict[str, Near] = {}
        for named in named_days(prompt, found):
            term = next((t for t in (named.word.token, *named.word.parts) if t in terms), None)
            writings = named.writings(this_year=utc_now().year)
            held = self._held(writings, scope)
            if term is not None and held:
                written[term] = {token: _SAME_DAY for token in writings if token in held}
        return written

    def held_days(
        self, meant: Mapping[str, Sequence[str]], *, scope: Scope
    ) -> dict[str, tuple[str, ...]]:
        """Return of the days that terms stand for those that the palace has.

        Args:
            meant: Term -> index tokens of days.
            scope: Whose memories count.
        """
        held = self._held(chain.from_iterable(meant.values()), scope)
        found = {t: tuple(day for day in days if day in held) for t, days in meant.items()}
        return {term: days for term, days in found.items() if days}

    def _foreign(self, terms: Sequence[str], language: str, *, scope: Scope) -> dict[str, Near]:
        """Return what memories in other languages have for terms, nearest first."""
        into = self._written_languages(scope) if terms else ()
        found = foreign_words(terms, language, into=into)
        held = self._held(chain.from_iterable(found.values()), scope)
        near = {
            t: {token: n for token, n in of.items() if token in held} for t, of in found.items()
        }
        return _nearest_first({term: of for term, of in near.items() if of}, {})

    def _held_parts(self, terms: Sequence[str], language: str, *, scope: Scope) -> dict[str, Near]:
        """Return the parts of compounds that some memory says as words."""
        parts = {term: found for term in terms if (found := compound_parts(term, language))}
        held = self._held(chain.from_iterable(parts.values()), scope)
        said = {term: sorted(held.intersection(found)) for term, found in parts.items()}
        return {term: dict.fromkeys(tokens, IN_PART) for term, tokens in said.items() if tokens}

    def _held(self, tokens: Iterable[str], scope: Scope) -> frozenset[str]:
        """Return those tokens that some memory has."""
        wanted = set(tokens)
        counts = self._vocabulary.counts(wanted, scope=scope) if wanted else {}
        return frozenset(token for token in wanted if counts[token].any)

    def _written_languages(self, scope: Scope) -> tuple[str, ...]:
        """Return the languages that memories are in, told anew when the palace has changed."""
        state = self._vocabulary.state()
        told, written = self._written
        if told != state or len(written) > _KEPT_SCOPES:
            written = {}
            self._written = (state, written)
        if scope not in written:
            counts_of = partial(self._vocabulary.counts, scope=scope)
            written[scope] = written_languages(self._languages, counts_of)
        return written[scope]


def _nearest_first(related: Mapping[str, Near], more: Mapping[str, Near]) -> dict[str, Near]:
    """Return what is near each term, with more of it, in order of nearness."""
    both = {t: {**more.get(t, {}), **related.get(t, {})} for t in dict.fromkeys((*related, *more))}
    return {t: dict(sorted(near.items(), key=lambda item: -item[1])) for t, near in both.items()}
