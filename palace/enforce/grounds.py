"""All that a sentence of an answer may rest on: the memory, the question and the identity.

In: their words. Out: `Grounds`, in which each is read once for all sentences of the answer, and in
the ways that the sentences are held against.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

import regex

from palace.enforce.answer_words import read_words
from palace.enforce.polarity import Clause, clauses
from palace.enforce.slots import Slots
from palace.enforce.source import Source
from palace.enforce.specifics import is_german
from palace.enforce.support import Support
from palace.recall.language import language_of
from palace.recall.lexicon import DEFAULT_LANGUAGES, load_lexicons
from palace.recall.related import translated
from palace.types.verdict import Evidence

_ASKS = (
    r"(?:and |so |but |then )?"
    # "Can you give me …?" asks for it, not whether one can.
    r"(?!(?:can|could|will|would) you (?:please |also |just |quickly )?(?:give|tell|show|list|find"
    r"|explain|describe|compare|calculate|remind|summari[sz]e|recap|write|help|look up|pull up|walk"
    r")\b(?! (?:me |us )?(?:if|whether)\b))"
    r"(?:did|do|does|is|are|were|have|has|had|can|could|will|would|should|may|must"
    r"|didn't|don't|doesn't|isn't|aren't|wasn't|haven't|hasn't"
    # "Was kostet das?" is German, and asks for a thing.
    r"|was(?=\s+(?:(?-i:\p{Lu})|(?:it|s?he|there|th(?:at|is|e)|an?|my|our|your|his|her|their|its|i|we"
    r"|any\w*|some\w*|every\w*|all|one)\b)))\b"
)
_YES_NO = regex.compile(rf"\s*{_ASKS}", regex.IGNORECASE)
_YES_NO_LATER = regex.compile(rf"(?:[?,;]|\band)\s++{_ASKS}", regex.IGNORECASE)


@dataclass(frozen=True)
class Grounds:
    """All that a sentence may rest on.

    Args:
        evidence: In the order it was shown.
        texts: Their words without secrets, as shown.
        question: The person's words.
        others: Identity and further texts.
        strict: Whether a sentence may add next to no words of its own: after unclear evidence,
            where the quoted memory alone is proved.
    """

    evidence: tuple[Evidence, ...]
    texts: tuple[str, ...]
    question: str
    others: tuple[str, ...] = ()
    strict: bool = False

    @cached_property
    def remembered(self) -> tuple[Source, ...]:
        """One source for each piece of evidence."""
        return tuple(
            Source(text, item.as_of, item.source)
            for item, text in zip(self.evidence, self.texts, strict=True)
        )

    @cached_property
    def _beside(self) -> tuple[Source, ...]:
        return tuple(Source(text) for text in self.others if text.strip())

    @cached_property
    def asked(self) -> Source:
        """The question as a source."""
        return Source(self.question)

    @cached_property
    def everything(self) -> Support:
        """Evidence, question and the rest."""
        return self._support(*self.remembered, self.asked, *self._beside)

    @cached_property
    def unasked(self) -> Support:
        """Everything but the question: what a yes must stand on."""
        return self._support(*self.remembered, *self._beside)

    def cited(self, numbers: Sequence[int], *, asked: bool) -> Support:
        """Return the cited evidence alone, beside question and identity."""
        chosen = tuple(self.remembered[n - 1] for n in dict.fromkeys(numbers))
        question = (self.asked,) if asked else ()
        return self._support(*chosen, *question, *self._beside)

    def _support(self, *sources: Source) -> Support:
        return Support(sources, strict=self.strict, language=self.language)

    @cached_property
    def slots(self) -> Slots:
        """What of the evidence may stand in the places of a sentence."""
        days = [item.as_of.date() if item.as_of else None for item in self.evidence]
        return Slots(self.texts, german=self.is_german, days=days)

    @cached_property
    def is_yes_no(self) -> bool:
        """Whether the question wants a yes or a no."""
        return _YES_NO.match(self.question) is not None

    @cached_property
    def is_yes_no_later(self) -> bool:
        """Whether a later part of the question wants a yes or a no."""
        return _YES_NO_LATER.search(self.question) is not None

    @cached_property
    def is_english(self) -> bool:
        """Whether question and memory are all English."""
        texts = (self.question, "\n".join(self.texts))
        return all(self._language_of(text) == "en" for text in texts)

    @cached_property
    def language(self) -> str:
        """Language of the question, and so of the answer."""
        return self._language_of(self.question)

    @cached_property
    def foreign_texts(self) -> tuple[str, ...]:
        """Evidence in English where the question, and so the answer, is in another language.

        A text in a language that is not known may be taken for English: that a word of the question
        stands there in English tells better.
        """
        if self.language == "en":
            return ()
        asked = translated([word.token for word in read_words(self.question)], self.language)
        english = frozenset(chain.from_iterable(asked.values())) - self.asked.tokens
        return tuple(
            source.text
            for source in self.remembered
            if not english.isdisjoint(source.tokens) and self._language_of(source.text) == "en"
        )

    def _language_of(self, text: str) -> str:
        lexicons = load_lexicons(DEFAULT_LANGUAGES)
        return language_of(text, read_words(text), lexicons).language

    @cached_property
    def is_german(self) -> bool:
        """Whether the question or the memory is German."""
        translates = self.language == "de" and bool(self.foreign_texts)
        return translates or any(map(is_german, (self.question, *self.texts)))

    @cached_property
    def has_german_dates(self) -> bool:
        """Whether "3. März" may open a sentence, which is no item of a list then."""
        return self.is_german or self.language == "de"

    @cached_property
    def clauses(self) -> tuple[Clause, ...]:
        """Clauses of the evidence that can be contradicted."""
        return tuple(clause for text in self.texts for clause in clauses(text))
