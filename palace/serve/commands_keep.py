"""The verbs that keep memories right: correct, forget, tag, link, undo, history, feedback.

In: what a person typed. Out: one `Reply` for one call of the facade.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from palace.serve import render
from palace.serve.commands_write import SourceOption, written
from palace.serve.door import NOT_FOUND, Door, Reply, given_text, verb

if TYPE_CHECKING:
    from palace import Memory

IdArgument = Annotated[
    str, typer.Argument(metavar="ID", help="Id of a memory, or enough of its beginning.")
]
ReasonOption = Annotated[str, typer.Option("--reason", "-r", help="Why, free text.")]


def register(app: typer.Typer) -> None:
    """Add the verbs of this module to the command."""
    verb(app, "correct", example="palace correct m-01JB2Q7Z 'We shipped 4.1.0 on 2026-03-03.'")(
        _correct
    )
    verb(app, "forget", example="palace forget m-01JB2Q7Z --reason 'no longer true'")(_forget)
    verb(app, "tag", example="palace tag m-01JB2Q7Z release urgent --remove draft")(_tag)
    verb(app, "link", example="palace link m-01JB2Q7Z architecture/database")(_link)
    verb(app, "undo", example="palace undo")(_undo)
    verb(app, "history", example="palace history m-01JB2Q7Z")(_history)
    verb(app, "feedback", example="palace feedback m-01JB2Q7Z --not-helpful")(_feedback)


def _correct(
    door: Door,
    memory_id: Annotated[
        str,
        typer.Argument(metavar="ID", help="Id of a memory, or enough of its beginning; or `last`."),
    ],
    text: Annotated[
        str, typer.Argument(help="The whole statement as it is right; - reads standard input.")
    ],
    *,
    reason: ReasonOption = "",
    source: SourceOption = "user",
    session: Annotated[
        str | None,
        typer.Option("--session", envvar="PALACE_SESSION", help="For `last`: the conversation."),
    ] = None,
) -> Reply:
    """Replace a memory by the right words.

    The old ones stay readable, and no question finds them. Exit code 1 if somebody else's
    correction contradicts a third memory: then nothing is written. `last` stands for what the last
    answer of a session used, and takes words such as "no, it is 5433, not 5432".
    """
    words = given_text(text)
    with door.existing() as palace:
        if memory_id != "last":
            return written(palace.correct(memory_id, words, source=source, reason=reason))
        if not session:
            raise typer.BadParameter("`last` needs the --session of the conversation")
        result = palace.correct_last(words, session)
    if result.status != "unclear":
        return written(result)
    lines = [render.line((result.question, "yellow"))]
    lines += [row for memory in result.candidates for row in render.memory_lines(memory)]
    return Reply(render.document(result), tuple(lines), NOT_FOUND)


def _forget(
    door: Door,
    memory_id: IdArgument,
    reason: ReasonOption = "",
    erase: Annotated[
        bool,
        typer.Option("--erase", help="Remove its words for good; this cannot be undone."),
    ] = False,
) -> Reply:
    """Retire a memory, or erase it.

    No question finds a retired memory; it stays readable in its file. With --erase its words go
    from files, index, notes and journal, older versions included.
    """
    with door.existing() as palace:
        if not erase:
            gone = palace.forget(memory_id, reason=reason)
            return _changed("forgotten", gone)
        done = palace.erase(memory_id, reason=reason)
    notices = [
        render.line(("the same words still stand in ", "yellow"), place) for place in done.remaining
    ]
    lines = [render.line(("erased", "green"), f"  {identifier}") for identifier in done.erased]
    return Reply(render.document(done), tuple(lines), notices=tuple(notices))


def _tag(
    door: Door,
    memory_id: IdArgument,
    tags: Annotated[
        list[str] | None, typer.Argument(metavar="[TAG]...", help="Tags to add, # or not.")
    ] = None,
    remove: Annotated[
        list[str] | None, typer.Option(help="Tag to remove; may be given many times.")
    ] = None,
) -> Reply:
    """Add tags to a memory or remove them; its words stay."""
    if not tags and not remove:
        raise typer.BadParameter("name a tag to add, or --remove one")
    with door.existing() as palace:
        memory = palace.tag(memory_id, tags or (), remove=remove or ())
    return _changed("tagged", memory)


def _link(
    door: Door,
    memory_id: IdArgument,
    target: Annotated[str, typer.Argument(help="Id of another memory, or room/drawer.")],
    remove: Annotated[bool, typer.Option("--remove", help="Remove the link.")] = False,
) -> Reply:
    """Link a memory to another one or to a drawer.

    `palace show` follows links, in either direction.
    """
    with door.existing() as palace:
        memory = palace.link(memory_id, target, remove=remove)
    return _changed("unlinked" if remove else "linked", memory)


def _undo(
    door: Door,
    event: Annotated[
        str | None,
        typer.Argument(metavar="EVENT", help="Journal id of a change; else the last one."),
    ] = None,
) -> Reply:
    """Take back the last change, or a given one.

    Exit code 1 if there is none. Later changes of the same memory must be taken back first.
    """
    with door.existing() as palace:
        done = palace.undo(event)
    lines = [render.line(("undone", "green"), f"  {done.verb}  {done.event}")]
    lines += [render.line(f"  gone again: {identifier}") for identifier in done.removed]
    for memory in done.restored:
        lines += render.memory_lines(memory)
    return Reply(render.document(done), tuple(lines))


def _history(door: Door, memory_id: IdArgument) -> Reply:
    """Show every version of a memory and the changes made."""
    with door.existing() as palace:
        past = palace.history(memory_id)
        strengths = {memory.id: palace.strength(memory) for memory in past.versions}
    lines = []
    for memory in past.versions:
        lines += [*render.memory_lines(memory), render.strength_line(strengths[memory.id])]
    lines += [render.dim(_event_line(event)) for event in past.events]
    return Reply({**render.document(past), "strengths": strengths}, tuple(lines))


def _feedback(
    door: Door,
    target: Annotated[
        str,
        typer.Argument(
            metavar="ID", help="Id of a memory, or of a verdict for all that it used; or its start."
        ),
    ],
    *,
    helpful: Annotated[bool, typer.Option("--helpful/--not-helpful", help="Did it help?")],
    reason: ReasonOption = "",
) -> Reply:
    """Say whether a memory helped.

    It moves the memory's strength, and with it the order in which a session wakes up. Nothing is
    removed or hidden by it.
    """
    with door.existing() as palace:
        noted = palace.feedback(target, helpful, reason=reason)
    lines = [render.line(("noted", "green"), f"  {'helpful' if helpful else 'not helpful'}")]
    for memory in noted.memories:
        lines += render.memory_lines(memory)
        lines.append(render.strength_line(noted.strengths[memory.id]))
    return Reply(render.document(noted), tuple(lines))


def _event_line(event: object) -> str:
    record = render.document(event)
    when = str(record["at"])[:19].replace("T", " ")
    why = f"  {record['reason']}" if record.get("reason") else ""
    return f"{when}  {record['type']}  {record['id']}{why}"


def _changed(what: str, memory: Memory) -> Reply:
    lines = (render.line((what, "green")), *render.memory_lines(memory))
    return Reply({"status": what, "memory": render.document(memory)}, lines)
