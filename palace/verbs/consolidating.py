"""The verbs that turn conversations into memory: condensing, ending a session, archiving a task.

In: histories and sessions. Out: what was condensed, what was kept, what is still to be done by a
person.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any, Literal

from palace.arguments import (
    check_choice,
    check_given,
    check_lists,
    check_texts,
    messages_in,
    moment_in,
)
from palace.errors import ConfigError, MemoryNotFoundError, ModelError, TextRefusedError
from palace.learn.dedup import says_the_same
from palace.learn.remember import said_later
from palace.ports import scope_of
from palace.secrets import redact
from palace.store.journal import new_record
from palace.store.names import safe_component
from palace.store.timeline_page import minute_of, session_title
from palace.text import tokens
from palace.text.moments import iso_moment, utc_now
from palace.types.changes import Duplicate, WriteResult
from palace.types.memory import PLAYBOOKS, TIMELINE, Draft, Memory
from palace.types.session import ConversationTurn, Message, Turn
from palace.verbs.writing import WritingVerbs

# What condenses, reports and fills gaps is loaded when it is asked for: a question needs none.
if TYPE_CHECKING:
    from palace.learn.consolidate import Compressed
    from palace.learn.gapfill import Filled, FoundBy, GapFill
    from palace.learn.gaps import Gaps
    from palace.learn.statements import Statement

_NEAR = 5
# From it on all records count that tell a moment; a damaged line may tell none.
_BEGINNING = datetime.min.replace(tzinfo=timezone.utc)
# What was said of it in a year of sessions may stand before the memory itself.
_LOOKED_AT = 50
_SHARED_WORDS = 2
_TASK_SPEAKER = "Task"


@dataclass(frozen=True, slots=True)
class SessionEnd:
    """What the end of a session did.

    Attributes:
        session_id: The session.
        filled: What the person stated outright, and what became of each.
        summary: The last part of the session, condensed.
        reason: Why the model was of no help, if it was asked and was not.
    """

    session_id: str
    filled: tuple[GapFill, ...]
    summary: Compressed
    reason: str = ""


@dataclass(frozen=True, slots=True)
class _Ending:
    """A session that ends, and what an earlier end of it stored and a person retired since."""

    session_id: str
    project: str
    gone: Sequence[Memory]


class ConsolidatingVerbs(WritingVerbs):
    """How conversations become memory."""

    def compress_if_needed(
        self,
        history: Sequence[Message | Mapping[str, Any]],
        session_id: str,
        *,
        project: str | None = None,
        task: str | None = None,
        force: bool = False,
    ) -> Compressed:
        """Condense what is due of a conversation to the timeline, and return what to send.

        It is due when half of `consolidate.window_tokens` is used, when `consolidate.turns` turns
        came together, or after a pause of `consolidate.idle_minutes`. Only messages after
        `last_consolidated_at` are condensed, the latest turns stay as they are, and a tool call is
        never parted from its answer. The settings' model writes the summary, or sentences are
        picked without one; three failures of the model in a row, and messages are kept as `[RAW]`
        lines. No failure of a model raises, and none loses a message.

        Args:
            history: The whole conversation, or what was sent last time and what came since.
            session_id: The session.
            project: Its project, if any; its summaries are visible to that project alone.
            task: The task it belongs to, if any; see `finish_task`.
            force: Condense everything new at once.

        Raises:
            ConfigError: If the session, the project or the task is no text.
            UnsafeNameError: If the session id cannot name a file.
            SecretRefusedError: If it or the project holds a secret.
        """
        check_texts(session=session_id)
        check_given(project=project, task=task)
        self._parts.writer.check_names(session_id, project or "")
        self.refresh(force=False)
        done = self._parts.consolidator.compress_if_needed(
            messages_in(history), session_id, project=project or "", task=task or "", ask=force
        )
        if done.status == "condensed":
            self._note_consolidation(done, session_id)
            self._apply_timeline_retention()
        return done

    def on_session_end(
        self,
        session_id: str,
        history: Sequence[Message | Mapping[str, Any]],
        *,
        project: str | None = None,
    ) -> SessionEnd:
        """Keep what the person stated and nobody stored, then condense the rest of the session.

        Stored are preferences and facts the person stated outright and corrections the agent did
        not store, found by rules and, where a model is configured, by the model too, whose every
        proposal must be the person's own sentence. Each passes the way of all writes: secrets,
        duplicates, conflicts. Doing it again changes nothing.

        Args:
            session_id: The session.
            history: All of it, in order.
            project: Its project, if any; what is stored is visible to that project alone.

        Raises:
            ConfigError: If the session or the project is no text.
            UnsafeNameError: If the session id cannot name a file.
            SecretRefusedError: If it or the project holds a secret.
        """
        check_texts(session=session_id)
        check_given(project=project)
        self._parts.writer.check_names(session_id, project or "")
        from palace.learn.gapfill import stated_in

        said = messages_in(history)
        self.refresh(force=False)
        found: list[tuple[Statement, bool]] = [
            (s, False) for s in stated_in(said, cues=self._parts.cues)
        ]
        proposed, reason = self._proposals(said)
        found += [(s, True) for s in proposed if not _said_in(s, (f for f, _ in found))]
        gone = self._retired_since(session_id, scope_of(project)) if found else []
        ending = _Ending(session_id, project or "", gone)
        filled = tuple(self._fill(s, ending, by_model=by_model) for s, by_model in found)
        summary = self.compress_if_needed(said, session_id, project=project, force=True)
        return SessionEnd(session_id, filled, summary, reason)

    def finish_task(
        self,
        task: str,
        *,
        done: str = "",
        conclusions: Sequence[str] = (),
        decisions: Sequence[str] = (),
        session_id: str | None = None,
        project: str | None = None,
    ) -> Memory:
        """Archive a finished task on the timeline: what was done, concluded and decided.

        Args:
            task: Its name.
            done: What was done; what was condensed under this task if not given.
            conclusions: One sentence each.
            decisions: One sentence each.
            session_id: The session it ended in; the task's own heading if not given.
            project: Its project, if any; the entry is visible to that project alone.

        Returns:
            The entry as it stands on the timeline; the same task with the same words is one entry.

        Raises:
            TextRefusedError: If there is nothing to archive, or it is unfit.
            SecretRefusedError: If it holds a secret.
        """
        from palace.learn.archive import archive_text, task_session

        check_texts(task=task, done=done)
        check_given(session=session_id, project=project)
        check_lists(conclusions=conclusions, decisions=decisions)
        self._parts.writer.check_names(task, session_id or "", project or "")
        self.refresh(force=False)
        if not task.strip():
            raise TextRefusedError("the task has no name", hint="name the task that is finished")
        condensed = [m for m in self.index.memories(room=TIMELINE) if m.task == task]
        text = archive_text(
            task, done=done, conclusions=conclusions, decisions=decisions, condensed=condensed
        )
        entry = ConversationTurn(
            session=session_id or task_session(task),
            speaker=_TASK_SPEAKER,
            text=self._parts.writer.fit(text),
            at=utc_now(),
            provenance="task",
            trust="agent",
            scope=scope_of(project),
            project=project or "",
            task=task,
        )
        return self._archived(entry)

    # Looking back

    def gaps(self, *, since: datetime | None = None) -> Gaps:
        """Return what was asked and not found, similar questions together, the most asked first.

        A question that was answered later is no gap. Where `journal.prompts` is `hash` only equal
        questions are counted together and none is shown; where it is `off` they are only counted.

        Args:
            since: Begin of the period, UTC where it names no zone; all the journal keeps if not
                given.
        """
        from palace.learn.gaps import find_gaps

        since = moment_in("since", since)
        return find_gaps(
            self.journal.records(since=since or _BEGINNING),
            terms=lambda question: self._parts.analyst.terms(Turn(question)),
            since=since,
        )

    def report(
        self, *, since: datetime, until: datetime | None = None, by: Literal["day", "week"] = "day"
    ) -> str:
        """Return a period as Markdown: what happened, was learned and was not found; times are UTC.

        Args:
            since: Begin, UTC where it names no zone.
            until: End, likewise; now if not given.
            by: One part for each day, or for each week.

        Raises:
            ConfigError: If it does not begin before it ends, or `by` is neither.
        """
        from palace.learn.gaps import find_gaps
        from palace.learn.report import ReportSources, compose_report, retired_in

        check_choice("by", by, ("day", "week"))
        self.refresh(force=False)
        begin, end = moment_in("since", since), moment_in("until", until) or utc_now()
        if begin is None:
            raise ConfigError("a report needs a beginning", hint="give since, a datetime")
        if begin >= end:
            raise ConfigError(
                f"the report would begin at {begin:%Y-%m-%d %H:%M} and end before that",
                hint="name a beginning that is past, or a later end",
            )

        def within(memory: Memory) -> bool:
            return memory.created is not None and begin <= memory.created <= end

        memories = {m.id: m for m in self.index.memories()}
        found = self.journal.records(since=begin)
        records = [record for record in found if iso_moment(record["at"]) <= end]
        verdicts = [r for r in records if r["type"] == "verdict"]
        dated = [m for m in memories.values() if within(m)]
        report = compose_report(
            ReportSources(
                since=begin,
                until=end,
                timeline=[m for m in dated if m.room == TIMELINE],
                added=[m for m in dated if m.room != TIMELINE],
                imported=[record for record in records if record["type"] == "import"],
                retired=list(retired_in(records, memories)),
                outcomes=[str(r.get("outcome")) for r in verdicts],
                gaps=find_gaps(
                    records, terms=lambda text: self.analyse(Turn(text)).terms, since=begin
                ),
            ),
            by=by,
        )
        return self.privacy.shown(report)

    # Gaps that are filled

    def _proposals(self, history: Sequence[Message]) -> tuple[list[Statement], str]:
        generator = self._parts.generator
        if generator is None:
            return [], ""
        from palace.learn.gapfill import proposed_by

        try:
            shown = [replace(m, content=self.privacy.shown(m.content)) for m in history]
            return proposed_by(generator, shown, cues=self._parts.cues), ""
        except ModelError as error:
            return [], error.message

    def _retired_since(self, session_id: str, scope: str) -> list[Memory]:
        """Return what an earlier end of the session stored there and a person retired since."""
        own = _origin(session_id)
        room = safe_component(self.settings.write.default_room, what="room")
        stored = self.index.memories(room=room)
        return [
            m for m in stored if (m.provenance, m.scope) == (own, scope) and m.status != "active"
        ]

    def _fill(self, statement: Statement, ending: _Ending, *, by_model: bool) -> GapFill:
        from palace.learn.gapfill import GapFill

        by: FoundBy = "model" if by_model else "rules"
        try:
            if statement.kind == "correction" and statement.wrong:
                return self._correct(statement, ending)
            result = self._keep(statement, statement.text, ending)
        except TextRefusedError as error:
            return GapFill(
                redact(statement.text), statement.kind, by, "refused", None, error.message
            )
        return GapFill(
            statement.text, statement.kind, by, result.status, result.memory, _why_not(result)
        )

    def _keep(self, statement: Statement, text: str, ending: _Ending) -> WriteResult:
        """Store what was said at the moment it was said; what was retired since stays retired."""
        from palace.learn.ending import tells_news

        retired = next((m for m in ending.gone if says_the_same(m.text, text)), None)
        if retired is not None:
            return Duplicate(retired)
        draft = Draft(
            text,
            kind=statement.kind,
            scope=scope_of(ending.project),
            provenance=_origin(ending.session_id),
            created=_said_at(statement),
            project=ending.project,
        )
        # Who says "now" or "again" knows that something else was so before.
        is_news = statement.kind == "correction" or tells_news(text)
        return self._remember(
            draft, room=None, drawer="sessions", on_conflict="supersede" if is_news else "ask"
        )

    def _correct(self, statement: Statement, ending: _Ending) -> GapFill:
        """Correct the memory that says what is wrong; without one, store what is right."""
        from palace.learn.gapfill import GapFill, corrected_text

        def filled(text: str, status: Filled, known: Memory | None, reason: str = "") -> GapFill:
            return GapFill(text, "correction", "rules", status, known, reason)

        at = _said_at(statement)
        near = list(self._near(statement, ending))
        for memory in near:
            text = corrected_text(statement, memory.text)
            if text and said_later(memory, at):
                return filled(text, "conflict", memory, "the palace holds what was said later")
            if text:
                result = self._put_right(memory.id, text, reason=statement.text, at=at)
                status: Filled = "corrected" if result.status == "stored" else result.status
                return filled(text, status, result.memory, _why_not(result))
        text = statement.text if statement.whole else corrected_text(statement, statement.about)
        if not text:
            return filled(statement.text, "unclear", None)
        known = next((m for m in near if _holds(statement.right, m.text)), None)
        if known is not None:
            return filled(text, "duplicate", known)
        result = self._keep(statement, text, ending)
        return filled(text, result.status, result.memory, _why_not(result))

    def _near(self, statement: Statement, ending: _Ending) -> Iterable[Memory]:
        """Yield memories that a correction may be about: used in the session, or alike."""
        text = f"{statement.text} {statement.about}".strip()
        about = set(tokens(text))
        seen: dict[str, Memory] = {}
        for record in self._parts.previous_verdicts(ending.session_id, ending.project):
            found = (self.index.get(i) for i in record.get("injected", ()))
            seen.update((m.id, m) for m in found if m is not None)
        hits = self.search(
            text, top_k=_LOOKED_AT, session_id=ending.session_id, project=ending.project or None
        )
        stored = [hit.memory for hit in hits if hit.memory.room != TIMELINE]
        seen.update((m.id, m) for m in stored[:_NEAR])
        for memory in seen.values():
            usable = memory.status == "active" and memory.room not in (TIMELINE, PLAYBOOKS)
            if (
                usable
                and not memory.is_value
                and len(about & set(tokens(memory.text))) > _SHARED_WORDS
            ):
                yield memory

    # The timeline

    def _archived(self, entry: ConversationTurn) -> Memory:
        """Return the entry as it stands on the timeline, put there if it is not there yet."""
        known = self._entry(entry)
        if known is None:
            self._parts.write_entry(entry)
            known = self._entry(entry)
        if known is None:
            raise MemoryNotFoundError(
                f"the entry of the task {entry.task!r} is gone",
                hint="was the page edited just now?",
            )
        return known

    def _entry(self, turn: ConversationTurn) -> Memory | None:
        """Return an entry of the timeline by its session, its speaker and its words."""
        wanted = (session_title(turn.session), turn.speaker, turn.text)
        found = self.index.memories(room=TIMELINE)
        return next((m for m in found if (m.session, m.speaker, m.text) == wanted), None)

    def _note_consolidation(self, done: Compressed, session_id: str) -> None:
        at = done.last_consolidated_at
        about = {
            "messages": len(done.condensed),
            "trigger": done.trigger,
            "by": done.by,
            "page": f"timeline/{minute_of(at)[:10]}.md" if at and done.summary else "",
            "reason": done.reason,
        }
        self.keep_record(
            new_record("consolidation", "k", session_id, about),
            otherwise="a conversation was condensed, and no note could be taken",
        )

    def _apply_timeline_retention(self) -> None:
        """Take out condensed entries that are past their days, and nothing a person wrote."""
        days = self.settings.consolidate.retention_days
        if days is None:
            return
        from palace.learn.consolidate import is_condensed

        oldest = utc_now() - timedelta(days=days)
        for memory in list(self.index.memories(room=TIMELINE)):
            is_due = memory.created is not None and memory.created < oldest
            if is_due and is_condensed(memory) and not self.store.goes_on(memory):
                self.store.erase(memory)
                self.index_file(memory.path)


def _said_at(statement: Statement) -> datetime:
    now = utc_now()
    return min(statement.at or now, now)


def _origin(session_id: str) -> str:
    return f"session-end:{session_id}"


def _why_not(result: WriteResult) -> str:
    if result.memory.status != "active":
        return "it was stored before, and retired since"
    return result.detail if result.status == "conflict" else ""


def _holds(words: str, text: str) -> bool:
    wanted, there = tokens(words), tokens(text)
    return bool(wanted) and set(wanted) <= set(there)


def _said_in(statement: Statement, others: Iterable[Statement]) -> bool:
    return any(
        statement.text.rstrip(".!") in other.text
        or other.text.rstrip(".!") in statement.text
        or says_the_same(statement.text, other.text)
        for other in others
    )
