"""The verbs that ask a palace: ask, search, list, show, wakeup, journal, why.

In: what a person typed. Out: one `Reply` for one call of the facade; nothing is written but the
journal.
"""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from palace import MemoryNotFoundError, UnsafeNameError
from palace.serve import render
from palace.serve.door import (
    NOT_FOUND,
    OK,
    PATH,
    Door,
    Reply,
    argument,
    end_of,
    given_prompt,
    limit_option,
    moment_of,
    project_option,
    session_option,
    since_option,
    verb,
)

if TYPE_CHECKING:
    from palace import Mempalace

reader_session = session_option(help="Session whose notes and memories may be read.")
search_session = session_option(help="Session whose memories may be read; notes are not searched.")
reader_project = project_option(help="Project whose memories may be read.")
as_of_option = click.option(
    "--as-of", metavar="WHEN", help="The state of then: an ISO date or time, 30d, 2w."
)
_UNSURE = frozenset({"fallback", "confirm"})


@verb("ask", example="palace ask 'When did we ship 4.1.0?'")
@argument("prompt", help="What was said; - reads it from standard input.")
@reader_session
@reader_project
@click.option(
    "--history",
    type=PATH,
    help="Earlier messages {role, content}: a JSON list, or one a line.",
)
@as_of_option
def _ask(
    door: Door,
    *,
    prompt: str,
    session: str | None,
    project: str | None,
    history: Path | None,
    as_of: str | None,
) -> Reply:
    """Quote what is remembered, or say honestly that nothing is.

    No model is called. Exit code 0 for evidence and for a prompt that goes to the model as it is, 1
    for a fallback or a near miss.
    """
    from palace import RetrievalEnforcer

    messages = []
    if history is not None:
        from palace import read_history

        messages = read_history(history.expanduser())
    with door.existing() as palace:
        verdict = RetrievalEnforcer(palace).decide(
            given_prompt(prompt),
            session_id=session,
            project=project,
            history=messages,
            as_of=end_of(as_of) if as_of is not None else None,
        )
    code = NOT_FOUND if verdict.action in _UNSURE else OK
    return Reply(verdict.as_dict(), render.verdict_lines(verdict), code)


@verb("search", example="palace search 'release date' -k 5")
@argument("prompt", metavar="TEXT", help="What to look for; - reads standard input.")
@click.option("-k", "--top-k", type=click.IntRange(1, 1000), help="Most hits.")
@search_session
@reader_project
@as_of_option
def _search(
    door: Door,
    *,
    prompt: str,
    top_k: int | None,
    session: str | None,
    project: str | None,
    as_of: str | None,
) -> Reply:
    """Show the nearest memories of any text, with their scores.

    Unlike `ask`, this never judges whether they answer anything. Exit code 1 if there are none.
    """
    with door.existing() as palace:
        hits = palace.search(
            given_prompt(prompt),
            top_k=top_k,
            session_id=session,
            project=project,
            as_of=end_of(as_of) if as_of is not None else None,
        )
    lines = [line for hit in hits for line in render.hit_lines(hit)]
    notices = () if hits else (render.dim("Nothing in the palace is near to this."),)
    return Reply({"hits": render.document(hits)}, tuple(lines), OK if hits else NOT_FOUND, notices)


@verb("list", example="palace list releases --drawer notes")
@argument("room", required=False, help="Room to list; all rooms are counted without it.")
@click.option("--drawer", help="Only this drawer of the room.")
@click.option("--all", "everything", is_flag=True, help="Superseded and inactive memories too.")
def _list(door: Door, room: str | None, drawer: str | None, everything: bool) -> Reply:
    """List the rooms, or the memories of one room."""
    with door.existing() as palace:
        if room is None and drawer is None:
            rooms = _room_documents(palace, everything)
            return Reply({"rooms": rooms}, render.room_lines(rooms))
        memories = palace.memories(room=room, drawer=drawer, include_inactive=everything)
    lines = [line for memory in memories for line in render.memory_lines(memory)]
    notices = () if memories else (render.dim("There are no memories here."),)
    return Reply({"memories": render.document(memories)}, tuple(lines), notices=notices)


@verb("show", example="palace show m-01JB2Q7Z")
@argument(
    "name",
    metavar="ID",
    help="Id of a memory, or its beginning, `identity`, or a playbook's name.",
)
def _show(door: Door, name: str) -> Reply:
    """Show all of one memory, the identity or a playbook."""
    with door.existing() as palace:
        if name == "identity":
            identity = palace.identity
            used = f"{identity.chars} of {identity.limit} characters ({identity.used_percent} %)"
            text = tuple(render.line(part) for part in identity.text.splitlines())
            return Reply(render.document(identity), text, notices=(render.dim(used),))
        with suppress(MemoryNotFoundError, UnsafeNameError):
            playbook = palace.playbook_files.get(name)
            return Reply(render.document(playbook), render.playbook_lines(playbook))
        memory = palace.get(name)
        linked = palace.linked(memory.id)
        strength = palace.strength(memory)
    document = {**render.document(memory), "linked": render.document(linked), "strength": strength}
    return Reply(document, render.whole_memory_lines(memory, linked, strength=strength))


@verb("wakeup", example="palace wakeup --session today --project site")
@session_option(required=True, help="Session that starts.")
@reader_project
@click.option("--budget", type=click.IntRange(min=0), help="Most estimated tokens of the text.")
def _wakeup(door: Door, session: str, project: str | None, budget: int | None) -> Reply:
    """Print what a session starts with, within a budget.

    What was left out, and how much of the budget is used, is said on standard error.
    """
    with door.existing() as palace:
        wake_up = palace.wake_up(session, project, budget)
    notices = [render.dim(f"{wake_up.used_tokens} of {wake_up.budget_tokens} tokens used")]
    notices += [render.dim(f"left out: {reason}") for reason in wake_up.left_out]
    lines = tuple(render.line(text) for text in wake_up.text.splitlines())
    return Reply(render.document(wake_up), lines, notices=tuple(notices))


@verb("journal", example="palace journal -n 5 --since 7d")
@limit_option(help="Most records.")
@since_option()
def _journal(door: Door, limit: int, since: str | None) -> Reply:
    """List what was decided lately, newest first; times are UTC."""
    moment = moment_of(since) if since is not None else None
    with door.existing() as palace:
        records = palace.verdicts(limit=limit, since=moment)
    lines = [line for record in records for line in render.record_lines(record)]
    notices = () if records else (render.dim("The journal has no verdicts of this time."),)
    return Reply({"records": records}, tuple(lines), notices=notices)


@verb("why", example="palace why")
@argument(
    "verdict_id",
    metavar="[ID]",
    required=False,
    help="Id of a verdict, or its beginning; else the last verdict.",
)
def _why(door: Door, verdict_id: str | None) -> Reply:
    """Show every step of a decision, the last one by default."""
    from palace import explain_trace

    with door.existing() as palace:
        record = palace.verdict(verdict_id)
    return Reply(record, tuple(render.line(text) for text in explain_trace(record).splitlines()))


VERBS = (_ask, _search, _list, _show, _wakeup, _journal, _why)


def _room_documents(palace: Mempalace, everything: bool) -> list[dict[str, Any]]:
    drawers: dict[str, Counter[str]] = {found.name: Counter() for found in palace.rooms()}
    for memory in palace.memories(include_inactive=everything):
        if memory.room in drawers:  # pages of the timeline are in none
            drawers[memory.room][memory.drawer] += 1
    return [
        {"name": name, "memories": held.total(), "drawers": list(held)}
        for name, held in drawers.items()
    ]
