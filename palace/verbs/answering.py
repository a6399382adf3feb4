"""The verbs of a turn and a session: the walk, answers, wake-up, looking back.

In: turns, answers and sessions. Out: the assembled walk, records and wake-up texts.
"""

from __future__ import annotations

import logging
from datetime import datetime
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any

from palace.arguments import (
    check_counts,
    check_given,
    check_names,
    check_texts,
    moment_in,
    quoted,
)
from palace.configured import answer_options
from palace.enforce.enforcer import Enforcement
from palace.enforce.record import answer_record
from palace.enforce.wakeup import FirstTurns, compose_wake_up
from palace.errors import MemoryNotFoundError, StoreUnavailableError
from palace.recall.sufficiency import Sufficiency
from palace.types.session import WakeUp
from palace.types.verdict import Verdict
from palace.verbs.reading import ReadingVerbs
from palace.verbs.waking import wake_up_sources

if TYPE_CHECKING:
    from palace.enforce.answering import Answer, AnswerOptions
    from palace.enforce.grounding import CheckedAnswer

_log = logging.getLogger(__name__)


class AnsweringVerbs(ReadingVerbs):
    """What happens while a conversation goes on."""

    @property
    def enforcement(self) -> Enforcement:
        """The assembled parts of the walk; what `RetrievalEnforcer` works with."""
        return self._parts.enforcement

    @property
    def sufficiency(self) -> Sufficiency:
        """The calibrated bar in force."""
        return self._parts.sufficiency

    @property
    def answer_options(self) -> AnswerOptions:
        """How answers are made and checked: the `answers:` settings with the identity in force."""
        return answer_options(self.settings, identity=self._parts.identity())

    def record_answer(self, answer: Answer | CheckedAnswer | None, verdict: Verdict) -> str:
        """Record what was released for a verdict: cited memories, unsupported words, model calls.

        The answer is there by then: a journal that cannot be written must not lose it.

        Args:
            answer: The answer, or its check where a host made the calls itself.
            verdict: The verdict it was made for.

        Returns:
            Id of the record, "" when no journal is kept, or it cannot be written.
        """
        record = answer_record(
            answer, verdict, prompts=self.settings.journal.prompts, shown=self.privacy.shown
        )
        lost = f"the answer to {verdict.id} is not in the journal"
        return str(record["id"]) if self.keep_record(record, otherwise=lost) else ""

    def wake_up(
        self, session_id: str, project: str | None = None, budget_tokens: int | None = None
    ) -> WakeUp:
        """Return what a session starts with, within the budget, saying what was left out.

        L0 identity, living notes of the session, what the last session promoted, and the rooms
        that matter in this context; never the whole palace.

        Args:
            session_id: The session that starts.
            project: Its project, if any.
            budget_tokens: Most estimated tokens; `wakeup.budget_tokens` if not given.

        Raises:
            ConfigError: If the session or project is no text, or the budget no whole number from 0
                on.
        """
        check_texts(session=session_id)
        check_given(project=project)
        check_counts(least=0, budget_tokens=budget_tokens)
        settings = self.settings.wakeup
        self.refresh(force=False)
        return compose_wake_up(
            session_id,
            wake_up_sources(self, session_id, project),
            budget_tokens=settings.budget_tokens if budget_tokens is None else budget_tokens,
            project=project,
            max_rooms=settings.rooms,
            memories_per_room=settings.memories_per_room,
            shown=self.privacy.shown,
        )

    def session_wake_up(self, session_id: str | None, project: str | None = None) -> str:
        """Return the wake-up text on the first turn of a session, "" on all later ones.

        A session has begun when this method was called for it in this process, or in another one
        that kept the same journal. What `leave_wake_up` was given is returned once more.

        Args:
            session_id: The session; without one there is no first turn, and the result is "".
            project: Its project, if any.

        Raises:
            ConfigError: If the session or the project is no text.
        """
        check_given(session=session_id, project=project)
        if not session_id:
            return ""
        if not self._first_turns.begin(session_id):
            return self.take_wake_up(session_id, project)
        return self.wake_up(session_id, project).text

    def has_begun(self, session_id: str) -> bool:
        """Whether this process knows that a session has begun.

        It reads nothing, so an event loop may ask before it sends `begin_session` to a thread.
        """
        return self._first_turns.knows(session_id)

    def begin_session(self, session_id: str, project: str | None = None) -> None:
        """Have the wake-up of a session, on its first turn, wait for `take_wake_up`.

        So it is not lost where the turn that asked for it is gone before it is made. What cannot
        be read now is looked for again by the next turn, and keeps nobody from an answer.
        """
        try:
            text = self.session_wake_up(session_id, project)
        except StoreUnavailableError as error:
            _log.warning("session %s starts without its wake-up: %s", session_id, error)
            return
        self.leave_wake_up(session_id, text, project)

    def take_wake_up(self, session_id: str, project: str | None = None) -> str:
        """Return the wake-up that waits for a turn of the session, once; "" if none does.

        It reads nothing, so an event loop may ask.
        """
        return self._first_turns.take(session_id, project)

    def leave_wake_up(self, session_id: str, text: str, project: str | None = None) -> None:
        """Leave a wake-up to the next turn of its session, for the call that carried it failed.

        Args:
            session_id: The session.
            text: What it was given as; "" leaves nothing.
            project: Its project, if any.
        """
        if text:
            self._first_turns.leave(session_id, project, text)

    @cached_property
    def _first_turns(self) -> FirstTurns:
        return FirstTurns(self.journal if self.settings.journal.enabled else None)

    def verdicts(self, *, limit: int = 20, since: datetime | None = None) -> list[dict[str, Any]]:
        """Return journal records of verdicts, newest first.

        Raises:
            ConfigError: If the limit is no whole number from 1 on, or `since` is no datetime.
        """
        check_counts(limit=limit)
        records = self.journal.records(since=moment_in("since", since), type="verdict")
        return list(islice(records, limit))

    def question_of(self, verdict_id: str, *, session_id: str | None, project: str | None) -> str:
        """Return what a verdict was decided on, "" where the journal has none of this session."""
        try:
            record = self.verdict(verdict_id)
        except MemoryNotFoundError:
            return ""
        is_theirs = (record.get("session"), record.get("project")) == (session_id, project)
        return str(record.get("prompt") or "") if is_theirs else ""

    def verdict(self, verdict_id: str | None = None) -> dict[str, Any]:
        """Return the journal record of one verdict, the last one if no id is given.

        Raises:
            MemoryNotFoundError: If the journal has none.
        """
        check_names(id=verdict_id)
        record = (
            self.journal.find(verdict_id)
            if verdict_id
            else next(iter(self.journal.records(type="verdict")), None)
        )
        if record is None:
            what = f"verdict {quoted(verdict_id)}" if verdict_id else "verdict"
            hint = "see `palace journal` for what it holds" if verdict_id else "ask something first"
            raise MemoryNotFoundError(f"the journal holds no {what}", hint=hint)
        return record
