"""The lines that git writes around the two versions of what it could not merge.

In: the lines of a file. Out: which of them are such marks. The marks are no words of a memory: one
that stands between them keeps its text and its comment, so that what was retired stays retired
until a person decides.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from palace.store.blocks import with_code

_OURS, _BASE, _BETWEEN, _THEIRS = "<<<<<<< ", "||||||| ", "=======", ">>>>>>> "


def merge_marks(lines: Sequence[str]) -> dict[int, bool]:
    """Return the numbers of the marks, 0-based, and whether a conflict begins there.

    Code may show a conflict: what stands between fences is no mark.
    """
    marks: dict[int, bool] = {}
    if not any(line.startswith(_OURS) for line in lines):
        return marks
    inside = False
    for number, (line, is_code) in enumerate(with_code(lines)):
        begins = line.startswith(_OURS)
        ends = inside and line.startswith(_THEIRS)
        parts = inside and (line == _BETWEEN or line.startswith(_BASE))
        if not is_code and (begins or ends or parts):
            marks[number] = begins
            inside = not ends
    return marks


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
