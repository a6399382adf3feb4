"""The verbs that turn conversations into memory: condensing a session, archiving a task.

In: histories and tasks. Out: what was condensed, and the entry of a task on the timeline.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from palace.arguments import check_given, check_lists, check_texts, messages_in
from palace.errors import MemoryNotFoundError, TextRefusedError
from palace.ports import scope_of
from palace.store.journal import new_record
from palace.store.timeline_page import minute_of, session_title
from palace.text.moments import utc_now
from palace.types.memory import TIMELINE, Memory
from palace.types.session import ConversationTurn, Message
from palace.verbs.writing import WritingVerbs

# What condenses is loaded when it is asked for: a question needs none of it.
if TYPE_CHECKING:
    from palace.learn.consolidate import Compressed

_TASK_SPEAKER = "Task"


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
