"""One decision for each turn, however often a host calls its model for it.

In: what a model call is about. Out: `Ruling`: whether the model may be called, with what text,
and how its words are checked.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from llama_index_palace.events import (
    announce_answer,
    announce_look,
    announce_verdict,
    verdict_metadata,
)
from llama_index_palace.heard import hear, is_behind_tool, said_unchecked
from llama_index_palace.held import HeldBack
from llama_index_palace.questions import Asked, without_schema, without_tries
from llama_index_palace.session import PalaceSession
from llama_index_palace.spans import decide_traced
from llama_index_palace.templates import next_questions
from palace import (
    Answer,
    AnswerCheck,
    AnswerOptions,
    CheckedAnswer,
    Kept,
    Mempalace,
    ModelCall,
    ModelReply,
    RecallSignal,
    RetrievalEnforcer,
    Turn,
    Verdict,
    hosting,
    without_echoes,
)

Ask = Callable[[ModelCall], hosting.Steps[ModelReply]]
# A turn whose loop was abandoned is forgotten after this long; a finished one at once. What was
# decided before any answer (a choice, a rewriting) holds shortly, and a refusal only where a quote
# call was spent on it, or something was told: deciding anew is cheap and sees new memories.
_KEPT_S = 120.0
_FRESH_S = 20.0
# So many questions that a model made of one are left out of what stands beside it.
_MOST_MADE = 32
_NOT_ASKED = Verdict("", "pass", "not_recall", RecallSignal("none", 0.0))


class Lent(NamedTuple):
    """What one call of a turn has of the wake-up, and whether it is the first to tell it."""

    wake_up: str = ""
    is_first: bool = False


@dataclass
class Ruling(hosting.HostedTurn):
    """What may happen in a turn.

    Attributes:
        verdict: After a confirmation, the `ground` verdict on the quoted memory or a `fallback`.
        options: How answers are made, as the settings say.
        words: The person's own words.
        wake_up: What the session starts with, on its first turn.
        untold: The same, until a call tells it.
        begun: Whether a call for the person's answer has it: then no other call begins with it.
        goes_on: Whether it asked for a step, so that further calls belong to this turn.
        model_calls: Quote calls made so far.
        key: Under which the turn is remembered.
        answer: The whole answer, where it came with the quote.
        observed: Results of tools that the host tells again in the question's own message.
        at: When it was decided, in seconds of the monotonic clock.
    """

    verdict: Verdict
    options: AnswerOptions
    words: str
    wake_up: str = ""
    untold: list[str] = field(default_factory=list)
    begun: bool = False
    goes_on: bool = False
    model_calls: int = 0
    key: tuple[Any, ...] = ()
    answer: Answer | None = None
    observed: tuple[str, ...] = ()
    at: float = field(default_factory=time.monotonic)

    @property
    def question(self) -> str:
        """What of the words is the person's: an answer may repeat them."""
        return without_tries(without_schema(self.words))

    def woken(self, text: str) -> None:
        """Keep what the session starts with; of several calls at once only one is told it."""
        if text:
            self.wake_up = text
            self.untold.append(text)

    def lend(self, asked: Asked) -> Lent:
        """Return the wake-up for one call: for the first of the turn, and for its whole loop."""
        try:
            return Lent(self.untold.pop(), is_first=True)
        except IndexError:
            return Lent(self.wake_up) if self.loops(asked) else Lent()

    @property
    def is_fresh(self) -> bool:
        """Whether it was decided just now."""
        return time.monotonic() - self.at <= _FRESH_S

    def may_be_lifted(self, asked: Asked) -> bool:
        """Whether it refused what a document may answer that only this call brings along."""
        refused = self.verdict.action == "fallback" and not self.verdict.written
        return refused and asked.besides(self.verdict.turn.prompt) != self.verdict.turn.beside

    def gates(self, asked: Asked) -> bool:
        """Whether what a call says is checked before anybody gets it."""
        return self.is_checked and asked.purpose == "answer"

    def loops(self, asked: Asked) -> bool:
        """Whether a call belongs to the tool loop of this turn."""
        return asked.goes_on or (asked.place < 0 and self.goes_on)

    def check(self, asked: Asked, found: tuple[str, ...] = ()) -> AnswerCheck:
        """Return the check of the model's words; see `HostedTurn.check_for`.

        Args:
            asked: What the model call is about.
            found: What else was found, beside what tools of the host answered.
        """
        tool_texts = (*asked.tool_texts, *self.observed, *found)
        return self.check_for(self.question, tool_texts, self.wake_up)


def _loop_key(session: PalaceSession, verdict_id: str) -> tuple[Any, ...]:
    """Return under which a turn is remembered for who brings back the note of its verdict."""
    return session.session_id, session.project, verdict_id


def _is_asked_anew(asked: Asked, first: Asked) -> bool:
    """Whether a question is no rewriting of the first, but asked after it in the conversation."""
    if first.words == asked.words:
        return bool(asked.history)
    return any(
        one.role == "user" and one.content == first.words and other.role != "user"
        for one, other in pairwise(asked.history)
    )


class _UnderWay:
    """What is kept between the calls of a turn, shared by all wrappers of one palace.

    Attributes:
        rulings: Turns that go on.
        rewritten: Questions by what a model made of them. Hosts ask for one answer in several
            calls, so a rewriting outlives the first of them.
        made: What a model made of a question, by its words.
        observed: What tools answered, by who asked and their words.
        held: What stood beside tool calls.
    """

    def __init__(self) -> None:
        self.rulings: Kept[tuple[Any, ...], Ruling] = Kept(kept_s=_KEPT_S)
        self.rewritten: Kept[tuple[PalaceSession | None, str], Asked] = Kept(kept_s=_KEPT_S)
        self.made: Kept[str, tuple[str, ...]] = Kept(kept_s=_KEPT_S)
        self.observed: Kept[tuple[PalaceSession, str], tuple[str, ...]] = Kept(kept_s=_KEPT_S)
        self.held = HeldBack()


_UNDER_WAY: WeakKeyDictionary[Mempalace, _UnderWay] = WeakKeyDictionary()
_MAKING = threading.Lock()


class Turns:
    """Decides turns and remembers them while they last.

    A host may give one wrapper a question to rewrite and another one the rewriting to answer, so
    the wrappers of a palace share what is under way.

    Args:
        palace: An open palace.
    """

    def __init__(self, palace: Mempalace) -> None:
        self.palace = palace
        self._enforcer = RetrievalEnforcer(palace)
        hear()
        with _MAKING:
            self._under_way = _UNDER_WAY.setdefault(palace, _UnderWay())
        self.held = self._under_way.held

    def __deepcopy__(self, memo: dict[int, Any]) -> Turns:
        return self  # copies of a wrapper share the turns that are under way

    # -- deciding ------------------------------------------------------------------------------

    def rule(
        self, asked: Asked, session: PalaceSession, ask: Ask, *, alone: bool = False
    ) -> hosting.Steps[Ruling]:
        """Decide a turn, once, and return the ruling.

        A `confirm` verdict is resolved here: the quote call comes before any call of the host's.

        Args:
            asked: What the model call is about.
            session: Whose turn it is.
            ask: Makes the quote call.
            alone: Whether the reply is plain text of one call, so that the answer given with the
                quote may be the whole reply (`answers.quote_calls: one`).
        """
        sent, known = asked, self._looped(asked, session)
        if known is None:
            asked = self._first_asked((yield from self._begun_before(asked, session)), session)
            known = self._remembered((session, *asked.turn), asked)
        ruling = known or (yield from self._ruled(asked, session, sent))
        if ruling.verdict.action == "confirm":
            settling = ruling.settled(ruling.question, ask, alone=alone)
            ruling.verdict, ruling.answer = yield from settling
            ruling.model_calls = 1
        if known is None:
            self._remember(ruling)
        ruling.observed = self._observed(sent, session)
        ruling.begun = ruling.begun or asked.purpose == "answer"
        tells = asked.purpose == "answer" and not ruling.stops
        if tells and not ruling.wake_up:
            waking = hosting.waking(self.palace, session.session_id, session.project)
            ruling.woken((yield from waking))
        return ruling

    def _observed(self, asked: Asked, session: PalaceSession) -> tuple[str, ...]:
        """Return the results of tools that a host tells again with the question, to have it shaped.

        Neither what the model wrote to the tools is told with them nor who spoke there, so what
        counted last in the loop of the turn counts.
        """
        key, kept = (session, asked.words), self._under_way.observed
        if asked.retold:
            return kept.get(key) or ()
        kept.put(key, asked.tool_texts)
        return ()

    def _looped(self, asked: Asked, session: PalaceSession) -> Ruling | None:
        """Return the ruling of a loop whose question is no longer sent: its reply tells which."""
        if not asked.is_cut_off:
            return None
        return self._under_way.rulings.get(_loop_key(session, asked.noted.id))

    def _ruled(self, asked: Asked, session: PalaceSession, sent: Asked) -> hosting.Steps[Ruling]:
        """Decide a turn.

        Nothing is released where a loop rests on a memory, as its last reply notes, and nobody
        knows its question any more, or that asks for no memory without what was said before it.

        Args:
            asked: What is decided.
            session: Whose turn it is.
            sent: The same as the host sends it.
        """
        verdict, options, words = yield from self.decided(asked, session)
        rests = sent.is_cut_off and sent.noted.action not in ("pass", "generate")
        if rests and verdict.action == "pass":
            turn = replace(verdict.turn, session_id=session.session_id, project=session.project)
            verdict = replace(verdict, action="fallback", outcome="nothing_stored", turn=turn)
        return Ruling(verdict, options, words, key=(session, *asked.turn))

    def _begun_before(self, asked: Asked, session: PalaceSession) -> hosting.Steps[Asked]:
        """Return a call whose question the host cut off as one about what the journal kept."""
        if not asked.is_cut_off:
            return asked
        told, project = session.session_id, session.project
        words = yield hosting.in_thread(
            lambda: self.palace.question_of(asked.noted.id, session_id=told, project=project)
        )
        return replace(asked, words=words)

    def looked(
        self, asked: Asked, session: PalaceSession
    ) -> hosting.Steps[tuple[Verdict, AnswerOptions]]:
        """Return the verdict for who only shows what is stored.

        What it told the memory is kept for the one who answers: he says so, and tells it no
        second time.
        """
        verdict, options, words = yield from self.decided(asked, session)
        if verdict.written:
            self._remember(Ruling(verdict, options, words, key=(session, *asked.turn)))
        return verdict, options

    def decided(
        self, asked: Asked, session: PalaceSession
    ) -> hosting.Steps[tuple[Verdict, AnswerOptions, str]]:
        """Return the verdict, how answers are made, and the words that are to be answered."""
        verdict, options, told = _NOT_ASKED, None, asked.words
        for words in (asked.words, *asked.further):
            if words.strip() and verdict.action == "pass" and not verdict.written:
                beside = asked.besides(words)
                turn = Turn(
                    words,
                    session.session_id,
                    session.project,
                    asked.history,
                    # what a model asks behind a tool tells the memory nothing
                    trust="agent" if is_behind_tool() else "user",
                    beside=beside,
                    instructions=asked.instructions,
                )
                announce_look(words)
                before = verdict
                verdict, options = yield hosting.in_thread(partial(self._decided, turn))
                announce_verdict(verdict)
                only_told = verdict.action == "answer" and verdict.written
                if only_told and before.turn.prompt and words not in asked.words:
                    # in a message before the one that is still to be answered
                    verdict = replace(before, written=verdict.written)
                shorter, told = sorted((words, asked.words), key=len)
                if shorter not in told:
                    told = f"{words}\n\n{asked.words}"
        if asked.around and verdict.action != "pass" and not verdict.written:
            turn = replace(verdict.turn, prompt=asked.around)
            heard = yield hosting.in_thread(lambda: self.palace.heard(turn))
            verdict = verdict.with_writes(heard.writes) if heard else verdict
        if options is None:
            options = yield hosting.in_thread(lambda: self.palace.answer_options)
        return verdict, options, told if verdict.action != "pass" else asked.words

    def _decided(self, turn: Turn) -> tuple[Verdict, AnswerOptions]:
        return decide_traced(self._enforcer, turn), self.palace.answer_options

    def _remembered(self, key: tuple[Any, ...], asked: Asked) -> Ruling | None:
        """Return the ruling of a turn that this call belongs to.

        Once the model was called for the answer, only its tool loop goes on; else the person asks
        the same words once more, and what is remembered may have changed.
        """
        rulings = self._under_way.rulings
        noted = rulings.get(_loop_key(key[0], asked.noted.id))
        for ruling in (noted if noted and noted.key == key else None, rulings.get(key)):
            if ruling and (ruling.loops(asked) if ruling.begun else ruling.is_fresh):
                return None if ruling.may_be_lifted(asked) else ruling
        return None

    def _remember(self, ruling: Ruling) -> None:
        """Keep a ruling for the turn's further calls.

        Of the same words asked twice at once each goes on under its own, where a host brings back
        the note in the reply; else, of the two that mean the same, under the later one.
        """
        if ruling.model_calls or ruling.verdict.written or not ruling.stops:
            for key in (ruling.key, _loop_key(ruling.key[0], ruling.verdict.id)):
                self._under_way.rulings.put(key, ruling)

    def rewrote(self, ruling: Ruling, asked: Asked, text: str) -> None:
        """Keep what a model made of a question, so that it is answered under the same ruling.

        Else a model could rewrite a recall question into one that is let through, and what the
        person tells would be told twice. What it makes of a question that asks for no memory is
        decided on by itself, also where it made the same of another one before.
        """
        session, kept = ruling.key[0], self._under_way.rewritten
        # What is rewritten may be a rewriting itself: the first question counts.
        first = self._first_asked(asked, session)
        rests = ruling.is_checked or ruling.verdict.written or (asked.may_rewrite and ruling.stops)
        for question in next_questions(text, "rewrite" if asked.may_rewrite else asked.purpose):
            if rests:
                self._made_of(first.words, question.strip())
            for place, known in ((session, first), (None, replace(first, history=()))):
                if rests:
                    kept.put((place, question.strip()), known)
                else:
                    kept.pop((place, question.strip()))

    def _first_asked(self, asked: Asked, session: PalaceSession) -> Asked:
        """Return a call as one about the question that a model rewrote into this one, if it did."""
        for words in (asked.words, *asked.further):
            first = self._written_before(words.strip(), session)
            if first is not None and not _is_asked_anew(asked, first):
                return replace(
                    asked,
                    words=first.words,
                    beside=asked.besides(words),
                    history=first.history,
                    number=first.number,
                    further=first.further,
                )
        made = self._under_way.made.get(asked.words)
        if made is None:
            return asked
        (beside,) = without_echoes([asked.beside], written=made)  # engines show it as a document
        return replace(asked, beside=beside)

    def _made_of(self, words: str, question: str) -> None:
        """Keep that a model made a question of these words: it is no document that tells anything.

        Of the words themselves nothing was made.
        """
        made = self._under_way.made
        earlier = made.get(words) or ()
        if question and question not in (*earlier, words):
            made.put(words, (*earlier, question)[-_MOST_MADE:])

    def _written_before(self, words: str, session: PalaceSession) -> Asked | None:
        """Return the question that was rewritten into these words.

        One of two wrappers may have been given no session: then the words count, and no
        conversation; they may ask nothing without it, and then these do. Those of two sessions
        never meet.
        """
        kept = self._under_way.rewritten
        other = PalaceSession(project=session.project) if session.session_id else None
        for place in (session, other):
            first = kept.get((place, words))
            if first is not None:
                kept.put((place, words), first)
                if place == session:
                    return first
                return replace(first, history=(), further=(*first.further, words))
        return None

    # -- ending --------------------------------------------------------------------------------

    @contextmanager
    def telling(self, ruling: Ruling, lent: Lent) -> Iterator[None]:
        """Leave the wake-up to the next turn of the session if the call fails that tells it first.

        Who stops reading a stream has begun all the same.
        """
        try:
            yield
        except GeneratorExit:
            raise
        except BaseException:
            if lent.is_first:
                ruling.wake_up = ""
                session: PalaceSession = ruling.key[0]
                told_to = session.session_id or ""
                self.palace.leave_wake_up(told_to, lent.wake_up, session.project)
            raise

    def forget(self, ruling: Ruling) -> None:
        """End a turn: the same words will be decided anew."""
        rulings = self._under_way.rulings
        rulings.pop(_loop_key(ruling.key[0], ruling.verdict.id))
        if rulings.get(ruling.key) is ruling:
            rulings.pop(ruling.key)

    def finish(
        self, ruling: Ruling, text: str, *, checked: CheckedAnswer | None = None, calls: int = 0
    ) -> hosting.Steps[dict[str, Any]]:
        """Record a released answer; the next call is a new turn.

        Args:
            ruling: The turn.
            text: What is released.
            checked: The check of the model's words, where one was made.
            calls: Model calls made since the ruling.

        Returns:
            What the host gets to see of the verdict.
        """
        self.forget(ruling)
        verdict = ruling.verdict
        if ruling.answer is not None:
            checked = ruling.answer.checked
        if checked is not None and not checked.supported:
            said_unchecked()
        answer = Answer(text, verdict, checked, model_calls=ruling.model_calls + calls)
        if checked is not None or ruling.model_calls:
            yield hosting.in_thread(lambda: self.palace.record_answer(answer, verdict))
        metadata = verdict_metadata(verdict, checked=checked, model_calls=answer.model_calls)
        announce_answer(metadata, verdict)
        return metadata

    def record_direct(self, ruling: Ruling, checked: CheckedAnswer) -> None:
        """Record the result of a tool that is the reply, as it was released."""
        verdict = ruling.verdict
        answer = Answer(checked.text, verdict, checked, model_calls=ruling.model_calls)
        self.palace.record_answer(answer, verdict)
        metadata = verdict_metadata(verdict, checked=checked, model_calls=answer.model_calls)
        announce_answer(metadata, verdict)
