"""From a prompt to a query: content terms, names, what is asked for, and what a follow-up leans on.

In: a turn and the palace's vocabulary. Out: a `Query` of index tokens; raw text never goes further.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from datetime import date
from functools import partial
from itertools import chain, pairwise
from typing import NamedTuple

import regex

from palace.ports import Scope, TermCounts, Vocabulary
from palace.recall.addressee import agent_name, without_addressee
from palace.recall.answer_types import asked_kind
from palace.recall.apart import sentences_apart
from palace.recall.borders import within_borders
from palace.recall.content import all_tokens, content_of, is_function_word, of_oneself, terms_of
from palace.recall.courtesies import is_courtesy, without_courtesies
from palace.recall.forms import (
    CountsOf,
    as_memories_inflect,
    as_memories_spell,
    with_tokens,
    without_enclitics,
)
from palace.recall.framing import may_begin, without_framing
from palace.recall.gathering import gathering_of
from palace.recall.given_names import calls_by_given_name
from palace.recall.in_time import ordering_of
from palace.recall.instructions import without_instructions
from palace.recall.language import language_of
from palace.recall.lexicon import (
    MATCHED_CHARS,
    Lexicon,
    compiled,
    first_match,
    folded_words,
    matchable,
    matches,
    plain,
)
from palace.recall.names import called_in, named_among, names_in
from palace.recall.of_a_kind import asks_of_a_kind
from palace.recall.other_words import OtherWords
from palace.recall.own_replies import without_own_words
from palace.recall.related import translated
from palace.recall.relative_days import (
    Dated,
    Told,
    asks_of_day,
    dates_of_weekdays,
    days_as_dated,
)
from palace.recall.slips import meant_words
from palace.recall.small_names import unheard_name
from palace.recall.titled_names import Titled, but_titles, names_at, with_names_apart
from palace.recall.weekdays import weekdays_as_written
from palace.text import (
    Word,
    composed,
    fold,
    numbers,
    tokens,
    words,
)
from palace.text.labels import unlabelled
from palace.text.moments import today_here
from palace.types.query import AnswerType, Query
from palace.types.session import ANSWERING, ASKING, Message, Turn

MAX_CARRIED = 16
_MOST_EXCHANGES = 3
_HEAD_WORDS = 6
# "Answer briefly.", "Reply in one short sentence, please.": more may be another thing to do.
_INSTRUCTION_WORDS = 6
# A prompt this short in content terms may lean on the turn before it.
_ELLIPTIC_TERMS = 2
_SELF_CONTAINED = ("possessive_my", "possessive_our")
_WORD = regex.compile(r"\p{L}")
_ENDS = " ?!.…？。"


class _Read(NamedTuple):
    """A prompt as it was read: what it says, and the terms that stand for its content."""

    prompt: str
    found: list[Word]
    lexicon: Lexicon
    content: list[Word]
    counts: Mapping[str, TermCounts]
    terms: tuple[str, ...]
    slips: Mapping[str, str]
    titled: Sequence[Titled]
    uncut: tuple[str, ...]  # with the pairs of letters that reach over the end of a word
    fronted: bool
    dated: Dated


class Analyst:
    """Turns prompts into queries.

    Args:
        lexicons: The languages to know; the first wins ties.
        vocabulary: What the palace's words are.
        related: Whether words that mean nearly the same as those of the prompt, and English words
            for those of another language, are looked up, and words of other languages that memories
            are in; and slips of the fingers mended.
        noted: Index tokens that the session of a turn has noted: they are no slips.
        identity: Returns what says who the agent is: its name is whom a prompt speaks to.
        fallback_text: What our own reply says where nothing was found: a follow-up leans on none
            of it.
        timeout_ms: Bound on each pattern, in milliseconds.
    """

    def __init__(
        self,
        lexicons: Sequence[Lexicon],
        vocabulary: Vocabulary,
        *,
        related: bool = True,
        noted: Callable[[Turn], frozenset[str]] = lambda _: frozenset(),
        identity: Callable[[], str] = lambda: "",
        fallback_text: str = "",
        timeout_ms: float = 50.0,
    ) -> None:
        self._fallback_text = fallback_text
        self.lexicons = tuple(lexicons)
        self._vocabulary = vocabulary
        self._related = related
        self._noted = noted
        self._identity = identity
        self._timeout_ms = timeout_ms
        self._others = OtherWords(vocabulary, [lexicon.language for lexicon in lexicons])

    def terms(self, turn: Turn) -> tuple[str, ...]:
        """Return the terms of a turn's query, where nothing else of it is asked."""
        return self._read(turn).terms

    def _read(self, turn: Turn) -> _Read:
        # A label is a program's word, and no memory has to hold it.
        prompt = without_courtesies(unlabelled(_bounded(turn.prompt)))
        found = words(prompt)
        lexicon = language_of(prompt, found, self.lexicons)
        counts_of = self._counts_in(_scope_of(turn))
        asked, fronted = without_addressee(
            prompt,
            found,
            lexicon,
            agent=agent_name(self._identity()),
            known=lambda name: counts_of([name])[name].any > 0 or name in self._noted(turn),
            timeout_ms=self._timeout_ms,
        )
        asked = self._without_instructions(asked, lexicon)
        if asked != prompt:
            prompt, found = asked, words(asked)
        found = weekdays_as_written(found, lexicon, counts_of)
        dated = days_as_dated(
            prompt,
            found,
            lexicon,
            Told(counts_of, partial(self._vocabulary.together, scope=_scope_of(turn))),
            today=_today(turn),
            timeout_ms=self._timeout_ms,
        )
        found = as_memories_spell(dated.found, lexicon, counts_of)
        found = without_enclitics(found, lexicon, counts_of)
        found, titled = with_names_apart(prompt, found, lexicon)
        called = called_in(prompt, found, lexicon, counts_of)
        content = content_of(prompt, found, lexicon, called) or of_oneself(found, lexicon)
        content = without_framing(prompt, content, found, lexicon)
        counts = counts_of(all_tokens(content))
        unknown = [word for word in content if not counts[word.token].any]
        formed, meant = self._as_memories_have(turn, prompt, found, unknown, lexicon)
        if other := {**formed, **meant}:
            found, content = with_tokens(found, other), with_tokens(content, other)
            counts = counts_of(all_tokens(content))
        uncut = terms = terms_of(content, counts)
        within = within_borders(content, found, lexicon)
        if within != content:
            content, counts = within, counts_of(all_tokens(within))
            terms = terms_of(content, counts)
        return _Read(
            prompt,
            found,
            lexicon,
            content,
            counts,
            terms,
            meant,
            titled,
            uncut,
            fronted,
            dated,
        )

    def _as_memories_have(
        self,
        turn: Turn,
        prompt: str,
        found: Sequence[Word],
        unknown: Sequence[Word],
        lexicon: Lexicon,
    ) -> tuple[dict[str, str], dict[str, str]]:
        """Return tokens with another form that memories have, and misspelt ones with what is meant.

        A name in another form may be another name (Polish "Kamila" is a woman, or of Kamil), so it
        counts as misspelt. The tables tell which words are no slips.
        """
        if not unknown or not self._related:
            return {}, {}
        scope, vocabulary = _scope_of(turn), self._vocabulary
        formed = as_memories_inflect(unknown, lexicon, vocabulary, scope=scope)
        names = named_among(unknown, formed, self._counts_in(scope), lexicon)
        of_names = {t: formed[t] for t in names if lexicon.names_inflect}
        formed = {t: other for t, other in formed.items() if t not in names}
        rest = [w for w in unknown if w.token not in formed and w.token not in of_names]
        meant = meant_words(prompt, found, rest, lexicon, vocabulary, scope=scope) | of_names
        noted = self._noted(turn) if formed or meant else frozenset()
        return (
            {token: other for token, other in formed.items() if token not in noted},
            {token: other for token, other in meant.items() if token not in noted},
        )

    def analyse(self, turn: Turn) -> Query:
        """Return the query of a turn; any text at all gives one."""
        read = self._read(turn)
        prompt, found, lexicon, content, counts, terms, slips, titled, uncut, fronted, _ = read
        called = names_at(titled, content)
        heard = [name for name in called if all(counts[token].any for token in name)]
        written = names_in(prompt, found, but_titles(content, titled), counts, lexicon)
        names = tuple(dict.fromkeys((*written, *heard)))
        # Without a title a word may be meant: a name is one there if memories have it.
        strangers = names_at([t for t in titled if t.is_titled], content)
        strangers = [name for name in strangers if name not in names]
        text = matchable(prompt)
        kind, labels = asked_kind(text, lexicon, timeout_ms=self._timeout_ms)
        carried = self._carried(turn, text, lexicon, kind=kind, terms=terms, names=names)
        ordering = ordering_of(prompt, found, lexicon, timeout_ms=self._timeout_ms)
        soft = tuple(t for t in terms if t in lexicon.soft)
        documented = self._documented(text, lexicon)
        named = frozenset(chain.from_iterable(names))
        unmeant = {*soft, *named}
        requests = partial(lexicon.requested, timeout_ms=self._timeout_ms)
        meant = self._meant(terms, but=unmeant)
        unheld = [t for t in meant if not counts[t].any]
        scope = _scope_of(turn)
        related, foreign = self._others.of(meant, lexicon.language, unheld=unheld, scope=scope)
        days = self._others.held_days(
            {**read.dated.days, **dates_of_weekdays(found, terms, lexicon, today=_today(turn))},
            scope=scope,
        )
        return Query(
            text=turn.prompt,
            terms=terms,
            head=_head(found, lexicon, terms),
            names=names,
            unheard=self._unheard(turn, read, strangers),
            fronted=fronted,
            given_name=calls_by_given_name(prompt, found, lexicon),
            identifiers=tuple(dict.fromkeys(w.token for w in content if w.shape == "identifier")),
            numbers=tuple(dict.fromkeys(numbers(prompt))),
            answer_type=kind,
            soft=soft,
            labels=tuple(t for t in terms if t in labels),
            documented=tuple(t for t in terms if t in documented),
            mended=tuple(t for t in dict.fromkeys(slips.values()) if t in terms),
            slips=slips,
            carried=carried,
            dangling=not (turn.history or names)
            and _is_one_thing(content, lexicon)
            and (_dangles(text, lexicon) or requests("points_back", prompt)),
            related={**related, **self._others.of_days(prompt, found, terms, scope=scope)},
            days=days,
            of_day=asks_of_day(terms, days, lexicon),
            from_today=tuple(t for t in terms if t in read.dated.told),
            # The detector was fitted with what each pair of letters may mean.
            translated=translated(
                meant if uncut == terms else self._meant(uncut, but=unmeant), lexicon.language
            ),
            foreign={term: tuple(near) for term, near in foreign.items()},
            language=lexicon.language,
            session_id=turn.session_id,
            project=turn.project,
            fills_in=matches(lexicon.cues["task"], text, timeout_ms=self._timeout_ms)
            and requests("fill_in", prompt),
            former=any(
                requests("former", prompt[start:])
                for start in may_begin(prompt, content, found, lexicon)
            ),
            several=requests("several", prompt),
            gathers=gathering_of(
                prompt,
                lexicon,
                said=read.dated.said,
                is_first=not turn.history,
                timeout_ms=self._timeout_ms,
            ),
            in_time=ordering.order,
            ordering=tuple(t for t in terms if t in ordering.tokens),
            known_one=not {*terms} <= {*soft}
            and all(counts[term].any for term in terms)
            and requests("one", prompt),
            of_a_kind=asks_of_a_kind(prompt, named, lexicon, timeout_ms=self._timeout_ms),
        )

    def _counts_in(self, scope: Scope) -> CountsOf:
        return partial(self._vocabulary.counts, scope=scope)

    def _without_instructions(self, prompt: str, lexicon: Lexicon) -> str:
        """Return the question of a prompt whose rest says how to answer it, else all of it."""

        def has(cue: str, text: str) -> bool:
            pattern = lexicon.cues[cue]
            return matches(pattern, matchable(text), timeout_ms=self._timeout_ms)

        asked = without_instructions(prompt, (lexicon,), timeout_ms=self._timeout_ms)
        if asked != prompt:
            return asked
        first = next(iter(sentences_apart(prompt)), None)
        if first is None or first.before or not has("question", first.sentence):
            return prompt
        only = all(len(s.split()) <= _INSTRUCTION_WORDS and has("task", s) for s in first.after)
        return first.sentence if only else prompt

    def _documented(self, text: str, lexicon: Lexicon) -> frozenset[str]:
        """Return the tokens of "is there a runbook", where a prompt asks so."""
        pattern = lexicon.cues.get("documented", "")
        found = first_match(pattern, text, timeout_ms=self._timeout_ms) if pattern else None
        return frozenset(tokens(found[0])) if found else frozenset()

    def _unheard(
        self, turn: Turn, read: _Read, strangers: Sequence[tuple[str, ...]]
    ) -> tuple[str, ...]:
        """Return a name that neither memories nor the session's notes have, with a title or small.

        The tables tell which words in small letters are known.
        """
        name = next(iter(strangers), ())
        if not name and self._related:
            scope = _scope_of(turn)
            name = unheard_name(
                read.prompt, read.found, read.lexicon, self._vocabulary, scope=scope
            )
        return name if not name or self._noted(turn).isdisjoint(name) else ()

    def _meant(self, terms: Sequence[str], *, but: Container[str]) -> tuple[str, ...]:
        """Return the terms that other words may stand for; no other name means the same."""
        return tuple(t for t in terms if t not in but) if self._related else ()

    def _carried(
        self,
        turn: Turn,
        text: str,
        lexicon: Lexicon,
        *,
        kind: AnswerType,
        terms: Sequence[str],
        names: Sequence[tuple[str, ...]],
    ) -> tuple[str, ...]:
        """Return the terms of what was said before a prompt that cannot stand alone.

        "And Ines?" asks the last question about somebody else: whom that named is not taken over,
        nor what was answered.
        """
        if not turn.history or (is_courtesy(turn.prompt) and kind == "thing"):
            return ()
        goes_on = matches(lexicon.follow_up, text, timeout_ms=self._timeout_ms)
        if names and not (goes_on and {*chain.from_iterable(names)}.issuperset(terms)):
            return ()
        if not (goes_on or self._is_elliptic(text, lexicon, terms)):
            return ()
        counts_of = self._counts_in(_scope_of(turn))
        said = partial(self._said, lexicon=lexicon, counts_of=counts_of, named=not names)
        spoken = self._meant_before(turn.history, lexicon, counts_of)
        content = [w for m in spoken if m.role in ASKING or not names for w in said(m)]
        counts = counts_of(all_tokens(content))
        earlier = (t for t in terms_of(content, counts) if t not in terms)
        return tuple(earlier)[:MAX_CARRIED]

    def _meant_before(
        self, history: Sequence[Message], lexicon: Lexicon, counts_of: CountsOf
    ) -> list[Message]:
        """Return the last two messages that say something: "Thanks!" is no exchange, nor "Yes."."""

        def says(message: Message) -> bool:
            said = self._said(message, lexicon, counts_of, named=True)
            return bool(said) and not is_courtesy(message.content)

        left = [m for m in history if m.role in ASKING | ANSWERING][-2 * _MOST_EXCHANGES :]
        while left:
            last = left[-2:]
            if any(map(says, last)) and not is_courtesy(last[0].content):
                return last
            left = left[:-2]
        return []

    def _is_elliptic(self, text: str, lexicon: Lexicon, terms: Sequence[str]) -> bool:
        """Whether a prompt that names nobody says so little that it leans on what was said."""
        if not terms:
            return _WORD.search(text) is not None  # "why?" does, a thumb does not
        # "do I have to bring anything?" leans on what was said, "what is my cat called?" not.
        return len(terms) <= _ELLIPTIC_TERMS and not any(
            matches(lexicon.cues[cue], text, timeout_ms=self._timeout_ms)
            for cue in _SELF_CONTAINED
            if cue in lexicon.cues
        )

    def _said(
        self, message: Message, lexicon: Lexicon, counts_of: CountsOf, *, named: bool
    ) -> list[Word]:
        """Return the content of an earlier message, which may be in another language.

        Args:
            message: Of the person or the assistant.
            lexicon: The language of the prompt.
            counts_of: Returns how often tokens stand in the palace.
            named: Whether the names in it are part of it.
        """
        said = message.content
        if message.role in ANSWERING:
            said = without_own_words(said, self._fallback_text)
        text = _bounded(said)
        found = words(text)
        own = language_of(text, found, self.lexicons)
        called = called_in(text, found, own, counts_of)
        content = content_of(text, found, lexicon, called)
        if own is not lexicon:
            content = content_of(text, content, own, called)
        if named:
            return content
        names = names_in(text, found, content, counts_of(all_tokens(content)), own)
        left = {*chain.from_iterable(names)}
        return [word for word in content if word.token not in left]


def _dangles(text: str, lexicon: Lexicon) -> bool:
    """Whether a prompt goes on with what nobody said: "and who approved it?", "who paid for that?".

    It ends with what points back, or begins with "and" and points back behind it.
    """
    back = list(compiled(lexicon.follow_up).finditer(text))
    ends = bool(back) and back[-1].end() >= len(text.rstrip(_ENDS))
    return ends or (len(back) > 1 and back[0].start() == 0)


def _is_one_thing(content: Sequence[Word], lexicon: Lexicon) -> bool:
    """Whether a prompt says one thing at most, in pairs of letters that overlap or in one word."""
    said = [word for word in content if word.token not in lexicon.soft]
    return all(after.start < before.end for before, after in pairwise(said))


def _today(turn: Turn) -> date:
    """Return the day a turn speaks of as today, where the calendar goes on on both sides.

    That is a month before its end, and as long behind its beginning as a prompt can tell in months.
    """
    if turn.as_of is None:
        return today_here()
    return min(max(turn.as_of.date(), date(10, 1, 1)), date(9999, 11, 30))


def _scope_of(turn: Turn) -> Scope:
    return Scope(turn.session_id, turn.project)


def _bounded(prompt: str) -> str:
    # As it is cut into words, so that their places are places in it.
    return composed(plain(prompt, max_chars=4 * MATCHED_CHARS))


def _head(found: Sequence[Word], lexicon: Lexicon, terms: Sequence[str]) -> tuple[str, ...]:
    """Return the content terms that directly follow the first question word."""
    wanted = set(terms)
    for number, word in enumerate(found):
        if fold(word.surface) in folded_words("question_words"):
            head: list[str] = []
            for following in found[number + 1 : number + 1 + _HEAD_WORDS]:
                here = [t for t in (following.token, *following.parts) if t in wanted]
                if here:
                    head.extend(here)
                elif head and is_function_word(following, lexicon):
                    break
            return tuple(head)
    return ()
