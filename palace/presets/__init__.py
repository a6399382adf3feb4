"""Ready-made palaces: starting rooms, playbooks and recall cues, shipped as package data.

In: the name of a preset. Out: its cues, and its files in a palace that does not have them yet.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, get_args

import yaml

from palace.errors import ConfigError, StoreUnavailableError, UnsafeNameError
from palace.types.query import RecallKind
from palace.whole_files import write_whole

if TYPE_CHECKING:
    from importlib.abc import Traversable

CUES_FILE = "cues.yaml"
CONFIG_FILE = "config/mempalace.yaml"


@dataclass(frozen=True, slots=True)
class Preset:
    """A ready-made palace.

    Attributes:
        name: As in the setting `preset`.
        cues: Literal phrases, lower-case, each with the kind of recall it asks for.
        files: The files it brings, relative to the root of a palace, sorted.
    """

    name: str
    cues: tuple[tuple[str, RecallKind], ...]
    files: tuple[str, ...]


def preset_names() -> tuple[str, ...]:
    """Return the names of the presets there are, sorted."""
    entries = resources.files(__name__).iterdir()
    return tuple(sorted(e.name for e in entries if e.is_dir() and e.name[0].isalpha()))


def load_preset(name: str) -> Preset:
    """Return a preset.

    Raises:
        ConfigError: If there is no preset of this name.
    """
    if name not in preset_names():
        raise ConfigError(
            f"there is no preset {name!r}", hint=f"there are: {', '.join(preset_names())}"
        )
    folder = resources.files(__name__) / name
    return Preset(
        name=name,
        cues=tuple(_cues(folder / CUES_FILE)),
        files=tuple(sorted(path for path, _ in _files(folder) if path != CUES_FILE)),
    )


def seed(
    preset: Preset, root: Path, write_file: Callable[[str, bytes], object] | None = None
) -> list[str]:
    """Copy a preset's files into a palace; a file that is there already stays as it is.

    The setting `preset` is written to `config/mempalace.yaml` only if the palace has no settings
    file and the preset brings cues.

    Args:
        preset: What to copy.
        root: The palace; made if needed.
        write_file: Writes one file, given its path relative to the root and its bytes. Without
            it files are written as a whole, new ones 0600 and new folders 0700.

    Returns:
        The files that are new, relative to the root, sorted.

    Raises:
        StoreUnavailableError: If the file system refuses.
        UnsafeNameError: If a folder of the palace is a link that leads out of it.
    """
    source = resources.files(__name__) / preset.name
    wanted = {path: source.joinpath(path).read_bytes() for path in preset.files}
    if preset.cues:
        wanted[CONFIG_FILE] = f"preset: {preset.name}\n".encode()
    added: list[str] = []
    for path, data in sorted(wanted.items()):
        if os.path.lexists(root / path):
            continue
        real = Path(os.path.realpath(root / path))
        if not real.is_relative_to(os.path.realpath(root)):
            raise UnsafeNameError(
                f"{path} leads out of the palace", hint="replace the link by a folder"
            )
        if write_file is None:
            _write(root / path, data)
        else:
            write_file(path, data)
        added.append(path)
    return added


def _write(path: Path, data: bytes) -> None:
    try:
        # Not `.tmp`: nobody holds the palace's lock here, so nobody may tidy this up.
        write_whole(path, data, suffix=".new")
    except OSError as error:
        raise StoreUnavailableError(
            f"{path} cannot be written: {error.strerror or error}",
            hint="check the disk and the permissions of the palace",
        ) from error


def _cues(source: Traversable) -> Iterator[tuple[str, RecallKind]]:
    if not source.is_file():
        return
    by_kind = yaml.safe_load(source.read_text("utf-8"))
    for kind in get_args(RecallKind):
        for phrase in by_kind.get(kind, ()):
            yield phrase, kind


def _files(folder: Traversable, prefix: str = "") -> Iterator[tuple[str, Traversable]]:
    for entry in folder.iterdir():
        if entry.is_dir():
            yield from _files(entry, f"{prefix}{entry.name}/")
        else:
            yield prefix + entry.name, entry
