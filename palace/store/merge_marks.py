"""The lines that git writes around the two versions of what it could not merge.

In: the lines of a file. Out: which of them are such marks. They are nobody's words: a memory
between them keeps its text and comment, so that what was retired stays so until a person decides.
"""

from __future__ import annotations

from collections.abc import Sequence

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
