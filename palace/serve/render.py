"""Values as JSON documents and as lines for a person.

In: values of the facade. Out: plain JSON-ready data, and lines made of styled pieces that know
nothing of terminals.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from palace import Evidence, Gap, Hit, Memory, Playbook, ScratchEntry, Verdict

Piece = tuple[str, str]
Line = tuple[Piece, ...]
"""Pieces of (text, style); a style is a word such as `bold`, `dim` or `red`, or ""."""

_IN_LIST = ("text", "id", "path", "line")


def line(*pieces: str | Piece) -> Line:
    """Return a line of plain texts and (text, style) pairs."""
    return tuple((piece, "") if isinstance(piece, str) else piece for piece in pieces)


def dim(text: str) -> Line:
    """Return a line that stands back."""
    return ((text, "dim"),)


def plain(lines: Iterable[Line]) -> str:
    """Return lines as text without styles, each ended by a newline."""
    return "".join("".join(text for text, _ in pieces) + "\n" for pieces in lines)


def document(value: object) -> Any:  # noqa: ANN401 - JSON has no narrower type
    """Return any value of the facade as JSON-ready data; a memory also says its `source`."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        shape = {f.name: document(getattr(value, f.name)) for f in dataclasses.fields(value)}
        source = getattr(type(value), "source", None)
        return {**shape, "source": value.source} if isinstance(source, property) else shape  # type: ignore[attr-defined]
    if isinstance(value, Mapping):
        return {str(key): document(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [document(item) for item in value]
    if isinstance(value, (datetime, date)):
        return value.isoformat()
    return str(value) if isinstance(value, PurePath) else value


def verdict_lines(verdict: Verdict) -> tuple[Line, ...]:
    """Return what a person without a model gets to see of a verdict."""
    first = [line(("! ", "yellow"), item.text) for item in verdict.reminders]
    if verdict.action not in ("fallback", "answer"):
        first += [line(write.text) for write in verdict.written]
    return (*first, *_decision_lines(verdict))


def _decision_lines(verdict: Verdict) -> tuple[Line, ...]:
    if verdict.action == "pass":
        note = "This is no recall question; it goes to the model untouched."
        if verdict.evidence:
            note = "This is no recall question; it goes to the model with these memories attached."
        return (dim(note), *evidence_lines(verdict.evidence))
    if verdict.action == "generate":
        return (
            dim("Nothing is stored about this; by policy the model may answer freely, ungrounded."),
        )
    if verdict.action == "ground" or (verdict.action == "answer" and verdict.evidence):
        lines = evidence_lines(verdict.quoted)
        if more := verdict.perhaps_more:
            lines += (dim("What may belong to it as well:"), *evidence_lines(more))
        return lines
    lines = tuple(line(text) for text in verdict.text.splitlines())
    if verdict.action == "confirm":
        return (*lines, dim("A near miss: no model is asked here to confirm that it answers."))
    return lines


def evidence_lines(evidence: Sequence[Evidence]) -> tuple[Line, ...]:
    """Return each piece of evidence verbatim, with its source and as-of time below it."""
    lines: list[Line] = []
    for item in evidence:
        when = f", as of {item.as_of:%Y-%m-%d}" if item.as_of else ""
        stale = ", may be out of date" if item.stale else ""
        if item.state_of:
            stale += f", state of {item.state_of:%Y-%m-%d}"
        lines += [line((item.text, "bold")), dim(f"  {item.source}{when}{stale}")]
    return tuple(lines)


def room_lines(rooms: Sequence[Mapping[str, Any]]) -> tuple[Line, ...]:
    """Return one line for each room of `name`, `memories` and `drawers`."""
    if not rooms:
        return (
            dim("There are no rooms yet; `palace remember` makes one."),
            dim("Conversations stand on the timeline: `palace list timeline`."),
        )
    width = max(len(room["name"]) for room in rooms)
    return tuple(
        line(
            (room["name"].ljust(width), "bold"),
            f"  {counted(room['memories'], 'memory', 'memories')}",
            (f"  {', '.join(room['drawers'])}", "dim"),
        )
        for room in rooms
    )


def memory_lines(memory: Memory) -> tuple[Line, ...]:
    """Return a memory for a list: its words, and below them where it stands."""
    words = memory.said.splitlines() or [""]
    facts = [memory.source, memory.id, memory.kind, *(f"#{tag}" for tag in memory.tags)]
    if memory.scope != "global":
        facts.append(memory.scope)
    if memory.status != "active":
        by = f", superseded by {memory.superseded_by}" if memory.superseded_by else ""
        facts.append(f"inactive{by}")
    return (line(f"- {words[0]}"), *(line(f"  {x}") for x in words[1:]), dim(f"  {_row(facts)}"))


def strength_line(strength: float) -> Line:
    """Return the line below a memory that says how strong it is."""
    return dim(f"  strength {strength:.2f}")


def whole_memory_lines(
    memory: Memory, linked: Sequence[Memory] = (), *, strength: float
) -> tuple[Line, ...]:
    """Return everything that is known of a memory, and below it what it is linked with."""
    fields = {k: v for k, v in document(memory).items() if k not in _IN_LIST and v not in ("", [])}
    fields = {"id": memory.id, **{k: v for k, v in fields.items() if v is not None}}
    fields["strength"] = round(strength, 2)
    around = [line(), line(("linked with", "dim"))] if linked else []
    around += [row for other in linked for row in memory_lines(other)]
    return (line((memory.text, "bold")), line(), *table_lines(fields), *around)


def table_lines(fields: Mapping[str, Any]) -> tuple[Line, ...]:
    """Return one aligned line for each field."""
    width = max((len(key) for key in fields), default=0)
    return tuple(line((f"{key.ljust(width)}  ", "dim"), _said(v)) for key, v in fields.items())


def hit_lines(hit: Hit) -> tuple[Line, ...]:
    """Return a hit: its score, its words and where it stands."""
    words = hit.memory.said.splitlines() or [""]
    return (
        line((f"{hit.score:6.3f}  ", "cyan"), words[0]),
        *(line(f"        {x}") for x in words[1:]),
        dim(f"        {_row([hit.memory.source, hit.memory.id])}"),
    )


def playbook_lines(playbook: Playbook) -> tuple[Line, ...]:
    """Return a playbook: what it is called, where it stands, its cautions and its whole body."""
    triggers = ", ".join(playbook.triggers)
    cautions = {"prerequisites": playbook.prerequisites, "warnings": playbook.warnings}
    return (
        line((playbook.title or playbook.name, "bold")),
        dim(_row([playbook.path, triggers and f"triggers: {triggers}"])),
        *(line(f"{label}: {'; '.join(said)}") for label, said in cautions.items() if said),
        line(),
        *(line(text) for text in playbook.body.splitlines()),
    )


def note_lines(entry: ScratchEntry) -> tuple[Line, ...]:
    """Return a note of a scratchpad: its words, its id, when it was noted and how long it lives."""
    promoted = f"promoted to {entry.promoted}" if entry.promoted else ""
    facts = [entry.id, f"{entry.at:%Y-%m-%d %H:%M} UTC", f"lives {entry.ttl_s:g} s", promoted]
    return (line(f"- {entry.text}"), dim(f"  {_row(facts)}"))


def record_lines(record: Mapping[str, Any]) -> tuple[Line, ...]:
    """Return one line for a verdict of the journal."""
    prompt = " ".join(str(record.get("prompt") or "(not kept)").split())
    return (
        line(
            (f"{str(record.get('at', ''))[:19].replace('T', ' ')}  ", "dim"),
            f"{record['action']:<8}  ",
            (f"{record['outcome']:<14}  ", "dim"),
            prompt if len(prompt) <= 100 else prompt[:99] + "…",
            (f"  {record['id']}", "dim"),
        ),
    )


def gap_lines(gap: Gap) -> tuple[Line, ...]:
    """Return a question that was not answered: how often, its words, when last, what is close."""
    times = f"{gap.count}×".rjust(4)
    facts = [f"last {gap.last_asked:%Y-%m-%d %H:%M} UTC", gap.near and f"close: {gap.near}"]
    return (
        line((f"{times}  ", "cyan"), " ".join(gap.question.split()) or "(not kept)"),
        dim(f"      {_row([*facts, gap.verdicts[0]])}"),
    )


def counted(number: int, one: str, many: str = "") -> str:
    """Return a number with the word for so many; that for many is `one` with an s if not given."""
    return f"{number} {one if number == 1 else many or f'{one}s'}"


def _said(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _row(facts: Iterable[str]) -> str:
    return "  ".join(fact for fact in facts if fact)
