"""Comments left behind: a person deleted the words of a memory, and not the comment below them.

In: the memories a file had and those it has. Out: the ids whose comment now stands under the words
of another memory. The file alone cannot tell: a reworded memory looks the same, with its comment
under other words. So it is noticed when the change is taken in, while both versions are known.
"""

from __future__ import annotations

from collections.abc import Iterable

from palace.types.memory import Memory


def orphaned(before: Iterable[Memory], now: Iterable[Memory]) -> list[str]:
    """Return the ids that were words of their own before and are another memory's now.

    Args:
        before: The memories of a file as it was.
        now: As it is.
    """
    known = {memory.id: memory.text for memory in before}
    now = list(now)
    texts = {memory.text for memory in now}
    hers = {text for name, text in known.items() if name.startswith("d-")}
    hers -= {memory.text for memory in now if memory.id.startswith("d-")}
    return [
        memory.id
        for memory in now
        if memory.text in hers
        and known.get(memory.id, memory.text) != memory.text
        and known[memory.id] not in texts
    ]
