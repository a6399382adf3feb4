"""What every verb of the command line shares: global options, given texts, the open palace.

In: what a person typed. Out: a `Reply`, which `palace.serve.cli` prints as text or as JSON.
"""

from __future__ import annotations

import functools
import inspect
import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from palace import ConfigError

if TYPE_CHECKING:
    from palace import LoadedSettings, Mempalace
    from palace.serve.render import Line

OK = 0
NOT_FOUND = 1
USAGE = 2
BREAKAGE = 3
INTERRUPTED = 130

Progress = Callable[[int, int], object]
Verb = Callable[..., "Reply"]
_SPAN = re.compile(r"(\d{1,6})([smhdw])")
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_NOT_TEXT = re.compile("[\ud800-\udfff]")  # what Python makes of bytes that are not UTF-8

SHARED: dict[str, tuple[Any, object]] = {
    "root": (
        Annotated[
            Path | None,
            typer.Option("--root", metavar="PATH", help="Folder of the palace; else PALACE_ROOT."),
        ],
        None,
    ),
    "config": (
        Annotated[
            Path | None,
            typer.Option("--config", metavar="FILE", help="Settings file; else PALACE_CONFIG."),
        ],
        None,
    ),
    "as_json": (
        Annotated[bool, typer.Option("--json", help="Print one JSON document, errors too.")],
        False,
    ),
    "debug": (Annotated[bool, typer.Option("--debug", help="Show the trace of a failure.")], False),
}


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
    lines: tuple[Line, ...] = ()
    code: int = OK
    notices: tuple[Line, ...] = ()
    raw: str | None = None
    raw_is_json: bool = False


@dataclass(slots=True)
class Door:
    """The global options of one call; those after the verb win over those before it."""

    root: Path | None = None
    config: Path | None = None
    as_json: bool = False
    debug: bool = False

    def adopt(
        self, root: Path | None, config: Path | None, *, as_json: bool = False, debug: bool = False
    ) -> None:
        """Take over global options; those that were not given change nothing."""
        self.root = root if root is not None else self.root
        self.config = config if config is not None else self.config
        self.as_json = self.as_json or as_json
        self.debug = self.debug or debug

    def settings(self) -> LoadedSettings:
        """Return the settings in force.

        Raises:
            ConfigError: If they are wrong.
        """
        from palace import load_settings

        root = self.root.expanduser() if self.root is not None else None
        return load_settings(config=self.config, root=root)

    def existing(self) -> Mempalace:
        """Open a palace that exists; reading makes none.

        Raises:
            ConfigError: If there is none.
        """
        from palace import Mempalace

        return Mempalace.open(self.root, config=self.config, create=False)

    def open(self) -> Mempalace:
        """Open the palace; its folder is made if it does not exist."""
        from palace import Mempalace

        return Mempalace.open(self.root, config=self.config)

    @contextmanager
    def progress(self, label: str) -> Iterator[Progress | None]:
        """Yield what draws a progress bar on standard error, or None if it is no terminal."""
        if sys.stderr is None or not sys.stderr.isatty():
            yield None
            return
        from rich.console import Console
        from rich.progress import Progress as Bar

        with Bar(console=Console(stderr=True), transient=True) as bar:
            task = bar.add_task(label, total=None)
            yield lambda done, total: bar.update(task, completed=done, total=total)


def verb(app: typer.Typer, name: str, *, example: str) -> Callable[[Verb], Verb]:
    """Register a function as a command that takes the global options too.

    Args:
        app: Where it belongs.
        name: Its name on the command line.
        example: One whole command line, shown at the end of its help.
    """

    def register(function: Verb) -> Verb:
        @functools.wraps(function)
        def call(context: typer.Context, **values: Any) -> Reply:  # noqa: ANN401 - typer checked them
            exact = {key: _as_text(key, value) for key, value in values.items()}
            return function(context.obj, **exact)

        app.command(name, epilog=f"Example: {example}")(with_shared_options(call))
        return function

    return register


def with_shared_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function for typer that takes the global options too, and keeps them in the `Door`.

    Args:
        function: Called with typer's context and its own options; its first parameter, whatever
            it is called, is not an option.
    """

    @functools.wraps(function)
    def call(context: typer.Context, **values: Any) -> Any:  # noqa: ANN401 - typer checked them
        context.obj.adopt(**{name: values.pop(name) for name in SHARED})
        return function(context, **values)

    hints = get_type_hints(function, include_extras=True)
    keyword = inspect.Parameter.KEYWORD_ONLY
    parameters = [
        inspect.Parameter("context", keyword, annotation=typer.Context),
        *(
            parameter.replace(annotation=hints[parameter.name], kind=keyword)
            for parameter in list(inspect.signature(function).parameters.values())[1:]
        ),
        *(
            inspect.Parameter(name, keyword, annotation=annotation, default=default)
            for name, (annotation, default) in SHARED.items()
        ),
    ]
    call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    call.__annotations__ = {p.name: p.annotation for p in parameters}
    return call


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
    """Return a prompt as `given_text` does; any bytes at all make one."""
    if argument == "-":
        return _standard_input().decode("utf-8-sig", "replace").removesuffix("\n")
    return argument


def moment_of(text: str) -> datetime:
    """Return when a time span before now began, or an ISO moment, UTC where it names no zone.

    Raises:
        ConfigError: If it is neither.
    """
    span = _SPAN.fullmatch(text.strip().lower())
    try:
        if span:
            return datetime.now(tz=timezone.utc) - timedelta(**{_UNITS[span[2]]: int(span[1])})
        # Python 3.10 does not know the Z of ISO 8601.
        moment = datetime.fromisoformat(re.sub(r"[zZ]\Z", "+00:00", text.strip()))
        zoned = moment if moment.tzinfo else moment.replace(tzinfo=timezone.utc)
        return zoned.astimezone(timezone.utc)
    except (ValueError, OverflowError) as error:
        raise ConfigError(
            f"{text!r} is no time", hint="use 30m, 12h, 7d, 2w, 2026-05-07 or 2026-05-07T14:30"
        ) from error


def end_of(text: str) -> datetime:
    """Return the moment as `moment_of` does; of a date alone the last instant of that day.

    Raises:
        ConfigError: If it is no time.
    """
    moment = moment_of(text)
    is_day = re.fullmatch(r"\d{4}-\d{2}-\d{2}", text.strip()) is not None
    return moment + timedelta(days=1, microseconds=-1) if is_day else moment


def _standard_input() -> bytes:
    if sys.stdin is None:
        raise ConfigError("standard input is closed", hint="give the text as an argument")
    return sys.stdin.buffer.read()


def _as_text(name: str, value: Any) -> Any:  # noqa: ANN401 - any option's value
    """Return an argument's texts as what they are in UTF-8, whatever the locale made of them."""
    if isinstance(value, list):
        return [_as_text(name, item) for item in value]
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
