"""What holds for any question: how it is typed, and where the memories stand, change no verdict."""

from __future__ import annotations

import tempfile
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from palace import Mempalace, RetrievalEnforcer, Verdict

NOTES = (
    "The boiler was serviced by Marta on 2026-03-02 for 120 euros.",
    "The wifi password at the cabin is bluefinch77.",
    "On 2026-03-12 we sold 12 pumps to Keller.",
    "At 12:30 we counted 12 eggs in the coop.",
    "Olga owns the backups and the restore drills.",
    "Der Schlüssel zum Dachboden hängt bei Jürgen.",
    "我们家的路由器叫 redpanda88。",
    "İstanbul ofisinin şifresi 4711.",
)
QUESTIONS = (
    "When did Marta service the boiler?",
    "What is the wifi password at the cabin?",
    "How many pumps did we sell to Keller?",
    "How many eggs did we count in the coop?",
    "Who owns the backups?",
    "Wo hängt der Schlüssel zum Dachboden?",
    "我们家的路由器叫什么？",
    "When did we hire Ruth?",
    "Write a poem about trees.",
)
HIDDEN = ("\u00ad", "\u200b", "\u200e", "\u2060", "\u2063", "\ufeff")


def opened(folder: Path, notes: Sequence[str]) -> Mempalace:
    drawer = folder / "rooms" / "home" / "house.md"
    drawer.parent.mkdir(parents=True)
    drawer.write_text("".join(f"- {note}\n" for note in notes), "utf-8")
    return Mempalace.open(folder)


def told(verdict: Verdict) -> tuple[object, ...]:
    return verdict.action, [(e.text, round(e.confidence, 9)) for e in verdict.evidence]


@pytest.fixture(scope="module")
def palace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mempalace]:
    with opened(tmp_path_factory.mktemp("laws") / "palace", NOTES) as palace:
        yield palace


def full_width(text: str) -> str:
    return "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in text)


@pytest.mark.parametrize(
    "typed",
    [
        lambda asked: f"  \n{asked}\r\n ",
        lambda asked: asked.replace(" ", "\u00a0"),
        lambda asked: asked.replace(" ", " \t "),
        lambda asked: unicodedata.normalize("NFD", asked),
        lambda asked: f"\ufeff{asked}",
        full_width,
    ],
)
@pytest.mark.parametrize("question", QUESTIONS)
def test_a_question_typed_otherwise_gets_the_same_verdict(
    palace: Mempalace, question: str, typed: Callable[[str], str]
) -> None:
    enforcer = RetrievalEnforcer(palace)
    assert told(enforcer.decide(typed(question))) == told(enforcer.decide(question))


@settings(
    deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.sampled_from(QUESTIONS), st.data())
def test_what_nobody_sees_in_a_question_changes_no_verdict(
    palace: Mempalace, question: str, data: st.DataObject
) -> None:
    letters = list(question)
    for _ in range(data.draw(st.integers(min_value=1, max_value=5))):
        place = data.draw(st.integers(min_value=0, max_value=len(letters)))
        letters.insert(place, data.draw(st.sampled_from(HIDDEN)))
    enforcer = RetrievalEnforcer(palace)
    assert told(enforcer.decide("".join(letters))) == told(enforcer.decide(question))


@pytest.mark.parametrize("note", NOTES)
def test_a_memory_asked_back_word_for_word_is_first(palace: Mempalace, note: str) -> None:
    assert [hit.memory.text for hit in palace.search(note, top_k=1)] == [note]


@pytest.mark.parametrize("hidden", HIDDEN)
def test_what_nobody_sees_in_a_memory_changes_no_verdict(
    palace: Mempalace, tmp_path: Path, hidden: str
) -> None:
    written = ["".join(c + hidden if c.isalpha() else c for c in note) for note in NOTES]
    enforcer = RetrievalEnforcer(palace)
    with opened(tmp_path / "palace", written) as hiding:
        other = RetrievalEnforcer(hiding)
        for question in QUESTIONS:
            action, evidence = told(other.decide(question))
            shown = [(text.replace(hidden, ""), confidence) for text, confidence in evidence]  # type: ignore[attr-defined]
            assert (action, shown) == told(enforcer.decide(question))


@settings(deadline=None, max_examples=8)
@given(st.permutations(NOTES))
def test_the_order_of_memories_changes_no_verdict(notes: Sequence[str]) -> None:
    with (
        tempfile.TemporaryDirectory() as folder,
        opened(Path(folder) / "one", NOTES) as as_written,
        opened(Path(folder) / "other", notes) as in_another_order,
    ):
        one, other = RetrievalEnforcer(as_written), RetrievalEnforcer(in_another_order)
        for question in QUESTIONS:
            first, second = one.decide(question), other.decide(question)
            assert (first.action, sorted(told(first)[1])) == (  # type: ignore[call-overload]
                second.action,
                sorted(told(second)[1]),  # type: ignore[call-overload]
            )
