"""Days that a prompt tells from today, in every language, and the memories that are of them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import date, datetime, timedelta, timezone
from pathlib import Path

import pytest

from palace import ConversationTurn, Mempalace, Message, RetrievalEnforcer, Turn
from palace.ports import TermCounts
from palace.recall.lexicon import Lexicon, load_lexicon
from palace.recall.relative_days import Dated, Told, dates_of_weekdays, days_as_dated
from palace.text import words
from palace.text.moments import day_here

TODAY = date(2026, 11, 28)  # a Saturday


def told(*held: str) -> Told:
    """Return what a palace tells that has these tokens, all in one memory."""

    def counts(tokens: Iterable[str]) -> dict[str, TermCounts]:
        return {token: TermCounts(int(token in held)) for token in tokens}

    def together(tokens: Sequence[str]) -> int:
        return int(set(tokens) <= {*held})

    return Told(counts, together)


def dated(language: str, prompt: str, *held: str) -> Dated:
    lexicon = load_lexicon(language)
    return days_as_dated(prompt, words(prompt), lexicon, told(*held), today=TODAY, timeout_ms=200)


def tokens(language: str, prompt: str, *held: str) -> list[str]:
    return [word.token for word in dated(language, prompt, *held).found]


@pytest.mark.parametrize(
    ("language", "day", "prompt"),
    [
        ("en", "2026-11-28", "What did I note today?"),
        ("en", "2026-11-27", "What did I do yesterday?"),
        ("en", "2026-11-26", "Who did I meet the day before yesterday?"),
        ("en", "2026-11-26", "Who did I meet two days ago?"),
        ("en", "2026-11-29", "What is on tomorrow?"),
        ("en", "2026-11-23", "What did I note five days ago?"),
        ("en", "2026-11-18", "What did I note 10 days ago?"),
        ("de", "2026-11-25", "Was habe ich vor drei Tagen notiert?"),
        ("fr", "2026-11-25", "Qu'est-ce que j'ai noté il y a trois jours ?"),
        ("es", "2026-11-25", "¿Qué apunté hace tres días?"),
        ("pt", "2026-11-25", "O que anotei há três dias?"),
        ("it", "2026-11-25", "Che cosa ho annotato tre giorni fa?"),
        ("nl", "2026-11-25", "Wat heb ik drie dagen geleden genoteerd?"),
        ("pl", "2026-11-25", "Co zapisałem trzy dni temu?"),
        ("sv", "2026-11-25", "Vad antecknade jag för tre dagar sedan?"),
        ("tr", "2026-11-25", "Üç gün önce ne yazdım?"),
        ("ru", "2026-11-25", "Что я записал три дня назад?"),
        ("zh", "2026-11-25", "我三天前记了什么？"),
        ("ja", "2026-11-25", "三日前に何を書きましたか？"),
        ("ko", "2026-11-25", "사흘 전에 뭘 적었지?"),
        ("en", "2026-11-30", "What do I have the day after tomorrow?"),
        ("de", "2026-11-30", "Was steht übermorgen an?"),
        ("fr", "2026-11-30", "Qu'est-ce qui est prévu après-demain ?"),
        ("es", "2026-11-30", "¿Qué tengo pasado mañana?"),
        ("pt", "2026-11-30", "O que tenho depois de amanhã?"),
        ("it", "2026-11-30", "Che cosa c'è dopodomani?"),
        ("nl", "2026-11-30", "Wat staat er overmorgen op het programma?"),
        ("pl", "2026-11-30", "Co mam pojutrze?"),
        ("ru", "2026-11-30", "Что у меня послезавтра?"),
        ("sv", "2026-11-30", "Vad händer i övermorgon?"),
        ("tr", "2026-11-30", "Öbür gün ne var?"),
        ("zh", "2026-11-30", "后天有什么安排？"),
        ("ja", "2026-11-30", "明後日の予定は？"),
        ("ko", "2026-11-30", "모레 뭐 있지?"),
        ("de", "2026-11-28", "Was habe ich heute notiert?"),
        ("de", "2026-11-27", "Was habe ich gestern gemacht?"),
        ("de", "2026-11-26", "Wen habe ich vorgestern getroffen?"),
        ("de", "2026-11-29", "Was steht morgen an?"),
        ("fr", "2026-11-28", "Qu'est-ce que j'ai noté aujourd'hui ?"),
        ("fr", "2026-11-27", "Qu'est-ce que j'ai fait hier ?"),
        ("fr", "2026-11-26", "Qui ai-je vu avant-hier ?"),
        ("fr", "2026-11-29", "Qu'est-ce qui est prévu demain ?"),
        ("es", "2026-11-28", "¿Qué apunté hoy?"),
        ("es", "2026-11-27", "¿Qué hice ayer?"),
        ("es", "2026-11-26", "¿A quién vi anteayer?"),
        ("es", "2026-11-29", "¿Qué tengo mañana?"),
        ("pt", "2026-11-28", "O que anotei hoje?"),
        ("pt", "2026-11-27", "O que fiz ontem?"),
        ("pt", "2026-11-26", "Quem vi anteontem?"),
        ("pt", "2026-11-29", "O que tenho amanhã?"),
        ("it", "2026-11-28", "Che cosa ho annotato oggi?"),
        ("it", "2026-11-27", "Che cosa ho fatto ieri?"),
        ("it", "2026-11-26", "Chi ho visto l'altro ieri?"),
        ("it", "2026-11-29", "Che cosa c'è domani?"),
        ("nl", "2026-11-28", "Wat heb ik vandaag genoteerd?"),
        ("nl", "2026-11-27", "Wat heb ik gisteren gedaan?"),
        ("nl", "2026-11-26", "Wie heb ik eergisteren gezien?"),
        ("nl", "2026-11-29", "Wat staat er morgen op het programma?"),
        ("pl", "2026-11-28", "Co dzisiaj zapisałam?"),
        ("pl", "2026-11-27", "Co robiłam wczoraj?"),
        ("pl", "2026-11-26", "Kogo spotkałam przedwczoraj?"),
        ("pl", "2026-11-29", "Co mam jutro?"),
        ("ru", "2026-11-28", "Что я записал сегодня?"),
        ("ru", "2026-11-27", "Что я делал вчера?"),
        ("ru", "2026-11-26", "Кого я видел позавчера?"),
        ("ru", "2026-11-29", "Что у меня завтра?"),
        ("sv", "2026-11-28", "Vad antecknade jag idag?"),
        ("sv", "2026-11-27", "Vad gjorde jag i går?"),
        ("sv", "2026-11-26", "Vem träffade jag i förrgår?"),
        ("sv", "2026-11-29", "Vad händer i morgon?"),
        ("tr", "2026-11-28", "Bugün ne not ettim?"),
        ("tr", "2026-11-27", "Dün ne yaptım?"),
        ("tr", "2026-11-26", "Evvelsi gün kiminle görüştüm?"),
        ("tr", "2026-11-29", "Yarın ne var?"),
        ("zh", "2026-11-28", "我今天记了什么？"),
        ("zh", "2026-11-27", "我昨天做了什么？"),
        ("zh", "2026-11-26", "我前天见了谁？"),
        ("zh", "2026-11-29", "明天有什么安排？"),
        ("ja", "2026-11-28", "今日は何をメモした？"),
        ("ja", "2026-11-27", "昨日は何をした？"),
        ("ja", "2026-11-26", "一昨日は誰に会った？"),
        ("ja", "2026-11-29", "明日の予定は？"),
        ("ko", "2026-11-28", "오늘 뭘 적었지?"),
        ("ko", "2026-11-27", "어제 뭐 했지?"),
        ("ko", "2026-11-26", "그저께 누구를 만났지?"),
        ("ko", "2026-11-29", "내일 뭐 있지?"),
    ],
)
def test_a_day_is_the_date_that_a_memory_has(language: str, day: str, prompt: str) -> None:
    assert day in tokens(language, prompt, day)
    assert day not in tokens(language, prompt)  # nothing is written of that day


@pytest.mark.parametrize(
    ("language", "prompt"),
    [
        ("de", "Guten Morgen, wo ist der Schlüssel?"),
        ("de", "Was mache ich jeden Morgen?"),
        ("es", "¿Qué hago por la mañana?"),
        ("nl", "Goede morgen, waar is de sleutel?"),
        ("en", "Where is the Todayville map?"),
    ],
)
def test_a_morning_is_no_day(language: str, prompt: str) -> None:
    assert tokens(language, prompt, "2026-11-29", "2026-11-28") == [
        word.token for word in words(prompt)
    ]


def test_a_day_written_in_words_is_found_too() -> None:
    found = tokens("en", "What did I do yesterday?", "27", "month11", "2026")
    assert found[-3:] == ["27", "month11", "2026"]


def test_the_words_around_a_day_stay() -> None:
    found = dated("en", "the day before yesterday the bread failed", "2026-11-26").found
    assert [word.surface for word in found] == ["2026-11-26", "the", "bread", "failed"]
    assert [word.start for word in found] == sorted(word.start for word in found)


@pytest.mark.parametrize(
    ("language", "prompt"),
    [
        ("en", "What did I do last week?"),
        ("de", "Was war letzte Woche?"),
        ("fr", "Qu'ai-je fait la semaine dernière ?"),
        ("es", "¿Qué hice la semana pasada?"),
        ("pt", "O que fiz na semana passada?"),
        ("it", "Che cosa ho fatto la settimana scorsa?"),
        ("nl", "Wat heb ik vorige week gedaan?"),
        ("pl", "Co robiłam w zeszłym tygodniu?"),
        ("ru", "Что я делал на прошлой неделе?"),
        ("sv", "Vad gjorde jag förra veckan?"),
        ("tr", "Geçen hafta ne yaptım?"),
        ("zh", "我上周做了什么？"),
        ("ja", "先週は何をした？"),
        ("ko", "지난주에 뭐 했지?"),
    ],
)
def test_a_week_is_its_last_day_which_stands_for_the_others(language: str, prompt: str) -> None:
    read = dated(language, prompt, "2026-11-16", "2026-11-19", "2026-11-24")
    assert "2026-11-19" in [word.token for word in read.found]
    assert read.days == {"2026-11-19": ["2026-11-16"]}
    assert dated(language, prompt).days == {}


@pytest.mark.parametrize(
    ("language", "prompt", "weeks"),
    [
        ("en", "What did I do a week ago?", 1),
        ("en", "What did I do two weeks ago?", 2),
        ("en", "What did I do 12 weeks ago?", 12),
        ("de", "Was habe ich vor einer Woche gemacht?", 1),
        ("fr", "Qu'ai-je fait il y a deux semaines ?", 2),
        ("pl", "Co robiłam tydzień temu?", 1),
        ("pl", "Co robiłam dwa tygodnie temu?", 2),
        ("ru", "Что я делал неделю назад?", 1),
        ("zh", "我两周前做了什么？", 2),
    ],
)
def test_a_week_ago_is_three_days_more_or_less(language: str, prompt: str, weeks: int) -> None:
    day = TODAY - timedelta(weeks=weeks)
    said = dated(language, prompt).said
    assert said is not None
    assert (said.since, said.until) == (day - timedelta(days=3), day + timedelta(days=4))


def test_months_ago_reach_over_the_new_year() -> None:
    said = dated("en", "What did I pay 14 months ago?").said
    assert said is not None
    assert (said.since, said.until) == (date(2025, 9, 1), date(2025, 10, 1))


@pytest.mark.parametrize(
    ("prompt", "month"),
    [
        ("What did I pay last month?", "month10"),
        ("What did I pay a month ago?", "month10"),
        ("Who has a birthday this month?", "month11"),
    ],
)
def test_a_month_is_named(prompt: str, month: str) -> None:
    assert month in tokens("en", prompt, month)
    assert "2026" in tokens("en", prompt, month)
    assert month not in tokens("en", prompt)


@pytest.mark.parametrize(
    ("language", "prompt", "near"),
    [
        ("en", "What did I do on Friday?", ["2026-11-27", "2026-12-04"]),
        ("en", "What is on on Saturday?", ["2026-11-21", "2026-11-28"]),
        ("de", "Was war am Donnerstag?", ["2026-11-26", "2026-12-03"]),
        ("ru", "Что было в среду?", ["2026-11-25", "2026-12-02"]),
        ("pt", "O que fiz na sexta?", ["2026-11-27", "2026-12-04"]),
    ],
)
def test_a_day_of_the_week_is_the_last_and_the_next(
    language: str, prompt: str, near: list[str]
) -> None:
    found = words(prompt)
    terms = [word.token for word in found]
    dates = dates_of_weekdays(found, terms, load_lexicon(language), today=TODAY)
    assert list(dates.values()) == [near]
    assert dates_of_weekdays(found, (), load_lexicon(language), today=TODAY) == {}


@pytest.mark.parametrize(
    ("language", "prompt"),
    [
        ("en", "What did we talk about yesterday?"),
        ("en", "What did I tell you yesterday?"),
        ("de", "Worüber haben wir gestern gesprochen?"),
        ("de", "Was habe ich gestern gemacht?"),
        ("fr", "De quoi avons-nous parlé hier ?"),
        ("es", "¿De qué hablamos ayer?"),
        ("pt", "Sobre o que falámos ontem?"),
        ("it", "Di che cosa abbiamo parlato ieri?"),
        ("nl", "Waar hebben we gisteren over gepraat?"),
        ("pl", "O czym wczoraj rozmawialiśmy?"),
        ("ru", "О чём мы вчера говорили?"),
        ("sv", "Vad pratade vi om igår?"),
        ("tr", "Dün ne konuştuk?"),
    ],
)
def test_who_asks_for_what_a_day_holds(spoken: Mempalace, language: str, prompt: str) -> None:
    query = spoken.analyse(Turn(prompt))
    assert query.language == language
    assert query.of_day
    verdict = RetrievalEnforcer(spoken).decide(prompt)
    assert verdict.action == "confirm"
    assert {item.text for item in verdict.evidence} == {
        "user: My daughter Nora has a piano recital on Friday.",
        "user: The hall is in Elm Street.",
    }
    assert verdict.signal.several
    assert verdict.judgement is not None
    assert verdict.judgement.rule == "of the day"


@pytest.mark.parametrize(
    "prompt", ["What did we say about the hall yesterday?", "Who called yesterday?", "In 2026?"]
)
def test_who_asks_for_more_than_the_day_does_not(spoken: Mempalace, prompt: str) -> None:
    assert not spoken.analyse(Turn(prompt)).of_day


@pytest.fixture(scope="module")
def spoken(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mempalace]:
    # Conversations are kept by days in UTC: these are of the day that it is here.
    noon = datetime.now().astimezone().replace(hour=12, tzinfo=timezone.utc)
    said = {
        -1: ("My daughter Nora has a piano recital on Friday.", "The hall is in Elm Street."),
        -9: ("The billing service moves to another host.", "It takes two hours."),
    }
    with Mempalace.open(tmp_path_factory.mktemp("spoken")) as palace:
        for days, texts in said.items():
            at = noon + timedelta(days=days)
            session = f"s{-days}"
            palace.import_turns([ConversationTurn(session, "user", text, at) for text in texts])
        palace.refresh()
        yield palace


@pytest.fixture
def diary(tmp_path: Path) -> Iterator[Mempalace]:
    rooms = tmp_path / "palace" / "rooms" / "home"
    rooms.mkdir(parents=True)
    days = [datetime.now().astimezone().date() - timedelta(days=n) for n in range(3)]
    (rooms / "log.md").write_text(
        f"# Log\n\n## {days[2]}\n\n- Lunch with Paul at Da Enzo.\n- Sent the tax papers.\n\n"
        f"## {days[1]}\n\n- Swam 1,200 m.\n- Bread failed again, too wet.\n\n"
        f"## {days[0]}\n\n- Ordered new glasses for Nora.\n",
        encoding="utf-8",
    )
    (rooms / "house.md").write_text(
        "# House\n\n- Two weeks without water in 2019.\n- The boiler is serviced every year.\n"
        "- Marta, the roofer, comes in spring.\n- The cellar key hangs in the hall.\n",
        encoding="utf-8",
    )
    with Mempalace.open(tmp_path / "palace") as palace:
        yield palace


@pytest.mark.parametrize(
    ("prompt", "told"),
    [
        ("What did I do yesterday?", {"Swam 1,200 m.", "Bread failed again, too wet."}),
        ("What happened yesterday?", {"Swam 1,200 m.", "Bread failed again, too wet."}),
        ("What did I note today?", {"Ordered new glasses for Nora."}),
        (
            "What did I do the day before yesterday?",
            {"Lunch with Paul at Da Enzo.", "Sent the tax papers."},
        ),
    ],
)
def test_what_a_diary_tells_of_a_day(diary: Mempalace, prompt: str, told: set[str]) -> None:
    verdict = RetrievalEnforcer(diary).decide(prompt)
    assert verdict.action in ("ground", "confirm")
    assert {item.text for item in verdict.evidence[: len(told)]} == told


def test_what_else_is_asked_of_a_day_counts_first(diary: Mempalace) -> None:
    verdict = RetrievalEnforcer(diary).decide("What went wrong with the bread yesterday?")
    assert verdict.evidence[0].text == "Bread failed again, too wet."


def test_a_week_is_no_week_of_another_note(diary: Mempalace) -> None:
    days = [datetime.now().astimezone().date() - timedelta(days=n) for n in range(7)]
    monday = next(day for day in days if day.weekday() == 0)
    (diary.root / "rooms" / "home" / "week.md").write_text(
        f"# Week\n\n## {monday}\n\n- Ida watered the plants.\n", encoding="utf-8"
    )
    diary.refresh()
    verdict = RetrievalEnforcer(diary).decide("What did I do this week?")
    texts = {item.text for item in verdict.evidence}
    assert "Ida watered the plants." in texts
    assert "Two weeks without water in 2019." not in texts


@pytest.mark.parametrize("year", [1, 9999])
def test_the_ends_of_the_calendar_hold(diary: Mempalace, year: int) -> None:
    for day in (
        datetime(year, 1, 1, tzinfo=timezone.utc),
        datetime(year, 12, 31, tzinfo=timezone.utc),
    ):
        for prompt in (
            "What did I do last month?",
            "What did I do 99 months ago?",
            "What did I tell you 99 weeks ago?",
            "What is on tomorrow?",
            "And on Friday?",
        ):
            assert diary.analyse(Turn(prompt, as_of=day)).text == prompt


def test_a_language_may_list_no_days() -> None:
    text = "language: xx\nabout_somebody: 'who is {}'\nstopwords: the\n"
    lexicon = Lexicon(f"{text}---\n", "xx.yaml")
    prompt = "What did I do yesterday?"
    found = days_as_dated(
        prompt, words(prompt), lexicon, told("2026-11-27"), today=TODAY, timeout_ms=200
    ).found
    assert found == words(prompt)


def test_today_is_the_day_a_turn_speaks_of(diary: Mempalace) -> None:
    as_of = datetime(2026, 5, 4, 12, tzinfo=timezone.utc)
    query = diary.analyse(Turn("What did I do yesterday?", as_of=as_of))
    assert "2026-05-03" not in query.terms  # nothing is written of it
    assert (datetime.now().astimezone().date() - timedelta(days=1)).isoformat() not in query.terms


@pytest.mark.parametrize(
    ("language", "prompt"),
    [
        ("en", "What time is it?"),
        ("en", "what's today's date"),
        ("de", "Wie spät ist es?"),
        ("fr", "Quel jour sommes-nous ?"),
        ("es", "¿Qué hora es?"),
        ("pt", "Que horas são?"),
        ("it", "Che ore sono?"),
        ("nl", "Hoe laat is het?"),
        ("pl", "Jaki dziś dzień?"),
        ("ru", "Который час?"),
        ("sv", "Vad är klockan?"),
        ("tr", "Saat kaç?"),
        ("zh", "现在几点？"),
        ("ja", "今は何時ですか？"),
        ("zh", "今何時？"),  # without kana nobody can tell
        ("ko", "지금 몇 시야?"),
    ],
)
def test_no_memory_tells_the_time(spoken: Mempalace, language: str, prompt: str) -> None:
    verdict = RetrievalEnforcer(spoken).decide(prompt)
    assert verdict.action == "pass"
    assert language == spoken.analyse(Turn(prompt)).language


@pytest.mark.parametrize("prompt", ["What time is the recital?", "What day is the recital?"])
def test_the_time_of_something_is_asked_for(spoken: Mempalace, prompt: str) -> None:
    verdict = RetrievalEnforcer(spoken).decide(prompt)
    assert "recital" in verdict.evidence[0].text


def test_behind_another_turn_it_is_not_the_time_of_now(spoken: Mempalace) -> None:
    history = (Message("user", "When is the recital?"), Message("assistant", "On Friday."))
    signal = RetrievalEnforcer(spoken).decide(Turn("What time is it?", history=history)).signal
    assert "of_now" not in signal.cues


_ZONED = pytest.mark.skipif(not hasattr(time, "tzset"), reason="the zone of a program is fixed")


@pytest.fixture
def in_zone(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], None]]:
    """What moves the machine to a time zone."""

    def move(zone: str) -> None:
        monkeypatch.setenv("TZ", zone)
        time.tzset()

    yield move
    monkeypatch.undo()
    time.tzset()


@_ZONED
@pytest.mark.parametrize("zone", ["JST-9", "EST5"])
def test_the_days_of_a_place_end_with_the_calendar(
    in_zone: Callable[[str], None], zone: str
) -> None:
    in_zone(zone)
    for moment in (datetime.min, datetime.max):
        assert day_here(moment.replace(tzinfo=timezone.utc)) == moment.date()


@_ZONED
def test_a_conversation_is_of_the_day_of_the_place(
    in_zone: Callable[[str], None], tmp_path: Path
) -> None:
    in_zone("JST-9")
    morning = datetime.now(timezone.utc).astimezone().replace(hour=8, minute=5)
    with Mempalace.open(tmp_path) as palace:
        palace.import_turns(
            [
                ConversationTurn("s", "user", "The roofer comes on Monday.", morning),
                ConversationTurn("s", "user", "The kettle is new.", morning - timedelta(days=1)),
            ]
        )
        enforcer = RetrievalEnforcer(palace)
        for day, said in (
            ("today", "The roofer comes on Monday."),
            ("yesterday", "The kettle is new."),
        ):
            verdict = enforcer.decide(f"What did we talk about {day}?")
            assert [e.text for e in verdict.evidence] == [f"user: {said}"]
        assert (tmp_path / "timeline" / f"{morning.astimezone(timezone.utc).date()}.md").is_file()
