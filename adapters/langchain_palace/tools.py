"""The palace's agent tools as LangChain tools.

In: a palace. Out: eight tools; the session comes from the config of the call, never from a model.
"""

from __future__ import annotations

import asyncio
from typing import Any

from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, StructuredTool

from langchain_palace.session import call_of
from langchain_palace.tracing import TRACER
from palace import AgentTool, Mempalace, agent_tools


def palace_tools(
    palace: Mempalace, session_id: str | None = None, *, project: str | None = None
) -> list[BaseTool]:
    """Return the tools an agent may use on its memory, at most eight.

    Args:
        palace: The open palace.
        session_id: The session of calls whose config names none. In an agent the session is that
            of the run's context, else the `session_id` or `thread_id` of its `configurable`.
        project: The project of calls whose config, or run's context, names none.
    """
    return [
        _langchain_tool(tool, session_id=session_id, project=project)
        for tool in agent_tools(palace, session_id=session_id, project=project)
    ]


def _langchain_tool(
    tool: AgentTool, *, session_id: str | None, project: str | None
) -> StructuredTool:
    def use(config: RunnableConfig, **arguments: Any) -> dict[str, Any]:
        call = call_of(config, session_id=session_id, project=project)
        return tool.run_traced(
            arguments, session_id=call.session_id, project=call.project, tracer=TRACER
        )

    async def ause(config: RunnableConfig, **arguments: Any) -> dict[str, Any]:
        return await asyncio.to_thread(use, config, **arguments)

    return StructuredTool.from_function(
        func=use,
        coroutine=ause,
        name=tool.name,
        description=tool.description,
        args_schema=tool.arguments_model(),
        infer_schema=False,
    )
