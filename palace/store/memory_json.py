"""A memory as JSON and back, without loss: what the index keeps and an export writes.

In: a `Memory`. Out: compact JSON that leaves defaults out; and the reverse.
"""

from __future__ import annotations

import json
from dataclasses import fields
from datetime import datetime
from typing import Any

from palace.types.memory import Memory

_DEFAULTS = tuple((f.name, f.default) for f in fields(Memory))
_TIMES = ("created", "updated", "valid_from", "valid_to", "retired")
_TUPLES = ("tags", "links", "triggers")


def encode_memory(memory: Memory) -> str:
    """Return a memory as JSON; only fields that differ from their default are kept."""
    data = {
        name: value for name, default in _DEFAULTS if (value := getattr(memory, name)) != default
    }
    for name in _TIMES:
        if data.get(name) is not None:
            data[name] = data[name].isoformat()
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"))


def decode_memory(data: str, **place: Any) -> Memory:  # noqa: ANN401 - fields of `Memory`
    """Return the memory that `encode_memory` wrote, with what stands elsewhere put back."""
    values: dict[str, Any] = json.loads(data)
    values.update(place)
    for name in _TIMES:
        if name in values:
            values[name] = datetime.fromisoformat(values[name])
    for name in _TUPLES:
        if name in values:
            values[name] = tuple(values[name])
    return Memory(**values)
