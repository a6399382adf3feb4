"""What a prompt asks, and what a search returns for it.

In: a prompt, analysed. Out: what the index and the layers are asked and give back.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Literal, NamedTuple

from palace.types.memory import Memory

RecallKind = Literal[
    "fact", "status", "history", "preference", "procedure", "identity", "meta", "none"
]
AnswerType = Literal[
    "clock", "duration", "date", "money", "label", "phone", "e_mail", "name", "count", "number",
    "person", "place", "reason", "yes_no", "thing",
]  # fmt: skip

TimeOrder = Literal["latest", "earliest", "next"]
"""Which of several things told alike is asked for: the last that was, the first, the next due."""

Sort = Literal["last_talk", "open_tasks", "told", "of_asker"]
"""What may be asked for as a whole."""


class Gathering(NamedTuple):
    """All memories of a sort, as a prompt asks for them.

    Attributes:
        sort: Which they are.
        since: The first day on which they were told; None for any.
        until: The day behind the last; None for any.
    """

    sort: Sort
    since: date | None = None
    until: date | None = None


# Of the English words for one word of a prompt so many tell what it means.
_GLOSSES = 2


@dataclass(frozen=True, slots=True)
class Query:
    """A prompt, analysed: what the index and the layers are asked.

    Attributes:
        text: The prompt as given.
        terms: Content terms (index tokens), unique, in order of appearance.
        head: The terms asked for directly ("which T-shirt size" -> shirt, size).
        names: Each name of the prompt as its index tokens.
        unheard: A name in small letters, or told by its title, that nobody in the palace has, as
            its index tokens.
        fronted: Whether a name that nobody in the palace has stands in front of the question: whom
            it speaks to, or whom it asks about.
        given_name: Whether somebody is called by a given name alone, as one calls whom one knows.
        identifiers: Code-like tokens, versions, issue numbers, paths.
        numbers: Numbers of the prompt, normalised.
        answer_type: What kind of thing would answer.
        soft: Terms that only say what sort of thing is asked ("number", "version"); a memory can
            answer without them.
        labels: Terms that only say that a phone number or an e-mail address is asked for.
        documented: Terms that only ask whether it is written down how a thing is done ("runbook").
        mended: Terms that stand for words with a slip of the fingers: nobody wrote them as they
            are, so what rests on them alone proves nothing.
        slips: Misspelt index token -> the one that is meant, which is in `mended` if it is a term.
        carried: Terms taken over from the previous turn of a follow-up.
        dangling: Whether it goes on with something that nobody said before: "who approved it?".
        language: Code of the language whose function words the prompt uses.
        session_id: Session scope that may be read.
        project: Project scope that may be read.
        fills_in: Whether it is a task to be done with something remembered.
        former: Whether it asks for what was the case before something changed.
        several: Whether it asks for more than one thing ("which books", "how many").
        gathers: What is asked for as a whole, if that is all: no memory has to hold a word of it.
        in_time: Which of several is asked for, if it is the last, the first or the next.
        ordering: Terms that only say so ("last", "next").
        of_day: The terms of a date, if all that is asked is what that day or period holds.
        from_today: Terms of a date that the prompt tells from today ("yesterday").
        of_a_kind: Whether it asks what a kind of thing is or does ("what does a notary do?").
        known_one: Whether all that it asks is who somebody is, or when or where something is, that
            memories have ("who is the notary?").
        related: Term -> index tokens that mean nearly the same -> how near they are, in (0, 1).
        translated: Term of another language than English -> its English index tokens, best first.
        days: Term that tells a period or a day of the week -> index tokens of the other dates it
            stands for, as far as memories have them.
        foreign: Term -> index tokens for it in the other languages that memories are in, English
            left out; only such as some memory holds, nearest first.
    """

    text: str
    terms: tuple[str, ...] = ()
    head: tuple[str, ...] = ()
    names: tuple[tuple[str, ...], ...] = ()
    unheard: tuple[str, ...] = ()
    fronted: bool = False
    given_name: bool = False
    identifiers: tuple[str, ...] = ()
    numbers: tuple[str, ...] = ()
    answer_type: AnswerType = "thing"
    soft: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    documented: tuple[str, ...] = ()
    mended: tuple[str, ...] = ()
    carried: tuple[str, ...] = ()
    dangling: bool = False
    language: str = "en"
    session_id: str | None = None
    project: str | None = None
    fills_in: bool = False
    former: bool = False
    several: bool = False
    gathers: Gathering | None = None
    in_time: TimeOrder | None = None
    ordering: tuple[str, ...] = ()
    of_day: tuple[str, ...] = ()
    from_today: tuple[str, ...] = ()
    of_a_kind: bool = False
    known_one: bool = False
    # It follows from the terms and the language, and a mapping has no hash.
    related: Mapping[str, Mapping[str, float]] = field(default_factory=dict, hash=False)
    translated: Mapping[str, tuple[str, ...]] = field(default_factory=dict, hash=False)
    slips: Mapping[str, str] = field(default_factory=dict, hash=False)
    days: Mapping[str, tuple[str, ...]] = field(default_factory=dict, hash=False)
    foreign: Mapping[str, tuple[str, ...]] = field(default_factory=dict, hash=False)

    @property
    def of_playbooks(self) -> Query:
        """The query as playbooks are asked it: that it is one, none of them has to say."""
        left = tuple(t for t in self.terms if t not in self.documented)
        return replace(self, terms=left) if self.documented and left else self

    @property
    def has_several_answers(self) -> bool:
        """Whether one memory is hardly all of it: several things, all of a sort, a day."""
        return self.several or bool(self.of_day) or self.gathers is not None

    @property
    def elsewhere(self) -> Mapping[str, tuple[str, ...]]:
        """Term -> what may be written for it in any other language, English words first."""
        terms = dict.fromkeys((*self.translated, *self.foreign))
        return {t: (*self.translated.get(t, ()), *self.foreign.get(t, ())) for t in terms}

    @property
    def english(self) -> tuple[str, ...]:
        """English index tokens for what a prompt in another language says, each once."""
        words = (word for words in self.translated.values() for word in words[:_GLOSSES])
        return tuple(dict.fromkeys(words))

    @property
    def glossed(self) -> str:
        """The prompt, with English words behind it if it is in another language.

        Many models of meaning know English alone; those that know more lose nothing by it.
        """
        return " ".join((self.text, *self.english))


@dataclass(frozen=True, slots=True)
class Hit:
    """A memory that a search returned; `parts` name what its score is made of."""

    memory: Memory
    score: float
    parts: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RecallSignal:
    """The detector's opinion of one prompt.

    Attributes:
        kind: What sort of recall it would be; `none` when it is not recall.
        score: Probability in [0, 1] that the prompt asks for something remembered.
        cues: Names of the cues that spoke, strongest first.
        runner_up: The second most likely kind.
        band: `recall`, `unsure` (the evidence decides) or `other`.
        leaning: Whether an unsure prompt is nearer to recall than to anything else.
        own: Whether it asks about who asks, about what was said to him, or about somebody or
            something that the palace knows by name: no text beside it can answer that. Not asked
            where there is none.
        several: Whether it asks for more than one thing: one memory may not be all of it.
    """

    kind: RecallKind
    score: float
    cues: tuple[str, ...] = ()
    runner_up: RecallKind = "none"
    band: Literal["recall", "unsure", "other"] = "other"
    leaning: bool = False
    own: bool = True
    several: bool = False
