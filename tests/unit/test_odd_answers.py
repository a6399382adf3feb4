"""Answers and memories as no author writes them, but as programs do."""

from __future__ import annotations

import time
from datetime import datetime, timezone

import pytest

from palace.enforce.grounding import AnswerCheck
from tests.doubles import evidence

ORLAU = "The train to Orlau left at 22:05 on Monday and took 3 hours."


def check(answer, *memories, question="What is it?", mode="replace"):
    items = [evidence(text, id=f"m-{n}") for n, text in enumerate(memories, 1)]
    return AnswerCheck(items, question, mode=mode).check(answer)


@pytest.mark.parametrize("year", [1, 9999])
def test_a_memory_without_a_true_day_tells_none(year):
    item = evidence(f"{ORLAU} Yesterday, next week, in 3 days.", as_of=datetime(year, 1, 1))
    assert not AnswerCheck([item], "When?").check("It left on 3 March 2026.").supported
    last = evidence(f"{ORLAU} Tomorrow again.", as_of=datetime(9999, 12, 31, tzinfo=timezone.utc))
    assert not AnswerCheck([last], "When?").check("It left on 3 March 2026.").supported


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("On the 31st; the day after it left.", (9999, 12, 31)),
        ("On the 1st; not the day before.", (1, 1, 1)),
    ],
)
def test_beside_the_first_and_the_last_day_there_is_may_be_none(text, day):
    item = evidence(f"{ORLAU} {text}", as_of=datetime(*day, tzinfo=timezone.utc))
    assert not AnswerCheck([item], "When?").check("It left on 3 March 2026.").supported


@pytest.mark.parametrize("number", ["7" * 309, "9" * 5000, "1" + "0" * 400, "\U00016d79 \u20ac"])
@pytest.mark.parametrize("where", ["answer", "memory"])
def test_a_number_that_no_program_can_work_with_is_only_text(number, where):
    answer, memory = (f"It costs {number}.", ORLAU) if where == "answer" else (ORLAU, number)
    assert check(answer, memory).text
    assert check(f"The {number}th costs {number} euros.", memory, ORLAU).text
    assert check("Together 7 hours.", f"{number} hours, {number} days", ORLAU).text


def test_a_page_of_settings_is_checked_in_a_moment():
    settings = "\n".join(f"server_{n}:\n  host: 10.0.{n}.1\n  port: {8000 + n}" for n in range(60))
    start = time.process_time()
    assert check(f"```yaml\n{settings}\n```\n", f"Settings:\n{settings}").supported
    assert time.process_time() - start < 5


SETTINGS = "\n".join(f"server_{n}:\n  host: 10.0.{n}.1\n  port: {8000 + n}" for n in range(60))
REMEMBERED = f"The settings of the fleet:\n{SETTINGS}"


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("fence", ["```", "~~~"])
def test_a_long_block_of_code_passes_as_it_is(end, fence):
    answer = f"Here:\n\n{fence}yaml\n{SETTINGS}\n{fence}\nThese are the settings.\n"
    answer = answer.replace("\n", end)
    checked = check(answer, REMEMBERED)
    assert (checked.supported, checked.text) == (True, answer)


@pytest.mark.parametrize("line", ["10.0.0.1", "10.0.30.1", "10.0.59.1"])
@pytest.mark.parametrize("fence", ["```", "~~~"])
def test_a_line_of_a_long_block_of_code_may_not_be_changed(line, fence):
    settings = SETTINGS.replace(line, "10.9.9.9")
    answer = f"Here:\n\n{fence}yaml\n{settings}\n{fence}\nThese are the settings.\n"
    checked = check(answer, REMEMBERED)
    assert not checked.supported
    assert "10.9.9.9" not in checked.text
    assert REMEMBERED in checked.text
    assert checked.text.count(fence) % 2 == 0  # what follows is no code
    assert checked.text.endswith("These are the settings.\n")


def test_a_word_in_a_block_between_tildes_may_not_be_changed():
    memory = "The owner of the server is:\nname: tilda\nfence: ```"
    assert check("~~~\nname: tilda\nfence: ```\n~~~\n", memory).supported
    assert not check("~~~\nname: hilda\nfence: ```\n~~~\n", memory).supported
    assert not check("  ~~~yaml\n  name: hilda\n  ~~~\n", memory).supported


def test_the_first_line_of_a_block_without_a_language_is_checked_too():
    memory = "The secret words are:\norange-41\nlemon-17"
    assert check("```\norange-41\nlemon-17\n```", memory).supported
    assert check("```text\norange-41\nlemon-17\n```", memory).supported
    assert not check("```\norange-42\nlemon-17\n```", memory).supported
    assert not check("```text\norange-42\nlemon-17\n```", memory).supported


@pytest.mark.parametrize(
    ("memory", "good", "bad"),
    [
        ("Take 5 mg a day.", "You take 5 mg a day.", "You take 5 mcg a day."),
        ("Take 250 µg a day.", "You take 0.25 mg a day.", "You take 250 mg a day."),
        ("It is 8 mm thick.", "It is 0.8 cm thick.", "It is 8 µm thick."),
        ("It does 100 Mbit/s.", "It does 100 Mbps.", "It does 100 MB/s."),
        ("It used 300 kWh.", "It used 0.3 MWh.", "It used 300 GWh."),
        ("The fee is 40 EUR.", "The fee is 40 euros.", "The fee is 40 kr."),
        ("The fee is 40 CHF.", "The fee is 40 francs.", "The fee is 40 EUR."),
        ("The limit is 120 km/h.", "The limit is 120 kph.", "The limit is 120 mph."),
        ("It has 2.3 bar.", "It has 2300 mbar.", "It has 2.3 psi."),
        ("It is 20 m² large.", "It is 20 square metres large.", "It is 20 m large."),
        ("It is 20 m long.", "It is 20 metres long.", "It is 20 m² large."),
        ("Room: 20 qm.", "The room has 20 sqm.", "The room has 20 cbm."),
        ("Tank 2 m³.", "The tank holds 2,000 litres.", "The tank holds 200 litres."),
        ("Il y a 20 mètres carrés.", "Il y a 20 m².", "Il y a 20 m."),
        ("The disk has 512 GB.", "The disk has 512 gigabytes.", "The disk has 512 Gb."),
        ("The disk has 512 gb.", "The disk has 512 GB.", "The disk has 521 GB."),
        ("The link has 1 Gb.", "The link has 1 gigabit.", "The link has 1 TB."),
        ("It does 10^6 a second.", "It does a million a second.", "It does 10^5 a second."),
        ("It does 3e6 a second.", "It does 3 × 10⁶ a second.", "It does 3 × 10⁵ a second."),
        ("It was -5 °C.", "It was minus five degrees.", "It was 5 °C."),
        ("It was -5 °C.", "It was 5 degrees below zero.", "It was -6 °C."),
        ("It was 5 °C.", "It was five degrees.", "It was -5 °C."),
        ("Frost, 5 °C.", "It was -5 °C.", "It was -4 °C."),
        ("Night: −5 °C, day: 5 °C.", "5 °C by day.", "7 °C by day."),
        ("The meter shows 40 points.", "It shows 40 points.", "It shows -40 points."),
        ("The call is at 15:30 CET.", "It is at 15:30 CET.", "It is at 15:30 UTC."),
        ("The call is at 15:30.", "It is at 15:30.", "It is at 15:30 PST."),
        ("The samples are at -20 °C.", "Frozen at -20 °C.", "The freezer is at 20 °C."),
        ("It is part 09-1027B-9.", "It is part 09-1027B-9.", "It is part 09-1027B-6."),
        ("Build with make -j8.", "It is make -j8.", "It is make -j9."),
        ("It holds 60 l.", "It holds 60 litres.", "It holds 60 hl."),
        ("It cost 2 crore rupees.", "It cost 20,000,000 rupees.", "It cost 2 lakh rupees."),
        ("Use 2⅜ inch screws.", "Use 2.375 inch screws.", "Use 2⅝ inch screws."),
        ("It is 3/4 of it.", "It is 3/4 of it.", "It is 1/4 of it."),
        ("It weighs 20-25 kg.", "It weighs 20 to 25 kg.", "It weighs 10-25 kg."),
        (
            "The account is 12345678901234567.",
            "It is 12345678901234567.",
            "It is 12345678901234568.",
        ),
        ("It ends on 2026-03-14.", "It ends on 2026/03/14.", "It ends on 2026/03/15."),
        ("It ends on 2026/03/14.", "It ends on 20260314.", "It ends on 20260315."),
        ("It ends on 20260314.", "It ends on 14 March 2026.", "It ends on 15 March 2026."),
        (
            "IBAN DE89 3704 0044 0532 0130 00",
            "It is DE89370400440532013000.",
            "It is DE89370400440532013001.",
        ),
        (
            "IBAN DE89370400440532013000",
            "It is DE89 3704 0044 0532 0130 00.",
            "It is DE89 3704 0044 0532 0130 10.",
        ),
        ("Ana +491701234567", "Call +49 170 1234567.", "Call +49 170 1234576."),
        ("Ana 0170 123 45 67", "Call 0170/1234567.", "Call 0170/1234568."),
        ("Ana 0170/1234567", "Call 01701234567.", "Call 01701234568."),
        ("Card 4111 1111 1111 1111", "It is 4111111111111111.", "It is 4111111111111112."),
    ],
)
def test_a_unit_or_a_digit_changed_is_no_longer_what_is_remembered(memory, good, bad):
    assert check(good, memory).supported
    assert not check(bad, memory).supported


CODE = "The code of the office door is 8362."


@pytest.mark.parametrize(
    "shown",
    [
        "4\u200b7\u200b1\u200b1",
        "8362\u00ad1",
        "8362\u20601",
        "\u200f8362\u200f1",
        "8362\u200d1",
        "4\ufe0f\u20e37\ufe0f\u20e31\ufe0f\u20e31\ufe0f\u20e3",
        "④⑦①①",
        "❹❼❶❶",
        "⁴⁷¹¹",
        "₄₇₁₁",
        "4&shy;7&shy;1&shy;1",
        "&#52;&#x37;&#49;&#49;",
        "4 7 1 1",
        "4 - 7 - 1 - 1",
    ],
)
def test_a_number_that_only_an_eye_puts_together_is_checked(shown):
    answer = f"The code of the office door is {shown}."
    checked = check(answer, CODE)
    assert not checked.supported
    assert checked.text.startswith(CODE)


@pytest.mark.parametrize(
    ("memory", "shown"),
    [
        (CODE, "83\u00ad62"),
        (CODE, "８３６２"),
        (CODE, "⑧③⑥②"),
        (CODE, "8 3 6 2"),
        (CODE, "8&#51;62"),
        ("It holds 10⁻¹² g of H₂O in 12 m³ &amp; 5 kg.", "10⁻¹² g of H₂O in 12 m³ & 5 kg"),
        ("The winners are 4, 7, 1 and 1.", "4 7 1 1"),
    ],
)
def test_an_honest_number_may_be_written_so_too(memory, shown):
    assert check(f"It is {shown}.", memory).supported


def test_a_name_with_a_soft_hyphen_is_a_name():
    assert not check("H\u00adilda changed the code.", f"{CODE} Tilda changed it.").supported


def test_a_sentence_of_nothing_but_numbers_is_checked_in_a_moment():
    start = time.process_time()
    assert check("1+" * 1200, CODE).text
    assert time.process_time() - start < 8


@pytest.mark.parametrize(
    ("answer", "holds"),
    [
        ("Nakliye 6.800 TL.", True),
        ("Nakliye altı bin sekiz yüz lira.", True),
        ("Nakliye yedi bin sekiz yüz lira.", False),
        ("Sorumlusu Çiğdem Hanım.", True),
        ("Bursa'da.", False),
        ("Ankara'da.", True),
        ("Perşembe günü.", True),
        ("Cuma günü.", False),
    ],
)
def test_turkish_amounts_titles_places_and_days_are_read(answer: str, holds: bool) -> None:
    memory = "Nakliye 6.800 lira, sorumlusu Çiğdem, yemek Ankara'da, perşembe günü saat 19.00'da."
    assert check(answer, memory, question="Nerede, ne zaman?").supported == holds
