"""Every key of the settings: its path, its variable, its type in words, its default as YAML.

In: the models of `palace.settings.model`. Out: what loading needs to know of them, and the
annotated file and the table that are made from them.
"""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Iterator, Mapping
from types import NoneType
from typing import Annotated, Literal, get_args, get_origin

from pydantic import BaseModel, SecretStr
from pydantic.fields import FieldInfo

from palace.settings.file import KeyPath, dotted
from palace.settings.model import Settings
from palace.settings.values import Cue

FILE_NAME = "mempalace.yaml"
PREFIX = "PALACE_"
_UNPRINTABLE = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]")
TOKEN_VARIABLES: Mapping[str, KeyPath] = {
    "GITEA_TOKEN": ("artifacts", "gitea", "token"),
    "GITHUB_TOKEN": ("artifacts", "github", "token"),
    "EMBEDDING_API_KEY": ("embeddings", "openai", "api_key"),
}
# What other programs are told too; a settings file wins over these.
FALLBACK_VARIABLES: Mapping[str, KeyPath] = {
    "EMBEDDING_BASE_URL": ("embeddings", "openai", "base_url"),
    "EMBEDDING_MODEL_NAME": ("embeddings", "openai", "model"),
}


def default_yaml() -> str:
    """Return the annotated `mempalace.yaml`: every key, its meaning and its default."""
    head = (
        "Settings of the memory palace. Every key is here with its default; a file needs only the "
        "keys it changes. One file is read, the first of: --config, $PALACE_CONFIG, "
        f"./{FILE_NAME}, config/{FILE_NAME} in the root. A variable goes on top of it: "
        "PALACE_SCRATCHPAD__TTL_S=60 sets ttl_s of scratchpad. Relative paths are relative to the "
        "folder of this file."
    )
    lines = [*_comment(head, 0), "", *_yaml_lines(Settings, ())]
    return "\n".join(lines) + "\n"


def settings_table() -> str:
    """Return a Markdown table: key, default, meaning."""
    rows = ["| key | default | meaning |", "|---|---|---|"]
    for path, info in leaves():
        meaning = (info.description or "").replace("|", "\\|")
        rows.append(f"| `{dotted(path)}` | `{as_yaml(info.default)}` | {meaning} |")
    return "\n".join(rows) + "\n"


def leaves(
    model: type[BaseModel] = Settings, path: KeyPath = ()
) -> Iterator[tuple[KeyPath, FieldInfo]]:
    """Yield every key that holds a value, in the order of the models."""
    for name, info in model.model_fields.items():
        section = section_of(info)
        if section is None:
            yield (*path, name), info
        else:
            yield from leaves(section, (*path, name))


def section_of(info: FieldInfo) -> type[BaseModel] | None:
    """Return the model of a section, None for a key that holds a value."""
    annotation = info.annotation
    # On Python 3.10 `tuple[str, ...]` counts as a type.
    if get_origin(annotation) is not None or not isinstance(annotation, type):
        return None
    return annotation if issubclass(annotation, BaseModel) else None


def alternatives(annotation: object) -> tuple[object, ...]:
    """Return the types of a union, without their constraints."""
    if get_origin(annotation) is Annotated:
        return alternatives(get_args(annotation)[0])
    if get_origin(annotation) is not None and NoneType in get_args(annotation):
        return tuple(t for part in get_args(annotation) for t in alternatives(part))
    return (annotation,)


def is_secret(info: FieldInfo) -> bool:
    """Return whether a key may come from the environment only and is never shown."""
    return SecretStr in alternatives(info.annotation)


def variable(path: KeyPath) -> str:
    """Return the environment variable of a key, such as `PALACE_SEARCH__TOP_K`."""
    return PREFIX + "__".join(str(part) for part in path).upper()


def variables_of(path: KeyPath) -> list[str]:
    """Return every environment variable that sets a key, the one that wins first."""
    return [variable(path), *(name for name, key in TOKEN_VARIABLES.items() if key == path)]


def expected_form(annotation: object) -> str:
    """Return what a type looks like in YAML, for a person."""
    names: Mapping[object, str] = {
        int: "a whole number",
        float: "a number",
        bool: "true or false",
        str: "text",
        NoneType: "null",
        SecretStr: "text",
        Cue: "{pattern: text, kind: a kind of recall}",
    }
    described = []
    for kind in alternatives(annotation):
        if get_origin(kind) is Literal:
            described.append(f"one of {', '.join(get_args(kind))}")
        elif get_origin(kind) is tuple:
            described.append(f"a list in brackets, each {expected_form(get_args(kind)[0])}")
        else:
            described.append(names[kind])
    return " or ".join(described)


def as_yaml(value: object) -> str:
    """Return a value in one line of YAML; a secret only as `***`."""
    if value is None or isinstance(value, bool | int | float):
        return json.dumps(value)
    if isinstance(value, tuple):
        return f"[{', '.join(as_yaml(item) for item in value)}]"
    if isinstance(value, Cue):
        return f"{{pattern: {as_yaml(value.pattern)}, kind: {value.kind}}}"
    if isinstance(value, SecretStr):
        return "***"
    text = str(value)
    plain = re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", text) and text.lower() not in (
        "true",
        "false",
        "null",
    )
    # YAML reads surrogate escapes apart, so other scripts stay as they are; what YAML takes for a
    # line break or refuses is escaped.
    quoted = json.dumps(text, ensure_ascii=False)
    return text if plain else _UNPRINTABLE.sub(lambda m: f"\\u{ord(m[0]):04x}", quoted)


def _yaml_lines(model: type[BaseModel], path: KeyPath) -> Iterator[str]:
    indent = 2 * len(path)
    for name, info in model.model_fields.items():
        key = (*path, name)
        section = section_of(info)
        if not path and section is not None:
            yield ""
        yield from _comment(info.description or "", indent)
        if section is not None:
            yield f"{' ' * indent}{name}:"
            yield from _yaml_lines(section, key)
        elif is_secret(info):
            yield from _comment(f"{name}: set {' or '.join(variables_of(key))}", indent)
        else:
            yield f"{' ' * indent}{name}: {as_yaml(info.default)}"


def _comment(text: str, indent: int) -> list[str]:
    start = " " * indent + "# "
    return textwrap.wrap(
        text, 96, initial_indent=start, subsequent_indent=start, break_on_hyphens=False
    )
