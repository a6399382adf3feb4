"""True erasure: not a byte of the words is left under the root."""

from __future__ import annotations

import json
import sys
from contextlib import closing
from datetime import datetime, timezone
from pathlib import Path

import pytest

from palace import ConversationTurn, MemoryNotFoundError, Message, RetrievalEnforcer
from palace.learn.erase import ERASED, Eraser, older_versions, retired_copies
from palace.models.vector_cache import VectorCache
from palace.ports import EmbedderIdentity
from palace.store.passages import passage_digest, passage_of
from palace.store.session_marks import FileSessionMarks
from palace.store.vector_file import VectorFile
from palace.types.memory import Memory

SECRETIVE = "Mira keeps her quizzical marmalade recipe in the zinc box 77412."
ASKED = "Where does Mira keep her recipe?"
WORDS = ("quizzical", "marmalad", "77412", "zinc")


def traces(root: Path) -> list[str]:
    """Return every word of the content that stands in any byte of any file, and where."""
    return [
        f"{word} in {path.relative_to(root)}"
        for path in sorted(root.rglob("*"))
        if path.is_file()
        for word in WORDS
        if word.encode() in path.read_bytes().lower()
    ]


def test_nothing_is_left_of_a_memory_that_was_asked_for_cited_and_promoted(palace, root):
    note = palace.note(SECRETIVE, session_id="s1")
    other = palace.remember("Mira likes the blue kettle.", room="people").memory
    memory = palace.promote_to_palace(
        note, "people", "mira", summary=SECRETIVE, reason="quizzical marmalade matters"
    ).memory
    enforcer = RetrievalEnforcer(palace)
    assert SECRETIVE in enforcer.decide(ASKED, session_id="s1").text
    enforcer.decide(f"Is it true that {SECRETIVE.lower()}")
    palace.tag(memory.id, ["box"])
    assert len(traces(root)) > 4

    done = palace.erase(memory.id, reason=SECRETIVE)

    assert (done.erased, done.remaining) == ((memory.id,), ())
    assert traces(root) == []
    assert [m.id for m in palace.memories()] == [other.id]
    assert palace.notes("s1") == []
    assert palace.index.check() is None
    assert "Mira likes the blue kettle." in palace.search("kettle")[0].memory.text


def test_what_was_asked_before_a_line_by_hand_had_an_id_goes_too(palace, root):
    page = root / "rooms/people/mira.md"
    page.parent.mkdir(parents=True)
    page.write_text(f"- {SECRETIVE}\n- {SECRETIVE}\n", "utf-8")
    palace.refresh()
    asked = RetrievalEnforcer(palace).decide("What does Mira keep in the zinc box?")
    first, second = palace.memories()
    assert first.id in [e.id for e in asked.evidence]
    for memory in (second, first):
        palace.erase(palace.tag(memory.id, ["box"]).id)
    assert traces(root) == []


def test_what_a_session_was_condensed_to_loses_the_words_too(palace, root):
    memory = palace.remember(SECRETIVE).memory
    said = [
        Message("user", SECRETIVE),
        Message("assistant", "Noted."),
        Message("user", "We decided to paint the fence on Friday."),
    ]
    palace.compress_if_needed(said, "s1", force=True)
    (page,) = palace.erase(memory.id).remaining
    assert page.startswith("timeline/")
    (turns,) = [m for m in palace.memories() if m.path.startswith("timeline/")]
    palace.erase(turns.id)
    assert traces(root) == []
    marks = FileSessionMarks(root)
    (summary,) = marks.read("s1").summaries
    assert "fence" in summary.text
    assert "fence" in str(palace.compress_if_needed(said, "s1").messages)


def test_a_mark_that_nobody_can_read_does_not_keep_the_words(palace, root):
    memory = palace.remember(SECRETIVE).memory
    (root / "sessions").mkdir()
    (root / "sessions" / "s1.json").write_text(f'{{"broken": "{SECRETIVE}"')
    palace.erase(memory.id)
    assert traces(root) == []


def test_older_versions_and_retired_copies_go_too(palace, root):
    first = palace.remember("The zinc box has the number 77412.", room="people").memory
    palace.forget(palace.remember("In the cellar: a zinc box, 77412!", room="people").memory.id)
    palace.remember("The zinc box has the number 77412!", room="attic", on_conflict="keep")
    second = palace.correct(first.id, "The marmalade box has the number 9.").memory
    third = palace.correct(second.id, "The quizzical box has the number 9.").memory
    done = palace.erase(third.id)
    assert {first.id, second.id, third.id} <= set(done.erased)
    left = traces(root)
    assert all("rooms/people/notes.md" in line or ".palace" in line for line in left)
    palace.erase(palace.memories(include_inactive=True)[0].id)
    assert traces(root) == []


def test_words_that_a_person_deleted_before_and_said_again_are_not_kept_for_recovery(palace, root):
    first = palace.remember(SECRETIVE, room="people").memory
    (root / first.path).unlink()
    palace.refresh()
    again = palace.remember(SECRETIVE, room="kitchen").memory
    palace.erase(again.id)
    assert traces(root) == []
    assert [one for one in palace.overwritten() if one.text] == []


def test_active_copies_are_named_and_left_to_the_person(palace, root):
    memory = palace.remember(SECRETIVE, room="people").memory
    palace.remember(SECRETIVE, room="people", project="site")
    done = palace.erase(memory.id)
    assert done.remaining == ("rooms/people/notes.md:3",)
    assert len(palace.memories()) == 1


@pytest.mark.parametrize("undo", [False, True])
def test_what_goes_is_gone_from_a_copy_of_its_file_too(palace, root, undo):
    memory = palace.remember(SECRETIVE, room="people", drawer="mira").memory
    file = root / "rooms/people/mira.md"
    for name in ("mira (copy)", "mira.sync-conflict-20261101-101112-ABC"):
        file.with_name(f"{name}.md").write_bytes(file.read_bytes())
    edited = file.read_text(encoding="utf-8").replace(SECRETIVE, "Mira likes the blue kettle.")
    conflicted = file.with_name("mira (conflicted copy).md")
    conflicted.write_text(edited, encoding="utf-8")
    if undo:
        palace.undo()
    else:
        with pytest.raises(MemoryNotFoundError, match="below other words") as refused:
            palace.erase(memory.id)  # either of them may be meant
        assert "comment" in refused.value.hint
        assert SECRETIVE in file.read_text("utf-8")
        conflicted.write_text(edited.partition("  <!--")[0], encoding="utf-8")
        palace.erase(memory.id)
    assert not [p.name for p in file.parent.iterdir() if SECRETIVE in p.read_text("utf-8")]
    assert "blue kettle" in conflicted.read_text("utf-8")
    assert SECRETIVE not in RetrievalEnforcer(palace).decide(ASKED).text


@pytest.mark.skipif(sys.platform == "win32", reason="symlinks need rights there")
@pytest.mark.parametrize("undo", [False, True])
def test_what_goes_is_gone_where_a_link_leads_to_its_file(palace, root, undo):
    memory = palace.remember(SECRETIVE, room="people").memory
    (root / "rooms/also").symlink_to("people")
    (root / "rooms/mira.md").symlink_to("people/notes.md")
    palace.undo() if undo else palace.erase(memory.id)
    assert palace.memories(include_inactive=True) == []
    assert undo or traces(root) == []


def test_the_journal_keeps_ids_order_and_what_is_about_others(palace, root):
    memory = palace.remember(SECRETIVE).memory
    kettle = palace.remember("Olga bought the blue kettle in Bergen.").memory
    enforcer = RetrievalEnforcer(palace)
    asked = [enforcer.decide(q).id for q in (ASKED, "Where did Olga buy the kettle?")]
    before = [r["id"] for r in palace.journal.records()]
    (month,) = (root / "journal").iterdir()
    size = month.stat().st_size

    palace.erase(memory.id)

    assert [r["id"] for r in palace.journal.records()][1:] == before
    assert month.read_bytes()[:size].count(b"\n") == len(before)
    assert palace.verdict(asked[0])["injected"] == [memory.id]
    assert palace.verdict(asked[0])["prompt"] == "[erased]"
    assert palace.verdict(asked[1])["evidence"][0]["text"] == kettle.text


def test_an_erasure_is_final(palace):
    memory = palace.remember(SECRETIVE).memory
    palace.erase(memory.id)
    with pytest.raises(MemoryNotFoundError):
        palace.undo()
    with pytest.raises(MemoryNotFoundError):
        palace.erase(memory.id)


def test_a_hand_written_page_keeps_everything_else(palace, root):
    file = root / "rooms" / "people" / "mira.md"
    file.parent.mkdir(parents=True)
    file.write_text(f"# Mira\n\n- She paints.\n- {SECRETIVE}\n- She sings.\n", encoding="utf-8")
    palace.refresh()
    (memory,) = [m for m in palace.memories(room="people") if m.text == SECRETIVE]
    palace.erase(memory.id)
    assert file.read_text("utf-8") == "# Mira\n\n- She paints.\n- She sings.\n"


def told(memory_id: str, text: str, **fields) -> Memory:
    return Memory(memory_id, text, "rooms/a/b.md", 1, "a", "b", **fields)


def test_each_of_several_erased_texts_is_told():
    eraser = Eraser.of([told("m-1", "The barge is sold."), told("m-2", "No."), told("m-3", ".")])
    assert eraser.holds("Is it true that the barge is sold?")
    assert eraser.holds("no!")
    assert not eraser.holds("...")
    assert eraser.concerns('{"prompt": "about the barge"}')
    assert eraser.concerns('{"cited": ["m-2"]}')


@pytest.mark.parametrize(
    "record",
    [
        {"memory": "m-1"},
        {"cited": ["m-2", "m-1"]},
        {"evidence": [{"id": "m-2"}, "x", {"id": "m-1"}]},
        {"steps": [None, {"memory": "m-1"}]},
    ],
)
def test_a_record_names_what_it_is_about(record):
    eraser = Eraser.of([told("m-1", "The barge is sold.")])
    assert eraser.names(record)
    assert eraser.cleaned({**record, "prompt": "Which one?"})["prompt"] == ERASED


def test_a_part_of_the_words_goes_from_a_record_that_names_them():
    eraser = Eraser.of([told("m-1", "The barge is sold to Ines.")])
    record = {
        "injected": ["m-1", "m-2"],
        "evidence": [{"id": "m-1", "text": "sold to Ines"}, {"id": "m-2", "text": "Tea."}],
        "reminders": [{"id": "m-1", "text": "sold to"}],
        "unsupported": ["Ines"],
    }
    assert eraser.cleaned(record) == {
        "injected": ["m-1", "m-2"],
        "evidence": [{"id": "m-1", "text": ERASED}, {"id": "m-2", "text": "Tea."}],
        "reminders": [{"id": "m-1", "text": ERASED}],
        "unsupported": [],
    }


def test_versions_that_name_each_other_are_told_once():
    first, second, third = (
        told(f"m-{n}", f"version {n}", superseded_by=by)
        for n, by in ((1, "m-2"), (2, "m-3"), (3, "m-1"))
    )
    assert older_versions(third, [first, second, third]) == [second, first]
    assert older_versions(told("m-4", "x"), [first, second, third]) == []


def test_retired_copies_are_those_of_the_same_scope():
    gone = {"status": "inactive"}
    memory = told("m-1", "The barge is sold.", **gone)
    copy = told("m-2", "The barge is sold!", **gone)
    others = [
        told("m-3", "The barge is sold."),
        told("m-4", "The barge is sold.", scope="project:boats", **gone),
        told("m-5", "The barge is not sold.", **gone),
    ]
    assert retired_copies(memory, [memory, copy, *others]) == [copy]


def test_short_words_do_not_tear_up_other_records():
    memory = Memory("m-1", "No.", "rooms/a/b.md", 1, "a", "b")
    eraser = Eraser.of([memory])
    assert eraser.holds("no")
    assert not eraser.holds("I know nothing about it.")
    record = {"id": "v-1", "at": "x", "type": "verdict", "prompt": "No way?", "injected": ["m-2"]}
    assert eraser.cleaned(record) == record


@pytest.mark.parametrize(
    ("erased", "said"),
    [
        ("The straße is closed.", "They say THE STRASSE is\n closed now"),
        ('He said "no, never again".', 'He said "no,\tnever again"!'),
        ("🙂 🙂 🙂 🙂 🙂 🙂 🙂", "🙂 🙂 🙂 🙂 🙂 🙂 🙂"),
        ("The key hangs at C:\\garden\\shed.", "the key hangs at c:\\garden\\shed"),
        ("Die Tür klemmt seit Mai.", "die tür klemmt seit mai"),
        ("Ключ висит в сарае.", "ключ висит в сарае"),
    ],
)
@pytest.mark.parametrize("escaped", [True, False])
def test_a_line_that_holds_erased_words_is_never_passed_over(erased, said, escaped):
    eraser = Eraser.of([told("m-2", "The barge is sold."), told("m-1", erased)])
    for record in ({"prompt": said}, {"a": [{"b": said}]}, {"steps": [{"memory": "m-1"}]}):
        line = json.dumps({"id": "v-1", **record}, ensure_ascii=escaped)
        assert eraser.concerns(line), line
    other = json.dumps({"id": "v-2", "prompt": "Where is the ladder?"})
    assert not eraser.concerns(other) or not any(map(str.isalnum, erased))


def test_a_damaged_journal_line_with_the_words_goes_as_a_whole(palace, root):
    memory = palace.remember(SECRETIVE).memory
    (month,) = (root / "journal").iterdir()
    with month.open("ab") as file:
        file.write(b'{"id":"v-torn","text":"' + SECRETIVE.encode() + b"\n")
        file.write(json.dumps({"id": "x-1", "at": "2026-01-01T00:00:00Z", "type": "x"}).encode())
    palace.erase(memory.id)
    assert traces(root) == []
    assert palace.journal.find("x-1") is not None


def test_the_vector_of_erased_words_is_overwritten(palace, root):
    gone, kept = palace.remember(SECRETIVE).memory, palace.remember("The lamp is green.").memory
    digests = {m.id: passage_digest(passage_of(m)) for m in (gone, kept)}
    who = EmbedderIdentity("double", "", 2)
    file = VectorFile(root / ".palace")
    rows = ((digests[gone.id], b"GONEGONE"), (digests[kept.id], b"KEPTKEPT"))
    assert file.add(rows, identity=who) == 2
    file.close()
    palace.erase(gone.id)
    (stored,) = (root / ".palace").glob("vectors-*.f32")
    assert stored.read_bytes() == bytes(8) + b"KEPTKEPT"
    assert digests[gone.id] not in {digest for _, digest in file.rows()}
    file.close()


def test_what_replied_to_erased_words_loses_its_vector_too(palace, root):
    at = datetime(2026, 3, 1, tzinfo=timezone.utc)
    palace.import_turns(
        ConversationTurn(session="s1", speaker=speaker, text=text, at=at)
        for speaker, text in (("Mira", SECRETIVE), ("Nora", "How nice!"))
    )
    index = palace.index
    keys = {key: digest for key, *_, digest in index.passages()}
    texts = index.passage_texts(list(keys))
    assert all(SECRETIVE in text for text in texts.values())
    file = VectorFile(root / ".palace")
    rows = [(keys[key], b"GONEGONE") for key in texts]
    assert file.add(rows, identity=EmbedderIdentity("double", "", 2)) == 2
    file.close()
    (gone,) = (m for m in index.load(list(keys)).values() if m.text == SECRETIVE)
    palace.erase(gone.id)
    (stored,) = (root / ".palace").glob("vectors-*.f32")
    assert b"GONE" not in stored.read_bytes()
    (left,) = index.passages()
    assert index.passage_texts([left[0]]) == {left[0]: "Nora on 01 March 2026: How nice!"}


def test_no_vector_of_erased_words_is_left_anywhere(palace, root):
    """Not where a rebuild stopped, nor where vectors are kept that a server was paid for."""
    gone = palace.remember(SECRETIVE).memory
    digest = passage_digest(passage_of(gone))
    beside = VectorFile(root / ".palace").beside()
    beside.add([(digest, b"GONEGONE")], identity=EmbedderIdentity("double", "", 2))
    beside.close()
    with closing(VectorCache(root / ".palace" / "embeddings.sqlite")) as cache:
        cache.put("m", {SECRETIVE: b"GONEGONE" * 50})
        palace.erase(gone.id)
        assert cache.get("m", [SECRETIVE]) == {}
    files = [p for p in (root / ".palace").rglob("*") if p.is_file()]
    assert [p.name for p in files if b"GONEGONE" in p.read_bytes()] == []
