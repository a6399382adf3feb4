"""The state of then: what the palace held at a moment, asked for outright or in the prompt."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path

import pytest

from palace import Mempalace, RetrievalEnforcer, StoreUnavailableError, Turn, grounded_prompt
from palace.recall.as_of import dated_turn, state_at
from palace.recall.lexicon import DEFAULT_LANGUAGES, load_lexicons
from palace.serve.cli import run
from tests.doubles import memory

NOW = datetime(2026, 11, 20, 12, tzinfo=timezone.utc)
ASKED = "Which port does the staging database listen on?"
DRAWER = """# Ports

- The staging database listens on port 5431.
  <!-- memory id=m-one created=2026-01-10 status=inactive superseded_by=m-two retired=2026-03-01 -->
- The staging database listens on port 5432.
  <!-- memory id=m-two created=2026-03-01 status=inactive superseded_by=m-three -->
- The staging database listens on port 5433.
  <!-- memory id=m-three created=2026-06-15 -->
- The staging database listens on port 9999.
  <!-- memory id=m-never created=2026-02-01 status=inactive -->
"""


def at(year: int, month: int, day: int = 1) -> datetime:
    return datetime(year, month, day, tzinfo=timezone.utc)


@pytest.fixture
def palace(tmp_path: Path) -> Iterator[Mempalace]:
    file = tmp_path / "palace" / "rooms" / "infra" / "ports.md"
    file.parent.mkdir(parents=True)
    file.write_text(DRAWER, encoding="utf-8")
    with Mempalace.open(tmp_path / "palace") as opened:
        yield opened


@pytest.mark.parametrize(
    ("moment", "ids"),
    [
        (at(2026, 1, 9), []),
        (at(2026, 2), ["m-one"]),
        (at(2026, 3), ["m-two"]),
        (at(2026, 5), ["m-two"]),
        (at(2026, 7), ["m-three"]),
    ],
)
def test_a_search_finds_what_was_held_then(palace, moment, ids):
    hits = palace.search(ASKED, as_of=moment)
    assert [h.memory.id for h in hits] == ids
    assert all(h.memory.status == "active" for h in hits)
    assert [h.memory.id for h in palace.search(ASKED)] == ["m-three"]


def test_a_verdict_says_that_it_is_the_state_of_then(palace):
    verdict = RetrievalEnforcer(palace).decide(ASKED, as_of=at(2026, 5))
    assert (verdict.action, verdict.evidence[0].id) == ("ground", "m-two")
    assert "state of 2026-05-01" in verdict.text
    assert "state of 2026-05-01, perhaps changed since" in grounded_prompt(ASKED, verdict)
    assert "state of 2026-05-01" in verdict.explain()
    assert verdict.as_dict()["evidence"][0]["state_of"].startswith("2026-05-01")
    assert RetrievalEnforcer(palace).decide(ASKED, as_of=at(2025, 5)).action == "fallback"
    today = RetrievalEnforcer(palace).decide(ASKED)
    assert (today.evidence[0].id, today.evidence[0].state_of) == ("m-three", None)


def test_what_holds_only_from_a_later_day_is_found_as_of_that_day(tmp_path):
    file = tmp_path / "palace" / "rooms" / "infra" / "gate.md"
    file.parent.mkdir(parents=True)
    file.write_text(
        "- The gate code is 4711.\n  <!-- memory id=m-gate valid_from=2126-01-01T00:00:00Z -->\n",
        encoding="utf-8",
    )
    with Mempalace.open(tmp_path / "palace") as palace:
        enforcer = RetrievalEnforcer(palace)
        assert enforcer.decide("What is the gate code?").action == "fallback"
        verdict = enforcer.decide("What is the gate code?", as_of=at(2126, 2))
        assert (verdict.action, verdict.evidence[0].id) == ("ground", "m-gate")
        assert enforcer.decide("What is the gate code?", as_of=at(2125, 12)).action == "fallback"


def test_the_past_is_quoted_as_today_is(tmp_path):
    with Mempalace.open(tmp_path / "other") as palace:
        for said in ("listens on port 5432", "has three replicas", "is owned by Ruben"):
            palace.remember(f"The staging database {said}.")
        decide = RetrievalEnforcer(palace).decide
        then = at(2100, 1)
        for prompt in (ASKED, "What is the colour of the staging database?"):
            today, past = decide(prompt), decide(prompt, as_of=then)
            assert past.text.replace(", state of 2100-01-01", "") == today.text
            assert "state of 2100-01-01" in past.text


def test_only_what_was_looked_up_in_the_past_is_the_state_of_then(tmp_path):
    with Mempalace.open(tmp_path / "other") as palace:
        palace.set_identity("I am Timmy.")
        palace.note("The kettle moved to Prague.", session_id="s")
        decide = RetrievalEnforcer(palace).decide
        for prompt, layer in (("Who are you?", "L0"), ("Where did the kettle move to?", "L2")):
            verdict = decide(prompt, session_id="s", as_of=at(2020, 1))
            assert (verdict.layer, verdict.evidence[0].state_of) == (layer, None)


def test_the_past_is_that_of_files_changed_by_hand(palace, tmp_path, monkeypatch):
    file = tmp_path / "palace" / "rooms" / "infra" / "ports.md"
    file.write_text(DRAWER.replace("5432", "6001"), encoding="utf-8")
    monkeypatch.setattr(palace, "_refreshed_at", float("-inf"))
    assert "port 6001" in RetrievalEnforcer(palace).decide(ASKED, as_of=at(2026, 5)).text


def test_a_past_that_cannot_be_read_is_unavailable(palace, monkeypatch):
    def broken(*_: object) -> None:
        raise StoreUnavailableError("the index cannot be read", hint="look at it")

    monkeypatch.setattr(palace.index, "tokenised", broken)
    verdict = RetrievalEnforcer(palace).decide(ASKED, as_of=at(2026, 5))
    assert (verdict.action, verdict.outcome) == ("fallback", "unavailable")


async def test_it_is_asked_for_in_the_prompt(palace):
    enforcer = RetrievalEnforcer(palace)
    for prompt in (
        "As of 2026-05-01, which port does the staging database listen on?",
        "Which port did we think the staging database listens on in May 2026?",
    ):
        verdict = enforcer.decide(prompt)
        assert [e.id for e in verdict.evidence][:1] == ["m-two"]
        assert (await enforcer.adecide(prompt)).evidence[0].id == "m-two"
        assert verdict.turn.prompt == prompt
        assert palace.verdict(verdict.id)["prompt"] == prompt


def test_corrections_and_forgetting_are_history(palace):
    old = palace.remember("The lamp in the hall is green.").memory
    new = palace.correct(old.id, "The lamp in the hall is red.").memory
    gone = palace.get(old.id)
    assert gone.retired is not None
    assert [h.memory.id for h in palace.search("lamp hall", as_of=at(2001, 1))] == []
    assert [h.memory.id for h in palace.search("lamp hall")] == [new.id]


def test_what_was_retired_held_until_then_or_until_its_successor():
    new = memory("The lamp is red.", 1, created=at(2026, 3))
    gone = memory("The lamp is green.", 0, created=at(2026, 1), status="inactive")
    superseded = replace(gone, superseded_by=new.id)
    for old, months in (
        (replace(gone, retired=at(2026, 3)), [1, 2]),
        (replace(superseded, retired=at(2026, 2)), [1]),
        (superseded, [1, 2]),
        (gone, []),
    ):
        states = {n: state_at([old, new], at(2026, n)) for n in (1, 2, 3, 4)}
        assert [n for n, state in states.items() if old.id in {m.id for m in state}] == months
    (then,) = state_at([superseded, new], at(2026, 2))
    assert (then.text, then.status, then.superseded_by) == (gone.text, "active", "")


def test_validity_bounds_a_state():
    first = memory("The key is blue.", 0, valid_from=at(2026, 1), valid_to=at(2026, 4))
    second = memory("The key is red.", 1, created=at(2026, 6), valid_from=at(2026, 4))
    for moment, expected in ((at(2025, 12), []), (at(2026, 2), [0]), (at(2026, 4), [1])):
        assert [m.position for m in state_at([first, second], moment)] == expected


@pytest.mark.parametrize(
    ("prompt", "moment", "asked"),
    [
        ("As of 2026-05-01, who was on call?", at(2026, 5, 2), ", who was on call?"),
        ("What did we believe in May about the port?", at(2026, 6), "What did we about the port?"),
        ("What did we know in December?", at(2026, 1), "What did we ?"),
        ("What did we think by 3 March 2025?", at(2025, 3, 4), "What did we ?"),
        ("What did we assume in 2024 about it?", at(2025, 1), "What did we about it?"),
        ("Stand Mai: wer hat Dienst?", at(2026, 6), ": wer hat Dienst?"),
        ("Was dachten wir im Mai über den Port?", at(2026, 6), "Was wir über den Port?"),
        ("Cosa credevamo a maggio della porta?", at(2026, 6), "Cosa della porta?"),
        ("Wat dachten we in mei over de poort?", at(2026, 6), "Wat we over de poort?"),
        ("2026년 5월 기준 포트는?", at(2026, 6), "기준 포트는?"),
        ("Que pensions-nous en mai du port ?", at(2026, 6), "Que -nous du port ?"),
        ("截至2026年5月,端口是什么?", at(2026, 6), ",端口是什么?"),
        ("As of the 3rd of March 2025, who?", at(2025, 3, 4), ", who?"),
        ("Stand 03.04.2025: wer hat Dienst?", at(2025, 4, 4), ": wer hat Dienst?"),
        ("Was dachten wir am 3.4.2025 über ihn?", at(2025, 4, 4), "Was wir über ihn?"),
        ("As of 14/03/2025, who was on call?", at(2025, 3, 15), ", who was on call?"),
        ("As of 03/14/2025, who was on call?", at(2025, 3, 15), ", who was on call?"),
        ("Kto miał dyżur na dzień 14 marca 2025?", at(2025, 3, 15), "Kto miał dyżur ?"),
        ("Vem hade jour per den 3 maj 2025?", at(2025, 5, 4), "Vem hade jour ?"),
        ("As of 29 February, who was on call?", at(2026, 3), ", who was on call?"),
        ("As of 29 February 2024, who was on call?", at(2024, 3), ", who was on call?"),
        ("As of 2025-02-30, who was on call?", at(2025, 3), ", who was on call?"),
        ("As of April 31, who was on call?", at(2026, 5), ", who was on call?"),
        ("Stand 31. November: wer hat Dienst?", at(2025, 12), ": wer hat Dienst?"),
        ("As of 2025/03/14, who was on call?", at(2025, 3, 15), ", who was on call?"),
        ("Who was on call as of 12/2025?", at(2026, 1), "Who was on call ?"),
        ("Stand 3.2026: wer hat Dienst?", at(2026, 4), ": wer hat Dienst?"),
        ("Who was on call as of last March?", at(2026, 4), "Who was on call ?"),
        ("Wer hatte Dienst, Stand letzten März?", at(2026, 4), "Wer hatte Dienst, ?"),
        ("As of March last year, who was on call?", at(2025, 4), ", who was on call?"),
        ("As of March 3 last year, who?", at(2025, 3, 4), ", who?"),
        ("Stand März letzten Jahres: wer?", at(2025, 4), ": wer?"),
        ("État d’hier : qui ?", NOW.replace(hour=0), ": qui ?"),
        ("De stand van gisteren: wie?", NOW.replace(hour=0), ": wie?"),
        ("Vem hade jour per igår?", NOW.replace(hour=0), "Vem hade jour ?"),
        ("Dün itibarıyla kim nöbetçiydi?", NOW.replace(hour=0), "kim nöbetçiydi?"),
        ("昨日時点で誰?", NOW.replace(hour=0), "時点で誰?"),
        ("어제 기준 누구?", NOW.replace(hour=0), "기준 누구?"),
        ("Stan na marzec zeszłego roku: kto?", at(2025, 4), ": kto?"),
        ("По состоянию на март прошлого года: кто?", at(2025, 4), ": кто?"),
        ("État au 3 mars de l’an dernier : qui ?", at(2025, 3, 4), ": qui ?"),
        ("Who was on call as of yesterday?", NOW.replace(hour=0), "Who was on call ?"),
        ("Wer hatte Dienst, Stand gestern?", NOW.replace(hour=0), "Wer hatte Dienst, ?"),
        ("截至昨天,端口是什么?", NOW.replace(hour=0), ",端口是什么?"),
        ("截至上周,端口是什么?", at(2026, 11, 16), ",端口是什么?"),
        ("截至去年,端口是什么?", at(2026, 1), ",端口是什么?"),
        ("先月時点で誰?", at(2026, 11), "時点で誰?"),
        ("지난달 기준 누구?", at(2026, 11), "기준 누구?"),
        ("De stand van vorige week: wie?", at(2026, 11, 16), ": wie?"),
        ("15 Mart 2026 itibarıyla kim nöbetçiydi?", at(2026, 3, 16), "kim nöbetçiydi?"),
        ("Kim nöbetçiydi 2026-03 itibariyle?", at(2026, 4), "Kim nöbetçiydi ?"),
        ("As of last week, who was on call?", at(2026, 11, 16), ", who was on call?"),
        ("Who was on call as of last month?", at(2026, 11), "Who was on call ?"),
        ("Who was on call as of last year?", at(2026, 1), "Who was on call ?"),
        ("Who was on call as of end of March?", at(2026, 4), "Who was on call ?"),
        ("Who was on call as of the beginning of March?", at(2026, 3, 11), "Who was on call ?"),
        ("Who was on call as of mid-March?", at(2026, 3, 21), "Who was on call ?"),
        ("Who was on call as of early 2025?", at(2025, 5), "Who was on call ?"),
        ("Who was on call as of mid 2025?", at(2025, 9), "Who was on call ?"),
        ("Who was on call as of late 2025?", at(2026, 1), "Who was on call ?"),
        ("Wer hatte Dienst, Stand Ende März?", at(2026, 4), "Wer hatte Dienst, ?"),
        ("Wer hatte Dienst, Stand letzte Woche?", at(2026, 11, 16), "Wer hatte Dienst, ?"),
        ("¿Qué sabíamos a principios de mayo del puerto?", at(2026, 5, 11), "¿Qué del puerto?"),
        ("¿Qué sabíamos la semana pasada del puerto?", at(2026, 11, 16), "¿Qué del puerto?"),
        ("O que sabíamos no mês passado do porto?", at(2026, 11), "O que do porto?"),
        ("O que sabíamos no dia 3 de junho do porto?", at(2026, 6, 4), "O que do porto?"),
        ("Cosa sapevamo la settimana scorsa del porto?", at(2026, 11, 16), "Cosa del porto?"),
        ("Cosa sapevamo ai primi di maggio del porto?", at(2026, 5, 11), "Cosa del porto?"),
        ("Что мы знали на прошлой неделе о порте?", at(2026, 11, 16), "Что мы о порте?"),
        ("Что мы знали в прошлом году о порте?", at(2026, 1), "Что мы о порте?"),
        ("Что мы знали в начале мая о порте?", at(2026, 5, 11), "Что мы о порте?"),
        ("Что мы знали 3 июня о порте?", at(2026, 6, 4), "Что мы о порте?"),
        ("Who is on call as of 2027-02-01?", at(2027, 2, 2), "Who is on call ?"),
        ("Wer hat Dienst, Stand März 2027?", at(2027, 4), "Wer hat Dienst, ?"),
        ("Who is on call as of mid 2027?", at(2027, 9), "Who is on call ?"),
        ("Что мы думали в мае о порте?", at(2026, 6), "Что мы о порте?"),
        ("As of last December, who was on call?", at(2026, 1), ", who was on call?"),
        ("As of November 2025, who was on call?", at(2025, 12), ", who was on call?"),
    ],
)
def test_moments_in_prompts(prompt, moment, asked):
    lexicons = load_lexicons(DEFAULT_LANGUAGES)
    turn = dated_turn(Turn(prompt), lexicons, now=NOW, timeout_ms=200)
    assert turn.as_of is not None
    assert 0 < (moment - turn.as_of).total_seconds() < 1
    assert turn.prompt == asked


@pytest.mark.parametrize("when", ["2026", "November", "November 2026", "20 November 2026"])
def test_a_period_that_is_under_way_lasts_until_now(when):
    lexicons = load_lexicons(DEFAULT_LANGUAGES)
    turn = dated_turn(Turn(f"Who is on call as of {when}?"), lexicons, now=NOW, timeout_ms=200)
    assert turn.as_of == NOW


@pytest.mark.parametrize(
    "prompt",
    [
        "What did we believe  in\u00a0May about the port?",
        "What did we be\u00adlieve in Ma\u00ady about the port?",
        "\ufeffWhat did we believe in\tMay about the port?\u200b",
    ],
)
def test_what_nobody_sees_hides_no_moment(prompt):
    lexicons = load_lexicons(DEFAULT_LANGUAGES)
    plainly = dated_turn(
        Turn("What did we believe in May about the port?"), lexicons, now=NOW, timeout_ms=200
    )
    assert plainly.as_of is not None
    assert dated_turn(Turn(prompt), lexicons, now=NOW, timeout_ms=200) == plainly


def test_letters_in_two_pieces_name_a_month_too():
    lexicons = load_lexicons(DEFAULT_LANGUAGES)
    prompt = "Stand März 2026: wie war der Port?"
    one, two = (
        dated_turn(Turn(said), lexicons, now=NOW, timeout_ms=200)
        for said in (prompt, unicodedata.normalize("NFD", prompt))
    )
    assert one.as_of is not None
    assert two == one


@pytest.mark.parametrize(
    "prompt",
    [
        "When did we meet in May?",
        "What did we decide in May about the port?",
        "What did we believe about the port?",
        "What did we think in the end about the port?",
        "As of now, who is on call?",
        "Write it as of right away.",
        "What did we believe in 2026-13-45?",
        "As of 32 April, who is on call?",
        "As of 03/04/2025, who was on call?",
        "As of 10.10.2025.7, who was on call?",
        "As of 2025/13/14, who was on call?",
        "As of 13/2025, who was on call?",
        "What did we settle yesterday?",
        "Kto miał dyżur na dzień marca?",
        "As of 2026-04-00, who is on call?",
        "As of early 3 March, who was on call?",
        f"As of May, who was on call? {'It rang. ' * 120}",
        "What did we believe in 0000 about the port?",
        "As of 9999-12-31, who is on call?",
        "",
    ],
)
def test_other_dates_are_part_of_the_question(prompt):
    lexicons = load_lexicons(DEFAULT_LANGUAGES)
    assert dated_turn(Turn(prompt), lexicons, now=NOW, timeout_ms=200) == Turn(prompt)


def test_a_moment_that_was_given_goes_before_one_in_the_prompt():
    given = Turn("As of May, who was on call?", as_of=at(2025, 2))
    assert dated_turn(given, load_lexicons(["en"]), now=NOW, timeout_ms=200) == given


def test_a_month_that_has_just_begun_is_not_that_of_last_year():
    asked = Turn("As of May, who was on call?")
    turn = dated_turn(asked, load_lexicons(["en"]), now=at(2026, 5), timeout_ms=200)
    assert turn.as_of == at(2026, 5)


def test_the_command_line_asks_and_searches_the_past(palace, tmp_path, capsys):
    root = ["--root", str(tmp_path / "palace")]
    assert run(["ask", ASKED, "--as-of", "2026-05-01", *root]) == 0
    out = capsys.readouterr().out
    assert "port 5432" in out
    assert "state of 2026-05-01" in out
    assert run(["search", "staging port", "--as-of", "2026-02-01", *root]) == 0
    assert "port 5431" in capsys.readouterr().out
    assert run(["search", "staging port", "--as-of", "yesteryear", *root]) == 2


def test_the_last_moments_are_kept_until_a_file_changes(palace):
    first, second, third = at(2026, 2), at(2026, 5), at(2026, 7)
    kept = palace._parts.at(first)
    assert palace._parts.at(second) is palace._parts.at(second)
    assert palace._parts.at(first) is kept
    before = palace._parts.at(third)
    assert palace._parts.at(first) is kept  # the two asked last
    assert palace._parts.at(third) is before
    palace.remember("The bakery opens at six.")
    assert palace._parts.at(third) is not before


def test_words_of_then_are_found_by_place_and_tag_as_they_are_today(tmp_path):
    file = tmp_path / "rooms" / "infra" / "ports.md"
    file.parent.mkdir(parents=True)
    file.write_text("---\ntags: [juniper]\n---\n# Ports\n\n- It listens on port 5431.\n")
    with Mempalace.open(tmp_path) as opened:
        for question in ("juniper", "ports", "infra"):
            [now] = opened.search(question)
            [then] = opened.search(question, as_of=at(2026, 7))
            assert then.memory.text == now.memory.text


@pytest.mark.parametrize(
    ("prompt", "is_former"),
    [
        ("What was the rent before?", True),
        ("At which price was the rent before?", True),
        ("And what was the rent before that?", True),
        ("How much was the rent before it was raised?", True),
        ("Who was our dentist previously?", True),
        ("Where did Anna use to live?", True),
        ("Who led the team before?", True),
        ("Which version ran before that?", True),
        ("Who was our dentist before Dr. Lindqvist?", True),
        ("What boiler did we have before the Vaillant?", True),
        ("who had plot 27 before us", True),
        ("Who babysat before Lucas took over?", True),
        ("Who supplied our electricity before?", True),
        ("What Python did we use before 3.13?", True),
        ("Who phoned the day before?", False),
        ("Who leads the team before lunch?", False),
        ("what did we eat before dinner?", False),
        ("What did Anna pay before Christmas?", False),
        ("Where was Anna on holiday before May?", False),
        ("Who was off before Thursday?", False),
        ("Wie hoch war die Miete vorher?", True),
        ("Wer war früher Hausmeister?", True),
        ("Où habitait Anna avant ?", True),
        ("¿Cuánto era el alquiler antes?", True),
        ("Quanto era l'affitto prima?", True),
        ("Quanto era o aluguel antes?", True),
        ("Hoeveel was de huur vroeger?", True),
        ("Сколько стоила аренда раньше?", True),
        ("之前的房租是多少", True),
        ("房租以前是多少？", True),
        ("出发之前要做什么", False),
        ("开会之前谁来", False),
        ("前の家賃はいくらだった？", True),
        ("家賃は以前いくらだったっけ", True),
        ("この前の会議で何を決めた", False),
        ("전에 월세가 얼마였지", True),
        ("예전 총무가 누구였어", True),
        ("출발하기 전에 뭐 해야 해", False),
        ("What is the rent?", False),
        ("What do I do before a deploy?", False),
        ("What did we do before the move to Lyon?", False),
        ("Did I mention the dentist before?", False),
        ("Was muss ich vorher tun?", False),
        ("¿Dónde vivíamos antes?", True),
        ("Just curious, where did we live before?", True),
        ("For the record, what was the rent before?", True),
        ("By the way, who led the team before?", True),
        ("According to my notes, where did we use to live?", True),
        ("Can you remind me: what was the rent before?", True),
        ("Nur so aus Neugier, wo haben wir früher gewohnt?", True),
        ("Laut meinen Notizen, was war die Miete vorher?", True),
        ("メモによると、前の家賃はいくら？", True),
        ("根据我的笔记，以前的房租是多少？", True),
        ("For the record, what do I do before a deploy?", False),
        ("The flat in Linz, did I mention what we had before?", False),
    ],
)
def test_what_was_the_case_before_is_asked_for(palace, prompt, is_former):
    assert palace.analyse(Turn(prompt)).former is is_former


def test_what_was_the_case_before_is_what_the_memory_replaced(tmp_path):
    with Mempalace.open(tmp_path / "other") as palace:
        enforcer = RetrievalEnforcer(palace)
        old = palace.remember("Our dentist is Dr. Okafor.").memory
        verdict = enforcer.decide("Who was our dentist before?")
        # Who it is now may be who it was, but nothing proves it.
        assert (verdict.action, [e.id for e in verdict.evidence]) == ("confirm", [old.id])

        new = palace.correct(old.id, "Our dentist is Dr. Lindqvist.").memory
        verdict = enforcer.decide("Who was our dentist before?")
        assert (verdict.action, [e.id for e in verdict.evidence]) == ("ground", [old.id, new.id])
        same = enforcer.decide("Who was our dentist before Dr. Lindqvist?")
        assert [e.id for e in same.evidence] == [old.id, new.id]
        first, second = verdict.evidence
        assert (first.state_of, second.state_of) == (palace.get(old.id).retired, None)
        assert "Dr. Okafor" in verdict.text
        verdict = enforcer.decide("Who is our dentist?")
        assert [e.id for e in verdict.evidence] == [new.id]

        palace.erase(new.id)
        assert enforcer.decide("Who was our dentist before?").evidence == ()


def test_what_another_project_replaced_is_not_told(tmp_path):
    with Mempalace.open(tmp_path / "other") as palace:
        old = palace.remember("The gate code is 4711.", project="alpha").memory
        new = palace.correct(old.id, "The gate code is 5822.").memory
        ask = RetrievalEnforcer(palace).decide
        seen = ask("What was the gate code before?", project="alpha")
        assert [e.id for e in seen.evidence] == [old.id, new.id]
        assert ask("What was the gate code before?", project="beta").evidence == ()


# -- what was retired since, and the timeline ----------------------------------------------------

CHANGED = """# API

- The booking API answers on port 4001.
  <!-- memory id=m-one created=2025-01-10 status=inactive superseded_by=m-two retired=2025-05-01 -->
- The booking API answers on port 4002.
  <!-- memory id=m-two created=2025-05-01 status=inactive superseded_by=m-three retired=2025-09-01 -->
- The booking API answers on port 4003.
  <!-- memory id=m-three created=2025-09-01 -->
- The vet of the cat is Selma Falk.
  <!-- memory id=m-vet created=2025-02-01 status=inactive retired=2025-06-01 -->
"""
SESSION = """# {day}

## s1

[{day} 10:00] Summary: - User: I told my sister that the vet of the cat is Selma Falk.
  - Assistant: The booking API answers on port 4001.
  - User: The attic key hangs in the hall.
"""
WHICH_PORT = "Which port did the booking API answer on in {} 2025?"


def page(folder: Path, name: str, text: str) -> None:
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


@pytest.fixture
def changed(tmp_path: Path) -> Iterator[Mempalace]:
    page(tmp_path / "year", "rooms/work/api.md", CHANGED)
    with Mempalace.open(tmp_path / "year") as opened:
        yield opened


def met_in(palace: Mempalace, day: str) -> None:
    page(palace.root, f"timeline/{day}.md", SESSION.format(day=day))
    palace.refresh()


@pytest.mark.parametrize(
    ("month", "port"), [(3, "4001"), (7, "4002"), (10, "4003")], ids=["march", "july", "october"]
)
def test_an_old_session_does_not_answer_for_the_memory_that_held_then(changed, month, port):
    met_in(changed, "2025-02-10")
    decide = RetrievalEnforcer(changed).decide
    asked = "Which port does the booking API answer on?"
    for verdict in (
        decide(asked, as_of=at(2025, month, 15)),
        decide(f"As of 2025-{month:02}-15, which port did the booking API answer on?"),
    ):
        assert verdict.action == "ground"
        assert port in verdict.evidence[0].text


@pytest.mark.parametrize(
    "told", ["the vet of the cat is Selma Falk", "Selma Falk is the cat's vet"]
)
def test_what_was_forgotten_is_no_answer_because_a_session_tells_of_it(changed, monkeypatch, told):
    session = SESSION.replace("the vet of the cat is Selma Falk", told)
    monkeypatch.setitem(globals(), "SESSION", session)
    met_in(changed, "2025-02-10")
    decide = RetrievalEnforcer(changed).decide
    asked = "Who is the vet of the cat?"
    assert decide(asked, as_of=at(2025, 3)).evidence[0].id == "m-vet"
    for verdict in (decide(asked), decide(asked, as_of=at(2025, 7))):
        assert (verdict.action, verdict.walk[1].judgement.rule) == ("confirm", "retired")
    file = changed.root / "timeline/2025-02-10.md"
    asked = "Which animal doctor is the vet of the cat?"
    file.write_text(file.read_text("utf-8") + f"  - User: {asked}\n", encoding="utf-8")
    changed.refresh()
    assert decide(asked).walk[1].judgement.rule == "retired"
    assert decide("Where does the attic key hang?").action == "ground"


@pytest.mark.parametrize(
    ("month", "port", "met"),
    [("April", "4001", ""), ("July", "4002", ""), ("July", "4002", "2025-02-10")],
)
def test_the_value_of_a_past_month_goes_before_that_of_today(changed, month, port, met):
    if met:
        met_in(changed, met)
    verdict = RetrievalEnforcer(changed).decide(WHICH_PORT.format(month))
    first = verdict.evidence[0]
    assert (verdict.action, first.text) == ("confirm", f"The booking API answers on port {port}.")
    assert first.state_of is not None
    assert port in verdict.text


def test_a_session_of_the_month_that_is_asked_about_answers(changed):
    met_in(changed, "2025-03-10")
    verdict = RetrievalEnforcer(changed).decide(WHICH_PORT.format("March"))
    assert (verdict.action, "4001" in verdict.evidence[0].text) == ("ground", True)


def test_what_a_memory_says_of_a_month_itself_is_its_answer(tmp_path):
    with Mempalace.open(tmp_path / "p") as palace:
        old = palace.remember("In May 2025 we met Ada in Lyon.").memory
        new = palace.correct(old.id, "In May 2025 we met Ada in Turin.").memory
        verdict = RetrievalEnforcer(palace).decide("Where did we meet Ada in May 2025?")
        assert (verdict.action, verdict.evidence[0].id) == ("ground", new.id)
