"""True erasure: what tells the words of a memory in notes and journal, so that they can go.

In: erased memories. Out: records without their words; ids stay, so that the record still counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import regex

from palace.learn.dedup import is_of_one_place, says_the_same
from palace.types.memory import Memory

ERASED = "[erased]"
_RUN = regex.compile(r"\w+")
# Shorter words stand in too many texts that mean something else; only the whole text tells them.
_LEAST_CHARS = 12
_NAMING = ("memory", "superseded_by", "memories", "retrieved", "injected", "cited", "evidence_ids")
_WORDS = ("text", "prompt", "prompt_sha256", "reason", "unsupported", "note")


@dataclass(frozen=True)
class Eraser:
    """Tells and removes the words of erased memories.

    Attributes:
        ids: Of the memories that go, those they once had among them.
        words: What they say, in the form of `_plain`.
    """

    ids: frozenset[str]
    words: tuple[str, ...]

    @classmethod
    def of(cls, memories: Iterable[Memory], *, called: Iterable[str] = ()) -> Eraser:
        """Return the eraser of these memories.

        Args:
            memories: What goes.
            called: Other ids that records know them by.
        """
        gone = list(memories)
        words = dict.fromkeys(_plain(m.text) for m in gone)
        return cls(frozenset([*(m.id for m in gone), *called]), tuple(w for w in words if w))

    def holds(self, text: str) -> bool:
        """Whether a text holds the words of an erased memory, as a whole."""
        plain = _plain(text)
        return any(
            words == plain or (len(words) >= _LEAST_CHARS and words in plain)
            for words in self.words
        )

    def concerns(self, line: str) -> bool:
        """Whether a line of JSON may hold words or ids of an erased memory.

        A quick look before the line is taken apart; what is written as an escape it cannot see.
        """
        if "\\u" in line or any(identifier in line for identifier in self.ids):
            return True
        folded = line.casefold()
        return any(run in folded for run in self._runs)

    @cached_property
    def _runs(self) -> tuple[str, ...]:
        """Of each text the longest run of letters and digits, which JSON writes as they are."""
        runs = (_RUN.findall(words) for words in self.words)
        return tuple(max(found, key=len, default="") for found in runs)

    def names(self, record: Mapping[str, Any]) -> bool:
        """Whether a record is about an erased memory."""
        named = [item for field in _NAMING for item in _listed(record.get(field))]
        named += [e.get("id") for e in record.get("evidence") or () if isinstance(e, Mapping)]
        named += [s.get("memory") for s in record.get("steps") or () if isinstance(s, Mapping)]
        return not self.ids.isdisjoint(str(item) for item in named)

    def cleaned(self, record: Mapping[str, Any]) -> dict[str, Any]:
        """Return a record without words of the erased memories.

        One that names them keeps ids, numbers and times and loses every text that could repeat
        them, the prompt included.
        """
        kept: dict[str, Any] = {key: self._without(value) for key, value in record.items()}
        if not self.names(record):
            return kept
        for field in _WORDS:
            if kept.get(field):
                kept[field] = ERASED if isinstance(kept[field], str) else []
        for item in (*_mappings(kept.get("evidence")), *_mappings(kept.get("reminders"))):
            if item.get("id") in self.ids:
                item.update({key: ERASED for key in ("text",) if item.get(key)})
        for step in _mappings(kept.get("steps")):
            if step.get("memory") in self.ids:
                step.update({key: ERASED for key in ("words", "before", "after") if step.get(key)})
        return kept

    def _without(self, value: Any) -> Any:  # noqa: ANN401 - any JSON value
        if isinstance(value, str):
            return ERASED if self.holds(value) else value
        if isinstance(value, Mapping):
            return {key: self._without(item) for key, item in value.items()}
        return [self._without(item) for item in value] if isinstance(value, list) else value


def older_versions(memory: Memory, superseded: Iterable[Memory]) -> list[Memory]:
    """Return everything that a memory replaced, directly or through others, latest first."""
    by_successor: dict[str, list[Memory]] = {}
    for old in superseded:
        by_successor.setdefault(old.superseded_by, []).append(old)
    found: dict[str, Memory] = {}
    waiting = [memory.id]
    while waiting:
        for old in by_successor.get(waiting.pop(0), ()):
            if old.id not in found and old.id != memory.id:
                found[old.id] = old
                waiting.append(old.id)
    return list(found.values())


def retired_copies(memory: Memory, memories: Iterable[Memory]) -> list[Memory]:
    """Return retired memories of the same scope and place that say the same."""
    return [
        m
        for m in memories
        if m.status != "active"
        and m.id != memory.id
        and m.scope == memory.scope
        and is_of_one_place(m, memory)
        and says_the_same(m.text, memory.text)
    ]


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold().strip(" .!?;,:'\"")


def _listed(value: object) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else [value]


def _mappings(value: object) -> list[dict[str, Any]]:
    return [item for item in _listed(value) if isinstance(item, dict)]
