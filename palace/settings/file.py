"""One YAML file, or one YAML value, as plain values with the line of every key.

In: bytes that a person wrote. Out: a `YamlSource`, or a `ConfigError` that names file and line.
Only plain data is understood: no anchors, no tags, one document, every key once. Plain words are
read as YAML 1.2 does, so `off` and `no` are words and `010` is ten.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from palace.errors import ConfigError

MAX_FILE_BYTES = 262_144
MAX_DEPTH = 12

KeyPath = tuple[str | int, ...]

_INTEGER = re.compile(r"[-+]?[0-9]{1,18}")
_NUMBER = re.compile(
    r"[-+]?(?:[0-9]{1,18}(?:\.[0-9]{0,30})?|\.[0-9]{1,30})(?:[eE][-+]?[0-9]{1,3})?"
)
_WORDS: Mapping[str, bool | None] = {
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
}
_PLAIN_HINT = "write plain keys and values only"


@dataclass(frozen=True, slots=True)
class YamlSource:
    """What one file says.

    Attributes:
        name: The file, as messages name it.
        value: Plain data: dicts with text keys, lists, text, numbers, booleans, None.
        lines: Key path -> line of that key or list item, 1-based; `()` is the whole document.
    """

    name: str
    value: object
    lines: Mapping[KeyPath, int]

    def line(self, path: KeyPath) -> int:
        """Return the line of `path`, or of the nearest thing that holds it."""
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path, 1)


def dotted(path: KeyPath) -> str:
    """Return a key path as a person writes it, such as `detector.cues[0].kind`."""
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)
    return text.removeprefix(".")


def read_yaml(path: Path) -> YamlSource:
    """Read one YAML file of at most `MAX_FILE_BYTES` bytes.

    Raises:
        ConfigError: If it cannot be read, is too big, is not UTF-8 or is not plain YAML.
    """
    try:
        if not path.is_file():
            reason = "is not a file" if path.exists() else "does not exist"
            raise ConfigError(
                f"{path} {reason}", hint="name a readable file with --config or PALACE_CONFIG"
            )
        with path.open("rb") as stream:
            data = stream.read(MAX_FILE_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "not a usable path"
        raise ConfigError(
            f"{path} cannot be read: {reason}", hint="check the path and its permissions"
        ) from error
    if len(data) > MAX_FILE_BYTES:
        raise ConfigError(
            f"{path} is too big: more than {MAX_FILE_BYTES} bytes",
            hint="settings are short; keep memories in rooms",
        )
    return parse_yaml(_decode(data, str(path)), name=str(path))


def parse_yaml(text: str, *, name: str) -> YamlSource:
    """Read YAML text; `name` is what messages call it.

    Raises:
        ConfigError: If it is not plain YAML: syntax, a second document, an anchor, an alias, a
            tag, nesting deeper than `MAX_DEPTH`, a key twice, or a key that is no plain text.
    """
    lines: dict[KeyPath, int] = {(): 1}
    try:
        loader = _Loader(text)
        node = loader.get_single_node()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else 1
        # The error itself quotes the text, which may hold a secret: it is not chained.
        raise ConfigError(
            f"{name}:{line}: not valid YAML: {error.problem or error.context}",
            hint=_PLAIN_HINT
            if isinstance(error, _NotPlainError)
            else "check indentation and quotes",
        ) from None
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise ConfigError(
            f"{name}:{line}: not valid YAML: a control character", hint="remove the character"
        ) from None
    value = None if node is None else _plain(node, (), name=name, lines=lines)
    return YamlSource(name=name, value=value, lines=lines)


class _NotPlainError(yaml.MarkedYAMLError):
    """YAML that is more than plain data."""


class _Loader(yaml.BaseLoader):
    """Composes nodes of plain data only, so that no document can blow up or run away."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._depth = 0

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        event: Any = self.peek_event()  # type: ignore[no-untyped-call]
        problem = ""
        if getattr(event, "anchor", None) is not None:
            problem = "anchors and aliases (& and *) are not used in settings"
        elif getattr(event, "tag", None) is not None:
            problem = "tags (!) are not used in settings"
        elif self._depth >= MAX_DEPTH:
            problem = f"nested deeper than {MAX_DEPTH} levels"
        if problem:
            raise _NotPlainError(None, None, problem, event.start_mark)
        self._depth += 1
        node = super().compose_node(parent, index)
        self._depth -= 1
        return node


def _decode(data: bytes, name: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ConfigError(f"{name}:{line}: not UTF-8", hint="save the file as UTF-8") from None


def _plain(node: yaml.Node, path: KeyPath, *, name: str, lines: dict[KeyPath, int]) -> object:
    if isinstance(node, yaml.MappingNode):
        return _plain_mapping(node, path, name=name, lines=lines)
    if isinstance(node, yaml.SequenceNode):
        items: list[object] = []
        for number, item in enumerate(node.value):
            item_path = (*path, number)
            lines[item_path] = item.start_mark.line + 1
            items.append(_plain(item, item_path, name=name, lines=lines))
        return items
    return _scalar(node)


def _plain_mapping(
    node: yaml.MappingNode, path: KeyPath, *, name: str, lines: dict[KeyPath, int]
) -> dict[str, object]:
    mapping: dict[str, object] = {}
    for key_node, value_node in node.value:
        line = key_node.start_mark.line + 1
        if not isinstance(key_node, yaml.ScalarNode):
            raise ConfigError(
                f"{name}:{line}: a key must be a word, not a list or a mapping", hint=_PLAIN_HINT
            )
        key = (*path, str(key_node.value))
        if key[-1] in mapping:
            raise ConfigError(
                f"{name}:{line}: `{dotted(key)}` is set twice, first in line {lines[key]}",
                hint="keep one of them",
            )
        lines[key] = line
        mapping[str(key_node.value)] = _plain(value_node, key, name=name, lines=lines)
    return mapping


def _scalar(node: yaml.Node) -> str | int | float | bool | None:
    text = str(node.value)
    if not isinstance(node, yaml.ScalarNode) or node.style is not None:
        return text
    if text in _WORDS:
        return _WORDS[text]
    if _INTEGER.fullmatch(text):
        return int(text)
    if _NUMBER.fullmatch(text):
        return float(text)
    return text
