"""The lines that git writes around the two versions of what it could not merge.

In: the lines of a file. Out: which of them are such marks, and faults that name the conflicts. The
marks are no words of a memory: one that stands between them keeps its text and its comment, so that
what was retired stays retired until a person decides.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from palace.store.blocks import Fence, opens_fence
from palace.types.memory import Fault

_OURS, _BASE, _BETWEEN, _THEIRS = "<<<<<<< ", "||||||| ", "=======", ">>>>>>> "


def merge_marks(lines: Sequence[str]) -> dict[int, bool]:
    """Return the numbers of the marks, 0-based, and whether a conflict begins there.

    Code may show a conflict: what stands between fences is no mark, unless the fences belong to an
    item. Code stands under the item there, and marks stand at the margin.
    """
    marks: dict[int, bool] = {}
    if not any(line.startswith(_OURS) for line in lines):
        return marks
    inside = False
    fence: Fence | None = None
    for number, line in enumerate(lines):
        is_shown = fence is not None and fence.column == 0
        begins = line.startswith(_OURS)
        ends = inside and line.startswith(_THEIRS)
        parts = inside and (line == _BETWEEN or line.startswith(_BASE))
        if not is_shown and (begins or ends or parts):
            marks[number] = begins
            inside = not ends
        elif fence is None:
            fence = opens_fence(line)
        elif fence.closed_by(line):
            fence = None
    return marks


def conflicts(path: str, marks: Mapping[int, bool]) -> list[Fault]:
    """Return a fault for each conflict of a file.

    Args:
        path: Of the file, as faults name it.
        marks: What `merge_marks` returned.
    """
    said = "a conflict of git's that is not resolved: keep one of the versions"
    return [Fault(path, number + 1, said) for number, begins in marks.items() if begins]


def without_marks(lines: Sequence[str], marks: Mapping[int, bool]) -> Sequence[str]:
    """Return the lines of a file with a blank one in the place of each mark."""
    return ["" if n in marks else line for n, line in enumerate(lines)] if marks else lines


def other_versions(lines: Sequence[str], marks: Mapping[int, bool]) -> set[int]:
    """Return the numbers of the lines at which another version of some words begins.

    A paragraph does not go on there. Where only comments differ, the words stand above both.

    Args:
        lines: Of the file.
        marks: What `merge_marks` returned.
    """
    numbers = sorted(marks)
    return {
        mark + 1
        for before, mark in pairwise(numbers)
        if not marks[mark]
        and not lines[mark].startswith(_THEIRS)
        and any(map(_has_words, lines[before + 1 : mark]))
        and _has_words("".join(lines[mark + 1 : mark + 2]))
    }


def _has_words(line: str) -> bool:
    bare = line.strip()
    return bool(bare) and not bare.startswith("<!--")
