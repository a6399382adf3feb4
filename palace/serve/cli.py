"""The command `palace`: one verb of the facade for each of its commands.

In: arguments, environment, standard input. Out: text or one JSON document on standard output,
notices on standard error, and an exit code: 0 ok, 1 not found or fallback, 2 usage or settings,
3 breakage, 130 interrupted.
"""

from __future__ import annotations

import json
import os
import re
import sys
import traceback
from collections.abc import Iterable, Sequence
from itertools import starmap
from typing import NoReturn, TextIO

import click

from palace import (
    ConfigError,
    IdentityTooLongError,
    MemoryNotFoundError,
    PalaceError,
    RecallMiss,
    SchemaTooNewError,
    TextRefusedError,
    UnsafeNameError,
    __version__,
    redact,
)
from palace.serve import (
    commands_care,
    commands_keep,
    commands_read,
    commands_sessions,
    commands_write,
    render,
)
from palace.serve.door import (
    BREAKAGE,
    DUMB,
    INTERRUPTED,
    NOT_FOUND,
    OK,
    USAGE,
    Door,
    Group,
    Reply,
    help_without_command,
)

PROGRAM = "palace"
COMPLETE = "_PALACE_COMPLETE"
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def main(argv: Sequence[str] | None = None) -> NoReturn:
    """Run the command and exit.

    Args:
        argv: Arguments without the program's name; the process's own where None.

    Raises:
        SystemExit: Always, with the exit code.
    """
    if argv is None and os.name == "posix" and sys.getfilesystemencoding() != "utf-8":
        # The names of rooms and drawers are UTF-8 on disk, whatever the locale says.
        command = [sys.executable, "-X", "utf8", *sys.orig_argv[1:]]
        os.execv(sys.executable, command)  # noqa: S606 - no shell is wanted
    sys.exit(run(sys.argv[1:] if argv is None else argv))


def run(argv: Sequence[str]) -> int:
    """Run the command and return its exit code.

    Args:
        argv: Arguments without the program's name.
    """
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a host's stream may be of another kind
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    options = list(argv)
    options = options[: options.index("--")] if "--" in options else options
    # Known before anything is parsed, because an error of parsing is to be said in JSON too.
    door = Door(as_json="--json" in options, debug="--debug" in options)
    stdout = sys.stdout
    try:
        asked = os.environ.get(COMPLETE)
        code = _complete(asked, door) if asked else _answer(argv, door)
        if stdout is not None:
            stdout.flush()
    except BrokenPipeError:
        # The reader has seen enough; Python must not try to write the rest at its end.
        _silence(stdout)
        return OK
    except OSError as error:
        _silence(stdout)
        try:
            _complain(f"the output cannot be written: {error.strerror}", "check where it goes")
        except OSError:  # nor can this be said
            _silence(sys.stderr)
        return BREAKAGE
    return code


def _silence(stream: TextIO) -> None:
    sink = os.open(os.devnull, os.O_WRONLY)
    os.dup2(sink, stream.fileno())
    os.close(sink)


def _complete(asked: str, door: Door) -> int:
    """Print what a shell asks for: its script, or how a half-typed command may go on."""
    from click.shell_completion import shell_complete

    return shell_complete(program, {"obj": door}, PROGRAM, COMPLETE, asked)


def _answer(argv: Sequence[str], door: Door) -> int:
    try:
        with program.make_context(PROGRAM, list(argv), obj=door) as context:
            reply: Reply = program.invoke(context)
    except click.exceptions.Exit as end:  # a help text or the version was printed
        return end.exit_code
    except KeyboardInterrupt:
        return _fail(door, "Interrupted", "interrupted", code=INTERRUPTED)
    except click.UsageError as error:
        return _fail(
            door, "UsageError", error.format_message(), hint=_usage_hint(error), code=USAGE
        )
    except BrokenPipeError:  # whoever read the help text has left
        raise
    except Exception as error:  # noqa: BLE001 - the door is where every error ends
        return _fail_with(door, error)
    _print(reply, door)
    return reply.code


# The command


@click.pass_context
def _start(context: click.Context, version: bool) -> Reply | None:
    if not version:
        return help_without_command(context)
    _print(Reply({"version": __version__}, (render.line(__version__),)), context.obj)
    raise click.exceptions.Exit


program = Group(
    commands=[
        *commands_write.VERBS,
        *commands_keep.VERBS,
        *commands_sessions.VERBS,
        *commands_read.VERBS,
        *commands_care.VERBS,
    ],
    params=[click.Option(["--version"], is_flag=True, help="Print the version.")],
    callback=_start,
    help="Look before you answer: a memory that retrieves first and refuses honestly.",
    example="palace ask 'When did we ship 4.1.0?'",
    context_settings={"help_option_names": ["-h", "--help"], "show_default": True},
)


# Errors


def _usage_hint(error: click.UsageError) -> str:
    path = error.ctx.command_path if error.ctx is not None else PROGRAM
    more = ""
    if isinstance(error, click.NoSuchOption):
        more = ", or put `--` before a text that begins with a dash"
    elif "unexpected extra argument" in error.message:
        more = ", and put a text of several words in quotes"
    return f"see `{path} --help`{more}"


_OF_THE_CALLER = (
    ConfigError,
    IdentityTooLongError,
    SchemaTooNewError,
    TextRefusedError,
    UnsafeNameError,
)


def _fail_with(door: Door, error: Exception) -> int:
    if door.debug:
        traceback.print_exception(error)
    name = type(error).__name__
    if isinstance(error, PalaceError):
        code = BREAKAGE
        if isinstance(error, (MemoryNotFoundError, RecallMiss)):
            code = NOT_FOUND
        elif isinstance(error, _OF_THE_CALLER):
            code = USAGE
        return _fail(door, name, error.message, hint=error.hint, code=code)
    if isinstance(error, OSError):
        said = error.strerror or str(error)
        where = f": {error.filename}" if error.filename else ""
        hint = "check the path, its permissions and the disk"
        return _fail(door, name, f"{said}{where}", hint=hint, code=BREAKAGE)
    message = f"{name}: {' '.join(str(error).split())[:300]}"
    hint = "this is a fault of the program; run with --debug for the trace"
    return _fail(door, name, message, hint=hint, code=BREAKAGE)


def _fail(door: Door, name: str, message: str, *, hint: str = "", code: int) -> int:
    message, hint = redact(message), redact(hint)  # what was given may stand in them
    if door.as_json:
        _write_json({"error": {"type": name, "message": message, "hint": hint}})
    else:
        _complain(message, hint)
    return code


def _complain(message: str, hint: str) -> None:
    pieces = [render.line(("error: ", "red"), message)]
    if hint:
        pieces.append(render.line(("hint: ", "dim"), hint))
    _write_lines(sys.stderr, pieces)


# Output


def _print(reply: Reply, door: Door) -> None:
    if reply.raw is not None and (reply.raw_is_json or not door.as_json):
        _write(sys.stdout, reply.raw)
    elif door.as_json:
        _write_json(reply.document)
    else:
        _write_lines(sys.stdout, reply.lines)
        if sys.stdout is not None:
            sys.stdout.flush()  # what was asked for comes before what is said about it
        _write_lines(sys.stderr, reply.notices)


def _write_json(document: object) -> None:
    _write(sys.stdout, json.dumps(document, ensure_ascii=False, indent=2) + "\n")


def _write_lines(stream: TextIO | None, lines: Iterable[render.Line]) -> None:
    if stream is None or not stream.isatty():
        _write(stream, render.plain(lines))
        return
    # A memory may hold anything; it must not be able to steer the terminal.
    safe = [tuple((_CONTROL.sub("\ufffd", text), style) for text, style in row) for row in lines]
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") in DUMB:
        _write(stream, render.plain(safe))
        return
    for row in safe:
        click.echo("".join(starmap(_styled, row)), file=stream, color=True)


def _styled(text: str, style: str) -> str:
    if style in ("bold", "dim"):
        return click.style(text, **{style: True})
    return click.style(text, fg=style) if style else text


def _write(stream: TextIO | None, text: str) -> None:
    if stream is not None:
        stream.write(text)
