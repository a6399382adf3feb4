"""Values written into a settings file that a person wrote, everything else left as it stands.

In: the text of the file, a section and its new values. Out: the new text.
"""

from __future__ import annotations

from collections.abc import Mapping

import yaml

from palace.errors import ConfigError
from palace.settings.file import parse_yaml


def with_section(text: str, section: str, values: Mapping[str, float], *, name: str) -> str:
    """Return the text with the values set; comments, order, ends of lines and other keys stay.

    Args:
        text: What the file says now; "" for a new one.
        section: A top-level section.
        values: Its keys with their new numbers.
        name: What messages call the file.

    Raises:
        ConfigError: If the file is no plain YAML, or is written in a way that only its owner
            should edit.
    """
    before = parse_yaml(text, name=name).value
    wanted = {**before} if isinstance(before, dict) else {}
    old = wanted.get(section)
    wanted[section] = {**(old if isinstance(old, dict) else {}), **values}
    end_of_line = "\r\n" if text.count("\r\n") == text.count("\n") > 0 else "\n"
    edited = text.replace(end_of_line, "\n")
    try:
        for key, value in values.items():
            edited = _with_value(edited, section, key, f"{value:g}")
        edited = edited.replace("\n", end_of_line)
        unchanged = parse_yaml(edited, name=name).value == wanted
    except (ConfigError, yaml.YAMLError):
        unchanged = False
    if not unchanged:
        raise _by_hand(name, section, values)
    return edited


def _by_hand(name: str, section: str, values: Mapping[str, float]) -> ConfigError:
    pairs = ", ".join(f"{key}: {value:g}" for key, value in values.items())
    return ConfigError(
        f"{name} is written in a form that is not edited for you",
        hint=f"write it by hand: `{section}: {{{pairs}}}`",
    )


def _with_value(text: str, section: str, key: str, value: str) -> str:
    found = _child(yaml.compose(text, Loader=yaml.SafeLoader), section)
    if found is None:
        before = f"{text.rstrip()}\n\n" if text.strip() else ""
        return f"{before}{section}:\n  {key}: {value}\n"
    above, node = found
    if not isinstance(node, yaml.MappingNode) or not node.value:
        end = _line_end(text, above.end_mark.index)
        return f"{text[:end]}\n  {key}: {value}{text[end:]}"
    old = _child(node, key)
    if old is not None:
        start, end = old[1].start_mark.index, old[1].end_mark.index
        space = "" if text[start - 1 : start].isspace() else " "
        return f"{text[:start]}{space}{value}{text[end:]}"
    last = node.value[-1]
    end = _line_end(text, last[1].end_mark.index)
    return f"{text[:end]}\n{' ' * last[0].start_mark.column}{key}: {value}{text[end:]}"


def _child(node: yaml.Node | None, key: str) -> tuple[yaml.Node, yaml.Node] | None:
    pairs = node.value if isinstance(node, yaml.MappingNode) else ()
    return next((pair for pair in pairs if pair[0].value == key), None)


def _line_end(text: str, start: int) -> int:
    end = text.find("\n", start)
    return len(text) if end < 0 else end
