"""Values are frozen, and say where they stand."""

from __future__ import annotations

import dataclasses
from importlib import import_module
from pkgutil import iter_modules

import pytest

from palace import types
from palace.types.memory import Memory
from tests.doubles import memory


def value_classes() -> list[type]:
    modules = [import_module(m.name) for m in iter_modules(types.__path__, "palace.types.")]
    return [
        value
        for module in modules
        for value in vars(module).values()
        if dataclasses.is_dataclass(value) and value.__module__ == module.__name__
    ]


@pytest.mark.parametrize("kind", value_classes(), ids=lambda kind: kind.__name__)
def test_values_are_frozen_and_slotted(kind: type) -> None:
    assert kind.__dataclass_params__.frozen  # type: ignore[attr-defined]
    assert "__dict__" not in dir(kind)


def test_a_value_cannot_be_changed() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        memory("x", 4).text = "other"  # type: ignore[misc]


def test_source_of_a_memory() -> None:
    assert memory("x", 4).source == "rooms/desk/notes.md:5"


def test_defaults_of_a_memory() -> None:
    plain = Memory("m-1", "x", "rooms/a/b.md", 1, "a", "b")
    assert (plain.kind, plain.scope, plain.status, plain.trust) == (
        "fact",
        "global",
        "active",
        "user",
    )
