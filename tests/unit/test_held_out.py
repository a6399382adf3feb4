"""A palace without one of its parts: nothing of it is found, counted or weighed."""

from __future__ import annotations

from palace.ports import Background, Scope, TermCounts
from palace.recall.held_out import IndexWithout, VectorsWithout
from tests.doubles import indexed, memory

EVERYWHERE = Scope()


def test_what_is_hidden_was_never_written() -> None:
    index = indexed(
        memory("The blue kettle whistles.", 0, path="rooms/kitchen/a.md", room="kitchen"),
        memory("A kettle for Mira.", 0, path="rooms/gifts/b.md", room="gifts"),
    )
    view = IndexWithout(index, index.candidates_in("kitchen"))
    found = view.candidates(["kettl"], layer="L1", scope=EVERYWHERE, limit=5)
    assert [c.path for c in found] == ["rooms/gifts/b.md"]
    counts = view.counts(["kettl", "blue", "mira", "unheard"])
    assert (counts["kettl"].any, counts["blue"].any, counts["mira"]) == (1, 0, TermCounts(1, 1))
    assert counts["unheard"] == TermCounts()
    assert index.beginning("kett", most_chars=9) == view.beginning("kett", most_chars=9)
    assert (index.beginning("blu", most_chars=9), view.beginning("blu", most_chars=9)) == (
        ["blue"],
        [],
    )
    assert view.size() == 1
    hidden = [c.key for c in index.candidates_in("kitchen")]
    assert view.candidates_by_key(hidden) == []
    assert view.load(hidden) == {}


def test_a_full_answer_comes_from_further_down() -> None:
    index = indexed(
        *(memory("kettle kettle", n, path="rooms/kitchen/a.md", room="kitchen") for n in range(9)),
        memory("one kettle among many other words", 0, path="rooms/gifts/b.md", room="gifts"),
    )
    view = IndexWithout(index, index.candidates_in("kitchen"))
    assert len(view.candidates(["kettl"], layer="L1", scope=EVERYWHERE, limit=1)) == 1


def test_a_word_left_in_a_heading_is_still_known() -> None:
    index = indexed(
        memory("The kettle.", 0, path="rooms/kitchen/a.md", room="kitchen"),
        memory("Blue.", 0, path="rooms/gifts/b.md", room="gifts", heading="Kettle"),
    )
    view = IndexWithout(index, index.candidates_in("kitchen"))
    assert view.counts(["kettl"])["kettl"].any == 1


def test_a_word_hidden_in_a_body_and_in_headings_is_unknown() -> None:
    index = indexed(
        memory("The kettle.", 0, path="rooms/kitchen/a.md", room="kitchen"),
        memory("Blue.", 1, path="rooms/kitchen/a.md", room="kitchen", heading="Kettle"),
        memory("Red.", 2, path="rooms/kitchen/a.md", room="kitchen", heading="Kettle"),
        memory("Green.", 0, path="rooms/gifts/b.md", room="gifts"),
    )
    view = IndexWithout(index, index.candidates_in("kitchen"))
    assert view.counts(["kettl"])["kettl"] == TermCounts()


class FixedVectors:
    """Nearest by a fixed list."""

    state = None

    def ask(self, text: str) -> bytes:
        return text.encode()

    def nearest(self, vector, *, layer, scope, limit):
        return [(key, 1 - key / 100) for key in range(20)][:limit]

    def cosines(self, vector, keys):
        return dict.fromkeys(keys, 0.5)

    def background(self, vector):
        return Background(0.1, 0.2)


def test_vectors_of_what_is_hidden_are_not_near() -> None:
    view = VectorsWithout(FixedVectors(), range(10))
    near = view.nearest(view.ask("x"), layer="L1", scope=EVERYWHERE, limit=3)
    assert [key for key, _ in near] == [10, 11, 12]
    assert view.cosines(b"", [1, 11]) == {11: 0.5}
    assert view.background(b"") == Background(0.1, 0.2)
