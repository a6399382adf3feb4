"""The verbs that keep memories right: correct, forget, tag, link, undo, history, feedback.

In: what a person typed. Out: one `Reply` for one call of the facade.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from palace.serve import render
from palace.serve.commands_write import Source, source_option, written
from palace.serve.door import (
    NOT_FOUND,
    Door,
    Reply,
    argument,
    given_text,
    project_option,
    session_option,
    verb,
)

if TYPE_CHECKING:
    from palace import Memory

id_argument = argument(
    "memory_id", metavar="ID", help="Id of a memory, or enough of its beginning."
)
reason_option = click.option(
    "-r", "--reason", default="", show_default=False, help="Why, free text."
)


@verb("correct", example="palace correct m-01JB2Q7Z 'We shipped 4.1.0 on 2026-03-03.'")
@argument(
    "memory_id",
    metavar="ID",
    help="Id of a memory, or enough of its beginning; or `last`.",
)
@argument("text", help="The whole statement as it is right; - reads standard input.")
@reason_option
@source_option
@session_option(help="For `last`: the conversation.")
@project_option(help="For `last`: the project it was asked for in.")
def _correct(
    door: Door,
    *,
    memory_id: str,
    text: str,
    reason: str,
    source: Source,
    session: str | None,
    project: str | None,
) -> Reply:
    """Replace a memory by the right words.

    The old ones stay readable, and no question finds them. Exit code 1 if somebody else's
    correction contradicts a third memory: then nothing is written. `last` stands for what the last
    answer of a session used, and takes words such as "no, it is 5433, not 5432".
    """
    words = given_text(text)
    with door.existing() as palace:
        if memory_id != "last":
            corrected = palace.correct(memory_id, words, source=source, reason=reason)
            return written(corrected, ways=("source",), said=words)
        if not session:
            raise click.BadParameter("`last` needs the --session of the conversation")
        result = palace.correct_last(words, session, project=project)
    if result.status != "unclear":
        return written(result, ways=())
    lines = [render.line((result.question, "yellow"))]
    lines += [row for memory in result.candidates for row in render.memory_lines(memory)]
    return Reply(render.document(result), tuple(lines), NOT_FOUND)


@verb("forget", example="palace forget m-01JB2Q7Z --reason 'no longer true'")
@id_argument
@reason_option
@click.option("--erase", is_flag=True, help="Remove its words for good; this cannot be undone.")
def _forget(door: Door, memory_id: str, reason: str, erase: bool) -> Reply:
    """Retire a memory, or erase it.

    No question finds a retired memory; it stays readable in its file. With --erase its words go
    from files, index, notes and journal, older versions included.
    """
    with door.existing() as palace:
        if not erase:
            gone = palace.forget(memory_id, reason=reason)
            left = palace.still_said(gone)
            reply = _changed("forgotten", gone)
            reply.document["remaining"] = [m.source for m in left]
            return replace(reply, notices=_remaining(f"{m.source}  {m.id}" for m in left))
        done = palace.erase(memory_id, reason=reason)
    lines = [render.line(("erased", "green"), f"  {identifier}") for identifier in done.erased]
    return Reply(render.document(done), tuple(lines), notices=_remaining(done.remaining))


def _remaining(places: Iterable[str]) -> tuple[render.Line, ...]:
    return tuple(render.line(("the same words still stand in ", "yellow"), x) for x in places)


@verb("tag", example="palace tag m-01JB2Q7Z release urgent --remove draft")
@id_argument
@argument("tags", metavar="[TAG]...", nargs=-1, help="Tags to add, # or not.")
@click.option("--remove", multiple=True, help="Tag to remove; may be given many times.")
def _tag(door: Door, memory_id: str, tags: tuple[str, ...], remove: tuple[str, ...]) -> Reply:
    """Add tags to a memory or remove them; its words stay."""
    if not tags and not remove:
        raise click.BadParameter("name a tag to add, or --remove one")
    with door.existing() as palace:
        memory = palace.tag(memory_id, tags, remove=remove)
    return _changed("tagged", memory)


@verb("link", example="palace link m-01JB2Q7Z architecture/database")
@id_argument
@argument("target", help="Id of another memory, or room/drawer.")
@click.option("--remove", is_flag=True, help="Remove the link.")
def _link(door: Door, memory_id: str, target: str, remove: bool) -> Reply:
    """Link a memory to another one or to a drawer.

    `palace show` follows links, in either direction.
    """
    with door.existing() as palace:
        memory = palace.link(memory_id, target, remove=remove)
    return _changed("unlinked" if remove else "linked", memory, to=target)


@verb("undo", example="palace undo")
@argument("event", required=False, help="Id of a change, see `history`; else the last one.")
def _undo(door: Door, event: str | None) -> Reply:
    """Take back the last change, or a given one.

    Exit code 1 if there is none. Later changes of the same memory must be taken back first.
    """
    with door.existing() as palace:
        done = palace.undo(event)
    lines = [render.line(("undone", "green"), f"  {done.verb}  {done.event}")]
    lines += [render.line(f"  gone again: {identifier}") for identifier in done.removed]
    for memory in done.restored:
        lines += render.memory_lines(memory)
    if not (done.removed or done.restored):
        lines.append(render.line("  nothing is left of it: its memory was taken out by hand"))
    return Reply(render.document(done), tuple(lines))


@verb("history", example="palace history m-01JB2Q7Z")
@id_argument
def _history(door: Door, memory_id: str) -> Reply:
    """Show every version of a memory and the changes made."""
    with door.existing() as palace:
        past = palace.history(memory_id)
        strengths = {memory.id: palace.strength(memory) for memory in past.versions}
    lines = []
    for memory in past.versions:
        lines += [*render.memory_lines(memory), render.strength_line(strengths[memory.id])]
    lines += [render.dim(_event_line(event)) for event in past.events]
    return Reply({**render.document(past), "strengths": strengths}, tuple(lines))


@verb("feedback", example="palace feedback m-01JB2Q7Z --not-helpful")
@argument(
    "target",
    metavar="ID",
    help="Id of a memory, or of a verdict for all that it used; or its start.",
)
@click.option("--helpful/--not-helpful", default=None, help="Did it help? One is required.")
@reason_option
def _feedback(door: Door, *, target: str, helpful: bool | None, reason: str) -> Reply:
    """Say whether a memory helped.

    It moves the memory's strength, and with it the order in which a session wakes up. Nothing is
    removed or hidden by it.
    """
    if helpful is None:  # click would name the first of the two alone
        raise click.BadParameter("say --helpful or --not-helpful")
    with door.existing() as palace:
        noted = palace.feedback(target, helpful, reason=reason)
    lines = [render.line(("noted", "green"), f"  {'helpful' if helpful else 'not helpful'}")]
    for memory in noted.memories:
        lines += render.memory_lines(memory)
        lines.append(render.strength_line(noted.strengths[memory.id]))
    return Reply(render.document(noted), tuple(lines))


VERBS = (_correct, _forget, _tag, _link, _undo, _history, _feedback)


def _event_line(event: object) -> str:
    record = render.document(event)
    when = str(record["at"])[:19].replace("T", " ")
    why = f"  {record['reason']}" if record.get("reason") else ""
    return f"{when}  {record['type']}  {record['id']}{why}"


def _changed(what: str, memory: Memory, *, to: str = "") -> Reply:
    lines = (render.line((what, "green"), to and f"  {to}"), *render.memory_lines(memory))
    return Reply({"status": what, "memory": render.document(memory)}, lines)
