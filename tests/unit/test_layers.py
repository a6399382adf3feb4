"""Each layer gathers evidence, says where it stands, and turns failure into a report."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

from palace.errors import StoreUnavailableError
from palace.layers.artifacts import MAX_ARTIFACTS, ArtifactsLayer
from palace.layers.identity import IdentityLayer
from palace.layers.indexed import IndexedLayer
from palace.layers.judging import judge, timed
from palace.layers.scratchpad import ScratchpadLayer
from palace.ports import Candidate, Index
from palace.recall.lexicon import load_lexicons
from palace.recall.query import Analyst
from palace.recall.scoring import Scored
from palace.recall.search import Searcher
from palace.recall.sufficiency import Sufficiency
from palace.testing import ManualClock, MemoryScratchpad
from palace.text.moments import utc_now
from palace.types.query import Query
from palace.types.session import Turn
from palace.types.verdict import Evidence, LayerName, LayerReport
from tests.doubles import (
    FixedVocabulary,
    ScriptedFetcher,
    VanishingIndex,
    bar_model,
    indexed,
    memory,
    signal,
)

BAR = Sufficiency(*[bar_model({"coverage": 8.0}, bias=-4.0)] * 2)
LEXICONS = load_lexicons(("en",))
KETTLE = memory(
    "The blue kettle stands on the shelf.", 4, created=datetime(2026, 3, 1, tzinfo=timezone.utc)
)


def asked(
    layer: Any, prompt: str, vocabulary: Any, *, kind: Any = "fact", **turn: Any
) -> LayerReport:
    told = Turn(prompt, **turn)
    report: LayerReport = layer.gather(
        told, Analyst(LEXICONS, vocabulary).analyse(told), signal(kind)
    )
    return report


def rooms(index: Index, **options: Any) -> IndexedLayer:
    name: LayerName = options.pop("name", "L1")
    return IndexedLayer(name, searcher=Searcher(index), sufficiency=BAR, **options)


# -- judging ------------------------------------------------------------------------------------


def scored(number: int, coverage: float) -> Scored:
    features = {"coverage": coverage, "has_names": 0.0, "names": 0.5, "unknown_name": 0.0}
    return Scored(Candidate(number, "a.md", number, "", (), ()), 10.0 - number, features)


def evidence_of(scored: Scored) -> Evidence:
    return Evidence(f"m-{scored.candidate.key}", "text", "L1", "a.md:1")


def ranked(found: list[Scored], sufficiency: Sufficiency = BAR, **how: Any) -> LayerReport:
    options: dict[str, Any] = {
        "evidence_of": lambda some: {s.candidate.key: evidence_of(s) for s in some},
        "max_evidence": 5,
    }
    return judge("L1", found, sufficiency=sufficiency, **(options | how))


def judged(*coverages: float, **how: Any) -> LayerReport:
    return ranked([scored(n, c) for n, c in enumerate(coverages)], **how)


def test_nothing_to_judge() -> None:
    assert judged() == LayerReport("L1", "none")


@pytest.mark.parametrize(
    ("coverage", "outcome"), [(1.0, "sufficient"), (0.5, "unclear"), (0.1, "none")]
)
def test_the_best_decides(coverage: float, outcome: str) -> None:
    report = judged(0.0, coverage, 0.0)
    assert report.outcome == outcome
    assert report.candidates == 3
    assert report.best == BAR.confidence(scored(1, coverage))
    assert bool(report.evidence) == (outcome != "none")


def test_evidence_is_surest_first_with_confidence_and_scores() -> None:
    report = judged(0.5, 1.0, 0.0, 0.9, 0.6)
    assert [e.id for e in report.evidence] == ["m-1", "m-3", "m-4", "m-0"]
    assert [e.confidence for e in report.evidence] == sorted(
        (e.confidence for e in report.evidence), reverse=True
    )
    assert report.evidence[0].scores["coverage"] == 1.0


def test_near_ties_are_ordered_by_what_the_memories_are_worth() -> None:
    worth = [
        scored(0, 1.0),
        scored(1, 0.99)._replace(prior=0.5),
        scored(2, 0.5)._replace(prior=1.0),
    ]
    report = ranked(worth)
    assert [e.id for e in report.evidence] == ["m-1", "m-0", "m-2"]


def test_what_proves_stands_before_what_is_near_in_meaning() -> None:
    near = bar_model({"closeness": 8.0}, bias=-4.0)
    found = [scored(0, 0.7), scored(1, 0.9), scored(2, 0.1), scored(3, 0.2)]
    close = [
        s._replace(features={**s.features, "closeness": closeness})
        for s, closeness in zip(found, (0.9, 0.6, 0.8, 0.7), strict=True)
    ]
    report = ranked(
        close, Sufficiency(*[bar_model({"coverage": 8.0}, bias=-4.0)] * 2, meaning=near)
    )
    assert [e.id for e in report.evidence] == ["m-1", "m-0", "m-2", "m-3"]


def on_topic(*coverages: float, first: float) -> Any:
    """Return the report where the first of the ranking is that much on topic."""
    topic = bar_model({"distinct": 8.0}, bias=-4.0, on_topic=0.5)
    found = [scored(number, coverage) for number, coverage in enumerate(coverages)]
    found[0] = found[0]._replace(features={**found[0].features, "distinct": first})
    return ranked(found, Sufficiency(*[bar_model({"coverage": 8.0}, bias=-4.0)] * 2, topic=topic))


def test_nothing_is_unclear_where_the_first_is_off_topic() -> None:
    report = on_topic(0.5, 0.55, first=0.4)
    assert (report.outcome, report.evidence) == ("none", ())
    assert (report.judgement.band, report.judgement.rule) == ("none", "off topic")
    assert report.judgement.topic < report.judgement.on_topic_at == 0.5
    assert report.judgement.confidence == report.best  # what was found is still told
    assert [e.id for e in on_topic(0.5, 0.55, first=0.6).evidence] == ["m-1", "m-0"]


def test_what_is_sufficient_is_on_topic() -> None:
    report = on_topic(0.5, 0.9, first=0.0)
    assert (report.outcome, [e.id for e in report.evidence]) == ("sufficient", ["m-1", "m-0"])
    assert report.judgement.topic is None


def test_little_stands_beside_what_is_sufficient() -> None:
    lenient = Sufficiency(*[bar_model({"coverage": 12.0}, bias=-8.0, unclear=0.001)] * 2)

    def evidence(*coverages: float) -> list[str]:
        return [e.id for e in judged(*coverages, sufficiency=lenient).evidence]

    assert evidence(0.2, 0.3) == ["m-1", "m-0"]  # .004 and .012
    assert evidence(0.2, 0.3, 1.0) == ["m-2", "m-1"]


@pytest.mark.parametrize("coverages", [(0.5, 1.0, 0.9), (0.0, 0.1, 0.05)])
def test_the_best_is_explained_whether_it_is_evidence_or_not(coverages: Any) -> None:
    report = judged(*coverages)
    assert report.judgement is not None
    assert report.judgement.confidence == report.best


def test_evidence_is_bounded() -> None:
    assert len(judged(*[1.0] * 9, max_evidence=2).evidence) == 2


def said_again(*texts: str) -> list[str]:
    """Return the ids of evidence of these words, the surest first."""
    sure = [scored(n, 1.0 - n / 100) for n in range(len(texts))]
    report = ranked(
        sure,
        evidence_of=lambda some: {
            s.candidate.key: replace(evidence_of(s), text=texts[s.candidate.key]) for s in some
        },
        max_evidence=3,
    )
    return [e.id for e in report.evidence]


def test_the_same_words_elsewhere_take_no_place_from_other_words() -> None:
    assert said_again("One.", "One.", "Two.", " One.\n", "Three.", "Four.") == ["m-0", "m-2", "m-4"]
    assert said_again("One.", "One.", "Two.") == ["m-0", "m-2", "m-1"]
    assert said_again("One.", "One.", "One.", "One.") == ["m-0", "m-1", "m-2"]


def test_the_same_words_of_another_day_or_by_another_hand_are_other_evidence() -> None:
    made = [
        replace(evidence_of(scored(0, 1.0)), as_of=datetime(2026, 3, 1, tzinfo=timezone.utc)),
        replace(evidence_of(scored(1, 0.99)), as_of=datetime(2026, 3, 2, tzinfo=timezone.utc)),
        replace(evidence_of(scored(2, 0.98)), trust="agent"),
        replace(evidence_of(scored(3, 0.97)), text="other words"),
    ]
    report = ranked(
        [scored(n, 1.0 - n / 100) for n in range(4)],
        evidence_of=lambda some: {s.candidate.key: made[s.candidate.key] for s in some},
        max_evidence=3,
    )
    assert [e.id for e in report.evidence] == ["m-0", "m-1", "m-2"]


def test_a_lower_sufficient_bar_still_hands_evidence_on() -> None:
    lenient = Sufficiency(*[bar_model({"coverage": 8.0}, bias=-4.0)] * 2, sufficient_at=0.1)
    report = judged(0.3, sufficiency=lenient)  # 0.17: above it, below the fitted unclear bar
    assert (report.outcome, len(report.evidence)) == ("sufficient", 1)


def test_time_is_taken_and_failure_is_a_report() -> None:
    def fail() -> LayerReport:
        raise StoreUnavailableError("the disk is gone", hint="look for it")

    report = timed("L2", fail)
    assert (report.layer, report.outcome, report.reason) == (
        "L2",
        "unavailable",
        "the disk is gone",
    )
    assert report.evidence == ()
    assert report.elapsed_ms > 0


def test_other_exceptions_are_not_swallowed() -> None:
    def fail() -> LayerReport:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        timed("L2", fail)


# -- L0 -----------------------------------------------------------------------------------------


def test_identity_is_loaded() -> None:
    layer = IdentityLayer(lambda: "  I keep the house.\n")
    report = layer.gather(Turn("x"), Query("x"), signal())
    assert (report.layer, report.outcome) == ("L0", "loaded")
    (told,) = report.evidence
    assert (told.id, told.text, told.source) == ("identity", "I keep the house.", "identity.txt:1")


def test_no_identity() -> None:
    report = IdentityLayer(lambda: " \n").gather(Turn("x"), Query("x"), signal())
    assert (report.outcome, report.evidence) == ("none", ())


def test_unreadable_identity() -> None:
    def read() -> str:
        raise StoreUnavailableError("identity.txt cannot be read", hint="check it")

    report = IdentityLayer(read).gather(Turn("x"), Query("x"), signal())
    assert (report.outcome, report.reason) == ("unavailable", "identity.txt cannot be read")


# -- L1 and L4 ----------------------------------------------------------------------------------


def test_a_memory_that_answers() -> None:
    index = indexed(KETTLE, memory("Nothing to do with it.", 5))
    report = asked(rooms(index), "Where does the blue kettle stand?", index)
    assert report.outcome == "sufficient"
    found = report.evidence[0]
    assert (found.id, found.text, found.layer) == (KETTLE.id, KETTLE.text, "L1")
    assert found.source == "rooms/desk/notes.md:5"
    assert found.as_of == KETTLE.created
    assert found.confidence == report.best


def test_a_turn_is_told_with_who_says_it() -> None:
    index = indexed(replace(memory("I moved the blue kettle to the cellar.", 4), speaker="Olga"))
    (found,) = asked(rooms(index), "Where did Olga move the blue kettle?", index).evidence
    assert found.text == "Olga: I moved the blue kettle to the cellar."


def test_nothing_relevant() -> None:
    index = indexed(KETTLE)
    report = asked(rooms(index), "Which zeppelin flew over the mountains?", index)
    assert (report.outcome, report.evidence) == ("none", ())


def test_as_of_prefers_when_it_became_true() -> None:
    days = [datetime(2026, 1, n, tzinfo=timezone.utc) for n in (1, 2, 3)]
    cases: tuple[tuple[Any, Any], ...] = (
        ({"valid_from": days[0], "updated": days[1], "created": days[2]}, days[0]),
        ({"updated": days[1], "created": days[2]}, days[1]),
        ({"created": days[2]}, days[2]),
        ({}, None),
    )
    for fields, expected in cases:
        index = indexed(memory("the blue kettle", **fields))
        assert asked(rooms(index), "blue kettle", index).evidence[0].as_of == expected


@pytest.mark.parametrize(
    ("kind", "age_days", "stale"),
    [("status", 30, True), ("status", 1, False), ("fact", 30, False), ("status", None, False)],
)
def test_an_old_status_is_stale(kind: str, age_days: int | None, stale: bool) -> None:
    created = None if age_days is None else utc_now() - timedelta(days=age_days)
    index = indexed(memory("the blue kettle", created=created))
    assert asked(rooms(index), "blue kettle", index, kind=kind).evidence[0].stale is stale


@pytest.mark.parametrize(
    ("min_trust", "expected"),
    [("system", {"user", "agent", "system"}), ("agent", {"user", "agent"}), ("user", {"user"})],
)
def test_memories_of_lower_trust_make_no_evidence(min_trust: Any, expected: set[str]) -> None:
    trusts: tuple[Any, ...] = ("system", "agent", "user")
    index = indexed(*(memory("the blue kettle", n, trust=t) for n, t in enumerate(trusts)))
    report = asked(rooms(index, min_trust=min_trust), "blue kettle", index)
    assert {e.trust for e in report.evidence} == expected


def test_only_untrusted_memories_are_no_hit() -> None:
    index = indexed(memory("the blue kettle", trust="system"))
    report = asked(rooms(index, min_trust="user"), "blue kettle", index)
    assert (report.outcome, report.evidence) == ("none", ())
    assert report.judgement is not None
    assert (report.judgement.band, report.judgement.rule) == ("none", "left out")
    assert "enforce.min_trust" in report.reason
    assert asked(rooms(index), "blue kettle", index).reason == ""


def test_scope_of_the_turn() -> None:
    index = indexed(memory("the blue kettle", scope="project:garden"))
    assert asked(rooms(index), "blue kettle", index).outcome == "none"
    assert asked(rooms(index), "blue kettle", index, project="garden").outcome == "sufficient"


def test_playbooks_are_their_own_layer() -> None:
    index = indexed(memory("blue kettle: 1. fill 2. boil", path="playbooks/tea.md"), layer="L4")
    assert asked(rooms(index), "blue kettle", index).outcome == "none"
    report = asked(rooms(index, name="L4"), "blue kettle", index, kind="procedure")
    assert (report.layer, report.outcome) == ("L4", "sufficient")
    assert report.evidence[0].layer == "L4"


def test_a_playbook_proves_nothing_to_who_does_not_ask_how() -> None:
    index = indexed(memory("blue kettle: 1. fill 2. boil", path="playbooks/tea.md"), layer="L4")
    report = asked(rooms(index, name="L4"), "blue kettle", index, kind="fact")
    assert (report.outcome, len(report.evidence)) == ("unclear", 1)
    assert report.judgement is not None
    assert (report.judgement.band, report.judgement.rule) == ("unclear", "procedure")


def test_no_playbook_has_to_say_that_it_is_one() -> None:
    index = indexed(memory("blue kettle: 1. fill 2. boil", path="playbooks/tea.md"), layer="L4")
    layer = rooms(index, name="L4")
    for prompt in ("blue kettle", "Is there a runbook for the blue kettle?"):
        report = asked(layer, prompt, index, kind="procedure")
        assert report.evidence[0].scores["coverage"] == 1.0
    report = asked(layer, "Who wrote a runbook on the blue kettle?", index, kind="procedure")
    assert report.evidence == ()


@pytest.mark.parametrize("cue", ["howto_general", "ask_i"])
def test_what_one_is_to_do_asks_for_a_playbook_too(cue: str) -> None:
    index = indexed(memory("blue kettle: 1. fill 2. boil", path="playbooks/tea.md"), layer="L4")
    query = Analyst(LEXICONS, index).analyse(Turn("blue kettle"))
    asking = replace(signal("fact"), cues=(cue,))
    report = rooms(index, name="L4").gather(Turn("blue kettle"), query, asking)
    assert (report.outcome, len(report.evidence)) == ("sufficient", 1)


def test_a_playbook_whose_trigger_is_said_tells_how() -> None:
    pages = ("tea: 1. boil", ()), ("kettle care: 1. rinse", ("kettle is furred",))
    index = indexed(
        *(
            memory(text, n, path=f"playbooks/{n}.md", triggers=triggers)
            for n, (text, triggers) in enumerate(pages)
        ),
        layer="L4",
    )
    prompt = "The kettle is furred, and the tea is bad; what is to be done?"
    report = asked(rooms(index, name="L4"), prompt, index, kind="procedure")
    assert (report.outcome, report.evidence[0].text) == ("sufficient", pages[1][0])
    assert report.judgement is not None
    assert (report.judgement.band, report.judgement.rule) == ("sufficient", "trigger")
    prompt = "The kettle is bad, and the tea is furred; what is to be done?"
    assert asked(rooms(index, name="L4"), prompt, index, kind="procedure").outcome == "unclear"
    assert asked(rooms(index, name="L4"), prompt, index, kind="fact").outcome == "unclear"


def test_a_broken_index_is_unavailable() -> None:
    index = indexed(KETTLE)
    layer = rooms(index)
    query = Analyst(LEXICONS, index).analyse(Turn("blue kettle"))
    index.close()
    report = layer.gather(Turn("blue kettle"), query, signal())
    assert report.outcome == "unavailable"
    assert report.reason


def test_a_memory_that_vanishes_during_the_walk_is_left_out() -> None:
    index = VanishingIndex(indexed(*(memory("the blue kettle", n) for n in range(3))))
    report = asked(rooms(index), "blue kettle", index)
    assert report.outcome == "sufficient"
    assert [e.id for e in report.evidence] == ["m-00000001", "m-00000002"]


def test_the_only_memory_vanishes_during_the_walk() -> None:
    index = VanishingIndex(indexed(memory("the blue kettle")))
    report = asked(rooms(index), "blue kettle", index)
    assert (report.outcome, report.evidence) == ("none", ())


# -- L2 -----------------------------------------------------------------------------------------


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def pad(clock: ManualClock) -> MemoryScratchpad:
    return MemoryScratchpad(clock=clock)


WORDS = FixedVocabulary("the blue kettle", "another text", "a third")


def notes(pad: MemoryScratchpad, **options: Any) -> ScratchpadLayer:
    return ScratchpadLayer(pad.entries, vocabulary=WORDS, sufficiency=BAR, **options)


def test_a_note_of_this_session_answers(pad: MemoryScratchpad) -> None:
    entry = pad.append("s1", "the blue kettle leaks", ttl_s=60)
    pad.append("s1", "unrelated words", ttl_s=60)
    report = asked(notes(pad), "blue kettle", WORDS, session_id="s1")
    assert (report.layer, report.outcome, report.candidates) == ("L2", "sufficient", 1)
    (found,) = report.evidence
    assert (found.id, found.text, found.layer, found.trust) == (entry.id, entry.text, "L2", "agent")
    assert (found.source, found.as_of) == ("scratchpad:s1", entry.at)


def test_notes_of_other_sessions_and_expired_ones_are_not_read(
    pad: MemoryScratchpad, clock: ManualClock
) -> None:
    pad.append("s2", "the blue kettle leaks", ttl_s=1000)
    pad.append("s1", "the blue kettle leaks", ttl_s=10)
    clock.advance(10)
    assert asked(notes(pad), "blue kettle", WORDS, session_id="s1").outcome == "none"


def test_no_session_is_skipped(pad: MemoryScratchpad) -> None:
    pad.append("s1", "the blue kettle leaks")
    report = asked(notes(pad), "blue kettle", WORDS)
    assert (report.outcome, report.evidence) == ("skipped", ())
    assert report.reason


def test_an_empty_session_id_has_no_notes(pad: MemoryScratchpad) -> None:
    assert asked(notes(pad), "blue kettle", WORDS, session_id="").outcome in {"none", "skipped"}


def test_a_word_only_the_notes_know_is_not_unknown(pad: MemoryScratchpad) -> None:
    pad.append("s1", "the zeppelin leaks")
    (found,) = asked(notes(pad), "zeppelin", WORDS, session_id="s1").evidence
    assert (found.scores["absent"], found.scores["coverage_known"]) == (0.0, 1.0)


def test_a_person_only_the_notes_know_is_no_stranger(pad: MemoryScratchpad) -> None:
    pad.append("s1", "we met Zora Quill today")
    report = asked(notes(pad), "did we meet Zora Quill today", WORDS, session_id="s1")
    assert report.outcome == "sufficient"


def test_a_name_in_a_note_answers_who(pad: MemoryScratchpad) -> None:
    pad.append("s1", "the blue kettle belongs to Mira")
    (found,) = asked(notes(pad), "who owns the blue kettle?", WORDS, session_id="s1").evidence
    assert found.scores["answer_type"] == 1.0


def test_notes_are_bounded(pad: MemoryScratchpad) -> None:
    for number in range(9):
        pad.append("s1", f"blue kettle {number}")
    layer = notes(pad, max_evidence=3)
    assert len(asked(layer, "blue kettle", WORDS, session_id="s1").evidence) == 3


def test_a_note_that_a_later_one_contradicts_stands_behind(
    pad: MemoryScratchpad, clock: ManualClock
) -> None:
    for text in ("the blue kettle holds 2 litres", "the blue kettle holds 3 litres"):
        pad.append("s1", text)
        clock.advance(1)
    layer = notes(pad, contradicts=lambda told, since: (told[-8], since[-8]) == ("2", "3"))
    report = asked(layer, "blue kettle", WORDS, session_id="s1")
    assert [e.text[-8:] for e in report.evidence] == ["3 litres", "2 litres"]
    assert report.outcome == "sufficient"


# -- L3 -----------------------------------------------------------------------------------------


def fetched(*fetchers: ScriptedFetcher, prompt: str) -> LayerReport:
    return ArtifactsLayer(fetchers).gather(Turn(prompt), Query(prompt), signal())


def test_what_the_prompt_names_is_fetched() -> None:
    report = fetched(ScriptedFetcher(one="state: closed"), prompt="what about thing:one?")
    assert (report.layer, report.outcome, report.best) == ("L3", "sufficient", 1.0)
    (found,) = report.evidence
    assert (found.id, found.text, found.layer) == ("things:one", "state: closed", "L3")
    assert (found.source, found.confidence, found.trust) == (
        "https://things.example/one",
        1.0,
        "system",
    )
    assert found.as_of is not None


def test_nothing_named_is_skipped_and_nothing_fetched() -> None:
    fetcher = ScriptedFetcher(one="x")
    report = fetched(fetcher, prompt="what about it?")
    assert (report.outcome, fetcher.fetched) == ("skipped", [])
    assert ArtifactsLayer([]).gather(Turn("thing:one"), Query(""), signal()).outcome == "skipped"


def test_naming_touches_no_network() -> None:
    fetcher = ScriptedFetcher(one="x")
    layer = ArtifactsLayer([fetcher])
    assert layer.names_artifact(Turn("see thing:one"))
    assert not layer.names_artifact(Turn("see nothing"))
    assert fetcher.fetched == []


def test_a_file_is_read_though_a_memory_answers_and_no_issue_is_fetched_for_it() -> None:
    fetcher = ScriptedFetcher(one="x")
    layer = ArtifactsLayer([fetcher])
    assert layer.is_wanted(Turn("see thing:one"))
    assert not layer.is_wanted(Turn("see it"))
    recognise = fetcher.recognise
    fetcher.recognise = lambda prompt: [  # type: ignore[method-assign]
        replace(ref, kind="issue") for ref in recognise(prompt)
    ]
    assert not layer.is_wanted(Turn("see thing:one"))
    assert fetcher.fetched == []


def test_a_failed_fetch_is_unavailable_and_never_text() -> None:
    report = fetched(ScriptedFetcher(), prompt="thing:gone")
    assert (report.outcome, report.evidence, report.candidates) == ("unavailable", (), 1)
    assert report.reason == "things:gone: gone did not answer: try again"


def test_one_of_two_fails() -> None:
    report = fetched(ScriptedFetcher(one="fine"), prompt="thing:gone thing:one")
    assert report.outcome == "sufficient"
    assert [e.id for e in report.evidence] == ["things:one"]
    assert "gone" in report.reason


def test_an_empty_artifact_is_told_as_empty() -> None:
    report = fetched(ScriptedFetcher(one=" \n"), prompt="thing:one")
    assert (report.outcome, report.evidence[0].text) == ("sufficient", "one: empty")


def test_what_two_fetchers_read_is_read_once_by_the_first() -> None:
    first, second = ScriptedFetcher(one="tail"), ScriptedFetcher(one="whole", two="two")
    report = fetched(first, second, prompt="thing:one thing:two")
    assert [e.text for e in report.evidence] == ["tail"]
    assert (first.fetched, second.fetched) == (["one", "two"], [])


def test_an_artifact_that_was_cut_says_so() -> None:
    whole, cut = ScriptedFetcher(one="no lines with x\n"), ScriptedFetcher(one="no lines with x\n")
    fetch = cut.fetch
    cut.fetch = lambda ref: replace(fetch(ref), truncated=True)  # type: ignore[method-assign]
    texts = [fetched(fetcher, prompt="thing:one").evidence[0].text for fetcher in (whole, cut)]
    assert texts == ["no lines with x\n", "no lines with x\n[cut: not all of it was read]"]


def test_only_a_few_are_fetched() -> None:
    fetcher = ScriptedFetcher(**{f"t{n}": "x" for n in range(9)})
    fetched(fetcher, prompt=" ".join(f"thing:t{n}" for n in range(9)))
    assert len(fetcher.fetched) == MAX_ARTIFACTS


@pytest.mark.parametrize(
    ("beside", "outcome"),
    [
        ("Rules.\nA blue kettle leaks. It rains.", "sufficient"),
        ("Which blue kettle leaks?", "none"),
        ("<memory-context>\nA blue kettle leaks.\n</memory-context>", "none"),
        ("", "none"),
    ],
)
def test_what_stands_beside_a_question_is_judged_as_notes_are(
    pad: MemoryScratchpad, beside: str, outcome: str
) -> None:
    turn = Turn("blue kettle", beside=beside)
    query = Analyst(LEXICONS, WORDS).analyse(turn)
    assert notes(pad, min_trust="user").beside(turn, query).outcome == outcome
