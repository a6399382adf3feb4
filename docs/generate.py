"""Write the generated blocks of the README: the table of settings and the help of the command.

Run: python docs/generate.py
In: the package as it is. Out: README.md, with everything between the markers replaced.
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

README = Path(__file__).parents[1] / "README.md"
COLUMNS = 80


def click_version() -> str:
    """Return the version of the library that lays the help out, without its patch number."""
    return ".".join(version("click").split(".")[:2])


def help_of(*command: str) -> str:
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


def replace_block(text: str, name: str, content: str) -> str:
    """Return the text with what stands between the markers of a block replaced."""
    begin, end = f"<!-- {name}:begin", f"<!-- {name}:end -->"
    head, _, rest = text.partition(begin)
    _, _, tail = rest.partition(end)
    return f"{head}{begin} -->\n{content}{end}{tail}"


def generated(text: str) -> str:
    """Return the README with its generated blocks as they are to be."""
    text = replace_block(text, "settings", settings_table())
    text = replace_block(text, "help", help_block())
    return text.replace("<!-- help:begin -->", f"<!-- help:begin click={click_version()} -->")


if __name__ == "__main__":
    README.write_text(generated(README.read_text("utf-8")), encoding="utf-8")
