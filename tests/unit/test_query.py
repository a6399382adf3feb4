"""From a prompt to a query."""

from __future__ import annotations

import time
import unicodedata
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, timezone

import pytest

from palace.enforce.replies import quote_evidence, reply_for_miss, reply_for_near_miss
from palace.ports import GLOBAL, Scope, TermCounts
from palace.recall.content import MAX_TERMS
from palace.recall.lexicon import load_lexicons, matchable
from palace.recall.query import MAX_CARRIED, Analyst
from palace.types.query import AnswerType, Query
from palace.types.session import Message, Turn
from palace.types.verdict import LayerReport
from tests.doubles import FixedVocabulary, evidence

LEXICONS = load_lexicons(
    ("en", "de", "fr", "es", "pt", "zh", "ja", "ru", "it", "nl", "ko", "pl", "sv", "tr")
)
EMPTY = FixedVocabulary()


def analysed(prompt: str, *history: tuple[str, str], vocabulary: FixedVocabulary = EMPTY) -> Query:
    messages = tuple(Message(role, content) for role, content in history)
    analyst, turn = Analyst(LEXICONS, vocabulary), Turn(prompt, "s1", "garden", messages)
    query = analyst.analyse(turn)
    assert analyst.terms(turn) == query.terms
    return query


def test_terms_leave_function_words_out() -> None:
    query = analysed("When did we buy the blue kettle, the kettle in the kitchen?")
    assert query.terms == ("buy", "blue", "kettl", "kitchen")


@pytest.mark.parametrize(
    ("prompt", "terms"),
    [
        (
            "Which valve mustn't be shut, and why won't the boiler start?",
            ("valv", "shut", "boiler", "start"),
        ),
        ("Which bills haven’t we paid?", ("bill", "pay")),
        ("which valve DOESN'T leak", ("valv", "leak")),
        ("why dont we rent the haven we won", ("rent", "haven", "win")),
        ("Was gilt fürs Zelt und vors Haus?", ("gilt", "zelt", "haus")),
        ("Wer hat heuer das Zelt?", ("zelt",)),
        ("Où Jeanne habite-t-elle ?", ("jeann", "habit")),
        ("Combien Paul a-t-il ?", ("paul",)),
        ("Combien l'avance-t-on ?", ("avanc",)),
        ("Où est mon rendez-vous ?", ("rendezv",)),
        ("Quanto paga-se aqui?", ("paga",)),
        ("Who runs the dit-il ?", ("run", "ditil")),
    ],
)
def test_a_function_word_is_one_where_it_is_joined_to_another(
    prompt: str, terms: tuple[str, ...]
) -> None:
    assert analysed(prompt).terms == terms


@pytest.mark.parametrize(
    ("written", "asked", "term"),
    [
        ("Der Schlüssel hängt im Flur", "wer hat fuer uns den Schluessel", "schlussel"),
        ("Der Schluessel haengt im Flur", "wer hat für uns den Schlüssel", "schluessel"),
        ("Die neuen Tarife", "wer hat die neuen", "neuen"),
    ],
)
def test_a_word_is_one_in_both_its_spellings(written: str, asked: str, term: str) -> None:
    assert analysed(asked, vocabulary=FixedVocabulary(written)).terms == (term,)


def test_what_the_palace_writes_with_a_hyphen_is_a_word() -> None:
    asked = "Où est la boîte donne-moi ?"
    assert analysed(asked).terms == ("boit", "donn")
    vocabulary = FixedVocabulary("la boîte donne-moi")
    assert analysed(asked, vocabulary=vocabulary).terms == ("boit", "donn", "moi")


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("Which port does the tunnel use?", "Hi! Which port does the tunnel use? Thanks!"),
        ("Which port does the tunnel use?", "um, btw which port does the tunnel use"),
        ("Which port does the tunnel use?", "iirc we wanted that, which port does the tunnel use"),
        ("Which port does the tunnel use?", "Question: Which port does the tunnel use?\nAnswer:"),
        ("Which port does the tunnel use?", "Quick question: which port does the tunnel use?"),
        ("Which port does the tunnel use?", "Which port does the tunnel use? Answer briefly."),
        ("Which port does the tunnel use?", "which port does the tunnel use\nReply in one line."),
        ("Which port does the tunnel use?", "Answer in JSON: Which port does the tunnel use?"),
        ("Which port does the tunnel use?", "In one word, which port does the tunnel use?"),
        (
            "Which port does the tunnel use?",
            "Please reply only with the number. Which port does the tunnel use?",
        ),
        ("Which port does the tunnel use?", "Briefly: which port does the tunnel use"),
        ("Wo ist der Schlüssel?", "Antworte kurz: Wo ist der Schlüssel?"),
        ("Où est la clé ?", "En un mot : où est la clé ?"),
        ("¿Dónde está la llave?", "En una palabra: ¿dónde está la llave?"),
        ("Onde está a chave?", "Responda em uma palavra: onde está a chave?"),
        ("Dov'è la chiave?", "In una parola: dov'è la chiave?"),
        ("Waar is de sleutel?", "In één woord: waar is de sleutel?"),
        ("Wo ist der Schlüssel?", "Hallo! Wo ist der Schlüssel? Danke!"),
        ("Où est la clé ?", "Bonjour ! Où est la clé ? Merci !"),
        ("¿Dónde está la llave?", "Hola, ¿dónde está la llave? ¡Gracias!"),
        ("Onde está a chave?", "Olá! Onde está a chave? Obrigado!"),
        ("Dov'è la chiave?", "Ciao! Dov'è la chiave? Grazie!"),
        ("Waar is de sleutel?", "Hoi! Waar is de sleutel? Bedankt!"),
        ("Где ключ от гаража?", "Привет! Где ключ от гаража? Спасибо!"),
        ("车库的钥匙在哪里?", "你好!车库的钥匙在哪里?谢谢!"),
        ("ガレージの鍵はどこ?", "こんにちは。ガレージの鍵はどこ?ありがとう!"),
        ("창고 열쇠가 어디 있지?", "안녕하세요! 창고 열쇠가 어디 있지? 고마워!"),
    ],
)
def test_greetings_thanks_labels_and_how_to_answer_carry_no_content(asked: str, said: str) -> None:
    assert analysed(said).terms == analysed(asked).terms


@pytest.mark.parametrize(
    "prompt",
    ["Timmy, when did we move?", "timmy, when did we move", "Timmy when did we move?"],
)
def test_who_is_spoken_to_is_not_asked_about(prompt: str) -> None:
    query = analysed(prompt)
    assert (query.names, query.terms, query.unheard) == ((), ("move",), ())
    assert query.fronted  # "Ruth, when did we meet?" is written so, too


@pytest.mark.parametrize("prompt", ["Hey Timmy, when did we move?", "@timmy when did we move?"])
def test_who_is_greeted_is_surely_spoken_to(prompt: str) -> None:
    query = analysed(prompt)
    assert (query.terms, query.fronted) == (("move",), False)


@pytest.mark.parametrize(
    "prompt",
    [
        "Ruth, when did she move?",
        "Berlin, when did we move?",
        "Ruth told us, when did we move?",
        "When did we move, Ruth?",
    ],
)
def test_who_may_be_asked_about_stays(prompt: str) -> None:
    assert len(analysed(prompt).terms) > 1


def test_somebody_the_palace_knows_may_be_asked_about() -> None:
    known = FixedVocabulary("We met Ruth in the garden.", names=["ruth"])
    assert analysed("Ruth, when did we move?", vocabulary=known).names == (("ruth",),)


@pytest.mark.parametrize(
    "prompt",
    [
        "Reply to the lamp maker: which port does the tunnel use?",
        "Translate into German: which port does the lamp use?",
        "In one word: the lamp uses a port.",
        "The lamp fell down. Which port does the tunnel use? Answer briefly.",
        "Which port does the tunnel use? Write a long note to everybody about the lamp.",
        "Which port does the tunnel use? The lamp stands beside it.",
        "We moved it all. Tell me about the lamp.",
    ],
)
def test_what_is_said_beside_a_question_stays_content(prompt: str) -> None:
    assert "lamp" in analysed(prompt).terms


@pytest.mark.parametrize(
    ("prompt", "terms"),
    [
        ("월세가 얼마야?", ("월세",)),
        ("창고에서 뭘 찾았지?", ("창고", "찾았")),
        ("회의 언제였지?", ("회의",)),
        ("월세?", ("월세",)),
    ],
)
def test_a_particle_on_a_korean_noun_is_no_term(prompt: str, terms: tuple[str, ...]) -> None:
    assert analysed(prompt).terms == terms


def test_the_scope_and_the_text_come_along() -> None:
    query = analysed("Which kettle?")
    assert (query.text, query.session_id, query.project) == ("Which kettle?", "s1", "garden")


@pytest.mark.parametrize(
    ("prompt", "names"),
    [
        ("When did Mira call?", (("mira",),)),
        ("What did Mira Holt say to Jonas?", (("mira", "holt"), ("jona",))),
        ("Kettles are blue?", ()),
        ("WHAT DID THE KETTLE COST LAST TIME", ()),
        ("What Did The Blue Kettle Cost", ()),
        ("Do we meet in October?", ()),
        ("Did we move to Monthey in October?", (("monthey",),)),
        ("did mira call?", ()),
        ("Wow… did Ana Li call?", (("ana", "li"),)),
    ],
)  # fmt: skip
def test_names(prompt: str, names: tuple[tuple[str, ...], ...]) -> None:
    assert analysed(prompt).names == names


def test_names_that_the_palace_writes_as_names() -> None:
    vocabulary = FixedVocabulary("we met Mira", "Mira left", names=["mira"])
    assert analysed("did mira call?", vocabulary=vocabulary).names == (("mira",),)


def test_a_name_at_the_start_that_the_palace_puts_there_too() -> None:
    class Seldom(FixedVocabulary):
        """Writes the name inside a sentence once in three times."""

        def counts(self, terms: Iterable[str], *, scope: Scope = GLOBAL) -> dict[str, TermCounts]:
            return {term: TermCounts(any=3, name=int(term == "leo")) for term in terms}

    assert analysed("Leo is allergic to what?", vocabulary=Seldom()).names == (("leo",),)
    assert analysed("Kettle or pot?", vocabulary=Seldom()).names == ()
    assert analysed("what does leo eat?", vocabulary=Seldom()).names == ()


def test_a_small_word_that_opens_a_sentence_is_no_given_name() -> None:
    assert analysed("Kim jest nasz dentysta?").names == ()
    assert analysed("Z kim spotkał się nasz dentysta Kim?").names == (("kim",),)


@pytest.mark.parametrize(
    ("prompt", "terms"),
    [
        ("When was Will born?", ("will", "born")),
        ("What is Don's shoe size?", ("don", "shoe", "size")),
        ("When will the kettle be mended?", ("kettl", "mend")),
        ("Will the kettle be mended?", ("kettl", "mend")),
        ("WHEN WILL THE KETTLE BE MENDED", ("kettl", "mend")),
        ("Don't we have a kettle?", ("kettl",)),
        ("When do they leave, and With whom?", ("leav",)),
    ],
)
def test_a_function_word_is_a_name_where_prompt_and_palace_write_it_as_one(
    prompt: str, terms: tuple[str, ...]
) -> None:
    vocabulary = FixedVocabulary("we met Will", "Will met Don", "with us", names=["will", "don"])
    query = analysed(prompt, vocabulary=vocabulary)
    assert query.terms == terms
    assert query.names == tuple((name,) for name in ("will", "don") if name in terms)


def test_a_function_word_that_is_a_name_is_carried() -> None:
    vocabulary = FixedVocabulary("we met Will", names=["will"])
    said = ("user", "When did I meet Will?"), ("assistant", "In May.")
    query = analysed("and where was that?", *said, vocabulary=vocabulary)
    assert query.carried == ("meet", "will", "month05")


def test_german_nouns_are_no_names_unless_known() -> None:
    prompt = "Wann haben wir den Kessel mit Mira gekauft?"
    assert analysed(prompt).names == ()
    vocabulary = FixedVocabulary("mit Mira", names=["mira"])
    assert analysed(prompt, vocabulary=vocabulary).names == (("mira",),)


def test_a_german_time_is_no_name_though_all_nouns_have_capitals() -> None:
    vocabulary = FixedVocabulary("im Sommer am Freitag", names=["sommer", "freitag"])
    assert analysed("Und im Sommer?", vocabulary=vocabulary).names == ()
    # As in English: on another day it was something else.
    assert analysed("Und am Freitag?", vocabulary=vocabulary).names == (("freitag",),)


@pytest.mark.parametrize(
    "prompt",
    [
        "Am I off at Christmas?",
        "Is the choir resting during Lent?",
        "Quels jours suis-je libre à Noël ?",
        "¿Qué días libro en Navidad?",
        "Che giorni sono libero a Natale?",
        "Quando é que vou lá no Natal?",
        "Wanneer ben ik vrij met Kerstmis?",
        "Kiedy jadę do domu na Wielkanoc?",
        "Что мы решили на Рождество?",
    ],
)
def test_a_feast_that_nobody_wrote_is_no_unknown_name(prompt: str) -> None:
    assert analysed(prompt).names == ()


def test_an_everyday_word_in_capitals_that_nobody_wrote_is_no_unknown_name() -> None:
    assert analysed("When is the MOT due, and which CPU is it?").names == ()
    assert analysed("When is the ZQX due?").names == (("zqx",),)
    assert analysed("Did MARK or ANNA ring?").names == (("mark",), ("anna",))
    vocabulary = FixedVocabulary("the MOT", names=["mot"])
    assert analysed("When is the MOT due?", vocabulary=vocabulary).names == (("mot",),)


def test_a_feast_that_memories_have_is_one_of_their_names() -> None:
    vocabulary = FixedVocabulary("Christmas", names=["christma"])
    assert analysed("Am I off at Christmas?", vocabulary=vocabulary).names == (("christma",),)
    assert analysed("Did Noel ring back?").names == (("noel",),)  # no feast in English


def test_a_feast_beside_a_name_is_one_that_a_memory_has_to_hold() -> None:
    names = analysed("What does Mira do at Halloween?").names
    assert names == (("mira",), ("halloween",))


def test_identifiers_and_numbers() -> None:
    query = analysed("Did v2.0.1 of app_config cost 18,000 or 3,5?")
    assert query.identifiers == ("v2.0.1", "app_config")
    assert {"18000", "3.5"} <= set(query.numbers)
    assert {"18000", "3.5", "v2.0.1", "app_config"} <= set(query.terms)


def test_an_unknown_identifier_is_asked_by_its_known_parts() -> None:
    vocabulary = FixedVocabulary("the web socket handler")
    query = analysed("where is webSocketHandler?", vocabulary=vocabulary)
    assert query.terms == ("web", "socket", "handler")
    vocabulary = FixedVocabulary("the web handler")
    query = analysed("where is webSocketHandler?", vocabulary=vocabulary)
    assert query.terms == ("websockethandler",)
    assert analysed("where is webSocketHandler?").terms == ("websockethandler",)


@pytest.mark.parametrize(
    ("prompt", "content"),
    [
        ("Remind me what the kettle is supposed to hold", {"kettl", "hold"}),
        ("I wonder if somebody else has the kettle", {"kettl"}),
        ("kettle, quick", {"kettl"}),
    ],
)
def test_words_that_only_frame_a_question_are_soft(prompt: str, content: set[str]) -> None:
    query = analysed(prompt)
    assert set(query.terms) - set(query.soft) == content


@pytest.mark.parametrize(
    ("prompt", "terms"),
    [
        ("why aren't we on k8s", ("k8s",)),  # and on no 8
        ("do we have v8.0", ("8.0",)),
        ("what's on the 24th", ("24",)),
        ("is it 12V", ("12",)),
    ],
)
def test_digits_alone_say_a_day_or_a_measure_and_no_code(
    prompt: str, terms: tuple[str, ...]
) -> None:
    vocabulary = FixedVocabulary("8 September, 24 October", "th", "12 volts", "version 8.0, 0")
    assert analysed(prompt, vocabulary=vocabulary).terms == terms


@pytest.mark.parametrize(
    ("prompt", "kind"),
    [
        ("When did we move?", "date"),
        ("What time is the standup?", "clock"),
        ("Since when does Mira own it?", "date"),
        ("Remind me when Mira moved", "date"),
        ("Who was there when we moved?", "person"),
        ("Which lamp do I light when I read?", "thing"),
        ("How long does the kettle take?", "duration"),
        ("How many eggs did we buy?", "count"),
        ("What did the kettle cost?", "money"),
        ("how much an hour do we pay Mira", "money"),
        ("what's the rent for the shed?", "money"),
        ("How much flour did we buy?", "number"),
        ("Was hat der Kessel gekostet?", "money"),
        ("Combien avons-nous payé le couvreur ?", "money"),
        ("¿Cuánto le debo a Mira?", "money"),
        ("Quanto custou a chaleira?", "money"),
        ("Сколько стоит чайник?", "money"),
        ("这台冰箱多少钱?", "money"),
        ("家賃はいくらですか", "money"),
        ("how many euros did we ask for", "money"),
        ("Wie viele Franken kostet das?", "money"),
        ("What's my account number at the bank?", "label"),
        ("what is the alarm code", "label"),
        ("What's Mr Novak's email at the estate?", "e_mail"),
        ("What's Mira's phone number?", "phone"),
        ("What is the telephone number of Mira?", "phone"),
        ("whats miras mobile", "phone"),
        ("phone number of the plumber?", "phone"),
        ("e-mail of the plumber?", "e_mail"),
        ("Who has the phone number of the plumber?", "person"),
        ("When did Mira change her phone number?", "date"),
        ("What's in Mira's e-mail?", "label"),
        ("What's the PIN for my phone?", "label"),
        ("What phone does Mira have?", "thing"),
        ("Wie ist die Telefonnummer vom Klempner?", "phone"),
        ("Mailadresse vom Klempner?", "e_mail"),
        ("Quel est le numéro de téléphone du plombier ?", "phone"),
        ("adresse mail du plombier", "e_mail"),
        ("¿Cuál es el teléfono de la modista?", "phone"),
        ("correo de la modista", "e_mail"),
        ("Qual é o telefone do Rui?", "phone"),
        ("Qual é o e-mail do Rui?", "e_mail"),
        ("Qual è l'indirizzo mail di Marta?", "e_mail"),
        ("Wat is het telefoonnummer van Piet?", "phone"),
        ("Wat is het mailadres van Piet?", "e_mail"),
        ("Jaki jest numer telefonu hydraulika?", "phone"),
        ("Jaki jest adres e-mail hydraulika?", "e_mail"),
        ("Адрес электронной почты Геннадия?", "e_mail"),
        ("Vilket telefonnummer har Stig?", "phone"),
        ("Vad är mejladressen till Stig?", "e_mail"),
        ("Ayşe'nin telefon numarası ne?", "phone"),
        ("Ayşe'nin e-posta adresi nedir?", "e_mail"),
        ("배관공 전화번호가 뭐야?", "phone"),
        ("배관공 이메일 주소 뭐야?", "e_mail"),
        ("小丁师傅的邮箱是什么", "e_mail"),
        ("村田さんのメールアドレスは", "e_mail"),
        ("Which door code did they give us?", "label"),
        ("What does the code on the boiler mean?", "thing"),
        ("do you have his number?", "label"),
        ("what number were we drawn for the finals", "label"),
        ("What is the number of eggs a week?", "number"),
        ("What does error code F28 mean?", "thing"),
        ("What is the code review rule?", "thing"),
        ("Wie lautet unsere Kundennummer?", "label"),
        ("Quel est le numéro du plombier ?", "label"),
        ("¿Cuál es el código de la puerta?", "label"),
        ("what is the office plant called", "name"),
        ("What are the names of the seven households?", "name"),
        ("What's the name of his neighbour?", "name"),
        ("Which brand of roux does Kenji use?", "name"),
        ("which meeting was called off?", "thing"),
        ("Comment s'appelle le chat de Nora ?", "name"),
        ("Hoe heet de hond van Piet?", "name"),
        ("¿Cuántas sillas hay?", "count"),
        ("Wie viele Stühle haben wir?", "count"),
        ("How much bisoprolol do I take?", "number"),
        ("Who owns the rollout?", "person"),
        ("Where did we meet?", "place"),
        ("Why did we move?", "reason"),
        ("Did we move?", "yes_no"),
        ("Tell me about the kettle", "thing"),
        ("Wann sind wir umgezogen?", "date"),
        ("Wer hat das entschieden?", "person"),
        ("Combien d'oeufs avons-nous?", "count"),
        ("¿Cuándo nos mudamos?", "date"),
        ("Когда мы переехали?", "date"),
        ("我们什么时候搬家的?", "date"),
        ("いつ引っ越しましたか", "date"),
        ("la livraison arrive quand", "date"),
        ("le compteur c'est ou", "place"),
        ("la revision es cuando", "date"),
        ("cuanto dura el curso", "duration"),
        ("quanto demora o curso", "duration"),
        ("сколько длится курс", "duration"),
        ("che giorni lavora Samir", "date"),
        ("op welke dagen werkt Fatma", "date"),
        ("an welchen Tagen kommt Emre", "date"),
        ("wie heisst der neue Pfarrer", "name"),
        ("cual es el telefono de Nacho", "phone"),
        ("qual o telefone do Valdir", "phone"),
        ("quel est le telephone du ramoneur", "phone"),
        ("qual è il numero di telefono di Marta", "phone"),
        ("какой телефон у Геннадия", "phone"),
        ("小丁师傅的电话是多少", "phone"),
        ("村田さんの電話番号は", "phone"),
        ("À quel médicament suis-je allergique ?", "thing"),
        ("Quel sport le médecin m'a-t-il interdit ?", "thing"),
        ("Quel sera le nouveau loyer du box ?", "money"),
        ("c quand la fete du quartier", "date"),
        ("E ela é de qual cidade?", "place"),
        ("Que horas começa?", "clock"),
        ("¿Y cuándo se jubila Eusebio?", "date"),
        ("¿cuánto nos devolvió el seguro?", "money"),
        ("До скольки подняли аренду?", "number"),
        ("До скольки работает почта?", "clock"),
        ("保証の期間は何年ですか", "duration"),
        ("この棚は何で作られていますか", "thing"),
        ("会费多钱一个月", "money"),
        ("是哪个医生开的药", "person"),
    ],
)
def test_answer_type(prompt: str, kind: AnswerType) -> None:
    assert analysed(prompt).answer_type == kind


def test_what_only_says_that_a_phone_number_is_asked_for_is_told() -> None:
    assert analysed("What is the phone number of Mira?").labels == ("phone", "number")
    assert analysed("¿Cuál es el teléfono de la modista?").labels == ("telefono",)
    assert analysed("Who has the phone number of Mira?").labels == ()


@pytest.mark.parametrize(
    ("prompt", "head"),
    [
        ("Which shirt size does Mira wear?", ("shirt", "size")),
        ("How many eggs did we buy?", ("egg",)),
        ("Tell me about the kettle", ()),
    ],
)
def test_head(prompt: str, head: tuple[str, ...]) -> None:
    assert analysed(prompt).head == head


@pytest.mark.parametrize(
    ("prompt", "months"),
    [
        ("Who repaired the boiler in May?", ("month05",)),
        ("May we repair the boiler?", ()),
        ("may we repair the boiler in June?", ("month06",)),
        ("The boiler is cold. May I light it?", ()),
        ("who repaired the boiler on 3 may", ("month05",)),
        ("3 may who came?", ("month05",)),
        ("may 3 who came?", ("month05",)),
        ("May 3, who came?", ("month05",)),
        ("may 3 people come?", ()),
        ("May 3 people come?", ()),
        ("who may come on 3 june", ("month06",)),
    ],
)
def test_a_month_is_no_function_word(prompt: str, months: tuple[str, ...]) -> None:
    assert tuple(t for t in analysed(prompt).terms if t.startswith("month")) == months


@pytest.mark.parametrize(
    ("prompt", "soft", "asked"),
    [
        ("Which version number does the kettle have?", {"version", "number"}, "kettl"),
        ("Zu welchem Preis verkaufen wir den Kessel?", {"prei"}, "kessel"),
    ],
)
def test_soft_terms_only_say_what_sort(prompt: str, soft: set[str], asked: str) -> None:
    query = analysed(prompt)
    assert set(query.soft) == soft
    assert asked in query.terms


def test_who_is_asked_in_turkish_is_nobody_called_kim() -> None:
    query = analysed("Kim gelecek?")
    assert query.answer_type == "person"
    assert not query.names
    assert analysed("When does Kim come?").names == (("kim",),)


@pytest.mark.parametrize(
    ("prompt", "language"),
    [
        ("When did we buy the kettle?", "en"),
        ("Wann haben wir den Kessel gekauft?", "de"),
        ("Quand avons-nous acheté la bouilloire?", "fr"),
        ("Когда мы купили чайник?", "ru"),
        ("Quando abbiamo comprato il bollitore?", "it"),
        ("Quando compramos a chaleira?", "pt"),
        ("Wanneer hebben we de ketel gekocht?", "nl"),
        ("주전자 언제 샀지?", "ko"),
        ("staging 포트가 몇 번이었지", "ko"),
        ("Kiedy kupiliśmy czajnik?", "pl"),
        ("gdzie lezy klucz do piwnicy", "pl"),
        ("När köpte vi vattenkokaren?", "sv"),
        ("hur mycket kostade resan", "sv"),
        ("Çaydanlığı ne zaman aldık?", "tr"),
        ("kira icin ne kadar odedik", "tr"),
        ("Kim gelecek?", "tr"),
        ("cuma kim geliyor", "tr"),
        ("When does Kim come?", "en"),
        ("Kim Gelecek", "en"),
        ("from nine till six", "en"),
        ("dark mode for man pages", "en"),
        ("pale ale with Sam and Kim", "en"),
        ("Wohin fahren wir im Mai?", "de"),
        ("mot de passe du bureau", "fr"),
        ("was ist in der Kiste", "de"),
        ("what is in the box", "en"),
        ("¿Cuándo compramos la tetera?", "es"),
        ("What is van der Berg's phone number?", "en"),
        ("Who is Maria de la Cruz?", "en"),
        ("What was von der Au's offer?", "en"),
        ("Wat zei van der Berg over de huur?", "nl"),
        ("Sleutel in huis van de Boer", "nl"),
        ("Hat von der Au angerufen?", "de"),
        # Small words that several languages share do not tell them apart; what is asked does.
        ("a que hora es la reunion", "es"),
        ("que dia vence o condominio", "pt"),
        ("quanto costa la sala a sera", "it"),
        ("que fait la clef sur la table", "fr"),
        ("", "en"),
        ("🙂", "en"),
    ],
)
def test_language(prompt: str, language: str) -> None:
    assert analysed(prompt).language == language


# -- follow-ups ---------------------------------------------------------------------------------


def test_a_follow_up_carries_the_last_exchange() -> None:
    query = analysed(
        "And when was that?",
        ("user", "We talked about apples."),
        ("user", "Which kettle did we buy?"),
        ("assistant", "The blue kettle from Holt."),
    )
    assert {"kettl", "buy", "blue"} <= set(query.carried)
    assert "appl" not in query.carried
    assert not set(query.carried) & set(query.terms)


def test_what_is_carried_is_read_in_its_own_language() -> None:
    query = analysed(
        "Когда мы продали маяк?",
        ("user", "Das Wetter in der Stadt ist kalt."),
        ("assistant", "Yes, the sun is shining on all of us."),
    )
    assert query.carried == ("wetter", "stadt", "kalt", "yes", "sun", "shine")


FALLBACK = "I don't have this in my memory palace."


@pytest.mark.parametrize(
    "reply",
    [
        FALLBACK,
        reply_for_miss(FALLBACK, [LayerReport("L3", "unavailable", reason="the forge is down")]),
        reply_for_near_miss(FALLBACK, []),
    ],
)
def test_a_follow_up_leans_on_no_word_of_our_own_fallback(reply: str) -> None:
    history = (Message("user", "Which kettle did we buy?"), Message("assistant", reply))
    analyst = Analyst(LEXICONS, EMPTY, fallback_text=FALLBACK)
    assert analyst.analyse(Turn("And when was that?", history=history)).carried == ("kettl", "buy")
    assert "memori" in analysed("And when?", ("user", FALLBACK)).carried


@pytest.mark.parametrize(
    ("prompt", "dangling"),
    [
        ("and who approved it?", True),
        ("Who paid for that?", True),
        ("And when did she leave?", True),
        ("Und wer hat das bezahlt?", True),
        ("Wer bezahlt das?", True),
        ("Wann haben wir es bestellt?", True),
        ("Wer hat das Fahrrad?", False),
        ("Wer hat die Laube gestrichen?", False),
        ("Who sold it to us?", True),
        ("Who made it to the final?", False),
        ("Qui nous l'a vendu ?", True),
        ("Quand est-ce qu'on l'a payé ?", True),
        ("Qui a le vélo ?", False),
        ("¿Quién lo pagó?", True),
        ("¿Quién tenía que recogerlos?", True),
        ("¿Quién la bicicleta vendió?", False),
        ("Chi l'ha pagato?", True),
        ("Chi ha pagato il conto?", False),
        ("Wie heeft dat betaald?", True),
        ("Wie heeft het geld?", False),
        ("Quem é que a reparou?", True),
        ("Quem tem a bicicleta?", False),
        ("Кто их заказал?", True),
        ("Bunu kim ödedi?", True),
        ("Bisikleti kim sattı?", False),
        ("それは誰が払った？", True),
        ("自転車は誰が売った？", False),
        ("그거 누가 주문했어?", True),
        ("这个是谁修理的？", True),
        ("and the rent?", False),
        ("So when is the party?", False),
        ("Why did I not want that watch?", False),
        ("and did Mira approve it?", False),
        ("Who repaired the kettle and sold it?", False),
    ],
)
def test_who_goes_on_with_what_nobody_said_is_known(prompt: str, dangling: bool) -> None:
    assert analysed(prompt).dangling is dangling
    assert not analysed(prompt, ("user", "Which kettle did we buy?")).dangling


@pytest.mark.parametrize(
    ("prompt", "terms", "documented"),
    [
        ("Is there a documented way to deploy?", ("document", "way", "deploy"), 2),
        ("Do we have instructions for the boiler?", ("instruct", "boiler"), 1),
        ("Gibt es ein Runbook für den Kessel?", ("runbook", "kessel"), 1),
        ("Y a-t-il une procédure pour la chaudière ?", ("procedur", "chaudier"), 1),
        ("Who wrote the runbook for the boiler?", ("write", "runbook", "boiler"), 0),
    ],
)
def test_what_asks_for_a_playbook_is_told_apart(
    prompt: str, terms: tuple[str, ...], documented: int
) -> None:
    query = analysed(prompt)
    assert set(query.terms) == set(terms)
    assert query.documented == query.terms[:documented]
    assert query.of_playbooks.terms == query.terms[documented:]


@pytest.mark.parametrize(
    "source",
    ["rooms/home/kettle.md:7", "scratchpad:s-1", "https://example.org/issues/4", "notes by hand"],
)
def test_a_follow_up_leans_on_what_was_quoted_but_not_on_where_it_stands(source: str) -> None:
    quoted = evidence(
        "The blue kettle is from Holt.",
        source=source,
        as_of=datetime(2026, 3, 14, tzinfo=timezone.utc),
    )
    near_miss = reply_for_near_miss(FALLBACK, [quoted])
    for reply in (quote_evidence([quoted]), near_miss):
        history = (Message("user", "Who made it?"), Message("assistant", reply))
        query = Analyst(LEXICONS, EMPTY, fallback_text=FALLBACK).analyse(
            Turn("And when was that?", history=history)
        )
        assert set(query.carried) <= {"blue", "kettl", "holt", "made", "make"}
        assert {"blue", "kettl", "holt"} <= set(query.carried)


def test_no_history_no_carrying() -> None:
    assert analysed("And when was that?").carried == ()


def test_a_prompt_with_a_name_stands_alone() -> None:
    assert analysed("And when did Mira call?", ("user", "Which kettle?")).carried == ()


@pytest.mark.parametrize(
    ("prompt", "asked", "carried"),
    [
        ("And Mira?", "When did Holt call the plumber?", ("call", "plumber")),
        ("What about Mira Holt?", "When did Tomas call the plumber?", ("call", "plumber")),
        ("Und Mira?", "Wann hat Holt den Klempner gerufen?", ("klempner", "gerufen")),
        ("Mira?", "When did Holt call the plumber?", ()),  # who may be called
        ("And when did Mira call?", "When did Holt call the plumber?", ()),
    ],
)
def test_a_name_alone_is_asked_the_last_question_about(
    prompt: str, asked: str, carried: tuple[str, ...]
) -> None:
    people = FixedVocabulary("Mira and Holt", names=["mira", "holt"])
    replied = ("assistant", "On Tuesday at nine, from Oslo.")
    assert analysed(prompt, ("user", asked), replied, vocabulary=people).carried == carried


@pytest.mark.parametrize(
    "between",
    [
        (("user", "Thanks!"), ("assistant", "You're welcome. Anything else?")),
        (("user", "Really?"), ("assistant", "Yes.")),
        (("user", "ok thanks"), ("assistant", "Sure!"), ("user", "great"), ("assistant", "Ok.")),
    ],
)
def test_thanks_are_passed_over(between: tuple[tuple[str, str], ...]) -> None:
    asked = ("user", "Where is the blue kettle?"), ("assistant", "In the kitchen.")
    found = analysed("And who bought it?", *asked, *between).carried
    assert found == ("blue", "kettl", "kitchen")


def test_a_conversation_of_thanks_alone_gives_nothing() -> None:
    assert (
        analysed("And who bought it?", *(("user", "Thanks!"), ("assistant", "Ok.")) * 9).carried
        == ()
    )


def test_a_name_alone_behind_no_question_takes_nothing_over() -> None:
    assert analysed("And Mira?", ("assistant", "The blue kettle is from Holt.")).carried == ()


def test_a_full_question_stands_alone() -> None:
    query = analysed("Which garden tools did our neighbours borrow?", ("user", "Which kettle?"))
    assert query.carried == ()


@pytest.mark.parametrize(
    ("prompt", "leans"),
    [
        ("Why?", True),
        ("Wo?", True),
        ("Remind me.", True),
        ("Say that again.", True),
        ("Danke!", False),
        ("Merci !", False),
        ("谢谢", False),
        ("no", False),
        ("👍", False),
        ("...", False),
    ],
)
def test_what_has_no_content_leans_on_the_last_exchange_unless_it_is_a_courtesy(
    prompt: str, leans: bool
) -> None:
    query = analysed(prompt, ("user", "Which kettle did we buy?"))
    assert bool(query.carried) is leans


def test_tool_and_system_messages_are_not_carried() -> None:
    query = analysed("And that?", ("system", "secret orchard"), ("tool", "secret orchard"))
    assert query.carried == ()


@pytest.mark.parametrize(
    "courtesy",
    [
        "Thanks!", "thank you so much", "ok", "great, thanks", "got it", "perfect", "sounds good", "makes sense",
        "good to know", "that helps", "danke!", "vielen dank", "alles klar", "prima", "perfekt", "ach so",
        "merci", "ok merci", "parfait", "merci beaucoup", "bonne soirée", "c'est noté", "gracias", "muchas gracias",
        "vale", "obrigado", "muito obrigada", "grazie mille", "perfetto", "bedankt", "dank je wel", "спасибо",
        "понятно", "谢谢", "好的", "ありがとう", "了解です", "고마워", "알겠어요",
    ],
)  # fmt: skip
@pytest.mark.parametrize(
    "asked",
    [
        (("user", "Which kettle did we buy?"), ("assistant", "The blue kettle from Holt.")),
        (("user", "Welchen Kessel haben wir gekauft?"), ("assistant", "Den blauen von Holt.")),
        (("user", "Quelle bouilloire avons-nous prise ?"), ("assistant", "La bleue de Holt.")),
    ],
)
def test_a_courtesy_leans_on_nothing(courtesy: str, asked: tuple[tuple[str, str], ...]) -> None:
    assert analysed(courtesy, *asked).carried == ()


@pytest.mark.parametrize(
    "prompt",
    [
        "tell me more", "and the price?", "ok and when", "great, and who sold it", "thanks, which colour?", "why?",
        "ok, and its price too", "mehr dazu", "und wann?", "danke, und von wem?", "et quand ?", "merci, et le prix ?",
        "¿y cuándo?", "e quando?", "a kiedy", "и когда?", "什么时候?", "いつ？", "언제?",
    ],
)  # fmt: skip
def test_what_goes_on_about_it_leans_on_the_last_exchange(prompt: str) -> None:
    exchange = ("user", "Which kettle did we buy?"), ("assistant", "The blue kettle from Holt.")
    assert "kettl" in analysed(prompt, *exchange).carried


def test_carried_terms_are_bounded() -> None:
    query = analysed("And that?", ("user", " ".join(f"thing{n}x" for n in range(200))))
    assert len(query.carried) == MAX_CARRIED


# -- any text -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "prompt",
    ["", " ", "🙂", "\x00", "\ud800", '"', "NEAR AND OR NOT", "?" * 9999, "_", "'s", "-" * 500],
)
def test_any_text_gives_a_query(prompt: str) -> None:
    query = analysed(prompt, ("user", prompt))
    assert query.text == prompt
    assert all(term and not set(term) & set(' "*()^') for term in query.terms)


def test_a_huge_prompt_is_bounded_and_quick() -> None:
    prompt = "Which kettle? " + " ".join(f"word{n}x" for n in range(50_000)) + " and the green lamp"
    started = time.process_time()
    query = analysed(prompt)
    assert time.process_time() - started < 2
    assert len(query.terms) <= MAX_TERMS
    assert "kettl" in query.terms


def test_what_a_long_prompt_ends_with_is_asked_too() -> None:
    prompt = "Here is some background. " + "the and of " * 2000 + "Which lamp did Mira buy?"
    query = analysed(prompt)
    assert {"lamp", "buy"} <= set(query.terms)
    assert query.names == (("mira",),)


@pytest.mark.parametrize("around", ["\ufeff{}", "\u200e{}\n", "  {}"])
def test_what_nobody_sees_makes_no_name(around: str) -> None:
    prompt = "Total number of blades in the scar  survey"
    assert analysed(around.format(prompt)).names == analysed(prompt).names == ()
    assert analysed(around.format(prompt)).terms == analysed(prompt).terms


@pytest.mark.parametrize(
    "hidden", ["\u00ad", "\u200b", "\u200e", "\u202c", "\u2060", "\u2064", "\ufeff"]
)
def test_what_nobody_sees_inside_cuts_no_word(hidden: str) -> None:
    prompt = f"When did{hidden} we {hidden}move the data{hidden}base to {hidden}Oslo?"
    assert analysed(prompt).terms == ("move", "databas", "oslo")
    assert analysed(prompt).names == (("oslo",),)


@pytest.mark.parametrize(
    "prompt",
    [
        "Hat Böhm für Änderungen geübt? Können wir Björn fragen, ob Zoë Müller kommt?",
        "Où était l'été dernier le vélo d'Élodie Dupré, déjà réparé à Orléans, le 3 février ?",
        "우리 대기열은 어느 서버에서 돌아가?",
        "ガレージの鍵はどこ? ベッドで10月4日?",
    ],
)
def test_letters_in_two_pieces_are_read_as_those_in_one(prompt: str) -> None:
    vocabulary = FixedVocabulary("2026-02-03", "2026-10-04")
    one = analysed(prompt, vocabulary=vocabulary)
    two = analysed(unicodedata.normalize("NFD", prompt), vocabulary=vocabulary)
    assert replace(two, text=prompt) == one


@pytest.mark.parametrize("apostrophe", "’ʼ‘＇`´ʻ′")
def test_every_apostrophe_is_one(apostrophe: str) -> None:
    prompt = "What's Mira's brother O'Neil's phone number, and didn't we write it down?"
    typed = prompt.replace("'", apostrophe)
    assert replace(analysed(typed), text="") == replace(analysed(prompt), text="")
    assert matchable(typed) == matchable(prompt)


def test_digits_as_wide_as_letters_are_numbers() -> None:
    assert (
        analysed("家賃は１８，０００円?").numbers
        == analysed("家賃は18,000円?").numbers
        == ("18000",)
    )


@pytest.mark.parametrize(
    ("prompt", "names"),
    [
        ("佐藤さんの誕生日はいつ?", (("佐藤",),)),
        ("昨日田中さんは何と言った?", (("田中",),)),
        ("林さんの電話番号は?", (("林",),)),
        ("マイケルさんの住所は?", (("マイ", "イケ", "ケル"),)),
        ("中村先生の予約はいつ?", (("中村",),)),
        ("お母さんの誕生日はいつ?", ()),
        ("花屋さんの電話番号は?", ()),
        ("お客様の予約はいつ?", ()),
        ("我们跟马先生约好了什么?", (("马",),)),
        ("陈阿姨的电话是多少?", (("陈",),)),
        ("对方律师是谁?", ()),
        ("Was haben wir mit Herrn Pfannenschmidt vereinbart?", (("pfannenschmidt",),)),
        ("Welche Nummer hat Frau Dr. Wüst?", (("wust",),)),
        ("Wann hat meine Frau Termin?", ()),
        ("Wo wohnt Frau Doktor?", ()),
        ("When is the appointment with Dr. Ferrer?", (("ferrer",),)),
        ("¿Cuándo es la cita con la Dra. Ferrer?", (("ferrer",),)),
        ("Quando o Sr. Peixoto entrega o imposto?", (("peixoto",),)),
        ("Cosa ha detto il Sig. Marchetti?", (("marchetti",),)),
        ("Quand est le rendez-vous avec M. Lavigne ?", (("lavign",),)),
        ("김철수 씨 전화번호가 뭐지?", (("김철", "철수"),)),
        ("오늘 날씨 어때?", ()),
    ],
)
def test_a_title_tells_a_name_where_no_capital_does(
    prompt: str, names: tuple[tuple[str, ...], ...]
) -> None:
    query = analysed(prompt)
    assert (query.names, query.unheard) == ((), names[0] if names else ())
    known = FixedVocabulary(prompt)
    assert set(names) <= set(analysed(prompt, vocabulary=known).names)
    assert all(token in query.terms for name in names for token in name)


@pytest.mark.parametrize(
    ("prompt", "terms"),
    [
        ("Hoe heet ik?", ("heet", "ik")),
        ("Comment je m'appelle ?", ("je", "appell")),
        ("Как меня зовут?", ("мен", "зовут")),
        ("Var bor jag?", ("bor", "jag")),
        ("Hoe heet mijn hond?", ("hond",)),  # what has content needs no small words
        ("Как зовут?", ()),
        ("Waar zijn wij?", ()),
    ],
)
def test_small_words_are_content_where_they_alone_ask_of_who_speaks(
    prompt: str, terms: tuple[str, ...]
) -> None:
    assert analysed(prompt).terms == terms


@pytest.mark.parametrize(
    ("prompt", "names"),
    [
        ("郑小满的钥匙放哪儿了?", (("郑小", "小满"),)),
        ("上周的账单, 吕薇还没付吧?", (("吕薇",),)),
        ("周五有空吗?", ()),
        ("郑州的酒店订了吗?", ()),
        ("王子在哪一章出现?", ()),
    ],
)
def test_a_chinese_name_without_a_title_is_one_where_memories_have_it(
    prompt: str, names: tuple[tuple[str, ...], ...]
) -> None:
    assert (analysed(prompt).names, analysed(prompt).unheard) == ((), ())  # it may be a word
    assert analysed(prompt, vocabulary=FixedVocabulary(prompt)).names == names


def test_a_title_is_no_name() -> None:
    known = FixedVocabulary("We saw Dr. Vance.")
    assert analysed("When do we see Dr. Ferrer?", vocabulary=known).names == ()
    assert analysed("When do we see Dr. Vance?", vocabulary=known).names == (("vanc",),)


def test_no_pair_of_letters_reaches_into_a_title() -> None:
    assert analysed("佐藤さんの誕生日はいつ?").terms[0] == "佐藤"
    assert not {"藤さ", "さん", "跟马", "马先"}.intersection(
        (*analysed("佐藤さんの誕生日").terms, *analysed("我们跟马先生约好了什么").terms)
    )


@pytest.mark.parametrize(
    ("prompt", "terms"),
    [
        ("家賃はいくらですか", ("家賃",)),
        ("家賃は月いくら?", ("家賃", "月")),
        ("母は今どこですか", ("母", "今")),
        ("鍵は誰に預けたか", ("鍵", "預け")),
        ("私の上司は誰ですか?", ("上司",)),
        ("母の誕生日はいつ?", ("母", "誕生", "生日")),
        ("誰に預けた?", ("預け",)),
        ("房租多少钱?", ("房租",)),
        ("我的领导是谁?", ("领导",)),
        ("狗的生日是哪天?", ("狗", "生日")),
        ("狗多少钱?", ("狗",)),
        ("何を食べる?", ("食べ",)),
        ("林さんの部屋は?", ("林", "部屋")),
        ("王老师的电话是多少?", ("王", "老师", "电话")),
    ],
)
def test_a_pair_of_letters_over_the_end_of_a_word_is_no_term(
    prompt: str, terms: tuple[str, ...]
) -> None:
    assert analysed(prompt).terms == terms


@pytest.mark.parametrize(
    "prompt",
    [
        "Write to Imogen and use the price we agreed.",
        "Draft a reminder about the unpaid invoice, with number and amount.",
        "write mail to susan re variation 7 put in the agreed sum",
        "Write them a short invitation with the right weekday and place.",
        "Schreib Imogen eine Mail und nenn den vereinbarten Preis.",
        "Écris à Imogen et rappelle-lui la date.",
        "Escribe a Imogen con el precio que acordamos.",
        "Escreve à Imogen com o preço combinado.",
        "Scrivi a Imogen e usa il prezzo che abbiamo concordato.",
        "Schrijf Imogen een mail met de afgesproken prijs.",
        "Skriv ett mejl till Imogen med det pris som vi kom överens om.",
        "Napisz do Imogen i podaj ustaloną cenę.",
        "Напиши Имоджен, как договорились, цену.",
        "Imogen'e anlaştığımız fiyatı yaz.",
        "写封邮件给伊莫金，写上说好的价格。",
        "イモジェンに決めた値段を書いてメールして。",
        "이모젠에게 합의한 가격으로 메일을 써줘.",
    ],
)
def test_a_task_may_be_done_with_something_remembered(prompt: str) -> None:
    assert analysed(prompt).fills_in


@pytest.mark.parametrize(
    "prompt",
    [
        "Write to Imogen that the price is 20 pounds.",
        "Write a friendly reminder. Leave the amount blank.",
        "Draft a poster, no names, no sums.",
        "Write a Python function that adds the date to a file name.",
        "What price did we agree?",
        "We settled the price we agreed on.",
        "Schreib ein Gedicht über den Herbst.",
    ],
)
def test_other_tasks_and_questions_are_done_without(prompt: str) -> None:
    assert not analysed(prompt).fills_in


@pytest.mark.parametrize(
    ("prompt", "several"),
    [
        ("What books has Mira read this year?", True),
        ("which old garden tools did we lend out?", True),
        ("What are the names of her cats?", True),
        ("How many times did we go to the lake?", True),
        ("How many eggs do we get a week?", False),
        ("How often do we water the fern?", False),
        ("How often did we go to the lake?", True),
        ("Which children were at the party?", True),
        ("What bus does Mira take?", False),
        ("What makes the boiler stop?", False),
        ("Which book did Mira read?", False),
        ("What's the address of the bakery?", False),
        ("Wie oft war Mira am See?", True),
        ("Wie viele Stühle haben wir?", False),
        ("Wer war alles beim Fest?", True),
        ("Welches Buch hat Mira gelesen?", False),
        ("¿Cuáles son los libros de Mira?", True),
        ("¿Qué libros ha leído Mira?", True),
        ("¿Qué libro ha leído Mira?", False),
        ("Quels livres Mira a-t-elle lus ?", True),
        ("Quel livre Mira a-t-elle lu ?", False),
        ("Quali libri ha letto Mira?", True),
        ("Quais livros a Mira leu?", True),
        ("Welke boeken heeft Mira gelezen?", True),
        ("Welk boek heeft Mira gelezen?", False),
        ("Vilka böcker har Mira läst?", True),
        ("Vilken bok har Mira läst?", False),
        ("Jakie książki przeczytała Mira?", True),
        ("Какие книги прочитала Мира?", True),
        ("Какую книгу прочитала Мира?", False),
        ("Mira hangi kitapları okudu?", True),
        ("Mira hangi kitabı okudu?", False),
        ("米拉读过哪些书？", True),
        ("米拉读过哪本书？", False),
        ("ミラは湖に何回行きましたか", True),
        ("미라는 호수에 몇 번 갔어?", True),
    ],
)
def test_what_asks_for_several_things(prompt: str, several: bool) -> None:
    assert analysed(prompt).several is several
