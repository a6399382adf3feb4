"""Keyed memories: a key names a place for one value, and a new value takes it over.

In: a draft with a key, and the memories that hold the key now. Out: a write result; older values
stay in their files as history.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import regex

from palace.errors import ConfigError
from palace.learn.dedup import find_duplicate, says_the_same
from palace.learn.remember import TRUST_RANK, OnConflict, Writer
from palace.secrets import redact
from palace.types.changes import Conflict, Duplicate, WriteResult
from palace.types.memory import Draft, Memory

_KEY = regex.compile(r"[\p{L}\p{N}_][\p{L}\p{N}_.:/-]{0,79}")


def fit_key(key: str) -> str:
    """Return a key without blanks around it.

    Raises:
        ConfigError: If it is no key: letters, digits and `_.:/-`, at most 80 characters.
    """
    key = key.strip()
    if not _KEY.fullmatch(key) or key[-1] == "-" or "--" in key:
        raise ConfigError(
            f"{redact(key)[:80]!r} is no key",
            hint="use letters, digits and _.:/- as in user_language_pref; at most 80 characters",
        )
    return key


def remember_keyed(
    writer: Writer,
    draft: Draft,
    holders: Sequence[Memory],
    *,
    room: str,
    drawer: str,
    on_conflict: OnConflict = "ask",
) -> WriteResult:
    """Store the value of a key; afterwards it is the one and only active one.

    Args:
        writer: The one way in.
        draft: With a key that `fit_key` returned.
        holders: Active memories of the same scope that hold the key.
        room: Where a new key is stored.
        drawer: Likewise.
        on_conflict: What happens where the new value contradicts a memory without this key.

    Returns:
        `Duplicate` of the value itself; `Conflict` with a value that is the word of somebody more
        trusted (nothing written); `Remembered` otherwise.
    """
    draft = replace(draft, text=writer.fit(draft.text))
    known = find_duplicate(draft.text, holders)
    if known is not None and len(holders) == 1:
        memory, match = writer.said_again(known[0], draft), known[1]
        return Duplicate(memory, match, reinforced=writer.reinforced(memory, draft, match))
    above = next((m for m in holders if TRUST_RANK[m.trust] > TRUST_RANK[draft.trust]), None)
    if above is not None:
        detail = f"the {above.trust} set {draft.key}, and this is the word of the {draft.trust}"
        return Conflict(above, detail, stronger="stored")
    for held in holders:  # updated in place: what stands beside the words stays, unless given anew
        draft = replace(
            draft,
            tags=draft.tags or held.tags,
            links=draft.links or held.links,
            triggers=draft.triggers or held.triggers,
            behind=draft.behind or held.id,
        )
    # What was told without the key goes; what a person wrote stands, with its headings, for itself.
    told = [m for m in writer.resembling(draft) if not m.id.startswith("d-")]
    same = [m for m in told if says_the_same(draft.text, m.text)]
    return writer.remember(
        draft, room=room, drawer=drawer, on_conflict=on_conflict, replaces=(*holders, *same)
    )
