"""The whole facade against a dictionary: whatever is done, what stands is found and nothing else."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    initialize,
    invariant,
    multiple,
    rule,
    run_state_machine_as_test,
)

from palace import Mempalace, RetrievalEnforcer
from palace.types.changes import WriteResult
from palace.types.memory import Memory

SESSION = "s-1"
# Statements of different things in different words: none is a duplicate or denial of another.
STATEMENTS = (
    "The kettle in the kitchen is blue.",
    "Mira Holt repairs bicycles near the harbour.",
    "Our greenhouse keeps seventeen tomato plants.",
    "The violin lesson begins at half past four.",
    "Backups of the archive run every Sunday night.",
    "Jonas is allergic to walnuts.",
    "The ferry to the island costs 12 euros.",
    "A spare key hangs behind the cellar door.",
    "Deploys of the billing worker need two approvals.",
    "The telescope was lent to the school in Arbon.",
    "Grandmother's soup wants lovage and barley.",
    "The projector bulb was replaced in March.",
    "Das Zelt liegt im Schuppen hinter dem Haus.",
    "Le chat dort toujours sur le radiateur.",
    "The orchard database listens on port 5433.",
    "Every invoice gets a green stamp.",
)
DRAWERS = ("notes", "plans")


class Facade(RuleBasedStateMachine):
    """Acts through every verb; the model is what stands: words by id, and words that are gone."""

    ids = Bundle("ids")

    @initialize()
    def begin(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.root = Path(self.folder.name) / "palace"
        self.palace = Mempalace.open(self.root)
        self.standing: dict[str, str] = {}
        self.unsaid = list(STATEMENTS)
        self.before: dict[str, str] = {}
        self.undoable = False

    def teardown(self) -> None:
        if hasattr(self, "palace"):
            self.palace.close()
            self.folder.cleanup()

    def stored(self, result: WriteResult, text: str) -> str:
        assert result.status == "stored", (result, text)
        assert result.memory.text == text
        return result.memory.id

    def changing(self) -> None:
        self.before = dict(self.standing)
        self.undoable = True

    def next_statement(self) -> str:
        return self.unsaid.pop(0) if self.unsaid else ""

    @rule(target=ids, drawer=st.sampled_from(DRAWERS))
    def remember(self, drawer: str) -> object:
        if not (text := self.next_statement()):
            return multiple()
        self.changing()
        added = self.stored(self.palace.remember(text, room="home", drawer=drawer), text)
        self.standing[added] = text
        return added

    @rule(known=ids)
    def remember_again(self, known: str) -> None:
        if known in self.standing:
            was = self.palace.get(known).trust
            again = self.palace.remember(self.standing[known], room="home")
            assert (again.status, again.memory.id) == ("duplicate", known)
            if again.memory.trust != was:  # a person's word for what an agent promoted
                self.changing()

    @rule(target=ids, known=ids)
    def correct(self, known: str) -> object:
        if known not in self.standing or not (text := self.next_statement()):
            return multiple()
        self.changing()
        added = self.stored(self.palace.correct(known, text), text)
        del self.standing[known]
        self.standing[added] = text
        return added

    @rule(known=consumes(ids))
    def forget(self, known: str) -> None:
        if known in self.standing:
            self.changing()
            assert self.palace.forget(known).status == "inactive"
            del self.standing[known]

    @rule(known=ids, tag=st.sampled_from(("red", "later")))
    def tag(self, known: str, tag: str) -> None:
        if known in self.standing and tag not in self.palace.get(known).tags:
            self.changing()
            assert tag in self.palace.tag(known, [tag]).tags

    @rule()
    def undo(self) -> None:
        if self.undoable:
            self.palace.undo()
            self.standing = dict(self.before)
            self.undoable = False

    @rule(target=ids)
    def note_and_promote(self) -> object:
        if not (text := self.next_statement()):
            return multiple()
        entry = self.palace.note(f"seen: {text}", session_id=SESSION)
        assert entry.id in [one.id for one in self.palace.notes(SESSION)]
        self.changing()
        result = self.palace.promote_to_palace(
            entry, "home", "plans", summary=text, reason="it will be needed"
        )
        added = self.stored(result, text)
        self.standing[added] = text
        return added

    @rule(drawer=st.sampled_from(DRAWERS), ends=st.sampled_from(("\n", "\r\n")))
    def add_by_hand(self, drawer: str, ends: str) -> None:
        page = self.root / "rooms" / "home" / f"{drawer}.md"
        if page.exists() and (text := self.next_statement()):
            page.write_bytes(page.read_bytes().rstrip() + f"{ends}- {text}{ends}".encode())
            self.palace.refresh()
            added = [m for m in self.active() if m.text == text]
            assert len(added) == 1
            self.standing[added[0].id] = text
            self.undoable = False

    @rule(known=ids)
    def delete_by_hand(self, known: str) -> None:
        if known not in self.standing:
            return
        page = self.root / self.palace.get(known).path
        lines = page.read_bytes().splitlines(keepends=True)
        (at,) = [n for n, line in enumerate(lines) if self.standing[known].encode() in line]
        # With its comment: left behind, that would become the comment of the item before it.
        commented = lines[at + 1 : at + 2] and lines[at + 1].lstrip().startswith(b"<!-- memory")
        kept = lines[:at] + lines[at + (2 if commented else 1) :]
        page.write_bytes(b"".join(kept))
        self.palace.refresh()
        del self.standing[known]
        self.undoable = False

    @rule()
    def reindex(self) -> None:
        was = self.shown()
        self.palace.reindex()
        assert self.shown() == was

    @rule()
    def reopen(self) -> None:
        was = self.shown()
        self.palace.close()
        self.palace = Mempalace.open(self.root)
        assert self.shown() == was

    @rule(known=ids)
    def ask(self, known: str) -> None:
        if known in self.standing:
            prompt = f"Do you remember this: {self.standing[known]}"
            told = RetrievalEnforcer(self.palace).decide(prompt).evidence
            assert {e.id for e in told if e.layer == "L1"} <= set(self.standing)
            assert {e.text for e in told} & set(STATEMENTS) <= set(self.standing.values())

    def active(self) -> list[Memory]:
        return self.palace.memories()

    def shown(self) -> list[tuple[str, str, tuple[str, ...], str]]:
        every = self.palace.memories(include_inactive=True)
        return sorted((m.id, m.text, m.tags, m.status) for m in every)

    @invariant()
    def what_stands_is_there_and_nothing_else(self) -> None:
        if not hasattr(self, "palace"):
            return
        assert {m.id: m.text for m in self.active()} == self.standing
        every = [m.id for m in self.palace.memories(include_inactive=True)]
        assert len(every) == len(set(every))

    @invariant()
    def what_stands_is_found_and_nothing_else(self) -> None:
        if not hasattr(self, "palace"):
            return
        for text in list(self.standing.values())[-4:]:
            found = [hit.memory for hit in self.palace.search(text)]
            assert text in [m.text for m in found]
            assert {m.id for m in found} <= set(self.standing)


def test_the_facade_does_as_the_model():
    modest = settings(max_examples=15, stateful_step_count=12, deadline=None)
    run_state_machine_as_test(Facade, settings=modest)
