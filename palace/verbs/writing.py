"""The verbs that write: memories, corrections, notes and promotions.

In: statements and ids. Out: `WriteResult`s and the memories as they are afterwards.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from palace.arguments import (
    KINDS,
    SOURCES,
    check_choice,
    check_lists,
    check_names,
    check_share,
    check_texts,
    check_validity,
    moment_in,
    quoted,
)
from palace.errors import MemoryNotFoundError, TextRefusedError
from palace.learn.annotate import fit_tag
from palace.learn.keyed import fit_key, remember_keyed
from palace.learn.promote import promotion_of
from palace.learn.remember import ON_CONFLICT, OnConflict
from palace.learn.retire import correct, drop_plan, forget
from palace.ports import scope_of
from palace.recall.triggers import trigger_fault
from palace.secrets import redact
from palace.text.moments import utc_now
from palace.types.changes import WriteResult
from palace.types.memory import Draft, Memory, MemoryKind, Trust
from palace.types.session import ScratchEntry
from palace.verbs.changing import ChangingVerbs


class WritingVerbs(ChangingVerbs):
    """What a palace can be told."""

    def remember(
        self,
        text: str,
        *,
        room: str | None = None,
        drawer: str = "notes",
        kind: MemoryKind = "fact",
        source: Trust = "user",
        tags: Sequence[str] = (),
        importance: float = 0.5,
        confidence: float = 1.0,
        project: str | None = None,
        session_id: str | None = None,
        provenance: str = "",
        valid_from: datetime | None = None,
        valid_to: datetime | None = None,
        triggers: Sequence[str] = (),
        key: str | None = None,
        on_conflict: OnConflict = "ask",
    ) -> WriteResult:
        """Store one statement; the very next question finds it.

        Args:
            text: The statement.
            room: Room, made if needed; `write.default_room` if not given.
            drawer: Drawer, made if needed.
            kind: What sort of memory it is.
            source: Whose word it is.
            tags: With or without `#`.
            importance: In [0, 1].
            confidence: In [0, 1].
            project: Only visible to this project, if given.
            session_id: Only visible to this session, if given.
            provenance: Where it comes from, free text.
            valid_from: From when it is true, before `valid_to`; UTC where it names no zone.
            valid_to: Until when it is true; afterwards it is not returned.
            triggers: Prompts it must be brought up at, recall or not: plain words, or patterns of
                the `regex` module, between slashes where they could be taken for words.
            key: Names a place for one value, e.g. `user_language_pref`: the new value supersedes
                the one that has the key in this scope, where that one stands.
            on_conflict: What to do when the palace holds another value: `ask`, `keep`, `supersede`.

        Returns:
            `Remembered`, `Duplicate` (nothing written) or `Conflict` (nothing written).

        Raises:
            TextRefusedError: If the text is unfit or a trigger can never match;
                `SecretRefusedError` if it holds a secret.
            ConfigError: If `on_conflict`, `kind`, `source`, `key` or a tag is none, a text is no
                text, a name is empty, a number is not in its range, or it is over before it
                begins.
            UnsafeNameError: If a name would leave the palace.
        """
        check_texts(text=text, drawer=drawer, provenance=provenance)
        check_names(room=room, session=session_id, project=project, key=key)
        check_lists(tags=tags, triggers=triggers)
        check_choice("on_conflict", on_conflict, ON_CONFLICT)
        check_choice("kind", kind, KINDS)
        check_choice("source", source, SOURCES)
        check_share("importance", importance)
        check_share("confidence", confidence)
        valid_from = moment_in("valid_from", valid_from)
        valid_to = moment_in("valid_to", valid_to)
        check_validity(valid_from, valid_to)
        draft = Draft(
            text=text,
            kind=kind,
            scope=scope_of(project, session_id),
            trust=source,
            provenance=provenance,
            tags=tuple(fit_tag(tag) for tag in tags),
            importance=importance,
            confidence=confidence,
            created=utc_now(),
            valid_from=valid_from,
            valid_to=valid_to,
            triggers=tuple(self._fit_trigger(trigger) for trigger in triggers),
            project=project or "",
            session=session_id or "",
            key=fit_key(key) if key is not None else "",
        )
        return self._remember(draft, room=room, drawer=drawer, on_conflict=on_conflict)

    def _fit_trigger(self, trigger: str) -> str:
        fault = trigger_fault(trigger)
        if fault:
            raise TextRefusedError(
                f"the trigger {redact(trigger)[:80]!r} can never do its work: {fault}",
                hint="give plain words, or a pattern between slashes such as /deploy.*friday/",
            )
        return self._parts.writer.fit(trigger)

    def _remember(
        self, draft: Draft, *, room: str | None, drawer: str, on_conflict: OnConflict
    ) -> WriteResult:
        where = room or self.settings.write.default_room
        writer = self._parts.writer.judged(
            draft, on_conflict=on_conflict, replaces=self._holding(draft)
        )
        with self._changing("remember", writer=writer) as change:
            change.session = draft.session or None
            if draft.key:
                holders = list(self._holding(draft))
                if holders and room is None:
                    # Not in a copy of the file, whose name is longer: somebody will delete it.
                    first = min(holders, key=lambda holder: len(holder.path))
                    where, drawer = first.room, first.drawer
                result = remember_keyed(
                    change.writer,
                    draft,
                    holders,
                    room=where,
                    drawer=drawer,
                    on_conflict=on_conflict,
                )
            else:
                result = change.writer.remember(
                    draft, room=where, drawer=drawer, on_conflict=on_conflict
                )
            change.about["memory"] = result.memory.id
        return result

    def _holding(self, draft: Draft) -> Iterator[Memory]:
        """Yield who has the key of a draft; nobody where it has none."""
        if draft.key:
            self.refresh(force=False)
            wanted = ("active", draft.key, draft.scope)
            for memory in self.index.marked("key"):
                if (memory.status, memory.key, memory.scope) == wanted:
                    yield memory

    def correct(
        self, memory_id: str, text: str, *, source: Trust = "user", reason: str = ""
    ) -> WriteResult:
        """Replace a memory by the right words; the very next question finds those alone.

        The old memory stays in its file as inactive, with the id of the one that supersedes it.
        Room, drawer, kind, scope, tags and importance are kept.

        Args:
            memory_id: Id of the wrong memory, or a unique prefix of at least 8 characters.
            text: The whole statement as it is right.
            source: Whose word it is. A person's correction also supersedes whatever else it
                contradicts; anybody else's meets a `Conflict`.
            reason: Why, free text.

        Returns:
            `Remembered`; `Duplicate` of the memory itself (nothing changed) or of another one
            (the wrong one is retired in its favour); `Conflict` with a third (nothing changed).

        Raises:
            ConfigError: If `source` is none, or a text is no text.
            MemoryNotFoundError: If there is no such active memory.
            TextRefusedError: If the text is unfit, or it is a playbook, which is a file of its own.
        """
        check_texts(text=text, reason=reason)
        check_choice("source", source, SOURCES)
        return self._put_right(memory_id, text, source=source, reason=reason)

    def _put_right(
        self,
        memory_id: str,
        text: str,
        *,
        source: Trust = "user",
        reason: str,
        at: datetime | None = None,
    ) -> WriteResult:
        """Correct a memory by what was said at a moment; now if there is none."""
        wrong = self._meant(memory_id)
        writer = self._parts.writer.judged(Draft(text, scope=wrong.scope), replaces=[wrong])
        with self._changing("correction", writer=writer) as change:
            old = self._meant(wrong.id)
            change.session = old.session or None
            result = correct(
                change.writer,
                old,
                text,
                source=source,
                default_room=self.settings.write.default_room,
                reason=reason,
                copies=self._parts.rivals.copies_of(old),
                at=at,
            )
            change.about = {"memory": old.id, "superseded_by": result.memory.id}
        return result

    def forget(self, memory_id: str, *, reason: str = "") -> Memory:
        """Retire a memory: no question finds it, and its file keeps it.

        What says the same in the same drawer under the same headings, or in a copy of its file,
        goes with it. Where else the same words stand tells `still_said`.

        Args:
            memory_id: Its id, or a unique prefix of at least 8 characters.
            reason: Why, free text.

        Returns:
            The memory as it is now, inactive.

        Raises:
            MemoryNotFoundError: If there is no such active memory.
            TextRefusedError: If it is a playbook, which is a file of its own.
        """
        check_texts(reason=reason)
        with self._changing("forget") as change:
            old = self._meant(memory_id)
            change.session = old.session or None
            copies = self._parts.rivals.copies_of(old)
            gone = forget(change.writer, old, reason=reason, copies=copies)
            drop_plan(change.writer, old, self.index.marked("superseded_by"))
            change.about = {"memory": old.id, "reason": gone.reason}
        return gone

    def note(self, text: str, *, session_id: str, ttl_s: float | None = None) -> ScratchEntry:
        """Note something for the rest of a session.

        Raises:
            SecretRefusedError: If the text or the session id holds a secret.
            TextRefusedError: If it is empty or longer than `scratchpad.max_entry_chars`.
            UnsafeNameError: If the session id cannot name a file.
        """
        check_texts(text=text, session=session_id)
        self.require_root()
        self._parts.writer.check_names(session_id)
        most = self.settings.scratchpad.max_entry_chars
        fitting = self._parts.writer.fit(text, note_chars=most)
        return self.scratchpad.append(session_id, fitting, ttl_s=ttl_s)

    def notes(self, session_id: str) -> list[ScratchEntry]:
        """Return the living notes of a session, oldest first."""
        check_texts(session=session_id)
        return self.scratchpad.entries(session_id)

    def promote_to_palace(
        self,
        entry: ScratchEntry | str,
        room: str,
        drawer: str,
        *,
        summary: str,
        reason: str,
        kind: MemoryKind = "fact",
        project: str | None = None,
        on_conflict: OnConflict = "ask",
    ) -> WriteResult:
        """Turn a note of the scratchpad into a memory, on purpose and in plain words.

        Args:
            entry: The note, or its id.
            room: Room of the memory.
            drawer: Drawer of the memory.
            summary: The words of the memory.
            reason: Why it is worth keeping.
            kind: What sort of memory it is.
            project: Only visible to this project, if given.
            on_conflict: `ask`, `keep` or `supersede`.

        Raises:
            MemoryNotFoundError: If the note does not exist or has expired.
            TextRefusedError: If summary or reason is missing, or it is raw tool output.
            SecretRefusedError: If anything in it is a secret.
            ConfigError: If `kind` or `on_conflict` is none, a text is no text, or the project is
                empty.
        """
        check_texts(summary=summary, reason=reason, room=room, drawer=drawer)
        check_names(project=project)
        check_choice("on_conflict", on_conflict, ON_CONFLICT)
        check_choice("kind", kind, KINDS)
        noted = entry if isinstance(entry, ScratchEntry) else self._living(entry)
        writer = self._parts.writer
        draft = promotion_of(
            noted, writer, summary=summary, reason=reason, kind=kind, project=project or ""
        )
        writer = writer.judged(draft, on_conflict=on_conflict)
        with self._changing("promotion", writer=writer) as change:
            change.session = noted.session_id
            result = change.writer.remember(
                draft, room=room, drawer=drawer, on_conflict=on_conflict
            )
            change.about = {"memory": result.memory.id, "entry": noted.id}
        if result.status == "stored" and self.scratchpad.get(noted.id) is not None:
            self.scratchpad.mark_promoted(noted.id, result.memory.id)
        return result

    def _living(self, entry_id: str) -> ScratchEntry:
        entry = self.scratchpad.get(entry_id)
        if entry is None:
            raise MemoryNotFoundError(
                f"no living note has the id {quoted(entry_id)}",
                hint="notes expire; `palace note --list` shows the living ones",
            )
        return entry
