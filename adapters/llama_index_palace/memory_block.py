"""Evidence as a block of LlamaIndex' `Memory`.

In: the messages of a conversation. Out: the context of the last thing the person said.
"""

from __future__ import annotations

from typing import Any

from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.bridge.pydantic import Field, PrivateAttr
from llama_index.core.memory import BaseMemoryBlock

from llama_index_palace.questions import asked_in_messages
from llama_index_palace.session import PalaceSession, current_session
from llama_index_palace.structured import demand_looked, miss
from llama_index_palace.turns import Turns
from palace import (
    AnswerOptions,
    ConfigError,
    Kept,
    Mempalace,
    Verdict,
    hosting,
    render_context,
    require_palace,
)

# Long enough for the tool loop of one turn.
_KEPT_S = 120.0


class PalaceBlock(BaseMemoryBlock[str]):
    """What the blocks of this package share: the palace, and whose conversation it is."""

    palace: Any = Field(exclude=True)
    session_id: str | None = None
    project: str | None = None

    def __init__(self, palace: Mempalace, **fields: Any) -> None:
        own = type(self).model_fields.keys()
        unknown = sorted(fields.keys() - own)
        if unknown:
            ours = sorted(own - BaseMemoryBlock.model_fields.keys())
            raise ConfigError(
                f"{type(self).__name__} has no argument {unknown[0]!r}",
                hint=f"it takes {', '.join(ours)}, and what any block takes",
            )
        PalaceSession(fields.get("session_id"), project=fields.get("project"))
        super().__init__(palace=require_palace(palace), **fields)

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> PalaceBlock:
        return self.model_copy()  # copies share what they keep of a turn

    def _asking(self, told: Any) -> PalaceSession:
        """Return whose conversation it is, where the `Memory` tells its session."""
        default = self.session_id or (str(told) if told else None)
        return current_session(default, project=self.project)


class PalaceMemoryBlock(PalaceBlock):
    """Adds sufficient evidence to the conversation.

    A block grounds; it cannot enforce: the host calls its model whatever the block returns. On a
    miss, and on unclear evidence, which nobody would check here, it returns nothing; with
    `raise_on_miss` it raises, which stops the host before its model is called. For the promise
    itself use `PalaceLLM`. Where both are used, give the `Memory` the `session_id` of the
    `PalaceLLM`: else a "remember this: …" is written by the block, and the model's wrapper replies
    that it is known already. Use `insert_method=InsertMethod.USER`, so that memories stand in the
    user's message and not in the system prompt.

    Args:
        palace: An open palace.
        session_id: Session to use instead of the `Memory`'s own.
        project: Project whose memories may be read.
        raise_on_miss: Raise `RecallMiss` when a recall question has no sufficient evidence.
    """

    name: str = "palace"
    raise_on_miss: bool = False
    _kept: Kept[tuple[Any, ...], str] = PrivateAttr(default_factory=lambda: Kept(kept_s=_KEPT_S))

    @property
    def _turns(self) -> Turns:
        return hosting.of_palace(self, Turns)

    async def _aget(self, messages: list[ChatMessage] | None = None, **block_kwargs: Any) -> str:
        """Return the evidence for the last message of the user, decided once for a tool loop.

        Raises:
            RecallMiss: On a miss, if asked to.
            StoreUnavailableError: If the memory could not be read, unless that is the miss.
        """
        session = self._asking(block_kwargs.get("session_id"))
        asked = asked_in_messages(messages or (), question=session.question)
        if not asked.words.strip():
            return ""
        key = (self.palace, session, *asked.turn)
        kept = self._kept.get(key) if asked.goes_on else None
        if kept is not None:
            return kept
        verdict, options = await hosting.arun(self._turns.looked(asked, session))
        text = self._context(verdict, options)
        self._kept.put(key, text)
        return text

    def _context(self, verdict: Verdict, options: AnswerOptions) -> str:
        if verdict.action in ("ground", "answer", "pass"):
            budget = options.context_budget_tokens
            return render_context(verdict.evidence, budget_tokens=budget)
        if self.raise_on_miss and verdict.action in ("fallback", "confirm"):
            raise miss(verdict.text)
        demand_looked(verdict)
        return ""

    async def _aput(self, messages: list[ChatMessage]) -> None:
        """Keep nothing: what is worth remembering is remembered on purpose."""
