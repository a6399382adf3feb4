"""The verb that ends a session: what the person stated is kept, and the rest condensed.

In: a session and its history. Out: what became of each statement, and the last summary.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from palace.arguments import check_given, check_texts, messages_in
from palace.errors import ModelError, TextRefusedError
from palace.learn.dedup import says_the_same
from palace.learn.remember import said_later
from palace.ports import scope_of
from palace.secrets import redact
from palace.store.names import safe_component
from palace.text import tokens
from palace.text.moments import utc_now
from palace.types.changes import Duplicate, WriteResult
from palace.types.memory import PLAYBOOKS, TIMELINE, Draft, Memory
from palace.types.session import Message
from palace.verbs.consolidating import ConsolidatingVerbs

# What finds statements is loaded when a session ends: a question needs none of it.
if TYPE_CHECKING:
    from palace.learn.consolidate import Compressed
    from palace.learn.gapfill import Filled, FoundBy, GapFill
    from palace.learn.statements import Statement

_NEAR = 5
# What was said of it in a year of sessions may stand before the memory itself.
_LOOKED_AT = 50
_SHARED_WORDS = 2


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


class SessionEndVerbs(ConsolidatingVerbs):
    """What is kept of a session that ends."""

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
