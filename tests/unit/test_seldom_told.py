"""Answers of kinds that the labelled sets hold next to none of, and people meet."""

from __future__ import annotations

from datetime import datetime, timezone

import pytest

from palace.enforce.grounding import AnswerCheck
from tests.doubles import evidence

DAY = datetime(2026, 4, 10, tzinfo=timezone.utc)


@pytest.mark.parametrize(
    ("memory", "answer", "holds"),
    [
        ("The bins go out every other Tuesday.", "The bins go out every Tuesday.", False),
        (
            "Cleaning is every second Friday at nine.",
            "The cleaner comes every Friday at nine.",
            False,
        ),
        ("Water the orchids once a week.", "Water the orchids every day.", False),
        ("Backups run daily at 02:00.", "Backups run weekly at 02:00.", False),
        ("Backups run daily at 02:00.", "Backups run every day at 02:00.", True),
        ("The physio is on Mondays, every two weeks.", "The physio is every other Monday.", True),
        ("The filter gets changed every three months.", "The filter gets changed quarterly.", True),
        (
            "The filter gets changed every three months.",
            "The filter gets changed every month.",
            False,
        ),
        ("Zahnreinigung alle sechs Monate.", "Die Zahnreinigung ist jeden Monat.", False),
        (
            "Der Müll kommt jeden zweiten Donnerstag.",
            "Der Müll wird jeden Donnerstag abgeholt.",
            False,
        ),
        ("Zebranie jest w piątek o 18:00.", "Zebranie jest w środę o 18:00.", False),
        ("Zebranie jest w środę o 18:00.", "Zebranie będzie w środę o 18:00.", True),
        ("Feed weekly with 20 ml per 5 l.", "Feed weekly, 4 ml per litre.", True),
        ("Feed weekly with 20 ml per 5 l.", "Feed weekly, 5 ml per litre.", False),
        # People whose names are numbers in Italian.
        ("Mila's bike is in the shed.", "The bike belongs to Mila and is in the shed.", True),
        ("Ida's bike is in the shed.", "The bike belongs to Otto and is in the shed.", False),
        ("Tre mila euro per il tetto, in otto rate.", "3000 euro, in 8 rate.", True),
        ("Rent is due monthly, on the 3rd.", "Rent is due weekly, on the 3rd.", False),
        ("Team lunch is once a month.", "The team lunch is once a week.", False),
        ("The report goes out fortnightly.", "The report goes out weekly.", False),
        ("The report goes out fortnightly.", "The report goes out every two weeks.", True),
        ("Inhaler: two puffs 1-0-1.", "Two puffs in the morning and in the evening.", True),
        ("The price went from 14 to 18 euros.", "The price went from 18 to 14 euros.", False),
        ("We cut the pages from 14 to 10.", "The pages were cut from 14 to 10.", True),
        ("Blood pressure was 120/80.", "Blood pressure was 80/120.", False),
        ("Take one tablet, not with coffee.", "Take one tablet with coffee.", False),
        ("The auth-service owns the login.", "The auth-gateway owns the login.", False),
        (
            "Deploy runs from the blue-green pipeline.",
            "Deploy runs from the blue-red pipeline.",
            False,
        ),
        ("The repo is called garden-planner.", "The repo is called garden-manager.", False),
        ("Use the resistor 4k7.", "Use the 4.7k resistor.", True),
        ("We lost 2:1 to Harlow.", "We lost two to one to Harlow.", True),
        ("We lost 2:1 to Harlow.", "We lost three to one to Harlow.", False),
        (
            "Guests: Tess (whippet), Duke (boxer), Mabel (lab).",
            "There are three dogs: Tess, Duke and Mabel.",
            True,
        ),
        ("Standup is at 9:30 on weekdays.", "Standup is at 9:30 every weekday.", True),
        ("Dad takes the pill twice a day.", "Dad takes the pill three times a day.", False),
        ("Dad takes the pill every 12 hours.", "Dad takes the pill twice a day.", True),
        ("Dad takes the pill every 12 hours.", "Dad takes the pill three times a day.", False),
        ("Take two tablets every 8 hours.", "Six tablets a day.", True),
        ("妈妈对芒果过敏。", "妈妈对芒果不过敏。", False),
        ("大舅去年做了膝盖手术。", "大舅去年没有做膝盖手术。", False),
        ("我们决定不做外卖。", "你们决定不做外卖。", True),
        ("固定電話は去年の暮れに解約した。", "固定電話はまだ解約していません。", False),
        ("固定電話は去年の暮れに解約した。", "固定電話は去年の年末に解約しました。", True),
        ("テストは三浦さんの担当。", "テストの担当は三浦さんしかいません。", True),
        ("图书角买了5本书。", "图书角买了六本书。", False),
        ("Das Dach kostet 640 Euro.", "Das Dach kostet sechshundertvierzehn Euro.", False),
        ("Das Dach kostet 1500 Euro.", "Das Dach kostet fünfzehnhundert Euro.", True),
        ("Het dak kost 2000 euro.", "Het dak kost tweeduizend euro.", True),
        ("Зерно стоит 1900 рублей.", "Зерно стоит тысячу девятьсот рублей.", True),
        ("Забор красил Геннадий.", "Забор покрашен Геннадием.", True),
        ("Забор красил Геннадий.", "Забор красил Григорий.", False),
        ("Тимлид — Карина Ахметова.", "Спросите у Карины Ахметовой.", True),
        ("Тимлид — Карина Ахметова.", "Спросите у Марины Ахметовой.", False),
        ("Плитка заказана в «Кераме».", "Плитка из «Керамы».", True),
        ("Elegimos Debian para el taller.", "Elegisteis Debian.", True),
        ("The roof gets tiles, not slates.", "The roof gets slates, not tiles.", False),
        ("The roof gets tiles, not slates.", "Tiles, not slates.", True),
        ("The lists take PUT, not GET; pages take GET, not PUT.", "Pages take GET, not PUT.", True),
        ("Крыша из черепицы, а не шифера.", "Крыша из шифера, а не черепицы.", False),
        ("We moved the mail from Zimbra to Mailcow.", "It went from Mailcow to Zimbra.", False),
        ("We flew from Rome to Oslo, and back.", "We flew from Oslo to Rome.", True),
        ("Cambiamos Booking por Airbnb.", "Cambiasteis Airbnb por Booking.", False),
        ("Marcos dejó el coro porque no le gustaba.", "Marcos no dejó el coro.", False),
        ("Die Halle kostet 22 Euro die Stunde.", "Die Halle kostet 22 Euro am Tag.", False),
        ("Die Halle kostet 22 Euro die Stunde.", "Die Halle kostet pro Stunde 22 Euro.", True),
        ("La cuota anual es de 60 euros.", "La cuota es de 60 euros al mes.", False),
        ("Взносы 9 500 рублей в год.", "Взносы 9 500 рублей в месяц.", False),
        ("Der Beitrag wurde auf 15 Euro erhöht.", "Der Beitrag wurde auf 15 Euro gesenkt.", False),
        ("Аренду подняли до 180 тысяч.", "Аренду снизили до 180 тысяч.", False),
        ("La hipoteca es a tipo fijo.", "La hipoteca es a tipo variable.", False),
    ],
)
def test_what_is_seldom_told_is_judged_as_it_is_meant(memory, answer, holds):
    items = [evidence(memory, as_of=DAY)]
    checked = AnswerCheck(items, "What is noted?", mode="replace").check(answer)
    assert checked.supported == holds, checked.unsupported


@pytest.mark.parametrize(
    ("memory", "question", "answer", "holds"),
    [
        ("Nora is allergic to nuts.", "Any allergies of Nora?", "No.", False),
        ("The boiler was serviced in March.", "Did Ida paint the hall?", "Yes.", False),
        ("Ruben called the bank 5 times.", "How often did he call?", "He called 3 times.", False),
        # Of the other tablet that is not denied.
        (
            "Take the iron tablet in the morning, not with coffee. The vitamin tablet goes with"
            " coffee.",
            "How do I take the vitamin tablet?",
            "The vitamin tablet is taken with coffee.",
            True,
        ),
        # Nobody cites a second memory.
        ("The server has memory 4 GB.", "What does it have?", "Memory 2 GB.", False),
    ],
)
def test_what_is_seldom_asked_is_judged_as_it_is_meant(memory, question, answer, holds):
    items = [evidence(memory, as_of=DAY), evidence("The rack is in the cellar.", as_of=DAY)]
    checked = AnswerCheck(items, question, mode="replace").check(answer)
    assert checked.supported == holds, checked.unsupported


def test_a_yes_beside_unclear_evidence_must_stand_there_without_the_question():
    items = [evidence("The hall was painted in May.", as_of=DAY)]
    check = AnswerCheck(items, "Did we paint the hall green?", strict=True)
    assert not check.check("Yes, we painted the hall green.").supported
    assert check.check("Yes, the hall was painted in May.").supported
