"""What every verb of the command line shares: global options, given texts, the open palace.

In: what a person typed. Out: a `Reply`, which `palace.serve.cli` prints as text or as JSON.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from palace import ConfigError
from palace.serve import render

if TYPE_CHECKING:
    from palace import LoadedSettings, Mempalace

OK = 0
NOT_FOUND = 1
USAGE = 2
BREAKAGE = 3
INTERRUPTED = 130

Progress = Callable[[int, int], object]
DUMB = frozenset({"dumb", "unknown"})  # values of TERM: no colours, no way back
_SPAN = re.compile(r"(\d{1,6})([smhdw])")
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_NOT_TEXT = re.compile("[\ud800-\udfff]")  # what Python makes of bytes that are not UTF-8


@dataclass(frozen=True, slots=True)
class Reply:
    """What a verb answers.

    Attributes:
        document: The public JSON shape.
        lines: The same for a person, on standard output.
        code: Exit code.
        notices: For a person too, on standard error.
        raw: Printed instead of `lines`, and instead of the document too if it is JSON itself.
        raw_is_json: Whether `raw` is a JSON document.
    """

    document: Any
    lines: tuple[render.Line, ...] = ()
    code: int = OK
    notices: tuple[render.Line, ...] = ()
    raw: str | None = None
    raw_is_json: bool = False


@dataclass(slots=True)
class Door:
    """The global options of one call; those after the verb win over those before it."""

    root: Path | None = None
    config: Path | None = None
    as_json: bool = False
    debug: bool = False

    def settings(self) -> LoadedSettings:
        """Return the settings in force.

        Raises:
            ConfigError: If they are wrong.
        """
        from palace import load_settings

        return load_settings(config=self.config, root=self.root)

    def existing(self) -> Mempalace:
        """Open a palace that exists; reading makes none.

        Raises:
            ConfigError: If there is none.
        """
        from palace import Mempalace

        return Mempalace.open(self.root, config=self.config, create=False)

    @contextmanager
    def open(self) -> Iterator[Mempalace]:
        """Open the palace; its folder is made if it does not exist, and goes if nothing came of it.

        An empty one that a mistyped command left behind would answer as if somebody had made it.
        """
        from palace import Mempalace

        root = self.settings().root
        is_new = not root.exists()
        done = False
        try:
            with Mempalace.open(self.root, config=self.config) as palace:
                yield palace
            done = True
        finally:
            if is_new and not done:
                _remove_empty(root)

    @contextmanager
    def progress(self, label: str) -> Iterator[Progress | None]:
        """Yield what draws a progress bar on standard error, or None if it is no terminal."""
        stream = sys.stderr
        if stream is None or not stream.isatty() or os.environ.get("TERM") in DUMB:
            yield None
            return
        try:
            with click.progressbar(length=1, label=label, file=stream) as bar:

                def draw(done: int, total: int) -> None:
                    bar.length = total
                    bar.update(done - bar.pos)

                yield draw
        finally:
            click.echo("\x1b[A\x1b[2K", file=stream, nl=False)  # back to its line, which goes


def _remove_empty(root: Path) -> None:
    """Remove a palace that holds nothing but what is derived."""
    with suppress(OSError):
        if [path.name for path in root.iterdir()] == [".palace"]:
            shutil.rmtree(root / ".palace")
            root.rmdir()


# What commands are made of


def _refuse_empty(value: object, param: click.Parameter | None, ctx: click.Context | None) -> None:
    """Refuse what is given and empty: it is a variable of the shell that was never set."""
    given = value if isinstance(value, tuple) else (value,)
    if any(isinstance(one, str) and not one.strip() for one in given):
        rest = "give one" if param is not None and param.required else "give one, or leave it out"
        raise click.BadParameter(f"it is empty; {rest}", ctx, param)


class _Path(click.Path):
    """A path; an empty one would be the folder that one happens to stand in."""

    def convert(
        self,
        value: Any,  # noqa: ANN401 - click's own
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> Any:  # noqa: ANN401 - click's own
        """Return the path."""
        _refuse_empty(str(value), param, ctx)
        return super().convert(value, param, ctx)


PATH = _Path(path_type=Path)


def _keep(context: click.Context, option: click.Parameter, value: object) -> None:
    """Keep a global option in the `Door`; one that is not given changes nothing."""
    if value:
        setattr(context.obj, str(option.name), value)


_shared = partial(click.Option, expose_value=False, callback=_keep)
SHARED: list[click.Parameter] = [
    _shared(["--root"], type=PATH, metavar="PATH", help="Folder of the palace; else PALACE_ROOT."),
    _shared(["--config"], type=PATH, metavar="FILE", help="Settings file; else PALACE_CONFIG."),
    _shared(["--json", "as_json"], is_flag=True, help="Print one JSON document, errors too."),
    _shared(["--debug"], is_flag=True, help="Show the trace of a failure."),
]
"""The global options, which may stand before the name of a command and after it."""


class Argument(click.Argument):
    """An argument that says what it is for; click has that since 8.5 only."""

    def __init__(self, declarations: list[str], *, help: str, **attributes: Any) -> None:  # noqa: ANN401 - click's own
        super().__init__(declarations, **attributes)
        self.said = f"{help}  [required]" if self.required else help


class Command(click.Command):
    """A command whose help tells of its arguments, and whose texts are text and not empty."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the arguments, then the options."""
        arguments = [x for x in self.params if isinstance(x, Argument)]
        if arguments:
            with formatter.section("Arguments"):
                rows = [("".join(x.get_usage_pieces(ctx)), x.said) for x in arguments]
                formatter.write_dl(rows)
        super().format_options(ctx, formatter)

    def invoke(self, ctx: click.Context) -> Any:  # noqa: ANN401 - click's own
        """Call the function with texts as what they are in UTF-8; none that is given is empty."""
        ctx.params = {name: _as_text(name, value) for name, value in ctx.params.items()}
        for param in self.params:
            if ctx.get_parameter_source(str(param.name)) is not ParameterSource.DEFAULT:
                _refuse_empty(ctx.params.get(str(param.name)), param, ctx)
        return super().invoke(ctx)


class Group(click.Group):
    """Commands in the order they were given; of a mistyped one the nearest is named."""

    def __init__(
        self,
        name: str | None = None,
        *,
        example: str,
        params: Iterable[click.Parameter] = (),
        **attributes: Any,  # noqa: ANN401 - click's own
    ) -> None:
        super().__init__(
            name,
            params=[*params, *SHARED],
            epilog=f"Example: {example}",
            invoke_without_command=True,  # the callback shows the help then
            subcommand_metavar="COMMAND [ARGS]...",
            **attributes,
        )

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's own
        """Return the names of the commands."""
        return list(self.commands)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command of a name."""
        found = super().get_command(ctx, cmd_name)
        if found is None and not ctx.resilient_parsing:
            from difflib import get_close_matches

            near = ", ".join(map(repr, get_close_matches(cmd_name, self.commands)))
            guess = f" Did you mean {near}?" if near else ""
            ctx.fail(f"No such command {cmd_name!r}.{guess}")
        return found


def verb(name: str, *, example: str) -> Callable[[Callable[..., Reply]], click.Command]:
    """Make a function a command that takes the global options too.

    Args:
        name: Its name on the command line.
        example: One whole command line, shown at the end of its help.
    """

    def command(function: Callable[..., Reply]) -> click.Command:
        decorate = click.command(name, cls=Command, epilog=f"Example: {example}")
        made = decorate(click.pass_obj(function))
        made.params += SHARED
        return made

    return command


argument = partial(click.argument, cls=Argument)
session_option = partial(click.option, "--session", envvar="PALACE_SESSION", show_envvar=True)
project_option = partial(click.option, "--project", envvar="PALACE_PROJECT", show_envvar=True)
limit_option = partial(click.option, "-n", "--limit", type=click.IntRange(min=1), default=20)
since_option = partial(
    click.option, "--since", help="Not older: 30m, 12h, 7d, 2w, or an ISO date or time (UTC)."
)


def help_without_command(context: click.Context) -> Reply | None:
    """Return the help of a group as a usage error, or None if a command of it is called."""
    if context.invoked_subcommand is not None:
        return None
    if context.obj.as_json:
        raise click.BadParameter("no command was given")
    lines = tuple(render.line(text) for text in context.get_help().splitlines())
    return Reply(None, (), USAGE, notices=lines)


# What was typed


def given_text(argument: str) -> str:
    """Return a text argument, or for `-` what stands on standard input, which must be UTF-8.

    Raises:
        ConfigError: If it is not UTF-8.
    """
    if argument != "-":
        return argument
    try:
        return _standard_input().decode("utf-8-sig").removesuffix("\n")
    except UnicodeDecodeError as error:
        raise ConfigError(
            f"standard input is not UTF-8 (byte {error.start})", hint="convert it to UTF-8 first"
        ) from error


def given_prompt(argument: str) -> str:
    """Return a prompt as `given_text` does; any bytes at all make one.

    Raises:
        ConfigError: If standard input has nothing in it.
    """
    if argument != "-":
        return argument
    text = _standard_input().decode("utf-8-sig", "replace").removesuffix("\n")
    if not text.strip():
        raise ConfigError("standard input is empty", hint="give a question or another text")
    return text


def moment_of(text: str, *, spans: bool = True) -> datetime:
    """Return when a time span before now began, or an ISO moment, UTC where it names no zone.

    Args:
        text: As it was typed.
        spans: Whether a span is taken; where a time to come is meant, none is.

    Raises:
        ConfigError: If it is neither.
    """
    from palace import iso_moment

    span = _SPAN.fullmatch(text.strip().lower()) if spans else None
    try:
        if span:
            return datetime.now(tz=timezone.utc) - timedelta(**{_UNITS[span[2]]: int(span[1])})
        return iso_moment(text.strip())
    except (ValueError, OverflowError) as error:
        known = "30m, 12h, 7d, 2w, " if spans else ""
        raise ConfigError(
            f"{text!r} is no time", hint=f"use {known}2026-05-07 or 2026-05-07T14:30"
        ) from error


def end_of(text: str, *, spans: bool = True) -> datetime:
    """Return the moment as `moment_of` does; of a date alone the last instant of that day.

    Raises:
        ConfigError: If it is no time.
    """
    moment = moment_of(text, spans=spans)
    is_day = re.fullmatch(r"\d{4}-\d{2}-\d{2}", text.strip()) is not None
    return moment + timedelta(days=1, microseconds=-1) if is_day else moment


def _standard_input() -> bytes:
    if sys.stdin is None:
        raise ConfigError("standard input is closed", hint="give the text as an argument")
    return sys.stdin.buffer.read()


def _as_text(name: str, value: Any) -> Any:  # noqa: ANN401 - any option's value
    """Return an argument's texts as what they are in UTF-8, whatever the locale made of them."""
    if isinstance(value, tuple):
        return tuple(_as_text(name, item) for item in value)
    if not isinstance(value, str) or not _NOT_TEXT.search(value):
        return value
    data = os.fsencode(value)
    # A prompt is looked up and forgotten; only what is stored or named must be exact.
    if name == "prompt":
        return data.decode("utf-8", "replace")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ConfigError(
            f"{name.upper()} is not valid UTF-8",
            hint="check the encoding of your terminal, or give the text on standard input with `-`",
        ) from error
