"""The verbs that change a palace: init, remember, note, promote, import.

In: what a person typed. Out: one `Reply` for one call of the facade.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any, Literal, get_args

import click

from palace.serve import render
from palace.serve.door import (
    NOT_FOUND,
    OK,
    PATH,
    USAGE,
    Door,
    Reply,
    argument,
    end_of,
    given_text,
    moment_of,
    session_option,
    verb,
)

if TYPE_CHECKING:
    from palace import Conflict, Imported, WriteResult

ImportFormat = Literal[
    "markdown",
    "obsidian",
    "turns",
    "export",
    "mem0",
    "chatgpt",
    "claude",
    "keep",
    "langchain",
    "slack",
    "whatsapp",
]
Source = Literal["user", "agent", "system"]
PresetName = Literal["issue_analysis", "health_check", "code_review"]

KINDS = ("fact", "preference", "procedure", "correction", "negative", "event")
WAYS = ("ask", "keep", "supersede")
SHARE = click.FloatRange(0.0, 1.0)
_SHOWN = 20
_NAMED = 3  # of the files that an import leaves out for one reason
kind_option = click.option(
    "--kind", type=click.Choice(KINDS), default="fact", help="What sort of memory it is."
)
conflict_option = click.option(
    "--on-conflict",
    type=click.Choice(WAYS),
    default="ask",
    help="When the palace says otherwise: ask first, keep both, retire the older.",
)
scope_option = click.option("--project", help="Only this project gets to see it.")
source_option = click.option(
    "--source", type=click.Choice(get_args(Source)), default="user", help="Whose word it is."
)


@verb("init", example="palace init ~/.mempalace --sample")
@argument(
    "folder", type=PATH, metavar="[ROOT]", required=False, help="Folder of the palace, as --root."
)
@click.option("--sample", is_flag=True, help="Add a few rooms and memories to try it with.")
@click.option(
    "--preset",
    type=click.Choice(get_args(PresetName)),
    help="Add rooms, playbooks and cues for a kind of work.",
)
def _init(door: Door, folder: Path | None, sample: bool, preset: PresetName | None) -> Reply:
    """Make a palace; what exists already stays as it is."""
    if folder is not None:
        door.root = folder
    with door.open() as palace:
        made = palace.lay_out(preset=preset, sample=sample)
    usual = door.root is None
    option = "" if usual else f" --root {quote(str(made.root))}"
    lines = [
        render.line(("ready", "green"), f"  {made.root}"),
        *(render.line(f"  made {path}") for path in made.made),
        *(render.dim(f"  kept {path}") for path in made.kept[:_SHOWN]),
        *([render.dim(f"  kept {more} more")] if (more := len(made.kept) - _SHOWN) > 0 else []),
        render.line(),
        render.line("Next:"),
        render.line(f"  say who the agent is, and its rules, in {made.root / 'identity.txt'}"),
        render.line(f"  palace{option} remember 'We shipped 4.1.0 on 2026-03-02.'"),
        render.line(f"  palace{option} ask 'When did we ship 4.1.0?'"),
    ]
    notices = tuple(render.line((text, "yellow")) for text in made.advice)
    return Reply(render.document(made), tuple(lines), notices=notices)


@verb("remember", example="palace remember 'We shipped 4.1.0 on 2026-03-02.' --room log")
@argument("text", help="One statement; - reads it from standard input.")
@click.option("--room", help="Room, made if needed.")
@click.option("--drawer", default="notes", help="Drawer of the room, made if needed.")
@kind_option
@click.option("--tag", multiple=True, help="Tag, without #; may be given many times.")
@click.option(
    "--importance", type=SHARE, default=0.5, help="From 0 to 1; decides what wakes up first."
)
@scope_option
@click.option("--session", help="Only this session gets to see it.")
@source_option
@click.option(
    "--provenance", default="", show_default=False, help="Where it comes from, free text."
)
@click.option("--confidence", type=SHARE, default=1.0, help="From 0 to 1; how sure it is.")
@click.option("--valid-from", metavar="WHEN", help="From when it holds, an ISO date or time.")
@click.option(
    "--valid-to", metavar="WHEN", help="Until when it holds, a date included; not found afterwards."
)
@click.option(
    "--trigger",
    multiple=True,
    help="Word or pattern of prompts to attach it to; may be given many times.",
)
@click.option("--key", help="Name of its place: a new value supersedes the one there.")
@conflict_option
def _remember(
    door: Door,
    *,
    text: str,
    tag: tuple[str, ...],
    trigger: tuple[str, ...],
    session: str | None,
    valid_from: str | None,
    valid_to: str | None,
    **fields: Any,  # noqa: ANN401 - named as the facade names them
) -> Reply:
    """Remember one statement; the very next question finds it.

    Exit code 0 if it is stored or was known already, 1 if the palace says otherwise.
    """
    words = given_text(text)
    with door.open() as palace:
        result = palace.remember(
            words,
            tags=tag,
            triggers=trigger,
            session_id=session,
            valid_from=moment_of(valid_from, spans=False) if valid_from is not None else None,
            valid_to=end_of(valid_to, spans=False) if valid_to is not None else None,
            **fields,
        )
    ways = ("source",) if fields["key"] else ("source", "on_conflict")
    return written(result, ways=ways, said=words)


@verb("note", example="palace note 'The tunnel uses port 5432.' --session today")
@argument("text", required=False, help="What to note; - reads it from standard input.")
@session_option(required=True, help="Session it belongs to.")
@click.option("--ttl", type=float, help="Seconds until it is forgotten.")
@click.option("--list", "show", is_flag=True, help="List the session's living notes.")
def _note(door: Door, text: str | None, session: str, ttl: float | None, show: bool) -> Reply:
    """Note something for the rest of a session, or list its notes."""
    if (text is None) != show:
        raise click.BadParameter("give a text to note, or --list without one")
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
        (render.line(("noted", "green"), f"  {entry.id}"), *_as_kept(words, entry.text)),
    )


@verb("promote", example="palace promote s-01JB2Q7Z --room infra --drawer tunnel -s '...' -r '...'")
@argument("entry_id", help="Id of a living note; `note --list` shows it.")
@click.option("--room", required=True, help="Room of the memory.")
@click.option("--drawer", required=True, help="Drawer of the memory.")
@click.option("-s", "--summary", required=True, help="The words of the memory.")
@click.option("-r", "--reason", required=True, help="Why it is worth keeping.")
@kind_option
@scope_option
@conflict_option
def _promote(door: Door, *, entry_id: str, **fields: Any) -> Reply:  # noqa: ANN401 - as above
    """Turn a session's note into a memory, in words of your own."""
    with door.existing() as palace:
        result = palace.promote_to_palace(entry_id, **fields)
    return written(result, ways=("on_conflict",), said=fields["summary"])


@verb("import", example="palace import ~/notes")
@argument(
    "source",
    type=PATH,
    help="Folder of Markdown, Obsidian vault, .md file, .jsonl of turns, .json export of a"
    " palace, or what ChatGPT, Claude, Google Keep, LangChain, mem0, Slack or WhatsApp exports.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(get_args(ImportFormat)),
    help="What it is, if it is not recognised.",
)
@click.option(
    "--records/--no-records",
    default=True,
    help="Take in the journal, which holds prompts, and notes of sessions, where there are any.",
)
@click.option(
    "--update",
    is_flag=True,
    help="Take notes that were edited where they came from, where nobody touched them here.",
)
@click.option("--dry-run", is_flag=True, help="Write nothing; tell what would happen.")
def _import(
    door: Door,
    *,
    source: Path,
    form: ImportFormat | None,
    records: bool,
    **how: bool,
) -> Reply:
    """Take in notes, conversations or the export of a palace.

    Doing it again changes nothing, and what is here already is overwritten by --update alone.
    Exit code 2 if everything was refused.
    """
    opened = door.existing if how["dry_run"] else door.open
    with opened() as palace, door.progress("importing") as bar:
        done = palace.import_from(source, form=form, records=records, progress=bar, **how)
    taken = done.added or done.updated or done.unchanged or done.records
    return Reply(
        {**render.document(done), "unit": done.unit},
        _import_lines(done),
        OK if taken or not done.refused else USAGE,
    )


VERBS = (_init, _remember, _note, _promote, _import)


def _import_lines(done: Imported) -> tuple[render.Line, ...]:
    one = "memory" if done.unit == "memories" else done.unit.removesuffix("s")
    would = " would be" if done.dry_run else ""
    added = render.counted(done.added, one, done.unit)
    records = render.counted(done.records, "record")
    updated = render.counted(done.updated, "file")
    lines = [
        render.line((f"{added}{would} added", "green" if done.added else "")),
        render.line(f"{render.counted(done.unchanged, one, done.unit)} unchanged"),
        *([render.line((f"{updated}{would} updated", "green"))] if done.updated else []),
        *([render.line(f"{records}{would} added")] if done.records else []),
        render.line((f"{len(done.refused)} refused", "yellow" if done.refused else "")),
        *(render.line(f"  {item.path_or_line}: {item.reason}") for item in done.refused),
    ]
    if any("it holds a secret" in item.reason for item in done.refused):
        lines.append(
            render.dim("  PALACE_WRITE__SECRETS=redact takes a text in without its secret")
        )
    if done.redacted:
        lines.append(render.line((f"{len(done.redacted)} redacted", "yellow")))
        lines += [render.line(f"  {item.path_or_line}: {item.reason}") for item in done.redacted]
    if done.ignored:
        lines.append(render.line(f"{len(done.ignored)} left out"))
        names: dict[str, list[str]] = {}
        for item in done.ignored:
            names.setdefault(item.reason, []).append(item.path_or_line)
        for reason, those in sorted(names.items(), key=lambda found: -len(found[1])):
            shown = ", ".join([*those[:_NAMED], *(["…"] if len(those) > _NAMED else [])])
            lines.append(render.dim(f"  {len(those)} x {reason}: {shown}"))
    return tuple(lines)


def _as_kept(said: str, kept: str) -> Iterator[render.Line]:
    """Yield words as they are kept, where they are not those that were given."""
    if said and said.split() != kept.split():
        yield render.dim("kept in these words:")
        yield render.line(kept)


def written(result: WriteResult, *, ways: Collection[str], said: str = "") -> Reply:
    """Return the reply to a write; exit code 1 if the palace says otherwise.

    Args:
        result: What came of it.
        ways: What the command has to settle a conflict: `source`, `on_conflict`.
        said: The words that were given, where these are what is kept.
    """
    document = {"status": result.status, "memory": render.document(result.memory)}
    where = f"  {result.memory.source}  {result.memory.id}"
    if result.status == "stored":
        stored = render.line(("stored", "green"), where)
        return Reply(document, (stored, *_as_kept(said, result.memory.text)))
    if result.status == "duplicate":
        known = (render.line(("duplicate", "yellow"), where), render.line(result.memory.text))
        return Reply(document, known)
    lines = (
        render.line(("conflict", "red"), where),
        render.line(result.memory.text),
        render.line(result.detail),
        *(render.dim(text) for text in _settling(result, ways)),
    )
    return Reply({**document, "detail": result.detail}, lines, NOT_FOUND)


def _settling(conflict: Conflict, ways: Collection[str]) -> Iterator[str]:
    """Yield what a person can do about a conflict, of the ways that lead somewhere."""
    trust = conflict.memory.trust
    if conflict.stronger == "stored":
        said = f" (--source {trust})" if "source" in ways else ""
        yield f"Nothing was written. Only the word of the {trust} replaces it{said}."
        if "on_conflict" in ways:
            yield "To keep both: --on-conflict keep."
    elif "on_conflict" in ways:
        yield "Nothing was written. Decide with --on-conflict supersede (retire the older"
        yield "memory) or --on-conflict keep (keep both)."
    else:
        yield "Nothing was written. Correct or forget that memory first."
