"""What every index must keep.

In: a fixture `index` that can be filled. Out: inherited tests.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta, timezone
from itertools import pairwise
from typing import Any, Protocol

import pytest

from palace.ports import Index, Scope, TermCounts
from palace.types.memory import Document, FileStamp, Memory
from palace.types.verdict import LayerName


class FilledIndex(Index, Protocol):
    """An index with the way in that its contract needs."""

    def apply(
        self,
        documents: Iterable[tuple[Document, FileStamp]],
        *,
        layer: LayerName = "L1",
        removed: Iterable[str] = (),
    ) -> int:
        """Replace these files' memories and forget removed files; return how many were written."""


class IndexContract:
    """What every `Index` promises; give a fixture `index` that returns an empty one.

    The index under test must take documents by `apply`, as `FilledIndex` says.
    """

    everyone = Scope()

    def memory(self, number: int, text: str, **fields: Any) -> Memory:  # noqa: ANN401 - fields of `Memory`
        """Return the `number`th memory of a drawer named `desk/notes`."""
        values: dict[str, Any] = {"path": "rooms/desk/notes.md", "room": "desk", **fields}
        return Memory(
            f"m-{number:08}", text, line=number + 1, drawer="notes", position=number, **values
        )

    def put(self, index: FilledIndex, *memories: Memory, layer: LayerName = "L1") -> None:
        """Replace the file of the first memory by a file with these."""
        path = memories[0].path
        document = Document(path, f"digest of {len(memories)}", "notes", (), memories)
        index.apply([(document, FileStamp(path, 1, 1))], layer=layer)

    def found(
        self, index: Index, *terms: str, scope: Scope = everyone, layer: LayerName = "L1"
    ) -> list[str]:
        """Return the texts that a search finds, best first."""
        candidates = index.candidates(terms, layer=layer, scope=scope, limit=50)
        return [m.text for m in index.load([c.key for c in candidates]).values()]

    def test_empty(self, index: FilledIndex) -> None:
        """Nothing in, nothing out, and no error."""
        assert self.found(index, "anyth") == []
        assert (index.size(), index.get("m-00000001"), index.load([1])) == (0, None, {})
        assert index.counts(["anyth"]) == {"anyth": TermCounts()}
        assert not index.holds("L1")

    def test_best_first_and_limit(self, index: FilledIndex) -> None:
        """More and rarer terms come first; `limit` keeps the best."""
        texts = ("blue kettle", "blue lamp", "blue kettle and green lamp", "blue rug")
        self.put(index, *(self.memory(n, text) for n, text in enumerate(texts)))
        assert self.found(index, "green", "kettl")[0] == "blue kettle and green lamp"
        scores = [c.bm25 for c in index.candidates(["blue"], **self.asking())]
        assert len(scores) == 4
        assert scores == sorted(scores, reverse=True)
        assert all(score > 0 for score in scores)
        (best,) = index.candidates(["green", "kettl"], **self.asking(limit=1))
        assert index.load([best.key])[best.key].position == 2
        assert index.candidates(["blue"], **self.asking(limit=0)) == []

    def asking(self, limit: int = 50) -> Any:  # noqa: ANN401 - keyword arguments of `candidates`
        """Return the usual keyword arguments of a search."""
        return {"layer": "L1", "scope": self.everyone, "limit": limit}

    def test_candidate_tells_tokens_context_and_names(self, index: FilledIndex) -> None:
        """A candidate can be scored without being loaded."""
        self.put(index, self.memory(3, "At noon Mira went home.", heading="Travel", session="s1"))
        (found,) = index.candidates(["go"], **self.asking())
        assert (found.path, found.position, found.session) == ("rooms/desk/notes.md", 3, "s1")
        assert found.body == ("at", "noon", "mira", "go", "home")
        assert {"travel", "note", "desk"} <= set(found.context)
        assert found.names == {"mira"}

    @pytest.mark.parametrize("term", ['"', "*", "NEAR", "AND", "(", ":", "-", "^", "a b", "", "'"])
    def test_operators_are_words(self, index: FilledIndex, term: str) -> None:
        """No term is an operator of a query language."""
        self.put(index, self.memory(0, "blue kettle"))
        assert self.found(index, term, "kettl", term) == ["blue kettle"]
        assert self.found(index, term) == []

    def test_scopes(self, index: FilledIndex) -> None:
        """Project and session memories are visible to their own readers only."""
        scopes = ("global", "project:garden", "session:s1", "project:s1", "session:garden")
        self.put(index, *(self.memory(n, f"kettle {s}", scope=s) for n, s in enumerate(scopes)))
        seen = {
            reader: {m.removeprefix("kettle ") for m in self.found(index, "kettl", scope=reader)}
            for reader in (Scope(), Scope("s1"), Scope(project="garden"), Scope("s1", "garden"))
        }
        assert list(seen.values()) == [
            {"global"},
            {"global", "session:s1"},
            {"global", "project:garden"},
            {"global", "session:s1", "project:garden"},
        ]
        for reader in (Scope("S1"), Scope("s"), Scope(""), Scope("s1' OR '1'='1"), Scope("%")):
            assert self.found(index, "kettl", scope=reader) == ["kettle global"]

    def test_inactive_and_expired_are_never_found(self, index: FilledIndex) -> None:
        """They stay readable by id; neither searches nor neighbours return them."""
        past, later = (datetime(y, 1, 1, tzinfo=timezone.utc) for y in (2001, 9001))
        self.put(
            index,
            self.memory(0, "red kettle", status="inactive", superseded_by="m-00000002"),
            self.memory(1, "green kettle", valid_to=past),
            self.memory(2, "blue kettle", valid_to=later),
        )
        assert self.found(index, "kettl") == ["blue kettle"]
        before = index.candidates(["kettl"], **self.asking(), at=past - timedelta(days=1))
        assert {c.position for c in before} == {1, 2}
        found = index.candidates(["kettl"], **self.asking())
        assert index.neighbours(found, distance=2, scope=self.everyone) == []
        assert [_text_of(index.get(f"m-0000000{n}")) for n in range(3)] == [
            "red kettle",
            "green kettle",
            "blue kettle",
        ]
        assert index.size() == 2  # the expired one is still active
        assert index.holds("L1")

    def test_layers_are_apart(self, index: FilledIndex) -> None:
        """A search sees one layer."""
        self.put(index, self.memory(0, "blue kettle"))
        self.put(index, self.memory(0, "kettle steps", path="playbooks/tea.md"), layer="L4")
        assert self.found(index, "kettl") == ["blue kettle"]
        assert self.found(index, "kettl", layer="L4") == ["kettle steps"]
        assert (index.holds("L1"), index.holds("L2"), index.holds("L4")) == (True, False, True)

    def test_replaced_and_removed_files(self, index: FilledIndex) -> None:
        """What a file no longer holds is gone from searches, counts and size."""
        self.put(index, self.memory(0, "blue kettle"), self.memory(1, "green lamp"))
        before = index.counts(["kettl", "lamp"])
        assert (before["kettl"].any, before["lamp"].any, index.size()) == (1, 1, 2)
        self.put(index, self.memory(0, "red lamp"))
        after = index.counts(["kettl", "lamp"])
        assert (after["kettl"].any, after["lamp"].any, index.size()) == (0, 1, 1)
        assert self.found(index, "kettl", "lamp") == ["red lamp"]
        index.apply((), removed=["rooms/desk/notes.md", "rooms/never/was.md"])
        assert (self.found(index, "lamp"), index.size(), index.holds("L1")) == ([], 0, False)
        assert index.counts(["lamp"]) == {"lamp": TermCounts()}

    def test_counts_tell_names_apart(self, index: FilledIndex) -> None:
        """`name` counts memories that write the term as a name."""
        self.put(index, self.memory(0, "we met Mira Holt"), self.memory(1, "we saw mira beans"))
        count = index.counts(["mira", "bean", "mira"])
        assert (count["mira"], count["bean"]) == (TermCounts(2, 1), TermCounts(1, 0))

    def test_counts_do_not_tell_what_others_hold(self, index: FilledIndex) -> None:
        """A word that only another project or session uses is unknown to a reader."""
        scopes = ("global", "project:garden", "session:s1", "session:s1")
        self.put(index, *(self.memory(n, "kettle of Mira", scope=s) for n, s in enumerate(scopes)))
        self.put(index, self.memory(0, "secret", path="rooms/b.md", scope="project:other"))
        readers = (Scope(), Scope("s1"), Scope(project="garden"), Scope("s1", "garden"), Scope("x"))
        counted = [index.counts(["kettl", "secret"], scope=reader) for reader in readers]
        assert [c["kettl"].any for c in counted] == [1, 3, 2, 4, 1]
        assert {c["secret"].any for c in counted} == {0}
        assert [index.size(scope=reader) for reader in readers] == [1, 3, 2, 4, 1]
        self.put(index, self.memory(0, "x", path="playbooks/x.md", scope="session:s1"), layer="L4")
        assert [index.holds("L4", scope=r) for r in readers] == [False, True, False, True, False]
        assert index.counts(["mira"], scope=Scope("s1"))["mira"].name == 3

    def test_what_stands_together_is_counted(self, index: FilledIndex) -> None:
        """Memories that a reader may see and that hold all terms, in their words or their place."""
        self.put(
            index,
            self.memory(0, "Mira met Rolf Holt"),
            self.memory(1, "Mira Berg called"),
            self.memory(2, "Mira Holt left", status="inactive"),
        )
        self.put(index, self.memory(0, "Mira Holt", path="rooms/b.md", scope="project:other"))
        counted = {("mira", "holt"): 1, ("holt", "berg"): 0, ("mira",): 2, ("mira", "mira"): 2}
        for terms, memories in counted.items():
            assert index.together(terms) == memories
        assert index.together(("mira", "desk")) == 2
        assert index.together(("mira", "holt"), scope=Scope(project="other")) == 2
        for nothing in ((), ("",), ("mira", "\ud800"), ("mira", "k%_'"), ("mira", '"')):
            assert index.together(nothing) == 0

    def test_tokens_that_look_alike_are_found(self, index: FilledIndex) -> None:
        """Whatever is one slip away is among them; nothing that a reader may not see is."""
        near = ["kettl", "kettel", "ketl", "kettles7", "kxttle", "kettlx"]
        self.put(index, self.memory(0, " ".join(near)))
        self.put(index, self.memory(0, "kettla", path="rooms/b.md", scope="project:other"))
        self.put(index, self.memory(0, "kettlo", path="rooms/c.md", status="inactive"))
        assert {"kettl", "kettel", "kxttle", "kettlx"} - set(index.alike("kettle")) == set()
        assert {"ketl", "kettel"} - set(index.alike("kettl")) == set()
        assert "kettl" not in index.alike("kettl")
        assert {"kettla", "kettlo"}.isdisjoint(index.alike("kettl"))
        assert "kettla" in index.alike("kettl", scope=Scope(project="other"))
        assert [list(index.alike(token)) for token in ("", "zzzzz", "\ud800", "k%_'")] == [[]] * 4

    def test_tokens_that_begin_alike_are_found(self, index: FilledIndex) -> None:
        """Whatever begins so and is short enough; nothing that a reader may not see is."""
        self.put(index, self.memory(0, "kettl ket kxttle kettleholders"))
        self.put(index, self.memory(0, "kettla", path="rooms/b.md", scope="project:other"))
        self.put(index, self.memory(0, "kettlo", path="rooms/c.md", status="inactive"))
        assert set(index.beginning("kett", most_chars=7)) == {"kettl"}
        assert set(index.beginning("ke", most_chars=7)) == {"ket", "kettl"}
        assert set(index.beginning("ke", most_chars=4)) == {"ket"}
        assert list(index.beginning("kettla", most_chars=9)) == []
        there = index.beginning("kett", most_chars=7, scope=Scope(project="other"))
        assert set(there) == {"kettl", "kettla"}
        for nothing in ("", "zzzzz", "\ud800", "k%_'"):
            assert list(index.beginning(nothing, most_chars=9)) == []

    def test_inactive_memories_count_for_nothing(self, index: FilledIndex) -> None:
        """What is retired makes no word known."""
        self.put(index, self.memory(0, "red kettle", status="inactive"), self.memory(1, "lamp"))
        assert (index.counts(["kettl"])["kettl"].any, index.size()) == (0, 1)

    def test_frequent_words_do_not_hide_rare_ones(self, index: FilledIndex) -> None:
        """However many memories hold a common word, the few that hold the rare one come first."""
        common = [self.memory(n, "blue kettle") for n in range(3200)]
        self.put(index, *common, self.memory(3200, "the lamp of the kettle is zebra striped"))
        found = index.candidates(["blue", "kettl", "zebra"], **self.asking(limit=5))
        assert "zebra" in found[0].body
        assert len(found) == 5
        assert len(index.candidates(["blue", "kettl"], **self.asking(limit=60))) == 60

    def test_load_keeps_the_order_and_leaves_out_what_vanished(self, index: FilledIndex) -> None:
        """Memories come back whole, in the order asked."""
        memories = [self.memory(n, f"kettle number {n}", tags=("tea",)) for n in range(3)]
        self.put(index, *memories)
        keys = [c.key for c in index.candidates(["kettl"], **self.asking())]
        keys.sort(reverse=True)
        assert [*index.load([*keys[:2], 987_654, keys[2]]).values()] == memories[::-1]
        assert index.load([]) == {}

    def test_candidates_by_key(self, index: FilledIndex) -> None:
        """They are those a search returns, in the order asked; what vanished is left out."""
        self.put(index, *(self.memory(n, f"kettle of Mira {n}") for n in range(3)))
        found = [c._replace(bm25=0.0) for c in index.candidates(["kettl"], **self.asking())]
        keys = [c.key for c in found]
        assert index.candidates_by_key(keys) == found
        assert index.candidates_by_key([keys[2], 987_654, keys[0]]) == [found[2], found[0]]
        assert index.candidates_by_key([]) == []

    def test_keys_are_never_used_twice(self, index: FilledIndex) -> None:
        """What was looked up by an old key is gone, not somebody else."""
        self.put(index, self.memory(0, "blue kettle"), self.memory(1, "blue lamp"))
        old = [c.key for c in index.candidates(["blue"], **self.asking())]
        self.put(index, self.memory(0, "blue rug"), self.memory(1, "blue bag"))
        assert index.candidates_by_key(old) == []
        assert index.load(old) == {}

    def test_neighbours(self, index: FilledIndex) -> None:
        """They stand near in the same file and session."""
        self.put(
            index, *(self.memory(n, f"word{n}", session="s1" if n < 5 else "s2") for n in range(7))
        )
        elsewhere = (self.memory(n, f"other{n}", path="rooms/desk/b.md") for n in range(4))
        self.put(index, *elsewhere)
        (third,) = index.candidates(["word3"], **self.asking())
        near = index.neighbours([third], distance=2, scope=self.everyone)
        assert sorted((c.body[0], c.position - third.position) for c in near) == [
            ("word1", -2),
            ("word2", -1),
            ("word4", 1),
        ]
        assert index.neighbours([third], distance=0, scope=self.everyone) == []
        assert index.neighbours([third], distance=2, scope=self.everyone, known=near) == []

    def test_neighbours_of_several_come_once(self, index: FilledIndex) -> None:
        """None is named twice, and none of those that were asked about is among them."""
        self.put(index, *(self.memory(n, f"word{n}") for n in range(6)))
        two = index.candidates(["word2", "word3"], **self.asking())
        near = index.neighbours(two, distance=2, scope=self.everyone)
        assert sorted(c.body[0] for c in near) == ["word0", "word1", "word4", "word5"]

    def test_neighbours_are_visible_to_the_reader(self, index: FilledIndex) -> None:
        """What stands beside a memory is only for those who may see it."""
        scopes = ("project:garden", "global", "session:s1")
        self.put(index, *(self.memory(n, f"word{n}", scope=s) for n, s in enumerate(scopes)))
        found = index.candidates(["word1"], **self.asking())
        readers = (Scope(), Scope("s1"), Scope(project="garden"), Scope("s1", "garden"))
        seen = [
            sorted(c.body[0] for c in index.neighbours(found, distance=2, scope=reader))
            for reader in readers
        ]
        assert seen == [[], ["word2"], ["word0"], ["word0", "word2"]]

    def test_memories_come_back_whole(self, index: FilledIndex) -> None:
        """By key and by id, with all that the file says of them."""
        when = datetime(2026, 3, 1, 12, tzinfo=timezone.utc)
        whole = self.memory(
            0,
            "The kettle is blue.",
            kind="preference",
            scope="project:garden",
            trust="agent",
            provenance="told",
            tags=("tea",),
            links=("desk/lamp",),
            importance=0.7,
            confidence=0.4,
            created=when,
            updated=when,
            valid_from=when,
            valid_to=when.replace(year=9001),
            triggers=("boil water",),
            speaker="Mira",
            session="s1",
            heading="Kitchen",
            project="garden",
        )
        self.put(index, whole)
        (found,) = index.candidates(["kettl"], **{**self.asking(), "scope": Scope(None, "garden")})
        assert index.load([found.key]) == {found.key: whole}
        assert index.get(whole.id) == whole

    def test_state_differs_after_a_change(self, index: FilledIndex) -> None:
        """It tells that counts and sizes are others by now, and stays while nothing changes."""
        states = [index.state()]
        self.put(index, self.memory(0, "blue kettle"))
        states.append(index.state())
        assert index.state() == states[-1]
        self.put(index, self.memory(0, "green lamp"))
        states.append(index.state())
        index.apply((), removed=["rooms/desk/notes.md"])
        states.append(index.state())
        assert all(one != other for one, other in pairwise(states))

    def test_questions_are_told_from_statements(self, index: FilledIndex) -> None:
        """A candidate says which of its words only ask."""
        self.put(index, self.memory(0, "The kettle is blue."), self.memory(1, "Is the kettle red?"))
        found = index.candidates(["kettl"], **self.asking())
        assert {c.position: bool(c.asks) for c in found} == {0: False, 1: True}
        assert all(0 <= start < end <= len(c.body) for c in found for start, end in c.asks)


def _text_of(memory: Memory | None) -> str:
    return "" if memory is None else memory.text
