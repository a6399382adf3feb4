"""What a schema lets a model choose among, and what an object of one states.

In: a JSON schema, a pydantic model, or anything that holds them, as the arguments of a model call
do. Out: every set of values that it enumerates, or every value in it, as text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from enum import Enum

from pydantic import BaseModel


def enumerated(schema: object) -> Iterator[frozenset[str]]:
    """Yield the values of each enumeration, a constant being one of a single value."""
    if isinstance(schema, BaseModel):
        schema = type(schema)
    if isinstance(schema, type) and issubclass(schema, BaseModel):
        schema = schema.model_json_schema()
    if isinstance(schema, Mapping):
        offered = schema.get("enum", [schema["const"]] if "const" in schema else None)
        if isinstance(offered, (list, tuple)):
            yield frozenset(str(value) for value in offered)
        for part in schema.values():
            yield from enumerated(part)
    elif isinstance(schema, (list, tuple)):
        for part in schema:
            yield from enumerated(part)


def values_in(value: object, within: frozenset[int] = frozenset()) -> Iterator[str]:
    """Yield every text and number of an object and its parts, as text; truth values say nothing.

    Args:
        value: The object.
        within: Ids of what it is a part of: an object of a host may hold itself.
    """
    if isinstance(value, Enum):
        value = value.value
    if value is None or isinstance(value, bool):
        return
    parts = _parts_of(value)
    if parts is not None:
        inside = within | {id(value)}
        for part in parts if id(value) not in within else ():
            yield from values_in(part, inside)
    elif text := str(value).strip():
        yield text


def _parts_of(value: object) -> Iterable[object] | None:
    if isinstance(value, (str, int, float)):
        return None
    if isinstance(value, BaseModel):
        return [part for _, part in value]
    if isinstance(value, Mapping):
        return value.values()
    if isinstance(value, (list, tuple, set, frozenset)):
        return value
    return vars(value).values() if hasattr(value, "__dict__") else None
