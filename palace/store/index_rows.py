"""One memory as a row of the index: its tokens, its data, and back without loss.

In: memories. Out: the values of the columns; and the reverse.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields, replace
from datetime import datetime, timezone
from functools import lru_cache
from typing import Any

from palace.ports import Candidate
from palace.text import name_tokens_of, question_ranges, tokens, tokens_of, words
from palace.text.day_names import day_of_file
from palace.text.moments import day_here
from palace.types.memory import TIMELINE, Memory

_DEFAULTS = tuple((f.name, f.default) for f in fields(Memory))
_TIMES = ("created", "updated", "valid_from", "valid_to", "retired")
_OUTSIDE_NUMBERS = re.compile(r"(?<!\d)-|-(?!\d)")  # "2026-05" is a month
_TUPLES = ("tags", "links", "triggers")

Tokens = tuple[str, str, str, str]
"""Body, context and names of one memory: space-joined index tokens; and its questions as ranges."""

CandidateRow = Sequence[Any]
"""Key, path, position, session, body, context, names and asks of a memory."""

Score = Callable[[Sequence[str], Sequence[str]], float]
"""Returns the relevance of a memory from its tokens, those of body and context."""


def memory_tokens(memory: Memory, drawer_tags: Sequence[str] = ()) -> Tokens:
    """Return (body, context, names, asks) of one memory."""
    place = [
        memory.speaker,
        memory.heading,
        memory.title,
        _OUTSIDE_NUMBERS.sub(" ", memory.drawer),
        memory.room.replace("/", " "),
        " ".join((*memory.tags, *drawer_tags, *memory.triggers)),
    ]
    if memory.created is not None and memory.room == TIMELINE:
        # Its page is called after the day in UTC, and a person asks by that of the place.
        here = day_here(memory.created)
        place = [part.replace(f"{memory.created:%Y-%m-%d}", str(here)) for part in place]
        place.append(f"{here} {here.day}")
    elif day := day_of_file(memory.path):
        place.append(f"{day} {day.day}")
    context = _place_tokens("\n".join(part for part in place if part))
    found = words(memory.text)
    names = dict.fromkeys((*name_tokens_of(memory.text, found), *tokens(memory.speaker)))
    asks = " ".join(f"{start}:{end}" for start, end in question_ranges(memory.text, found))
    return " ".join(tokens_of(found)), context, " ".join(names), asks


@lru_cache(maxsize=1024)
def _place_tokens(place: str) -> str:
    return " ".join(tokens(place))  # the memories of a drawer share their place


def encode_row(memory: Memory) -> str:
    """Return a memory's data without what moves when something else in its file changes."""
    return encode_memory(replace(memory, path="", line=0, position=0))


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


def candidate(row: CandidateRow) -> Candidate:
    """Return the candidate of a row, without a relevance."""
    return _candidate(row, row[4].split(), _split_place(row[5]), 0.0)


def best_candidates(rows: Iterable[CandidateRow], *, score: Score, limit: int) -> list[Candidate]:
    """Return the most relevant candidates of some rows, best first; of the others none is made.

    Args:
        rows: Each of another memory.
        score: Returns the relevance of a memory.
        limit: How many at most.
    """
    scored = []
    for row in rows:
        body, context = row[4].split(), _split_place(row[5])
        scored.append((-score(body, context), row[0], row, body, context))
    scored.sort()  # ties by key, of which each row has its own
    return [_candidate(row, body, context, -less) for less, _, row, body, context in scored[:limit]]


def _candidate(
    row: CandidateRow, body: Iterable[str], context: tuple[str, ...], bm25: float
) -> Candidate:
    key, path, position, session, _, _, names, asks = row
    named, asked = frozenset(names.split()), _ranges(asks) if asks else ()
    return Candidate(key, path, position, session, tuple(body), context, named, bm25, asked)


@lru_cache(maxsize=4096)
def _split_place(context: str) -> tuple[str, ...]:
    return tuple(context.split())  # the memories of a drawer share their place


def _ranges(text: str) -> tuple[tuple[int, int], ...]:
    pairs = (one.partition(":") for one in text.split())
    return tuple([(int(start), int(end)) for start, _, end in pairs])


def moment(when: datetime | None) -> str:
    """Return a moment in UTC, so that texts compare as the moments do; "" for none."""
    return when.astimezone(timezone.utc).isoformat(timespec="seconds") if when else ""


def sayable(text: str) -> str:
    """Return text that SQLite can take: lone surrogates name nothing that was ever stored."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")
