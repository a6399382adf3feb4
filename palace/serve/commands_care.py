"""The verbs that look after a palace: export, reindex, doctor, audit, recover, config.

In: what a person typed. Out: one `Reply` for one call of the facade.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal, get_args

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

Form = Literal["json", "markdown"]


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


def _memories(number: int) -> str:
    return render.counted(number, "memory", "memories")


VERBS = (_export, _reindex, _doctor, _audit, _recover, _config)
