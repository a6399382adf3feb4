import pytest

from palace.recall import insisting
from palace.recall.lexicon import load_lexicons
from palace.types.session import Message, Turn

LEXICONS = load_lexicons(("en", "de"))
ASKED = "When did we hire Olga?"
REFUSED = "I don't have this in my memory palace."


def insisted_on(turn: Turn) -> Turn:
    return insisting.insisted_on(turn, fallback_text=REFUSED, lexicons=LEXICONS)


def said(*texts: str) -> tuple[Message, ...]:
    roles = ("user", "assistant") * len(texts)
    return tuple(Message(role, text) for role, text in zip(roles, texts, strict=False))


@pytest.mark.parametrize(
    "prompt",
    [
        "Are you sure?",
        "really??",
        "Hm, are you sure?",
        "Please try again.",
        "Just guess.",
        "Come on, you know it.",
        "Try harder!",
        "roughly?",
        "Tell me more.",
        "Bist du sicher?",
        "Wirklich? Bist du dir sicher?",
        "Tu es sûr ?",
        "estas seguro?",
        "Tem certeza?",
        "sei sicuro?",
        "Weet je het zeker?",
        "Ты уверен?",
        "你确定吗？",
        "本当ですか？",
        "정말요?",
        "Na pewno?",
        "Är du säker?",
        "Emin misin?",
    ],
)
def test_who_only_insists_asks_the_question_before(prompt):
    turn = Turn(prompt, "s", history=said("Hello!", "Hi!", ASKED, REFUSED))
    assert insisted_on(turn) == Turn(ASKED, "s", history=said("Hello!", "Hi!"))


@pytest.mark.parametrize(
    "prompt",
    [
        "Are you sure that Olga works here?",
        "Guess what: I passed!",
        "Thanks!",
        "ok",
        "Try it with Python.",
        "And who approved it?",
        "Really? Then write a mail to her.",
        "Think again about the colour of the fence.",
        "",
        "?",
        "I'll check.",
        "I know.",
        "I know why.",
        "Tell me a joke.",
        "What do you know?",
        "Right, thanks.",
        "Good.",
        "Why did Olga leave?",
        "Why not ask Anna?",
        "Warum ist der Himmel blau?",
        "Anything else for today?",
    ],
)
def test_who_says_more_asks_that(prompt):
    turn = Turn(prompt, history=said(ASKED, REFUSED))
    assert insisted_on(turn) is turn


@pytest.mark.parametrize(
    "prompt",
    [
        "Can you please try one more time?",
        "Surely you know.",
        "Make an educated guess!",
        "But you knew it yesterday",
        "You really don't know?",
        "Du wusstest es gestern.",
        "T'es sûr de toi ?",
        "Sicuro sicuro?",
        "Why not?",
        "How come you don't know?",
        "Just give me something.",
        "Anything?",
        "Warum nicht?",
        "Wieso weißt du das nicht?",
        "Pourquoi pas ?",
        "¿Cómo que no?",
        "Por que não?",
        "Come mai non lo sai?",
        "Hoezo weet je dat niet?",
        "Dlaczego nie wiesz?",
        "Почему ты не знаешь?",
        "Varför vet du inte det?",
        "Neden bilmiyorsun?",
        "なんで？",
        "왜 몰라요?",
        "为什么？",
    ],
)
def test_behind_our_fallback_more_words_only_insist(prompt):
    assert insisted_on(Turn(prompt, history=said(ASKED, REFUSED))) == Turn(ASKED)
    elsewhere = Turn(prompt, history=said("Is a whale a fish?", "No."))
    assert insisted_on(elsewhere) is elsewhere


def test_who_insists_twice_asks_the_same_question():
    turn = Turn("Really?", history=said(ASKED, REFUSED, "Are you sure?", REFUSED))
    assert insisted_on(turn) == Turn(ASKED)


def test_who_insisted_in_haste_before_insisted():
    turn = Turn("how come you don't know", history=said(ASKED, REFUSED, "u sure", REFUSED))
    assert insisted_on(turn).prompt == ASKED


def test_who_insists_on_nothing_says_just_that():
    for history in ((), (Message("assistant", "Hello!"),)):
        turn = Turn("Are you sure?", history=history)
        assert insisted_on(turn) is turn


def test_evidence_that_a_host_kept_in_the_history_is_no_part_of_the_question():
    kept = f"<memory-context>\n[1] Anna leads the team.\n</memory-context>\n\n{ASKED}"
    assert insisted_on(Turn("Really?", history=said(kept, "Anna."))).prompt == ASKED


@pytest.mark.parametrize(
    "prompt",
    [
        "Another one, please.",
        "Again",
        "Give me another one.",
        "Something shorter.",
        "The second one.",
        "Half as long, and less formal.",
        "Noch mehr",
        "Das zweite.",
        "Otra cosa.",
        "Un autre, s'il te plaît.",
        "Ещё",
        "第二个",
        "もう一つ",
        "더 짧게",
    ],
)
def test_who_only_goes_on_asks_for_nothing_else(prompt):
    assert insisting.only_goes_on(prompt)


@pytest.mark.parametrize(
    "prompt",
    [
        "The attic key.",
        "staging port",
        "Next appointment",
        "Another one for Olga.",
        "thanks",
        "and the one of the two of us again, the first one",
        "again " * 40,
        "",
    ],
)
def test_who_names_a_thing_asks_for_that(prompt):
    assert not insisting.only_goes_on(prompt)
