"""Whose turn it is: the session and, where a host hides them, the person's own words.

In: what a door knows about a turn. Out: a context that every wrapper of this package reads; it
follows `await`, tasks and threads that copy the context, and never leaks into another session.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from itertools import count

from palace import ConfigError


@dataclass(frozen=True)
class PalaceSession:
    """The turn that is being served.

    Attributes:
        session_id: The session, whose notes and scoped memories may be read.
        question: The person's own words, or None to take them from the messages.
        project: The project whose scoped memories may be read.
        block: Number of the `palace_session` block, so that no turn outlives its block; 0 outside.

    Raises:
        ConfigError: If one of the first three is neither text nor None.
    """

    session_id: str | None = None
    question: str | None = None
    project: str | None = None
    block: int = 0

    def __post_init__(self) -> None:
        given = {"session_id": self.session_id, "question": self.question, "project": self.project}
        for name, value in given.items():
            if value is not None and not isinstance(value, str):
                raise ConfigError(
                    f"{name} must be text, not {type(value).__name__}", hint="give a str or None"
                )


_BLOCKS = count(1)
_CURRENT: ContextVar[PalaceSession | None] = ContextVar("llama_index_palace_session", default=None)


@contextmanager
def palace_session(
    session_id: str | None, *, question: str | None = None, project: str | None = None
) -> Iterator[PalaceSession]:
    """Serve what happens inside for one session.

    It wins over the `session_id` of the wrappers, so one `PalaceLLM` can serve many users. Enter
    it before `agent.run(...)`, `engine.chat(...)` or `llm.chat(...)` is called: the context is
    copied when the run starts.

    Args:
        session_id: The session of this turn.
        question: The person's own words. Needed only for hosts with prompts of their own making,
            which hide them; then every model call inside is decided on these words alone.
        project: The project of this turn.

    Example:
        >>> with palace_session("user-7"):  # doctest: +SKIP
        ...     handler = agent.run("When did we ship 4.1.0?")
        >>> await handler  # doctest: +SKIP
    """
    session = PalaceSession(session_id, question, project, next(_BLOCKS))
    token = _CURRENT.set(session)
    try:
        yield session
    finally:
        _CURRENT.reset(token)


def known_question() -> str | None:
    """Return the person's own words of the turn being served, where the host has said them."""
    session = _CURRENT.get()
    return session.question if session else None


def current_session(session_id: str | None = None, *, project: str | None = None) -> PalaceSession:
    """Return the turn being served, or else one of this session and project."""
    return _CURRENT.get() or PalaceSession(session_id, project=project)
