"""The block of YAML, TOML or JSON at the top of a Markdown file, read without ever failing.

In: the lines of a file. Out: its values, numbers and days as they are written, and what was wrong.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

import regex
import yaml

from palace.store.blocks import Block
from palace.text.late_patterns import late

MAX_FRONT_MATTER_CHARS = 16_384
_PROPERTY = late(r"[ \t]*+(?:- )?(?P<key>\w[\w-]*)::[ \t]+(?P<value>\S.*)")
_TOML = "+++"
_JSON = "{"
_CLOSERS = {"---": ("---", "..."), _TOML: (_TOML,), _JSON: ("}",)}
_TOML_ROW = late(r"(?P<key>[\w.-]+|\"[^\"]*\"|'[^']*')[ \t]*=[ \t]*")
_TOML_TABLE = late(r"\[{1,2}(?P<key>[^\[\]]+)\]{1,2}[ \t]*(?:#.*)?")
_KEY = late(r"^[^\s#:-][^:\n]*:(?=\s|$)", regex.MULTILINE)
# What is told of the page and not of what it is about, and what is read otherwise.
_OF_THE_PAGE = late(
    r"(?:titles?|tags?|alias(?:es)?|keywords|dates?|created|updated|modified|edited|uu?id|slug|type"
    r"|css ?class(?:es)?|publi(?:c|sh|shed)|draft|permalink|layout|template|banner|cover|icon|lang"
    r"|(?:date|time) ?(?:created|updated|modified)|(?:created|updated|modified) ?(?:at|on|time)"
    r"|sticker|obsidian(?:ui|editing)mode|(?:[\w ]+ plugin|sr (?:due|interval|ease)|linter [\w ]+)"
    r"|collapsed|filters)"
)
# What a template has in the place of a value: `date: {{date}}`, `owner: <% tp.user.me() %>`.
_PLACEHOLDER = late(r"[^:\n]+:[ \t]*[\"']?(?:\{\{|<%)")
# What a safe loader lets escape for hostile scalars and nesting, beside its own errors.
_FAILURES = (
    yaml.YAMLError,
    ValueError,
    TypeError,
    LookupError,
    AttributeError,
    ArithmeticError,
    RecursionError,
)
_TAG = "tag:yaml.org,2002:"


class _Loader(yaml.SafeLoader):
    """Reads scalars as they are written: 1.10 is not 1.1, and `no` may be Norwegian.

    One that does not exist, such as a day that no month has, is refused.
    """

    def plain(self, node: yaml.ScalarNode) -> str:
        yaml.SafeLoader.yaml_constructors[node.tag](self, node)
        return str(node.value)


for _kind in ("bool", "int", "float", "timestamp"):
    _Loader.add_constructor(_TAG + _kind, _Loader.plain)


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """A file's front matter.

    Attributes:
        values: Its top-level keys, without those whose value cannot be read.
        end: How many lines it takes, both fences included; 0 if there is none, or if what stands
            there has no key at all: then it is text between two thematic breaks.
        problem: What is wrong with it, else "".
        line: 1-based line of the problem.
    """

    values: Mapping[str, object] = field(default_factory=dict)
    end: int = 0
    problem: str = ""
    line: int = 1


_NO_KEYS = FrontMatter(
    problem="what stands here is read as memories: front matter has a `key:` for each value", line=2
)


def read_front_matter(lines: Sequence[str]) -> FrontMatter:
    """Read the front matter of a file.

    Args:
        lines: The file's lines without their ends.
    """
    closers = _CLOSERS.get(lines[0].rstrip(" \t"), ()) if lines else ()
    for number, line in enumerate(lines[1:], 1):
        if line.rstrip(" \t") in closers:
            if lines[0].startswith(_JSON) and not _tells_of_a_page("\n".join(lines[: number + 1])):
                break
            return _load("\n".join(_as_yaml(lines[:number])[1:]), end=number + 1)
    return FrontMatter()


def _as_yaml(lines: Sequence[str]) -> Sequence[str]:
    """Return front matter in YAML, line for line: values of TOML and JSON are written alike."""
    if lines[0].startswith(_JSON):
        indent = lines[1][: len(lines[1]) - len(lines[1].lstrip())]
        rows = [line.removeprefix(indent).rstrip() for line in lines]
        return [row if row[:1].isspace() else row.removesuffix(",") for row in rows]
    if lines[0].rstrip(" \t") != _TOML:
        return lines
    indent = ""
    told = []
    for line in lines:
        if table := _TOML_TABLE.fullmatch(line):
            indent = "  "
            told.append(f"{table['key'].strip()}:")
        else:
            row = _TOML_ROW.match(line)
            told.append(f"{indent}{row['key']}: {line[row.end() :]}" if row else line)
    return told


def _tells_of_a_page(text: str) -> bool:
    """Whether JSON has the title or the day of a page: else it is something that a note shows."""
    try:
        values = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return isinstance(values, dict) and not {"title", "date"}.isdisjoint(values)


def page_properties(lines: Sequence[str]) -> dict[str, str]:
    """Return the properties at the top of a page of an outliner: `alias:: Pia Rautio`.

    Args:
        lines: The file's lines without their ends, from behind its front matter.
    """
    found: dict[str, str] = {}
    for told in _properties(lines):
        value = told["value"].replace("[[", "").replace("]]", "")
        found.setdefault(told["key"], value.strip())
    return found


def properties_of_the_page(lines: Sequence[str]) -> int:
    """Return how many lines at the top are properties, if they tell of the page alone, else 0.

    Args:
        lines: As for `page_properties`.
    """
    found = _properties(lines)
    is_a_memory = len(found) < len(lines) and "<!--" in lines[len(found)]
    if is_a_memory or not all(_is_of_the_page(told["key"]) for told in found):
        return 0
    return len(found)


def _properties(lines: Sequence[str]) -> list[regex.Match[str]]:
    found = []
    for line in lines:
        if (told := _PROPERTY.fullmatch(line)) is None:
            break
        found.append(told)
    return found


def _is_of_the_page(key: str) -> bool:
    return _OF_THE_PAGE.fullmatch(regex.sub(r"[ _-]+", " ", key.casefold())) is not None


def value_blocks(lines: Sequence[str], front: FrontMatter) -> list[Block]:
    """Return a block for each value that tells of what the page is about: `status: paused`.

    Args:
        lines: The file's lines without their ends.
        front: What was read at its top.
    """
    inside = range(1, front.end - 1)
    lines = _as_yaml(lines[: front.end]) if inside else ()
    starts = [number for number in inside if _KEY.match(lines[number])]
    blocks = []
    for start, stop in pairwise([*starts, front.end - 1]):
        key = lines[start].partition(":")[0].strip().strip("\"'")
        is_empty = front.values.get(key) in (None, "", [], {})
        if is_empty or _is_of_the_page(key) or _PLACEHOLDER.match(lines[start]):
            continue
        while not lines[stop - 1].strip() or lines[stop - 1].startswith("#"):
            stop -= 1
        blocks.append(Block("value", start, stop))
    return blocks


def text_list(value: object) -> tuple[str, ...]:
    """Return a YAML value that may be one string or a list of them as a tuple of strings."""
    if value is None:
        return ()
    if isinstance(value, (list, tuple, set)):
        return tuple(text for item in value if (text := one_text(item)))
    return (text,) if (text := one_text(value)) else ()


def one_text(value: object) -> str:
    """Return a YAML value as text; "" if it holds others."""
    # Nested collections may share parts a billionfold; only scalars are worth printing.
    return "" if value is None or isinstance(value, (dict, list, set)) else str(value).strip()


def tag_list(value: object) -> tuple[str, ...]:
    """Return tags: a list, or one string split at commas and spaces; leading `#` are dropped."""
    parts = text_list(value)
    if isinstance(value, str):
        parts = tuple(value.replace(",", " ").split())
    return tuple(tag for part in parts if (tag := part.lstrip("#").strip()))


def _load(text: str, *, end: int) -> FrontMatter:
    if not text.strip():
        return FrontMatter(end=end)
    starts = [match.start() for match in _KEY.finditer(text)]
    if len(text) > MAX_FRONT_MATTER_CHARS:
        problem = f"front matter exceeds {MAX_FRONT_MATTER_CHARS} chars"
        return FrontMatter(end=end, problem=problem) if starts else _NO_KEYS
    whole = _read(text, line=2, end=end)
    if not whole.problem:
        return whole
    if not starts:
        return _NO_KEYS
    # One value that cannot be read, a template or a day no month has, costs its own key alone.
    rows = [
        _read(text[start:stop], line=2 + text.count("\n", 0, start), end=end)
        for start, stop in pairwise([*starts, len(text)])
        if not _PLACEHOLDER.match(text, start)
    ]
    values = {key: value for row in rows for key, value in row.values.items()}
    if len(rows) < len(starts) and not any(row.problem for row in rows):
        return FrontMatter(values, end)
    wrong = next((row for row in rows if row.problem), whole)
    return replace(wrong, values=values)


def _read(text: str, *, line: int, end: int) -> FrontMatter:
    """Read some of the rows between the fences; the first of them is this line of the file."""
    try:
        values = yaml.load(text, Loader=_Loader)  # noqa: S506 - a safe one
    except _FAILURES as error:
        # Of what never ends, the beginning is the place to look.
        mark = getattr(error, "context_mark", None) or getattr(error, "problem_mark", None)
        value = str(error) if isinstance(error, ValueError) else ""
        reason = getattr(error, "problem", None) or value or type(error).__name__
        line += mark.line if mark else 0
        return FrontMatter(end=end, problem=f"front matter cannot be read: {reason}", line=line)
    if values is None:
        return FrontMatter(end=end)
    if not isinstance(values, dict):
        problem = "front matter is not a list of `key: value`"
        return FrontMatter(end=end, problem=problem, line=line)
    return FrontMatter(values={str(key): value for key, value in values.items()}, end=end)
