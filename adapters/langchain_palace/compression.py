"""`PalaceCompression`: an agent whose conversation is condensed on the way; needs `langchain`.

In: an open palace. Out: a middleware for `create_agent`, beside `PalaceMiddleware` or alone.
"""

from __future__ import annotations

import asyncio
from typing import Any

from langchain.agents.middleware import AgentMiddleware, AgentState
from langchain_core.messages import BaseMessage, RemoveMessage
from langgraph.graph.message import REMOVE_ALL_MESSAGES
from langgraph.runtime import Runtime

from langchain_palace.compress import compress_history
from langchain_palace.session import call_of_run
from palace import Mempalace, require_palace


class PalaceCompression(AgentMiddleware[AgentState[Any], Any, Any]):
    """Condenses the agent's messages to the timeline before a model call, when it is due.

    The state then holds what is sent: system messages, the condensed part as one quoted block,
    and the latest turns. Runs without a session are left as they are.

    Args:
        palace: The open palace.
        session_id: The session of runs that name none.
        project: The project of runs that name none.
    """

    def __init__(
        self, palace: Mempalace, *, session_id: str | None = None, project: str | None = None
    ) -> None:
        super().__init__()
        self.palace = require_palace(palace)
        self.session_id = session_id
        self.project = project

    def before_model(self, state: AgentState[Any], runtime: Runtime[Any]) -> dict[str, Any] | None:
        """Replace the messages by what is to be sent, if anything was condensed."""
        call = call_of_run(runtime, session_id=self.session_id, project=self.project)
        if not call.session_id:
            return None
        before: list[BaseMessage] = list(state["messages"])
        after = compress_history(self.palace, before, call.session_id, project=call.project)
        if [m.content for m in after] == [m.content for m in before]:
            return None
        return {"messages": [RemoveMessage(id=REMOVE_ALL_MESSAGES), *after]}

    async def abefore_model(
        self, state: AgentState[Any], runtime: Runtime[Any]
    ) -> dict[str, Any] | None:
        """Replace the messages by what is to be sent, if anything was condensed."""
        return await asyncio.to_thread(self.before_model, state, runtime)
