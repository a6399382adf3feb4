"""The arguments of the agent's tools: how a schema describes them, and what is wrong with them.

In: descriptions, or what a model gave. Out: JSON schemas, or the fault in words.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from pydantic import BaseModel

_PYTHON_TYPE: Mapping[str, type] = {"string": str, "integer": int, "array": list}
_KINDS: Mapping[str, str] = {"string": "a string", "integer": "an integer", "array": "an array"}


def text_schema(description: str, **more: Any) -> dict[str, Any]:  # noqa: ANN401 - pieces of a JSON schema
    """Schema of a text; `more` is added to it, such as an `enum`."""
    return {"type": "string", "description": description, **more}


def texts_schema(description: str) -> dict[str, Any]:
    """Schema of a list of texts."""
    return {"type": "array", "items": {"type": "string"}, "description": description}


def arguments_schema(properties: Mapping[str, Any], required: Iterable[str]) -> dict[str, Any]:
    """Schema of all arguments of a tool; no others are allowed."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(required),
        "additionalProperties": False,
    }


def arguments_model(name: str, parameters: Mapping[str, Any]) -> type[BaseModel]:
    """Class of all arguments of a tool, of the same schema; no others are allowed."""
    from pydantic import ConfigDict, Field, create_model

    fields: dict[str, Any] = {}
    for argument, schema in parameters["properties"].items():
        kind: Any = list[str] if schema["type"] == "array" else _PYTHON_TYPE[schema["type"]]
        if "enum" in schema:
            kind = Literal[tuple(schema["enum"])]
        about = {"description": schema["description"]}
        bounds = {"ge": schema.get("minimum"), "le": schema.get("maximum")}
        if argument in parameters["required"]:
            fields[argument] = (kind, Field(**about, **bounds))
        else:
            fields[argument] = (kind | None, Field(default=None, **about, **bounds))
    # What a model gave may be a secret: an error says what is wrong with it, and not what it is.
    config = ConfigDict(extra="forbid", hide_input_in_errors=True)
    return create_model(name, __config__=config, **fields)


def arguments_fault(parameters: Mapping[str, Any], arguments: Mapping[str, Any]) -> str:
    """Say what is wrong with a model's arguments under such a schema; "" if nothing is."""
    if not isinstance(arguments, Mapping):
        return "the arguments must be an object, of names and values"
    properties = parameters["properties"]
    unknown = [name for name in arguments if name not in properties]
    if unknown:
        return f"unknown argument {unknown[0]!r}; known: {', '.join(properties) or 'none'}"
    missing = [name for name in parameters["required"] if arguments.get(name) is None]
    if missing:
        return f"the argument {missing[0]!r} is missing"
    faults = (_value_fault(name, properties[name], value) for name, value in arguments.items())
    return next((fault for fault in faults if fault), "")


def _value_fault(name: str, schema: Mapping[str, Any], value: Any) -> str:  # noqa: ANN401 - whatever a model gave
    if value is None:
        return ""
    kind = schema["type"]
    if not isinstance(value, _PYTHON_TYPE[kind]) or isinstance(value, bool):
        return f"the argument {name!r} must be {_KINDS[kind]}"
    if "enum" in schema and value not in schema["enum"]:
        return f"the argument {name!r} must be one of {', '.join(schema['enum'])}"
    if isinstance(value, list) and not all(isinstance(item, str) for item in value):
        return f"the argument {name!r} must be a list of strings"
    if kind == "integer" and not schema["minimum"] <= value <= schema["maximum"]:
        return f"the argument {name!r} must be {schema['minimum']} to {schema['maximum']}"
    return ""
