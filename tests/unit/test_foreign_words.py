"""Questions about notes in another language than their own, and which languages notes are in."""

from __future__ import annotations

import pytest

from palace.recall.lexicon import DEFAULT_LANGUAGES, load_lexicon, load_lexicons
from palace.recall.query import Analyst
from palace.recall.related import foreign_words, listed_set
from palace.recall.search import Searcher
from palace.recall.weighing import term_weights
from palace.recall.written_in import telling_words, written_languages
from palace.types.query import Query
from palace.types.session import Turn
from tests.doubles import FixedVocabulary, indexed, memory, paged

# The first of them tells when the dog goes to the vet.
NOTES = {
    "de": (
        "Der Hund muss am 3. Mai zum Tierarzt",
        "Die Miete ist am Ersten fällig und wird vom Konto abgebucht",
        "Das Fahrrad ist bei Ralf und kommt nach dem Urlaub zurück",
        "Der Schlüssel liegt noch bei den Nachbarn, die sind nur abends da",
        "Das Passwort für den Drucker steht auf der Rückseite",
    ),
    "es": (
        "Hay que llevar el perro al veterinario el 3 de mayo por la tarde",
        "El alquiler se paga cada mes, pero nunca antes del día cinco",
        "Nuestra bici está donde Pablo hasta que acaben las vacaciones",
        "Las llaves están en la casa de nuestra vecina, que vuelve por la noche",
        "La contraseña de la impresora está debajo, como siempre; hay que cambiarla cada año",
    ),
    "fr": (
        "Le chien doit aller chez le vétérinaire le 3 mai avec son carnet",
        "Le loyer est payé le premier du mois avec une carte, c'était convenu",
        "Mon vélo est chez Paul, il sera rendu quand les vacances sont finies",
        "Les clés sont chez la voisine, elle est là tous les soirs",
        "Le mot de passe de l'imprimante est écrit sous une étiquette, avec la date",
    ),
    "it": (
        "Il cane deve andare dal veterinario il 3 maggio, dopo pranzo",
        "L'affitto si paga il primo del mese, dopo sono guai",
        "La bici è ancora da Paolo e gli serve fino alla fine delle vacanze",
        "Le chiavi sono alla vicina, che la sera è sempre a casa",
        "La password della stampante è sul retro, sono otto lettere",
    ),
    "ja": (
        "犬の獣医の予約は5月3日です",
        "家賃は毎月一日に引き落とされます",
        "自転車はケンさんに貸しています",
        "鍵は隣の人に預けてあります",
    ),
    "ko": (
        "강아지는 5월 3일에 동물병원에 간다",
        "월세는 매달 1일에 통장에서 빠져나간다",
        "자전거는 민수에게 빌려 주었다",
        "열쇠는 옆집에 맡겨 두었다",
    ),
    "nl": (
        "De hond moet op 3 mei naar de dierenarts",
        "De huur wordt op de eerste van de maand betaald, niet later",
        "Mijn fiets staat nog bij Ruud en komt na de vakantie naar huis",
        "De sleutels liggen bij de buren, die zijn er niet overdag",
        "Het wachtwoord van de printer staat op een briefje",
    ),
    "pt": (
        "O cão vai ao veterinário no dia 3 de maio, por volta das dez",
        "A renda sai da conta no dia um, não pode falhar",
        "A minha bicicleta está com o Paulo, ele fica com ela até setembro",
        "As chaves estão com a vizinha, que não sai; ela abre sempre",
        "A senha da impressora está por baixo, são oito letras",
    ),
    "ru": (
        "Собаке нужно к ветеринару 3 мая",
        "Аренда за квартиру списывается первого числа, не позже",
        "Велосипед сейчас у Павла, он его вернёт после отпуска",
        "Ключи лежат у соседки, она дома по вечерам, но не в среду",
        "Пароль от принтера написан на крышке",
    ),
    "zh": (
        "狗5月3日要去看兽医",
        "房租是每个月一号从账户里扣的",
        "自行车借给小王了,他用完会还给我们",
        "钥匙在邻居那里,她晚上在家",
    ),
}
ENGLISH = (
    "The kettle is blue",
    "Rent is due on the first",
    "Ella keeps the spare keys, not Marcel",
    "The gift for Una is hidden in the den",
    "Van der Berg repairs the boiler on Monday",
)
GERMAN = "Der Hund ist nicht bei uns und muss noch zum Tierarzt, wir sind auch mit dabei."


def _query(prompt: str, *texts: str, on: bool = True) -> tuple[Query, list[str]]:
    index = indexed(*(memory(text, number) for number, text in enumerate(texts)))
    asked = Analyst(load_lexicons(DEFAULT_LANGUAGES), index, related=on).analyse(Turn(prompt))
    return asked, [hit.memory.text for hit in Searcher(index).hits(asked, top_k=9)]


def _written(*texts: str) -> tuple[str, ...]:
    return written_languages(DEFAULT_LANGUAGES, FixedVocabulary(*texts).counts)


@pytest.mark.parametrize("language", NOTES)
def test_an_english_question_finds_notes_in_another_language(language: str) -> None:
    texts = (*NOTES[language], *ENGLISH)
    asked, found = _query("When does the dog go to the vet?", *texts)
    assert found[:1] == [texts[0]]
    assert asked.foreign
    assert asked.glossed == asked.text
    assert texts[0] not in _query("When does the dog go to the vet?", *texts, on=False)[1]


@pytest.mark.parametrize("question", ["Où est le vélo ?", "Onde está a bicicleta?"])
def test_a_question_in_one_language_finds_notes_in_another(question: str) -> None:
    asked, found = _query(question, *NOTES["de"])
    assert found[:1] == [NOTES["de"][2]]
    assert {token for words in asked.foreign.values() for token in words} == {"fahrrad"}
    assert "fahrrad" not in asked.english


@pytest.mark.parametrize("language", NOTES)
def test_a_handful_of_notes_tells_its_language(language: str) -> None:
    assert language in _written(*NOTES[language], *ENGLISH)


def test_japanese_notes_are_not_in_chinese_by_their_letters() -> None:
    japanese = (
        "来週の会議の前に大家さんへ電話する",
        "以前の家は駅の上の方にあった",
        "来月から家賃が上がる",
        "前の大家さんの家は去年なくなった",
        *NOTES["ja"],
    )
    assert _written(*japanese) == ("ja",)
    chinese = (*NOTES["zh"], "我们还没给她打电话")
    assert set(_written(*japanese, *chinese)) == {"ja", "zh"}


def test_english_notes_are_in_no_other_language() -> None:
    assert _written(*ENGLISH) == ()
    assert _written() == ()


def test_one_sentence_in_another_language_is_a_quotation() -> None:
    assert _written(*ENGLISH, GERMAN) == ()
    assert _query("When does the dog go to the vet?", *ENGLISH, GERMAN)[0].foreign == {}


def test_one_name_that_is_told_often_is_no_language() -> None:
    assert _written(*(f"{number} tins for Wem" for number in range(9))) == ()


def test_what_languages_notes_are_in_is_told_anew_when_they_change() -> None:
    vocabulary = FixedVocabulary(*ENGLISH)
    analyst = Analyst(load_lexicons(DEFAULT_LANGUAGES), vocabulary)
    assert analyst.analyse(Turn("When does the dog go to the vet?")).foreign == {}
    vocabulary._texts += FixedVocabulary(*NOTES["de"])._texts
    assert analyst.analyse(Turn("When does the dog go to the vet?")).foreign["dog"] == ("hund",)


@pytest.mark.parametrize("language", NOTES)
def test_words_that_tell_a_language_are_no_english_ones(language: str) -> None:
    telling = telling_words(language)
    assert len(telling) > 40
    assert telling.isdisjoint(load_lexicon("en").stopwords)
    assert telling <= load_lexicon(language).function_words


def test_words_of_other_languages_are_found_by_the_lists_turned_round() -> None:
    found = foreign_words(["dog", "qqqq"], "en", into=["de", "fr", "en"])
    assert {"hund", "chien"} <= set(found["dog"])
    assert "qqqq" not in found
    assert all(0.4 < near < 1.0 for words in found.values() for near in words.values())
    assert "hund" in foreign_words(["chien"], "fr", into=["de", "fr"])["chien"]
    assert foreign_words(["dog"], "en", into=["en"]) == {}


def test_what_is_an_english_word_too_stands_for_no_foreign_one() -> None:
    terms = ["poison", "dog", "letter", "hous"]
    for words in foreign_words(terms, "en", into=NOTES).values():
        assert listed_set("en").isdisjoint(words)


def test_function_words_stand_for_nothing() -> None:
    terms = ["never", "sinc", "dad", "daughter", "girl", "troubl"]
    found = foreign_words(terms, "en", into=["de", "ja", "nl"])
    tokens = {token for words in found.values() for token in words}
    assert tokens.isdisjoint({"nicht", "seit", "さん", "last"})


def test_a_term_weighs_what_the_word_for_it_weighs() -> None:
    index = indexed(*(memory(text, n) for n, text in enumerate(("Hund da", "Katze", "Katze da"))))
    asked = Query("", ("dog", "cat"), foreign={"dog": ("hund",), "cat": ("katz",)})
    said = Query("", ("hund", "katz"))
    told = term_weights(asked, index)
    assert [*told.idf.values()] == [*term_weights(said, index).idf.values()]
    assert told.known == frozenset()


def test_the_state_of_an_index_is_another_one_after_it_was_written_to() -> None:
    index = indexed(memory("The kettle is blue", 0))
    before = index.state()
    index.counts(["kettl"])
    assert index.state() == before
    index.apply([paged(memory("Der Hund", 1), path="rooms/other.md")], layer="L1")
    assert index.state() != before
