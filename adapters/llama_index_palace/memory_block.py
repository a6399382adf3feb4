"""Evidence as a block of LlamaIndex' `Memory`.

In: the messages of a conversation. Out: the context of the last thing the person said.
"""

from __future__ import annotations

import asyncio
import threading
import time
from typing import Any

from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.bridge.pydantic import Field, PrivateAttr
from llama_index.core.memory import BaseMemoryBlock

from llama_index_palace.events import announce_look, announce_verdict
from llama_index_palace.questions import asked_in_messages
from llama_index_palace.session import current_session
from llama_index_palace.spans import adecide_traced
from llama_index_palace.structured import miss
from palace import ConfigError, Mempalace, RetrievalEnforcer, Turn, Verdict, render_context

# Long enough for the tool loop of one turn, short enough that a new memory is found.
_KEPT_S = 30.0
_KEPT_TURNS = 256


class PalaceMemoryBlock(BaseMemoryBlock[str]):
    """Adds sufficient evidence to the conversation.

    A block grounds; it cannot enforce: the host calls its model whatever the block returns. On a
    miss, and on unclear evidence, which nobody would check here, it returns nothing; with
    `raise_on_miss` it raises, which stops the host before its model is called. Use `PalaceLLM`
    for the promise itself. Use `insert_method=InsertMethod.USER`, so that memories stand in the
    user's message and not in the system prompt.

    Args:
        palace: An open palace.
        session_id: Session to use instead of the `Memory`'s own.
        project: Project whose memories may be read.
        raise_on_miss: Raise `RecallMiss` when a recall question has no sufficient evidence.
    """

    name: str = "palace"
    palace: Any = Field(exclude=True)
    session_id: str | None = None
    project: str | None = None
    raise_on_miss: bool = False
    _enforcer: RetrievalEnforcer = PrivateAttr()
    _kept: dict[tuple[Any, ...], tuple[float, str]] = PrivateAttr(default_factory=dict)
    _lock: Any = PrivateAttr(default_factory=threading.Lock)

    def __init__(self, palace: Mempalace, **fields: Any) -> None:
        unknown = sorted(fields.keys() - type(self).model_fields.keys())
        if unknown:
            raise ConfigError(
                f"PalaceMemoryBlock has no argument {unknown[0]!r}",
                hint="it takes session_id, project, raise_on_miss, and what any block takes",
            )
        super().__init__(palace=palace, **fields)
        self._enforcer = RetrievalEnforcer(palace)

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> PalaceMemoryBlock:
        return self.model_copy()  # copies share what they keep of a turn

    async def _aget(self, messages: list[ChatMessage] | None = None, **block_kwargs: Any) -> str:
        """Return the evidence for the last message of the user, decided once for each turn.

        Raises:
            RecallMiss: On a miss, if asked to.
        """
        default = self.session_id or block_kwargs.get("session_id")
        session = current_session(default, project=self.project)
        asked = asked_in_messages(messages or (), question=session.question)
        if not asked.words.strip():
            return ""
        key = (session, asked.number, asked.words, *asked.further)
        with self._lock:
            at, text = self._kept.get(key, (float("-inf"), ""))
        if time.monotonic() - at <= _KEPT_S:
            return text
        turn = Turn(asked.words, session.session_id, session.project, asked.history)
        announce_look(asked.words)
        verdict = await adecide_traced(self._enforcer, turn, asked.further)
        announce_verdict(verdict)
        text = await asyncio.to_thread(self._context, verdict)
        with self._lock:
            while len(self._kept) >= _KEPT_TURNS:
                self._kept.pop(next(iter(self._kept)))
            self._kept[key] = (time.monotonic(), text)
        return text

    def _context(self, verdict: Verdict) -> str:
        if verdict.action in ("ground", "answer", "pass"):
            budget = self.palace.answer_options.context_budget_tokens
            return render_context(verdict.evidence, budget_tokens=budget)
        if self.raise_on_miss and verdict.action in ("fallback", "confirm"):
            raise miss(verdict.text)
        return ""

    async def _aput(self, messages: list[ChatMessage]) -> None:
        """Keep nothing: what is worth remembering is remembered on purpose."""
