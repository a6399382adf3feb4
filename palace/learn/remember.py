"""The one way in: every explicit write passes here before it reaches a file.

In: a draft and where it belongs. Out: `Remembered`, `Duplicate` or `Conflict`; unfit text is
refused with an error that says why.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Literal

from palace.errors import TextRefusedError
from palace.learn.dedup import find_duplicate, is_of_one_place
from palace.ports import ConflictJudge, DrawerStore
from palace.privacy import PrivacyFilter
from palace.recall.blocks import strip_own_markers
from palace.text.moments import new_id, utc_now
from palace.types.changes import Conflict, Duplicate, Match, Remembered, WriteResult
from palace.types.memory import PLAYBOOKS, Draft, Memory, Trust

OnConflict = Literal["ask", "keep", "supersede"]
ON_CONFLICT: tuple[OnConflict, ...] = ("ask", "keep", "supersede")
TRUST_RANK: dict[Trust, int] = {"system": 0, "agent": 1, "user": 2}

Promised = Callable[[str, Sequence[str]], AbstractContextManager[None]]


@dataclass(frozen=True, slots=True)
class Writer:
    """Writes memories.

    Attributes:
        store: The canonical files.
        resembling: Returns active memories of the same scope that resemble a draft.
        written: Called with every path that changed, so that the next question finds it.
        privacy: What may be written.
        max_chars: Longest memory text, in characters.
        reinforced: Takes note that a memory was said again; returns whether it could.
        judge: Has the last word on conflicts; without one the rules decide. It is asked before the
            palace is held, see `judged`.
        promised: Given the id that is about to be stored and those it retires, and held while that
            is done: what a kill leaves half done can be finished.
    """

    store: DrawerStore
    resembling: Callable[[Draft], Sequence[Memory]]
    written: Callable[[str], object]
    privacy: PrivacyFilter = field(default_factory=PrivacyFilter)
    max_chars: int = 4000
    reinforced: Callable[[Memory, Draft, Match], bool] = lambda _memory, _draft, _match: False
    judge: ConflictJudge | None = None
    promised: Promised = lambda _new, _retired: nullcontext()

    def remember(
        self,
        draft: Draft,
        *,
        room: str,
        drawer: str,
        on_conflict: OnConflict = "ask",
        replaces: Sequence[Memory] = (),
    ) -> WriteResult:
        """Store a draft unless the palace holds it already or holds something else.

        A duplicate reinforces the memory that is held, and gives it its triggers and its trust. If
        something else was said in between, it is no duplicate but contradicts that, and is treated
        so. A less trusted word never retires a more trusted one: an agent that would supersede what
        a person said gets the conflict back. So does a draft that was said before the memory it
        contradicts. No other writer comes between the look and the last step.

        Args:
            draft: What to store.
            room: Room, made if it does not exist.
            drawer: Drawer, made if it does not exist.
            on_conflict: `ask` returns the conflict, `keep` stores both, `supersede` retires every
                memory that says otherwise.
            replaces: Memories that are retired in favour of what is stored, or of the duplicate.

        Raises:
            SecretRefusedError: If text or provenance holds a secret (and they are not redacted), or
                the name of a room, a drawer, a tag or another one does.
            TextRefusedError: If the text is empty, too long or holds control characters.
            UnsafeNameError: If a name would leave the palace.
            StoreUnavailableError: If another writer holds the palace for too long, or the disk
                refuses.
        """
        draft = self._fit_draft(draft, room, drawer)
        writer = self.judged(draft, on_conflict=on_conflict, replaces=replaces)
        with self.store.locked():
            return writer._settle(
                draft, room=room, drawer=drawer, on_conflict=on_conflict, replaces=replaces
            )

    def judged(
        self, draft: Draft, *, on_conflict: OnConflict = "ask", replaces: Iterable[Memory] = ()
    ) -> Writer:
        """Return this writer with what the judge says of a draft; without a judge it is the same.

        It is called before the palace is locked for several steps, so that nobody waits for a
        model. About what others store meanwhile the judge is not asked: there the rules decide.

        Args:
            draft: What will be stored.
            on_conflict: As in `remember`; nothing needs to be asked where both are kept.
            replaces: As in `remember`; nothing needs to be asked about what goes. Only drawn from
                where there is a judge.

        Raises:
            TextRefusedError: If the text is unfit.
        """
        from palace.learn.conflict import Said, ask_judge

        if self.judge is None or isinstance(self.judge, Said) or on_conflict == "keep":
            return self
        draft = replace(draft, text=self.fit(draft.text))
        similar = self._similar(draft, {m.id for m in replaces})
        again = find_duplicate(draft.text, similar, at=draft.created) is not None
        return replace(self, judge=ask_judge(self.judge, draft.text, () if again else similar))

    def _similar(self, draft: Draft, without: Collection[str]) -> list[Memory]:
        found = (m for m in self.resembling(draft) if m.id not in without)
        return [m for m in found if _hold_at_once(m, draft)]

    def _settle(
        self,
        draft: Draft,
        *,
        room: str,
        drawer: str,
        on_conflict: OnConflict,
        replaces: Sequence[Memory],
    ) -> WriteResult:
        # Only a write needs the rules and their word lists; asking must start without them.
        from palace.learn.conflict import find_conflicts

        going = list(replaces)
        similar = self._similar(draft, {m.id for m in going})
        duplicate = find_duplicate(draft.text, _repeatable(draft, going, similar), at=draft.created)
        if duplicate is not None:
            memory, match = duplicate
            since = _contested(memory, draft, similar) if on_conflict != "keep" else []
            if not find_conflicts(draft.text, since, judge=self.judge):
                with self._promise(memory.id, going):
                    memory = self.said_again(memory, draft)
                    self._retire(going, by=memory)
                return Duplicate(memory, match, reinforced=self.reinforced(memory, draft, match))
            going.append(memory)
        if on_conflict != "keep":
            found = find_conflicts(draft.text, similar, judge=self.judge)
            outranked = any(
                TRUST_RANK[draft.trust] < TRUST_RANK[old.trust] or said_later(old, draft.created)
                for old, _ in found
            )
            if found and (on_conflict == "ask" or outranked):
                return _conflict(draft, found)
            going += [old for old, _ in found]
        draft = replace(_until_the_plan(draft, going), id=new_id("m"))
        with self._promise(draft.id, going):
            memory = self.store.add(draft, room=room, drawer=drawer)
            self.written(memory.path)
            self._retire(going, by=memory)
        # A comment on what was retired above it has moved it down.
        now = self.store.read(memory.path).memories if going else ()
        return Remembered(next((m for m in now if m.id == memory.id), memory))

    def _promise(self, new: str, going: Iterable[Memory]) -> AbstractContextManager[None]:
        ids = tuple(dict.fromkeys(m.id for m in going))
        return self.promised(new, ids) if ids else nullcontext()

    def _retire(self, going: Iterable[Memory], *, by: Memory) -> None:
        # One for each place: a copy of a whole file has the same ids.
        for old in {m.source: m for m in going}.values():
            self.update(old, **superseded_fields(old, by))

    def said_again(self, memory: Memory, draft: Draft) -> Memory:
        """Note on a memory what a repetition brings: further triggers, the word of one above."""
        brought: dict[str, object] = {}
        if further := [t for t in draft.triggers if t not in memory.triggers]:
            brought = {"triggers": [*memory.triggers, *further], "kind": draft.kind}
        if TRUST_RANK[draft.trust] > TRUST_RANK[memory.trust]:
            brought["trust"] = draft.trust
        return self.update(memory, **brought) if brought else memory

    def update(self, memory: Memory, **fields: object) -> Memory:
        """Change metadata of a memory, and return it as the next question finds it."""
        changed = self.store.update(memory, **fields)
        self.written(changed.path)
        return changed

    def _fit_draft(self, draft: Draft, room: str, drawer: str) -> Draft:
        self.check_names(
            room, drawer, draft.project, draft.task, draft.session, draft.key, *draft.tags
        )
        origin = self.fit(draft.provenance) if draft.provenance.strip() else ""
        return replace(draft, text=self.fit(draft.text), provenance=origin)

    def check_names(self, *names: str) -> None:
        """Refuse names that hold what may not be written.

        Raises:
            SecretRefusedError: If one holds a secret.
            PersonalDataRefusedError: If one holds personal data (and that is blocked).
        """
        self.privacy.check_name("\n".join(names))

    def fit(self, text: str, *, note_chars: int | None = None) -> str:
        """Return the text as it will be stored, or refuse it.

        Args:
            text: Any text.
            note_chars: Longest note, in characters; None if it is no note.

        Raises:
            SecretRefusedError: If it holds a secret (and they are not redacted).
            PersonalDataRefusedError: If it holds personal data (and that is blocked).
            TextRefusedError: If it is empty, too long or holds control characters.
        """
        # Its patterns are compiled by who writes; asking must start without them.
        from palace.learn.hygiene import control_character_reason, normalise_statement

        text = normalise_statement(strip_own_markers(text))
        if not text:
            raise TextRefusedError("there is nothing to remember", hint="give a statement")
        reason = control_character_reason(text)
        if reason:
            raise TextRefusedError(f"the text holds {reason}", hint="paste it as plain text")
        most, kept = (self.max_chars, "memory") if note_chars is None else (note_chars, "note")
        if len(text) > most:
            raise TextRefusedError(
                f"the text has {len(text)} characters, at most {most} fit a {kept}",
                hint="store one statement at a time, or import the document",
            )
        return self.privacy.written(text)


def refuse_unmarked(memory: Memory, *, instead: str) -> None:
    """Refuse what can have no comment: a playbook, which is a file of its own, and front matter.

    Args:
        memory: What is to be changed.
        instead: What to do with a playbook's file.
    """
    if memory.is_value:
        raise TextRefusedError(
            f"{memory.id} is a value of the front matter of {memory.path}",
            hint=f"change it there by hand, in line {memory.line}; the next question finds it",
        )
    if memory.room == PLAYBOOKS:
        raise TextRefusedError(
            f"{memory.id} is a playbook, not a memory", hint=f"{instead} the file {memory.path}"
        )


def superseded_fields(old: Memory, by: Memory) -> dict[str, object]:
    """Return what is noted on a memory that another one replaces.

    It is retired, unless the other one is not true yet: until then the old one holds, and what is
    asked meanwhile is answered by it.
    """
    begin = by.valid_from
    if begin is None or begin <= utc_now() or _is_before(begin, old.valid_from):
        return {"status": "inactive", "superseded_by": by.id}
    return {"valid_to": min(begin, old.valid_to or begin), "superseded_by": by.id}


def makes_room(memory: Memory) -> bool:
    """Whether a memory holds until another one begins, which is a plan as yet."""
    waits = memory.status == "active" and bool(memory.superseded_by)
    return waits and memory.valid_to is not None and memory.valid_to > utc_now()


def said_later(memory: Memory, moment: datetime | None) -> bool:
    """Whether a memory is newer than what was said at a moment; None is now.

    A memory of a day to come tells of a clock that is wrong, and of nothing newer.
    """
    written = memory.created
    return written is not None and moment is not None and moment < written <= utc_now()


def _repeatable(draft: Draft, going: Iterable[Memory], held: Sequence[Memory]) -> Sequence[Memory]:
    """Return what a draft may repeat, so that it needs not be stored.

    The value of a key repeats nothing. What stands behind a memory repeats only what stands beside
    that one: its headings are half of what it says.
    """
    if draft.key:
        return ()
    behind = next((m for m in going if m.id == draft.behind), None)
    return [m for m in held if is_of_one_place(behind, m)] if behind else held


def _contested(held: Memory, draft: Draft, others: Iterable[Memory]) -> list[Memory]:
    """Return what other memories say that came between a memory and a draft that repeats it.

    If they say otherwise the draft is news, and no duplicate: "deploys are on Tuesdays again". A
    less trusted word than what is held makes no news.
    """
    if TRUST_RANK[draft.trust] < TRUST_RANK[held.trust]:
        return []
    later = (m for m in others if said_later(m, held.created))
    return [m for m in later if not said_later(m, draft.created)]


def _hold_at_once(memory: Memory, draft: Draft) -> bool:
    """Whether there is a moment at which both are said to be true."""
    is_over = _is_before(memory.valid_to, draft.valid_from)
    return not is_over and not _is_before(draft.valid_to, memory.valid_from)


def _until_the_plan(draft: Draft, going: Iterable[Memory]) -> Draft:
    """Return a draft that holds until a plan begins, if what it replaces would have ended there.

    The draft says nothing of the plan, which stands; without an end both would hold from then on.
    """
    gone = {m.id: m for m in going}
    ends = [
        (m.valid_to, m.superseded_by)
        for m in gone.values()
        if makes_room(m) and m.valid_to is not None and m.superseded_by not in gone
    ]
    end, plan = min(ends, default=(None, ""))
    is_over = draft.valid_to is not None and end is not None and draft.valid_to < end
    return draft if end is None or is_over else replace(draft, valid_to=end, superseded_by=plan)


def _is_before(end: datetime | None, begin: datetime | None) -> bool:
    return end is not None and begin is not None and end <= begin


def _conflict(draft: Draft, found: Sequence[tuple[Memory, str]]) -> Conflict:
    """Return the conflict with the most trusted of the memories; the others stand beside it."""
    ordered = sorted(found, key=lambda pair: -TRUST_RANK[pair[0].trust])
    memory, detail = ordered[0]
    ours, theirs = TRUST_RANK[draft.trust], TRUST_RANK[memory.trust]
    return Conflict(
        memory,
        detail,
        stronger="neither" if ours == theirs else "new" if ours > theirs else "stored",
        others=tuple(other for other, _ in ordered[1:]),
    )
