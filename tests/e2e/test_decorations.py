"""What is put around a question changes nothing: a list's mark, bold, a greeting, thanks, a smile.

The prompts are of this file alone: nothing was fitted on them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from palace import Mempalace, RetrievalEnforcer

RECALL = (
    "When did we move the database to the new server?",
    "What did we decide about the blue fence?",
    "who approved the budget for the boat?",
    "Where did I put the spare key?",
    "What is my sister's phone number?",
    "How much did we pay the plumber?",
    "What did Mira say about the kettle?",
    "Did Tobias bring the tent back?",
    "How do we roll back a release?",
    "what's the wifi password at the cabin",
    "Which paint did we use in the hallway?",
    "Why did we turn down the second offer?",
    "When is our next appointment with the vet?",
    "remind me what the landlord promised",
    "What was the name of the hotel we stayed at in Porto?",
    "how long did the last migration take us?",
    "What size shoes does my son wear?",
    "Who has the key to our cellar?",
    "What is our agreed notice period?",
    "When did I last service the bike?",
    "Do you remember which tea my mother likes?",
    "Where do we keep the contracts?",
    "How many chairs did we order?",
    "What did I tell you about my allergy?",
    "Which of our invoices are still open?",
    "When does our lease end?",
    "Who fixed our boiler last winter?",
    "What time did we agree to meet on Friday?",
    "Did we ever pay Mira back for the tickets?",
    "Have I renewed my passport yet?",
    "What's the code of our alarm?",
    "What did the dentist tell me last time?",
    "how did we fix the leak in the bathroom?",
    "Which bank is our mortgage with?",
    "What do you know about me?",
    "Who did we hire for the garden?",
    "What colour did I choose for the kitchen?",
    "When was the last time we changed the filter?",
    "What did Mira and Tobias agree on about the shed?",
    "Where did we buy the blue kettle?",
)
NO_RECALL = (
    "Write a poem about the sea",
    'Translate "good morning" into Finnish',
    "What is the capital of Mongolia?",
    "Explain how a jet engine works",
    "Summarize the plot of Hamlet in two sentences.",
    "Give me five names for a coffee shop",
    "Who wrote War and Peace?",
    "Create a regex that matches postal codes",
    "How tall is the Eiffel Tower?",
    "Convert 12 miles to kilometres",
    "Draft an email declining a job offer politely",
    "What is the difference between a virus and a bacterium?",
    "Suggest a three-day itinerary for Lisbon",
    "Rewrite this sentence in the passive voice: The cat ate the fish.",
    "List the planets in order of size.",
    "How do you make a good risotto?",
    "Compose a limerick about a lazy dog",
    "Why is the sky blue?",
    "Solve 3x + 5 = 20",
    "What does photosynthesis mean?",
    "Design a logo concept for a bakery",
    "Generate ten random passwords",
    "Is it safe to eat raw mushrooms?",
    "Implement quicksort in Python",
    "Which country has the longest coastline?",
    "What happens if you mix bleach and vinegar?",
    "Tell me a joke about penguins",
    "Compare Rust and Go for command line tools",
    "Who invented the telescope?",
    "Proofread: Their going to the park tomorow.",
    "Can you recommend a good book about bees?",
    "Describe the water cycle for children",
    "What is a prime number?",
    "Classify these animals as mammals or birds: bat, crow, whale",
    "How many bones does a human have?",
    "Outline an essay about renewable energy",
    "In what year did the Titanic sink?",
    "Plan a birthday party for a six year old",
    "What would happen if the moon disappeared?",
    "Brainstorm slogans for a bike shop",
)
ELSEWHERE = {
    "de": (
        "Wann haben wir den Vertrag unterschrieben?",
        "Wo habe ich den Ersatzschlüssel hingelegt?",
        "Was hat Mira über den Kessel gesagt?",
        "Wie viel haben wir dem Klempner bezahlt?",
        "Schreib ein Gedicht über den Herbst",
        "Was ist die Hauptstadt von Peru?",
    ),
    "fr": (
        "Quand avons-nous changé de fournisseur ?",
        "Où ai-je mis la clé de la cave ?",
        "Qu'est-ce que Mira a dit de notre jardin ?",
        "Combien avons-nous payé le plombier ?",
        "Écris un poème sur la mer",
        "Quelle est la capitale du Pérou ?",
    ),
    "es": (
        "¿Cuándo firmamos el contrato?",
        "¿Dónde puse la llave de repuesto?",
        "¿Quién arregló nuestra caldera?",
        "Escribe un poema sobre el mar",
    ),
    "pt": (
        "Quando assinamos o contrato?",
        "Onde deixei a chave da garagem?",
        "Escreva um poema sobre o mar",
    ),
    "it": (
        "Quando abbiamo firmato il contratto?",
        "Dove ho messo la chiave di riserva?",
        "Scrivi una poesia sul mare",
    ),
    "nl": (
        "Wanneer hebben we het contract getekend?",
        "Waar heb ik de reservesleutel gelegd?",
        "Schrijf een gedicht over de zee",
    ),
    "ru": (
        "Когда мы подписали договор?",
        "Где я оставил запасной ключ?",
        "Напиши стихотворение о море",
    ),
    "zh": (
        "我们什么时候签的合同？",
        "我把备用钥匙放在哪里了？",
        "写一首关于大海的诗",
    ),
    "ja": (
        "契約はいつ結びましたか？",
        "予備の鍵はどこに置いた？",
        "海についての詩を書いて",
    ),
    "ko": (
        "우리가 계약을 언제 했지?",
        "바다에 대한 시를 써 줘",
    ),
    "pl": (
        "Kiedy podpisaliśmy umowę?",
        "Gdzie położyłem zapasowy klucz?",
    ),
    "sv": ("När skrev vi på kontraktet?",),
    "tr": ("Sözleşmeyi ne zaman imzaladık?",),
}
ALL = (*RECALL, *NO_RECALL, *(prompt for prompts in ELSEWHERE.values() for prompt in prompts))
TOLD = (
    "We moved the database to the new server on 2026-03-14.",
    "The blue kettle leaks, as Mira said; we bought it at the market.",
    "Tobias brought the tent back on Friday.",
    "Olga approved the budget of 18,000 euros on 2026-02-02.",
    "The landlord promised to mend the roof.",
    "Wir haben den Vertrag am 2025-10-14 unterschrieben.",
)

MARKS = {
    "number and bracket": "1) {}",
    "number in brackets": "(2) {}",
    "letter": "b) {}",
    "dash": "- {}",
    "star": "* {}",
    "bullet": "• {}",
    "long dash": "— {}",
    "arrow": "→ {}",
    "box": "- [ ] {}",
    "quotation": "> {}",
    "quoted twice": ">> {}",
    "quoted list": "> - {}",
    "heading": "# {}",
    "third heading": "### {}",
    "bold": "**{}**",
    "italic": "*{}*",
    "bold by lines": "__{}__",
    "italic by lines": "_{}_",
    "struck": "~~{}~~",
    "code": "`{}`",
    "bold in a list": "- **{}**",
    "quotes": '"{}"',
    "low quotes": "„{}“",
    "quotes and a stop": '"{}".',
    "quotes in a list": '- "{}"',
    "curled quotes": "“{}”",
    "angled quotes": "«{}»",
    "brackets": "({})",
    "dots": "... {}",
    "a wave": "👋 {}",
    "hands": "{} 🙏",
    "a smile": "{} 🙂",
    "a smile of signs": "{} :)",
    "a line end": "{}\r\n",
    "lines around": "\n\n  {}  \n",
}
# "1. Mai" is a day, so behind a number with a point a small word has to come.
NOT_SMALL = {"Sözleşmeyi ne zaman imzaladık?"}
# So short that without its mark it is unsure.
NEEDS_ITS_MARK = {"När skrev vi på kontraktet?"}
WRITTEN: dict[str, Callable[[str], str]] = {
    "small letters": str.lower,
    "capitals": str.upper,
    "no stop": lambda prompt: prompt.rstrip("?.？ "),
    "dictated": lambda prompt: prompt.rstrip("?.？ ").lower().replace(",", ""),
    "two question marks": lambda prompt: prompt.replace("?", "??"),
    "wide blanks": lambda prompt: prompt.replace(" ", "\u00a0"),
    **{f"apostrophe {a}": lambda prompt, a=a: prompt.replace("'", a) for a in "’ʼ‘＇`´"},
}
GREETED = {
    "en": ("Hey Jarvis, {}", "haha {}", "Hi there! {}"),
    "de": ("Hallo Jarvis, {}", "Guten Morgen, {}", "Grüß dich Mira, {}", "Moin\n{}", "hihi {}"),
    "fr": ("Bonjour Jarvis, {}", "Bonjour à tous, {}", "Bonsoir Mira ! {}", "ptdr {}"),
    "es": ("Hola Jarvis, {}", "¡Buenos días, Mira! {}", "buenas tardes, {}", "jajaja {}"),
    "pt": ("Olá Jarvis, {}", "Ola, {}", "Bom dia Mira! {}", "Oi, tudo bem? {}", "kkkkk {}"),
    "it": ("Ciao Jarvis, {}", "Ciao a tutti, {}", "Buon pomeriggio, {}", "ahahah {}"),
    "nl": ("Hoi Jarvis, {}", "Goedemorgen Mira, {}", "Goeiemorgen! {}"),
    "ru": ("Привет Jarvis, {}", "Доброе утро, {}", "Всем привет! {}", "Привет 👋 {}", "хахаха {}"),
    "pl": ("Cześć Jarvis, {}", "Dzien dobry, {}", "Dobry wieczór Mira, {}", "haha {}"),
    "sv": ("Hej Jarvis, {}", "God morgon, {}", "Hallå Mira! {}", "hihi {}"),
    "tr": ("Merhaba Jarvis, {}", "Günaydın, {}", "İyi akşamlar Mira, {}", "ahaha {}"),
    "ja": ("おはよう、{}", "お疲れ様です。{}", "はじめまして！{}"),
    "zh": ("早上好，{}", "你好！{}", "大家好，{}", "哈哈哈，{}"),
    "ko": ("안녕하세요, {}", "좋은 아침이에요! {}", "ㅋㅋㅋ {}"),
}
THANKED = {
    "en": ("{} thx", "{} Thanks!", "{}. Thanks Jarvis", "Thanks! {}"),
    "de": ("{} Danke!",),
    "fr": ("{} Merci !",),
    "es": ("{} ¡Gracias!", "{} porfa"),
    "pt": ("{} Obrigado!", "{} kkkk"),
    "it": ("{} Grazie!",),
    "nl": ("{} Bedankt!",),
    "ru": ("{} Спасибо!", "{} плиз"),
    "ja": ("{}（笑）",),
    "zh": ("{}哈哈",),
    "ko": ("{} ㅎㅎ",),
}

Verdict = tuple[str, str]


@pytest.fixture(scope="module")
def decide(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], Verdict]]:
    with Mempalace.open(tmp_path_factory.mktemp("decorated")) as palace:
        for text in TOLD:
            palace.remember(text)
        enforcer = RetrievalEnforcer(palace)

        def decided(prompt: str) -> Verdict:
            verdict = enforcer.decide(prompt)
            # One that is unsure and passes is decided on as any other.
            return "other" if verdict.outcome == "not_recall" else "recall", verdict.action

        yield decided


@pytest.fixture(scope="module")
def bare(decide: Callable[[str], Verdict]) -> dict[str, Verdict]:
    return {prompt: decide(prompt) for prompt in ALL}


def test_the_bare_prompts_are_judged_right(bare: dict[str, Verdict]) -> None:
    assert {bare[prompt][0] for prompt in RECALL} == {"recall"}
    assert {bare[prompt] for prompt in NO_RECALL} == {("other", "pass")}
    assert {bare[p][0] for prompts in ELSEWHERE.values() for p in prompts} == {"recall", "other"}


@pytest.mark.parametrize("mark", MARKS)
def test_marks_around_a_prompt(
    mark: str, decide: Callable[[str], Verdict], bare: dict[str, Verdict]
) -> None:
    assert {prompt: decide(MARKS[mark].format(prompt)) for prompt in ALL} == bare


@pytest.mark.parametrize("mark", ["1. {}", "12. {}", "1. **{}**"])
def test_a_number_with_a_point_before_a_prompt(
    mark: str, decide: Callable[[str], Verdict], bare: dict[str, Verdict]
) -> None:
    prompts = [prompt for prompt in ALL if prompt not in NOT_SMALL]
    assert {p: decide(mark.format(p)) for p in prompts} == {p: bare[p] for p in prompts}


@pytest.mark.parametrize("way", WRITTEN)
def test_how_a_prompt_is_typed(
    way: str, decide: Callable[[str], Verdict], bare: dict[str, Verdict]
) -> None:
    told = {prompt: decide(WRITTEN[way](prompt)) for prompt in ALL}
    moved = {prompt for prompt in ALL if told[prompt] != bare[prompt]} - NEEDS_ITS_MARK
    # Without its capitals a name is less of a sign: what was just unclear may be nothing.
    assert len(moved) <= 1
    assert {told[prompt] for prompt in moved} <= {("recall", "fallback")}


def test_whom_a_prompt_greets_and_thanks(
    decide: Callable[[str], Verdict], bare: dict[str, Verdict]
) -> None:
    prompts = {"en": (*RECALL, *NO_RECALL), **ELSEWHERE}
    for around in (GREETED, THANKED):
        for language, frames in around.items():
            for frame in frames:
                told = {p: decide(frame.format(p)) for p in prompts[language]}
                assert told == {p: bare[p] for p in prompts[language]}, frame
