"""The verbs that turn conversations into memory and look back: consolidate, gaps, report.

In: what a person typed. Out: one `Reply` for one call of the facade.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from palace import ConfigError
from palace.serve import render
from palace.serve.door import (
    NOT_FOUND,
    OK,
    PATH,
    Door,
    Reply,
    argument,
    limit_option,
    moment_of,
    project_option,
    session_option,
    since_option,
    verb,
)

if TYPE_CHECKING:
    from palace import Compressed, SessionEnd

history_argument = argument(
    "history",
    type=PATH,
    metavar="FILE",
    help="Conversation as JSON, a list or lines: {role, content, at}, or turns.",
)
its_session = session_option(required=True, help="Session it belongs to.")
its_project = project_option(help="Only this project gets to see it.")


@verb("consolidate", example="palace consolidate chat.jsonl --session today")
@history_argument
@its_session
@its_project
@click.option("--task", help="Task it belongs to, see finish-task.")
@click.option("--force", is_flag=True, help="Condense everything new, due or not.")
def _consolidate(
    door: Door,
    *,
    history: Path,
    session: str,
    project: str | None,
    task: str | None,
    force: bool,
) -> Reply:
    """Condense what is due of a conversation to the timeline.

    Doing it again condenses only what is new. Exit code 1 if the model failed and it is to be
    tried again.
    """
    from palace import read_history

    messages = read_history(history, session=session)
    with door.open() as palace:
        done = palace.compress_if_needed(messages, session, project=project, task=task, force=force)
    code = NOT_FOUND if done.status == "deferred" else OK
    return Reply(render.document(done), _compressed_lines(done), code)


@verb("end-session", example="palace end-session chat.jsonl --session today")
@history_argument
@its_session
@its_project
def _end_session(door: Door, history: Path, session: str, project: str | None) -> Reply:
    """Keep what was stated and not stored, and condense the rest.

    Stored are preferences, facts and corrections in the person's own words. Doing it again changes
    nothing.
    """
    from palace import read_history

    messages = read_history(history, session=session)
    with door.open() as palace:
        ended = palace.on_session_end(session, messages, project=project)
    return Reply(render.document(ended), _ended_lines(ended))


@verb(
    "finish-task",
    example="palace finish-task 'Move the wiki' --decision 'We keep the old links.'",
)
@argument("task", help="Name of the task.")
@click.option(
    "--done",
    default="",
    show_default=False,
    help="What was done; else what was condensed under the task.",
)
@click.option("--conclusion", multiple=True, help="A conclusion; may be given many times.")
@click.option("--decision", multiple=True, help="A decision; may be given many times.")
@session_option(help="Session it ended in.")
@its_project
def _finish_task(
    door: Door,
    *,
    conclusion: tuple[str, ...],
    decision: tuple[str, ...],
    session: str | None,
    **said: Any,  # noqa: ANN401 - named as the facade names it
) -> Reply:
    """Archive a finished task on the timeline."""
    with door.open() as palace:
        memory = palace.finish_task(
            conclusions=conclusion, decisions=decision, session_id=session, **said
        )
    lines = (render.line(("archived", "green"), f"  {memory.source}"),)
    return Reply({"status": "archived", "memory": render.document(memory)}, lines)


@verb("gaps", example="palace gaps --since 7d")
@since_option()
@limit_option(help="Most questions.")
def _gaps(door: Door, since: str | None, limit: int) -> Reply:
    """List what was asked and not found, the most asked first.

    Similar questions count together; those that were answered later are left out.
    """
    with door.existing() as palace:
        gaps = palace.gaps(since=moment_of(since) if since is not None else None)
    shown = gaps.gaps[:limit]
    lines = [line for gap in shown for line in render.gap_lines(gap)]
    notices = []
    if gaps.not_kept:
        unanswered = render.counted(gaps.not_kept, "unanswered question")
        notices.append(f"{unanswered} not kept (journal.prompts).")
    if not shown and not gaps.not_kept:
        notices.append("Nothing was asked that was not found.")
    if len(gaps.gaps) > len(shown):
        notices.append(f"{len(gaps.gaps) - len(shown)} more; see --limit.")
    document = {**render.document(gaps), "gaps": render.document(shown)}
    return Reply(document, tuple(lines), notices=tuple(map(render.dim, notices)))


@verb("report", example="palace report --since 7d --out week.md")
@since_option(default="7d")
@click.option("--daily", is_flag=True, help="One part for each day.")
@click.option("--weekly", is_flag=True, help="One part for each week.")
@click.option("--out", type=PATH, metavar="FILE", help="New file to write instead of printing.")
def _report(door: Door, *, since: str, daily: bool, weekly: bool, out: Path | None) -> Reply:
    """Report a period as Markdown: what happened, what is missing."""
    if daily and weekly:
        raise click.BadParameter("choose --daily or --weekly")
    if out is not None and out.exists():
        raise ConfigError(f"{out} exists already", hint="name a file that does not exist yet")
    with door.existing() as palace:
        text = palace.report(since=moment_of(since), by="week" if weekly else "day")
    if out is None:
        return Reply({"markdown": text}, raw=text)
    out.write_text(text, encoding="utf-8")
    line = render.line(("written", "green"), f"  {out}")
    return Reply({"markdown": text, "path": str(out)}, (line,))


VERBS = (_consolidate, _end_session, _gaps, _report, _finish_task)


def _compressed_lines(done: Compressed) -> tuple[render.Line, ...]:
    if done.status == "unchanged":
        return (render.dim("Nothing is due; the conversation is sent as it is."),)
    if done.status == "deferred":
        return (
            render.line(("deferred", "yellow"), f"  {done.reason}"),
            render.dim("Nothing is lost; it is tried again next time."),
        )
    messages = render.counted(len(done.condensed), "message")
    head = f"  {messages} ({done.trigger}), by {done.by}"
    reason = (render.dim(done.reason),) if done.reason else ()
    words = tuple(render.line(text) for text in done.summary.splitlines())
    return (render.line(("condensed", "green"), head), *reason, *words)


def _ended_lines(ended: SessionEnd) -> tuple[render.Line, ...]:
    lines = [
        render.line(
            (f"{fill.status:<10}", "green" if fill.status in ("stored", "corrected") else "yellow"),
            f"  {fill.kind}: {fill.text}",
            (f"  {fill.reason}" if fill.reason else "", "dim"),
        )
        for fill in ended.filled
    ]
    if not lines:
        lines = [render.dim("Nothing was stated that is not stored.")]
    if ended.reason:
        lines.append(render.dim(f"The model was of no help: {ended.reason}"))
    return (*lines, *_compressed_lines(ended.summary))
