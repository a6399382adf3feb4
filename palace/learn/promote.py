"""Promotion: from a session's note to a memory, only on purpose and in plain words.

In: a scratchpad entry, a summary and a reason. Out: a draft; raw tool output is refused.
"""

from __future__ import annotations

from palace.errors import TextRefusedError
from palace.learn.remember import Writer
from palace.ports import scope_of
from palace.text.moments import utc_now
from palace.types.memory import Draft, MemoryKind
from palace.types.session import ScratchEntry


def promotion_of(
    entry: ScratchEntry,
    writer: Writer,
    *,
    summary: str,
    reason: str,
    kind: MemoryKind = "fact",
    project: str = "",
) -> Draft:
    """Return the summary of a note as a draft that names its note, session and reason.

    Raises:
        TextRefusedError: If summary or reason is empty, or note or summary is raw tool output.
        SecretRefusedError: If note, summary or reason holds a secret.
    """
    for name, value in (("summary", summary), ("reason", reason)):
        if not value.strip():
            raise TextRefusedError(
                f"a promotion needs a {name}",
                hint="say in one sentence what is worth keeping, and why",
            )
    from palace.learn.hygiene import raw_output_reason

    for name, value in (("note", entry.text), ("summary", summary)):
        if raw := raw_output_reason(value):
            raise TextRefusedError(
                f"the {name} is raw tool output: {raw}",
                hint="note in your own words what was learned from it, then promote that note",
            )
    writer.fit(entry.text)
    return Draft(
        text=summary,
        kind=kind,
        scope=scope_of(project),
        trust=entry.source,
        provenance=f"scratchpad:{entry.id}",
        created=utc_now(),
        project=project,
        session=entry.session_id,
        reason=writer.fit(reason),
    )
