"""What belongs to a session: what is said in it, noted, condensed, and what it starts with.

In: what doors and hosts hand over. Out: what the enforcer, the timeline and the scratchpad keep.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from palace.types.memory import Trust

# Roles of messages in a history, as hosts name them.
ASKING, ANSWERING = frozenset({"user", "human"}), frozenset({"assistant", "ai"})


@dataclass(frozen=True, slots=True)
class Message:
    """One earlier message.

    Attributes:
        role: `user`, `assistant`, `system` or `tool`.
        at: When it was said, aware, where the host knows.
        calls: Ids of the tool calls this message makes.
        answers: Id of the tool call this message answers, else "".
    """

    role: str
    content: str
    at: datetime | None = None
    calls: tuple[str, ...] = ()
    answers: str = ""


@dataclass(frozen=True, slots=True)
class Turn:
    """What a person just said, and where.

    Attributes:
        prompt: The raw prompt, any text at all.
        session_id: The session, if the door knows one. Untrusted input.
        project: The project whose scoped memories may be used, if any.
        history: Earlier messages, oldest first.
        as_of: Asks for the state of this moment instead of today's, aware.
        trust: Whose words the prompt is: only the user's tell the memory something.
        beside: What the host sent around these words, such as a document, without them: they may
            ask about that.
        instructions: What the program told the agent that is asked, such as a system prompt: who it
            is, where the palace has no identity.
    """

    prompt: str
    session_id: str | None = None
    project: str | None = None
    history: tuple[Message, ...] = ()
    as_of: datetime | None = None
    trust: Trust = "user"
    beside: str = ""
    instructions: str = ""


@dataclass(frozen=True, slots=True)
class ConversationTurn:
    """One entry of the timeline: a verbatim turn of a conversation, or what became of several.

    Attributes:
        trust: Whose word it is.
        scope: Who may read it, as in `Memory`.
        project: The project it belongs to, if any.
        task: The task it belongs to, if any.
    """

    session: str
    speaker: str
    text: str
    at: datetime
    provenance: str = ""
    trust: Trust = "user"
    scope: str = "global"
    project: str = ""
    task: str = ""


@dataclass(frozen=True, slots=True)
class SessionSummary:
    """What became of a part of a session, and when that part ended."""

    at: datetime
    text: str


@dataclass(frozen=True, slots=True)
class SessionMark:
    """How far a session is condensed.

    Attributes:
        session_id: The session.
        last_consolidated_at: When the last condensed message was said or, where messages have no
            times, when it was condensed; None before the first time.
        count: Messages condensed so far, system messages and our own blocks not counted.
        tail: Digests of the last of them, in order.
        summaries: What they became, oldest first, as far as it is still put before the model.
        failures: Failures of the model in a row.
    """

    session_id: str
    last_consolidated_at: datetime | None = None
    count: int = 0
    tail: tuple[str, ...] = ()
    summaries: tuple[SessionSummary, ...] = ()
    failures: int = 0


@dataclass(frozen=True, slots=True)
class ScratchEntry:
    """One note of a session's scratchpad.

    Attributes:
        id: `s-…`.
        at: When it was noted, UTC.
        ttl_s: Seconds it stays readable after `at`.
        promoted: Memory id it was promoted to, else "".
    """

    id: str
    session_id: str
    text: str
    at: datetime
    ttl_s: float
    source: Trust = "agent"
    promoted: str = ""


@dataclass(frozen=True, slots=True)
class WakeUp:
    """What a session starts with.

    Attributes:
        text: Ready to be put in front of a model; within the budget.
        used_tokens: Estimated tokens of `text`.
        budget_tokens: The budget it was made for.
        rooms: Rooms selected for this context.
        left_out: What could not be read or did not fit, one line each, for a person.
        included: Ids of memories and scratchpad entries in the text.
    """

    session_id: str
    text: str
    used_tokens: int
    budget_tokens: int
    rooms: tuple[str, ...] = ()
    included: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
