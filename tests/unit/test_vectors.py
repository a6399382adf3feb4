"""Nearest neighbours: who is seen, who is not, and what is kept up with."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Iterator, Mapping
from datetime import datetime, timezone
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from palace.errors import EmbedderMismatchError, StoreUnavailableError
from palace.ports import EmbedderIdentity, Scope, Vector
from palace.store.index_sqlite import SqliteIndex
from palace.store.passages import passage_digest, passage_of
from palace.store.vector_file import VectorFile
from palace.store.vectors import VectorIndex
from palace.testing import HashedEmbedder
from palace.types.memory import Memory
from tests.doubles import memory, paged

EVERYONE = Scope()
EMBEDDER = HashedEmbedder()


@pytest.fixture
def index() -> Iterator[SqliteIndex]:
    index = SqliteIndex(None)
    yield index
    index.close()


@pytest.fixture
def file(tmp_path: Path) -> Iterator[VectorFile]:
    file = VectorFile(tmp_path / ".palace")
    yield file
    file.close()


def embed(file: VectorFile, *memories: Memory) -> None:
    passages = {passage_digest(passage_of(m)): passage_of(m) for m in memories}
    vectors = EMBEDDER.embed(list(passages.values()), kind="passage")
    file.add(list(zip(passages, vectors, strict=True)), identity=EMBEDDER.identity)


def put(
    index: SqliteIndex, file: VectorFile, *memories: Memory, path: str = "rooms/a/b.md"
) -> None:
    index.apply([paged(*memories, path=path)])
    embed(file, *memories)


def found(
    index: SqliteIndex,
    vectors: VectorIndex,
    text: str,
    *,
    scope: Scope = EVERYONE,
    limit: int = 10,
) -> list[str]:
    (asked,) = EMBEDDER.embed([text], kind="query")
    keys = [key for key, _ in vectors.nearest(asked, layer="L1", scope=scope, limit=limit)]
    return [m.text for m in index.load(keys).values()]


def test_nothing_is_embedded(index: SqliteIndex, file: VectorFile) -> None:
    vectors = VectorIndex(index, file)
    assert found(index, vectors, "kettle") == []
    index.apply([paged(memory("blue kettle"))])
    assert found(index, vectors, "kettle") == []
    (asked,) = EMBEDDER.embed(["kettle"], kind="query")
    assert vectors.cosines(asked, [1]) == {}
    assert vectors.counts() == (0, 1)


def test_nearest_first_with_cosines(index: SqliteIndex, file: VectorFile) -> None:
    texts = ("blue kettle", "blue lamp", "grey rug", "kettle")
    put(index, file, *(memory(t, n) for n, t in enumerate(texts)))
    vectors = VectorIndex(index, file)
    assert found(index, vectors, "kettle")[:2] == ["kettle", "blue kettle"]
    (asked,) = EMBEDDER.embed(["kettle"], kind="query")
    ranked = vectors.nearest(asked, layer="L1", scope=EVERYONE, limit=3)
    assert [score for _, score in ranked] == sorted((s for _, s in ranked), reverse=True)
    assert ranked[0][1] == pytest.approx(1.0)
    assert len(ranked) == 3
    assert vectors.cosines(asked, [key for key, _ in ranked] + [999]) == pytest.approx(dict(ranked))
    assert vectors.nearest(asked, layer="L1", scope=EVERYONE, limit=0) == []
    assert vectors.nearest(asked, layer="L4", scope=EVERYONE, limit=3) == []


def test_scope_is_a_filter_inside(index: SqliteIndex, file: VectorFile) -> None:
    """Others' memories are no nearer neighbours that push the own ones out of the list."""
    others = [memory(f"kettle {n}", n, scope="session:s2") for n in range(60)]
    put(index, file, *others, memory("a kettle of the garden", 60, scope="project:garden"))
    vectors = VectorIndex(index, file)
    assert found(index, vectors, "kettle", limit=1) == []
    garden = Scope(project="garden")
    assert found(index, vectors, "kettle", scope=garden, limit=1) == ["a kettle of the garden"]
    assert len(found(index, vectors, "kettle", scope=Scope("s2"), limit=99)) == 60
    assert found(index, vectors, "kettle", scope=Scope("None", "None")) == []


def test_retired_expired_and_removed_are_not_found(index: SqliteIndex, file: VectorFile) -> None:
    past = datetime(2001, 1, 1, tzinfo=timezone.utc)
    kept = [memory(f"kettle number {n}", n) for n in range(3)]
    gone = [memory("kettle", n + 10, valid_to=past) for n in range(40)]
    put(index, file, *kept, *gone, memory("kettle of old", 99, status="inactive"))
    put(index, file, memory("kettle elsewhere"), path="rooms/a/c.md")
    vectors = VectorIndex(index, file)
    assert set(found(index, vectors, "kettle")) == {m.text for m in kept} | {"kettle elsewhere"}
    index.apply((), removed=["rooms/a/c.md"])
    assert set(found(index, vectors, "kettle")) == {m.text for m in kept}
    index.apply([paged(*kept[:2], path="rooms/a/b.md")])
    assert found(index, vectors, "kettle") == [m.text for m in kept[:2]]
    assert vectors.counts() == (2, 2)


def test_changes_are_taken_in(index: SqliteIndex, file: VectorFile) -> None:
    vectors = VectorIndex(index, file)
    texts = [f"kettle number {n}" for n in range(30)]
    for n in range(1, 30):  # a file that grows gets new keys for all its memories each time
        memories = [memory(text, m) for m, text in enumerate(texts[:n])]
        index.apply([paged(*memories)])
        assert vectors.counts() == (n - 1, n)
        assert list(vectors.missing().values()) == [passage_digest(passage_of(memories[-1]))]
        embed(file, memories[-1])
        assert vectors.counts() == (n, n)
        assert len(found(index, vectors, "kettle", limit=50)) == n
    assert len(file.rows()) == 29


def test_equal_passages_share_a_vector(index: SqliteIndex, file: VectorFile) -> None:
    put(index, file, memory("blue kettle", 0), memory("blue kettle", 1))
    assert len(file.rows()) == 1
    assert found(index, VectorIndex(index, file), "kettle") == ["blue kettle"] * 2


def test_another_process_writes(tmp_path: Path) -> None:
    ours, theirs = (SqliteIndex(tmp_path / "index.sqlite") for _ in range(2))
    our_file, their_file = (VectorFile(tmp_path) for _ in range(2))
    vectors = VectorIndex(ours, our_file)
    put(theirs, their_file, memory("blue kettle"))
    assert found(ours, vectors, "kettle") == ["blue kettle"]
    their_file.start(EMBEDDER.identity)
    assert found(ours, vectors, "kettle") == []
    put(theirs, their_file, memory("green kettle"))
    assert found(ours, vectors, "kettle") == ["green kettle"]
    for opened in (ours, theirs, our_file, their_file):
        opened.close()


def test_who_comes_second_leaves_what_the_first_began(tmp_path: Path) -> None:
    """Both saw that there are no vectors yet; only one of them may begin."""

    class Late(VectorFile):
        def identity(self) -> EmbedderIdentity | None:
            seen = super().identity()
            embed(first, memory("blue kettle"))
            return seen

    first, second = VectorFile(tmp_path), Late(tmp_path)
    second.require(EMBEDDER.identity)
    assert len(first.rows()) == 1
    other = Late(tmp_path / "b")
    first.close()
    first = VectorFile(tmp_path / "b")
    with pytest.raises(EmbedderMismatchError):
        other.require(HashedEmbedder("other").identity)
    for file in (first, second, other):
        file.close()


def test_another_model_is_refused(file: VectorFile) -> None:
    embed(file, memory("blue kettle"))
    other = HashedEmbedder("other")
    with pytest.raises(EmbedderMismatchError, match="palace embed --rebuild"):
        file.require(other.identity)
    with pytest.raises(EmbedderMismatchError):
        file.add([(b"d" * 16, other.embed(["x"], kind="passage")[0])], identity=other.identity)
    file.start(other.identity)
    assert (file.rows(), file.identity()) == ([], other.identity)
    assert len(list(file.folder.glob("*.f32"))) == 1


def damage_database(folder: Path) -> None:
    (folder / "vectors.sqlite").write_bytes(b"no database at all" * 300)


def damage_rows(folder: Path) -> None:
    path = next(folder.glob("*.f32"))
    path.write_bytes(path.read_bytes()[:-1])


def remove_rows(folder: Path) -> None:
    next(folder.glob("*.f32")).unlink()


@pytest.mark.parametrize("damage", [damage_database, damage_rows, remove_rows])
def test_damage_means_to_begin_anew(file: VectorFile, index: SqliteIndex, damage) -> None:
    put(index, file, memory("blue kettle"))
    file.close()
    damage(file.folder)
    vectors = VectorIndex(index, file)
    assert vectors.counts() == (0, 1)
    embed(file, memory("blue kettle"))
    assert found(index, vectors, "kettle") == ["blue kettle"]


def test_what_a_killed_writer_left_is_written_over(file: VectorFile, index: SqliteIndex) -> None:
    put(index, file, memory("blue kettle"))
    with file.path().open("ab") as rows:
        rows.write(b"half a row")
    put(index, file, memory("grey rug"), path="rooms/a/c.md")
    assert found(index, VectorIndex(index, file), "rug")[0] == "grey rug"


def test_a_row_that_vanishes_while_open_is_an_error(file: VectorFile, index: SqliteIndex) -> None:
    put(index, file, memory("blue kettle"))
    next(file.folder.glob("*.f32")).write_bytes(b"")
    vectors = VectorIndex(index, file)
    with pytest.raises(StoreUnavailableError, match="embed --rebuild"):
        vectors.counts()
    assert vectors.counts() == (0, 1)  # and the next look begins anew


def test_a_database_that_is_damaged_while_open_is_begun_anew(
    file: VectorFile, index: SqliteIndex
) -> None:
    put(index, file, memory("blue kettle"))
    vectors = VectorIndex(index, file)
    assert vectors.counts() == (1, 1)
    damage_database(file.folder)
    with pytest.raises(StoreUnavailableError, match="embed --rebuild"):
        vectors.counts()
    assert vectors.counts() == (0, 1)
    embed(file, memory("blue kettle"))
    assert found(index, vectors, "kettle") == ["blue kettle"]


def test_a_full_disk_is_told_with_what_helps(file: VectorFile) -> None:
    model = HashedEmbedder()
    file.start(model.identity)
    pages = file._read("PRAGMA page_count")[0][0]
    file._read(f"PRAGMA max_page_count = {pages}")
    vectors = model.embed([str(n) for n in range(500)], kind="passage")
    digests = [hashlib.sha256(vector).digest() for vector in vectors]
    with pytest.raises(StoreUnavailableError, match="full") as caught:
        file.add(list(zip(digests, vectors, strict=True)), identity=model.identity)
    assert caught.value.hint == "free some space; until then words answer"


def test_words_that_are_told_again_after_a_scrub_are_embedded_again(
    index: SqliteIndex, file: VectorFile
) -> None:
    put(index, file, memory("blue kettle"))
    vectors = VectorIndex(index, file)
    assert vectors.counts() == (1, 1)
    index.apply((), removed=["rooms/a/b.md"])
    other = VectorFile(file.folder)  # an erasure opens its own
    assert other.scrub(index.passage_digests()) == 1
    other.close()
    index.apply([paged(memory("blue kettle"))])
    assert vectors.counts() == (0, 1)
    embed(file, memory("blue kettle"))
    (asked,) = EMBEDDER.embed(["blue kettle"], kind="query")
    ((_, score),) = vectors.nearest(asked, layer="L1", scope=EVERYONE, limit=1)
    assert score == pytest.approx(1.0)


@pytest.mark.skipif(os.name == "nt", reason="open files cannot be deleted there")
def test_a_folder_that_is_deleted_while_open_begins_anew(
    index: SqliteIndex, file: VectorFile
) -> None:
    put(index, file, memory("blue kettle"))
    vectors = VectorIndex(index, file)
    assert vectors.counts() == (1, 1)
    shutil.rmtree(file.folder)
    assert vectors.counts() == (0, 1)
    embed(file, memory("blue kettle"))
    assert found(index, vectors, "kettle") == ["blue kettle"]


def test_a_question_that_was_embedded_by_another_model(
    index: SqliteIndex, file: VectorFile
) -> None:
    put(index, file, memory("blue kettle"))
    vectors = VectorIndex(index, file)
    (asked,) = HashedEmbedder(dimension=8).embed(["kettle"], kind="query")
    with pytest.raises(EmbedderMismatchError, match="another model"):
        vectors.nearest(asked, layer="L1", scope=EVERYONE, limit=3)
    with pytest.raises(EmbedderMismatchError, match="another model"):
        vectors.cosines(asked, [1])


def test_identity_reads_well() -> None:
    assert str(EmbedderIdentity("a/b", "123", 4)) == "a/b@123 (4 dimensions)"
    assert str(EmbedderIdentity("a/b", "", 4)) == "a/b (4 dimensions)"


@pytest.mark.parametrize(
    ("fields", "passage"),
    [
        ({}, "It runs on port 80."),
        ({"title": "Fleet", "heading": "Fleet > Web"}, "Fleet > Fleet > Web: It runs on port 80."),
        ({"title": "Fleet", "heading": "Fleet"}, "Fleet: It runs on port 80."),
        ({"speaker": "Mira", "title": "2026-03-01"}, "Mira: It runs on port 80."),
        (
            {"speaker": "Mira", "created": datetime(2026, 3, 1, tzinfo=timezone.utc)},
            "Mira on 01 March 2026: It runs on port 80.",
        ),
    ],
)
def test_passages(fields, passage) -> None:
    assert passage_of(memory("It runs on port 80.", **fields)) == passage


def turn(text: str, number: int, speaker: str = "Mira", **fields: object) -> Memory:
    return memory(text, number, **{"speaker": speaker, "session": "s1", **fields})


def test_a_turn_is_embedded_with_what_it_replies_to() -> None:
    asked = turn("Since when do you run?", 1, "Nora")
    reply = turn("Since March!", 2)
    assert passage_of(reply, [asked]) == "Mira: Since March! (Nora: Since when do you run?)"
    elsewhere = turn("Good morning.", 0, session="s2")
    retired = turn("I never run.", 0, status="inactive")
    assert passage_of(reply, [asked, elsewhere]) == passage_of(reply, [asked])
    assert passage_of(reply, [asked, retired]) == passage_of(reply, [asked])
    assert passage_of(memory("It runs on port 80."), [asked]) == "It runs on port 80."


def test_of_what_was_said_before_the_end_counts() -> None:
    long = "The weather was fine. " * 10 + "And how is the dog?"
    passage = passage_of(turn("She is well.", 1), [turn(long, 0, "Nora")])
    head, _, end = passage.partition(" (Nora: ")
    assert head == "Mira: She is well."
    assert end.endswith("And how is the dog?)")
    assert len(end) <= 121
    assert f" {end[:-1]}" in f" {long}"  # it begins with a whole word


def test_a_secret_is_not_cut_away_from_what_names_it() -> None:
    secret = "k9J2mQ7xT4vB8nL5"
    said = f"api_key = {secret} {'and so we went on and on ' * 4}"
    assert secret not in passage_of(turn("Right.", 1), [turn(said, 0, "Nora")])


TURNS = st.lists(
    st.builds(
        lambda text, speaker, session, retired: (text, speaker, session, retired),
        st.sampled_from(["Yes.", "Since March!", "Why?", "The blue kettle broke."]),
        st.sampled_from(["Mira", "Nora", ""]),
        st.sampled_from(["s1", "s2", ""]),
        st.booleans(),
    ),
    max_size=7,
)


@given(TURNS, TURNS)
def test_a_digest_is_that_of_the_passage_however_a_page_was_written(before, now) -> None:
    def page(said):
        return paged(
            *(
                memory(
                    text,
                    number,
                    speaker=speaker if session else "",
                    session=session,
                    status="inactive" if retired else "active",
                )
                for number, (text, speaker, session, retired) in enumerate(said)
            )
        )

    index = SqliteIndex(None)
    for said in (before, now):
        index.apply([page(said)])
    stored = {key: digest for key, *_, digest in index.passages()}
    texts = index.passage_texts(list(stored))
    assert {key: passage_digest(text) for key, text in texts.items()} == stored
    index.close()


def test_what_follows_an_edited_turn_is_embedded_anew(index: SqliteIndex, file: VectorFile) -> None:
    vectors = VectorIndex(index, file)
    said = [turn(text, n) for n, text in enumerate(("One.", "Two.", "Three.", "Four."))]

    def embedded() -> list[str]:
        texts = index.passage_texts(list(vectors.missing()))
        rows = [
            (passage_digest(t), v) for t, v in zip(texts.values(), _vectors(texts), strict=True)
        ]
        file.add(rows, identity=EMBEDDER.identity)
        return sorted(texts.values())

    index.apply([paged(*said)])
    assert len(embedded()) == 4
    said[0] = turn("Zero.", 0)
    index.apply([paged(*said)])
    assert embedded() == [
        "Mira: Three. (Mira: Two.) (Mira: Zero.)",
        "Mira: Two. (Mira: Zero.)",
        "Mira: Zero.",
    ]
    said.append(turn("Five.", 4))
    index.apply([paged(*said)])
    assert embedded() == ["Mira: Five. (Mira: Four.) (Mira: Three.)"]


def _vectors(texts: Mapping[int, str]) -> list[Vector]:
    return EMBEDDER.embed(list(texts.values()), kind="passage")


# Many rows


@pytest.fixture
def many(index: SqliteIndex, file: VectorFile, monkeypatch: pytest.MonkeyPatch) -> VectorIndex:
    """600 memories of three scopes, which counts as very many."""
    pytest.importorskip("usearch")
    monkeypatch.setattr("palace.store.vectors._EXACT_ROWS", 200)
    scopes = ("global", "global", "project:garden")
    memories = [memory(f"shelf {n} word{n % 37}", n, scope=scopes[n % 3]) for n in range(600)]
    put(index, file, *memories)
    return VectorIndex(index, file)


def test_a_graph_finds_what_comparing_all_finds(
    index: SqliteIndex, file: VectorFile, many: VectorIndex
) -> None:
    asked = [f"shelf word{n}" for n in range(30)]
    exact = [set(found(index, many, text, limit=5)) for text in asked]
    other = VectorIndex(index, file)
    other.counts()
    assert many.extend_graph()
    assert not many.extend_graph()  # nothing is new
    assert not other.extend_graph()  # nor for who looked before
    again = VectorIndex(index, file)
    for vectors in (many, again):
        likely = [set(found(index, vectors, text, limit=5)) for text in asked]
        assert sum(len(a & b) for a, b in zip(exact, likely, strict=True)) >= 0.9 * 30 * 5
        assert vectors._graph is not None
    garden = found(index, again, "shelf word2", scope=Scope(project="garden"), limit=600)
    assert len(garden) == 600
    assert not [text for text in found(index, again, "shelf", limit=600) if "shelf 2 " in text]


def test_rows_that_the_graph_lacks_are_found_too(
    index: SqliteIndex, file: VectorFile, many: VectorIndex
) -> None:
    many.extend_graph()
    put(index, file, memory("a kettle of copper"), path="rooms/a/c.md")
    assert found(index, many, "copper kettle", limit=1) == ["a kettle of copper"]
    index.apply((), removed=["rooms/a/c.md"])
    assert "a kettle of copper" not in found(index, many, "copper kettle", limit=5)


@pytest.mark.parametrize("content", [b"", b"no graph at all" * 99])
def test_a_damaged_graph_is_no_loss(
    index: SqliteIndex, file: VectorFile, many: VectorIndex, content: bytes
) -> None:
    many.extend_graph()
    file.path().with_suffix(".usearch").write_bytes(content)
    again = VectorIndex(index, file)
    assert len(found(index, again, "shelf", limit=5)) == 5
    assert again.extend_graph()
    assert again._graph is not None


def test_a_graph_is_not_finished_when_told_to_stop(many: VectorIndex, file: VectorFile) -> None:
    assert not many.extend_graph(stopped=lambda: True)
    assert not file.path().with_suffix(".usearch").exists()


def test_a_scrub_takes_the_graph_along(
    index: SqliteIndex, file: VectorFile, many: VectorIndex
) -> None:
    assert many.extend_graph()
    graph = file.path().with_suffix(".usearch")
    assert file.scrub(index.passage_digests()) == 0
    assert graph.exists()
    index.apply((), removed=["rooms/a/b.md"])
    assert file.scrub(index.passage_digests()) == 600
    assert not graph.exists()
    assert file.scrub(index.passage_digests()) == 0  # rows of nothing stay as they are


def test_a_graph_is_not_finished_beside_a_scrub(
    index: SqliteIndex, file: VectorFile, many: VectorIndex
) -> None:
    asked: list[int] = []

    def stopped() -> bool:
        asked.append(1)
        if len(asked) == 1:
            index.apply((), removed=["rooms/a/b.md"])
            assert file.scrub(index.passage_digests()) == 600
        return False

    assert not many.extend_graph(stopped=stopped)
    assert not list(file.folder.glob("*.usearch*"))
