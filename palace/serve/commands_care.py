"""The verbs that look after a palace, from embed and export to doctor, audit and config.

In: what a person typed. Out: one `Reply` for one call of the facade.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

import click

from palace.serve import render
from palace.serve.door import (
    BREAKAGE,
    NOT_FOUND,
    OK,
    PATH,
    Door,
    Group,
    Reply,
    argument,
    help_without_command,
    verb,
)

if TYPE_CHECKING:
    from palace import Calibration, KindCalibration

Form = Literal["json", "markdown"]


@verb("embed", example="palace embed --rebuild")
@click.option("--rebuild", is_flag=True, help="Begin anew; needed after a change of the model.")
def _embed(door: Door, rebuild: bool) -> Reply:
    """Embed every memory that has no vector yet.

    Needs an embedder in the settings. An interrupted run goes on where it stopped.
    """
    with door.existing() as palace, door.progress("embedding") as bar:
        done = palace.embed(rebuild=rebuild, progress=bar)
    counts = f"{done.embedded} of {_memories(done.total)} embedded, {done.added} of them now"
    return Reply(render.document(done), (render.line(f"{counts}, by {done.identity}"),))


@verb("calibrate", example="palace calibrate --rate 0.05")
@click.option(
    "--rate",
    type=click.FloatRange(0.0, 0.5, min_open=True),
    default=0.05,
    help="Most false hits: a share above 0, at most 0.5.",
)
@click.option(
    "--sample",
    type=click.IntRange(min=1),
    default=300,
    help="Most questions for each kind of memory.",
)
@click.option("--apply", is_flag=True, help="Write the bars into the settings file.")
def _calibrate(door: Door, rate: float, sample: int, apply: bool) -> Reply:
    """Fit to your palace how sure a memory must be to answer.

    Asks questions made out of its memories, with and without the room that holds the answer. Exit
    code 1 if it refuses, with the reason.
    """
    with door.existing() as palace, door.progress("asking") as bar:
        done = palace.calibrate(false_hit_rate=rate, sample=sample, apply=apply, progress=bar)
    lines = [line for kind in done.kinds if kind.memories for line in _kind_lines(kind)]
    code = OK if done.sufficient_at is not None else NOT_FOUND
    return Reply(render.document(done), (*lines, *_end_lines(done)), code)


@verb("export", example="palace export backup.json")
@argument("target", type=PATH, help="New file or folder; - prints the JSON on standard output.")
@click.option(
    "--format",
    "form",
    type=click.Choice(get_args(Form)),
    default="json",
    help="One JSON file, or a folder of Markdown.",
)
@click.option(
    "--records/--no-records",
    default=True,
    help="Take the journal, which holds prompts, and notes of sessions along.",
)
def _export(door: Door, target: Path, form: Form, records: bool) -> Reply:
    """Write everything you own to a JSON file or a Markdown folder."""
    on_stdout = str(target) == "-"
    if on_stdout and form != "json":
        raise click.BadParameter("only JSON can be printed; name a folder for Markdown")
    with door.existing() as palace:
        if not on_stdout:
            done = palace.export(target, form=form, records=records)
            counts = f"{_memories(done.memories)} in {render.counted(done.files, 'file')}"
            if done.records:
                counts += f", {render.counted(done.records, 'file')} of journal and notes"
            line = render.line(("exported", "green"), f"  {counts} to {done.path}")
            return Reply(render.document(done), (line,))
        from tempfile import TemporaryDirectory

        with TemporaryDirectory() as folder:
            file = Path(folder) / "palace.json"
            palace.export(file, records=records)
            return Reply(None, raw=file.read_text("utf-8"), raw_is_json=True)


@verb("reindex", example="palace reindex")
def _reindex(door: Door) -> Reply:
    """Build the search index anew from the files.

    Nothing you wrote is touched.
    """
    with door.existing() as palace, door.progress("reading files") as bar:
        done = palace.reindex(progress=bar)
    read = f"{_memories(done.memories)} read from {render.counted(len(done.read), 'file')}"
    notices = [
        render.line(("fault", "yellow"), f"  {fault.path}:{fault.line}: {fault.message}")
        for fault in done.faults
    ]
    return Reply(render.document(done), (render.line(read),), notices=tuple(notices))


@verb("doctor", example="palace doctor")
def _doctor(door: Door) -> Reply:
    """Try what the palace must do, with a hint for what fails.

    Exit code 3 if a check failed.
    """
    with door.existing() as palace:
        checks = palace.doctor()
    lines: list[render.Line] = []
    for check in checks:
        mark = ("ok  ", "green") if check.ok else ("FAIL", "red")
        lines.append(render.line(mark, f"  {check.name}", (f"  {check.detail}", "dim")))
        if check.hint:
            lines.append(render.line(f"      {check.hint}"))
    ok = all(check.ok for check in checks)
    return Reply(
        {"ok": ok, "checks": render.document(checks)}, tuple(lines), OK if ok else BREAKAGE
    )


@verb("audit", example="palace audit")
def _audit(door: Door) -> Reply:
    """List what is stored that looks like an attack on its readers.

    Orders to the reader, imitations of our markers, hidden text, and what loads or sends
    something. Nothing is changed. Exit code 1 if something is listed.
    """
    with door.existing() as palace:
        suspects = palace.audit()
    lines: list[render.Line] = []
    for suspect in suspects:
        lines.append(render.line((suspect.excerpt, "bold")))
        facts = f"  {suspect.source}  {suspect.id}  said by {suspect.trust}"
        lines.append(render.line((facts, "dim"), (f"  {', '.join(suspect.reasons)}", "yellow")))
    if not suspects:
        lines.append(render.dim("Nothing stored here looks like an attack."))
    return Reply(
        {"suspects": render.document(suspects)}, tuple(lines), NOT_FOUND if suspects else OK
    )


@verb("recover", example="palace recover m-01JB2QXT")
@argument("memory_id", required=False, help="What to put back; nothing lists what can be.")
def _recover(door: Door, memory_id: str | None) -> Reply:
    """List what an editor's old copy overwrote, or put it back.

    Writes of the last day that do not stand as written. What was deleted by hand is listed too:
    nothing tells the two apart.
    """
    with door.existing() as palace:
        if memory_id is not None:
            memory = palace.recover(memory_id)
            said = f"  {memory.source}" if memory else "  erased again"
            line = render.line(("recovered", "green"), said)
            return Reply({"recovered": memory_id, "memory": render.document(memory)}, (line,))
        lost = palace.overwritten()
    lines: list[render.Line] = []
    for one in lost:
        lines.append(render.line((one.text or "(erased)", "bold")))
        facts = f"  {one.id}  {one.path}  written {one.at:%Y-%m-%d %H:%M} UTC"
        lines.append(render.line((facts, "dim"), (f"  {one.how}", "yellow")))
    if not lost:
        lines.append(render.dim("What was written in the last day stands."))
    return Reply({"overwritten": render.document(lost)}, tuple(lines))


@verb("explain", example="palace config explain")
def _explain(door: Door) -> Reply:
    """Show every setting with its value and where it came from."""
    from palace import explain_settings

    rows = explain_settings(door.settings())
    document = [{**render.document(row), "origin": str(row.origin)} for row in rows]
    width = max(len(row.key) for row in rows)
    lines = [
        render.line((row.key.ljust(width), "bold"), f"  {row.value}", (f"  [{row.origin}]", "dim"))
        for row in rows
    ]
    return Reply({"settings": document}, tuple(lines))


@verb("default", example="palace config default > mempalace.yaml")
def _default(door: Door) -> Reply:  # noqa: ARG001 - the same for every palace
    """Print the annotated settings file with every key and its default."""
    from palace import default_yaml

    text = default_yaml()
    return Reply({"yaml": text}, raw=text)


@verb("path", example="palace config path")
def _path(door: Door) -> Reply:
    """Show which settings file is read and which folder is the palace."""
    loaded = door.settings()
    fields = {
        "file": str(loaded.file) if loaded.file else None,
        "root": str(loaded.root),
        "ignored": [str(path) for path in loaded.ignored],
    }
    said = {**fields, "file": fields["file"] or "none, the defaults are used"}
    return Reply(fields, render.table_lines({k: v for k, v in said.items() if v}))


_config = Group(
    "config",
    commands=[_explain, _default, _path],
    callback=click.pass_context(help_without_command),
    help="Show the settings, their defaults and their origins.",
    example="palace config explain",
)


def _kind_lines(kind: KindCalibration) -> tuple[render.Line, ...]:
    questions = render.counted(kind.questions, "question")
    head = render.line((f"{kind.kind}s", "bold"), f"  {kind.memories}, {questions}")
    if kind.kept is None or kind.false_hits is None or kind.at_most is None:
        return (head, render.line(f"  {kind.reason}"))
    now = f"kept {kind.kept_now:.1%}, false hits {kind.false_hits_now:.1%}"
    best = f"kept {kind.kept:.1%}, false hits {kind.false_hits:.1%} (at most {kind.at_most:.1%})"
    found = f"bar {kind.bar:.3f}:" if kind.bar is not None else "a bar for the rate:"
    return (
        head,
        render.line(f"  bar {kind.bar_now:.3f}, in force: {now}"),
        render.line(f"  {found} {best}"),
    )


def _end_lines(done: Calibration) -> tuple[render.Line, ...]:
    if done.sufficient_at is None:
        hint = (render.dim(f"  {done.hint}"),) if done.hint else ()
        return (render.line(("refused", "yellow"), f"  {done.reason}"), *hint)
    bars = (f"  sufficient_at: {done.sufficient_at:g}", f"  unclear_at: {done.unclear_at:g}")
    first = f"written to {done.file}:" if done.file else "to use it, write, or give --apply:"
    # One bar serves both kinds, so it moves the other one too, measured or not.
    own = ((kind.kind, kind.bar_shipped if kind.bar is None else kind.bar) for kind in done.kinds)
    moved = [
        f"this bar holds for {kind}s too: alone they would have {bar:.3f}"
        for kind, bar in own
        if bar < done.sufficient_at
    ]
    return tuple(render.line(text) for text in (first, "sufficiency:", *bars, *moved))


def _memories(number: int) -> str:
    return render.counted(number, "memory", "memories")


VERBS = (_embed, _calibrate, _export, _reindex, _doctor, _audit, _recover, _config)
