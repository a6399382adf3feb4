"""The walk and the verdict, with scripted layers and a scripted detector."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

from palace.enforce.enforcer import Policy, RetrievalEnforcer
from palace.errors import StoreUnavailableError
from palace.testing import MemoryJournal
from palace.text import estimate_tokens
from palace.types.query import RecallKind
from palace.types.session import Message, Turn
from palace.types.verdict import Evidence, Judgement, LayerName, LayerReport, Verdict
from tests.doubles import BrokenJournal, ScriptedLayer, ScriptedPalace, evidence, signal

FALLBACK = Policy().fallback_text
TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2
Decide = Callable[..., Verdict]


def _decide(
    palace: ScriptedPalace, prompt: Any = "Which kettle did we buy?", **turn: Any
) -> Verdict:
    return RetrievalEnforcer(palace).decide(prompt, **turn)


def _adecide(
    palace: ScriptedPalace, prompt: Any = "Which kettle did we buy?", **turn: Any
) -> Verdict:
    return asyncio.run(RetrievalEnforcer(palace).adecide(prompt, **turn))


@pytest.fixture(params=[_decide, _adecide], ids=["sync", "async"])
def decide(request: pytest.FixtureRequest) -> Decide:
    given: Decide = request.param
    return given


def walk(**outcomes: Any) -> list[ScriptedLayer]:
    """Return L0 to L4; each outcome is given as `L1="sufficient"`, evidence comes with it."""
    layers = []
    for name in ("L0", "L1", "L2", "L3", "L4"):
        outcome = outcomes.get(name, "loaded" if name == "L0" else "none")
        has_found = outcome in {"sufficient", "unclear", "loaded"}
        found = (evidence(f"words of {name}", name),) if has_found else ()
        reason = f"{name} broke" if outcome == "unavailable" else ""
        layers.append(ScriptedLayer(name, outcome, *found, reason=reason))
    return layers


def visited(verdict: Verdict) -> list[LayerName]:
    return [r.layer for r in verdict.walk]


# -- the order of the walk ----------------------------------------------------------------------


def test_all_layers_in_order_when_nothing_is_found(decide: Decide) -> None:
    layers = walk()
    verdict = decide(ScriptedPalace(*layers, signal=signal()))
    assert visited(verdict) == ["L0", "L1", "L2", "L3", "L4"]
    assert [x.asked for x in layers] == [1] * 5
    assert (verdict.action, verdict.outcome, verdict.layer) == ("fallback", "nothing_stored", None)
    assert verdict.text == FALLBACK
    assert verdict.evidence == ()


@pytest.mark.parametrize("at", ["L1", "L2", "L3", "L4"])
def test_the_walk_stops_at_the_first_sufficient_layer(decide: Decide, at: LayerName) -> None:
    layers = walk(**{at: "sufficient", "L4": "sufficient"})
    verdict = decide(ScriptedPalace(*layers, signal=signal()))
    assert visited(verdict)[-1] == at
    assert [x.asked for x in layers] == [int(x.name <= at) for x in layers]
    assert (verdict.action, verdict.outcome, verdict.layer) == ("ground", "hit", at)
    assert verdict.evidence == (evidence(f"words of {at}", at),)
    assert f"words of {at} ({at}.md:1)" in verdict.text


def test_identity_never_ends_a_walk(decide: Decide) -> None:
    verdict = decide(ScriptedPalace(*walk(L1="sufficient"), signal=signal()))
    assert visited(verdict) == ["L0", "L1"]
    assert verdict.layer == "L1"


def test_the_order_is_the_one_configured(decide: Decide) -> None:
    zero, one, two, *_ = walk(L1="sufficient", L2="sufficient")
    verdict = decide(ScriptedPalace(zero, two, one, signal=signal()))
    assert visited(verdict) == ["L0", "L2"]


def test_unclear_evidence_is_kept_while_later_layers_are_asked(decide: Decide) -> None:
    verdict = decide(ScriptedPalace(*walk(L1="unclear", L4="sufficient"), signal=signal()))
    assert visited(verdict) == ["L0", "L1", "L2", "L3", "L4"]
    assert (verdict.action, verdict.layer) == ("ground", "L4")
    assert verdict.walk[1].evidence


def test_what_is_no_recall_meets_the_identity_only(decide: Decide) -> None:
    layers = walk(L1="sufficient")
    verdict = decide(ScriptedPalace(*layers, signal=signal("none", "other")))
    assert visited(verdict) == ["L0"]
    assert [x.asked for x in layers] == [1, 0, 0, 0, 0]
    assert (verdict.action, verdict.outcome, verdict.text) == ("pass", "not_recall", "")
    assert (verdict.evidence, verdict.layer) == ((), None)


def test_a_palace_without_layers(decide: Decide) -> None:
    verdict = decide(ScriptedPalace(signal=signal()))
    assert (verdict.action, verdict.outcome, verdict.walk) == ("fallback", "nothing_stored", ())


# -- home layers --------------------------------------------------------------------------------


def test_a_procedure_is_looked_for_at_home_first(decide: Decide) -> None:
    palace = ScriptedPalace(*walk(L1="sufficient", L4="sufficient"), signal=signal("procedure"))
    verdict = decide(palace)
    assert visited(verdict) == ["L0", "L1", "L4"]
    assert verdict.layer == "L4"


def test_how_a_thing_is_done_in_general_is_looked_for_among_playbooks_too(decide: Decide) -> None:
    asking = replace(signal("fact"), cues=("howto_general",))
    verdict = decide(ScriptedPalace(*walk(L1="sufficient", L4="sufficient"), signal=asking))
    assert (visited(verdict), verdict.layer) == (["L0", "L1", "L4"], "L4")
    assert [e.layer for e in verdict.evidence] == ["L4", "L1"]


@pytest.mark.parametrize(("rule", "told"), [("trigger", ["L4", "L1"]), ("bars", ["L4"])])
def test_what_may_answer_stands_behind_a_playbook_that_a_trigger_brought_up(
    decide: Decide, rule: Any, told: list[str]
) -> None:
    layers = walk(L1="unclear", L4="sufficient")
    judged = Judgement(
        "p.md", "statement", 0.0, {}, 0.2, None, {}, 0.2, 0.5, 0.1, "sufficient", rule
    )
    layers[4] = ScriptedLayer("L4", "sufficient", evidence("steps", "L4"), judgement=judged)
    verdict = decide(ScriptedPalace(*layers, signal=signal("procedure")))
    assert [e.layer for e in verdict.evidence] == told


def test_a_procedure_that_is_not_at_home_comes_from_where_it_was_found(decide: Decide) -> None:
    verdict = decide(ScriptedPalace(*walk(L1="sufficient"), signal=signal("procedure")))
    assert (verdict.action, verdict.layer) == ("ground", "L1")
    assert visited(verdict) == ["L0", "L1", "L4"]


def test_a_status_is_fetched_live_if_it_can_be(decide: Decide) -> None:
    palace = ScriptedPalace(*walk(L1="sufficient", L3="sufficient"), signal=signal("status"))
    verdict = decide(palace)
    assert visited(verdict) == ["L0", "L1", "L3"]
    assert verdict.layer == "L3"


def test_no_layer_is_asked_behind_the_home_of_what_was_found(decide: Decide) -> None:
    verdict = decide(ScriptedPalace(*walk(L1="sufficient"), signal=signal("status")))
    assert (verdict.layer, visited(verdict)) == ("L1", ["L0", "L1", "L3"])


def test_without_its_home_layer_a_kind_stops_like_any_other(decide: Decide) -> None:
    zero, one, two, *_ = walk(L1="sufficient")
    verdict = decide(ScriptedPalace(zero, one, two, signal=signal("procedure")))
    assert visited(verdict) == ["L0", "L1"]


def stale_walk(l3: str, *, stale: bool = True) -> list[ScriptedLayer]:
    layers = walk(L3=l3)
    layers[1] = ScriptedLayer("L1", "sufficient", evidence("it is open", "L1", stale=stale))
    return layers


def test_a_stale_status_with_a_failed_live_fetch_is_a_near_miss(decide: Decide) -> None:
    verdict = decide(ScriptedPalace(*stale_walk("unavailable"), signal=signal("status")))
    assert (verdict.action, verdict.outcome) == ("confirm", "near_miss")
    assert FALLBACK in verdict.text
    assert "may be out of date" in verdict.text


def test_a_stale_status_with_nothing_live_to_ask_is_a_labelled_hit(decide: Decide) -> None:
    verdict = decide(ScriptedPalace(*stale_walk("skipped"), signal=signal("status")))
    assert (verdict.action, verdict.outcome, verdict.layer) == ("ground", "hit", "L1")
    assert "may be out of date" in verdict.text


def test_a_fresh_status_survives_a_failed_live_fetch(decide: Decide) -> None:
    palace = ScriptedPalace(*stale_walk("unavailable", stale=False), signal=signal("status"))
    assert decide(palace).outcome == "hit"


def test_a_live_status_beats_a_stale_one(decide: Decide) -> None:
    verdict = decide(ScriptedPalace(*stale_walk("sufficient"), signal=signal("status")))
    assert (verdict.layer, verdict.outcome) == ("L3", "hit")


# -- what is newer than the memory that was found -----------------------------------------------

DAY = datetime(2026, 5, 1, tzinfo=timezone.utc)


def noted(outcome: str, confidence: float, *, hours: int = 1, kept: str = "it is red") -> Any:
    """Return L0 to L4: a memory of `DAY`, .8 sure, and a note so many hours later."""
    layers = walk()
    memory = replace(evidence(kept), confidence=0.8, as_of=DAY)
    note = replace(
        evidence("it is blue", "L2"), confidence=confidence, as_of=DAY + timedelta(hours=hours)
    )
    layers[1] = ScriptedLayer("L1", "sufficient", memory)
    layers[2] = ScriptedLayer("L2", outcome, note)
    return layers


def are_colours(told: str, since: str) -> bool:
    return {told, since} == {"it is red", "it is blue"}


@pytest.mark.parametrize("outcome", ["sufficient", "unclear"])
def test_a_later_note_that_contradicts_the_memory_stands_first(
    decide: Decide, outcome: str
) -> None:
    palace = ScriptedPalace(*noted(outcome, 0.6), signal=signal(), contradicts=are_colours)
    verdict = decide(palace, session_id="s")
    assert (verdict.action, verdict.layer) == ("ground", "L2")
    assert visited(verdict) == ["L0", "L1", "L2"]
    assert [(e.text, e.confidence, e.stale) for e in verdict.evidence] == [
        ("it is blue", 0.6, False),
        ("it is red", 0.6, True),
    ]


@pytest.mark.parametrize(
    ("kept", "hours"), [("it is large", 1), ("it is blue", 1), ("it is red", -1)]
)
def test_a_note_that_contradicts_nothing_later_leaves_the_walk_as_it_ended(
    decide: Decide, kept: str, hours: int
) -> None:
    layers = noted("sufficient", 0.9, hours=hours, kept=kept)
    palace = ScriptedPalace(*layers, signal=signal(), contradicts=are_colours)
    verdict = decide(palace, session_id="s")
    assert visited(verdict) == ["L0", "L1"]
    assert [(e.layer, e.stale) for e in verdict.evidence] == [("L1", False)]


def test_without_a_session_no_note_is_asked_for(decide: Decide) -> None:
    palace = ScriptedPalace(*noted("sufficient", 0.9), signal=signal(), contradicts=are_colours)
    assert visited(decide(palace)) == ["L0", "L1"]
    assert visited(decide(palace, session_id="s", as_of=DAY)) == ["L0", "L1"]


@pytest.mark.parametrize(
    ("kept", "order"), [("it is red", ["L3", "L1"]), ("l3.md says it is red", ["L1", "L3"])]
)
def test_a_named_artifact_is_read_though_a_memory_answers(
    decide: Decide, kept: str, order: list[str]
) -> None:
    layers = walk(L3="sufficient")
    layers[1] = ScriptedLayer("L1", "sufficient", evidence(kept))
    layers[3] = ScriptedLayer("L3", "sufficient", evidence("live", "L3", id="files:l3.md"))
    named_in = {"l3.md says it is red": ["files:l3.md"], "it is red": []}.__getitem__
    verdict = decide(
        ScriptedPalace(*layers, signal=signal(), wants_artifact=lambda _: True, named_in=named_in)
    )
    assert visited(verdict) == ["L0", "L1", "L3"]
    assert [e.layer for e in verdict.evidence] == order


def test_an_artifact_that_could_not_be_read_leaves_the_memory(decide: Decide) -> None:
    palace = ScriptedPalace(
        *walk(L1="sufficient", L3="unavailable"), signal=signal(), wants_artifact=lambda _: True
    )
    verdict = decide(palace)
    assert (verdict.outcome, verdict.layer) == ("hit", "L1")
    assert verdict.walk[-1].outcome == "unavailable"


# -- policies -----------------------------------------------------------------------------------


def test_on_hit_answer_quotes_the_best(decide: Decide) -> None:
    layers = walk()
    layers[1] = ScriptedLayer(
        "L1", "sufficient", evidence("first", id="a"), evidence("second", id="b")
    )
    verdict = decide(ScriptedPalace(*layers, signal=signal(), on_hit="answer"))
    assert (verdict.action, verdict.outcome) == ("answer", "hit")
    assert verdict.text == "first (L1.md:1)"


def test_answer_kinds(decide: Decide) -> None:
    kinds: tuple[tuple[RecallKind, str], ...] = (("preference", "answer"), ("fact", "ground"))
    for kind, action in kinds:
        palace = ScriptedPalace(
            *walk(L1="sufficient"), signal=signal(kind), answer_kinds=frozenset({"preference"})
        )
        assert decide(palace).action == action


def test_unclear_evidence_is_to_be_confirmed(decide: Decide) -> None:
    verdict = decide(ScriptedPalace(*walk(L1="unclear"), signal=signal()))
    assert (verdict.action, verdict.outcome, verdict.layer) == ("confirm", "near_miss", "L1")
    assert [e.text for e in verdict.evidence] == ["words of L1"]
    assert verdict.text.startswith(FALLBACK)
    assert '"words of L1" (L1.md:1)' in verdict.text


def test_unclear_evidence_may_be_refused_by_policy(decide: Decide) -> None:
    verdict = decide(ScriptedPalace(*walk(L1="unclear"), signal=signal(), on_unclear="fallback"))
    assert (verdict.action, verdict.outcome) == ("fallback", "near_miss")
    assert "words of L1" in verdict.text


def test_unclear_evidence_of_several_layers_is_bounded_together(decide: Decide) -> None:
    sure, unsure = (
        [evidence(f"{layer} {n}", layer, confidence=confidence) for n in range(3)]
        for layer, confidence in (("L4", 0.3), ("L1", 0.2))
    )
    layers = [ScriptedLayer("L0", "loaded")]
    layers += [ScriptedLayer("L1", "unclear", *unsure), ScriptedLayer("L4", "unclear", *sure)]
    verdict = decide(ScriptedPalace(*layers, signal=signal(), max_evidence=4))
    assert [e.text for e in verdict.evidence] == ["L4 0", "L4 1", "L4 2", "L1 0"]


def test_near_misses_are_not_named_where_that_is_off(decide: Decide) -> None:
    palace = ScriptedPalace(*walk(L1="unclear"), signal=signal(), name_near_misses=False)
    assert decide(palace).text == FALLBACK


def test_unclear_evidence_of_all_layers_is_surest_first(decide: Decide) -> None:
    layers = walk()
    layers[1] = ScriptedLayer("L1", "unclear", evidence("far", "L1", confidence=0.3))
    layers[2] = ScriptedLayer("L2", "unclear", evidence("near", "L2", confidence=0.6))
    verdict = decide(ScriptedPalace(*layers, signal=signal()))
    assert [e.text for e in verdict.evidence] == ["near", "far"]
    assert verdict.layer == "L2"


def test_on_miss_generate_is_labelled(decide: Decide) -> None:
    verdict = decide(ScriptedPalace(*walk(), signal=signal(), on_miss="generate"))
    assert (verdict.action, verdict.outcome, verdict.layer) == ("generate", "nothing_stored", "L5")
    assert visited(verdict) == ["L0", "L1", "L2", "L3", "L4", "L5"]
    assert "ungrounded" in verdict.walk[-1].reason
    assert verdict.evidence == ()


def test_generate_does_not_replace_a_near_miss(decide: Decide) -> None:
    verdict = decide(ScriptedPalace(*walk(L1="unclear"), signal=signal(), on_miss="generate"))
    assert verdict.action == "confirm"


def test_own_fallback_text(decide: Decide) -> None:
    palace = ScriptedPalace(*walk(), signal=signal(), fallback_text="Nothing here.")
    assert decide(palace).text == "Nothing here."


# -- unsure -------------------------------------------------------------------------------------


def test_sufficient_evidence_turns_unsure_into_recall(decide: Decide) -> None:
    verdict = decide(ScriptedPalace(*walk(L1="sufficient"), signal=signal("fact", "unsure")))
    assert (verdict.action, verdict.outcome) == ("ground", "hit")
    assert verdict.signal.kind == "fact"


def test_a_hit_is_never_of_kind_none(decide: Decide) -> None:
    opinion = signal("none", "unsure", runner_up="history")
    verdict = decide(ScriptedPalace(*walk(L1="sufficient"), signal=opinion))
    assert (verdict.outcome, verdict.signal.kind) == ("hit", "history")


@pytest.mark.parametrize("outcome", ["none", "unclear", "unavailable"])
def test_anything_less_lets_unsure_prompts_pass(decide: Decide, outcome: str) -> None:
    verdict = decide(ScriptedPalace(*walk(L1=outcome), signal=signal("fact", "unsure")))
    assert (verdict.action, verdict.outcome, verdict.text) == ("pass", "not_recall", "")
    assert verdict.evidence == ()
    assert visited(verdict) == ["L0", "L1", "L2", "L3", "L4"]


@pytest.mark.parametrize(
    ("best", "leaning", "policy", "action"),
    [
        (0.1, True, {}, "confirm"),
        (0.09, True, {}, "pass"),
        (0.4, False, {}, "pass"),
        (0.4, True, {"on_unclear": "fallback"}, "pass"),
    ],
)
def test_what_leans_to_recall_is_asked_about_where_its_evidence_is_promising(
    decide: Decide, best: float, leaning: bool, policy: dict[str, str], action: str
) -> None:
    opinion = signal("none", "unsure", runner_up="history", leaning=leaning)
    zero, _, *rest = walk()
    found = ScriptedLayer("L1", "unclear", evidence("words of L1", "L1"), best=best)
    verdict = decide(ScriptedPalace(zero, found, *rest, signal=opinion, **policy))
    assert verdict.action == action
    if action == "confirm":
        assert (verdict.outcome, verdict.signal.kind) == ("near_miss", "history")
        assert verdict.evidence == (evidence("words of L1", "L1"),)


def test_the_most_promising_layer_counts(decide: Decide) -> None:
    opinion = signal("none", "unsure", runner_up="history", leaning=True)
    zero, _, _, *rest = walk()
    far, near = (
        ScriptedLayer(name, "unclear", evidence(f"words of {name}", name), best=best)
        for name, best in (("L1", 0.02), ("L2", 0.4))
    )
    assert decide(ScriptedPalace(zero, far, near, *rest, signal=opinion)).action == "confirm"


def test_an_artifact_that_could_not_be_fetched_is_not_made_up(decide: Decide) -> None:
    opinion = signal("status", "unsure")
    verdict = decide(ScriptedPalace(*walk(L3="unavailable"), signal=opinion))
    assert (verdict.action, verdict.outcome) == ("fallback", "unavailable")
    assert "L3 broke" in verdict.text


# -- failure ------------------------------------------------------------------------------------


def test_a_broken_layer_fails_closed_with_its_reason(decide: Decide) -> None:
    verdict = decide(ScriptedPalace(*walk(L2="unavailable"), signal=signal()))
    assert (verdict.action, verdict.outcome) == ("fallback", "unavailable")
    assert verdict.text.startswith(FALLBACK)
    assert "L2 (L2 broke)" in verdict.text
    assert verdict.evidence == ()


def test_a_broken_layer_forbids_free_generation(decide: Decide) -> None:
    palace = ScriptedPalace(*walk(L1="unavailable"), signal=signal(), on_miss="generate")
    assert decide(palace).action == "fallback"


def test_a_broken_layer_does_not_hide_a_hit(decide: Decide) -> None:
    verdict = decide(ScriptedPalace(*walk(L1="unavailable", L4="sufficient"), signal=signal()))
    assert (verdict.outcome, verdict.layer) == ("hit", "L4")


def broken() -> None:
    raise StoreUnavailableError("the index cannot be read", hint="look at it")


@pytest.mark.parametrize("on_miss", ["fallback", "generate"])
def test_an_unreadable_palace_fails_closed(decide: Decide, on_miss: str) -> None:
    layers = walk(L1="sufficient")
    journal = MemoryJournal()
    palace = ScriptedPalace(
        *layers, signal=signal("none", "other"), refresh=broken, journal=journal, on_miss=on_miss
    )
    verdict = decide(palace)
    assert (verdict.action, verdict.outcome) == ("fallback", "unavailable")
    assert verdict.text.startswith(FALLBACK)
    assert "the index cannot be read" in verdict.text
    assert verdict.evidence == ()
    assert [x.asked for x in layers] == [0] * 5
    assert {r.outcome for r in verdict.walk} == {"unavailable"}
    assert len(list(journal.records())) == 1


def test_a_full_disk_under_the_journal_silences_nothing(
    decide: Decide, caplog: pytest.LogCaptureFixture
) -> None:
    palace = ScriptedPalace(*walk(L1="sufficient"), signal=signal(), journal=BrokenJournal())
    verdict = decide(palace)
    assert verdict.outcome == "hit"
    assert f"{verdict.id} is not in the journal: the disk is full" in caplog.text


@pytest.mark.parametrize("outcome", ["none", "sufficient"])
def test_an_unreadable_journal_makes_meta_questions_unavailable(
    decide: Decide, outcome: str
) -> None:
    def previous(session_id: str | None, project: str | None) -> Any:
        return BrokenJournal().records()

    palace = ScriptedPalace(*walk(L1=outcome), signal=signal("meta"), previous=previous)
    verdict = decide(palace)
    assert (verdict.action, verdict.outcome) == ("fallback", "unavailable")
    assert verdict.text.startswith(FALLBACK)
    assert "the journal: the disk cannot be read" in verdict.text
    assert verdict.evidence == ()


def test_unreadable_triggers_are_told_of_and_silence_nothing(
    decide: Decide, caplog: pytest.LogCaptureFixture
) -> None:
    palace = ScriptedPalace(
        *walk(L1="sufficient"), signal=signal(), reminders=lambda _turn: broken()
    )
    verdict = decide(palace)
    assert (verdict.outcome, verdict.reminders) == ("hit", ())
    assert "the index cannot be read" in caplog.text


# -- identity and meta --------------------------------------------------------------------------


def test_an_identity_question_is_grounded_on_the_identity(decide: Decide) -> None:
    verdict = decide(ScriptedPalace(*walk(), signal=signal("identity")))
    assert (verdict.action, verdict.outcome, verdict.layer) == ("ground", "hit", "L0")
    assert [e.text for e in verdict.evidence] == ["words of L0"]


def test_a_layer_that_answers_an_identity_question_wins(decide: Decide) -> None:
    verdict = decide(ScriptedPalace(*walk(L1="sufficient"), signal=signal("identity")))
    assert verdict.layer == "L1"


@pytest.mark.parametrize("l0", ["none", "unavailable"])
def test_no_identity_no_grounding(decide: Decide, l0: str) -> None:
    verdict = decide(ScriptedPalace(*walk(L0=l0), signal=signal("identity")))
    assert verdict.action == "fallback"
    assert verdict.outcome == ("unavailable" if l0 == "unavailable" else "nothing_stored")


def test_other_questions_are_not_grounded_on_the_identity(decide: Decide) -> None:
    assert decide(ScriptedPalace(*walk(), signal=signal("fact"))).outcome == "nothing_stored"


def remembering(
    journal: MemoryJournal,
) -> Callable[[str | None, str | None], list[dict[str, Any]]]:
    return lambda *whose: [r for r in journal.records() if (r["session"], r["project"]) == whose]


def test_a_meta_question_is_answered_from_the_journal(decide: Decide) -> None:
    journal = MemoryJournal()
    previous = remembering(journal)
    decide(
        ScriptedPalace(*walk(L1="sufficient"), signal=signal(), journal=journal), session_id="s1"
    )
    decide(ScriptedPalace(*walk(), signal=signal(), journal=journal), session_id="s1")
    meta = ScriptedPalace(*walk(), signal=signal("meta"), journal=journal, previous=previous)
    verdict = decide(meta, "Which memories did you use?", session_id="s1")
    assert (verdict.action, verdict.outcome) == ("answer", "hit")
    assert [e.id for e in verdict.evidence] == ["e-L1"]
    assert "words of L1 (L1.md:1)" in verdict.text


def test_a_memory_told_again_keeps_its_source_and_its_day(decide: Decide) -> None:
    journal = MemoryJournal()
    day = datetime(2026, 3, 14, tzinfo=timezone.utc)
    used = evidence("words", "L4", as_of=day, confidence=1.0)
    zero, *rest, _ = walk()
    palace = ScriptedPalace(
        zero, *rest, ScriptedLayer("L4", "sufficient", used), signal=signal(), journal=journal
    )
    decide(palace, session_id="s1")
    meta = ScriptedPalace(*walk(), signal=signal("meta"), previous=remembering(journal))
    assert decide(meta, session_id="s1").evidence == (used,)


def test_a_meta_question_of_another_project_finds_nothing(decide: Decide) -> None:
    journal = MemoryJournal()
    palace = ScriptedPalace(*walk(L1="sufficient"), signal=signal(), journal=journal)
    decide(palace, session_id="s1", project="garden")
    meta = ScriptedPalace(*walk(), signal=signal("meta"), previous=remembering(journal))
    assert decide(meta, session_id="s1").outcome == "nothing_stored"
    assert decide(meta, session_id="s1", project="garden").outcome == "hit"


@pytest.mark.parametrize("outcome", ["none", "sufficient"])
def test_a_meta_question_tells_of_reminders_too(decide: Decide, outcome: str) -> None:
    journal = MemoryJournal()
    reminder = Evidence("m-r", "never on a Friday", "L1", "rules.md:1")
    reminded = ScriptedPalace(
        *walk(L1=outcome),
        signal=signal() if outcome == "sufficient" else signal("none", band="other"),
        journal=journal,
        reminders=lambda _turn: [reminder],
    )
    decide(reminded, session_id="s1")
    meta = ScriptedPalace(*walk(), signal=signal("meta"), previous=remembering(journal))
    verdict = decide(meta, "Which memories did you use?", session_id="s1")
    assert (verdict.action, verdict.outcome) == ("answer", "hit")
    found = ["e-L1"] if outcome == "sufficient" else []
    assert [e.id for e in verdict.evidence] == [*found, "m-r"]
    assert "never on a Friday" in verdict.text


def test_a_meta_question_of_another_session_finds_nothing(decide: Decide) -> None:
    journal = MemoryJournal()
    decide(
        ScriptedPalace(*walk(L1="sufficient"), signal=signal(), journal=journal), session_id="s1"
    )
    palace = ScriptedPalace(*walk(), signal=signal("meta"), previous=remembering(journal))
    verdict = decide(palace, session_id="s2")
    assert (verdict.action, verdict.outcome) == ("fallback", "nothing_stored")


@pytest.mark.parametrize("outcome", ["sufficient", "unclear"])
def test_a_meta_question_without_records_carries_no_evidence(decide: Decide, outcome: str) -> None:
    verdict = decide(ScriptedPalace(*walk(L1=outcome), signal=signal("meta")))
    assert (verdict.action, verdict.outcome) == ("fallback", "nothing_stored")
    assert (verdict.evidence, verdict.layer) == ((), None)
    free = ScriptedPalace(*walk(L1=outcome), signal=signal("meta"), on_miss="generate")
    verdict = decide(free)
    assert (verdict.action, verdict.evidence, verdict.text) == ("generate", (), "")


def test_an_unsure_meta_question_is_walked_like_any_other(decide: Decide) -> None:
    asked: list[str | None] = []

    def previous(session_id: str | None, project: str | None) -> Any:
        asked.append(session_id)
        return []

    palace = ScriptedPalace(*walk(), signal=signal("meta", "unsure"), previous=previous)
    assert decide(palace).action == "pass"
    assert asked == []


# -- context always -----------------------------------------------------------------------------


def many(count: int, chars: int) -> ScriptedLayer:
    found = (evidence("x" * chars, id=f"m-{n}") for n in range(count))
    return ScriptedLayer("L1", "sufficient", *found)


@pytest.mark.parametrize(("budget", "kept"), [(0, 0), (9, 0), (10, 1), (25, 2), (1000, 5)])
def test_attached_context_stays_within_its_budget(decide: Decide, budget: int, kept: int) -> None:
    zero, _, *rest = walk()
    palace = ScriptedPalace(
        zero, many(5, 40), *rest, signal=signal("none", "other"), inject_always=True,
        context_budget_tokens=budget,
    )  # fmt: skip
    verdict = decide(palace)
    assert (verdict.action, verdict.outcome) == ("pass", "not_recall")
    assert len(verdict.evidence) == kept
    assert sum(estimate_tokens(e.text) for e in verdict.evidence) <= budget
    assert visited(verdict) == ["L0", "L1"]


def test_nothing_is_attached_by_default(decide: Decide) -> None:
    zero, _, *rest = walk()
    palace = ScriptedPalace(zero, many(5, 40), *rest, signal=signal("none", "other"))
    assert decide(palace).evidence == ()


def test_a_task_to_be_done_with_something_remembered_gets_it(
    decide: Decide, monkeypatch: pytest.MonkeyPatch
) -> None:
    palace = ScriptedPalace(*walk(L1="unclear"), signal=signal("none", "other"))
    analyse = palace.analyst.analyse
    monkeypatch.setattr(palace.analyst, "analyse", lambda t: replace(analyse(t), fills_in=True))
    verdict = decide(palace, "Write to Imogen and use the price we agreed.")
    assert (verdict.action, verdict.outcome) == ("pass", "not_recall")
    assert [e.text for e in verdict.evidence] == ["words of L1"]


def test_an_unsure_prompt_is_not_looked_up_twice(decide: Decide) -> None:
    layers = walk(L1="unclear")
    palace = ScriptedPalace(*layers, signal=signal("fact", "unsure"), inject_always=True)
    verdict = decide(palace)
    assert layers[1].asked == 1
    assert [e.text for e in verdict.evidence] == ["words of L1"]
    assert verdict.action == "pass"


def test_without_rooms_nothing_can_be_attached(decide: Decide) -> None:
    palace = ScriptedPalace(walk()[0], signal=signal("none", "other"), inject_always=True)
    assert decide(palace).evidence == ()


def test_attached_context_replaces_no_evidence(decide: Decide) -> None:
    layers = walk(L1="unclear", L4="sufficient")
    verdict = decide(ScriptedPalace(*layers, signal=signal(), inject_always=True))
    assert [e.text for e in verdict.evidence] == ["words of L4"]


@pytest.mark.parametrize(("cue", "told"), [("machine:tool", 0), ("question", 1), (None, 1)])
def test_machines_are_told_nothing(decide: Decide, cue: str | None, told: int) -> None:
    palace = ScriptedPalace(
        *walk(L1="unclear"),
        signal=replace(signal("none", "other"), cues=(cue,) if cue else ()),
        reminders=lambda _turn: [evidence("never on a Friday")],
        inject_always=True,
    )
    verdict = decide(palace)
    assert (len(verdict.evidence), len(verdict.reminders)) == (told, told)


def test_attached_context_is_recorded_as_injected(decide: Decide) -> None:
    journal = MemoryJournal()
    zero, _, *rest = walk()
    decide(
        ScriptedPalace(
            zero, many(2, 8), *rest, signal=signal("none", "other"), inject_always=True,
            journal=journal,
        )
    )  # fmt: skip
    (record,) = journal.records()
    assert record["injected"] == ["m-0", "m-1"]


# -- secrets ------------------------------------------------------------------------------------


@pytest.mark.parametrize("outcome", ["sufficient", "unclear"])
@pytest.mark.parametrize("on_hit", ["ground", "answer"])
def test_secrets_never_leave(decide: Decide, outcome: Any, on_hit: str) -> None:
    journal = MemoryJournal()
    layers = walk()
    layers[1] = ScriptedLayer("L1", outcome, evidence(f"the token is {TOKEN}, keep it"))
    verdict = decide(
        ScriptedPalace(*layers, signal=signal(), on_hit=on_hit, journal=journal),
        f"is {TOKEN} our token?",
    )
    assert verdict.evidence[0].text.startswith("the token is ")
    told = json.dumps([verdict.as_dict(), list(journal.records())]) + verdict.text
    assert TOKEN not in told
    assert TOKEN not in verdict.evidence[0].text


LONG_SECRETS = {
    "token at the cut": "words " * 40 + TOKEN,
    "key block": "it reads -----BEGIN RSA PRIVATE KEY-----\n" + "MIIEowIBAAKCAQEA7bq9\n" * 30
    + "-----END RSA PRIVATE KEY-----",
    "long web token": "use eyJhbGciOiJIUzI1NiJ9." + "eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6" * 9
    + ".SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c",
}  # fmt: skip


@pytest.mark.parametrize("name", LONG_SECRETS)
def test_a_secret_cut_by_a_quote_is_no_less_secret(decide: Decide, name: str) -> None:
    layers = walk()
    layers[1] = ScriptedLayer("L1", "unclear", evidence(LONG_SECRETS[name]))
    verdict = decide(ScriptedPalace(*layers, signal=signal()))
    for piece in (TOKEN[:12], "MIIEowIBAAKCAQEA7bq9", "eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6"):
        assert piece not in verdict.text


def test_secrets_are_not_in_the_walk_either(decide: Decide) -> None:
    layers = walk()
    layers[1] = ScriptedLayer("L1", "sufficient", evidence(f"the token is {TOKEN}"))
    verdict = decide(ScriptedPalace(*layers, signal=signal()))
    assert TOKEN not in repr(verdict.walk)


def test_secrets_in_attached_context(decide: Decide) -> None:
    zero, _, *rest = walk()
    layer = ScriptedLayer("L1", "unclear", evidence(f"the token is {TOKEN}"))
    palace = ScriptedPalace(zero, layer, *rest, signal=signal("none", "other"), inject_always=True)
    (found,) = decide(palace).evidence
    assert TOKEN not in found.text


def test_secrets_in_reminders(decide: Decide) -> None:
    journal = MemoryJournal()
    palace = ScriptedPalace(
        *walk(),
        signal=signal(),
        journal=journal,
        reminders=lambda _turn: [evidence(f"never print {TOKEN}, please")],
    )
    verdict = decide(palace)
    assert verdict.reminders[0].text.startswith("never print ")
    assert TOKEN not in json.dumps([verdict.as_dict(), list(journal.records())])


# -- the journal --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("outcomes", "band", "action", "injected", "cited"),
    [
        ({"L1": "sufficient"}, "recall", "ground", ["e-L1"], []),
        ({"L1": "unclear"}, "recall", "confirm", ["e-L1"], []),
        ({}, "recall", "fallback", [], []),
        ({"L1": "unavailable"}, "recall", "fallback", [], []),
        ({}, "other", "pass", [], []),
        ({"L1": "unclear"}, "unsure", "pass", [], []),
    ],
)  # fmt: skip
def test_one_record_for_each_decision(
    decide: Decide, outcomes: Any, band: str, action: str, injected: list[str], cited: list[str]
) -> None:
    journal = MemoryJournal()
    palace = ScriptedPalace(*walk(**outcomes), signal=signal("fact", band), journal=journal)
    verdict = decide(palace, session_id="s1", project="garden")
    (record,) = journal.records()
    assert (record["id"], record["type"], record["action"]) == (verdict.id, "verdict", action)
    assert (record["session"], record["project"]) == ("s1", "garden")
    assert (record["injected"], record["cited"]) == (injected, cited)
    in_walk = [e.id for r in verdict.walk for e in r.evidence]
    assert record["retrieved"] == in_walk
    assert set(injected) <= set(in_walk)


def test_a_quoted_answer_is_cited(decide: Decide) -> None:
    journal = MemoryJournal()
    decide(
        ScriptedPalace(*walk(L1="sufficient"), signal=signal(), on_hit="answer", journal=journal)
    )
    (record,) = journal.records()
    assert record["cited"] == record["injected"] == ["e-L1"]


@pytest.mark.parametrize(
    ("prompts", "present", "absent"),
    [
        ("text", "prompt", "prompt_sha256"),
        ("hash", "prompt_sha256", "prompt"),
        ("off", "", "prompt"),
    ],
)
def test_how_much_of_a_prompt_is_kept(
    decide: Decide, prompts: str, present: str, absent: str
) -> None:
    journal = MemoryJournal()
    palace = ScriptedPalace(*walk(), signal=signal(), journal=journal, journal_prompts=prompts)
    decide(palace, "Which unusual kettle?")
    (record,) = journal.records()
    assert (present in record) or not present
    assert absent not in record
    assert ("unusual" in json.dumps(record)) == (prompts == "text")


def test_no_journal(decide: Decide) -> None:
    assert decide(ScriptedPalace(*walk(L1="sufficient"), signal=signal())).outcome == "hit"


# -- the doors ----------------------------------------------------------------------------------


def test_history_may_be_mappings_or_messages(decide: Decide) -> None:
    palace = ScriptedPalace(signal=signal())
    decide(
        palace,
        "And then?",
        history=[{"role": "user", "content": "hello"}, Message("assistant", "hi"), {}],
    )
    (turn,) = palace.analyst.turns
    assert turn.history == (Message("user", "hello"), Message("assistant", "hi"), Message("", ""))


def test_a_whole_turn_is_taken_as_it_is(decide: Decide) -> None:
    palace = ScriptedPalace(signal=signal())
    turn = Turn("And then?", "s1", "garden", (Message("user", "hello"),))
    verdict = decide(palace, turn, session_id="ignored")
    assert palace.analyst.turns == [turn]
    assert verdict.turn == turn


def test_the_words_of_today_tell_whether_a_past_moment_is_asked_about(decide: Decide) -> None:
    then = ScriptedPalace(*walk(L1="sufficient"), signal=signal("none", "other"))
    now = ScriptedPalace(*walk(), signal=signal(), at=lambda _moment: then.enforcement)
    verdict = decide(now, as_of=datetime(2026, 1, 1, tzinfo=timezone.utc))
    assert (verdict.action, verdict.layer) == ("ground", "L1")


def test_ids_differ_and_time_is_taken(decide: Decide) -> None:
    palace = ScriptedPalace(*walk(), signal=signal())
    one, two = decide(palace), decide(palace)
    assert one.id != two.id
    assert one.id.startswith("v-")
    assert one.elapsed_ms > 0


@pytest.mark.parametrize(
    "outcomes",
    [
        {},
        {"L1": "sufficient"},
        {"L2": "unclear"},
        {"L3": "unavailable"},
        {"L1": "unclear", "L4": "sufficient"},
    ],
)
@pytest.mark.parametrize("band", ["recall", "unsure", "other"])
@pytest.mark.parametrize("kind", ["fact", "status", "procedure", "identity", "meta"])
def test_both_drivers_agree(outcomes: Any, band: str, kind: Any) -> None:
    one, two = (
        drive(ScriptedPalace(*walk(**outcomes), signal=signal(kind, band)))
        for drive in (_decide, _adecide)
    )
    assert replace(one, id="", elapsed_ms=0) == replace(two, id="", elapsed_ms=0)


async def test_the_event_loop_stays_free() -> None:
    """A layer that waits for the loop would hang if it ran on the loop."""
    loop = asyncio.get_running_loop()

    def refresh() -> None:
        asyncio.run_coroutine_threadsafe(asyncio.sleep(0), loop).result(timeout=5)

    palace = ScriptedPalace(*walk(L1="sufficient"), signal=signal(), refresh=refresh)
    verdict = await RetrievalEnforcer(palace).adecide("Which kettle?")
    assert verdict.outcome == "hit"


# -- what stands beside a question --------------------------------------------------------------


@pytest.mark.parametrize(
    ("own", "document", "memory", "action"),
    [
        (False, ("unclear", 0.4), ("none", 0.0), "pass"),
        (False, ("unclear", 0.4), ("unclear", 0.3), "pass"),
        (False, ("unclear", 0.4), ("unclear", 0.5), "confirm"),
        (False, ("sufficient", 0.9), ("sufficient", 0.6), "ground"),
        (False, ("sufficient", 0.9), ("unavailable", 0.0), "fallback"),
        (False, ("none", 0.4), ("none", 0.0), "fallback"),
        (True, ("sufficient", 0.9), ("none", 0.0), "fallback"),
        (True, ("sufficient", 0.9), ("unclear", 0.1), "confirm"),
    ],
)
def test_a_document_that_tells_more_than_any_memory_is_asked(
    decide: Decide, own: bool, document: Any, memory: Any, action: str
) -> None:
    zero, _, *rest = walk()
    found = (evidence("words of L1"),) if memory[0] in {"unclear", "sufficient"} else ()
    layer = ScriptedLayer("L1", memory[0], *found, best=memory[1])
    opinion = signal(own=own)
    report = LayerReport("L2", document[0], 1, document[1])
    palace = ScriptedPalace(zero, layer, *rest, signal=opinion, beside=lambda *_: report)
    verdict = decide(palace, Turn("Which kettle was bought?", beside="A kettle was bought."))
    assert verdict.action == action
    assert ("asked_beside" in verdict.signal.cues) is (action == "pass")
    # and where there is none, nobody asks it
    assert decide(palace, Turn("Which kettle was bought?")).action != "pass"


@pytest.mark.parametrize(
    ("kind", "own", "memory", "told", "action"),
    [
        ("identity", False, "none", "You are Ada.", "pass"),
        ("identity", False, "none", "", "fallback"),
        ("identity", False, "unclear", "You are Ada.", "confirm"),
        ("identity", False, "unavailable", "You are Ada.", "fallback"),
        ("identity", True, "none", "You are Ada.", "fallback"),
        ("fact", False, "none", "You are Ada.", "fallback"),
    ],
)
def test_who_the_agent_is_its_program_may_have_told_it(
    decide: Decide, kind: Any, own: bool, memory: str, told: str, action: str
) -> None:
    palace = ScriptedPalace(*walk(L0="none", L1=memory), signal=signal(kind, own=own))
    assert decide(palace, Turn("Who are you?", instructions=told)).action == action


def test_its_identity_tells_it_first(decide: Decide) -> None:
    palace = ScriptedPalace(*walk(L0="loaded"), signal=signal("identity", own=False))
    verdict = decide(palace, Turn("Who are you?", instructions="You are Ada."))
    assert verdict.action == "ground"
