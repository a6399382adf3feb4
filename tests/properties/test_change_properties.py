"""Laws of changes: what is taken back was never there, and what was corrected never comes back."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from palace import Memory, Mempalace, PalaceError

TEXTS = (
    "The staging database listens on port 5432.",
    "The staging database listens on port 5433.",
    "Mira likes the blue kettle. #tea",
    "We deploy from main with [[infra/hand]].",
    "The lamp in the hall is green.",
)
HAND = "---\ntags: [hall]\n---\n# Hall\n\n- The lamp in the hall is red.\n\nThe cable is old.\n"
ASKED = ("staging database port", "kettle", "lamp hall cable", "deploy main")

texts = st.sampled_from(TEXTS)
number = st.integers(0, 9)
verbs = st.one_of(
    st.tuples(st.just("remember"), texts, st.sampled_from(["", "port"]), st.booleans()),
    st.tuples(st.just("correct"), number, texts),
    st.tuples(st.just("forget"), number),
    st.tuples(st.just("tag"), number, st.sampled_from(["db", "old"])),
    st.tuples(st.just("link"), number, number),
)


def opened(folder: str) -> Mempalace:
    file = Path(folder) / "rooms" / "infra" / "hand.md"
    file.parent.mkdir(parents=True)
    file.write_text(HAND, encoding="utf-8")
    return Mempalace.open(folder)


def do(palace: Mempalace, step: tuple[Any, ...]) -> bool:
    """Do one verb; tell whether it changed anything."""
    before = sum(1 for record in palace.journal.records() if record.get("steps"))
    everything = palace.memories(include_inactive=True)

    def memory(n: int) -> Memory:
        return everything[n % len(everything)]

    try:
        match step:
            case ("remember", text, key, supersede):
                way = "supersede" if supersede else "ask"
                palace.remember(text, key=key or None, on_conflict=way)  # type: ignore[arg-type]
            case ("correct", n, text):
                palace.correct(memory(n).id, text)
            case ("forget", n):
                palace.forget(memory(n).id)
            case ("tag", n, tag):
                palace.tag(memory(n).id, [tag])
            case ("link", n, other):
                palace.link(memory(n).id, memory(other).id)
    except PalaceError:
        pass
    return sum(1 for record in palace.journal.records() if record.get("steps")) > before


def seen(palace: Mempalace) -> list[Any]:
    hits = [(h.memory, h.score) for text in ASKED for h in palace.search(text)]
    return [hits, palace.memories(include_inactive=True)]


@settings(deadline=None, max_examples=15)
@given(before=st.lists(verbs, max_size=3), step=verbs)
def test_undo_of_any_verb_restores_what_is_found_and_read(before, step):
    with tempfile.TemporaryDirectory() as folder, opened(folder) as palace:
        for earlier in before:
            do(palace, earlier)
        expected = seen(palace)
        if do(palace, step):
            palace.undo()
        assert seen(palace) == expected


@settings(deadline=None, max_examples=15)
@given(before=st.lists(verbs, max_size=3), n=number, text=texts)
def test_what_was_corrected_is_never_found_again(before, n, text):
    with tempfile.TemporaryDirectory() as folder, opened(folder) as palace:
        for earlier in before:
            do(palace, earlier)
        active = palace.memories()
        if not active:
            return
        wrong = active[n % len(active)]
        if palace.correct(wrong.id, text).memory.id == wrong.id:
            return
        found = {h.memory.text for asked in (*ASKED, wrong.text) for h in palace.search(asked)}
        assert wrong.text not in found - {text}
        assert wrong.text in {m.text for m in palace.memories(include_inactive=True)}
