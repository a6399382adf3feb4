"""The verb that looks for memories nobody should obey.

In: a palace. Out: what looks like an attack on its readers, with where it stands and whose word it
is; nothing is changed.
"""

from __future__ import annotations

from collections.abc import Iterator

from palace.enforce.markers import harmless
from palace.secrets import redact
from palace.store.playbook_files import as_memory
from palace.text import clip
from palace.types.checks import Suspect
from palace.types.memory import IDENTITY_FILE, Trust
from palace.verbs.reading import ReadingVerbs

_EXCERPT_CHARS = 160


class AuditingVerbs(ReadingVerbs):
    """What can be said of a palace's trustworthiness."""

    def audit(self) -> tuple[Suspect, ...]:
        """Return everything stored that looks like an attack on whoever reads it.

        Orders to the reader, imitations of our markers, our metadata or a chat protocol, hidden
        text, and what loads or sends something. Identity, memories (retired ones too), playbooks
        and the living notes of all sessions are read; see `palace.enforce.suspicion`.
        """
        self.refresh()
        return tuple(self._suspects())

    def _suspects(self) -> Iterator[Suspect]:
        yield from _suspect(self.identity.text, "identity", source=IDENTITY_FILE, trust="user")
        playbooks = [as_memory(playbook) for playbook in self.playbook_files.all()]
        for memory in (*self.index.memories(), *playbooks):
            yield from _suspect(
                memory.text,
                memory.id,
                source=memory.source,
                trust=memory.trust,
                beside=(memory.heading, memory.title, memory.speaker, memory.reason),
            )

        for session in self.scratchpad.sessions():
            for entry in self.scratchpad.entries(session):
                yield from _suspect(
                    entry.text, entry.id, source=f"scratchpad:{session}", trust=entry.source
                )


def _suspect(
    text: str, identifier: str, *, source: str, trust: Trust, beside: tuple[str, ...] = ()
) -> Iterator[Suspect]:
    """Yield a suspect if its words, or what a reader gets to see beside them, are suspicious."""
    from palace.enforce.suspicion import suspicions

    reasons = suspicions("\n".join(part for part in (text, *beside) if part))
    if reasons:
        excerpt = clip(harmless(redact(text)), _EXCERPT_CHARS)
        yield Suspect(identifier, source, trust=trust, reasons=reasons, excerpt=excerpt)
