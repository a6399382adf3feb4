"""The verbs that change a palace: init, remember, note, promote, import.

In: what a person typed. Out: one `Reply` for one call of the facade.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from palace.serve import render
from palace.serve.door import NOT_FOUND, OK, USAGE, Door, Reply, given_text, moment_of, verb

if TYPE_CHECKING:
    from palace import Imported, WriteResult

Kind = Literal["fact", "preference", "procedure", "correction", "negative", "event"]
ImportFormat = Literal["markdown", "obsidian", "turns", "export", "mem0", "chatgpt", "langchain"]
OnConflict = Literal["ask", "keep", "supersede"]
Source = Literal["user", "agent", "system"]
PresetName = Literal["issue_analysis", "health_check", "code_review"]

KindOption = Annotated[Kind, typer.Option(help="What sort of memory it is.")]
ConflictOption = Annotated[
    OnConflict,
    typer.Option(help="When the palace says otherwise: ask first, keep both, retire the older."),
]
ScopeOption = Annotated[str | None, typer.Option(help="Only this project gets to see it.")]
SourceOption = Annotated[Source, typer.Option(help="Whose word it is.")]


def register(app: typer.Typer) -> None:
    """Add the verbs of this module to the command."""
    verb(app, "init", example="palace init ~/.mempalace --sample")(_init)
    verb(app, "remember", example="palace remember 'We shipped 4.1.0 on 2026-03-02.' --room log")(
        _remember
    )
    verb(app, "note", example="palace note 'The tunnel uses port 5432.' --session today")(_note)
    verb(
        app,
        "promote",
        example="palace promote s-01JB2Q7Z --room infra --drawer tunnel -s '...' -r '...'",
    )(_promote)
    verb(app, "import", example="palace import ~/notes")(_import)


def _init(
    door: Door,
    folder: Annotated[
        Path | None, typer.Argument(metavar="ROOT", help="Folder of the palace, as --root.")
    ] = None,
    sample: Annotated[
        bool, typer.Option("--sample", help="Add a few rooms and memories to try it with.")
    ] = False,
    preset: Annotated[
        PresetName | None, typer.Option(help="Add rooms, playbooks and cues for a kind of work.")
    ] = None,
) -> Reply:
    """Make a palace; what exists already stays as it is."""
    if folder is not None:
        door.adopt(folder, None)
    with door.open() as palace:
        made = palace.lay_out(preset=preset, sample=sample)
    usual = door.root is None
    option = "" if usual else f" --root {quote(str(made.root))}"
    lines = [
        render.line(("ready", "green"), f"  {made.root}"),
        *(render.line(f"  made {path}") for path in made.made),
        *(render.dim(f"  kept {path}") for path in made.kept),
        render.line(),
        render.line("Next:"),
        render.line(f"  write who you are into {made.root / 'identity.txt'}"),
        render.line(f"  palace{option} remember 'We shipped 4.1.0 on 2026-03-02.'"),
        render.line(f"  palace{option} ask 'When did we ship 4.1.0?'"),
    ]
    notices = tuple(render.line((text, "yellow")) for text in made.advice)
    return Reply(render.document(made), tuple(lines), notices=notices)


def _remember(
    door: Door,
    text: Annotated[str, typer.Argument(help="One statement; - reads it from standard input.")],
    *,
    room: Annotated[str | None, typer.Option(help="Room, made if needed.")] = None,
    drawer: Annotated[str, typer.Option(help="Drawer of the room, made if needed.")] = "notes",
    kind: KindOption = "fact",
    tag: Annotated[
        list[str] | None, typer.Option(help="Tag, without #; may be given many times.")
    ] = None,
    importance: Annotated[
        float, typer.Option(min=0.0, max=1.0, help="From 0 to 1; decides what wakes up first.")
    ] = 0.5,
    project: ScopeOption = None,
    session: Annotated[str | None, typer.Option(help="Only this session gets to see it.")] = None,
    source: SourceOption = "user",
    provenance: Annotated[str, typer.Option(help="Where it comes from, free text.")] = "",
    confidence: Annotated[
        float, typer.Option(min=0.0, max=1.0, help="From 0 to 1; how sure it is.")
    ] = 1.0,
    valid_from: Annotated[
        str | None, typer.Option(metavar="WHEN", help="From when it holds, an ISO date or time.")
    ] = None,
    valid_to: Annotated[
        str | None, typer.Option(metavar="WHEN", help="Until when it holds; not found afterwards.")
    ] = None,
    trigger: Annotated[
        list[str] | None,
        typer.Option(help="Word or pattern of prompts to attach it to; may be given many times."),
    ] = None,
    key: Annotated[
        str | None, typer.Option(help="Name of its place: a new value supersedes the one there.")
    ] = None,
    on_conflict: ConflictOption = "ask",
) -> Reply:
    """Remember one statement; the very next question finds it.

    Exit code 0 if it is stored or was known already, 1 if the palace says otherwise.
    """
    words = given_text(text)
    with door.open() as palace:
        result = palace.remember(
            words,
            room=room,
            drawer=drawer,
            kind=kind,
            tags=tag or (),
            importance=importance,
            project=project,
            session_id=session,
            source=source,
            provenance=provenance,
            confidence=confidence,
            valid_from=moment_of(valid_from) if valid_from is not None else None,
            valid_to=moment_of(valid_to) if valid_to is not None else None,
            triggers=trigger or (),
            key=key,
            on_conflict=on_conflict,
        )
    return written(result)


def _note(
    door: Door,
    session: Annotated[
        str, typer.Option("--session", envvar="PALACE_SESSION", help="Session it belongs to.")
    ],
    text: Annotated[
        str | None, typer.Argument(help="What to note; - reads it from standard input.")
    ] = None,
    ttl: Annotated[
        float | None, typer.Option("--ttl", help="Seconds until it is forgotten.")
    ] = None,
    show: Annotated[bool, typer.Option("--list", help="List the session's living notes.")] = False,
) -> Reply:
    """Note something for the rest of a session, or list its notes."""
    if (text is None) != show:
        raise typer.BadParameter("give a text to note, or --list without one")
    if text is None:
        with door.existing() as palace:
            notes = palace.notes(session)
        lines = tuple(line for entry in notes for line in render.note_lines(entry))
        notices = () if notes else (render.dim("This session has no living notes."),)
        return Reply({"notes": render.document(notes)}, lines, notices=notices)
    words = given_text(text)
    with door.open() as palace:
        entry = palace.note(words, session_id=session, ttl_s=ttl)
    return Reply(
        {"status": "noted", "note": render.document(entry)},
        (render.line(("noted", "green"), f"  {entry.id}"),),
    )


def _promote(
    door: Door,
    entry_id: Annotated[str, typer.Argument(metavar="ENTRY_ID", help="Id of a living note.")],
    *,
    room: Annotated[str, typer.Option(help="Room of the memory.")],
    drawer: Annotated[str, typer.Option(help="Drawer of the memory.")],
    summary: Annotated[str, typer.Option("--summary", "-s", help="The words of the memory.")],
    reason: Annotated[str, typer.Option("--reason", "-r", help="Why it is worth keeping.")],
    kind: KindOption = "fact",
    project: ScopeOption = None,
    on_conflict: ConflictOption = "ask",
) -> Reply:
    """Turn a session's note into a memory, in words of your own."""
    with door.existing() as palace:
        result = palace.promote_to_palace(
            entry_id,
            room,
            drawer,
            summary=summary,
            reason=reason,
            kind=kind,
            project=project,
            on_conflict=on_conflict,
        )
    return written(result)


def _import(
    door: Door,
    source: Annotated[
        str,
        typer.Argument(
            help="Folder of Markdown, Obsidian vault, .md file, .jsonl of turns, .json export of a"
            " palace, or JSON of ChatGPT, mem0 or LangChain."
        ),
    ],
    *,
    form: Annotated[
        ImportFormat | None, typer.Option("--format", help="What it is, if it is not recognised.")
    ] = None,
    records: Annotated[
        bool,
        typer.Option(
            "--records/--no-records",
            help="Take in the journal, which holds prompts, and notes of sessions, where there are"
            " any.",
        ),
    ] = True,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Write nothing; tell what would happen.")
    ] = False,
) -> Reply:
    """Take in notes, conversations or the export of a palace.

    Doing it again changes nothing, and what is here already is never overwritten. Exit code 2
    if everything was refused.
    """
    opened = door.existing if dry_run else door.open
    with opened() as palace, door.progress("importing") as bar:
        done = palace.import_from(source, form=form, records=records, dry_run=dry_run, progress=bar)
    taken = done.added or done.unchanged or done.records
    return Reply(
        {**render.document(done), "unit": done.unit},
        _import_lines(done),
        OK if taken or not done.refused else USAGE,
    )


def _import_lines(done: Imported) -> tuple[render.Line, ...]:
    what, would = done.unit, " would be" if done.dry_run else ""
    lines = [
        render.line((f"{done.added} {what}{would} added", "green" if done.added else "")),
        render.line(f"{done.unchanged} {what} unchanged"),
        *([render.line(f"{done.records} records{would} added")] if done.records else []),
        render.line((f"{len(done.refused)} refused", "yellow" if done.refused else "")),
        *(render.line(f"  {item.path_or_line}: {item.reason}") for item in done.refused),
    ]
    if done.redacted:
        lines.append(render.line((f"{len(done.redacted)} redacted", "yellow")))
        lines += [render.line(f"  {item.path_or_line}: {item.reason}") for item in done.redacted]
    if done.ignored:
        reasons = Counter(item.reason for item in done.ignored)
        lines.append(render.line(f"{len(done.ignored)} left out"))
        lines += [render.dim(f"  {count} x {reason}") for reason, count in reasons.most_common()]
    return tuple(lines)


def written(result: WriteResult) -> Reply:
    """Return the reply to a write; exit code 1 if the palace says otherwise."""
    document = {"status": result.status, "memory": render.document(result.memory)}
    where = f"  {result.memory.source}  {result.memory.id}"
    if result.status == "stored":
        return Reply(document, (render.line(("stored", "green"), where),))
    if result.status == "duplicate":
        known = (render.line(("duplicate", "yellow"), where), render.line(result.memory.text))
        return Reply(document, known)
    lines = (
        render.line(("conflict", "red"), where),
        render.line(result.memory.text),
        render.line(result.detail),
        render.dim("Nothing was written. Decide with --on-conflict supersede (retire the older"),
        render.dim("memory) or --on-conflict keep (keep both)."),
    )
    return Reply({**document, "detail": result.detail}, lines, NOT_FOUND)
