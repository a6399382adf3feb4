"""Small words typed in haste are read as they are meant, in the language of the prompt alone."""

import pytest

from palace.recall.lexicon import DEFAULT_LANGUAGES, fold, load_lexicons
from palace.recall.misspelt import as_meant

LEXICONS = load_lexicons(DEFAULT_LANGUAGES)


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("wat did i promise mrs doyle", "what did i promise mrs doyle"),
        ("Wich room was it?", "Which room was it?"),
        ("just giv me somthing", "just give me something"),
        ("wan kommt der Bus", "wann kommt der Bus"),
        ("wann ham wir gestrichen", "wann haben wir gestrichen"),
        ("pq a loja ta fechada", "por que a loja ta fechada"),
        ("cb il me doit", "combien il me doit"),
        ("xq no vino el técnico", "por qué no vino el técnico"),
        ("qdo vence o meu condomínio", "quando vence o meu condomínio"),
        ("xké non è venuto il tecnico", "perché non è venuto il tecnico"),
        ("hvl kost de huur", "hoeveel kost de huur"),
        ("скока стоит аренда", "сколько стоит аренда"),
        ("kira nekadar oldu", "kira ne kadar oldu"),
    ],
)
def test_small_words_are_read_as_they_are_meant(typed, meant):
    assert as_meant(typed, LEXICONS).lower() == meant.lower()


@pytest.mark.parametrize(
    "prompt",
    [
        "What did I promise?",
        "wat hadden we afgesproken met de buren",  # Dutch
        "which temples are near the Wat in Chiang Mai",
        "where is the UR report",
        "is rooms/u/ur.md the page",
        "wat " * 200,
    ],
)
def test_other_words_stay(prompt):
    assert as_meant(prompt, LEXICONS) == prompt


@pytest.mark.parametrize("lexicon", LEXICONS, ids=lambda lexicon: lexicon.language)
def test_no_word_of_the_language_counts_as_misspelt(lexicon):
    assert lexicon.function_words.isdisjoint(map(fold, lexicon.misspelt))
    assert all(lexicon.misspelt.values())
