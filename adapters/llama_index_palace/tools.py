"""The agent's memory tools for LlamaIndex.

In: a palace. Out: `FunctionTool` values around the framework-neutral definitions of `palace`.
"""

from __future__ import annotations

import asyncio
import inspect
import json
from typing import Any

from llama_index.core.bridge.pydantic import BaseModel
from llama_index.core.tools import FunctionTool

from llama_index_palace.session import current_session
from llama_index_palace.spans import TRACER
from palace import AgentTool, Mempalace, agent_tools


def palace_tools(
    palace: Mempalace, *, session_id: str | None = None, project: str | None = None
) -> list[FunctionTool]:
    """Return the memory tools: search, read, remember, correct, forget, note, promote, wake up.

    Args:
        palace: An open palace.
        session_id: The session they work for outside a `palace_session` block; a model can
            never choose it.
        project: The project whose memories they may see, where a `palace_session` block names
            none.
    """
    tools = agent_tools(palace, session_id=session_id, project=project)
    return [_function_tool(tool) for tool in tools]


def _function_tool(tool: AgentTool) -> FunctionTool:
    schema = tool.arguments_model()
    signature = _signature(schema)

    def run(*given: Any, **named: Any) -> str:
        arguments = {**signature.bind_partial(*given).arguments, **named}
        session = current_session()
        result = tool.run_traced(
            arguments, session_id=session.session_id, project=session.project, tracer=TRACER
        )
        return json.dumps(result, ensure_ascii=False)

    async def arun(*given: Any, **named: Any) -> str:
        # A thread that has the context of the caller; the host's own way would lose the session.
        return await asyncio.to_thread(run, *given, **named)

    for function in (run, arun):  # what is shown to a model that writes code
        function.__name__ = function.__qualname__ = tool.name
        function.__doc__ = tool.description
        function.__signature__ = signature  # type: ignore[union-attr]
    return FunctionTool.from_defaults(
        fn=run,
        async_fn=arun,
        name=tool.name,
        description=tool.description,
        fn_schema=schema,
    )


def _signature(schema: type[BaseModel]) -> inspect.Signature:
    """Return the signature of a function that takes the arguments of a schema."""
    parameters = [
        inspect.Parameter(
            name,
            inspect.Parameter.POSITIONAL_OR_KEYWORD,
            annotation=field.annotation,
            default=inspect.Parameter.empty if field.is_required() else None,
        )
        for name, field in schema.model_fields.items()
    ]
    parameters.sort(key=lambda parameter: parameter.default is None)
    return inspect.Signature(parameters, return_annotation=str)
