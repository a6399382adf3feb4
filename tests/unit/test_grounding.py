from __future__ import annotations

from datetime import datetime, timezone

import pytest

from benchmarks.answers import load_cases, measure
from palace.enforce.grounding import AnswerCheck
from palace.enforce.prompt import DECLINE_TOKEN
from tests.doubles import evidence

DAY = datetime(2026, 4, 10, tzinfo=timezone.utc)
ITEMS = (
    evidence(
        "On 2026-04-09 Runa moved the archive to /data/vault/2026 in 90 minutes; 1,250 files,"
        " tool stowaway 2.7.1, log at https://logs.example/run/77.",
        id="m-archive",
        source="rooms/ops/archive.md:4",
        as_of=DAY,
    ),
    evidence(
        "The archive is not mirrored. Yesterday Teo asked Runa for two weeks of notice.",
        id="m-mirror",
        source="rooms/ops/archive.md:9",
        as_of=DAY,
    ),
)
QUESTION = "What happened to the archive?"
FALLBACK = "Nothing known."


def check(answer, question=QUESTION, mode="replace", items=ITEMS, **options):
    return AnswerCheck(items, question, mode=mode, fallback_text=FALLBACK, **options).check(answer)


def check_pair(memory, good, bad):
    items = [evidence(memory, as_of=DAY)]
    assert check(good, "And?", items=items).unsupported == ()
    assert not check(bad, "And?", items=items).supported


def check_each(memory, good, bad):
    items = [evidence(memory, as_of=DAY)]
    for answer, holds in [*((a, True) for a in good), *((a, False) for a in bad)]:
        assert check(answer, "What is noted?", items=items).supported == holds, answer


@pytest.mark.parametrize(
    ("values", "mode", "released"),
    [
        (["The gate code is 4710."], "replace", True),
        (["The gate code is 9999."], "replace", False),
        (["", "code 9999"], "replace", True),  # a few words state nothing
        (["The gate code is 9999."], "flag", True),
    ],
)
def test_what_a_tool_would_show_is_an_answer(values, mode, released):
    items = [evidence("The gate code is 4710, it hangs by the door.")]
    check = AnswerCheck(items, "What is the gate code?", mode=mode)
    assert (check.shown_wrongly(values) is None) == released


def test_a_weekday_some_months_on_is_no_weekday_of_the_memory():
    lease = evidence("The lease began on Tuesday, 3 March 2026, and runs for 6 months.", as_of=DAY)
    asked = "When did the lease begin?"
    assert check("The lease began on a Tuesday.", asked, items=(lease,)).supported
    for wrong in ("Thursday", "Wednesday"):  # those of 3 September 2026 and 2025
        assert not check(f"The lease began on a {wrong}.", asked, items=(lease,)).supported


@pytest.mark.parametrize(
    "answer",
    [
        "Runa moved the archive to /data/vault/2026 on 9 April 2026.",
        "On April 9th, 2026 (a Thursday) the archive was moved by Runa.",
        "The move was on 09.04.2026.",
        "It took an hour and a half, i.e. 1.5 hours, to move the archive.",
        "She moved 1250 files in ninety minutes.",
        "About 1,300 files were moved.",
        "Teo asked for a fortnight of notice on 9 April.",
        "Teo wants 14 days of notice.",
        "It was done with `stowaway` 2.7.1, see https://logs.example/run/77.",
        "It lies in `/data/vault/2026` now.",
        "The archive's new place is under /data/vault.",
        'The note says "The archive is not mirrored".',
        "It is not mirrored.",
        "Based on your notes, Runa moved it. Let me know if you need anything else!",
        "According to rooms/ops/archive.md, RUNA moved it.",
        "Sorry, the notes do not mention who mirrored it.",
        "- Moved by Runa [1]\n- Not mirrored [2]",
        "",
    ],
)
def test_what_is_remembered_passes(answer):
    checked = check(answer, mode="flag")
    assert checked.unsupported == ()
    assert checked.supported
    assert checked.text == answer


@pytest.mark.parametrize(
    ("answer", "piece"),
    [
        ("Runa moved 1,520 files.", "1,520"),
        ("It took 80 minutes.", "80 minutes"),
        ("It took 90 hours.", "90 hours"),
        ("It was moved on 10 May 2026.", "10 May 2026"),
        ("It was moved on a Friday.", "Friday"),
        ("It was moved in March.", "March"),
        ("Rona moved the archive.", "Rona"),
        ("The archive was moved by Milo.", "Milo"),
        ("Teo wants three weeks of notice.", "three weeks"),
        ("It lies in /data/vault/2025 now.", "/data/vault/2025"),
        ("The tool was stowaway 2.7.2.", "2.7.2"),
        ("See https://logs.example/run/78 for the log.", "https://logs.example/run/78"),
        ("Run `stow --all` to move the archive.", "`stow --all`"),
        ('The note says "the archive is mirrored".', '"the archive is mirrored"'),
        ("Runa moved the archive [3].", "[3]"),
        ("Runa moved the archive [1][0].", "[0]"),
        ("The archive is mirrored.", "The archive is mirrored."),
        ("Lisbon.", "Lisbon"),
        ("**Lisbon** [1]\n\nYou're welcome!", "Lisbon"),
        ("The pension fund was sold to strangers abroad.", "The pension fund was sold to strangers abroad."),
        ("Runa asked Teo; he refused because lawyers feared new penalties.", "lawyers feared new penalties."),
    ],
)  # fmt: skip
def test_what_is_made_up_is_named(answer, piece):
    checked = check(answer, mode="flag")
    assert not checked.supported
    assert any(piece in named for named in checked.unsupported), checked.unsupported


def test_one_word_that_stands_nowhere_is_no_answer_alone():
    assert "Lisbon" not in check("Lisbon.").text
    assert check("Brilliantly! Runa moved 1,250 files.").text == (
        "Brilliantly! Runa moved 1,250 files."
    )
    assert "Lisbon" not in check("Lisbon. Captain Zork said so.").text
    assert check("Archive.").supported


def test_a_citation_must_be_of_the_memory_that_says_it():
    assert check("Teo asked Runa for notice [2].").supported
    assert check("Teo asked Runa for notice [1].").unsupported == ("Teo",)


def test_citations_map_to_ids():
    checked = check("Runa moved the archive [1]. It is not mirrored [1, 2].")
    assert checked.citations == {1: "m-archive", 2: "m-mirror"}
    assert check("Both are known [1-2].").citations == {1: "m-archive", 2: "m-mirror"}


@pytest.mark.parametrize(
    "citation",
    [" [1]", "[1]", "\n[1]", "\n\n[1]", " (m1)", " ([1])", " **[1]**", " [1], [1]", " [1]."],
)
def test_the_citation_of_a_sentence_that_is_replaced_goes_with_it(citation):
    check = AnswerCheck([evidence("The gate code is 4710, it hangs by the door.")], "What code?")
    replaced = check.check("The gate code is 4711.")
    checked = check.check(f"The gate code is 4711.{citation}")
    assert (checked.text.strip(), checked.citations) == (replaced.text, {})
    kept = check.check(f"The gate code is 4711.{citation}\n\nIt hangs by the door [1].")
    assert kept.text.split("\n\n") == [replaced.text, "It hangs by the door [1]."]
    assert kept.citations == {1: "e-L1"}


def test_a_citation_that_opens_the_next_line_stays():
    check = AnswerCheck([evidence("The gate code is 4710, it hangs by the door.")], "What code?")
    checked = check.check("The gate code is 4711.\n[1] It hangs by the door.")
    assert checked.text.endswith("\n[1] It hangs by the door.")


def test_a_yes_must_stand_on_the_evidence_alone():
    asked = "Did Milo move 900 files in June?"
    assert not check("Yes, Milo moved 900 files in June.", asked).supported
    assert not check("Yes.", asked).supported
    assert check("No.", asked).supported
    assert check("No, Milo did not; Runa moved 1,250 files on 9 April.", asked).supported
    assert check(
        "Yes.", "Did Runa move the archive to /data/vault/2026?", items=ITEMS[:1]
    ).supported


def test_question_and_identity_and_further_texts_may_be_used():
    assert check(
        "For your team of 7, Runa moved the archive.", "For our team of 7, who moved it?"
    ).supported
    assert not check("Quill moved the archive with Runa.").supported
    assert check("Quill here: Runa moved the archive.", identity="You are Quill.").supported
    assert check("The job 5521 says Runa moved the archive.", also=["job 5521: done"]).supported


@pytest.mark.parametrize(
    ("answer", "good"),
    [
        ("Runa looked after week 12.", True),
        ("Teo looked after week 12.", False),
        ("Week 13 was Teo's.", True),
        ("Week 13 was Runa's.", False),
    ],
)
def test_facts_must_be_put_together_as_remembered(answer, good):
    items = [evidence("Rota: week 12 Runa, week 13 Teo, week 14 Milo.")]
    assert check(answer, "Who looked after what?", items=items).supported is good


@pytest.mark.parametrize(
    ("memory", "good", "bad"),
    [
        ("Hut: stove split, Petra brings a new grate in May. Keys: only Olga and Petra.", "The stove split and Petra will bring a new grate.", "The stove split and Olga will bring a new grate."),
        ("Sold the lantern to Quillon for 340. Brammel is cursed till new moon.", "The lantern was sold to Quillon for 340.", "The lantern was sold to Brammel for 340."),
        ("Rollout stopped, cause image cache PR 2291 (Leila), reverted in PR 2304.", "The image cache PR 2291 was the cause.", "The image cache PR 2304 was the cause."),
        ("Tue 3.2 km in the lake, Wed easy, Thu rest day, Fri 4.0 km.", "The rest day was Thursday.", "The rest day was Tuesday."),
    ],
)  # fmt: skip
def test_what_is_said_of_one_is_remembered_of_that_one(memory, good, bad):
    items = [evidence(memory)]
    assert check(good, "And?", items=items).supported
    assert not check(bad, "And?", items=items).supported


@pytest.mark.parametrize(
    ("memory", "good", "bad"),
    [
        ("Examen el 9 de diciembre, 10:40", "Es a las once menos veinte.", "Es a las once menos diez."),
        ("412 kg di olive, 61 kg di olio", "Sessantuno chili di olio.", "Sessantadue chili di olio."),
        ("6.2 km langs de dijk", "Iets meer dan zes kilometer.", "Iets meer dan negen kilometer."),
        ("Dienst in KW 27", "Vom 29. Juni bis 5. Juli.", "Vom 13. Juli bis 19. Juli."),
        ("concert on the 18th", "On Saturday the 18th.", "On Friday the 18th."),
        ("bill 780, Hilde pays half", "Hilde pays 390.", "Hilde pays 380."),
        ("boat trip 26 April", "Sixteen days from then.", "Seventeen days from then."),
        ("18:45 am Tor", "Um 18:45 am Tor.", "Um 18:35 am Tor."),
        ("feed 02:10 110 ml", "110 ml at ten past two.", "120 ml at ten past two."),
    ],
)  # fmt: skip
def test_calendar_languages_and_shares(memory, good, bad):
    check_pair(memory, good, bad)


def test_a_number_may_be_worked_out_with_one_said_before():
    items = [evidence("Oil done at 380 h, every 100 h. Meter 412 now.")]
    assert check("At 480 hours. So there are 68 hours left.", "And?", items=items).supported
    assert not check("At 480 hours. So there are 86 hours left.", "And?", items=items).supported


def test_flagging_adds_one_line():
    checked = check("Milo moved 7 files.", mode="flag")
    assert checked.text == "Milo moved 7 files.\n\nNot found in memory: Milo; 7."


def test_replacing_quotes_each_memory_once():
    checked = check(
        "Runa moved the archive. Milo mirrored it. Milo mirrored the archive. Teo got 9 files."
    )
    quote = f"{ITEMS[1].text} (rooms/ops/archive.md:9, as of 2026-04-10)"
    assert checked.text.startswith(f"Runa moved the archive. {quote}")
    assert checked.text.count(ITEMS[1].text) == 1
    assert "Milo" not in checked.text
    assert "9 files" not in checked.text


def test_replacing_keeps_the_form_of_a_list():
    checked = check("Here you go:\n- Runa moved the archive\n- Milo mirrored it, not Teo")
    lines = checked.text.splitlines()
    assert lines[1] == "- Runa moved the archive"
    assert lines[2].startswith(f"- {ITEMS[1].text}")


def test_an_empty_answer_becomes_the_best_memory():
    assert check(" \n").text.startswith(ITEMS[0].text)
    assert check("", items=()).text == FALLBACK


def test_replacement_is_redacted():
    key = "sk-ant-api03-" + "Zq8Lw2Rt5Yv9Bn3Mk7Hs1Pd6" * 3
    checked = check("The key is 12345.", "key?", items=[evidence(f"The key is {key}")])
    assert key not in checked.text
    assert "The key is" in checked.text


def test_unchecked_is_released_as_it_is():
    assert check("Milo moved 7 files.", mode="off").text == "Milo moved 7 files."


@pytest.mark.parametrize("token", [DECLINE_TOKEN, DECLINE_TOKEN.replace("_", r"\_")])
@pytest.mark.parametrize("mode", ["off", "flag", "replace"])
@pytest.mark.parametrize("form", ["{}", "  **{}**.", "`{}`\n", "{}. But I think it was Milo."])
def test_declining_becomes_the_fallback(mode, form, token):
    checked = check(form.format(token), mode=mode)
    assert checked.text == FALLBACK
    assert checked.declined


def test_a_late_token_ends_the_answer_and_is_not_shown():
    checked = check(f"Runa moved the archive. {DECLINE_TOKEN} Milo has it.")
    assert checked.text == "Runa moved the archive."
    assert not checked.declined


@pytest.mark.parametrize(
    ("memory", "good", "bad"),
    [
        ("Der Zug fährt um 7:15 Uhr von Gleis 4, sagt Frau Ohm.", "Laut Frau Ohm fährt er um 7:15 Uhr von Gleis 4.", "Der Zug fährt um 7:45 Uhr von Gleis 4."),
        ("Le rendez-vous est le 3 juin à 14 h 30 chez Odette.", "C'est le 3 juin chez Odette.", "C'est le 4 juin chez Odette."),
        ("会議は毎週火曜日の10時から、担当は田中さん。", "毎週火曜日の10時からです。", "毎週火曜日の11時からです。"),
        ("Встреча 12 мая в 15:00 у Ольги.", "Встреча 12 мая в 15:00.", "Встреча 13 мая в 15:00."),
        ("시험은 5월 3일 9시에 있다.", "시험은 5월 3일에 있다.", "시험은 7동 12층에 있다."),
    ],
)  # fmt: skip
def test_other_languages_are_not_broken(memory, good, bad):
    items = [evidence(memory)]
    assert check(good, memory[:6], items=items).supported
    assert not check(bad, memory[:6], items=items).supported


@pytest.mark.parametrize(
    ("memory", "good", "bad"),
    [
        ("build 22 min -> 9 min after caching", "Caching saved thirteen minutes.", "Caching saved 14 minutes."),
        ("build 22 min -> 9 min after caching", "The build fell by 13 minutes.", "The build takes 14 minutes."),
        ("Inn Larchwood, 3 nights, 112/night", "Three nights come to 336.", "Three nights come to 326."),
        ("train dep 07:52, arr 11:20", "It leaves at eight minutes to eight.", "It leaves at a quarter to eight."),
        ("train dep 07:52, arr 11:20", "The trip takes about three and a half hours.", "The trip takes about four hours."),
        ("choir at 19:00", "It starts at seven in the evening.", "It starts at seven in the morning."),
        ("worker timeout 90s, before that 30s", "It is a minute and a half, up from half a minute.", "It is two minutes and a half."),
        ("750 g sugar", "Three quarters of a kilo.", "A quarter of a kilo."),
        ("hedge cut to 1.4 m", "It was cut to a metre forty.", "It was cut to a metre sixty."),
        ("Zahnarzt Di 17.3. um 14:30, 85 EUR", "Am 17. März um halb drei.", "Am 17. März um halb vier."),
        ("Zahnarzt Di 17.3. um 14:30, 85 EUR", "Es kostet fünfundachtzig Euro.", "Es kostet fünfundsiebzig Euro."),
        ("piano le mardi à 17h30, 45 €", "Cinq heures et demie du soir.", "Six heures et demie du soir."),
        ("repaso los lunes 17h", "Los lunes a las cinco de la tarde.", "Los lunes a las seis de la tarde."),
        ("api: port 8443, host stg-02", "It is stg-02:8443.", "It is stg-02:8444."),
        ("logs in /var/log/app, file errors.log, copy /srv/old/in.log", "In /var/log/app/errors.log.", "In /var/log/app/in.log."),
        ("examen: temas 6 a 8", "El examen: temas 6, 7 y 8.", "El examen: temas 6, 9 y 8."),
        ("rent 980 EUR + 120 utilities", "All in, that's 1,100 euros.", "All in, that's 1,200 euros."),
        ("5 bags à 25 kg", "Five bags, 125 kg in total.", "Five bags, 135 kg in total."),
        ("fine 0.20 EUR/day", "The fine is 20 cents.", "The fine is 30 cents."),
        ("Tue late 14-22: Ida", "From two to ten.", "From three to ten."),
        ("rows 8-11:30 and 14-16", "Between 8:00 and 11:30.", "Between 8:00 and 11:45."),
        ("photo 35x45 mm", "35 mm by 45 mm.", "35 mm by 55 mm."),
        ("budget 95-100k", "Between 95,000 and 100,000.", "Between 85,000 and 100,000."),
        ("half each on 29/11 + 6/12", "On 29 November and 6 December.", "On 29 November and 7 December."),
        ("appt 12.3. 9:40", "On 12 March at twenty to ten.", "On 13 March at twenty to ten."),
        ("RE 11 dep 8:52 (25 late)", "It left 25 minutes late, at 9:17.", "It left 35 minutes late, at 9:27."),
        ("H5 calm, H3 not", "Hive 5 is calm.", "Hive 7 is calm."),
        ("sealed 2 Feb 2026, better after a full year", "Wait until February 2027.", "Wait until May 2027."),
        ("Q2: 2.4M (Q1 2.1M), DE 1.3", "Germany made 1.3 million.", "Germany made 1.6 million."),
        ("load tables -> app B", "They are in Appendix B.", "They are in Appendix D."),
        ("bought 2025-03-08, warranty 36 mo", "It is covered until March 2028.", "It is covered until May 2028."),
        ("card of 10 = 95", "So a class is 9.50.", "So a class is 8.50."),
        ("cost 2.4k, 30% paid", "2,400, of which 720 (30%) is paid.", "2,400, of which 750 (30%) is paid."),
        ("1 Mar 88.6 / 1 Sep 82.1 kg", "You lost six and a half kilos.", "You lost five and a half kilos."),
        ("down via ridge 3h20", "It took 3 h 20.", "It took 3 h 40."),
        ("bus 46 pax + 2 drivers", "48 people are on the bus.", "49 people are on the bus."),
        ("Ana b. 12 Apr 1938, ret. 2001", "Ana was 63 when she retired.", "Ana was 66 when she retired."),
        ("alert 23:50, pool raised @ 00:20", "Shortly before midnight.", "Shortly before eleven."),
        ("alert 23:50, pool raised @ 00:20", "Half an hour later it was raised.", "Two hours later it was raised."),
        ("roof 29,150, 5% retained", "Roughly 1,460 is retained.", "Roughly 1,640 is retained."),
        ("mtg 22.6.: next 6.7. 16h", "The next is on 6 July at four.", "The next is on 6 July at five."),
        ("kitchen wall out, bay window no", "Bay window: no.", "Bay window: 3."),
        ("14 lessons (45' each)", "Each takes three quarters of an hour.", "Each takes half an hour."),
        ("exam Mon 27/4, p. 112", "The exam is on Monday, 27 April.", "It is on Monday, 20 April."),
        ("missing: Ida, Falk, Imo; Falk pays cash", "Ida, Falk and Imo are missing.", "Ida, Frank and Imo are missing."),
        ("2 x 2.5 l bought", "Five litres were bought.", "Six litres were bought."),
        ("wk1 19, wk2 23, wk3 22, wk4 26", "That makes ninety in all.", "That makes eighty in all."),
        ("chip 1:47:32, last year 1:53:05", "You were 5 min 33 s faster.", "You were 4 min 33 s faster."),
        ("13.2km/410m up; 9.6/370; 17.8/650", "The last was 17.8 km, 650 m up.", "The last was 17.8 km, 680 m up."),
        ("hours 11.5h, 9h, 14h (incl 2h travel), 6.25h", "40.75 hours in all.", "42.75 hours in all."),
        ("beds A: beans, B: garlic, C: empty", "Two of the beds are in use.", "Bed D is in use."),
        ("talk Wed 10:30 (30m)", "Half an hour, from half past ten.", "Half an hour, from half past nine."),
        ("juice of 1½ lemons", "One and a half lemons.", "Two and a half lemons."),
        ("wifi off 23:30-06:00", "It goes off at half eleven at night.", "It goes off at half ten at night."),
        ("4 eggs, 225 g sugar", "Four eggs.", "Three eggs."),
        ("the router was swapped last month", "That was in March 2026.", "That was in May 2026."),
        ("met Ida on the 3rd", "You met her on 3 April.", "You met her on 4 April."),
        ("left two days ago", "On 8 April.", "On 7 April."),
        ("we met yesterday", "You met on Thursday, 9 April.", "You met on Tuesday."),
        ("born last Thursday, 3.2 kg", "Born on 9 April 2026.", "Born on 8 April 2026."),
        ("slept badly last night", "You slept badly on 9 April.", "You slept badly on 7 April."),
        ("won at the weekend", "You won on 4–5 April 2026.", "You won on 28–29 March 2026."),
        ("left last Monday", "On the 6th, four days before 10 April.", "On 5 April."),
        ("met on Friday, 3 April", "On Friday the 3rd.", "On Friday the 5th."),
        ("came two weeks ago", "That was in late March.", "That was in early March."),
        ("by the end of the month", "By the end of April.", "By the end of May."),
        ("412 customers got it", "A few hundred customers got it.", "A few thousand customers got it."),
        ("turned off at 11:05", "Turned off shortly after eleven.", "Turned off shortly after ten."),
        ("kept for 90 days", "Kept for roughly three months.", "Kept for roughly four months."),
        ("BP Feb 128/83, Jan 134/88", "From 134/88 to 128/83.", "From 134/88 to 123/83."),
        ("37 Mitglieder dafür, 9 waren dagegen", "Neun Mitglieder waren dagegen.", "Elf Mitglieder waren dagegen."),
        ("0.71 on our queries, 0.74 for the large one", "0.74 on the queries.", "0.76 on the queries."),
        ("64 applications, invited seven people", "64 people applied, seven came.", "46 people applied, seven came."),
        ("131 merit, pieces 26/27, grade 5", "A merit with 131.", "She got a merit with 136."),
        ("growth was slow", "Growth was slow.", "Mark was slow."),
        ("Linnea was born", "Little Linnea was born.", "Yesterday Linnet was born."),
        ("the kitchen is done by Hallbrook; Dunmore Kitchens was cheaper", "Hallbrook does the kitchen.", "Dunmore Kitchens does the bathroom for Holbeck."),
        ("4 people can read it, not 17", "The group shrank from 17 to 4.", "The group shrank from 17 to 6."),
        ("Bio P1 12 May, Rm Blauw", "Biology P1 is in Room Blauw.", "The History P1 is in Room Blauw."),
        ("fee: 0, balance 40", "There is no fee.", "There is a fee of 12."),
        ("rows 25 cm apart, 40 cm wide, 65 cm long", "Rows 25 cm apart.", "Rows 15 cm apart."),
        ("moved 212 of 260 boxes", "212 boxes out of 260 were moved.", "221 boxes out of 260 were moved."),
    ],
)  # fmt: skip
def test_plain_readings_hold_and_their_neighbours_do_not(memory, good, bad):
    check_pair(memory, good, bad)


@pytest.mark.parametrize(
    ("memory", "good", "bad"),
    [
        ("curve from 0.9 to 0.7, room +1, supply 36; heat pump Dec 612, Jan 588", "About 4 % less in January.", "About 9 % less in January."),
        ("rent 1,379 a month", "That makes 16,548 a year.", "That makes 16,458 a year."),
        ("hotel: 2 nights 14 rooms @ 89", "The hotel comes to 2,492.", "The hotel comes to 2,942."),
        ("PV Jun 1.24 MWh (May 1.08), self-use 38%", "1,240 kWh, which is 160 more.", "1,240 kWh, which is 190 more."),
        ("14 bags of rye, 6 of oats; last year 11 bags of rye", "Three bags of rye more than last year.", "Seven bags of rye more than last year."),
        ("limit 30 cm, the trout has 28 cm", "It is two centimetres too short.", "It is six centimetres too short."),
        ("3 1/2 cords left", "There are 3.5 cords left.", "There are 2.5 cords left."),
        ("wk 12: 40 laps, wk 11: 31 laps", "40 in week 12.", "45 in week 12."),
        ("roof from about 1974", "It is about fifty years old.", "It is about seventy years old."),
        ("recheck in 2 yrs", "He checks it again in 2028.", "He checks it again in 2029."),
        ("2 dogs; tenant since 8 y", "Tenant for eight years.", "Tenant for eighteen years."),
        ("Lieferung KW 23 (Di oder Mi)", "Am Dienstag, dem 2. Juni.", "Am Donnerstag, dem 11. Juni."),
        ("Das Recht endet am 30.06.2027, Antrag drei Monate vor Ablauf", "Der Antrag ist spätestens Ende März 2027 fällig.", "Der Antrag ist spätestens Ende Mai 2027 fällig."),
        ("bearing 608-2RS, need 4", "You need four 608-2RS.", "You need four 608-2RZ."),
        ("arrive à 19h12", "Elle arrive à sept heures douze du soir.", "Elle arrive à sept heures vingt du soir."),
        ("resa 14,2%", "La resa è del 14,2 per cento.", "La resa è del 15,2 per cento."),
        ("Ich war mit Ruben auf dem Markt in Halm", "Du warst mit Ruben auf dem Markt.", "Du warst mit Robert auf dem Markt."),
        ("Ginevra didn't finish the book", "Ginevra didn't finish it.", "Geneviève didn't finish it."),
        ("cycle 3318 passed, cycle 3319 aborted", "Cycle 3319 failed.", "Cycle 3317 failed."),
        ("Aggregated reports are not affected and are kept for three years.", "Aggregated reports stay as they are.", "Aggregated reports are affected."),
        ("0622 triplets, one weak -> bottle every 3 h. 0597 not yet, restless.", "Two things: one is weak, and 0597 is restless.", "Two things: one is weak, and 0579 is restless."),
        ("61 adults at 84 €, 22 juniors at 36 €", "61 × 84 € + 22 × 36 € = 5,916 €.", "61 × 84 € + 22 × 36 € = 5,961 €."),
        ("due: hutch 1 on 9 Nov, hutch 2 on 11 Nov, hutch 3 on 16 Nov", "All are due (9, 11 and 16 November).", "All are due (8, 11 and 16 November)."),
        ("Wilma comes Mon Wed Fri", "She comes Mon/Wed/Fri.", "She comes Mon/Thu/Fri."),
        ("runner-3 since 18 June 2025; port 2222 over gate.example.net", "Port 2222 over gate.example.net.", "Port 2022 over gate.example.net."),
        ("voucher from the till, valid 8 h", "The voucher from the till is valid for 8 h.", "The voucher from the till is valid for 24 h."),
        ("fermé à 17h", "On ferme à dix-sept heures.", "On ferme à dix-huit heures."),
    ],
)  # fmt: skip
def test_what_follows_holds_and_its_neighbours_do_not(memory, good, bad):
    check_pair(memory, good, bad)


@pytest.mark.parametrize(
    ("one", "other", "question", "good", "bad"),
    [
        (
            "Bed 12, Mrs. Okafor: enoxaparin 40 mg once daily at 20:00.",
            "Bed 14, Mr. Lindqvist: enoxaparin 60 mg twice daily.",
            "How much enoxaparin does bed 12 get?",
            "Mrs. Okafor in bed 12 gets enoxaparin 40 mg once daily at 20:00.",
            "Mrs. Okafor in bed 12 gets enoxaparin 60 mg once daily at 20:00.",
        ),
        (
            "Lease signed on 11 Sept 2025, scan at ~/archive/lease_2025.pdf.",
            "Deposit blocked, account statement at ~/archive/deposit.pdf.",
            "Where is the lease that was signed in September 2025?",
            "The scan of the signed lease is at ~/archive/lease_2025.pdf.",
            "The scan of the signed lease is at ~/archive/deposit.pdf.",
        ),
    ],
)
def test_an_amount_of_another_memory_is_not_of_the_one_told_of(one, other, question, good, bad):
    items = [evidence(one, id="m-one", as_of=DAY), evidence(other, id="m-other", as_of=DAY)]
    assert check(good, question, items=items).unsupported == ()
    assert not check(bad, question, items=items).supported


@pytest.mark.parametrize(
    ("memory", "good", "bad"),
    [
        ("Reviewer until end of June.", "Reviewer through June 30.", "Reviewer through June 20."),
        ("New tariff from the beginning of May.", "The new tariff runs from 1 May.", "The new tariff runs from 11 May."),
        ("Meter read 31 Dec.", "The meter was read on New Year's Eve.", "The meter was read on Christmas Eve."),
        ("Run 18: lr 1e-4, run 19: lr 3e-5.", "Run 18 had a rate of 0.0001.", "Run 18 had a rate of 0.0002."),
        ("Variant C accepted 5:2.", "Variant C was accepted five to two.", "Variant C was accepted five to three."),
        ("mw. Postel wil foto's", "Mevrouw Postel wil foto's.", "Mevrouw Pastoor wil foto's."),
        ("import took 3 h 10, now 42 min", "It is down from 3 h 10 since then.", "It is down from 3 h 40 since then."),
        ("import took 3 h 10, now 42 min", "Now it takes just under three quarters of an hour.", "Now it takes just under half an hour."),
        ("stem faceplate 5 Nm", "Tighten it to five newton metres.", "Tighten it to seven newton metres."),
        ("obs 4-hourly", "Observe every four hours.", "Observe every eight hours."),
        ("Verband 8-stündlich", "Der Verband wird alle acht Stunden gewechselt.", "Der Verband wird alle zehn Stunden gewechselt."),
        ("copy 1: NAS //eco-nas/cams/2026", "It goes to //eco-nas/cams/2026.", "It goes to //eco-nas/cams/2025."),
        ("traps M11-M20 in EPSG:31467", "M11 through M20 are in EPSG:31467.", "M12 through M20 are in EPSG:31467."),
        ("pdfbook2 --paper a4paper NAME.pdf", "Run it with pdfbook2 on A4.", "Run it with pdfbook2 on A3."),
        ("No screens at meals, that counts for Jonas too.", "No screens at meals, and that counts for Jonas too.", "Screens at meals, and that counts for Jonas too."),
        ("nightly pg_dump, keep 14 days", "The Postgres dump is kept for 14 days.", "The Oracle dump is kept for 14 days."),
        ("the model is co-supervised by Tam", "The model has a co-supervisor, Tam.", "The model has a co-author, Tim."),
        ("Found by Tam 2026-02-09", "Tam found it on 9 February.", "Olga found it on 9 February."),
        ("14 plants (9 Ruby Ox, 5 Black Finch), 45 cm apart", "14 plants of 2 varieties.", "14 plants of 3 varieties."),
        ("setts 100x100x80 £68/m², 100x200x80 £61", "They are £68 or £61.", "They are £68 or £62."),
        ("1.800 l à 0,938 € inkl.", "1.800 l à 0,938 €, also 1.688,40 €.", "1.800 l à 0,938 €, also 1.698,40 €."),
        ("digoxin 0.125 mg in the morning", "Digoxin, 0.125 mg.", "Digoxin, 125 mg."),
        ("val_loss: run 18 1.866, run 19 1.911", "It was 0.045 lower.", "It was 0.055 lower."),
        ("刃：240mm荒目、前回は2枚注文", "240mm荒目です。", "250mm荒目です。"),
        ("刃：前回は2枚注文、3枚以上で送料無料", "2枚だけでした。", "4枚だけでした。"),
        ("発表会 12月13日（土）", "発表会は12月の13日です。", "発表会は12月の14日です。"),
        ("Zahnspange 14 Std. täglich", "Sie trägt die Spange vierzehn Stunden.", "Sie trägt die Spange fünfzehn Stunden."),
        ("onderhoud gratis binnen 3 mnd", "Binnen drie maanden is het gratis.", "Binnen vier maanden is het gratis."),
        ("gekocht 4 mei 2023, nieuwwaarde eerste 3 jr", "Dat geldt tot mei 2026.", "Dat geldt tot mei 2027."),
        ("visita 9/4, sospendere 5 gg prima", "Dal 4 aprile niente.", "Dal 6 aprile niente."),
        ("Gîte du sam 12 au sam 19 juillet", "Du 12 au 19 juillet.", "Du 13 au 19 juillet."),
        ("trip Wed 18 - Fri 20 June", "Three days, Wednesday the 18th to Friday the 20th.", "Three days, Wednesday the 17th to Friday the 20th."),
        ("Juni: Dienst Mo 8, Mi 10, frei ab Fr 12", "Frei ab dem 12. Juni.", "Frei ab dem 13. Juni."),
        ("container komt dinsdag 22 april", "Op de 22e komt de container.", "Op de 23e komt de container."),
        ("massimale 1.500.000 €", "The ceiling is €1.5 million.", "The ceiling is €1.6 million."),
        ("puppy class, max 8 dogs: Tess (whippet), Duke (boxer), Mabel (lab), Pixel (sheltie)", "It is half full, four dogs of eight.", "It is half full, five dogs of eight."),
        ("Août : nuits lun 4 - jeu 7, jours lun 11 + mar 12", "Jours les 11 et 12 août, lundi et mardi.", "Jours les 11 et 13 août, lundi et mercredi."),
        ("Août : congés du 13 au 31", "Les congés commencent le 13 août.", "Les congés commencent le 14 août."),
        ("240 Carpinus betulus, £444; hedge = 5 plants per m", "240 plants, £444.", "250 plants, £444."),
        ("£165: deposit 40 paid, rest by 2 May", "Open: £125 by 2 May.", "Open: £115 by 2 May."),
        ("5.8 kg, should get down to 5.0 by autumn", "It should get down to 5 kg.", "It should get down to 4 kg."),
    ],
)  # fmt: skip
def test_other_writings_of_the_same_hold_and_their_neighbours_do_not(memory, good, bad):
    check_pair(memory, good, bad)


@pytest.mark.parametrize(
    ("first", "second", "good", "bad"),
    [
        ("Sensor: new battery 4 Nov 2025.", "Sensor: battery replaced 6 Mar 2026.", "It lasted 122 days, from November to March.", "It lasted 132 days, from November to March."),
        ("Session on Fri 13 June.", "After a session no swimming for 2 weeks.", "No swimming, so until about the 27th.", "No swimming, so until about the 29th."),
        ("Dentist Tue 15:45.", "Swimming Tuesdays 16:30.", "Swimming begins 45 minutes after the dentist.", "Swimming begins 55 minutes after the dentist."),
    ],
)  # fmt: skip
def test_spans_lead_from_one_memory_to_another(first, second, good, bad):
    items = [evidence(first, id="m-first", as_of=DAY), evidence(second, id="m-second", as_of=DAY)]
    assert check(good, "And?", items=items).unsupported == ()
    assert not check(bad, "And?", items=items).supported


@pytest.mark.parametrize(
    ("question", "memory", "answer", "unsupported"),
    [
        ("What do I bring?", "towels, goggles, cap, Sat 9:30", "Pack towels, goggles and the cap.", ()),
        ("What do I wear?", "all black, long sleeves, no patent shoes", "Wear long-sleeved black.", ()),
        ("What goes in?", "450 g flour, 10 g salt", "Flour is 450 g.", ()),
        ("How long?", "zone 1 beds 25 min", "| Zone | Minutes |\n|---|---|\n| 1 | 25 |", ()),
        ("Qu'a fait le plombier ?", "joint robinet + flotteur WC changés", "Côté réparations, un joint et un flotteur.", ()),
        ("Hoe doet de kast?", "Vriezer niet openen, buren waarschuwen", "Vergeet niet de buren te waarschuwen.", ()),
        ("Who approved it?", "Heidi approved the budget", "Heather approved the budget.", ("Heather",)),
        ("Who rents it?", "Marco Conti rents the flat", "Mario Conti rents it.", ("Mario",)),
        ("What is next?", "Prof. Lund has not answered", "Chase Prof. Lund for an answer.", ()),
        ("Who is on when?", "Wed: Priya, Thu: Tom", "| Day | Who |\n|---|---|\n| Wed | Ravi |", ("Ravi",)),
    ],
)  # fmt: skip
def test_an_ordinary_word_that_opens_a_sentence_is_no_name(question, memory, answer, unsupported):
    items = [evidence(memory, as_of=DAY)]
    assert check(answer, question, items=items).unsupported == unsupported


@pytest.mark.parametrize(
    "answer",
    [
        "Purtroppo non te lo so dire, il prezzo non l'hai annotato.",
        "Nelle tue note il costo non c'è, ci sono solo data e ora della visita.",
        "Das kann ich dir leider nicht sagen. Am besten fragst du in der Praxis nach.",
        "Daar heb ik niets over. Meet voor de zekerheid haar hoofd even op.",
        "Lo siento, no te lo sé decir. Pregunta directamente en la consulta.",
        "Je ne saurais vous le dire, vous ne l'avez pas noté. Appelez plutôt le cabinet.",
        "Infelizmente não te sei dizer. O melhor é ligar para o consultório.",
        "No idea – it isn't mentioned anywhere. You could ask at the practice.",
        "He didn't say anything about the cost, at least not in what you told me.",
        "Ich habe dazu nichts gefunden.",
        "Non trovo nulla sul costo.",
        "No encuentro nada sobre el precio.",
        "Je n'ai rien trouvé sur le prix.",
        "Daar vind ik niets over.",
        "Não encontrei informação sobre o custo.",
        "Jag hittar inget om priset.",
    ],
)
def test_a_refusal_and_the_advice_behind_it_claim_nothing(answer):
    items = [evidence("Allergologo Fabiani, visita Jonas 9/4 ore 11:15", as_of=DAY)]
    assert check(answer, "Quanto costa?", items=items).unsupported == ()


def test_advice_alone_is_held_against_the_memory():
    items = [evidence("Allergist Fabiani, visit Jonas 9/4 11:15", as_of=DAY)]
    advice = "You should ring the insurance company tomorrow about the excess."
    assert not check(advice, "And?", items=items).supported
    refused = "That isn't noted anywhere. You could ask Sonja."
    assert check(refused, "And?", items=items).unsupported == ("Sonja",)


@pytest.mark.parametrize(
    ("answer", "unsupported"),
    [
        ("3 Nächte à 92 € sind 276 €, nach der Anzahlung von 80 € bleiben 196 €.", ()),
        (
            "3 Nächte à 92 € sind 276 €, nach der Anzahlung von 60 € bleiben 216 €.",
            ("60 €", "216 €"),
        ),
        ("Das sind 270 €, nach der Anzahlung von 74 € bleiben 196 €.", ("270 €", "74 €", "196 €")),
    ],
)
def test_numbers_that_only_prove_each_other_do_not_hold(answer, unsupported):
    items = [evidence("3 Nächte à 92 €", id="m-a"), evidence("80 € Anzahlung überwiesen", id="m-b")]
    assert check(answer, "Was muss ich noch zahlen?", items=items).unsupported == unsupported


@pytest.mark.parametrize(
    "memory",
    [
        "The pass is good until 31.12.9999; notice three weeks.",
        "The pass is good until 31.12.9999; notice three months.",
        f"The pass was bought on 2 May 2024; notice {'9' * 400} months.",
        f"The pass was bought on 2 May 2024; notice {'9' * 400} days.",
    ],
)
def test_a_span_beyond_all_time_leads_nowhere(memory):
    items = [evidence(memory, as_of=DAY)]
    assert not check("It ends on 4 June 2026.", "When does it end?", items=items).supported


@pytest.mark.parametrize(
    ("first", "second", "good", "bad"),
    [
        # an amount, whatever is written behind it
        ("Night 1: lane 2, 640 m, 312 t.", "Night 2: lane 1, 900 m, 441 t.", "In night 1 they laid 640 m, 312 t.", "In night 1 they laid 640 m, 441 t."),
        # the name that opens a clause is a candidate too
        ("Certificate on the gateway expired; Sanna renewed it by hand.", "Follow-up: alert at 21 days, owner Devin.", "Sanna renewed the certificate by hand.", "Devin renewed the certificate by hand."),
    ],
)  # fmt: skip
def test_what_fits_another_place_much_better_is_swapped(first, second, good, bad):
    items = [evidence(first, id="m-first", as_of=DAY), evidence(second, id="m-second", as_of=DAY)]
    assert check(good, "And?", items=items).unsupported == ()
    assert not check(bad, "And?", items=items).supported


@pytest.mark.parametrize(
    ("memory", "good", "bad"),
    [
        ("BP 5/2 148/82, 12/2 136/78.", "It was 148/82 on 5/2 and 136/78 on 12/2.", "It was 146/82 on 5/2."),
        ("Workshop: Wed 4 + 11 Feb, 10–16.", "It is on 4 and 11 Feb.", "It is on 4 and 18 Feb."),
        ("Collect the chairs Tues 21st after 2.", "They are collected on Tuesday 21 April.", "They are collected on Tuesday 28 April."),
        ("Thin 20 Apr, plant out June 15 cm apart.", "They go out in June, 15 cm apart.", "They go out in June, 25 cm apart."),
        ("Height 2.42 m w/ rack.", "It is a shade over two metres forty.", "It is a shade over two metres sixty."),
        ("Signed up: Tess (whippet, Orla Kerr), Duke (boxer, D. Sweeney), Mabel (lab), Pixel (sheltie, Jun Mori). 2 paid: Kerr + Mori.", "There are 4 dogs so far.", "There are 5 dogs so far."),
        ("Final plot: /shows/lx/plot_v7.pdf (bar 4 missing)", "Use version 7 of the plot.", "Use version 8 of the plot."),
        ("Mum 83 on 17 Dec, table for 7.", "For Mum's eighty-third it is a table for seven.", "For Mum's eighty-second it is a table for seven."),
        ("2 x 15 L black. Covers ~10 m²/L.", "The black covers about 10 m²/L.", "The black covers about 12 m²/L."),
        ("1,912 shots -> 604 picked.", "There are nineteen hundred or so shots.", "There are seventeen hundred or so shots."),
        ("Proxy: client_max_body_size 4G.", "It lets four gigabytes through.", "It lets five gigabytes through."),
        ("Use ep62_master_r3.wav, r2 has the cough.", "The r3 file goes out.", "The r4 file goes out."),
        ("Aveiro: 212 respostas, 68 % satisfeitos.", "Mais de dois terços das 212 respostas.", "Mais de dois terços das 221 respostas."),
        ("Net 3,510 €, +19 % = 4,176.90", "It is 4,176.90 with VAT.", "It is 4,716.90 with VAT."),
        ("Her night is Fri Nov 13 (1900-0730).", "It is from seven in the evening until half past seven.", "It is from nine in the evening until half past seven."),
        ("Her night is Fri Nov 13 (1900-0730).", "It is on Nov 13, 1900-0730, a night.", "It is on Nov 12, 1900-0730, a night."),
        ("Net on Thu, start 2000 local.", "The net starts at eight in the evening.", "The net starts at six in the evening."),
        ("TNCC good until 2028-06-30.", "TNCC is fine until mid-2028.", "TNCC is fine until mid-2029."),
        ("Pi 192.168.1.47, NAS 192.168.1.20.", "The Pi is on .47 in that range.", "The Pi is on .43 in that range."),
        ("Contest Sept 26-27: 218 QSOs.", "On Sept 26-27 you made 218 QSOs.", "On Sept 26-28 you made 218 QSOs."),
        ("Souper ven. 5 févr. 2027, 18 h.", "C'est un vendredi de février.", "C'est un vendredi de janvier 2027."),
        ("Oct 19: Simon has the sheet.", "Send Simon the sheet by Oct 19.", "Send Simon the sheet by Oct 29."),
        ("pg_dump every night 02:40, cron on db-2", "There are nightly pg_dumps at 20 to 3 in the morning.", "There are nightly pg_dumps at 20 to 4 in the morning."),
        ("API: 120 req/min per key", "It allows 120 requests/min for a key.", "It allows 130 requests/min for a key."),
        ("build VM: 8 vcpus, debian 12", "It has 8 vCPUs and as OS Debian 12.", "It has 8 vCPUs and a GPU, and Debian 12."),
        ("Sommerfest am 4.7., Orga macht Birte.", "- Sommerfest: 4.7. (Birte)", "- Sommerfest: 4.8. (Birte)"),
        ("Stage: ven. 18h accueil, sam. tournage 9h30-17h", "Le samedi on tourne de neuf heures et demie à cinq heures.", "Le samedi on tourne de neuf heures et demie à trois heures."),
        ("Local: la persiana la arregla el dueño (Sr. Ibarra)", "Además, el propietario se encarga de la persiana.", "Además, el techo gotea desde el invierno pasado."),
        ("Target: 1:52 -> 5:18/km.", "You wanted 5:18 min/km.", "You wanted 5:28 min/km."),
        ("pg_restore -j 4 -d appdb /srv/pg/appdb-20251202.dump", "Run `pg_restore -j 4 -d appdb /srv/pg/appdb-<date>.dump`.", "Run `pg_restore -j 8 -d appdb /srv/pg/appdb-<date>.dump`."),
        ("p95 from 4.1 s back to 380 ms", "It went from 4.1 seconds down to 0.38.", "It went from 4.1 seconds down to 0.83."),
        ("Crutches for 6 weeks.", "She has crutches for a month and a half.", "She has crutches for four months and a half."),
        ("Proposal 4 pages; CV 2 p.; form SF-7.", "They want a 2-page CV.", "They want a 12-page CV."),
        ("Credit notes have their own series G26-.", "Credit notes run under G26.", "Credit notes run under G28."),
        ("pg_upgrade: rerun with --link", "Rerun it with --link.", "Rerun it with --clone."),
        ("Needles 4.0 mm body, 3.5 mm ribbing", "Take the 4 mm for the body and 3.5s for the ribs.", "Take the 4 mm for the body and 2.5s for the ribs."),
        ("Open up 8:30, doors 10-12.", "Visitors are let in from ten to noon.", "Visitors are let in from eight to noon."),
        ("docker build w/o cache because the pool is ephemeral", "The docker build runs without cache because the pool is ephemeral.", "The docker build runs with cache, 14 min."),
        ("Run 34: val F1 0.883", "It reached 88.3% F1.", "It reached 83.8% F1."),
        ("Spendenquittung Rotes Kreuz fehlt, Fahrtenbuch Q4 bis 15. Mai", "Die Quittung vom Roten Kreuz fehlt bis 15.05., das Fahrtenbuch (Oktober bis Dezember) auch.", "Die Quittung vom Roten Kreuz fehlt bis 16.05., das Fahrtenbuch auch."),
        ("Gratin : four 160°, 1h20.", "Compte une heure vingt au four.", "Compte une heure quarante au four."),
        ("Riverside 26 April, goal sub 1:50", "You want to finish in less than an hour fifty.", "You want to finish in less than an hour ten."),
        ("Nov shifts: Tue 3, Tue 17 (both 9:30-12:30), Sat 28 (collection)", "Your shifts are on 3, 17 and 28 November.", "Your shifts are on 3, 18 and 28 November."),
        ("Over 120 req/min -> 429. 3x in an hour = key blocked for 15 min", "The key is blocked for 15 min after three in an hour.", "The key is blocked for 25 min after three in an hour."),
        ("14 Mar: 8 inch Dobson; buffer is HEPES, 10 mM", "With the Dobsonian, and a HEPES-based buffer.", "With the Newtonian, and a TRIS-based buffer."),
        ("P01–P11 done, P12 open. ckpt runs/step_18000.pt", "Up to P11 it is done; use step 18000.", "Up to P10 it is done; use step 16000."),
        ("3 series de 12 con goma roja", "Haz 3x12 con goma roja.", "Haz 3x15 con goma roja."),
        ("1 tablet morning + 1 evening, one hour before food", "He gets one tablet in the morning and one in the evening, one hour before food.", "He gets one tablet in the morning and one in the evening, three hours before food."),
        ("nginx sent 413 on uploads > 1 MB", "It answered with HTTP 413. Whoever uploads more than 1 MB sees it.", "It answered with HTTP 403. Whoever uploads more than 1 MB sees it."),
        ("borg-Backup von mini: täglich 03:15", "Ein borg-Lauf von mini kommt täglich um 03:15.", "Ein borg-Lauf von mini kommt täglich um 03:45."),
        ("switched to 45 mm tubeless, 2.1 bar", "On the 45s you run 2.1 bar.", "On the 45s you run 2.4 bar."),
        ("Sungold x8, Black Krim x12", "Of Black Krim there are 12, of Sungold 8.", "Of Black Krim there are 17, of Sungold 8."),
    ],
)  # fmt: skip
def test_what_is_written_as_in_the_memory_holds(memory, good, bad):
    check_pair(memory, good, bad)


@pytest.mark.parametrize(
    ("memory", "good", "bad"),
    [
        ("Promised to sell 12 tickets. Sold 7 (Nan 2, Fergus 4, Ishbel 1).", "You promised 12 and sold 7, so 5 are left.", "You promised 12 and sold 7, so 6 are left."),
        ("Chaise longue £45/wk, gramophone £28/wk, 6 chairs £4 each/wk.", "All told it is £97 a week.", "All told it is £107 a week."),
        ("Antifoul 2 coats (58 each), anodes 41, seacock 67. Crane 145.", "The paint is 116, the anodes 41 and the seacock 67, so 224 in all.", "The paint is 116, the anodes 41 and the seacock 67, so 234 in all."),
        ("Timber £3,120, steel £1,480, paint £655, fabric £2,010. Budget 9,500.", "That leaves £2,235.", "That leaves £2,335."),
        ("Leeds 4 x 94 rtn, Oban 186, Newcastle 2 x 148.", "That is 858 miles.", "That is 868 miles."),
        ("Pension 24 310 kr; rent 11 450, food 3 890.", "That leaves 8 970 kr.", "That leaves 8 790 kr."),
        ("Flat A (Doyle) 640/mo, flat B 725, flat C 810, garage 55 (Doyle)", "With the garage included Doyle pays 695.", "With the garage included Doyle pays 685."),
        ("STD 1405 ATD 1452. DLY 41/30 93/17.", "Forty-seven minutes: thirty for the defect, the other seventeen for the late plane.", "Forty-nine minutes: thirty for the defect, the other seventeen for the late plane."),
        ("Employer 2.8 %, union 5.5 %.", "The union wants 2.7 points more.", "The union wants 3.7 points more."),
        ("Now: base 11.2 mK. Before: base 12.0 mK.", "The base is 0.8 mK lower than before.", "The base is 0.6 mK lower than before."),
        ("Sleep diary wk 10: up 4x, 3x, 4x, 5x, 3x, 2x, 3x.", "She got up 24 times in all.", "She got up 27 times in all."),
        ("Gomme: 4 x 168 $ + montaggio 80 $.", "Sono 752 dollari in tutto.", "Sono 762 dollari in tutto."),
        ("Oil delivery: 412 L @ $1.629.", "It was a bit over 400 litres for around $670.", "It was a bit over 400 litres for around $690."),
        ("3 Nächte, EZ 74 €/Nacht, Hund 9 €/Nacht", "Für die drei Nächte sind es mit Hund 249 €.", "Für die drei Nächte sind es mit Hund 259 €."),
    ],
)  # fmt: skip
def test_bills_and_budgets_hold_and_their_neighbours_do_not(memory, good, bad):
    check_pair(memory, good, bad)


def test_what_the_question_says_may_be_repeated():
    memory = "We moved the database from PostgreSQL 13 to PostgreSQL 16 on 2026-03-14. #postgres"
    items = [evidence(memory, as_of=DAY)]
    answer = "We moved the database to PostgreSQL 16 on 2026-03-14."
    assert check(answer, "When did we move to PostgreSQL 16?", items=items).supported


def test_a_german_question_that_begins_with_was_asks_for_a_thing():
    items = [evidence("Stoff 11,80 €/m, ab 50 m 10,60 €.", as_of=DAY)]
    question = "Was kostet der Stoff, wenn ich 60 m nehme?"
    assert check("Bei sechzig Metern sind es 10,60 €.", question, items=items).supported
    assert not check("Bei siebzig Metern sind es 10,60 €.", question, items=items).supported
    asked = "Was the lamp bought on 3 May?"
    assert not check("Yes, on 3 May.", asked, items=items).supported


def test_not_to_know_is_said_in_many_ways():
    items = [evidence("Time hos Sotra Bil ons 14/10 kl 7.45.", as_of=DAY)]
    assert check("Kilometerstanden finner jeg ikke i notatene.", "?", items=items).supported
    assert check(
        "No. The notes don't give a date for it.", "Is there a date?", items=items
    ).supported
    said = "Whether it was mended isn't in your notes."
    assert check(said, "Is there a date?", items=items).supported
    assert check("Det står inte i anteckningarna.", "?", items=items).supported


def test_a_small_count_in_words_is_the_readers_own_unless_the_memory_counts_the_same():
    memory = [evidence("Spring extraction 1 June: 41.5 kg, 118 jars, 2 buckets.", as_of=DAY)]
    assert check("There were three harvests.", "And?", items=memory).supported
    assert not check("There were three buckets.", "And?", items=memory).supported


@pytest.mark.parametrize(
    "refusal",
    [
        "That figure isn't written down.",
        "La cantidad no la anotaste.",
        "Open, as far as the notes go.",
    ],
)
def test_what_is_not_noted_may_be_said_in_many_ways(refusal):
    assert check(refusal, "How much is it?").supported


@pytest.mark.parametrize(
    "courtesy", ["Good luck!", "Enjoy the reading!", "Viel Erfolg!", "Bon voyage !", "¡Buen viaje!"]
)
def test_courtesy_claims_nothing(courtesy):
    assert check(f"Runa moved the archive. {courtesy}").supported
    assert not check("Good luck with the lawyer Quentin Ashdown!").supported


def test_what_is_said_in_passing_is_held_against_the_memory_too():
    memory = [evidence("Concert in Ulm on 9 May. The leak in the roof was fixed.", as_of=DAY)]
    assert not check("Enjoy the Berlin concert!", "And?", items=memory).supported
    assert not check("The leak in the roof was not fixed.", "And?", items=memory).supported


def test_a_short_reply_is_free():
    assert check("She has!", "Has Runa moved the archive?").supported
    assert not check("Yes.", "Has Milo sold the boat?").supported


@pytest.mark.parametrize("split", ["dev", "dev 2", "blind", "blind 2", "blind 4"])
def test_the_labelled_answers_hold_their_bounds(split):
    numbers = measure([(c, c.check.check(c.answer)) for c in load_cases() if c.split == split])
    assert numbers["altered_caught"] >= 0.95
    assert numbers["honest_flagged"] <= 0.07
    assert numbers["invented_caught"] >= 0.55


@pytest.mark.parametrize(
    "answer", ["Red.", "The car is red.", "Her car is a red one, parked at 417."]
)
def test_after_unclear_evidence_an_answer_may_not_bring_words_of_its_own(answer):
    items = (evidence("Greta's parking space is number 417 on level two.", id="m-space"),)
    asked = "What colour is Greta's car?"
    assert not check(answer, asked, items=items, strict=True).supported
    assert check("It is space 417, on level two.", asked, items=items, strict=True).supported


@pytest.mark.parametrize(
    "text",
    [
        "Falls: Feb 4, March 0",
        "2026-03-00",
        "0000-05-03",
        "0.3.2026",
        "3月0日",
        "the end of February",
    ],
)
def test_a_memory_may_say_a_day_that_is_none(text):
    items = (evidence(f"{text}. The lamp is blue.", as_of=DAY),)
    checked = check("The lamp is blue, on Monday, 3 March.", items=items, mode="flag")
    assert "Monday" in checked.unsupported
    assert check("The lamp is blue.", items=items, mode="flag").supported


IN_ENGLISH = (
    "Nora: dentist on 12 March at 15:20, Dr Hale, bring the insurance card.",
    "Flat lease runs until 30 June 2027, notice three months.",
)


@pytest.mark.parametrize(
    ("memory", "question", "good", "bad"),
    [
        (
            IN_ENGLISH[0],
            "Когда у Норы стоматолог?",
            "У Норы стоматолог 12 марта в 15:20. Возьмите страховую карту.",
            "У Норы стоматолог 13 марта в 15:20.",
        ),
        (
            IN_ENGLISH[0],
            "Что взять к стоматологу?",
            "Возьмите страховую карту.",
            "Возьмите с собой паспорт.",
        ),
        (
            IN_ENGLISH[1],
            "Wie lange läuft mein Mietvertrag?",
            "Der Mietvertrag läuft bis zum 30. Juni 2027, mit drei Monaten Kündigungsfrist.",
            "Der Mietvertrag läuft bis zum 30. Juni 2028.",
        ),
    ],
)
def test_an_english_memory_is_told_in_the_language_of_the_question(memory, question, good, bad):
    items = (evidence(memory, id="m-told"),)
    assert check(good, question, items=items).supported
    assert not check(bad, question, items=items).supported


def test_after_unclear_evidence_a_translation_proves_nothing():
    question, said = "Что взять к стоматологу?", "Возьмите страховую карту."
    items = (evidence(IN_ENGLISH[0], id="m-told"),)
    assert not check(said, question, items=items, strict=True).supported


@pytest.mark.parametrize(
    ("memory", "question", "good", "bad"),
    [
        ("We shipped version 4.1.0 on 2026-03-02.", "我们什么时候发布了4.1.0版本？", "4.1.0版本于2026年3月2日发布。", "我们在2026年3月2日发布了4.2.0版本。"),
        ("The staging database listens on port 5432.", "预发布数据库监听哪个端口？", "预发布数据库监听端口5432。", "预发布数据库监听端口5433。"),
        ("数据库的端口为5432。", "数据库监听哪个端口？", "端口是5432。", "端口是5433。"),
        ("Meeting with Ruben on 14 April at 9:30.", "我什么时候见Ruben？", "4月14日上午9点30分见Ruben。", "4月14日上午10点30分见Ruben。"),
        ("Meeting with Ruben on 14 April at 15:30.", "我什么时候见Ruben？", "4月14日下午3点半。", "4月14日上午3点半。"),
        ("Meeting with Ruben on 14 April at 15:30.", "Ruben과 언제 만나나요?", "4월 14일 오후 3시 30분입니다.", "4월 14일 오후 4시 30분입니다."),
        ("Tom takes cetirizine 10 mg in the evening.", "Tom晚上服用什么？", "Tom晚上服用10毫克西替利嗪。", "Tom晚上服用20毫克西替利嗪。"),
        ("Flat lease: notice three months.", "我的租约要提前多久通知？", "租约要提前三个月通知。", "租约要提前六个月通知。"),
        ("Flat lease: notice three months.", "解約の通知はいつまでですか？", "三か月前に通知します。", "6か月前に通知します。"),
        ("Flat lease: notice three months.", "За сколько нужно уведомить об аренде?", "Уведомление за три месяца.", "Уведомление за шесть месяцев."),
        ("Alice prefers the blue theme.", "Welches Theme mag Alice?", "Alice mag das blaue Theme.", "Alice mag das rote Theme."),
        ("Alice prefers the blue theme.", "Quel thème préfère Alice ?", "Alice préfère le thème bleu.", "Alice préfère le thème rouge."),
        ("Alice prefers the blue theme.", "Какую тему предпочитает Alice?", "Alice предпочитает синюю тему.", "Alice предпочитает красную тему."),
        ("Alice prefers the blue theme.", "Alice 喜欢什么主题？", "Alice 喜欢蓝色主题。", "Alice 喜欢绿色主题。"),
    ],
)  # fmt: skip
def test_what_is_exact_holds_in_other_languages(memory, question, good, bad):
    items = (evidence(memory, id="m-told"),)
    assert check(good, question, items=items).unsupported == ()
    assert not check(bad, question, items=items).supported


SHIPPED = (evidence("We shipped version 4.1.0 on 2026-03-02.", id="m-told"),)


@pytest.mark.parametrize(
    ("said", "holds"),
    [
        ("2. März 2026", True),
        ("3. März 2026", False),
        ("**3. März 2026**", False),
        ("- 3. März 2026", False),
        ("Version 4.1.0 kam:\n3. März 2026.", False),
        ("1. Version 4.1.0 wurde ausgeliefert.\n2. Das war im März 2026.", True),
    ],
)
def test_a_german_date_that_opens_a_sentence_is_no_item_of_a_list(said, holds):
    assert (
        check(said, "Wann haben wir Version 4.1.0 ausgeliefert?", items=SHIPPED).supported == holds
    )


def test_an_english_list_may_go_on_with_a_month():
    said = "1. March 2: version 4.1.0 shipped."
    assert check(said, "When did we ship version 4.1.0?", items=SHIPPED).supported


def test_an_amount_is_not_so_many_of_another_currency() -> None:
    memories = [
        evidence("Rosa keeps 3 spare keys under the blue pot.", id="m-1"),
        evidence("The pump cost 380 euros.", id="m-2"),
    ]

    def holds(said: str) -> bool:
        answer = f"Rosa keeps 3 spare keys under the blue pot. {said}"
        return AnswerCheck(memories, "What does it cost?").check(answer).supported

    assert holds("Three pumps cost 1140 euros.")
    assert not holds("It costs 1140 dollars.")


@pytest.mark.parametrize(
    ("memory", "good", "bad"),
    [
        (
            "The cache took p99 from 410 ms to 230 ms. Node 54 € a month, was 48 €.",
            [
                "p99 fell from 410 to 230 ms.",
                "p99 is 230 ms instead of 410.",
                "Taken out again, p99 goes from 230 back to 410 ms.",
                "It went from 48 € to 54 €.",
                "It costs 6 € more, a rise of 12.5 %.",
            ],
            [
                "p99 went from 230 to 410 ms.",
                "p99 is 410 ms instead of 230.",
                "It went from 54 € to 48 €.",
                "It costs 6 € more, a rise of 13.5 %.",
            ],
        ),
        (
            "Draft: 14 -> 10 pages. Blood pressure 128/83, seeing 4/5.",
            ["From 14 pages to 10.", "128 over 83", "It was 128/83."],
            ["From 10 pages to 14.", "83 over 128", "It was 83/128."],
        ),
        ("Limit 10 -> 20 in May, 20 -> 10 in June.", ["It went from 20 to 10, then 10 to 20."], []),
    ],
)
def test_two_numbers_keep_the_order_they_have_in_the_memory(memory, good, bad):
    check_each(memory, good, bad)


@pytest.mark.parametrize(
    ("memory", "good", "bad"),
    [
        (
            "One tablet every other day, not with coffee. Review every two weeks on Thursday.",
            [
                "One tablet every second day.",
                "One tablet every two days, and no coffee with it.",
                "The review is fortnightly, on Thursday.",
                "The review is every other Thursday.",
            ],
            [
                "One tablet every day.",
                "One tablet daily.",
                "One tablet every other day with coffee.",
                "The review is every week on Thursday.",
                "The review is every Thursday.",
            ],
        ),
        (
            "Tomaten alle zwei Tage gießen, nicht in der Sonne. Düngen jede Woche.",
            ["Jeden zweiten Tag gießen, Tomaten nicht in der Sonne.", "Jede Woche düngen."],
            ["Jeden Tag gießen.", "Tomaten täglich gießen.", "Tomaten in der Sonne gießen."],
        ),
        ("The job runs daily, the full one every 3 days.", ["It runs every day."], []),
        ("Water the ferns every third day.", ["Every three days."], ["Every day."]),
        (
            "La chorale répète tous les vendredis, le bureau se réunit un lundi sur deux.",
            ["La chorale répète chaque vendredi.", "Elle répète chaque semaine, le vendredi."],
            ["La chorale répète toutes les trois semaines."],
        ),
        ("Les poubelles : chaque semaine.", ["Toutes les semaines."], ["Une semaine sur deux."]),
        (
            "El coro ensaya todos los viernes.",
            ["El coro ensaya cada viernes.", "El coro ensaya cada semana, el viernes."],
            ["El coro ensaya cada dos semanas.", "Un viernes sí y otro no."],
        ),
        ("El riego: cada tercer día.", ["Cada tres días."], ["Cada día.", "Todos los días."]),
        (
            "Il coro prova ogni due settimane, il venerdì.",
            ["Il coro prova un venerdì sì e uno no."],
            ["Il coro prova ogni venerdì.", "Il coro prova tutte le settimane."],
        ),
        (
            "O coro ensaia toda sexta-feira.",
            ["O coro ensaia todas as sextas.", "O coro ensaia todas as sextas-feiras."],
            ["O coro ensaia sexta sim, sexta não.", "O coro ensaia a cada duas semanas."],
        ),
        (
            "De container gaat om de week leeg.",
            ["De container gaat om de twee weken leeg."],
            ["De container gaat iedere week leeg.", "De container gaat wekelijks leeg."],
        ),
        ("Kören övar varannan vecka.", ["Kören övar varannan vecka."], ["Kören övar varje vecka."]),
        ("Śmieci: co drugi tydzień.", ["Co drugi tydzień."], ["Co tydzień."]),
        (
            "Хор поёт каждую пятницу.",
            ["Хор поёт еженедельно, в пятницу."],
            ["Хор поёт каждую вторую пятницу.", "Хор поёт каждые две недели."],
        ),
        ("合唱は隔週の金曜日。", ["2週間ごとの金曜日です。"], ["合唱は毎週金曜日です。"]),
        ("합창은 격주 금요일.", ["합창은 격주 금요일입니다."], ["합창은 매주 금요일입니다."]),
        ("合唱团每周五排练。", ["合唱团每星期五排练。"], ["合唱团每两周排练一次。"]),
        (
            "The bins are emptied once a week, the filter once a month.",
            ["The bins are emptied every week.", "The bins are emptied weekly."],
            ["The bins are emptied every two weeks.", "The bins are emptied every other week."],
        ),
        (
            "Der Filter wird alle zwei Wochen gespült.",
            ["Alle zwei Wochen wird der Filter gespült."],
            ["Der Filter wird einmal pro Woche gespült."],
        ),
        (
            "Le filtre se rince une fois par semaine.",
            ["Le filtre se rince chaque semaine."],
            ["Le filtre se rince toutes les deux semaines."],
        ),
        ("フィルターは2週間に1回洗う。", ["2週間ごとに洗います。"], ["フィルターは毎週洗う。"]),
        ("滤网两周一次。", ["滤网每两周一次。"], ["滤网一周一次。", "滤网每周一次。"]),
        (
            "Backups run daily at 02:00, water the orchids once a week. Dues are 30 euros a year.",
            ["The backups run every day.", "The orchids want water weekly."],
            ["The backups run monthly.", "Every month the orchids want water."],
        ),
        ("Der Müll kommt wöchentlich.", ["Der Müll kommt jede Woche."], ["Er kommt täglich."]),
        ("Drops 4x daily, every week one less.", ["Drops four times daily, then less."], []),
        ("The fee is due monthly.", ["So you pay it twelve times each year."], []),
        # How often in a week says no interval.
        ("Tennis twice a week, swimming once a week.", ["Tennis is twice a week."], []),
        # "All week" is no interval, nor is "her Friday" one, or "in order to … the week".
        ("Pinta la valla toda la semana. Luego cada dos semanas.", ["Toda la semana."], []),
    ],
)
def test_how_often_and_how_not_is_told_as_in_the_memory(memory, good, bad):
    check_each(memory, good, bad)


@pytest.mark.parametrize(
    ("memory", "good", "bad"),
    [
        (
            "Baking: 3 loaves of 450 g flour, starter 4 days old.",
            ["Three loaves.", "3 x 450 g = 1.35 kg of flour."],
            ["Four loaves."],
        ),
        (
            "The report is due ten working days after the meeting on Mon 19 Jan 2026.",
            ["That is 2 February 2026."],
            ["That is 29 January 2026.", "That is 31 January 2026."],
        ),
        (
            "Bericht zehn Werktage vor dem 16.2.2026 abgeben.",
            ["Bis zum 2. Februar 2026."],
            ["Bis zum 6. Februar 2026."],
        ),
        (
            "The print takes 4 days and must be there on 21 May 2026.",
            ["Order by the 17th at the latest."],
            ["Order by the 16th at the latest."],
        ),
        (
            "Ines: +49 170 5550142. Olaf: 0171 555 0199",
            ["Call 0170 5550142.", "Call 0170 555 0142.", "Olaf has +49 (0)171 5550199."],
            ["Call 0171 5550142.", "Call +49 170 5550124."],
        ),
        (
            "NAS at 192.168.178.40, web on port 5001",
            ["Open `192.168.178.40:5001`."],
            ["Open `192.168.178.40:5010`."],
        ),
    ],
)
def test_what_follows_from_a_memory_holds_and_its_neighbour_does_not(memory, good, bad):
    check_each(memory, good, bad)


@pytest.mark.parametrize(
    ("memory", "good", "bad"),
    [
        ("Next: raise replicas 4 -> 6, rerun 18 Feb.", [], ["The replicas go from 4 to 8."]),
        ("Dose KH 22 ml at 2:00 and 14:00.", ["22 ml twice, 44 ml in total."], []),
        (
            "Hallway walls 38 m², 2 coats.",
            [],
            ["The walls are 48 m², so you need two coats."],
        ),
        (
            "Carprofen 50 mg 1-0-1, lose 2.5 kg.",
            ["He should lose 2.5 kg."],
            ["He should lose 3.5 kg."],
        ),
        (
            "Visa: submitted 9 Jan, biometrics done 22 Jan. Processing 15 working days.",
            ["It was submitted on 9 January."],
            ["The biometrics were done on 29 January."],
        ),
        (
            "SUS mean 71.5 (round 1: 63), n=8, success 6/8.",
            ["Usability improved by 8.5 points compared with round 1."],
            ["Usability improved by 8.4 points compared with round 1."],
        ),
        (
            "1:1 every other Wed, starting 4 Nov 2026.",
            ["The next one after that is 18 November."],
            ["The next one after that is 17 November."],
        ),
        ("Asked Teo on 2 July. No answer yet (11 July).", ["No answer had come by 11 July."], []),
        ("Power bank 20,000 mAh.", ["A 20 Ah power bank."], ["A 30 Ah power bank."]),
        ("Sensor IP65, battery 24 months.", ["It is IP65-rated."], ["It is IP67-rated."]),
        ("billing: Postgres 15.6", ["It runs on Postgres 15."], ["It runs on Postgres 14."]),
        ("Boiler (2025): nächstes Jahr tauschen.", ["2027 tauschen."], ["2028 tauschen."]),
    ],
)
def test_what_models_work_out_holds_and_its_neighbour_does_not(memory, good, bad):
    check_each(memory, good, bad)


@pytest.mark.parametrize(
    "label",
    [
        "## Key takeaways\n\n",
        "**Bottom line**\n\n",
        "Key results:\n",
        "| Level | Condition |\n|---|---|\n",
    ],
)
def test_a_heading_claims_nothing_but_what_is_exact_in_it(label):
    assert check(f"{label}Runa moved the archive.").supported
    named = label.replace("e", "e Ingrid ", 1).replace("Ke Ingrid y", "Key Ingrid")
    assert not check(f"{named}Runa moved the archive.").supported
    assert not check(f"{label}It was sold off cheaply abroad.").supported


@pytest.mark.parametrize(
    "offer",
    [
        "Let me know if you want me to calculate anything else or compare these options.",
        "I can also put together a checklist if that's useful.",
        "Fammi sapere se ti serve altro.",
    ],
)
def test_an_offer_claims_nothing(offer):
    assert check(f"Runa moved the archive. {offer}").supported
    assert not check(f"Runa moved the archive. {offer[:-1]}, or call 0171 555 0199.").supported
    assert not check(f"Runa moved the archive. {offer[:-1]}: it was sold abroad.").supported
    assert not check(f"Runa moved the archive. {offer}", strict=True).supported


def test_a_request_that_begins_with_can_you_asks_for_no_yes():
    items = [evidence("Dal: 250 g toor dal, two tins of tomatoes.")]
    said = "For 80 people: 250 g toor dal."
    assert check(said, "Can you give me the recipe for 80?", items=items).supported
    assert not check(said, "Can you tell me whether it is for 80?", items=items).supported


@pytest.mark.parametrize(
    ("memory", "good", "bad"),
    [
        (
            "Double pay on 25, 26 Dec and 1 Jan.",
            ["Double pay on 25 and 26 December and on 1 January.", "Double pay on Christmas Day."],
            ["Double pay on 24 December."],
        ),
        ("Green #2F7D5B, not #1E9E62.", ["It is #2F7D5B."], ["It is #2F5D7B."]),
        (
            "Felix can't do the raffle any more (new job), Gwen takes over.",
            ["Gwen has since taken over the raffle from Felix because of his new job."],
            ["Petra has since taken over the raffle."],
        ),
        (
            "No index on orders. Second one: the report joins tables twice. Vacuum was off (Viktor).",
            [
                "There were three problems: no index on orders, a report that joins tables twice and"
                " a vacuum that was off, which Viktor knew."
            ],
            [],
        ),
        (
            "Controllo in agosto.",
            ["Va ricontrollato a fine agosto."],
            ["Il controllo è a fine luglio."],
        ),
        (
            "Den Rollout macht nur Aylin und nicht die Technik.",
            ["Das macht Aylin."],
            ["Den Rollout macht Aysel."],
        ),
        (
            "Carprofen 50 mg 1-0-1 for two weeks, 2 bowls.",
            ["That makes 28 tablets."],
            ["That makes 26 tablets."],
        ),
        (
            "Spare keys: one with Ida, one in the blue tin in the shed.",
            ["There are two spare keys: one with Ida, one in the shed."],
            ["There are three spare keys."],
        ),
        (
            "Auto: TÜV fällig März 2027, Inspektion am 14. Mai.",
            ["Der TÜV ist im März 2027 fällig."],
            ["Der TÜV ist im Mai 2027 fällig."],
        ),
        (
            "Heizung läuft werktags 6-16 Uhr.",
            ["Sie läuft von 6 bis 16 Uhr.", "Sie läuft von 6 Uhr bis 4 Uhr nachmittags."],
            ["Sie läuft von 6 bis 18 Uhr."],
        ),
        (
            "Amoxiclav 250 mg, 1 tablet every 12 h.",
            ["She gets it twice a day.", "It is two tablets a day."],
            ["She gets it three times a day."],
        ),
        (
            "Apixaban 5 mg 1-0-1, Pantoprazol 20 mg vor dem Essen.",
            ["Apixaban nimmt sie zweimal täglich."],
            ["Apixaban nimmt sie dreimal täglich."],
        ),
        (
            "Mix 08:00, rest 24 h before cutting.",
            ["Let it rest for a day before cutting."],
            ["Let it rest for 12 hours before cutting."],
        ),
        (
            "Call with the school 16:40, takes 20 min.",
            ["The call ends at 17:00.", "Leave the desk by 16:20."],
            ["The call is at 16:20.", "The call is at 16.20."],
        ),
        (
            "Half marathon 1:52:37, 10k 52:31. Valued 18,500-20,000.",
            [
                "You ran it in just under 1:53.",
                "You passed 10 km in 52:31.",
                "It is worth roughly 18 to 20 thousand.",
            ],
            ["You passed 15 km in 52:31.", "It is worth roughly 15 to 20 thousand."],
        ),
        (
            "Chem paper 1 Tue 11 May, Chem paper 2 Wed 19 May. Arrive 12:47.",
            [
                "The second one, in the afternoon, is on the 19th.",
                "You arrive at quarter to one or so.",
            ],
            ["You arrive at quarter past one or so."],
        ),
        (
            "Pool open Mon-Fri 7-21. Return Inverness-Perth. Shed lock 0-6-1-9.",
            [
                "You come back from Inverness.",
                "The shed's lock opens with 0619.",
            ],
            ["The shed's lock opens with 0691."],
        ),
        (
            "Zwembad ma-vr 7.00-21.30, banen ma/wo/vr.",
            ["Het is van maandag tot vrijdag open."],
            ["Banen zijn er op dinsdag."],
        ),
        (
            "Kompost von Fa. Adler, Antrag auf claims.example.org/new.",
            ["Der Kompost kam von der Firma Adler."],
            ["Der Kompost kam von der Firma Lindner.", "Antrag auf claims.example.org/start."],
        ),
        (
            "140 x 12, 72 x 7 reduced, hall 480, programmes 96.",
            ["Ticket income was 2,184."],
            ["Ticket income was 2,148."],
        ),
    ],
)
def test_amounts_and_times_of_every_day_hold_and_their_neighbours_do_not(memory, good, bad):
    check_each(memory, good, bad)


@pytest.mark.parametrize(
    ("memory", "question", "answer"),
    [
        ("Bring the signed report.", "When is the meeting?", "Don't forget the signed report."),
        ("Llevar el boletín firmado.", "¿Cuándo es?", "No olvides llevar el boletín firmado."),
        ("Apporter le carnet signé.", "C'est quand ?", "N'oubliez pas d'apporter le carnet signé."),
        (
            "Portare la pagella firmata.",
            "Quando è?",
            "Non dimenticare di portare la pagella firmata.",
        ),
        ("Взять подписанный дневник.", "Когда собрание?", "Не забудь взять подписанный дневник."),
    ],
)
def test_who_is_told_not_to_forget_is_told_to_do_it(memory, question, answer):
    assert check(answer, question, items=[evidence(memory)]).supported


def test_what_is_said_behind_a_refusal_is_checked_in_words_too():
    items = [evidence("The gate code is 83621, the spare key hangs in the shed.")]
    said = "I don't know where the ladder is, but"
    assert check(f"{said} the spare key hangs in the shed.", "Where is it?", items=items).supported
    assert not check(f"{said} the neighbours borrowed it.", "Where is it?", items=items).supported


LEASE = (
    evidence("Lease runs till 31 Jan 2027, landlord Teo.", id="m-lease", as_of=DAY),
    evidence("Agenda of 4 May: item 2 is the 940 for the roof.", id="m-agenda", as_of=DAY),
)


@pytest.mark.parametrize(
    ("answer", "cited"),
    [
        ("Note 1 says the lease runs until 31 January 2027.", {1: "m-lease"}),
        ("Memories 1 and 2 cover the lease and the roof.", {1: "m-lease", 2: "m-agenda"}),
        ("Laut Erinnerung 1 endet es am 31. Januar 2027.", {1: "m-lease"}),
        ("D'après la note 2, 940.", {2: "m-agenda"}),
        ("メモ1によると2027年1月31日まで。", {1: "m-lease"}),
        ("Item 2 is the roof.", {}),  # of the agenda
    ],
)
def test_a_memory_called_by_its_number_is_cited(answer, cited):
    checked = check(answer, "What about the lease and the roof?", items=LEASE)
    assert checked.supported, checked.unsupported
    assert dict(checked.citations) == cited


@pytest.mark.parametrize(
    "answer", ["Note 2 says that the landlord is Teo.", "Note 7 says so.", "Note 1 says 940."]
)
def test_a_memory_called_by_its_number_must_say_it(answer):
    assert not check(answer, "What about the lease and the roof?", items=LEASE).supported


def test_a_row_that_is_replaced_stays_a_row():
    items = [evidence("Ida: grill.", source="a:1"), evidence("Teo: 4 crates | cold", source="b:1")]
    table = "| Who | What |\n|---|---|\n| Ida | grill |\n| Teo | 6 crates |\n"
    assert check(table, "Who brings what?", items=items).text == (
        "| Who | What |\n|---|---|\n| Ida | grill |\n| Teo: 4 crates \\| cold (b:1) |\n"
    )


def test_a_head_that_is_replaced_keeps_its_rule():
    items = [evidence("Ida: grill.", source="a:1")]
    text = check("| Rent 940 | |\n|---|---|\n| Ida | grill |", "Who?", items=items).text
    assert text == "| Ida: grill. (a:1) |\n|---|---|\n| Ida | grill |"


def test_a_replaced_line_is_of_what_its_heading_names():
    items = [evidence("Blender from Paul."), evidence("Toaster from Ida, blue.")]
    answer = "**Toaster**\n\n- By Paula\n"
    assert "Toaster from Ida" in check(answer, "Who gave what?", items=items).text


@pytest.mark.parametrize(
    ("memory", "good", "bad"),
    [
        (
            "pg-orders-2 ran full after a deploy of cart-api.",
            "It ran full after a deploy of cart-api.",
            "It ran full after a deploy of order-api.",
        ),
        ("Needs braces, upper jaw.", "The upper jaw.", "It is the lower jaw."),
        ("The cake is from his sister Becca.", "His sister bakes.", "The cake is from his mother."),
        ("The associate is Joy Marlow.", "It is Joy Marlow.", "It is Joyce Marlow."),
        ("Approved by Hyun-woo.", "Hyun-woo approved it.", "Hyun-jin approved it."),
        ("Contact: Karen Webb", "The contact is Karen Webb.", "The contact is Karen Wells."),
        (
            "Swap form approved by Donna in staffing.",
            "Donna in staffing has approved it.",
            "Brenda in staffing has approved it.",
        ),
        (
            "Plumber Nils Aaberg comes at 8, keys with Bruno.",
            "Nils Aaberg comes at 8, Bruno has the keys.",
            "Bruno Aaberg comes at 8.",
        ),
    ],
)
def test_what_is_not_the_one_remembered_is_told_from_it(memory, good, bad):
    check_pair(memory, good, bad)


@pytest.mark.parametrize(
    ("memory", "answer"),
    [
        ('Guiding 0.6" on night 1, 0.9" on night 2.', 'It was 0.9" instead of 0.6" before.'),
        ("Slots 17 Feb 21:30-00:30, 16 Mar 22:00.", "17 February 21:30-00:30 and 16 March 22:00."),
        ("Keep: Optolong L-eXtreme.", "You keep the L-eXtreme."),
        ("Filed in Lake County Circuit, fee $206.", "In the Lake County Circuit Court, for $206."),
        ("Children: Anna, Heinr., Frieda.", "Her son is called Heinrich."),
        ("Volk 1 14 kg, Volk 2 9 kg (30.5.), Sommer: Volk 1 11 kg.", "Zusammen waren es 34 kg."),
        ("Slots: 14 January.", "There's nothing about a slot in April yet."),
        ("The moon was up.", "It doesn't mention planets, so I can't tell whether you saw Saturn."),
    ],
)
def test_what_is_remembered_otherwise_written_holds(memory, answer):
    assert check(answer, "And?", items=[evidence(memory, as_of=DAY)]).unsupported == ()


def test_behind_what_is_unknown_all_is_checked_again():
    memory = [evidence("Bought on 8 August at Marlow's.", as_of=DAY)]
    answer = "There's nothing on the warranty; the notes say you bought it at Norwood's."
    assert not check(answer, "And?", items=memory).supported


@pytest.mark.parametrize(
    ("memories", "good", "bad"),
    [
        (
            (
                "On 3 March 2026 we had dinner at Bella with Olga.",
                "Dinner at Bella on 9 March 2026, the risotto was cold.",
                "On 2 April 2026 we ate at Bella.",
            ),
            ("Twice.", "Three times.", "You ate there 3 times."),
            ("Five times.", "You ate there 4 times."),
        ),
        (
            ("Am 3. März waren wir bei Bella essen.", "Am 9. März Essen bei Bella."),
            ("Zweimal.", "Zwei Mal."),
            ("Fünfmal.", "Ihr wart fünf Mal dort."),
        ),
        (("On 3 March we ate at Bella.", "We often eat at Bella."), ("Five times.",), ()),
        (("On 3 March we ate at Bella, as every week.", "On 9 March too."), ("Five times.",), ()),
        (("We ate at Bella on 3, 10 and 17 March.", "Bella on 2 April."), ("Four times.",), ()),
        (("On 3 March we ate at Bella.",), ("Five times.",), ()),
        (
            ("Bella again on 3 March, so five times by then.", "On 9 March too."),
            ("Six times.",),
            (),
        ),
    ],
)
def test_nothing_happened_more_often_than_several_memories_tell_days_of_it(memories, good, bad):
    items = [
        evidence(text, id=f"m-{n}", source=f"rooms/a.md:{n}", as_of=DAY)
        for n, text in enumerate(memories, start=1)
    ]
    for answer, holds in [*((a, True) for a in good), *((a, False) for a in bad)]:
        found = check(answer, "How often did we eat at Bella?", items=items)
        assert found.supported == holds, answer


def test_what_is_told_as_worked_out_of_what_holds_may_be_reached_by_any_chance():
    check_each(
        "600 crocuses, 250 scillas and 120 daffodils. A dozen volunteers come.",
        ["There are 970 bulbs, so a dozen volunteers get about 80 each."],
        ["There are 970 bulbs, so a dozen volunteers get about 90 each."],
    )


@pytest.mark.parametrize(
    ("memory", "good", "bad"),
    [
        (
            "Tennis with Ola twice a week, the pool three times a month.",
            ["Tennis is two times a week.", "You swim three times a month."],
            ["Tennis with Ola is three times a week.", "You swim twice a month."],
        ),
        ("Chor zweimal pro Woche.", ["Der Chor probt zweimal pro Woche."], ["Dreimal pro Woche."]),
        ("Piscine deux fois par semaine.", ["Deux fois par semaine."], ["Trois fois par semaine."]),
        (
            "Water the fern weekly, it was moved twice.",
            ["It was moved two times, weekly water."],
            [],
        ),
    ],
)
def test_how_often_a_week_is_told_as_in_the_memory(memory, good, bad):
    check_each(memory, good, bad)


def test_how_often_a_day_is_not_worked_out_from_the_hours_between():
    check_each(
        "Dad takes the pill every 12 hours.",
        ["Dad takes the pill twice a day.", "Dad takes the pill 2 times a day."],
        ["Dad takes the pill three times a day.", "He takes the pill 3 times daily."],
    )
