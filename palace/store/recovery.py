"""Whether a file still has what the palace wrote into it, and the text in which it has it again.

In: a parsed page and a write of the log. Out: what became of the write, and new text of the page.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from datetime import datetime, timezone

from palace.errors import StoreError
from palace.store.blocks import dedent, indentation
from palace.store.markdown import Page, parse
from palace.store.written_log import Written
from palace.types.checks import Overwriting, Overwritten
from palace.types.memory import Memory


def written_to(page: Page, before: Page | None, memory_id: str, *, at: float) -> Written:
    """Return what the log keeps of a memory that was just written.

    Args:
        page: Its file as it is now.
        before: Its file as it was; None if the memory is new.
        memory_id: Of the memory.
        at: When, in seconds since the epoch.
    """
    new = _by_id(page, memory_id)
    if new is None:
        return Written(at, page.path, memory_id, before="", lines=())
    old = _by_id(before, memory_id) if before else None
    comment = (before.comment_of(old.position) or "") if before and old else ""
    return Written(at, page.path, memory_id, before=comment, lines=page.block_lines(new.position))


def overwritten(
    log: Sequence[Written],
    page_of: Callable[[str], Page],
    standing: Callable[[Iterable[str]], set[str]],
) -> list[Overwritten]:
    """Return the writes that do not stand in their files any more, oldest first.

    Args:
        log: Writes, oldest first; the last one of each memory counts.
        page_of: Returns a file as it is.
        standing: Returns which of these ids stand anywhere: a person may move a memory.
    """
    last = {written.id: written for written in log}
    comments: dict[str, set[str]] = {}
    for written in log:
        comments.setdefault(written.id, set()).add(written.before)
    pages = {path: page_of(path) for path in {written.path for written in last.values()}}
    found = [
        (written, what_happened(pages[written.path], written, earlier=comments[written.id] - {""}))
        for written in last.values()
    ]
    missing = [written.id for written, how in found if how == "missing"]
    moved = standing(missing) if missing else set()
    return [
        Overwritten(
            id=written.id,
            path=written.path,
            text=text_of(written),
            at=datetime.fromtimestamp(written.at, timezone.utc),
            how=how,
        )
        for written, how in found
        if how and written.id not in moved
    ]


def what_happened(
    page: Page, written: Written, *, earlier: Collection[str] = ()
) -> Overwriting | None:
    """Return what became of a write in its file; None if it stands, or a person changed it since.

    Args:
        page: The file as it is.
        written: The last write of this memory.
        earlier: Metadata comments this memory had before.
    """
    found = _find(page, written)
    if not written.lines:
        return "back" if found else None
    if found is None:
        return "missing"
    if found.id != written.id:
        return "older"
    comment = page.comment_of(found.position) or ""
    return "older" if comment != _comment(written) and comment in earlier else None


def recovered(page: Page, written: Written) -> str:
    """Return the text of a page in which a write stands again.

    Raises:
        StoreError: If it cannot stand there without changing others.
    """
    found = _find(page, written)
    if found is None:
        lines = [dedent(line, indentation(written.lines[0])) for line in written.lines]
        text = page.append_lines(lines, is_item=_alone(written).ends_in_item)
    elif written.lines:
        text = page.with_block(found.position, written.lines)
    else:
        return page.remove(found.position)
    _refuse_changes(page, parse(page.path, text), written.id, found)
    return text


def text_of(written: Written) -> str:
    """Return the words of a memory as they were written; "" if it was erased."""
    return next((memory.text for memory in _alone(written).memories), "")


def _find(page: Page, written: Written) -> Memory | None:
    """Find a memory by its id, or by its words where its comment was taken back too."""
    found = _by_id(page, written.id)
    if found or not written.lines:
        return found
    text = text_of(written)
    same = (m for m in page.memories if m.id.startswith("d-") and m.text == text)
    return next(same, None)


def _by_id(page: Page, memory_id: str) -> Memory | None:
    return next((m for m in reversed(page.memories) if m.id == memory_id), None)


def _alone(written: Written) -> Page:
    return parse(written.path, "\n".join(written.lines))


def _comment(written: Written) -> str:
    alone = _alone(written)
    return (alone.comment_of(0) or "") if alone.memories else ""


def _refuse_changes(before: Page, after: Page, memory_id: str, found: Memory | None) -> None:
    replaced = found.position if found else -1
    others = [m.text for m in before.memories if m.position != replaced]
    if [m.text for m in after.memories if m.id != memory_id] != others:
        raise StoreError(
            f"the memory {memory_id} cannot be put back into {before.path} as it was",
            hint="store its words anew",
        )
