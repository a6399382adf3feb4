"""What a person stated outright, and what only looks like it."""

from __future__ import annotations

import pytest

from benchmarks.gapfill import judged, measure
from palace import Message, stated_in
from palace.learn.cues import available, load_cues
from palace.learn.gapfill import corrected_text
from palace.learn.statements import Statement, sentences, stated


def kinds(text, before=""):
    history = [Message("assistant", before)] if before else []
    return [(s.kind, s.text) for s in stated_in([*history, Message("user", text)])]


@pytest.fixture(scope="module")
def labelled():
    return judged()


@pytest.mark.parametrize(
    ("split", "precision", "recall"),
    [
        ("dev", 0.95, 0.95),
        ("test", 0.95, 0.95),
        ("later", 0.95, 0.75),
        ("blind", 0.9, 0.9),
        ("talks", 0.95, 0.75),
        ("talks_later", 0.95, 0.85),
    ],
)
def test_the_labelled_sets(labelled, split, precision, recall):
    measured = measure([case for case in labelled if case.split == split])
    assert measured["utterances"] >= 40
    assert measured["precision"] >= precision
    assert measured["recall"] >= recall


def test_the_words_are_kept_as_they_were_said():
    assert kinds("By the way, my name is Ada Novak. How are you?") == [
        ("fact", "My name is Ada Novak.")
    ]
    assert kinds("Please remember that the demo tenant is called acme-test.") == [
        ("fact", "The demo tenant is called acme-test.")
    ]


@pytest.mark.parametrize(
    ("text", "kind", "kept"),
    [
        ("Merk dir bitte, dass unser Server Reiher heißt.", "fact", "Unser Server Reiher heißt."),
        ("Merke dir: Der Code für das Tor ist 4711.", "fact", "Der Code für das Tor ist 4711."),
        ("Bitte vergiss nicht, dass wir am 3. Juni fliegen.", "fact", "Wir am 3. Juni fliegen."),
        ("Ich arbeite seit 2015 bei der Post.", "fact", "Ich arbeite seit 2015 bei der Post."),
        ("Ich wohne seit drei Jahren in Bremen.", "fact", "Ich wohne seit drei Jahren in Bremen."),
        ("Ich vertrage keine Milch.", "fact", "Ich vertrage keine Milch."),
        ("Ich vertrage Milch nicht.", "fact", "Ich vertrage Milch nicht."),
        ("Ich esse kein Fleisch.", "preference", "Ich esse kein Fleisch."),
        ("Ich hasse lange Listen.", "preference", "Ich hasse lange Listen."),
        ("I hate long lists.", "preference", "I hate long lists."),
        ("I have worked at Acme since 2015.", "fact", "I have worked at Acme since 2015."),
        ("Our bank is Nordbank again.", "fact", "Our bank is Nordbank again."),
        ("I'm working at the museum now.", "fact", "I'm working at the museum now."),
        ("We're with Sparbank now.", "fact", "We're with Sparbank now."),
        ("We no longer use Jenkins.", "fact", "We no longer use Jenkins."),
        ("We've cancelled Netflix.", "fact", "We've cancelled Netflix."),
        ("The bins are collected on Thursdays.", "fact", "The bins are collected on Thursdays."),
        ("The shop is closed every Monday.", "fact", "The shop is closed every Monday."),
        ("Our band meets on 4 May at 19:30.", "fact", "Our band meets on 4 May at 19:30."),
        (
            "The books of Acme were handed over to Mira.",
            "fact",
            "The books of Acme were handed over to Mira.",
        ),
        ("I'm the treasurer of the club.", "fact", "I'm the treasurer of the club."),
        ("Ich bin gegen Nüsse allergisch.", "fact", "Ich bin gegen Nüsse allergisch."),
        ("Meine Kundennummer ist 4711.", "fact", "Meine Kundennummer ist 4711."),
        ("Unser Verein trifft sich um 19 Uhr.", "fact", "Unser Verein trifft sich um 19 Uhr."),
        (
            "Die Tonnen werden donnerstags geleert.",
            "fact",
            "Die Tonnen werden donnerstags geleert.",
        ),
        (
            "I've changed dentists, our dentist is Dr Lindgren now.",
            "fact",
            "Our dentist is Dr Lindgren now.",
        ),
    ],
)
def test_common_ways_to_say_what_lasts(text, kind, kept):
    assert kinds(text) == [(kind, kept)]


@pytest.mark.parametrize(
    "text",
    [
        "Ich arbeite seit Stunden in der Küche.",
        "Ich wohne seit gestern in Bremen.",
        "Ich vertrage das nicht.",
        "The dog died on Sunday.",
        "My boss writes to me on Sundays.",
        "Ich vertrage heute keine Milch.",
        "Ich hasse dieses Wetter.",
        "Ich hasse mein Leben.",
        "Ich esse keinen Bissen mehr.",
        "Never give up!",
        "Always happy to help.",
        "I'm allergic to puns like that.",
        "I hate Mondays.",
        "I hate to wait.",
        "I hate my life.",
        "I hate being late.",
        "I hate this weather.",
        "I have worked at it for hours.",
    ],
)
def test_moods_and_moments_are_not_kept(text):
    assert kinds(text) == []


def test_said_twice_is_one_statement():
    history = [Message("user", "I prefer tabs over spaces.")] * 2
    assert len(stated_in(history)) == 1


@pytest.mark.parametrize(
    "text",
    [
        "Proofread this text:\n\nMy name is Ada and I work as a nurse.",
        "Translate the following letter. I live in Rotterdam. I am allergic to peanuts.",
        "```\nmy name is Bob Miller\n```",
        "> I live in Rotterdam.",
        "<memory-context>\nI live in Rotterdam.\n</memory-context>",
        "He said 'I live in Rotterdam'.",
        "Remember to call me Tuesday.",
        "I live in Rotterdam " + "and so on " * 60,
    ],
)
def test_not_their_own_words(text):
    assert kinds(text) == []


def test_only_the_person_is_heard():
    assert (
        stated_in([Message("assistant", "I live in Rotterdam."), Message("tool", "I'm vegan.")])
        == []
    )


def said(*turns):
    """What is stated in turns of the person and the assistant, the person first."""
    roles = ("user", "assistant")
    return [s.text for s in stated_in([Message(roles[n % 2], t) for n, t in enumerate(turns)])]


@pytest.mark.parametrize(
    "turns",
    [
        ("I live in Porto.", "Noted.", "no wait, scratch that"),
        ("My cat is called Otto.", "Noted.", "Oh no. Forget that, wrong person."),
        ("Always answer me in Latin, just kidding.",),
        ("My office is in room 204. Actually no, ignore that.",),
        ("Ich wohne in Jena.", "Notiert.", "Quatsch, vergiss das wieder."),
        ("J'habite à Lyon.", "Bien.", "Oublie ce que je viens de dire."),
        ("Vivo en Soria.", "Vale.", "Olvida eso."),
    ],
)
def test_what_was_taken_back_is_not_kept(turns):
    assert said(*turns) == []


def test_only_what_came_before_is_taken_back():
    assert said("I live in Porto.", "ok", "I'm vegan. Scratch that, I work as a nurse.") == [
        "I live in Porto.",
        "I work as a nurse.",
    ]


@pytest.mark.parametrize(
    "turn",
    [
        "Don't forget that, please.",
        "You can ignore that warning.",
        "I'll never forget it.",
        "Vergiss das nicht.",
        "I'm a nurse and you are my assistant.",
        "You're an assistant and I'm a nurse.",
        "I'm the owner and you're the assistant.",
        "Let's play a round of chess.",
    ],
)
def test_what_only_sounds_like_that_takes_nothing_back_and_opens_no_game(turn):
    found = said("I live in Porto.", "Noted.", turn, "ok", "I'm vegan.")
    assert (found[0], found[-1]) == ("I live in Porto.", "I'm vegan.")


def test_a_request_whose_work_is_done_announces_no_text():
    drafted = "Dear Bob, " + "thank you for the long and winding report. " * 6
    pasted = "Good. I prefer short mails. Sign it with Ada."
    assert said("Write an email to Bob.", drafted, pasted) == ["I prefer short mails."]


def test_spanish_if_is_no_yes():
    assert kinds("Si vivo en Madrid, pago menos.") == []
    assert kinds("Sí, vivo en Madrid.") == [("fact", "Vivo en Madrid.")]


@pytest.mark.parametrize(
    "opening",
    [
        "Let's play a game: you are the waiter, I am the guest.",
        "Let us play a game: you are a pirate and I am the captain.",
        "Let's play twenty questions.",
        "Pretend you're a travel agent.",
        "Spielen wir ein Rollenspiel.",
        "Jouons un peu, tu es le juge et je suis le témoin.",
        "Juguemos: yo soy el detective.",
    ],
)
def test_nothing_is_learned_of_a_role(opening):
    assert said(opening, "Go on.", "I live in Reykjavik.", "ok", "I'm vegan.") == []
    assert said(opening, "Go on.", "Enough role play.", "ok", "I'm vegan.") == ["I'm vegan."]
    assert said(opening, "Correct, you won!", "Ha.", "ok", "I'm vegan.") == ["I'm vegan."]


def test_a_text_that_was_announced_is_not_the_persons_own():
    pasted = "I am a florist from Leeds. I have two dogs. My shop is called Petal."
    assert said("Tidy up my bio, please.", "Send it over.", pasted) == []
    assert said("Tidy up my bio, please.", "Done.", "I prefer short sentences.") != []
    assert said("Dear Mr Faber,\n\nour new address is Hill Road 3.\n\nWhat does he want?") == []
    assert said("My name is Ada Novak. " + "And so it went on and on. " * 80) == []


def test_what_others_think_corrects_nothing():
    before = "The keys are in the drawer."
    assert kinds("Mum thinks the keys are in the shed, not in the drawer.", before) == []
    assert kinds("Choir is on Sunday, not Friday.", "Choir is on Friday.") != []
    assert kinds("No, she moved to Bruges, not Ghent.", "Mira lives in Ghent.") == []


def test_a_correction_needs_something_to_correct():
    assert kinds("No, the deploy is on Friday, not on Thursday.") == []
    assert kinds("No, the deploy is on Friday, not on Thursday.", "Lunch is at noon.") == []
    [found] = stated_in(
        [
            Message("assistant", "Sure. The deploy is on Thursday."),
            Message("user", "It's on Friday, not on Thursday."),
        ]
    )
    assert (found.wrong, found.right, found.whole) == ("on Thursday", "on Friday", False)
    assert found.about == "The deploy is on Thursday."
    assert corrected_text(found, found.about) == "The deploy is on Friday."


@pytest.mark.parametrize("text", ["port 8080 and 8080", "port 18080", "port 8080 or 8081", "port"])
def test_nothing_is_corrected_where_it_is_not_clear(text):
    assert corrected_text(Statement("x", "correction", "8080", "8081"), text) == ""


@pytest.mark.parametrize(
    ("known", "said", "right"),
    [
        (
            "The rent is 850 euros a month.",
            "No, it is 870 now, not 850.",
            "The rent is 870 euros a month.",
        ),
        (
            "The blade is 343 cm long.",
            "No, the blade is 348 cm long, not 343.",
            "The blade is 348 cm long.",
        ),
        (
            "The blade is 343 cm long.",
            "No, it's 348 cm, not 343 cm.",
            "The blade is 348 cm long.",
        ),
        (
            "Our lessons are on Tuesdays at 17:15.",
            "No, our lessons are on Tuesdays at 17:45, not 17:15.",
            "Our lessons are on Tuesdays at 17:45.",
        ),
        ("The gym closes at 22:00.", "No, it closes at 21:00, not 22:00.", "The gym closes at 21:00."),
        ("Mira lives in Ghent.", "She lives in Bruges, not Ghent.", "Mira lives in Bruges."),
        ("Hosting kostet 38 Euro.", "Nein, es kostet 48 Euro, nicht 38.", "Hosting kostet 48 Euro."),
        ("The meeting is on Thursday at 10:00.", "No, the meeting is on Friday at 11:00, not Thursday.", ""),
        ("The rent is 1,450 francs.", "No, the rent is 1,520, not 1,450.", "The rent is 1,520 francs."),
        ("The version is 4.1.0.", "No, the version is 4.1.1, not 4.1.0.", "The version is 4.1.1."),
        ("The dentist is Dr. Amsler.", "No, the dentist is Dr. Keller, not Dr. Amsler.", "The dentist is Dr. Keller."),
        ("Die Miete ist 1.450 Euro.", "Nein, die Miete ist 1.520 Euro, nicht 1.450.", "Die Miete ist 1.520 Euro."),
    ],
)  # fmt: skip
def test_what_is_put_right_says_no_word_twice(known, said, right):
    [found] = stated_in([Message("assistant", known), Message("user", said)])
    assert found.kind == "correction"
    assert corrected_text(found, known) == right


def test_letters_that_fold_to_two_move_nothing():
    assert kinds("Übrigens, ich heiße Ada Strauß.") == [("fact", "Ich heiße Ada Strauß.")]
    before = "Die Straße vor dem Haus heißt Uferweg."
    said = "Nein, die Straße heißt Großring, nicht Uferweg."
    [found] = stated_in([Message("assistant", before), Message("user", said)])
    assert (found.text, found.wrong, found.right) == (
        "Die Straße heißt Großring, nicht Uferweg.",
        "Uferweg",
        "Großring",
    )


def test_sentences():
    assert sentences("See Dr. Brown at 9.30. Then go!\n- a point\n# Title\nWhat? 好。是。") == [
        "See Dr. Brown at 9.30.", "Then go!", "a point", "Title", "What?", "好。", "是。",
    ]  # fmt: skip


def test_every_language_has_all_cues():
    assert available() == ("de", "en", "es", "fr", "ja", "ko", "tr", "zh")
    first, *others = load_cues(available())
    assert all(set(cues.patterns) == set(first.patterns) for cues in others)
    for cues in (first, *others):
        for name in cues.patterns:
            assert cues.find(name, "x") is None, (cues.language, name)


@pytest.mark.parametrize(
    ("message", "found"),
    [
        ("Wir fliegen am 3. Juni. Das passt.", ["Wir fliegen am 3. Juni.", "Das passt."]),
        ("I met Dr. Novak at 3 p.m. on Friday.", ["I met Dr. Novak at 3 p.m. on Friday."]),
        ("I use Vim, etc. My shell is fish.", ["I use Vim, etc.", "My shell is fish."]),
        ("i am a bookkeeper. do i get a day?", ["i am a bookkeeper.", "do i get a day?"]),
        ("what a day! i go home", ["what a day!", "i go home"]),
        ("It takes approx. five days, incl. the way.", None),
        ('He said "no." Then he left.', ['He said "no."', "Then he left."]),
    ],
)
def test_a_message_is_cut_where_its_sentences_end(message, found):
    assert sentences(message) == (found or [message])


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("对了，我对花生过敏。", "我对花生过敏。"),
        ("我在杭州一家医院工作。", "我在杭州一家医院工作。"),
        ("以后都用中文回答我。", "以后都用中文回答我。"),
        ("我今天很累。", None),
        ("我喜欢这个。", None),
        ("我叫你快点。", None),
        ("老师说我们约定明天见。", None),
        ("ちなみに、私はピーナッツアレルギーです。", "私はピーナッツアレルギーです。"),
        ("私は京都に住んでいます。", "私は京都に住んでいます。"),
        ("これからは日本語で答えてください。", "これからは日本語で答えてください。"),
        ("その色が好きです。", None),
        ("私はどこに住んでいますか？", None),
        ("彼女はお酒を飲みません。", None),
        ("참고로, 나는 땅콩 알레르기가 있어.", "나는 땅콩 알레르기가 있어."),
        ("저는 대전의 병원에서 일해요.", "저는 대전의 병원에서 일해요."),
        ("앞으로는 한국어로 답해 줘.", "앞으로는 한국어로 답해 줘."),
        ("나는 그 영화를 좋아해.", None),
        ("오늘은 커피를 안 마셔.", None),
        ("그는 서울에 살아.", None),
        ("Bu arada, yer fıstığına alerjim var.", "Yer fıstığına alerjim var."),
        ("Ankara'da oturuyorum.", "Ankara'da oturuyorum."),
        ("Bundan sonra Türkçe cevap ver.", "Bundan sonra Türkçe cevap ver."),
        ("Bugün kahve içmem.", None),
        ("Işıl Ankara'da oturuyor.", None),
        ("Bunu severim.", None),
    ],
)
def test_what_is_stated_in_passing_without_blanks_or_with_the_verb_last(said, kept):
    assert [text for _, text in kinds(said)] == ([kept] if kept else [])


@pytest.mark.parametrize(
    ("before", "said", "wrong", "right"),
    [
        ("牙医预约在星期二。", "不对，牙医预约是星期四，不是星期二。", "星期二", "星期四"),
        ("家賃は8万円です。", "違います、家賃は8万円ではなく9万円です。", "8万円", "9万円"),
        ("치과는 화요일이에요.", "아니, 치과는 화요일이 아니라 목요일이야.", "화요일", "목요일"),
        ("Dişçi salı günü.", "Hayır, dişçi salı değil perşembe.", "salı", "perşembe"),
        ("Kira 14.500 lira.", "Hayır, kira 14.500 değil 15.000 lira.", "14.500", "15.000 lira"),
    ],
)
def test_what_is_wrong_and_what_is_right_is_told_there_too(before, said, wrong, right):
    (found,) = stated(said, before=before, cues=load_cues(available()))
    assert (found.kind, found.wrong, found.right) == ("correction", wrong, right)


@pytest.mark.parametrize(
    ("message", "kept"),
    [
        ("My daughter has piano on Tuesdays. Please keep that in mind.",
         "My daughter has piano on Tuesdays."),
        ("Our gardener comes twice a month, please remember that.",
         "Our gardener comes twice a month."),
        ("Please remember: our gardener comes twice a month.",
         "Our gardener comes twice a month."),
        ("Unser Gärtner kommt zweimal im Monat. Bitte merk dir das.",
         "Unser Gärtner kommt zweimal im Monat."),
        ("Notre jardinier vient deux fois par mois. Retiens bien cela s'il te plaît.",
         "Notre jardinier vient deux fois par mois."),
        ("Nuestro jardinero viene dos veces al mes. Por favor, recuérdalo.",
         "Nuestro jardinero viene dos veces al mes."),
        ("孩子周二上钢琴课。请帮我记住这件事。", "孩子周二上钢琴课。"),
        ("娘は火曜にピアノを習っている。覚えておいてね。", "娘は火曜にピアノを習っている。"),
        ("覚えておいてください、娘は火曜にピアノを習っている。", "娘は火曜にピアノを習っている。"),
        ("딸은 화요일에 피아노를 배운다. 기억해 줘.", "딸은 화요일에 피아노를 배운다."),
        ("Kızım salı günleri piyano çalışıyor. Bunu unutma lütfen.",
         "Kızım salı günleri piyano çalışıyor."),
        ("Our gardener comes twice a month. Remember that.", "Our gardener comes twice a month."),
        ("What time is it? Please keep that in mind.", None),
        ("Our cellar floods in spring. I don't remember that.", None),
        ("Unser Keller steht oft unter Wasser. Ich denke daran.", None),
        ("地下室春天会进水。我没记住这件事。", None),
        ("Is the gardener coming on Monday? Please remember this.", None),
        ("Thanks! Please keep that in mind.", None),
    ],
)  # fmt: skip
def test_a_request_to_remember_keeps_what_it_is_about_and_not_itself(message, kept):
    found = stated(message, cues=load_cues(available()))
    assert [statement.text for statement in found] == ([kept] if kept else [])


def test_what_a_person_wants_remembered_is_kept_once():
    said = "I prefer tabs over spaces. Please remember that. Keep that in mind."
    found = stated(said, cues=load_cues(available()))
    assert [statement.text for statement in found] == ["I prefer tabs over spaces."]


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ("I can't eat gluten.", "preference"),
        ("I dont drink coffee.", "preference"),
        ("I never fly.", "preference"),
        ("I take my coffee black.", "preference"),
        ("Answer in bullet points from now on.", "preference"),
        ("I go by Lex.", "preference"),
        ("I am 43 years old.", "fact"),
        ("I'm married.", "fact"),
        ("My pronouns are they/them.", "fact"),
        ("I work from home on Fridays.", "fact"),
        ("We have two kids, Ada and Ben.", "fact"),
        ("I quit smoking.", "fact"),
        ("I'm no longer at Acme.", "fact"),
        ("My mother lives with us.", "fact"),
        ("I can't eat this.", None),
        ("I'm no longer in the mood.", None),
        ("We have two problems.", None),
        ("I stopped reading after the first page.", None),
    ],
)
def test_what_people_say_of_themselves_in_few_words(said, kind):
    assert [s.kind for s in stated(said, cues=load_cues(("en",)))] == ([kind] if kind else [])


@pytest.mark.parametrize(
    "said",
    [
        "Czy nie lubisz kawy",
        "Czy nie lubisz kawy? 🙂",
        "Nie wolisz herbaty? :)",
        "Nie wolisz herbaty niż kawy",
        "To nie działa w przeglądarce.",
        "Nie mogę zasnąć od tygodnia.",
        "Nunca percebi quem é que começa.",
        "I prefer tea? :)",
        "Trinke ich nie Kaffee? 😉",
    ],
)
def test_a_question_and_another_language_state_nothing(said):
    assert kinds(said) == []


def test_what_is_asked_to_be_remembered_is_the_sentence_right_before_it():
    assert kinds("I live in Cork. To nie działa w przeglądarce. Please remember that.") == [
        ("fact", "I live in Cork."),
        ("fact", "To nie działa w przeglądarce."),
    ]
