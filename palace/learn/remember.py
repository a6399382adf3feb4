"""The one way in: every explicit write passes here before it reaches a file.

In: a draft and where it belongs. Out: `Remembered`, `Duplicate` or `Conflict`; unfit text is
refused with an error that says why.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from palace.errors import TextRefusedError
from palace.learn.dedup import find_duplicate
from palace.learn.hygiene import control_character_reason, normalise_statement, strip_own_markers
from palace.ports import ConflictJudge, DrawerStore
from palace.privacy import PersonalData, PrivacyFilter, Secrets
from palace.types import Conflict, Draft, Duplicate, Match, Memory, Remembered, Trust, WriteResult

OnConflict = Literal["ask", "keep", "supersede"]
ON_CONFLICT: tuple[OnConflict, ...] = ("ask", "keep", "supersede")
_RANK: dict[Trust, int] = {"system": 0, "agent": 1, "user": 2}


@dataclass(frozen=True, slots=True)
class Writer:
    """Writes memories.

    Attributes:
        store: The canonical files.
        resembling: Returns active memories of the same scope that resemble a draft.
        written: Called with every path that changed, so that the next question finds it.
        secrets: `refuse` or `redact`.
        personal_data: `off`, `redact` or `block`.
        max_chars: Longest memory text, in characters.
        reinforced: Takes note that a memory was said again; returns whether it could.
        judge: Has the last word on conflicts; without one the rules decide.
    """

    store: DrawerStore
    resembling: Callable[[Draft], Sequence[Memory]]
    written: Callable[[str], object]
    secrets: Secrets = "refuse"
    personal_data: PersonalData = "off"
    max_chars: int = 4000
    reinforced: Callable[[Memory, Draft, Match], bool] = lambda _memory, _draft, _match: False
    judge: ConflictJudge | None = None

    def remember(
        self, draft: Draft, *, room: str, drawer: str, on_conflict: OnConflict = "ask"
    ) -> WriteResult:
        """Store a draft unless the palace holds it already or holds something else.

        A duplicate reinforces what is held. A word that counts less never retires one that counts
        more: an agent that would supersede what a person said gets the conflict instead.

        Args:
            draft: What to store.
            room: Room, made if it does not exist.
            drawer: Drawer, made if it does not exist.
            on_conflict: `ask` returns the conflict, `keep` stores both, `supersede` retires every
                memory that says otherwise.

        Raises:
            SecretRefusedError: If the text holds a secret (and they are not redacted).
            TextRefusedError: If the text is empty, too long or holds control characters.
            UnsafeNameError: If a name would leave the palace.
        """
        # Only a write needs the rules and their word lists; asking must start without them.
        from palace.learn.conflict import find_conflicts

        draft = replace(draft, text=self.fit(draft.text))
        similar = self.resembling(draft)
        duplicate = find_duplicate(draft.text, similar)
        if duplicate is not None:
            memory, match = duplicate
            return Duplicate(memory, match, reinforced=self.reinforced(memory, draft, match))
        found = find_conflicts(draft.text, similar, judge=self.judge)
        outranked = any(_RANK[draft.trust] < _RANK[old.trust] for old, _ in found)
        if found and (on_conflict == "ask" or (on_conflict == "supersede" and outranked)):
            return _conflict(draft, found)
        memory = self.store.add(draft, room=room, drawer=drawer)
        self.written(memory.path)
        for old, _ in found if on_conflict == "supersede" else ():
            self.store.update(old, status="inactive", superseded_by=memory.id)
            self.written(old.path)
        return Remembered(memory)

    def fit(self, text: str) -> str:
        """Return the text as it will be stored, or refuse it.

        Raises:
            SecretRefusedError: If it holds a secret (and they are not redacted).
            PersonalDataRefusedError: If it holds personal data (and that is blocked).
            TextRefusedError: If it is empty, too long or holds control characters.
        """
        text = normalise_statement(strip_own_markers(text))
        if not text:
            raise TextRefusedError("there is nothing to remember", hint="give a statement")
        reason = control_character_reason(text)
        if reason:
            raise TextRefusedError(f"the text holds {reason}", hint="paste it as plain text")
        if len(text) > self.max_chars:
            raise TextRefusedError(
                f"the text has {len(text)} characters, at most {self.max_chars} fit a memory",
                hint="store one statement at a time, or import the document",
            )
        return PrivacyFilter(self.secrets, self.personal_data).written(text)


def _conflict(draft: Draft, found: Sequence[tuple[Memory, str]]) -> Conflict:
    """Return the contradiction of the strongest word, the others beside it."""
    ordered = sorted(found, key=lambda pair: -_RANK[pair[0].trust])
    memory, detail = ordered[0]
    ours, theirs = _RANK[draft.trust], _RANK[memory.trust]
    return Conflict(
        memory,
        detail,
        stronger="neither" if ours == theirs else "new" if ours > theirs else "stored",
        others=tuple(other for other, _ in ordered[1:]),
    )
