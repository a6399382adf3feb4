"""What was replaced or forgotten, and what that means for evidence that still repeats it.

In: the retired memories, and evidence; turns of a conversation above all, which nobody corrects.
Out: which evidence proves nothing any more, what answers in its place, and what held at the end of
a past period that is asked about.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime
from functools import cached_property, lru_cache

import regex

from palace.recall.lexicon import word_tokens
from palace.recall.shape import QUESTION_MARKS
from palace.text import tokens
from palace.types.memory import TIMELINE, Memory
from palace.types.query import Query
from palace.types.verdict import Evidence

_Memories = dict[str, Memory]
_SENTENCE_END = regex.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n")


class Retired:
    """The memories that were retired by the time a question is about, read when they are needed.

    Args:
        read: Returns those that were retired by a moment; None stands for that of the index.
        end: Returns the last instant of a past period that the question names, if it names one.
    """

    def __init__(
        self,
        read: Callable[[datetime | None], Iterable[Memory]],
        end: Callable[[], datetime | None],
    ) -> None:
        self._read = read
        self._end = end

    @cached_property
    def end(self) -> datetime | None:
        """The last instant of the period asked about, if that is over."""
        return self._end()

    @cached_property
    def _now(self) -> _Memories:
        return {old.id: old for old in self._read(None)}

    @cached_property
    def _then(self) -> _Memories:
        return self._now if self.end is None else {old.id: old for old in self._read(self.end)}

    def replaced(self) -> dict[str, list[Memory]]:
        """Return the memories that were replaced, by the ids of what replaced them."""
        found: dict[str, dict[str, Memory]] = {}
        for old in self._now.values():
            found.setdefault(old.superseded_by, {})[old.text] = old
        return {by: list(olds.values()) for by, olds in found.items()}

    def held_then(self, evidence: Sequence[Evidence]) -> dict[str, list[Memory]]:
        """Return what held at the end of the period, by the id of what has replaced it since."""
        if self.end is None:
            return {}
        kept = {item.id for item in evidence if not is_spoken(item)}
        found: dict[str, list[Memory]] = {}
        for old in self._now.values() if kept else ():
            begin = old.valid_from or old.created
            if old.id not in self._then and begin is not None and begin <= self.end:
                found.setdefault(_held_now(old, self._now, kept), []).append(old)
        return found

    def over(self, query: Query, evidence: Sequence[Evidence]) -> set[str]:
        """Return the ids of evidence that proves nothing about the time a question is about.

        That is evidence which began after the period asked about and does not name it; and turns
        which say of what is asked only what was retired by then. If what replaced it is among the
        evidence, the turn is kept, and `first` puts the replacement before it.
        """
        later = {item.id for item in evidence if self._is_later(query, item)}
        evidence = [item for item in evidence if item.id not in later]
        return later | self._told_of_retired(query, evidence)

    def _is_later(self, query: Query, item: Evidence) -> bool:
        if self.end is None or item.as_of is None or item.as_of <= self.end:
            return False
        dates = {term for term in query.terms if any(map(str.isdigit, term))}  # "month05", "2025"
        return dates.isdisjoint(tokens(item.text))

    def _told_of_retired(self, query: Query, evidence: Sequence[Evidence]) -> set[str]:
        if not evidence or not is_spoken(evidence[0]):
            return set()
        kept = {item.id: item.text for item in evidence if not is_spoken(item)}
        asked, said = {*query.terms, *query.carried}, {*kept.values()}
        return {
            item.id
            for item in evidence
            if is_spoken(item) and (held := asked.intersection(tokens(_told_in(item.text))))
            for old in _told(item, self._then.values())
            if old.text not in said and not _held_now(old, self._then, kept)
            if held.issubset(tokens(old.text))
        }

    def first(self, evidence: tuple[Evidence, ...]) -> tuple[Evidence, ...]:
        """Return evidence with what holds before a turn that tells what it replaced.

        The turn has the words of the question, and what replaced it is the right answer to them.
        """
        kept = {item.id for item in evidence if not is_spoken(item)}
        if not kept or not is_spoken(evidence[0]):
            return evidence
        told = _told(evidence[0], self._then.values())
        right = {_held_now(old, self._then, kept) for old in told}
        return tuple(sorted(evidence, key=lambda item: item.id not in right))


def is_spoken(item: Evidence) -> bool:
    """Whether evidence is a turn or a summary on the timeline."""
    return item.source.startswith(f"{TIMELINE}/")


def _told_in(text: str) -> str:
    """Return a turn without the questions in it: they tell nothing of what they ask."""
    said = _SENTENCE_END.split(text)
    return " ".join(s for s in said if not s.rstrip().endswith(QUESTION_MARKS))


def _told(item: Evidence, memories: Iterable[Memory]) -> list[Memory]:
    """Return the memories that evidence repeats: word for word, or all terms in one sentence."""
    text = item.text.casefold()
    said = [frozenset(tokens(sentence)) for sentence in _SENTENCE_END.split(item.text)]

    def repeats(old: str) -> bool:
        terms = _terms(old)
        told = bool(terms) and any(map(terms.issubset, said))
        return told or old.casefold().rstrip(" .!") in text

    return [m for m in memories if repeats(m.text)]


@lru_cache(maxsize=4096)
def _terms(text: str) -> frozenset[str]:
    """Return the index tokens of a text that carry content in every language."""
    return frozenset(tokens(text)) - word_tokens("stopwords")


def _held_now(old: Memory, replaced: Mapping[str, Memory], kept: Collection[str]) -> str:
    """Return which of the kept memories replaced an old one, perhaps through others; "" if none."""
    seen = {old.id}
    while old.superseded_by not in kept:
        following = replaced.get(old.superseded_by)
        if following is None or following.id in seen:
            return ""
        old = following
        seen.add(old.id)
    return old.superseded_by
