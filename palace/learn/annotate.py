"""Tags and links of a memory, kept in its comment: the words themselves stay as they were said.

In: a memory, what its words say themselves, and what to add or take away. Out: the memory as it
is now.
"""

from __future__ import annotations

from collections.abc import Sequence

import regex

from palace.errors import ConfigError
from palace.learn.remember import Writer, refuse_unmarked
from palace.secrets import redact
from palace.types.memory import Memory

_TAG = regex.compile(r"(?=.*[^\d/-])[\w/-]{1,200}")


def change_tags(
    writer: Writer,
    memory: Memory,
    said: Sequence[str],
    *,
    add: Sequence[str],
    remove: Sequence[str],
) -> Memory:
    """Add and take away tags; a tag `said` in the words is part of them and stays.

    Raises:
        ConfigError: If a tag is none, or one to take away is not there or stands in the words.
        SecretRefusedError: If a tag to add is one.
    """
    refuse_unmarked(memory, instead="edit")
    added, removed = [fit_tag(t) for t in add], [fit_tag(t) for t in remove]
    writer.check_names(*added)
    drawers = writer.store.read(memory.path).tags
    fixed = {*said, *drawers}
    for tag in removed:
        if tag not in memory.tags:
            there = ", ".join(f"#{t}" for t in memory.tags) or "none"
            raise ConfigError(f"{memory.id} has no tag #{redact(tag)[:80]}", hint=f"it has {there}")
        if tag in fixed:
            where = "the words of the memory" if tag in said else "the head of its drawer"
            raise ConfigError(
                f"the tag #{tag} stands in {where}", hint=f"edit {memory.source} to remove it"
            )
    own = [t for t in memory.tags if t not in fixed]
    wanted = dict.fromkeys([*own, *(t for t in added if t not in fixed)])
    kept = [tag for tag in wanted if tag not in removed]
    return memory if kept == own else writer.update(memory, tags=kept)


def change_links(
    writer: Writer, memory: Memory, said: Sequence[str], target: str, *, remove: bool = False
) -> Memory:
    """Add a link, to a memory by its id or to `room/drawer`, or take away one not `said` in words.

    Raises:
        ConfigError: If a link to take away is not there or stands in the words.
    """
    refuse_unmarked(memory, instead="edit")
    own = [link for link in memory.links if link not in said]
    if not remove:
        known = target in memory.links
        return memory if known else writer.update(memory, links=[*own, target])
    if target not in own:
        where = f"it stands in the words, edit {memory.source}" if target in said else "see `show`"
        raise ConfigError(f"{memory.id} has no link to {target} that can be removed", hint=where)
    return writer.update(memory, links=[link for link in own if link != target])


def fit_tag(tag: str) -> str:
    """Return a tag without its `#`.

    Raises:
        ConfigError: If it is no tag: letters, digits, `_`, `-` and `/`, not digits alone.
    """
    tag = tag.strip().removeprefix("#").rstrip("/-")
    if not _TAG.fullmatch(tag):
        raise ConfigError(
            f"{redact(tag)[:80]!r} is no tag",
            hint="use letters, digits, _, - and /, not digits alone",
        )
    return tag
