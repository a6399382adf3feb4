"""The last, the first or the next of several: who asks so, and which memory it is."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime, timedelta, timezone
from pathlib import Path

import pytest

from palace import Mempalace, RetrievalEnforcer
from palace.enforce.days_told import days_told
from palace.ports import Candidate
from palace.recall.in_time import in_order, ordering_of, told_alike
from palace.recall.lexicon import load_lexicon
from palace.recall.weighing import Weights
from palace.text import words
from palace.types.query import Query, TimeOrder
from tests.doubles import memory

TODAY = date(2026, 11, 28)


def asked(language: str, prompt: str) -> TimeOrder | None:
    return ordering_of(prompt, words(prompt), load_lexicon(language), timeout_ms=200).order


@pytest.mark.parametrize(
    ("language", "order", "prompt"),
    [
        ("en", "latest", "When did I last see the dentist?"),
        ("en", "latest", "when was the car last serviced"),
        ("en", "latest", "What did our last boiler service cost?"),
        ("en", "latest", "When was the last time we descaled the kettle?"),
        ("en", "latest", "what's the latest quote for the roof"),
        ("en", "latest", "the most recent ferritin value?"),
        ("en", "earliest", "When did we first meet Olga?"),
        ("en", "earliest", "when was my first lesson with Nora"),
        ("en", "next", "When is my next dentist appointment?"),
        ("en", "next", "when do I see Dr Lang next?"),
        ("de", "latest", "Wann war ich zuletzt beim Zahnarzt?"),
        ("de", "latest", "Was hat die letzte Wartung gekostet?"),
        ("de", "earliest", "Wann waren wir zum ersten Mal in Kiel?"),
        ("de", "next", "Wann ist mein nächster Termin bei der Physio?"),
        ("fr", "latest", "Quand est-ce que j'ai vu le dentiste pour la dernière fois ?"),
        ("fr", "latest", "le devis le plus récent pour le toit ?"),
        ("fr", "earliest", "Quand avons-nous rencontré Olga pour la première fois ?"),
        ("fr", "next", "C'est quand mon prochain rendez-vous ?"),
        ("es", "latest", "¿Cuándo fue la última revisión del coche?"),
        ("es", "earliest", "¿Cuándo vimos a Olga por primera vez?"),
        ("es", "next", "¿Cuándo es mi próxima cita con la dentista?"),
        ("pt", "latest", "Quando foi a última revisão do carro?"),
        ("pt", "earliest", "Quando foi a primeira aula com a Nora?"),
        ("pt", "next", "Quando é a próxima consulta?"),
        ("it", "latest", "Quando sono stato dal dentista l'ultima volta?"),
        ("it", "earliest", "Quando abbiamo visto Olga per la prima volta?"),
        ("it", "next", "Quando ho il prossimo appuntamento?"),
        ("nl", "latest", "Wanneer was ik voor het laatst bij de tandarts?"),
        ("nl", "earliest", "Wanneer hebben we Olga voor het eerst gezien?"),
        ("nl", "next", "Wanneer is mijn volgende afspraak?"),
        ("pl", "latest", "Kiedy ostatnio byłam u dentysty?"),
        ("pl", "earliest", "Kiedy pierwszy raz spotkaliśmy Olgę?"),
        ("pl", "next", "Kiedy mam następną wizytę?"),
        ("ru", "latest", "Когда я в последний раз был у зубного?"),
        ("ru", "earliest", "Когда мы впервые встретили Ольгу?"),
        ("ru", "next", "Когда следующий приём у врача?"),
        ("sv", "latest", "När var jag senast hos tandläkaren?"),
        ("sv", "earliest", "När träffade vi Olga första gången?"),
        ("sv", "next", "När är min nästa tid hos läkaren?"),
        ("tr", "latest", "Dişçiye en son ne zaman gittim?"),
        ("tr", "earliest", "Olga ile ilk ne zaman tanıştık?"),
        ("tr", "next", "Bir sonraki randevum ne zaman?"),
        ("zh", "latest", "我上次看牙是什么时候？"),
        ("zh", "earliest", "我们第一次见到奥尔加是什么时候？"),
        ("zh", "next", "我下次看牙是什么时候？"),
        ("ja", "latest", "最後に歯医者に行ったのはいつ？"),
        ("ja", "earliest", "初めてオルガに会ったのはいつ？"),
        ("ja", "next", "次の予約はいつですか？"),
        ("ko", "latest", "마지막으로 치과에 간 게 언제야?"),
        ("ko", "earliest", "올가를 처음 만난 게 언제야?"),
        ("ko", "next", "다음 예약이 언제야?"),
    ],
)
def test_a_question_for_one_of_several(language: str, order: TimeOrder, prompt: str) -> None:
    assert asked(language, prompt) == order


@pytest.mark.parametrize(
    ("language", "prompt"),
    [
        ("en", "What did we buy last week?"),
        ("en", "Who came on last Tuesday?"),
        ("en", "What is Olga's last name?"),
        ("en", "How long does the battery last?"),
        ("en", "Who lives next door?"),
        ("en", "What is on next Monday?"),
        ("en", "Which flat is on the first floor?"),
        ("en", "What do I do first?"),
        ("en", "Where is the spare key?"),
        ("de", "Was war letzte Woche?"),
        ("de", "Wer kommt nächsten Montag?"),
        ("de", "Wo liegt der Erste-Hilfe-Kasten?"),
        ("fr", "Qui vient la semaine prochaine ?"),
        ("fr", "Qu'avons-nous acheté le mois dernier ?"),
        ("es", "¿Quién viene la próxima semana?"),
        ("es", "¿Qué compramos el mes último?"),
        ("pt", "Quem vem na próxima semana?"),
        ("it", "Chi viene la prossima settimana?"),
        ("it", "Che cosa devo fare prima di partire?"),
        ("nl", "Wie komt er volgende week?"),
        ("pl", "Co kupiliśmy w ostatnim tygodniu?"),
        ("ru", "Кто придёт на следующей неделе?"),
        ("sv", "Vem kommer nästa vecka?"),
        ("tr", "Gelecek hafta kim geliyor?"),
        ("zh", "下个月谁来？"),
        ("ja", "次の日に何をした？"),
        ("ko", "다음 주에 누가 와?"),
    ],
)
def test_a_period_or_a_place_is_none(language: str, prompt: str) -> None:
    assert asked(language, prompt) is None


def candidate(key: int, body: str, *, session: str = "") -> Candidate:
    return Candidate(key, "rooms/a.md", key, session, tuple(body.split()), ("car",))


WEIGHTS = Weights({"car": 1.0, "servic": 2.0, "last": 4.0}, frozenset(), ceiling=4.0)
QUERY = Query("", ("car", "servic", "last"), ordering=("last",))


def test_what_says_which_of_several_is_meant_is_not_looked_for() -> None:
    found = [candidate(1, "servic may"), candidate(2, "last servic june"), candidate(3, "last tax")]
    assert told_alike(QUERY, found, WEIGHTS) == [1, 2]


def test_turns_and_what_holds_half_of_it_tell_nothing_alike() -> None:
    assert told_alike(QUERY, [candidate(1, "servic", session="s")], WEIGHTS) == []
    assert told_alike(QUERY, [candidate(1, "wash"), candidate(2, "sold")], WEIGHTS) == []
    assert told_alike(QUERY, [], WEIGHTS) == []


PAST, LATER, SOON, FAR = (TODAY + timedelta(days=n) for n in (-300, -20, 3, 60))


@pytest.mark.parametrize(
    ("order", "keys"),
    [
        ("latest", [2, 1, 3, 4]),
        ("earliest", [1, 2, 3, 4]),
        ("next", [3, 4, 2, 1]),
    ],
)
def test_the_order_of_time_that_is_asked_for(order: TimeOrder, keys: list[int]) -> None:
    told = {4: [FAR], 2: [LATER], 1: [PAST], 3: [SOON], 9: []}
    assert in_order(order, told, today=TODAY) == keys


def test_of_several_days_the_one_that_can_be_meant_counts() -> None:
    told = {1: [FAR, LATER], 2: [PAST, SOON]}
    assert in_order("latest", told, today=TODAY) == [1, 2]
    assert in_order("next", told, today=TODAY) == [2, 1]


def test_what_is_to_come_tells_no_last_and_what_is_over_no_next() -> None:
    assert in_order("latest", {1: [SOON]}, today=TODAY) == []
    assert in_order("next", {1: [PAST]}, today=TODAY) == []
    assert in_order("earliest", {}, today=TODAY) == []


MARCH = datetime(2026, 3, 4, 9, tzinfo=timezone.utc)


@pytest.mark.parametrize(
    ("told", "days"),
    [
        (memory("2026-04-21: serviced at the garage"), [date(2026, 4, 21)]),
        (memory("2026-04-21: serviced, again on 2027-04-20"), ["2026-04-21", "2027-04-20"]),
        (memory("2026-04-21: serviced, again in May 2027"), ["2026-04-21", "2027-05-01"]),
        (memory("Serviced on 21 April 2026"), ["2026-04-21"]),
        (memory("Due in May 2027"), ["2027-05-01"]),
        (memory("Serviced on 21 April", created=MARCH), ["2026-04-21"]),
        (memory("Serviced on 21 April"), []),
        (memory("2026-13-41: no day at all"), []),
        (memory("Serviced", created=MARCH), []),
        (memory("Serviced", created=MARCH, kind="event"), ["2026-03-04"]),
        (memory("Serviced", heading="Log > 2026-03-04"), ["2026-03-04"]),
        (memory("Serviced", title="2026-03-04 Garage"), ["2026-03-04"]),
    ],
)
def test_the_days_a_memory_tells_of(told: object, days: list[object]) -> None:
    assert list(map(str, days_told(told))) == list(map(str, days))  # type: ignore[arg-type]


def test_a_page_of_a_diary_tells_the_day() -> None:
    assert days_told(memory("Serviced", path="rooms/log/2026-03-04.md")) == [date(2026, 3, 4)]


LOG = """# Log

- 2025-05-10: The car was serviced at Huber, new brakes.
- {last}: The car was serviced at Huber, oil and filters.
- The car is due for its inspection on {soon}.
- The car passed its inspection in May 2024.
- Huber is closed on Mondays.
- The cellar key hangs behind the boiler.
"""


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[Mempalace]:
    now = datetime.now(timezone.utc).date()
    log = tmp_path / "palace" / "rooms" / "log"
    log.mkdir(parents=True)
    days = {"last": now - timedelta(days=40), "soon": now + timedelta(days=40)}
    (log / "car.md").write_text(LOG.format(**days), encoding="utf-8")
    walks = [
        f"- {now - timedelta(days=n)}: Walked the dog by the river." for n in range(120, 0, -1)
    ]
    (log / "dog.md").write_text("# Dog\n\n" + "\n".join(walks) + "\n", encoding="utf-8")
    with Mempalace.open(tmp_path / "palace") as palace:
        yield palace


@pytest.mark.parametrize(
    ("prompt", "told"),
    [
        ("When was the car last serviced?", "oil and filters"),
        ("When was the car first serviced?", "new brakes"),
        ("When is the next car inspection?", "due for its inspection"),
        ("When was the last car inspection?", "passed its inspection"),
    ],
)
def test_the_one_that_is_asked_for_stands_first(kept: Mempalace, prompt: str, told: str) -> None:
    verdict = RetrievalEnforcer(kept).decide(prompt)
    assert verdict.action in ("ground", "confirm")
    assert told in verdict.evidence[0].text
    assert told in kept.search(prompt)[0].memory.text


@pytest.mark.parametrize(("prompt", "days"), [("last", 1), ("first", 120)])
def test_the_last_of_more_than_a_search_brings(kept: Mempalace, prompt: str, days: int) -> None:
    verdict = RetrievalEnforcer(kept).decide(f"When did I {prompt} walk the dog?")
    day = datetime.now(timezone.utc).date() - timedelta(days=days)
    assert verdict.evidence[0].text == f"{day}: Walked the dog by the river."


def test_evidence_in_an_order_of_time_is_no_surer_behind(kept: Mempalace) -> None:
    verdict = RetrievalEnforcer(kept).decide("When was the car last serviced?")
    sure = [item.confidence for item in verdict.evidence]
    assert sure == sorted(sure, reverse=True)


def test_as_of_a_moment_the_last_is_the_last_of_then(kept: Mempalace) -> None:
    asked_then = "As of 2025-12-31, when was the car last serviced?"
    verdict = RetrievalEnforcer(kept).decide(asked_then)
    assert "new brakes" in verdict.evidence[0].text
