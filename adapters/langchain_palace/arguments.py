"""What the arguments of a model call say of the reply that is wanted.

In: the arguments, as a host gives them or as they are bound to a model. Out: whether the reply has
to be a call of a tool, or in a format, in the words of the providers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool

# Arguments that decide what a reply looks like; a call of our own has its own.
SHAPING = frozenset(
    "tools tool_choice tool_config functions function_call response_format parallel_tool_calls"
    " strict ls_structured_output_format structured_output_format output_config output_format"
    " format text response_schema response_json_schema response_mime_type".split()
)
_FORMATS = (
    "response_format",
    "output_format",
    "format",
    "response_schema",
    "response_json_schema",
    "response_mime_type",
)
# Arguments that may hold a format beside other things.
_HOLDERS = ("output_config", "text")
_PLAIN = (None, False, "", "text", "text/plain")
_FREE = (None, False, "auto", "none", "AUTO", "NONE")
_ANY = (True, "any", "required", "ANY")


def wants_format(arguments: Mapping[str, Any]) -> bool:
    """Whether the reply has to be in a format that a program reads, as JSON."""
    held = (arguments.get(name) for name in _HOLDERS)
    formats = [arguments.get(name) for name in _FORMATS]
    formats += [part.get("format") for part in held if isinstance(part, Mapping)]
    return any(_kind(form) not in _PLAIN for form in formats)


def forced_tools(arguments: Mapping[str, Any]) -> int:
    """Return among how many tools the reply has to choose one, 0 if it need not."""
    choice = _chosen(arguments)
    if choice in _FREE:
        return 0
    tools = arguments.get("tools") or arguments.get("functions") or ()
    return len(tools) if choice in _ANY else 1


def direct_tools(tools: Iterable[object]) -> frozenset[str]:
    """Return the names of the tools whose result goes to the person as it is."""
    return frozenset(t.name for t in tools if isinstance(t, BaseTool) and t.return_direct)


def tool_name(tool: object) -> str:
    """Return the name of a tool in any of the forms that models take, their own tools included."""
    if isinstance(tool, BaseTool):
        return tool.name
    form = tool if isinstance(tool, Mapping) else convert_to_openai_tool(tool)  # type: ignore[arg-type]
    function = form.get("function")
    named = function if isinstance(function, Mapping) else form
    return str(next((named[key] for key in ("name", "title", "type") if named.get(key)), ""))


def _chosen(arguments: Mapping[str, Any]) -> Any:
    """Return what has to be called: a word of the provider, or the name of a tool."""
    config = arguments.get("tool_config")
    calling = config.get("function_calling_config") if isinstance(config, Mapping) else None
    if isinstance(calling, Mapping):
        return calling.get("mode")
    choice = arguments.get("tool_choice") or arguments.get("function_call")
    if not isinstance(choice, Mapping):
        return choice
    if choice.get("type") == "allowed_tools":  # the mode stands beside them or within
        return choice.get("mode") or (choice.get("allowed_tools") or {}).get("mode")
    kind = choice.get("type", next(iter(choice), None))
    return kind if kind in (*_FREE, *_ANY) else "named"


def _kind(form: Any) -> Any:
    """Return the kind of a format, which may be described by its kind alone."""
    if isinstance(form, Mapping):
        return form.get("type", "schema")
    return form if isinstance(form, str) or not form else "schema"
