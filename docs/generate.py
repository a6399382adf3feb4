"""Write the generated blocks of the pages: the table of settings and the help of the command.

Run: python docs/generate.py
In: the package as it is. Out: configuration.md and commands.md beside this file, with everything
between the markers replaced.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

from palace import settings_table
from palace.serve.cli import run

DOCS = Path(__file__).parent
SETTINGS = DOCS / "configuration.md"
COMMANDS = DOCS / "commands.md"
COLUMNS = 80
# options that every command takes, each on a line of its help
EVERYWHERE = re.compile(r"^  (?:--root|--config|--json|--debug|-h, --help)\b.*\n", re.MULTILINE)


def click_version() -> str:
    """Return the version of the library that lays the help out, without its patch number."""
    return ".".join(version("click").split(".")[:2])


def help_of(*command: str) -> str:
    """Return the help of a command, 80 columns wide; what all take is left to the program's own."""
    printed = printed_help(*command)
    if not command:
        return printed
    own = EVERYWHERE.sub("", printed)
    return own.replace("\nOptions:\n\n", "\n")


def printed_help(*command: str) -> str:
    """Return the help of a command as it is printed to a file, 80 columns wide."""
    kept = os.environ.get("COLUMNS")
    os.environ["COLUMNS"] = str(COLUMNS)
    try:
        with contextlib.redirect_stdout(io.StringIO()) as out:
            run([*command, "--help"])
    finally:
        os.environ.pop("COLUMNS")
        if kept is not None:
            os.environ["COLUMNS"] = kept
    return "\n".join(line.rstrip() for line in out.getvalue().strip().splitlines())


def commands(*group: str) -> Iterator[tuple[str, ...]]:
    """Yield every command, those of a group after the group."""
    listed = help_of(*group).partition("\nCommands:\n")[2].partition("\n\n")[0]
    for name in re.findall(r"^  (\w[\w-]*)", listed, re.MULTILINE):
        yield (*group, name)
        if not group:
            yield from commands(name)


def help_block() -> str:
    """Return the help of the program and of all its commands as Markdown."""
    return "\n".join(
        f"### `{' '.join(('palace', *command))}`\n\n```text\n{help_of(*command)}\n```\n"
        for command in ((), *commands())
    )


def replace_block(text: str, name: str, content: str, *, note: str = "") -> str:
    """Return the text with what stands between the markers of a block replaced.

    Raises:
        ValueError: If a marker is missing.
    """
    begin, end = f"<!-- {name}:begin", f"<!-- {name}:end -->"
    head, found, rest = text.partition(begin)
    _, closed, tail = rest.partition(end)
    if not found or not closed:
        raise ValueError(f"the markers of the block {name!r} are missing")
    return f"{head}{begin}{note} -->\n{content}{end}{tail}"


def generated() -> Iterator[tuple[Path, str]]:
    """Yield every page that has a generated block, with its text as it is to be."""
    settings = SETTINGS.read_text("utf-8")
    yield SETTINGS, replace_block(settings, "settings", settings_table())
    help_page, note = COMMANDS.read_text("utf-8"), f" click={click_version()}"
    yield COMMANDS, replace_block(help_page, "help", help_block(), note=note)


if __name__ == "__main__":
    for page, text in generated():
        page.write_text(text, encoding="utf-8")
