"""A finished task in one entry: what was done, what was concluded, what was decided.

In: what a person or an agent says of it, and what was condensed while it was worked on. Out: the
text of an entry for the timeline.
"""

from __future__ import annotations

from collections.abc import Sequence

from palace.errors import TextRefusedError
from palace.text import clip
from palace.types.memory import Memory

_MAX_DONE_CHARS = 1500
_MAX_NAME_CHARS = 400


def task_session(task: str) -> str:
    """Return what the timeline calls the session of a task that ended in none."""
    return " ".join(f"Task {task}".split())


def name_line(task: str) -> str:
    """Return the first line of a task's entry: its name."""
    return clip(task, _MAX_NAME_CHARS)


def archive_text(
    task: str,
    *,
    done: str,
    conclusions: Sequence[str],
    decisions: Sequence[str],
    condensed: Sequence[Memory] = (),
) -> str:
    """Return the entry of a finished task: its name, then one line for each part.

    Args:
        task: Its name.
        done: What was done; the lines condensed under the task stand in for it if it is empty.
        conclusions: One sentence each.
        decisions: One sentence each.
        condensed: Entries of the timeline that belong to the task, oldest first.

    Raises:
        TextRefusedError: If there is nothing to say of it.
    """
    said = clip(done, _MAX_DONE_CHARS) if done.strip() else _from_summaries(condensed)
    parts = [
        ("Done", [said] if said else []),
        ("Conclusions", conclusions),
        ("Decisions", decisions),
    ]
    lines = [name_line(task)]
    for title, items in parts:
        kept = [clip(item, _MAX_DONE_CHARS) for item in items if item.strip()]
        if len(kept) == 1:
            lines.append(f"{title}: {kept[0]}")
        elif kept:
            lines += [f"{title}:", *(f"- {item}" for item in kept)]
    if len(lines) == 1:
        raise TextRefusedError(
            f"there is nothing to archive of the task {clip(task, 80)!r}",
            hint="say what was done, concluded or decided",
        )
    return "\n".join(lines)


def _from_summaries(condensed: Sequence[Memory]) -> str:
    own = [m for m in condensed if m.provenance != "task"]
    text = " ".join(line.removeprefix("- ") for m in own for line in m.text.splitlines())
    return clip(text, _MAX_DONE_CHARS) if text else ""
