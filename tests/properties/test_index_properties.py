"""The index is nothing but its files, and any text at all is a safe question to it."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from palace.ports import Scope
from palace.recall.lexicon import load_lexicons
from palace.recall.query import Analyst
from palace.recall.search import Searcher
from palace.store import postings
from palace.store.index_rows import decode_memory, encode_memory
from palace.store.index_sqlite import SqliteIndex
from palace.store.playbook_files import PlaybookFiles
from palace.store.refresh import refresh
from palace.store.rooms import RoomStore
from palace.types.memory import Memory
from palace.types.session import Message, Turn
from tests.doubles import indexed, memory, paged
from tests.properties.strategies import any_text, file_bytes, markdown_text

LIGHT = settings(deadline=None, max_examples=40)
LEXICONS = load_lexicons(("en", "de", "zh", "ja", "ru"))
KETTLE = memory("The blue kettle of Mira cost 18,000 on 2026-10-05, see v2.0.1 数据库.")

paths = st.sampled_from(
    ["rooms/a/x.md", "rooms/a/y.md", "rooms/b/c/z.md", "playbooks/p.md", "timeline/2026-01-01.md"]
)
edits = st.lists(st.tuples(paths, st.one_of(st.none(), file_bytes)), max_size=8)


@contextmanager
def opened(path: Path | None) -> Iterator[SqliteIndex]:
    index = SqliteIndex(path)
    try:
        yield index
    finally:
        index.close()


def bring_up_to_date(index: SqliteIndex, root: Path) -> None:
    refresh(index, [("L1", RoomStore(root)), ("L4", PlaybookFiles(root))])


def contents(index: SqliteIndex) -> dict[str, Any]:
    # When a playbook was last touched is the file system's word, not the content's.
    memories = [
        replace(m, updated=None) if m.room == "playbooks" else m
        for m in (*index.memories(layer="L1"), *index.memories(layer="L4"))
    ]
    terms = sorted({t for m in memories for t in m.text.lower().split()})[:40]
    counts = index.counts(terms)
    found = {
        term: [
            (c.path, c.position, c.body, c.context, sorted(c.names), round(c.bm25, 9))
            for c in sorted(
                index.candidates([term], layer="L1", scope=Scope(), limit=500),
                key=lambda c: (c.path, c.position),
            )
        ]
        for term in terms
    }
    return {
        "memories": memories,
        "size": index.size(),
        "counts": counts,
        "found": found,
        "rooms": index.rooms(),
        "digests": index.digests(),
    }


def apply(root: Path, path: str, content: bytes | None) -> None:
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    if content is None:
        file.unlink(missing_ok=True)
    else:
        file.write_bytes(content)


@LIGHT
@given(edits, edits)
def test_the_index_is_what_its_files_say(
    first: Sequence[tuple[str, bytes | None]], later: Sequence[tuple[str, bytes | None]]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        with opened(root / ".palace" / "index.sqlite") as grown:
            for batch in (first, later):
                for path, content in batch:
                    apply(root, path, content)
                bring_up_to_date(grown, root)
            with opened(None) as rebuilt:
                bring_up_to_date(rebuilt, root)
                assert contents(grown) == contents(rebuilt)
            assert grown.check() is None


PAGES = {
    "rooms/a/x.md": "# x\n\n" + "".join(f"- note {n}\n" for n in range(7)),
    "timeline/2026-01-01.md": "## s\n\n"
    + "".join(f"[2026-01-01 10:{n:02d}] {'Ann' if n % 2 else 'Bo'}: turn {n}\n" for n in range(7)),
}


@LIGHT
@given(
    st.lists(
        st.tuples(
            st.sampled_from(sorted(PAGES)),
            st.integers(0, 99),
            st.sampled_from(["retire", "tag", "insert", "delete"]),
        ),
        max_size=8,
    )
)
def test_a_page_changed_here_and_there_is_indexed_as_one_read_anew(
    changes: Sequence[tuple[str, int, str]],
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for path, text in PAGES.items():
            apply(root, path, text.encode())
        store = RoomStore(root)
        with opened(root / ".palace" / "index.sqlite") as grown:
            bring_up_to_date(grown, root)
            for path, place, change in changes:
                stand = store.read(path).memories
                if stand and change in ("retire", "tag"):
                    fields = {"status": "inactive"} if change == "retire" else {"tags": ["t"]}
                    store.update(stand[place % len(stand)], **fields)
                else:
                    lines = (root / path).read_text().splitlines()
                    at = place % (len(lines) + 1)
                    lines[at : at + (change == "delete")] = ["- more"] * (change == "insert")
                    apply(root, path, "\n".join([*lines, ""]).encode())
                grown.apply([(store.read(path), stamp)] if (stamp := store.stamp(path)) else [])
            with opened(None) as rebuilt:
                bring_up_to_date(rebuilt, root)
                assert contents(grown) == contents(rebuilt)
                assert grown.passage_digests() == rebuilt.passage_digests()
            assert grown.check() is None


@LIGHT
@given(st.one_of(any_text, st.text(alphabet="\"*()^:-+{}' aANDORNTEkettl\x00", max_size=60)))
def test_any_text_at_all_is_a_safe_question(prompt: str) -> None:
    with opened(None) as index:
        for text in (prompt, f"{prompt} kettle"):
            turn = Turn(text, text, text, (Message("user", text),))
            query = Analyst(LEXICONS, index).analyse(turn)
            assert Searcher(index).scored(query) == []


@LIGHT
@given(st.one_of(any_text, markdown_text))
def test_any_text_keeps_a_known_word_findable(text: str) -> None:
    index = indexed(KETTLE)
    query = Analyst(LEXICONS, index).analyse(Turn(f"{text}\n\nkettle"))
    if len(query.terms) < 40:  # beyond the bound of terms a word may be left out
        hits = Searcher(index).hits(query, top_k=1)
        assert [h.memory.id for h in hits] == [KETTLE.id]
    index.close()


@LIGHT
@given(st.lists(any_text, min_size=1, max_size=6), st.text(max_size=20), st.text(max_size=20))
def test_scopes_never_leak(texts: list[str], session: str, project: str) -> None:
    assume(project != f"{session}!" and session != f"{project}!")  # then one is asked for
    scopes = (f"session:{session}!", f"project:{project}!", "session:", "project:")
    memories = [
        memory(f"kettle {text}", n, scope=scopes[n % len(scopes)]) for n, text in enumerate(texts)
    ]
    index = indexed(*memories)
    for scope in (Scope(), Scope(session, project), Scope(project, session), Scope("", "")):
        assert index.candidates(["kettl"], layer="L1", scope=scope, limit=50) == []
    index.close()


times = st.one_of(
    st.none(),
    st.datetimes(
        min_value=datetime(1970, 1, 1),
        max_value=datetime(2100, 1, 1),
        timezones=st.just(timezone.utc),
    ),
)
some_text = st.text(max_size=30)
memories = st.builds(
    Memory,
    id=some_text,
    text=any_text,
    path=some_text,
    line=st.integers(min_value=0, max_value=10**6),
    room=some_text,
    drawer=some_text,
    heading=some_text,
    tags=st.lists(some_text, max_size=3).map(tuple),
    triggers=st.lists(some_text, max_size=3).map(tuple),
    confidence=st.floats(min_value=0, max_value=1),
    created=times,
    valid_to=times,
    status=st.sampled_from(["active", "inactive"]),
    scope=some_text,
)


@LIGHT
@given(memories)
def test_a_memory_survives_its_json(one: Memory) -> None:
    assert decode_memory(encode_memory(one)) == one


vocabulary = [f"w{n}" for n in range(12)]
texts_of_few_words = st.lists(
    st.lists(st.sampled_from(vocabulary), min_size=1, max_size=9).map(" ".join),
    min_size=20,
    max_size=120,
)


@LIGHT
@given(
    texts_of_few_words,
    st.lists(st.sampled_from(vocabulary), min_size=1, max_size=8),
    st.integers(0, 60),
    st.integers(1, 30),
)
def test_reading_less_finds_as_many(
    texts: list[str], asked: list[str], scanned: int, limit: int
) -> None:
    """Whatever is passed over, as many come back as are asked for, if there are."""
    index = indexed(*(memory(text, n) for n, text in enumerate(texts)))
    held = sum(any(word in text.split() for word in asked) for text in texts)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(postings, "_SCANNED_ROWS", scanned)
        found = index.candidates(asked, layer="L1", scope=Scope(), limit=limit)
    index.close()
    assert len(found) == min(limit, held)


@LIGHT
@given(texts_of_few_words, st.lists(st.sampled_from(vocabulary), min_size=1, max_size=5))
def test_reading_less_finds_nearly_the_same(texts: list[str], asked: list[str]) -> None:
    """What pruning leaves out is worth hardly less than what it takes instead."""
    index = indexed(*(memory(text, n) for n, text in enumerate(texts)))
    whole = index.candidates(asked, layer="L1", scope=Scope(), limit=1000)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(postings, "_SCANNED_ROWS", 8)
        pruned = index.candidates(asked, layer="L1", scope=Scope(), limit=10)
    index.close()
    exact = {c.key: c.bm25 for c in whole}
    assert all(exact[c.key] == c.bm25 for c in pruned)
    best = sum(c.bm25 for c in whole[:10])
    assert sum(c.bm25 for c in pruned) >= 0.7 * best


@LIGHT
@given(texts_of_few_words, st.data())
def test_counts_are_what_is_found(texts: list[str], data: st.DataObject) -> None:
    scopes = ("global", "session:s1", "project:p")
    index = indexed(
        *(memory(text, n, scope=scopes[n % 3]) for n, text in enumerate(texts)),
    )
    scope = data.draw(st.sampled_from([Scope(), Scope("s1"), Scope("s1", "p"), Scope("x")]))
    for word in vocabulary:
        found = index.candidates([word], layer="L1", scope=scope, limit=1000)
        assert len(found) == index.counts([word], scope=scope)[word].any
        assert all(word in c.body for c in found)
    index.close()


@LIGHT
@given(st.lists(st.lists(st.sampled_from(vocabulary), max_size=12, unique=True), max_size=5))
def test_a_rewritten_file_is_what_it_says(versions: list[list[str]]) -> None:
    """Differences are written, whatever moved, came or went; nothing of before is left."""
    with opened(None) as grown, opened(None) as fresh:
        for number, version in enumerate(versions):
            page = paged(*(memory(w, n, id=f"m-{w}") for n, w in enumerate(version)))
            document = replace(page[0], tags=("odd",) if number % 3 == 1 else ())
            grown.apply([(document, page[1])])
            fresh.clear()
            fresh.apply([(document, page[1])])
            assert list(grown.memories()) == list(fresh.memories())
            terms = [*vocabulary, "odd"]
            assert grown.counts(terms) == fresh.counts(terms)
            for term in terms:
                found = [
                    i.candidates([term], layer="L1", scope=Scope(), limit=99)
                    for i in (grown, fresh)
                ]
                keyless = [sorted((c.position, c.body, c.bm25) for c in one) for one in found]
                assert keyless[0] == keyless[1]
        assert grown.check() is None
