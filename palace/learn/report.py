"""A report of a period as Markdown: what happened, what was learned, what is missing.

In: entries of the timeline, memories and journal records of the period. Out: a page for a person.
Secrets are left out once more, because files may hold what was written by hand.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta, timezone
from typing import Any, Literal

from palace.learn.archive import name_line, task_session
from palace.learn.consolidate import is_condensed
from palace.learn.gaps import Gaps
from palace.secrets import redact
from palace.text import clip, counted
from palace.text.moments import iso_moment
from palace.types.memory import Memory

By = Literal["day", "week"]
_MAX_ITEM_CHARS = 300
_MAX_ITEMS = 50
_OUTCOMES = {
    "hit": "answered",
    "near_miss": "nearly answered",
    "nothing_stored": "not found",
    "unavailable": "failed",
    "not_recall": "no question for the memory",
}


@dataclass(frozen=True, slots=True)
class Retired:
    """A memory that a correction or a person took out of retrieval.

    Attributes:
        at: When.
        type: `correction` or `forget`.
        memory: What it was, None if it is gone.
        by: What superseded it, if anything did.
        reason: Why, if somebody said so.
    """

    at: datetime
    type: str
    memory: Memory | None
    by: Memory | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class ReportSources:
    """What a report is made from.

    Attributes:
        since: Begin of the period, aware.
        until: Its end, aware.
        timeline: Entries of the timeline that are dated in the period.
        added: Memories that were made in the period.
        imported: Journal records of what was imported in it, memories without a date of their own.
        retired: Memories that were corrected or forgotten in it.
        outcomes: The outcome of every verdict in it.
        gaps: What was asked in it and not found.
    """

    since: datetime
    until: datetime
    timeline: Sequence[Memory]
    added: Sequence[Memory]
    imported: Sequence[Mapping[str, Any]]
    retired: Sequence[Retired]
    outcomes: Sequence[str]
    gaps: Gaps


def compose_report(sources: ReportSources, *, by: By = "day") -> str:
    """Return the report; times are UTC.

    Args:
        sources: Of the period.
        by: One part for each day, or for each week from Monday.
    """
    lines = [f"# Report {sources.since:%Y-%m-%d} to {sources.until:%Y-%m-%d}", ""]
    lines += _overview(sources)
    for first, title in _parts(sources, by):
        last = first + timedelta(days=1 if by == "day" else 7)
        part = list(_part(sources, first, last))
        if part:
            lines += ["", f"## {title}", *part]
    lines += _gap_lines(sources.gaps)
    return redact("\n".join(lines)) + "\n"


def retired_in(
    records: Sequence[Mapping[str, Any]], get: Mapping[str, Memory]
) -> Iterator[Retired]:
    """Yield what journal records of corrections and forgetting tell, in their order.

    What a new memory superseded is corrected, whatever wrote it.

    Args:
        records: Of the journal; other types are skipped, and what was taken back too.
        get: Memories by id, as far as they are still there.
    """
    undone = {record.get("undoes") for record in records if record.get("type") == "undo"}
    for record in records:
        if record.get("id") in undone:
            continue
        at = iso_moment(str(record["at"]))
        if record.get("type") in ("correction", "forget"):
            yield Retired(
                at=at,
                type=str(record["type"]),
                memory=next((get[i] for i in _ids_of(record) if i in get), None),
                by=get.get(str(record.get("superseded_by"))),
                reason=str(record.get("reason") or ""),
            )
        elif record.get("type") in ("remember", "promotion"):
            changed = {str(s.get("memory")) for s in record.get("steps") or ()} & get.keys()
            for old in (get[i] for i in sorted(changed)):
                if old.superseded_by == record.get("memory"):
                    yield Retired(at, "correction", old, get.get(old.superseded_by))


def _ids_of(record: Mapping[str, Any]) -> Iterator[str]:
    """Yield the id of what a record retired, and the one that hand-written words got by that."""
    yield str(record.get("memory"))
    for step in record.get("steps") or ():
        if step.get("did") == "changed" and step.get("before") is None:
            yield str(step.get("memory"))


def _overview(sources: ReportSources) -> Iterator[str]:
    ended = Counter(sources.outcomes)
    told = ", ".join(f"{ended[key]} {word}" for key, word in _OUTCOMES.items() if ended[key])
    yield f"- Prompts: {len(sources.outcomes)}" + (f" ({told})" if told else "")
    kinds = Counter(item.type for item in sources.retired)
    imported = sum(_number(record, "memories") for record in sources.imported)
    yield (
        f"- Memories: {len(sources.added) + imported} added"
        + (f" ({imported} of them imported)" if imported else "")
        + f", {kinds['correction']} corrected, {kinds['forget']} forgotten"
    )
    sessions = len({m.session for m in sources.timeline if _is_of_session(m)})
    entries = counted(len(sources.timeline), "entry", "entries")
    yield f"- Timeline: {entries} of {counted(sessions, 'session')}"


def _parts(sources: ReportSources, by: By) -> Iterator[tuple[date, str]]:
    dated = [*sources.timeline, *sources.added]
    moments = [*(m.created for m in dated if m.created), *(item.at for item in sources.retired)]
    moments += [iso_moment(str(record["at"])) for record in sources.imported]
    days = {moment.astimezone(timezone.utc).date() for moment in moments}
    if by == "week":
        days = {day - timedelta(days=day.weekday()) for day in days}
    for day in sorted(days):
        yield day, f"{day:%Y-%m-%d}, {day:%A}" if by == "day" else f"Week of {day:%Y-%m-%d}"


def _part(sources: ReportSources, first: date, last: date) -> Iterator[str]:
    def within(when: datetime | None) -> bool:
        return when is not None and first <= when.astimezone(timezone.utc).date() < last

    happened = [m for m in sources.timeline if within(m.created)]
    yield from _section("What happened", _happened(happened))
    added = [m for m in sources.added if within(m.created)]
    yield from _section("Added", (f"- {_said(m.text)} (`{m.source}`)" for m in added))
    brought = [r for r in sources.imported if within(iso_moment(str(r["at"])))]
    yield from _section("Imported", [line for r in brought for line in _imported(r)])
    gone = [item for item in sources.retired if within(item.at)]
    corrected = (_correction(item) for item in gone if item.type == "correction")
    yield from _section("Corrected", corrected)
    yield from _section("Forgotten", (_forgotten(i) for i in gone if i.type == "forget"))


def _section(title: str, items: Iterable[str]) -> list[str]:
    lines = list(items)
    more = [f"- … and {len(lines) - _MAX_ITEMS} more"] if len(lines) > _MAX_ITEMS else []
    return ["", f"### {title}", "", *lines[:_MAX_ITEMS], *more] if lines else []


def _happened(entries: Sequence[Memory]) -> Iterator[str]:
    """Yield condensed entries and tasks with their words, verbatim turns as a number."""
    turns = Counter(m.session for m in entries if not _is_told(m))
    for memory in sorted(entries, key=lambda m: (str(m.created), m.position)):
        if _is_told(memory):
            at = f"{memory.created:%H:%M}" if memory.created else ""
            yield f"- {at} {', '.join(_headings(memory))}".rstrip()
            yield from (f"  - {_said(line)}" for line in _words(memory))
    for session, number in sorted(turns.items()):
        yield f"- {_said(session) or 'no session'}: {counted(number, 'turn')} said"


def _headings(memory: Memory) -> Iterator[str]:
    """Yield the session and the task of an entry, as far as it has them."""
    if _is_of_session(memory):
        yield _said(memory.session)
    if memory.task:
        yield f"task {_said(memory.task)}"


def _is_of_session(memory: Memory) -> bool:
    """Whether an entry is of a session, and not of a task that ended in none."""
    return memory.session not in ("", task_session(memory.task))


def _is_told(memory: Memory) -> bool:
    return is_condensed(memory) or memory.provenance == "task"


def _words(memory: Memory) -> Iterator[str]:
    lines = [line.strip().removeprefix("- ") for line in memory.text.splitlines()]
    if lines[0] == name_line(memory.task):
        lines = lines[1:]  # the heading tells the name already
    yield from [line for line in lines if line][:_MAX_ITEMS]


def _imported(record: Mapping[str, Any]) -> Iterator[str]:
    """Yield what an import brought; turns and what has a date of its own are told elsewhere."""
    memories, updated = _number(record, "memories"), _number(record, "updated")
    told = [counted(memories, "memory", "memories")] if memories else []
    told += [f"{counted(updated, 'file')} brought up to date"] if updated else []
    if told:
        yield f"- {', '.join(told)} ({_said(str(record.get('kind')))})"


def _number(record: Mapping[str, Any], name: str) -> int:
    number = record.get(name)
    return number if isinstance(number, int) else 0


def _correction(item: Retired) -> str:
    old = _said(item.memory.text) if item.memory else "a memory that is gone"
    new = f" → {_said(item.by.text)} (`{item.by.source}`)" if item.by else ""
    return f"- {old}{new}"


def _forgotten(item: Retired) -> str:
    # What is forgotten is not told again; where it stands is enough to look it up.
    where = f"`{item.memory.source}`" if item.memory else "a memory that is gone"
    return f"- {where}{f': {_said(item.reason)}' if item.reason else ''}"


def _gap_lines(gaps: Gaps) -> Iterator[str]:
    lines = [
        f"- {gap.count}× {_said(gap.question) or '(not kept)'}, last {gap.last_asked:%Y-%m-%d}"
        + (f", close to `{gap.near}`" if gap.near else "")
        for gap in gaps.gaps
    ]
    if gaps.not_kept:
        unanswered = counted(gaps.not_kept, "unanswered question")
        lines.append(f"- {unanswered}, the words not kept")
    if lines:
        yield from ("", "## Asked and not found", "", *lines[:_MAX_ITEMS])


def _said(text: str) -> str:
    return clip(text, _MAX_ITEM_CHARS).replace("<!--", "&lt;!--")
