"""The detector with a hand-made model: shape, cues, familiarity, own phrases."""

from __future__ import annotations

import time
from typing import Any

import pytest

from palace.ports import GLOBAL, Scope
from palace.recall.detector import CueDetector
from palace.recall.lexicon import load_lexicons
from palace.recall.logistic import LogisticModel, load_model
from palace.recall.query import Analyst
from palace.types.query import Query, RecallKind, RecallSignal
from palace.types.session import Message, Turn
from tests.doubles import FixedVocabulary, bar_model, indexed, memory

LEXICONS = load_lexicons(
    ("en", "de", "fr", "es", "pt", "zh", "ja", "ru", "it", "nl", "ko", "pl", "sv", "tr")
)
MODEL = bar_model({"personal_question": 3.0, "task": -4.0, "known_name": 3.0}, bias=-1.0)
PALACE = FixedVocabulary("Mira bought the blue kettle", "the lamp", names=["mira"])


def detector(model: LogisticModel = MODEL, **options: Any) -> CueDetector:
    vocabulary = options.pop("vocabulary", PALACE)
    analyse = Analyst(LEXICONS, vocabulary).analyse
    return CueDetector(LEXICONS, vocabulary, analyse=analyse, model=model, **options)


def detected(prompt: str, *history: Message, **options: Any) -> RecallSignal:
    vocabulary = options.get("vocabulary", PALACE)
    turn = Turn(prompt, history=history)
    query = Analyst(LEXICONS, vocabulary).analyse(turn)
    return detector(**options).detect(turn, query)


def features(
    prompt: str, *history: Message, vocabulary: FixedVocabulary = PALACE
) -> dict[str, float]:
    turn = Turn(prompt, history=history)
    query = Analyst(LEXICONS, vocabulary).analyse(turn)
    return detector(vocabulary=vocabulary).features(turn, query)


# -- bands --------------------------------------------------------------------------------------


def test_bands_follow_the_score() -> None:
    recall = detected("What did we decide about the lamp?")
    assert (recall.band, recall.kind) == ("recall", "fact")
    assert recall.score > 0.7
    other = detected("Write a poem about rain")
    assert (other.band, other.kind) == ("other", "none")
    assert other.score < 0.3


def test_unsure_keeps_its_kind_so_that_the_evidence_can_decide() -> None:
    unsure = detected("status of the lamp", model=bar_model({}))
    assert (unsure.band, unsure.kind, unsure.score) == ("unsure", "status", 0.5)


def test_an_unsure_question_about_what_is_ours_leans_to_recall() -> None:
    model = bar_model({}, leaning=0.9)
    assert detected("In which league is our lamp?", model=model).leaning
    for other in ("In which league is the lamp?", "our lamp", "In which league is our stove?"):
        assert not detected(other, model=model).leaning


def test_an_unsure_prompt_leans_to_recall_from_a_bar_of_its_own_on() -> None:
    for leaning, leans in ((0.5, True), (0.51, False)):
        signal = detected("the lamp", model=bar_model({}, leaning=leaning))
        assert (signal.band, signal.leaning) == ("unsure", leans)
    assert not detected("What did we decide about the lamp?").leaning
    assert not detected("Write a poem about rain").leaning


def test_given_bars_win_over_fitted_ones() -> None:
    model = bar_model({})
    assert detected("the lamp", model=model, recall_at=0.4).band == "recall"
    assert detected("the lamp", model=model, other_below=0.6).band == "other"
    assert detected("the lamp", model=model, recall_at=0.5).band == "recall"
    assert detected("the lamp", model=model, recall_at=0.0, other_below=0.0).band == "recall"


def test_what_it_would_have_been_is_the_runner_up_of_other() -> None:
    other = detected("write about our status", model=bar_model({}, bias=-9.0))
    assert (other.kind, other.runner_up) == ("none", "status")


def test_cues_are_strongest_first_and_few() -> None:
    signal = detected("What did Mira and we decide last time about our kettle?")
    assert signal.cues[0] in {"personal_question", "known_name"}
    assert len(signal.cues) <= 8


# -- kinds --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("prompt", "kind"),
    [
        ("When did we buy the kettle?", "fact"),
        ("What is the status of our lamp order?", "status"),
        ("What did we talk about last week?", "history"),
        ("What is my favourite tea?", "preference"),
        ("How do we roll back?", "procedure"),
        ("Who are you?", "identity"),
        ("Which memories did you use?", "meta"),
        ("What do you know about me?", "fact"),
        ("Was weißt du über mich?", "fact"),
        ("What did we decide?", "fact"),
        ("Wer bist du?", "identity"),
        ("Wie ist der Status von unserer Lampe?", "status"),
    ],
)
def test_kinds(prompt: str, kind: RecallKind) -> None:
    assert detected(prompt, recall_at=0.0).kind == kind


def test_a_day_is_no_status() -> None:
    signal = detected("When did our order status change?", recall_at=0.0)
    assert (signal.kind, signal.runner_up) == ("fact", "status")


NEVER = bar_model({}, bias=-9.0)


@pytest.mark.parametrize("prompt", ["Who are you?", "Which memories did you use?"])
def test_who_asks_the_memory_itself_is_not_weighed(prompt: str) -> None:
    signal = detected(prompt, model=NEVER)
    assert (signal.band, signal.score) == ("recall", 0.99)
    assert detected(f"Write an essay. {prompt} " + "x " * 61, model=NEVER).band == "other"


def test_who_wants_to_be_reminded_is_recall_where_the_weights_do_not_deny_it() -> None:
    for bias in (0.0, -1.4):
        signal = detected("Remind me what we bought", model=bar_model({}, bias=bias))
        assert (signal.band, signal.score) == ("recall", 0.99)
    for asked in ("Do you remember that restaurant in Lyon?", "Erinnerst du dich an Ada?"):
        assert detected(asked, model=NEVER).band == "recall"
    later = detected("Remind me on Monday to water the fern.", model=bar_model({}, bias=-1.4))
    assert later.band == "other"
    for told in ("I forgot to salt the dough, is it lost?", "Why do we forget dreams?"):
        assert detected(told, model=NEVER).band == "other"


@pytest.mark.parametrize(
    ("prompt", "band"),
    [
        ("Ruth dropped the jug. Why did Ruth cry?", "unsure"),
        ("Paul a vendu sa moto. Pourquoi Paul pleure-t-il ?", "unsure"),
        ("Mira dropped the jug. Why did Mira cry?", "recall"),
        ("Ruth dropped my jug. Why did Ruth cry?", "recall"),
        ("It is late. Why did Ruth cry?", "recall"),
        ("Someone prepares a new budget in June.\n\nQuestion: Who prepares the budget?", "unsure"),
        ("Someone prepares a new budget in June.\n\nQuestion: Who prepares the tax?", "recall"),
        ("Why did Ruth cry? Did Ruth drop the jug?", "recall"),
    ],
)
def test_a_story_about_a_stranger_leaves_it_to_the_evidence(prompt: str, band: str) -> None:
    assert detected(prompt, model=bar_model({}, bias=3.0)).band == band


@pytest.mark.parametrize(
    ("prompt", "band"),
    [("What does the issue say?", "unsure"), ("Translate the issue", "other"),
     ("the issue " * 31, "other"), ("Show me the issue", "unsure"), ("Show todo.txt", "unsure"),
     ("Zeig mir die letzten Zeilen von site.log", "unsure"), ("Montre le ticket", "unsure"),
     ("Muéstrame las últimas líneas de site.log", "unsure"), ("Give me a poem on the issue", "other"),
     ("Show me the issue and then " + "this and that " * 20, "other"),
     ("Read todo.txt and translate it", "other"), ("Summarise the issue", "other")],
)  # fmt: skip
def test_who_names_an_artifact_may_ask_for_it(prompt: str, band: str) -> None:
    assert detected(prompt, model=NEVER, names_artifact=lambda _turn: True).band == band
    assert detected(prompt, model=NEVER).band == "other"


@pytest.mark.parametrize(
    "prompt",
    [
        "Who are you?", "who am i", "Hey, who are you really?", "What are your rules?", "what are you",
        "Please introduce yourself.", "What is your name?", "Who am I talking to?", "Who are you and what can you do for me?",
        "Hi Ann, who are you?", "Ann, who are you?",
        "Wer bist du?", "Was sind deine Regeln?", "wie heißt du", "Qui es-tu ?", "Quelles sont tes règles ?",
        "¿Quién eres?", "Quem é você?", "Chi sei?", "Wie ben jij?", "Кто ты?", "你是谁?", "あなたは誰ですか?", "넌 누구야?",
    ],
)  # fmt: skip
def test_who_asks_for_the_assistant_or_for_himself(prompt: str) -> None:
    assert features(prompt)["identity"] == 1.0


@pytest.mark.parametrize(
    "prompt",
    [
        "who am i supposed to call about the roof", "what are you paying for rent", "what is your name for the dog",
        "What are your rules for refunds?", "Who are you meeting on Friday?", "wer bin ich im Spiel gewesen",
        "Wer sind Sie in der Firma für Rechnungen?", "chez qui suis-je assuré", "à qui suis-je redevable de 50 euros",
        "¿de quién eres cliente?", "Quem sou eu no contrato da garagem?", "Chi sono io nel contratto?",
        "Wie ben ik nog geld schuldig?", "Кто я в договоре аренды?",
    ],
)  # fmt: skip
def test_who_asks_for_more_than_that_asks_the_notes(prompt: str) -> None:
    assert features(prompt)["identity"] == 0.0


@pytest.mark.parametrize(
    "prompt",
    [
        "어머니 이름이 뭐였지?", "네 어머니는 누구야?", "あなたの特技は何ですか？", "내가 누구한테 열쇠를 줬지?", "강아지 이름이 뭐니", "자기소개 잘하는 법",
        "家康の主君は誰ですか？", "将棋にはどんなルールがありますか？", "自己紹介のコツは？",
        "自我介绍怎么说？", "我是谁这本书是谁写的？", "你的名字是哪年上映的？", "你会做什么汤？",
    ],
)  # fmt: skip
def test_who_asks_for_others_in_dense_script_does_not_ask_for_the_assistant(prompt: str) -> None:
    assert features(prompt)["identity"] == 0.0


@pytest.mark.parametrize(
    "prompt",
    [
        "How do you know that?", "How do you know where I live?", "how do you know i like tea", "What do you know about us?",
        "What do you know about us so far?",
        "Woher weißt du das?", "Woher weißt du, wie ich heiße?", "Worauf stützt sich das?", "Comment le sais-tu ?",
        "Comment sais-tu où j'habite ?", "¿Cómo sabes dónde vivo?", "Come fai a sapere dove abito?",
        "Hoe weet je dat ik in Gent woon?", "Hur vet du var jag bor?", "Como você sabe disso?", "Skąd wiesz o tym?",
        "Откуда ты это знаешь?", "Какие записи ты использовал?", "Bunu nereden biliyorsun?",
        "你怎么知道我住哪里？", "你为什么这么说？", "それはどこで知ったの？", "어떻게 알았어?", "어떤 기록을 보고 답했어?",
    ],
)  # fmt: skip
def test_who_asks_where_an_answer_is_from(prompt: str) -> None:
    assert features(prompt)["meta"] == 1.0


@pytest.mark.parametrize(
    "prompt",
    [
        "How do you know if a plum is ripe?", "how do you know which tyre to buy", "How do you know a stone is real?",
        "What do you know about US law?", "what do you know about us elections",
        "Woher weißt du, ob ein Brot gar ist?", "Worauf basiert die Quantenphysik?", "Welche Quellen haben Vitamin B?",
        "Comment sais-tu si un œuf est cuit ?", "¿Cómo sabes si una piña está madura?", "¿Qué fuentes tienes que citar?",
        "Come fai a sapere se un fungo è buono?", "Da dove viene questa usanza?", "Hoe weet je dat een ei gaar is?",
        "Hur vet du om ett ägg är kokt?", "De onde tirou Verne a ideia?", "Na czym to polega?",
        "Откуда это слово?", "Какие данные нужны для паспорта?", "На чём основан этот метод?",
        "Bu teori neye dayanır?", "办护照需要什么资料？", "为什么说光有质量？", "你怎么知道米饭熟了没有？",
        "登記にはどんな資料が必要ですか？", "どうやって見つければいいですか？", "なぜそれは違法なのですか？",
        "신청에 어떤 자료가 필요해요?", "김치가 익었는지 어떻게 알아?", "그 영화 어디서 봤어?",
    ],
)  # fmt: skip
def test_who_asks_how_anybody_knows_does_not_ask_for_our_notes(prompt: str) -> None:
    assert features(prompt)["meta"] == 0.0


@pytest.mark.parametrize(
    ("prompt", "is_status"),
    [
        ("Sum up the novel for my upcoming exam.", 0.0),
        ("Plan a dinner for our wedding day next month", 0.0),
        ("What is next for the lamp?", 1.0),
        ("When is my upcoming exam?", 1.0),
    ],
)
def test_what_something_is_for_is_no_status(prompt: str, is_status: float) -> None:
    assert features(prompt)["status"] == is_status


@pytest.mark.parametrize(
    ("prompt", "is_task"),
    [("Could you share a recipe for plum jam?", 1.0), ("Could you share the door code?", 0.0)],
)
def test_who_wants_any_of_a_kind_shared_sets_a_task(prompt: str, is_task: float) -> None:
    assert features(prompt)["task_inside"] == is_task


# -- familiarity --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "prompt",
    [
        "If I was born in 1962, how old am I?",
        "How do you say 'where do I live' in Dutch?",
        "Questa è la città dove abito.",
        "Es el barrio donde vivo.",
        "C'est la rue où j'habite.",
        "Делаю то, что я люблю.",
        "Wenn ich 1962 geboren bin, wie alt bin ich?",
        "如果我1962年出生，我今年多大？",
        "Come si dice in inglese: come si chiama il mio gatto?",
    ],
)
def test_a_riddle_and_a_statement_ask_for_nothing_of_oneself(prompt: str) -> None:
    assert not features(prompt)["about_me"]


def test_a_name_the_palace_knows() -> None:
    known = features("when did Mira call")
    assert (known["known_name"], known["unknown_name"], known["any_name"]) == (1.0, 0.0, 1.0)
    unknown = features("when did Zora call")
    assert (unknown["known_name"], unknown["unknown_name"], unknown["any_name"]) == (0.0, 1.0, 1.0)


def test_a_name_in_a_task_is_not_free() -> None:
    assert features("write a note about Mira")["known_name_free"] == 0.0
    assert features("when did Mira call")["known_name_free"] == 1.0


def test_how_often_a_name_is_told() -> None:
    once = FixedVocabulary("Turku is far", names=["turku"])
    often = FixedVocabulary(*["Mira called"] * 9, names=["mira"])
    assert features("Who lives in Turku?", vocabulary=once)["name_told"] == 0.25
    assert features("Who is Mira?", vocabulary=often)["name_told"] == 1.0
    assert features("who is that", vocabulary=often)["name_told"] == 0.0
    assert features("Who is Mira?", vocabulary=often)["impersonal_name"] == 1.0
    assert features("Who is our Mira?", vocabulary=often)["impersonal_name"] == 0.0


def test_a_whole_name_is_known_only_where_one_memory_holds_all_of_it() -> None:
    texts = *["Huw Tranter called"] * 2, "Ann Edwards paid"
    vocabulary = FixedVocabulary(*texts, names=["huw", "tranter", "ann", "edwards"])
    own = features("Where was Huw Tranter born?", vocabulary=vocabulary)
    famous = features("Where was Huw Grant born?", vocabulary=vocabulary)
    of_two = features("Where was Huw Edwards born?", vocabulary=vocabulary)
    alone = features("Where was Huw born?", vocabulary=vocabulary)
    assert [(f["whole_name"], f["whole_name_told"]) for f in (own, famous, of_two, alone)] == [
        (1.0, 0.5),
        (0.0, 0.0),
        (0.0, 0.0),
        (0.0, 0.0),
    ]


def test_a_whole_name_may_be_one_that_the_session_noted() -> None:
    noted = detector(noted=lambda _turn: frozenset({"huw", "tranter"}))
    turn = Turn("Where was Huw Tranter born?")
    found = noted.features(turn, Analyst(LEXICONS, PALACE).analyse(turn))
    assert (found["whole_name"], found["whole_name_told"]) == (1.0, 0.0)


def test_a_stranger_beside_a_name_that_is_known() -> None:
    vocabulary = FixedVocabulary("Turku is far", names=["turku"])
    assert features("Did Sibelius live in Turku?", vocabulary=vocabulary)["strange_name_too"] == 1.0
    assert features("Who lives in Turku?", vocabulary=vocabulary)["strange_name_too"] == 0.0
    assert features("Did Sibelius live in Oslo?", vocabulary=vocabulary)["strange_name_too"] == 0.0


def test_three_letters_in_a_row_are_a_name_where_no_blank_ends_one() -> None:
    vocabulary = FixedVocabulary("康以恒住在上海", "康以恒喜欢下棋")
    assert features("康以恒的身高", vocabulary=vocabulary)["run_told"] == 0.5
    assert features("康以诚的身高", vocabulary=vocabulary)["run_told"] == 0.0


def test_what_is_asked_about_beside_names_is_known_or_not() -> None:
    vocabulary = FixedVocabulary("Mira sold the kettle", "the kettle is blue", names=["mira"])
    found = features("Which kettle did Mira paint?", vocabulary=vocabulary)
    assert (found["other_told"], found["others_known"], found["few_others"]) == (0.25, 0.5, 0.0)
    found = features("Who is Mira?", vocabulary=vocabulary)
    assert (found["other_told"], found["others_known"], found["few_others"]) == (0.0, 0.0, 1.0)


def test_how_a_prompt_is_put_may_count_only_where_there_are_memories() -> None:
    only_here = bar_model({"here:where is": 3.0}, bias=-1.0)
    assert detected("where is the kettle", model=only_here).band == "recall"
    empty = detected("where is the kettle", model=only_here, vocabulary=FixedVocabulary())
    assert empty.band != "recall"


class Large(FixedVocabulary):
    """The same words among so many memories."""

    memories = 1000

    def size(self, *, scope: Scope = GLOBAL) -> int:
        return self.memories


def test_what_is_familiar_counts_once_more_by_how_large_the_palace_is() -> None:
    few, some = features("blue kettle"), features("blue kettle", vocabulary=Large("blue kettle"))
    assert not [name for name in few if name.startswith("large_")]
    assert some["large_known_terms"] == pytest.approx(0.5 * some["known_terms"])
    assert some["large_loaded"] == pytest.approx(0.5)


@pytest.mark.parametrize(("memories", "large"), [(100, None), (10_000, 1.0), (1_000_000, 1.0)])
def test_largeness_is_bounded(memories: int, large: float | None) -> None:
    vocabulary = Large("blue kettle")
    vocabulary.memories = memories
    assert features("blue kettle", vocabulary=vocabulary).get("large_loaded") == large


@pytest.mark.parametrize(
    "prompt",
    [
        "Which instrument did Paul Klee play?",
        "Which bank holidays are there in England in May?",
        "How hot does a kiln have to be for stoneware?",
    ],
)
def test_that_a_palace_of_thousands_knows_the_words_of_a_question_says_less(prompt: str) -> None:
    told = (
        "Paul tuned it",
        "Mr Klee called",
        "the bank holiday in England",
        "the kiln for stoneware",
    )
    model = load_model("detector")
    small = FixedVocabulary(*told, names=["paul", "klee", "england"])
    large = Large(*told, names=["paul", "klee", "england"])
    large.memories = 5000
    scores = [detected(prompt, model=model, vocabulary=palace).score for palace in (small, large)]
    assert scores[1] < scores[0]


def test_known_terms_are_a_share() -> None:
    assert features("blue kettle")["known_terms"] == 1.0
    assert features("blue kettle")["all_known"] == 1.0
    assert 0 < features("blue zeppelin")["known_terms"] < 1
    assert features("zeppelin")["known_terms"] == 0.0


def test_an_empty_palace_knows_nothing_and_nobody_is_a_stranger_in_it() -> None:
    found = features("did Mira buy the blue kettle?", vocabulary=FixedVocabulary())
    assert [found[n] for n in ("loaded", "known_name", "unknown_name", "known_terms")] == [0.0] * 4


def test_what_another_project_tells_is_not_familiar() -> None:
    index = indexed(memory("Zora Quill flew the zeppelin", scope="project:garden"))
    analyse = Analyst(LEXICONS, index).analyse
    for project, known in (("garden", 1.0), ("other", 0.0), (None, 0.0)):
        turn = Turn("when did Zora fly the zeppelin", project=project)
        found = detector(vocabulary=index).features(turn, analyse(turn))
        assert [found[n] for n in ("loaded", "known_name", "known_terms")] == [known] * 3


# -- shape --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("prompt", "cue", "fires"),
    [
        ("until when can we cancel", "question", True),
        ("on which days do I work", "question", True),
        ("with whom did we speak", "question", True),
        ("in the evening we met", "question", False),
        ("Which client thanks me in wine?", "chat", False),
        ("thanks!", "chat", True),
        ("do I have to bring anything", "task", False),
        ("name of our plumber", "task", False),
        ("name three plumbers", "task", True),
        ("do a short summary", "task", True),
        ("what's Mira's sister's name", "quoted_title", False),
        ("who wrote 'the lamp'", "quoted_title", True),
        ('who wrote "Mira\'s lamp"', "quoted_title", True),
        ("we proceed with the lamp", "past_we", False),
        ("we agreed on the lamp", "past_we", True),
        ("what is the next step", "status", True),
        ("the twins next door", "status", False),
        ("the lamp next to the door", "status", False),
        ("the decision on the lamp", "decision", True),
        ("oh my god the lamp", "possessive_my", False),
        ("what would you have advised her", "told", False),
        ("what have you advised her", "told", True),
        ("what ought I to do", "ask_i", True),
        ("do you remember everything I tell you", "ask_memory", False),
        ("do you remember what I told you", "ask_memory", True),
    ],
)
def test_what_an_english_prompt_looks_like(prompt: str, cue: str, *, fires: bool) -> None:
    assert features(prompt)[cue] == float(fires)


@pytest.mark.parametrize(
    "prompt",
    ['{"status": "what did we decide?"}', "<note>what did we decide?</note>", "", "  ",
     "[notification] what did we decide?", "what did we decide? <memory-context>", "ERROR: what did we decide"],
)  # fmt: skip
def test_machine_prompts_are_never_recall(prompt: str) -> None:
    signal = detected(prompt, recall_at=0.0, own_cues=[("what did we decide", "fact")])
    assert (signal.band, signal.kind, signal.score) == ("other", "none", 0.0)
    assert signal.cues[0].startswith("machine:")


def test_what_nobody_sees_hides_no_machine() -> None:
    assert detected('\ufeff\0{"status": "ok"}').cues == ("machine:json",)
    assert detected("\ufeff\u200b").cues == ("machine:empty",)


@pytest.mark.parametrize(
    ("prompt", "told"),
    [
        ("the lamp", {"short": 1.0, "few_terms": 1.0, "lines": 0.0, "long": 2 / 60}),
        ("the blue lamp of Mira", {"short": 0.0, "few_terms": 0.0}),
        ("the\nlamp", {"lines": 1.0}),
        ("x " * 60, {"long": 1.0, "very_long": 0.0}),
        ("x " * 61, {"long": 1.0, "very_long": 1.0}),
        ('read this: "the lamp"', {"colon_payload": 1.0}),
        ("read this: the lamp", {"colon_payload": 0.0}),
        ("read this: " + "the lamp " * 12, {"colon_payload": 1.0}),
        ('read "the lamp"', {"colon_payload": 0.0}),
        ("When was the lamp bought?", {"typed_question": 1.0}),
        ("Was the lamp bought?", {"typed_question": 0.0}),
    ],
)
def test_the_shape_of_a_prompt(prompt: str, told: dict[str, float]) -> None:
    found = features(prompt)
    assert {name: found[name] for name in told} == told


@pytest.mark.parametrize(
    ("prompt", "told"),
    [
        ("What did we buy?", {"personal_question": 1.0, "personal_past": 1.0, "personal_task": 0.0,
                              "impersonal_question": 0.0, "personal_long": 4 / 60}),
        ("What is a kettle?", {"personal": 0.0, "personal_question": 0.0, "personal_past": 0.0,
                               "impersonal_question": 1.0}),
        ("Write what we bought", {"personal": 1.0, "personal_task": 1.0, "personal_question": 0.0}),
    ],
)  # fmt: skip
def test_what_means_more_than_its_parts(prompt: str, told: dict[str, float]) -> None:
    found = features(prompt)
    assert {name: found[name] for name in told} == told


def test_every_feature_is_bounded() -> None:
    for prompt in (
        "What did we do?",
        "x " * 500,
        "def f():\n  return 1;\n",
        "🙂",
        '"a" ' * 40 + ": b",
    ):
        assert all(0.0 <= v <= 1.0 for v in features(prompt).values()), prompt


def test_follow_ups_are_seen() -> None:
    assert features("and when was that?", Message("user", "the kettle"))["follow_up"] == 1.0
    assert features("and when was that?")["follow_up"] == 0.0


REMEMBERED = (Message("user", "Where did I put the lamp?"), Message("assistant", "In the hall."))
ELSEWHERE = (Message("user", "Write a poem about rain"), Message("assistant", "Drip, drip."))


@pytest.mark.parametrize(
    "prompt", ["In which corner?", "Which corner?", "Why?", "In welcher Ecke?"]
)
def test_a_bare_question_goes_on_with_one_that_was_recall(prompt: str) -> None:
    alone, after = detected(prompt), detected(prompt, *REMEMBERED)
    assert (alone.band, after.band, after.leaning) == ("other", "unsure", True)
    assert after.cues[0] == "leans_on_recall"
    again = detected("How far?", *REMEMBERED, Message("user", prompt), Message("assistant", "1 m."))
    assert again.leaning
    assert detected(prompt, *ELSEWHERE).cues[:1] != ("leans_on_recall",)


@pytest.mark.parametrize("prompt", ["And Mira?", "What about Mira?", "Und Mira?"])
def test_the_same_asked_of_somebody_known_is_recall_too(prompt: str) -> None:
    shipped = load_model("detector")
    assert detected(prompt, *REMEMBERED, model=shipped).band == "recall"
    thanked = (*REMEMBERED, Message("user", "Thanks!"), Message("assistant", "Any time."))
    assert detected(prompt, *thanked, model=shipped).band == "recall"
    stranger = detected(prompt.replace("Mira", "Gandhi"), *REMEMBERED, model=shipped)
    assert (stranger.band, stranger.leaning) == ("unsure", True)


@pytest.mark.parametrize(
    ("prompt", "band"), [("When?", "recall"), ("Und wann?", "recall"), ("Why?", "unsure")]
)
def test_a_bare_question_for_a_detail_is_recall_as_the_one_before(prompt: str, band: str) -> None:
    shipped = load_model("detector")
    assert detected(prompt, *REMEMBERED, model=shipped).band == band
    assert detected(prompt, *ELSEWHERE, model=shipped).band != "recall"


def test_a_question_is_followed_back_a_few_turns_alone() -> None:
    whys = (Message("user", "Why?"), Message("assistant", "Because of it.")) * 400
    assert "leans_on_recall" not in detected("Why?", *REMEMBERED, *whys).cues


@pytest.mark.parametrize("prompt", ["Is it safe?", "Thanks!", "Make it shorter.", "And the lamps"])
def test_what_asks_nothing_bare_does_not_go_on(prompt: str) -> None:
    assert "leans_on_recall" not in detected(prompt, *REMEMBERED).cues


# What takes terms over from the turn before, and "my" questions, are recall; "rain" is not.
EAGER = bar_model({"follow_up": 9.0, "personal_question": 9.0}, bias=-5.0)


@pytest.mark.parametrize(
    ("prompt", "band"),
    [("Another one, please.", "other"), ("Again", "other"), ("Something else.", "other"),
     ("Snow", "other"), ("When?", "unsure"), ("And where was it?", "unsure")],
)  # fmt: skip
def test_who_goes_on_with_no_recall_asks_for_none(prompt: str, band: str) -> None:
    signal = detected(prompt, *ELSEWHERE, model=EAGER)
    assert (signal.band, signal.cues[0]) == (band, "goes_on")
    assert detected(prompt, *REMEMBERED, model=EAGER).band == "recall"
    then = (*ELSEWHERE, Message("user", prompt), Message("assistant", "Snow falls."))
    assert detected("One more.", *then, model=EAGER).band == "other"


@pytest.mark.parametrize(
    "prompt",
    ["my last one", "And Ann?", "lamp?", "the attic key?", "I told you once", "who are you"],
)
def test_who_says_more_does_not_only_go_on(prompt: str) -> None:
    assert "goes_on" not in detected(prompt, *ELSEWHERE, model=EAGER).cues


def test_an_own_phrase_does_not_only_go_on() -> None:
    own = [("another", "fact")]
    assert detected("Another one", *ELSEWHERE, model=EAGER, own_cues=own).band == "recall"


# -- own cues -----------------------------------------------------------------------------------


def test_a_persons_own_phrase_makes_recall() -> None:
    signal = detected(
        "Hey, CHECK  the vault. Was gibt’s im Café?", own_cues=[("im café", "preference")]
    )
    assert (signal.band, signal.kind) == ("recall", "preference")
    assert signal.score >= 0.99
    assert signal.cues[0] == "own:im cafe"


@pytest.mark.parametrize("phrase", ["what’s the usual", "what's  the usual", "«what's the usual»"])
def test_an_own_phrase_is_read_as_prompts_are(phrase: str) -> None:
    for prompt in (phrase, phrase.replace("’", "'"), f"Sing: {phrase}!"):
        assert detected(prompt, own_cues=[(phrase, "fact")]).cues[0].startswith("own:")


def test_an_own_phrase_is_literal() -> None:
    assert detected("write a.b", own_cues=[("a+b", "fact")]).band == "other"
    assert detected("write a+b", own_cues=[("a+b", "fact")]).band == "recall"


# -- any text -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "prompt",
    ["\x00", "\ud800", "🙂", "?" * 5000, "did we " * 5000, "a" * 100_000, "'" * 3000, "\n\n?"],
)
def test_any_text_gives_a_signal_quickly(prompt: str) -> None:
    started = time.process_time()
    signal = detected(prompt)
    assert 0.0 <= signal.score <= 1.0
    assert time.process_time() - started < 5


# -- a question on its own ------------------------------------------------------------------------

# Short questions are recall, and long prompts or those of several lines are not.
SHORT_ONES = bar_model({"personal_question": 8.0, "long": -40.0, "lines": -9.0})


@pytest.mark.parametrize(
    "prompt",
    [
        "I am filling in a long form. Where did we put the lamp?",
        "Where did we put the lamp? Say so if you do not know.",
        "Where did we put the lamp? Reply in one short line, please.",
        "### Input\nWhere did we put the lamp\n### Output",
        "Wir fahren gleich los nach Oslo. Wo haben wir die Lampe hingestellt?",
    ],
)
def test_a_question_counts_whatever_is_said_around_it(prompt: str) -> None:
    signal = detected(prompt, model=SHORT_ONES)
    assert (signal.band, signal.cues[0]) == ("recall", "asked_apart")


@pytest.mark.parametrize(
    "prompt",
    [
        "The old lamp fell off the shelf. Where did we put the lamp?",
        "There were 14 lamps on the shelf. Where did we put them?",
        "I am filling in a long form. We put the lamp into the shed.",
        "Translate the next line into French, please:\nWhere did we put the lamp?",
        "Translate this into French.\nWhere did we put the lamp?",
    ],
)
def test_a_question_that_the_rest_belongs_to_does_not_count_alone(prompt: str) -> None:
    assert "asked_apart" not in detected(prompt, model=SHORT_ONES).cues


def test_the_more_is_told_beside_a_question_the_less_it_counts_alone() -> None:
    def score(told: str) -> float:
        return detected(f"{told} Where did we put the lamp?", model=SHORT_ONES).score

    alone = detected("Where did we put the lamp?", model=SHORT_ONES).score
    little, more, a_lot = map(
        score,
        (
            "And here it is, as it has so often been, raining again.",
            "And here it is, as it has so often been, raining again, on the roof of the barn.",
            "A client has cancelled two days after signing at her own house, before breakfast.",
        ),
    )
    assert alone == pytest.approx(little)
    assert little > more > a_lot
    assert a_lot < 0.5


@pytest.mark.parametrize(
    ("prompt", "band"),
    [("Is there a documented way to deploy?", "unsure"), ("Is there a way to deploy?", "other"),
     ("Gibt es eine Anleitung zum Backen?", "unsure"), ("Any checklist for the fair?", "unsure")],
)  # fmt: skip
def test_whether_it_is_written_down_the_evidence_decides(prompt: str, band: str) -> None:
    signal = detected(prompt, model=NEVER)
    assert signal.band == band
    assert (signal.kind == "procedure") is (band == "unsure")


def test_a_question_apart_does_not_hide_that_the_prompt_names_an_artifact() -> None:
    prompt = "Somebody named todo.txt again in a long call today. What colour is it at all?"
    model = bar_model({"question": 0.4, "long": -9.0}, bias=-1.5)
    alone = detected("What colour is it at all?", model=model)
    signal = detected(prompt, model=model, names_artifact=lambda turn: "todo.txt" in turn.prompt)
    assert (alone.band, signal.band, signal.cues[0]) == ("other", "unsure", "names_artifact")


@pytest.mark.parametrize("prompt", ["Πού είναι το κλειδί;", "מתי עברה דנה לחיפה?", "أين المفتاح؟"])
def test_where_no_language_can_read_the_letters_the_evidence_decides(prompt: str) -> None:
    signal = detected(prompt, model=bar_model({}, bias=-3.0))
    assert (signal.band, signal.cues[0]) == ("unsure", "unread_script")


@pytest.mark.parametrize(
    "prompt", ["Où est la clé ?", "Где ключ?", "鍵はどこ？", "Explain the letter λ."]
)
def test_letters_that_a_language_can_read_leave_the_decision_to_the_cues(prompt: str) -> None:
    assert detected(prompt, model=bar_model({}, bias=-3.0)).band == "other"


@pytest.mark.parametrize(
    "prompt",
    [
        "Mira loved the blue kettle!",
        "Mira has broken the lamp.",
        "my kettle was really loud this morning",
        "I finally sold the lamp.",
        "The lamp is leaking.",
        "Die Lampe ist kaputt.",
        "Mira hat heute frei.",
        "Mira a perdu son sac.",
        "Mira ha perdido la llave.",
        "Mira ha perso la chiave.",
        "A Mira foi ao cinema.",
        "Mira heeft de lamp verkocht.",
        "Mira har fått en katt.",
        "Mira kupiła lampę.",
        "Мы продали лампу.",
        "Mira sınavı geçti!",
        "我们把灯卖了。",
        "今日、猫が病気になった。",
        "오늘 이사했습니다.",
        "Remind me on Monday to water the fern.",
        "remind us to lock up",
        "Erinnere mich morgen an die Wäsche",
        "Rappelle-moi d'acheter du riz",
        "Recuérdame mañana llamar a Mira",
        "Ricordami domani di chiamare Mira",
        "Lembra-me de ligar à Mira",
        "Herinner me er morgen aan de huur te betalen",
        "напомни завтра полить цветы",
        "Påminn mig om att köpa mjölk",
        "przypomnij mi, żebym kupił ryż",
        "yarın su almayı hatırlat",
        "提醒我明天交房租",
    ],
)
def test_who_only_tells_something_asks_for_no_memory(prompt: str) -> None:
    assert detected(prompt, model=bar_model({}, bias=3.0)).band == "other"


@pytest.mark.parametrize(
    "prompt",
    [
        "Forget the note about the lamp.",
        "please delete my notes on the kettle",
        "forget what I said about Mira",
        "change Mira's number to 5521",
        "Correct the price of the lamp to 40 euros",
        "correct it: Mira has the lamp now",
        "rename Mira to Mirela",
        "undo the last change",
        "Vergiss die Notiz über die Lampe",
        "Ändere die Miete auf 900 Euro",
        "Supprime la note sur la lampe",
        "corrige le prix de la lampe en 40 euros",
        "Borra la nota sobre la lámpara",
        "cambia el precio de la lámpara a 40 euros",
        "Cancella la nota sulla lampada",
        "cambia il prezzo della lampada in 40 euro",
        "Apaga a nota sobre a lâmpada",
        "muda o preço da lâmpada para 40 euros",
        "Verwijder de notitie over de lamp",
        "wijzig de prijs van de lamp naar 40 euro",
        "Ta bort anteckningen om lampan",
        "Usuń notatkę o lampie",
        "Удали заметку о лампе",
        "lambayla ilgili notu sil",
        "ランプのメモを削除してください",
        "램프 메모를 지워 줘",
        "请把关于灯的笔记删掉",
    ],
)
def test_who_wants_a_memory_changed_asks_for_none(prompt: str) -> None:
    assert detected(prompt, model=bar_model({}, bias=3.0)).band == "other"


@pytest.mark.parametrize(
    "prompt",
    [
        "set of keys to the shed",
        "change of address to the lamp shop",
        "correct address to send the lamp to",
        "update me on the kettle",
        "update on the move to the new lamp",
        "fix for the lamp that Mira used to have",
        "change in the notes about the lamp",
        "Did I delete the note about the lamp?",
        "the note about the lamp",
        "andere Notizen über die Lampe",
        "vergeet de notitie niet",
        "ランプのメモ",
        "关于灯的笔记",
    ],
)
def test_what_only_begins_like_a_change_is_none(prompt: str) -> None:
    assert detected(prompt, model=bar_model({}, bias=3.0)).band == "recall"


@pytest.mark.parametrize(
    "prompt",
    [
        "Mira bought a kettle, which one?",
        "the kettle Mira bought",
        "the kettle that was loud",
        "I told you where the lamp is",
        "I need the colour of the kettle",
        "Remind me that Mira has the lamp",
        "Remind me when to water the fern",
        "the lamps Mira had to remind me to buy",
        "上次下午提醒我带的东西",
        "remind me to whom we sold the lamp",
        "remind me at what time to be there",
        "Erinnere mich an die Nummer von Mira",
        "Rappelle-moi de quoi on a parlé",
        "Ricordami di che colore era la lampada",
        "Påminn mig om koden",
        "has Mira sold the lamp",
        "amount paid for the lamp",
        "Die Lampe, die Mira hatte",
        "It's late. Mira's lamp, quick!",
        "le prix et la couleur de la lampe",
        "я заплатил за лампу или нет",
    ],
)
def test_what_asks_or_only_names_something_is_no_statement(prompt: str) -> None:
    assert detected(prompt, model=bar_model({}, bias=3.0)).band == "recall"


@pytest.mark.parametrize(
    ("prompt", "is_own"),
    [
        ("Who prepares the new budget?", False),
        ("What is the invoice number?", False),
        ("Wer hat das genehmigt?", False),
        ("Can you tell me who prepares the new budget?", False),
        ("Hi. I need to know when it ends.", False),
        ("Sag mir bitte, wann das endet", False),
        ("¿Me puedes decir quién prepara el nuevo presupuesto?", False),
        ("¿Puedes decirme cuándo termina?", False),
        ("告诉我合同什么时候结束", False),
        ("Tell me who promised us the new budget.", True),
        ("What did she tell me about the budget?", True),
        ("Can you tell me when I called?", True),
        ("Who prepares our new budget?", True),
        ("When did we sign it?", True),
        ("Wann haben wir das unterschrieben?", True),
        ("Do you remember who signed it?", True),
        ("What did Mira say about it?", True),
        ("Who are you?", True),
    ],
)
def test_whether_only_a_memory_can_answer(prompt: str, is_own: bool) -> None:
    turn = Turn(prompt, beside="Karim prepares the new budget.")
    query = Analyst(LEXICONS, PALACE).analyse(turn)
    assert detector(model=bar_model({}, bias=3.0)).detect(turn, query).own is is_own
    assert detected(prompt).own


@pytest.mark.parametrize(
    ("prompt", "is_own"),
    [
        ("Who are you?", False),
        ("Wer bist du?", False),
        ("你是谁?", False),
        ("What can you do for me?", False),
        ("Que peux-tu faire pour moi ?", False),
        ("Qui suis-je ?", True),
        ("What can you do for me about the lamp we bought?", True),
        ("Who am I?", True),
        ("Wer bin ich?", True),
        ("我是谁?", True),
        ("Who are you and what is my name?", True),
    ],
)
def test_who_the_agent_is_need_not_be_remembered_where_its_program_told_it(
    prompt: str, is_own: bool
) -> None:
    turn = Turn(prompt, instructions="You are Ada.")
    query = Analyst(LEXICONS, PALACE).analyse(turn)
    assert detector(model=bar_model({}, bias=3.0)).detect(turn, query).own is is_own


def test_what_only_says_how_to_answer_asks_nothing_by_itself() -> None:
    sure = bar_model({}, bias=3.0)
    signal = detected("Answer the user query.", model=sure)
    assert (signal.band, signal.kind, signal.cues[0]) == ("other", "none", "only_instructs")
    asked = Message("user", "Who bought the kettle?")
    assert detected("Answer in one word.", asked, model=sure).band == "recall"
    assert detected("Answer the user query. Who bought it?", model=sure).band == "recall"


@pytest.mark.parametrize("between", [(), (Message("assistant", "In 1600, so it is said."),)])
def test_a_question_that_leans_looks_at_each_one_before_it_once(
    between: tuple[Message, ...],
) -> None:
    read: list[str] = []

    def analyse(turn: Turn) -> Query:
        read.append(turn.prompt)
        return Analyst(LEXICONS, PALACE).analyse(turn)

    asked = ("Who wrote Hamlet?", "where?", "why?")
    turn = Turn(
        "when?", history=tuple(m for text in asked for m in (Message("user", text), *between))
    )
    unsure = CueDetector(LEXICONS, PALACE, analyse=analyse, model=bar_model({}, bias=0.0))
    assert unsure.detect(turn, analyse(turn)).band == "unsure"
    assert read == ["when?", *reversed(asked)]
