"""The verbs that look after a palace: export, reindex, doctor, audit, recover, config.

In: what a person typed. Out: one `Reply` for one call of the facade.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Annotated, Literal

import typer

from palace.serve import render
from palace.serve.door import BREAKAGE, NOT_FOUND, OK, Door, Reply, verb

Form = Literal["json", "markdown"]


def register(app: typer.Typer, config: typer.Typer) -> None:
    """Add the verbs of this module to the command and to its group `config`."""
    verb(app, "export", example="palace export backup.json")(_export)
    verb(app, "reindex", example="palace reindex")(_reindex)
    verb(app, "doctor", example="palace doctor")(_doctor)
    verb(app, "audit", example="palace audit")(_audit)
    verb(app, "recover", example="palace recover m-01JB2QXT")(_recover)
    verb(config, "explain", example="palace config explain")(_explain)
    verb(config, "default", example="palace config default > mempalace.yaml")(_default)
    verb(config, "path", example="palace config path")(_path)


def _export(
    door: Door,
    target: Annotated[
        Path, typer.Argument(help="New file or folder; - prints the JSON on standard output.")
    ],
    form: Annotated[
        Form, typer.Option("--format", help="One JSON file, or a folder of Markdown.")
    ] = "json",
    records: Annotated[
        bool,
        typer.Option(
            "--records/--no-records",
            help="Take the journal, which holds prompts, and notes of sessions along.",
        ),
    ] = True,
) -> Reply:
    """Write everything you own to a JSON file or a Markdown folder."""
    on_stdout = str(target) == "-"
    if on_stdout and form != "json":
        raise typer.BadParameter("only JSON can be printed; name a folder for Markdown")
    with door.existing() as palace:
        if not on_stdout:
            done = palace.export(target, form=form, records=records)
            counts = f"{done.memories} memories in {done.files} files"
            if done.records:
                counts += f", {done.records} files of journal and notes"
            line = render.line(("exported", "green"), f"  {counts} to {done.path}")
            return Reply(render.document(done), (line,))
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "palace.json"
            palace.export(file, records=records)
            return Reply(None, raw=file.read_text("utf-8"), raw_is_json=True)


def _reindex(door: Door) -> Reply:
    """Build the search index anew from the files.

    Nothing you wrote is touched.
    """
    with door.existing() as palace, door.progress("reading files") as bar:
        done = palace.reindex(progress=bar)
    lines = [render.line(f"{done.memories} memories read from {len(done.read)} files")]
    notices = [
        render.line(("fault", "yellow"), f"  {fault.path}:{fault.line}: {fault.message}")
        for fault in done.faults
    ]
    return Reply(render.document(done), tuple(lines), notices=tuple(notices))


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


def _recover(
    door: Door,
    memory_id: Annotated[
        str | None, typer.Argument(help="What to put back; nothing lists what can be.")
    ] = None,
) -> Reply:
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


def _default(door: Door) -> Reply:  # noqa: ARG001 - the same for every palace
    """Print the annotated settings file with every key and its default."""
    from palace import default_yaml

    text = default_yaml()
    return Reply({"yaml": text}, raw=text)


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
