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
from typing import Annotated, Any, NoReturn, TextIO

import typer

from palace import (
    ConfigError,
    IdentityTooLongError,
    MemoryNotFoundError,
    PalaceError,
    RecallMiss,
    TextRefusedError,
    UnsafeNameError,
    __version__,
)
from palace.serve import (
    commands_calibrate,
    commands_care,
    commands_keep,
    commands_meaning,
    commands_read,
    commands_sessions,
    commands_write,
    render,
)
from palace.serve.door import (
    BREAKAGE,
    INTERRUPTED,
    NOT_FOUND,
    OK,
    USAGE,
    Door,
    Reply,
    with_shared_options,
)

PROGRAM = "palace"
# Typer brings its own copy of click or depends on it, by version: both are reached through this.
_UsageError: Any = typer.BadParameter.__bases__[0]
_ClickError: Any = _UsageError.__bases__[0]
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def main(argv: Sequence[str] | None = None) -> NoReturn:
    """Run the command and exit.

    Args:
        argv: Arguments without the program's name; the process's own where None.

    Raises:
        SystemExit: Always, with the exit code.
    """
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
        code = _answer(argv, door)
        if stdout is not None:
            stdout.flush()
    except BrokenPipeError:
        # The reader has seen enough; Python must not try to write the rest at its end.
        _silence(stdout)
        return OK
    except OSError as error:
        _silence(stdout)
        _complain(f"the output cannot be written: {error.strerror}", "check where it goes")
        return BREAKAGE
    except SystemExit as end:
        # Shell completion ends so; and a help text whose reader left, with another stdout in place.
        if sys.stdout is not stdout:
            sys.stdout = stdout
            _silence(stdout)
            return OK
        return end.code if isinstance(end.code, int) else OK
    return code


def _silence(stream: TextIO) -> None:
    sink = os.open(os.devnull, os.O_WRONLY)
    os.dup2(sink, stream.fileno())
    os.close(sink)


def _answer(argv: Sequence[str], door: Door) -> int:
    try:
        result = application()(list(argv), prog_name=PROGRAM, standalone_mode=False, obj=door)
    except (KeyboardInterrupt, typer.Abort):
        return _fail(door, "Interrupted", "interrupted", code=INTERRUPTED)
    except _ClickError as error:
        hint = _usage_hint(error)
        said = error.format_message().replace("Value error, ", "", 1)
        return _fail(door, "UsageError", said, hint=hint, code=USAGE)
    except Exception as error:  # noqa: BLE001 - the door is where every error ends
        return _fail_with(door, error)
    if isinstance(result, Reply):
        _print(result, door)
        return result.code
    if result == INTERRUPTED:
        return _fail(door, "Interrupted", "interrupted", code=INTERRUPTED)
    return result if isinstance(result, int) else OK


# The command


def application() -> typer.Typer:
    """Return the command with all its verbs, ready to be called with `obj=Door()`."""
    app = typer.Typer(
        help="Look before you answer: a memory that retrieves first and refuses honestly.",
        epilog="Example: palace ask 'When did we ship 4.1.0?'",
        context_settings={"help_option_names": ["-h", "--help"]},
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        invoke_without_command=True,
    )
    config = typer.Typer(
        help="Show the settings, their defaults and their origins.",
        epilog="Example: palace config explain",
        rich_markup_mode=None,
        invoke_without_command=True,
    )
    app.callback()(with_shared_options(_start))
    config.callback()(with_shared_options(_help_without_command))
    commands_write.register(app)
    commands_keep.register(app)
    commands_sessions.register(app)
    commands_read.register(app)
    commands_meaning.register(app)
    commands_calibrate.register(app)
    commands_care.register(app, config)
    app.add_typer(config, name="config")
    return app


def _start(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> Reply | None:
    if not version:
        return _help_without_command(context)
    _print(Reply({"version": __version__}, (render.line(__version__),)), context.obj)
    raise typer.Exit


def _help_without_command(context: typer.Context) -> Reply | None:
    if context.invoked_subcommand is not None:
        return None
    if context.obj.as_json:
        raise typer.BadParameter("no command was given")
    lines = tuple(render.line(text) for text in context.get_help().splitlines())
    return Reply(None, (), USAGE, notices=lines)


# Errors


def _usage_hint(error: Any) -> str:  # noqa: ANN401 - the class depends on typer's version
    context = getattr(error, "ctx", None)
    path = context.command_path if context is not None else PROGRAM
    dash = ", or put `--` before a text that begins with a dash"
    is_option = "No such option" in error.format_message()
    return f"see `{path} --help`{dash if is_option else ''}"


def _fail_with(door: Door, error: Exception) -> int:
    if door.debug:
        traceback.print_exception(error)
    name = type(error).__name__
    if isinstance(error, PalaceError):
        code = BREAKAGE
        if isinstance(error, (MemoryNotFoundError, RecallMiss)):
            code = NOT_FOUND
        elif isinstance(
            error, (ConfigError, TextRefusedError, UnsafeNameError, IdentityTooLongError)
        ):
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
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        _write(stream, render.plain(safe))
        return
    from rich.console import Console
    from rich.text import Text

    console = Console(file=stream, highlight=False)
    for row in safe:
        console.print(Text.assemble(*row))


def _write(stream: TextIO | None, text: str) -> None:
    if stream is not None:
        stream.write(text)
