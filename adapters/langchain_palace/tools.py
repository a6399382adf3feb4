"""The palace's agent tools as LangChain tools.

In: a palace. Out: eight tools; the session comes from the config of the call, never from a model.
"""

from __future__ import annotations

import asyncio
from typing import Any, Literal

from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, StructuredTool
from pydantic import BaseModel, ConfigDict, Field, create_model

from langchain_palace.session import Call, call_of
from langchain_palace.tracing import TRACER
from palace import AgentTool, Mempalace, agent_tools, memory_span

_TYPES: dict[str, Any] = {"string": str, "integer": int, "array": list[str]}
_OPERATIONS = {
    "palace_remember": "create_memory",
    "palace_note": "create_memory",
    "palace_promote": "create_memory",
    "palace_correct": "update_memory",
    "palace_forget": "delete_memory",
}


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
    operation = _OPERATIONS.get(tool.name, "search_memory")

    def call_for(config: RunnableConfig) -> Call:
        return call_of(config, session_id=session_id, project=project)

    def use(config: RunnableConfig, **arguments: Any) -> dict[str, Any]:
        call = call_for(config)
        with memory_span(operation, call.session_id, tracer=TRACER) as told:
            result = tool.run(arguments, session_id=call.session_id, project=call.project)
            told["palace.status"] = result["status"]
        return result

    async def ause(config: RunnableConfig, **arguments: Any) -> dict[str, Any]:
        call = call_for(config)
        with memory_span(operation, call.session_id, tracer=TRACER) as told:
            result = await asyncio.to_thread(
                tool.run, arguments, session_id=call.session_id, project=call.project
            )
            told["palace.status"] = result["status"]
        return result

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
