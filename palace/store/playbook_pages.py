"""A playbook as the one memory that it is in the index, found by its triggers and its steps.

In: a playbook. Out: the memory.
"""

from __future__ import annotations

from palace.store.blocks import find_blocks, split_lines
from palace.types.memory import PLAYBOOKS, Memory, Playbook


def as_memory(playbook: Playbook) -> Memory:
    """Return a playbook as the memory that the walk may hand on: title, cautions and steps."""
    cautions = [
        f"{label}: {'; '.join(items)}"
        for label, items in (
            ("Prerequisites", playbook.prerequisites),
            ("Warnings", playbook.warnings),
        )
        if items
    ]
    return Memory(
        id=f"p-{playbook.name}",
        text="\n".join([playbook.title, *cautions, _body(playbook)]),
        path=playbook.path,
        line=playbook.line,
        room=PLAYBOOKS,
        drawer=playbook.name,
        title=playbook.title,
        kind="procedure",
        triggers=playbook.triggers,
    )


def _body(playbook: Playbook) -> str:
    """Return the steps, numbered; where anything stands beside them, all of it as it is written.

    A warning in words of its own must not get lost, and the steps of a way back are not the last
    steps of the way there.
    """
    lines = split_lines(playbook.body)
    blocks = [
        b for b in find_blocks([line.rstrip("\r\n") for line in lines]) if b.kind != "comment"
    ]
    if blocks and blocks[0].kind == "heading" and blocks[0].title == playbook.title:
        del lines[blocks[0].start : blocks.pop(0).end]
    if blocks and all(block.ordered for block in blocks):
        return "\n".join(f"{number}. {step}" for number, step in enumerate(playbook.steps, 1))
    return "".join(lines).strip()
