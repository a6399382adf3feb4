"""Words that a prompt brings along to be translated or put right."""

from __future__ import annotations

import pytest

from palace.text.given_words import works_on_given_words
from palace.text.labels import labelled_questions


@pytest.mark.parametrize(
    "prompt",
    [
        "Translate to French: {}",
        "Please translate this into Spanish: {}",
        "Translate the following question into German:\n\n{}",
        'Translate "{}" into Dutch.',
        "Hi, can you translate this question for me? {}",
        "Please translate the question below.\n\nQuestion: {}",
        "Translate the user's question to English. Only return the translation.\n\n{}",
        "You are a translator. Translate the text between the tags.\n<text>{}</text>",
        "Translate the text in backticks into German.\n```{}```",
        "Question: {}\n\nTranslate the question above into German.",
        "{}\n\nTranslate the above to German.",
        "Proofread: {}",
        "Fix the spelling: {}",
        "Correct the grammar of this question: {}",
        "Rephrase this sentence, less formal: {}",
        "Shorten this: {}",
        "Shorten this for Ann: {}",
        "polish this before I send it to Ann: {}",
        "Can you make this sound friendlier: {}",
        'How do you say "{}" in Spanish?',
        'What does "{}" mean?',
        'What is the sentiment of "{}"',
        "Summarise the following transcript:\nAnn: {}\nBob: On Monday.",
        "Write a short summary of this conversation.\n\nAnn: {}",
        "Übersetze die folgende Frage ins Englische: {}",
        "Traduis la question suivante en anglais : {}",
        "Traduce la siguiente pregunta al inglés: {}",
        "Переведи следующий вопрос на английский: {}",
        "翻译下面的问题：{}",
        "次の質問を英語に翻訳してください：{}",
    ],
)
def test_are_worked_on_and_ask_nothing(prompt: str) -> None:
    assert works_on_given_words(prompt.format("When did we meet Ann?"))
    assert labelled_questions(prompt.format("When did we meet Ann?")) == ()


@pytest.mark.parametrize(
    "prompt",
    [
        "When did we meet Ann?",
        "Translate our decision about the lamp into German.",
        "Who is to translate the manual?",
        "Which words did we translate: two or three?",
        "Did Ann translate the contract: yes or no?",
        "What did Ann say about the spelling?",
        "Translate the release notes into German.\nWhen did we ship them?",
        "What did we agree with Ann? Translate to French: see you on Monday.",
        "When did we meet Ann?\n\nTranslate the answer into German.",
        "Translate the following question and answer it: when did we meet Ann?",
        "Rewrite the following question as a search query: when did we meet Ann?",
        "Rephrase this sentence as a question for a search: when did we meet Ann?",
        "Rewrite this as a query: when did we meet Ann?",
        "Can you make this clear: when did we meet Ann?",
        "How do you say that Ann decided?",
        'What does "the red day" mean?',
        "Summarise the following documents to answer the question: when did we meet Ann?",
        "Summarise our decisions about the lamp.",
        "Summarise the following week.",
        "You are a translator. Translate this code.\nUser: when did we meet Ann?\nAssistant:",
        "Translate this.",
        "",
    ],
)
def test_other_prompts_are_not(prompt: str) -> None:
    assert not works_on_given_words(prompt)
