"""The verbs that weigh memories: feedback, and how strong a memory is by now.

In: ids of memories and verdicts. Out: what the feedback was noted for, and strengths in [0, 1].
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from palace.arguments import check_texts, quoted
from palace.errors import ConfigError, MemoryNotFoundError
from palace.learn.strength import strength
from palace.ports import UNUSED
from palace.store.journal import new_record
from palace.text.moments import utc_now
from palace.types.changes import Feedback
from palace.types.memory import Memory
from palace.verbs.reading import ReadingVerbs

_VERDICT = "v-"


class WeighingVerbs(ReadingVerbs):
    """How memories gain and lose weight; none is ever removed or hidden by it."""

    def strength(self, memory: Memory | str) -> float:
        """Return how strong a memory is now, in [0, 1]; see `palace.learn.strength`.

        Args:
            memory: A memory, its id, or a unique prefix of at least 8 characters.

        Raises:
            MemoryNotFoundError: If there is no such memory.
        """
        found = self.get(memory) if isinstance(memory, str) else memory
        return strength(found, self.tally.counts().get(found.id, UNUSED), at=utc_now())

    def feedback(self, target: str, helpful: bool, *, reason: str = "") -> Feedback:
        """Note whether a memory helped, or everything that a verdict put before its reader.

        Args:
            target: Id of a memory or of a verdict, or its beginning.
            helpful: Whether it helped.
            reason: Why, free text; kept in the journal, secrets removed.

        Raises:
            MemoryNotFoundError: If there is no such memory or verdict, or the verdict used none.
            ConfigError: If no journal is kept, the reason is no text, or `helpful` is neither
                True nor False.
            StoreUnavailableError: If the journal cannot be written.
        """
        check_texts(target=target, reason=reason)
        if not isinstance(helpful, bool):
            raise ConfigError(
                f"helpful must be True or False, not {helpful!r}", hint="give True where it helped"
            )
        if not self.settings.journal.enabled:
            raise ConfigError(
                "feedback is kept in the journal, and none is kept",
                hint="set `journal.enabled: true`",
            )
        verdict = self._verdict_record(target) if target.startswith(_VERDICT) else None
        memories = (self.get(target),) if verdict is None else self._used_by(verdict)
        about = {
            "verdict": verdict["id"] if verdict else None,
            "memories": [m.id for m in memories],
            "helpful": helpful,
            "reason": self._parts.writer.fit(reason) if reason else "",
        }
        session = verdict.get("session") if verdict else None
        record = new_record("feedback", "f", session, about)
        self.journal.append(record)
        strengths = {m.id: self.strength(m) for m in memories}
        return Feedback(str(record["id"]), helpful, memories, strengths)

    def _verdict_record(self, target: str) -> Mapping[str, Any]:
        record = self.journal.find(target)
        if record is None or record["type"] != "verdict":
            raise MemoryNotFoundError(
                f"the journal holds no verdict {quoted(target)}", hint="see `palace journal`"
            )
        return record

    def _used_by(self, verdict: Mapping[str, Any]) -> tuple[Memory, ...]:
        self.refresh(force=False)
        named = verdict.get("injected")
        ids = dict.fromkeys(str(i) for i in named) if isinstance(named, list) else {}
        found = tuple(m for i in ids if (m := self.index.get(i)) is not None and m.id == i)
        if not found:
            raise MemoryNotFoundError(
                f"the verdict {verdict['id']} put no memory of this palace before anyone",
                hint="give the id of a memory; see `palace why ID` for what the verdict found",
            )
        return found
