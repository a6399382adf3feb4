"""Search: from a query to scored candidates and hits."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from palace.ports import Background, VectorState
from palace.recall.fusion import Fusion
from palace.recall.logistic import LogisticModel
from palace.recall.search import Searcher
from palace.text import tokens
from palace.types.query import Query
from tests.doubles import VanishingIndex, indexed, memory

TEXTS = ("the blue kettle", "a green lamp", "blue lamp and blue kettle", "no such thing")


def query(text: str, **scope: Any) -> Query:
    return Query(text, tuple(dict.fromkeys(tokens(text))), **scope)


@pytest.fixture
def searcher() -> Searcher:
    return Searcher(indexed(*(memory(text, n) for n, text in enumerate(TEXTS))))


def test_hits_are_best_first_with_parts(searcher: Searcher) -> None:
    hits = searcher.hits(query("kettle lamp"), top_k=10)
    assert hits[0].memory.text == "blue lamp and blue kettle"
    assert {h.memory.text for h in hits} == set(TEXTS[:3])
    assert [h.score for h in hits] == sorted((h.score for h in hits), reverse=True)
    assert hits[0].parts["coverage"] == 1.0


def test_top_k(searcher: Searcher) -> None:
    assert len(searcher.hits(query("kettle lamp"), top_k=1)) == 1
    assert searcher.hits(query("kettle"), top_k=0) == []
    few = replace(searcher, candidates=1)
    assert len(few.hits(query("kettle lamp"), top_k=3)) == 3


def test_nothing_found(searcher: Searcher) -> None:
    assert searcher.scored(query("zeppelin")) == []
    assert searcher.scored(query("")) == []
    assert searcher.hits(query(""), top_k=3) == []
    assert searcher.hits(query("kettle"), top_k=3, layer="L4") == []


def test_carried_terms_are_searched_too(searcher: Searcher) -> None:
    asked = Query("that", (), carried=("kettl",))
    assert {h.memory.text for h in searcher.hits(asked, top_k=5)} == {TEXTS[0], TEXTS[2]}


def test_the_scope_of_the_query_counts() -> None:
    index = indexed(
        memory("kettle for all", 0),
        memory("kettle of the garden", 1, scope="project:garden"),
        memory("kettle of today", 2, scope="session:s1"),
    )
    found = {
        len(Searcher(index).hits(query("kettle", **scope), top_k=9))
        for scope in ({}, {"project": "other"}, {"session_id": "s2"})
    }
    assert found == {1}
    assert len(Searcher(index).hits(query("kettle", project="garden"), top_k=9)) == 2
    assert len(Searcher(index).hits(query("kettle", session_id="s1"), top_k=9)) == 2


def test_the_number_of_candidates_is_bounded() -> None:
    index = indexed(*(memory(f"kettle number {n}", n) for n in range(30)))
    assert len(Searcher(index, candidates=7).scored(query("kettle"))) == 7


def test_turns_around_a_turn_join_in_unless_turned_off() -> None:
    turns = [
        memory(text, n, session="s1")
        for n, text in enumerate(("hello there", "which kettle", "the blue one", "bye"))
    ]
    index = indexed(*turns)
    near = Searcher(index, neighbour_distance=1).scored(query("kettle"))
    assert [s.candidate.position for s in near][0] == 1
    assert {s.candidate.position for s in near} == {0, 1, 2}
    alone = Searcher(index, neighbour_distance=0).scored(query("kettle"))
    assert [s.candidate.position for s in alone] == [1]


def test_a_turn_of_another_scope_lends_nothing() -> None:
    index = indexed(
        memory("which kettle", 0, session="s1"),
        memory("secret price", 1, session="s1", scope="session:s1"),
    )
    (only,) = Searcher(index).scored(query("kettle price"))
    assert only.features["coverage_window"] < 1


def test_a_memory_that_vanished_takes_its_score_with_it() -> None:
    index = indexed(*(memory(text, n) for n, text in enumerate(TEXTS)))
    usual = {h.memory.text: h.score for h in Searcher(index).hits(query("kettle lamp"), top_k=9)}
    hits = Searcher(VanishingIndex(index)).hits(query("kettle lamp"), top_k=9)
    assert len(hits) == 2
    assert {h.memory.text: h.score for h in hits} == {
        h.memory.text: usual[h.memory.text] for h in hits
    }


class ScriptedVectors:
    """A channel of meaning that was told how near each memory is, by its key."""

    def __init__(self, cosines: dict[int, float], state: VectorState | None = None) -> None:
        self._cosines = cosines
        self.state = state or VectorState("ready", len(cosines), len(cosines))

    def ask(self, text: str) -> Any:
        return [1.0]

    def nearest(self, vector: Any, *, limit: int, **_: Any) -> list[tuple[int, float]]:
        return sorted(self._cosines.items(), key=lambda pair: -pair[1])[:limit]

    def cosines(self, vector: Any, keys: Any) -> dict[int, float]:
        return {key: self._cosines[key] for key in keys if key in self._cosines}

    def background(self, vector: Any) -> Background:
        return Background(0.2, 0.1)


def near(**options: Any) -> Searcher:
    """Return a searcher to which the lamp is near in meaning, and the kettle is not."""
    index = indexed(*(memory(text, n) for n, text in enumerate(TEXTS)))
    cosines = {
        scored.candidate.key: cosine
        for text, cosine in (("a green lamp", 0.9), ("the blue kettle", 0.1))
        for scored in Searcher(index).scored(query(text))[:1]
    }
    return Searcher(index, ScriptedVectors(cosines), **options)


def test_what_is_near_in_meaning_is_found_once_beside_what_shares_words() -> None:
    found = near().scored(query("kettle green"))
    assert [s.candidate.position for s in found].count(1) == 1
    assert {s.candidate.position for s in found} == {0, 1, 2}
    (only, other) = near().scored(query("zeppelin"))
    assert [s.candidate.position for s in (only, other)] == [1, 0]
    assert only.features["closeness"] > other.features["closeness"]
    # .9 and .1 are 7 and -1 deviations of .1 from .2.
    assert [s.features["beyond_chance"] for s in (only, other)] == pytest.approx([0.7, -0.1])


def test_a_model_or_a_fusion_of_ones_own_orders_where_meaning_speaks() -> None:
    words = LogisticModel({"bm25": 1.0}, 5.0, {})
    assert {s.rank for s in near(with_meaning=words).scored(query("zeppelin"))} == {5.0}
    by_share = near(fusion=Fusion("weighted", vector_share=1.0)).scored(query("kettle"))
    assert by_share[0].candidate.position == 1
    assert near(fusion=Fusion("weighted", vector_share=0.0)).scored(query("kettle"))[
        0
    ].candidate.position in {0, 2}


@pytest.mark.parametrize(
    ("state", "told"),
    [
        (VectorState("ready", 2, 2), ""),
        (VectorState("partial", 1, 2, "1 of 2"), "words answered for the rest: 1 of 2"),
        (VectorState("partial", 0, 2, "0 of 2"), "words answered alone: 0 of 2"),
        (VectorState("partial", 0, 0, "not asked"), ""),
        (VectorState("unavailable", 1, 2, "down"), "words answered alone: down"),
        (VectorState("mismatch", 1, 2, "other"), "words answered alone: other"),
    ],
)
def test_words_that_answer_say_so(state: VectorState, told: str) -> None:
    assert Searcher(indexed(), ScriptedVectors({}, state)).words_alone == told
    assert Searcher(indexed()).words_alone == ""


def test_related_words_find_what_was_not_found_yet_and_is_visible() -> None:
    index = indexed(
        memory("the kettle sings", 0),
        memory("the pot and the kettle", 1),
        memory("a pot of tea", 2),
        memory("a secret pot", 3, scope="project:garden"),
    )
    asked = Query("kettle", tuple(tokens("kettle")), related={"kettl": {"pot": 0.8, "urn": 0.7}})
    found = [s.candidate.position for s in Searcher(index).scored(asked)]
    assert sorted(found) == [0, 1, 2]
