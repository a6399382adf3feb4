"""The palace's agent tools as LangChain tools.

In: a palace. Out: eight tools; the session comes from the config of the call, never from a model.
"""

from __future__ import annotations

import asyncio
from typing import Any, Literal

from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, StructuredTool
from pydantic import BaseModel, ConfigDict, Field, create_model

from langchain_palace.session import call_of
from langchain_palace.tracing import TRACER
from palace import AgentTool, Mempalace, agent_tools

_TYPES: dict[str, Any] = {"string": str, "integer": int, "array": list[str]}


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
        args_schema=_arguments_model(tool),
        infer_schema=False,
    )


def _arguments_model(tool: AgentTool) -> type[BaseModel]:
    """Return the arguments as a model; unknown ones are kept so that the tool can refuse them."""
    required = tool.parameters["required"]
    fields: dict[str, Any] = {}
    for name, schema in tool.parameters["properties"].items():
        kind: Any = Literal[tuple(schema["enum"])] if "enum" in schema else _TYPES[schema["type"]]
        bounds = {"ge": schema.get("minimum"), "le": schema.get("maximum")}
        if name in required:
            fields[name] = (kind, Field(description=schema["description"], **bounds))
        else:
            described = Field(default=None, description=schema["description"], **bounds)
            fields[name] = (kind | None, described)
    return create_model(tool.name, __config__=ConfigDict(extra="forbid"), **fields)
