"""Where settings come from: `mempalace.yaml`, then `PALACE_…` variables, then arguments.

In: at most one YAML file, environment variables, arguments. Out: `LoadedSettings`, which knows
where every value came from, or one `ConfigError` that names the file, the line and the key; and
the annotated file and the table that are made from the models.
"""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import NoneType
from typing import Any, Literal

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from palace.errors import ConfigError
from palace.settings.file import KeyPath, YamlSource, dotted, parse_yaml, read_yaml
from palace.settings.keys import (
    FALLBACK_VARIABLES,
    FILE_NAME,
    PREFIX,
    TOKEN_VARIABLES,
    alternatives,
    as_yaml,
    default_yaml,
    expected_form,
    is_secret,
    leaves,
    section_of,
    settings_table,
    variable,
    variables_of,
)
from palace.settings.model import Settings
from palace.settings.values import Cue

__all__ = [
    "LoadedSettings",
    "Settings",
    "default_yaml",
    "explain",
    "load_settings",
    "settings_table",
]

FILE_KEY = "(file)"
RESERVED_VARIABLES = frozenset({"PALACE_CONFIG", "PALACE_SESSION", "PALACE_PROJECT"})

_ROOT: KeyPath = ("root",)
_PATH_KEYS: tuple[KeyPath, ...] = (
    ("scratchpad", "dir"),
    ("artifacts", "files", "roots"),
    ("artifacts", "logs", "paths"),
)
_PHRASES: Mapping[str, str] = {
    "missing": "is missing",
    "extra_forbidden": "is not a known key",
    "model_type": "must be a mapping of keys",
    "tuple_type": "must be a list",
    "string_pattern_mismatch": "does not have the right form",
}


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a value came from.

    Attributes:
        kind: `default`, `file`, `env` or `argument`.
        name: The file's path or the variable's name, else "".
        line: Line in the file, 1-based; 0 where there is none.
    """

    kind: Literal["default", "file", "env", "argument"]
    name: str = ""
    line: int = 0

    def __str__(self) -> str:
        where = f"{self.name}:{self.line}" if self.line else self.name
        return f"{self.kind} {where}".rstrip()


@dataclass(frozen=True, slots=True)
class LoadedSettings:
    """Settings with where they came from.

    Attributes:
        settings: The values; `settings.root` is as written, `root` below is what to use.
        origins: Dotted key -> origin, for every key, and for `FILE_KEY`.
        file: The one file that was read, if any.
        root: The palace's folder, absolute, `~` expanded; it need not exist.
        ignored: Settings files that exist too and were not read, because only one is.
    """

    settings: Settings
    origins: Mapping[str, Origin]
    file: Path | None
    root: Path
    ignored: tuple[Path, ...] = ()


@dataclass(frozen=True, slots=True)
class ExplainedSetting:
    """One setting for a person.

    Attributes:
        key: Dotted key, or `FILE_KEY` for the file in use.
        value: As it would be written in YAML; `***` for a secret that is set.
        origin: Where the value came from.
        description: What it means, with unit and bounds.
    """

    key: str
    value: str
    origin: Origin
    description: str


@dataclass(frozen=True, slots=True)
class _Value:
    """A raw value that somebody set.

    Attributes:
        origin: Who set it.
        folder: What relative paths in it are relative to.
        source: The YAML it was written in, for the lines of list items.
    """

    raw: object
    origin: Origin
    folder: Path
    source: YamlSource | None = None


_Values = dict[KeyPath, _Value]


def load_settings(
    *,
    config: Path | None = None,
    root: Path | None = None,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
) -> LoadedSettings:
    """Find, read and check the settings.

    One file is read, the first of: `config`, `$PALACE_CONFIG`, `mempalace.yaml` in `cwd`,
    `config/mempalace.yaml` in the root. `EMBEDDING_BASE_URL` and `EMBEDDING_MODEL_NAME` stand below
    it, for what it leaves out or null. Variables named `PALACE_<SECTION>__<KEY>` go on top of it,
    arguments on top of them; a variable that is empty counts as not set. Relative paths in a file
    are relative to its folder, all others to `cwd`.

    Args:
        config: The file to read; it must exist.
        root: The palace's folder, instead of `PALACE_ROOT` and `root:`.
        env: Environment variables; the process's own where None.
        cwd: Folder to look in; the process's own where None.

    Raises:
        ConfigError: If a file, a variable or a value is wrong; the message says where.
    """
    variables = {k: v for k, v in (os.environ if env is None else env).items() if v.strip()}
    here = Path(cwd or Path.cwd()).absolute()
    from_env = _env_values(variables, here)
    if root is not None:
        from_env[_ROOT] = _Value(str(root), Origin("argument"), here)
    found = next(iter(_files(config, _root_of(from_env, here), variables, here)), None)
    values: _Values = {
        path: _Value(variables[name].strip(), Origin("env", name), here)
        for name, path in FALLBACK_VARIABLES.items()
        if name in variables
    }
    origins = {FILE_KEY: Origin("default")}
    if found is not None:
        told = _file_values(read_yaml(found[0]), found[0].parent)
        values |= {p: v for p, v in told.items() if v.raw is not None or p not in values}
        origins[FILE_KEY] = found[1]
    values |= from_env
    settings = _validated(values)
    for path, _ in leaves():
        origins[dotted(path)] = values[path].origin if path in values else Origin("default")
    # The file that was read may have named the palace, whose own file is not read then.
    meant = _root_of(values, here)
    others = dict.fromkeys(path for path, _ in _files(config, meant, variables, here))
    return LoadedSettings(
        settings=settings,
        origins=origins,
        file=found[0] if found else None,
        root=meant,
        ignored=tuple(p for p in others if found and p != found[0] and _is_there(p)),
    )


def explain(loaded: LoadedSettings) -> list[ExplainedSetting]:
    """Return the file in use, then every setting in the order of the annotated file."""
    ignored = ", ".join(str(path) for path in loaded.ignored)
    rows = [
        ExplainedSetting(
            key=FILE_KEY,
            value=str(loaded.file) if loaded.file else "none",
            origin=loaded.origins[FILE_KEY],
            description="The one settings file that is read."
            + (f" Found too and not read: {ignored}." if ignored else ""),
        )
    ]
    for path, info in leaves():
        value: Any = loaded.settings
        for part in path:
            value = getattr(value, str(part))
        key = dotted(path)
        rows.append(
            ExplainedSetting(key, as_yaml(value), loaded.origins[key], info.description or "")
        )
    return rows


# Finding files and folders


def _files(
    config: Path | None, root: Path, variables: Mapping[str, str], here: Path
) -> list[tuple[Path, Origin]]:
    """Return the files that are named or exist, with who named them; the first one is read."""
    named: list[tuple[Path, Origin]] = []
    if config is not None:
        named.append((_absolute(str(config), here, "argument: `--config`"), Origin("argument")))
    if "PALACE_CONFIG" in variables:
        path = _absolute(variables["PALACE_CONFIG"], here, "environment variable PALACE_CONFIG")
        named.append((path, Origin("env", "PALACE_CONFIG")))
    usual = [
        (path, Origin("file", str(path)))
        for path in (here / FILE_NAME, root / "config" / FILE_NAME)
        if _is_there(path)
    ]
    return [*named, *usual]


def _is_there(path: Path) -> bool:
    try:
        # A folder or a broken link of this name is no reason to go on with the defaults.
        return path.exists() or path.is_symlink()
    except (OSError, ValueError) as error:
        raise ConfigError(
            f"{path} cannot be looked at: {getattr(error, 'strerror', None) or error}",
            hint="check the path and its permissions",
        ) from error


def _root_of(values: _Values, here: Path) -> Path:
    given = values.get(_ROOT)
    if given is None:
        return _absolute(Settings.model_fields["root"].default, here, "`root`")
    return _absolute(str(given.raw), given.folder, f"{_origin_place(given.origin)}`root`")


def _absolute(text: str, folder: Path, where: str) -> Path:
    try:
        return folder / Path(text).expanduser()
    except RuntimeError as error:
        raise ConfigError(
            f"{where}: the home folder in {text!r} is not known", hint="write the whole path"
        ) from error


# Reading values


def _file_values(source: YamlSource, folder: Path) -> _Values:
    """Return the values of a file, after refusing keys and sections that do not exist."""
    data = {} if source.value is None else source.value
    if not isinstance(data, dict):
        raise ConfigError(
            f"{source.name}:1: settings must be a mapping of keys, such as `search:`",
            hint="see the annotated mempalace.yaml",
        )
    if "wing" in data or isinstance(data.get("rooms"), list):
        key = "wing" if "wing" in data else "rooms"
        raise ConfigError(
            f"{source.name}:{source.line((key,))}: `{key}`: this file belongs to the MemPalace "
            "project, another tool that uses the same file name",
            hint="name your own file with --config or PALACE_CONFIG, or rename one of the two",
        )
    return dict(_section_values(source, folder, Settings, data, ()))


def _section_values(
    source: YamlSource,
    folder: Path,
    model: type[BaseModel],
    data: dict[str, object],
    path: KeyPath,
) -> Iterator[tuple[KeyPath, _Value]]:
    for name, raw in data.items():
        key = (*path, name)
        where = f"{source.name}:{source.line(key)}: `{dotted(key)}`"
        info = model.model_fields.get(name)
        if info is None:
            raise ConfigError(f"{where} is not a known key", hint=_key_hint(name, model, path))
        section = section_of(info)
        if section is None:
            if is_secret(info):
                raise ConfigError(
                    f"{where} is a secret and must not stand in a file",
                    hint=f"set it in the environment: {' or '.join(variables_of(key))}",
                )
            yield (
                key,
                _Value(raw, Origin("file", source.name, source.line(key)), folder, source),
            )
        elif isinstance(raw, dict):
            yield from _section_values(source, folder, section, raw, key)
        elif raw is not None:
            keys = ", ".join(section.model_fields)
            raise ConfigError(f"{where} must be a section", hint=f"with keys below it: {keys}")


def _env_values(variables: Mapping[str, str], here: Path) -> _Values:
    names = {variable(path): (path, info) for path, info in leaves()}
    values: _Values = {}
    for name, path in TOKEN_VARIABLES.items():
        if name in variables:
            values[path] = _Value(variables[name].strip(), Origin("env", name), here)
    for name, text in sorted(variables.items()):
        if not name.startswith(PREFIX) or name in RESERVED_VARIABLES:
            continue
        if name not in names:
            near = difflib.get_close_matches(name, names, n=1, cutoff=0.0)
            raise ConfigError(
                f"environment variable {name} is no setting", hint=f"did you mean {near[0]}?"
            )
        path, info = names[name]
        raw, source = _env_value(name, text, info)
        values[path] = _Value(raw, Origin("env", name), here, source)
    return values


def _env_value(name: str, text: str, info: FieldInfo) -> tuple[object, YamlSource | None]:
    if is_secret(info):
        return text.strip(), None
    if str in alternatives(info.annotation):
        nullable = NoneType in alternatives(info.annotation)
        return (None if nullable and text.strip() in ("null", "~") else text), None
    source = parse_yaml(text, name=f"environment variable {name}")
    return source.value, source


# Checking values


def _validated(values: _Values) -> Settings:
    data: dict[str, Any] = {}
    for path, value in values.items():
        section = data
        for part in path[:-1]:
            section = section.setdefault(str(part), {})
        section[str(path[-1])] = _with_whole_paths(path, value)
    try:
        return Settings.model_validate(data)
    except ValidationError as error:
        # The values may hold a token in the wrong place: the error is not chained.
        found = error.errors()
        unknown = [details for details in found if details["type"] == "extra_forbidden"]
        raise _config_error((unknown or found)[0], values) from None


def _with_whole_paths(path: KeyPath, value: _Value) -> object:
    raw = value.raw
    if path not in _PATH_KEYS:
        return raw
    if isinstance(raw, str) and raw:
        where = f"{_origin_place(value.origin)}`{dotted(path)}`"
        return str(_absolute(raw, value.folder, where))
    if isinstance(raw, list):
        return [_with_whole_paths(path, _Value(item, value.origin, value.folder)) for item in raw]
    return raw


def _config_error(details: ErrorDetails, values: _Values) -> ConfigError:
    context = details.get("ctx", {})
    path: KeyPath = details["loc"]
    if "key" in context:
        path = (*path, *context["key"].split("."))
    leaf, info = next(
        ((leaf, info) for leaf, info in leaves() if path[: len(leaf)] == leaf), (path, None)
    )
    kind = details["type"]
    phrase = _PHRASES.get(kind) or re.sub(r"^\w+ should ", "must ", details["msg"])
    expected = f"expected {expected_form(info.annotation)}: {info.description}" if info else ""
    valid = re.findall(r"'([^']*)'", str(context.get("expected", "")))
    if kind == "extra_forbidden":
        expected, valid = f"valid keys: {', '.join(Cue.model_fields)}", list(Cue.model_fields)
        wrong: object = path[-1]
    else:
        wrong = details["input"]
    near = _nearest(wrong, valid)
    where = _place(path, leaf, values)
    return ConfigError(f"{where}`{dotted(path)}` {phrase}", hint=near + expected)


def _place(path: KeyPath, leaf: KeyPath, values: _Values) -> str:
    beside = [v for key, v in values.items() if key[: len(leaf) - 1] == leaf[:-1]]
    value = values.get(leaf) or [*beside, *values.values()][0]
    line = value.source.line(path) if value.source else value.origin.line
    return _origin_place(value.origin, line)


def _origin_place(origin: Origin, line: int = 0) -> str:
    """Return how a message begins that is about a value from there."""
    if origin.kind == "file":
        return f"{origin.name}:{line or origin.line}: "
    if origin.kind == "env":
        return f"environment variable {origin.name}: "
    return "argument: "


def _nearest(wrong: object, valid: Iterable[str]) -> str:
    near = difflib.get_close_matches(wrong, list(valid), n=1) if isinstance(wrong, str) else []
    return f"did you mean `{near[0]}`? " if near else ""


def _key_hint(name: str, model: type[BaseModel], path: KeyPath) -> str:
    near = _nearest(name, model.model_fields)
    if near:
        return near.strip()
    elsewhere = [dotted(leaf) for leaf, _ in leaves() if leaf[-1] == name]
    if elsewhere:
        return f"did you mean `{elsewhere[0]}`?"
    place = f"in {dotted(path)}" if path else "here"
    return f"valid keys {place}: {', '.join(model.model_fields)}"
