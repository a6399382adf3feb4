"""Conversations condensed to the timeline: for chat histories, and as a block of `Memory`.

In: LlamaIndex messages of a session. Out: what to send now: system messages, what was condensed
so far as one quoted block, and the latest messages as they are. A tool call stays with its answer.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from typing import Any

from llama_index.core.base.llms.types import ChatMessage, MessageRole
from llama_index.core.bridge.pydantic import PrivateAttr

from llama_index_palace.memory_block import PalaceBlock
from llama_index_palace.observed import calls_in
from palace import Mempalace, Message, StoreError, require_palace

_log = logging.getLogger(__name__)

_ROLES = {
    MessageRole.ASSISTANT: "assistant",
    MessageRole.CHATBOT: "assistant",
    MessageRole.MODEL: "assistant",
    MessageRole.SYSTEM: "system",
    MessageRole.DEVELOPER: "system",
    MessageRole.TOOL: "tool",
    MessageRole.FUNCTION: "tool",
}
_CALL_ID = "tool_call_id"


def compress_history(
    palace: Mempalace,
    messages: Sequence[ChatMessage],
    session_id: str,
    *,
    project: str | None = None,
    task: str | None = None,
    force: bool = False,
) -> list[ChatMessage]:
    """Condense what is due of a history, and return what to send; see `compress_if_needed`.

    Args:
        palace: The open palace.
        messages: The whole history, or what was returned last time and what came since.
        session_id: The session.
        project: Its project, if any; its summaries are visible to that project alone.
        task: The task it belongs to, if any.
        force: Condense everything new at once.

    Returns:
        Messages of the history, unchanged, and at most one of ours after the system messages.
    """
    said = [as_message(message) for message in messages]
    done = require_palace(palace).compress_if_needed(
        said, session_id, project=project, task=task, force=force
    )
    kept = [messages[place] for place in done.kept]
    if not done.injected:
        return kept
    systems = sum(said[place].role == "system" for place in done.kept)
    return [*kept[:systems], ChatMessage(role="user", content=done.injected), *kept[systems:]]


def as_message(message: ChatMessage) -> Message:
    """Return a message as the palace reads it: its text, and the tool calls it makes or answers."""
    role = _ROLES.get(message.role, "user")
    return Message(
        role,
        message.content or "",
        calls=tuple(dict(calls_in(message))),
        answers=str(message.additional_kwargs.get(_CALL_ID) or "") if role == "tool" else "",
    )


class PalaceSummaryBlock(PalaceBlock):
    """Condenses the messages that leave the short-term memory, and gives back what they became.

    `Memory` hands over its oldest messages when its token limit is reached; here they become a
    dated entry on the palace's timeline. Use `insert_method=InsertMethod.USER`, so that the
    summary stands in the user's message and not in the system prompt. What cannot be written keeps
    nobody from an answer: it waits for the next messages that leave.

    Args:
        palace: An open palace.
        session_id: Session to use instead of the `Memory`'s own.
        project: Project whose summaries these are, where the turn being served names none.
    """

    name: str = "palace_summary"
    _waiting: dict[tuple[str, str | None], list[ChatMessage]] = PrivateAttr(default_factory=dict)

    async def _aget(
        self,
        messages: list[ChatMessage] | None = None,  # noqa: ARG002 - of no interest here
        **block_kwargs: Any,
    ) -> str:
        """Return what was condensed so far."""
        session = self._asking(block_kwargs.get("session_id")).session_id
        return await asyncio.to_thread(self._condensed, session) if session else ""

    async def _aput(self, messages: list[ChatMessage]) -> None:
        """Condense messages that leave the short-term memory."""
        told = next((m.additional_kwargs.get("session_id") for m in messages), None)
        served = self._asking(told)
        session, project = served.session_id, served.project or self.project
        if not session:
            return
        due = [*self._waiting.pop((session, project), ()), *messages]
        try:
            await asyncio.to_thread(self._put, due, session, project)
        except StoreError as error:  # the `Memory` has let go of them, and the answer is made
            self._waiting[session, project] = [*due, *self._waiting.get((session, project), ())]
            _log.warning("%d messages of %s are not condensed yet: %s", len(due), session, error)

    def _condensed(self, session: str) -> str:
        return str(self.palace.compress_if_needed((), session).injected)

    def _put(self, messages: list[ChatMessage], session: str, project: str | None) -> None:
        # The block says how much is condensed already: what is handed over follows it.
        condensed = self._condensed(session)
        before = [ChatMessage(role="user", content=condensed)] if condensed else []
        compress_history(self.palace, [*before, *messages], session, project=project, force=True)
