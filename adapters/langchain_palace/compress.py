"""Conversations condensed to the timeline: for chains, histories and agents.

In: LangChain messages of a session. Out: what to send now: system messages, what was condensed so
far as one quoted block, and the latest messages as they are. A tool call stays with its answer.
"""

from __future__ import annotations

from collections.abc import Sequence

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

from langchain_palace.messages import speaker_of, text_of
from palace import Mempalace, Message, require_palace

# The mark that LangChain's own summaries carry: whoever looks for the person's words skips them.
_SUMMARY = {"lc_source": "summarization"}


def compress_history(
    palace: Mempalace,
    messages: Sequence[BaseMessage],
    session_id: str,
    *,
    project: str | None = None,
    task: str | None = None,
    force: bool = False,
) -> list[BaseMessage]:
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
    said = [as_message(messages, place) for place in range(len(messages))]
    done = require_palace(palace).compress_if_needed(
        said, session_id, project=project, task=task, force=force
    )
    kept = [messages[place] for place in done.kept]
    if not done.injected:
        return kept
    first = next((n for n, m in enumerate(kept) if m.type != "system"), len(kept))
    block = HumanMessage(done.injected, additional_kwargs=dict(_SUMMARY))
    return [*kept[:first], block, *kept[first:]]


def as_message(messages: Sequence[BaseMessage], place: int) -> Message:
    """Return a message as the palace reads it: its text, and the tool calls it makes or answers.

    What is in no role that is known, or another agent's, is not taken for the person's words.
    """
    message = messages[place]
    calls: tuple[str, ...] = ()
    if isinstance(message, AIMessage):
        made = [*message.tool_calls, *message.invalid_tool_calls]
        calls = tuple(str(call["id"]) for call in made if call.get("id"))
    answers = message.tool_call_id if isinstance(message, ToolMessage) else ""
    role = speaker_of(messages, place) or "assistant"
    return Message(role, text_of(message), calls=calls, answers=answers)
