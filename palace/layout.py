"""The layout of a new palace: folders, a first identity, the annotated settings, ready-made rooms.

In: an open palace. Out: what was made and what was there already; nothing is ever overwritten.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from palace.presets import load_preset, seed
from palace.whole_files import write_whole

if TYPE_CHECKING:
    from palace.mempalace import Mempalace

FIRST_IDENTITY = (
    "I keep what I learn in a memory palace. Before I answer a question about the past I look"
    " there, and I say so when I do not have it."
)
_FOLDERS = ("rooms", "playbooks", "timeline", "config")


@dataclass(frozen=True, slots=True)
class LaidOut:
    """What laying out did.

    Attributes:
        made: Paths relative to the root that are new.
        kept: Paths relative to the root that were there already.
        advice: What the person may want to do by hand.
    """

    root: Path
    made: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    advice: tuple[str, ...] = ()


def lay_out(palace: Mempalace, *, preset: str | None = None, sample: bool = False) -> LaidOut:
    """Make what a palace needs and does not have; folders 0700, files 0600.

    Args:
        palace: An open palace.
        preset: Ready-made rooms and playbooks; a new settings file switches its cues on too.
        sample: Whether to add memories to try the palace with.

    Raises:
        ConfigError: If the preset is not known.
        OSError: If the file system refuses.
    """
    root = palace.root
    wanted = [load_preset(name) for name in (preset, "sample" if sample else None) if name]
    before = _files(root)
    for name in _FOLDERS:
        (root / name).mkdir(mode=0o700, exist_ok=True)
    settings_file = root / "config" / "mempalace.yaml"
    if settings_made := not os.path.lexists(settings_file):
        write_whole(settings_file, _first_settings(preset).encode())
    for one in wanted:
        seed(one, root)
    # Last, because a preset brings an identity that fits it.
    if not (root / "identity.txt").exists():
        palace.set_identity(FIRST_IDENTITY)
    palace.refresh()
    advice: list[str] = []
    if preset and not settings_made and palace.settings.preset != preset:
        advice.append(f"write `preset: {preset}` into {settings_file} to use its recall cues")
    if stray := palace.store.stray():
        advice.append(f"notes outside rooms/ are not read, such as {stray}: move them there")
    made = tuple(sorted(_files(root) - before))
    return LaidOut(root, made, tuple(sorted(before)), tuple(advice))


def _first_settings(preset: str | None) -> str:
    from palace.settings import default_yaml

    # The file is found through the root: naming it there again would pin a palace that moves.
    text = default_yaml().replace("\nroot: ", "\n# root: ", 1)
    return text.replace("\npreset: none\n", f"\npreset: {preset}\n", 1) if preset else text


def _files(root: Path) -> set[str]:
    """Return the files a person may edit, as paths relative to the root."""
    found = [root / "identity.txt", *(p for name in _FOLDERS for p in (root / name).rglob("*"))]
    return {path.relative_to(root).as_posix() for path in found if path.is_file()}
