"""What a schema lets a model choose among.

In: a JSON schema, a pydantic model, or anything that holds them, as the arguments of a model call
do. Out: every set of values that it enumerates, as text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

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
