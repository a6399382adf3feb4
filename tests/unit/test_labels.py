"""Labels that templates put around a question."""

from __future__ import annotations

import pytest

from palace.text.labels import labelled_questions, unlabelled
from tests.clock import seconds


@pytest.mark.parametrize(
    "template",
    [
        "Be kind.\n\nQuestion: {}",
        "Be kind.\nUser: {}\nAssistant: ",
        "Question: {}\nContext: A document.\nAnswer:",
        "Question: an example?\nAnswer: yes.\n\nQuestion: {}\n\nAnswer: Let's think step by step.",
        "Question: {}\nContext: Question: none\nQuestion: one?\nAnswer: yes.\n\nQuestion: two?\n"
        "Answer:\nno.\nHelpful Answer:",
        "Be kind.\n\nQuestion: {}\n\nContext: Rain.\n\nIt rains.",
        "Question: an example?\nContext: Snow.\nAnswer: yes.\n\nQuestion: {}\nContext:\nRain.",
        "**Question:** {}\n\n**Context:** Rain.\n\n**Answer:**",
        "# Question\n{}\n\n# Documents\nRain.\nIt rains.",
        "## Context\nRain.\nIt rains.\n\n## Question\n{}",
        "**Context:** Rain.\n\n**Question**: {}\n\n**Answer**:",
        "Frage: {}\n\nKontext:\nRegen.\nEs regnet.",
        "Context:\nRain.\n\nUser's question: {}\n\nYour answer:",
        "Write three versions of it, one a line. Original question: {}",
        "You turn questions into queries. Here is the user query: {}",
        "Take the parts that matter.\n\n> Question: {}\n> Context:\n>>>\nRain.\n>>>\nExtracted parts:",
        "Say whether it matters.\n\n> Question: {}\n> Context:\nRain.\n> Relevant (YES / NO):",
        "Question: the question to answer\nBegin!\n\nQuestion: {}\nThought: I look.\n"
        "Action: clock\nAction Input: now\nObservation: Noon.\nThought:",
        "<documents>Rain.</documents>\n<question>\n{}\n</question>",
        "Be kind.\n<user_query>{}</user_query>\n\nAnswer:",
        "<question>{}</question>",
        "Be kind. <Follow Up Message>{}</Follow Up Message><answer>",
        "Current state: {{'mood': 'good'}}. User message: {}",
        "Be kind.\n\nContext:\nRain.\n\nQuestion:\n{}\n\nAnswer:\n",
        "Be kind.\n\nUser query:\n\n{}\n",
        "Beantworte die Frage.\n\nFrage:\n{}\n\nAntwort:",
        "Beantworte die Frage.\n\nKontext:\nRegen.\n\nFrage: {}\nAntwort:",
        "Sei nett.\nBenutzeranfrage: {}",
        "Frage: {}\nKontext: Regen.\nHilfreiche Antwort:",
        "Réponds à la question.\n\nQuestion\u202f: {}\nRéponse\xa0:",
        "Réponds.\n\nQuestion de l'utilisateur : {}\nRéponse utile :",
        "Responde.\n\nPregunta: {}\nRespuesta:",
        "Responda.\n\nPergunta do usuário: {}\nResposta:",
        "Rispondi.\n\nDomanda: {}\nRisposta:",
        "Odpowiedz.\n\nPytanie: {}\nOdpowiedź:",
        "Svara.\n\nFråga: {}\nSvar:",
        "Yanıtla.\n\nSoru: {}\nYanıt:",
        "Beantwoord de vraag.\n\nVraag: {}\nAntwoord:",
        "Ответь на вопрос.\n\nВопрос: {}\nОтвет:",
        "问题：{}\n上下文：雨。\n问题：几点？\n回答：三点。\n回答：",
        "请回答问题。\n\n上下文：雨。\n\n用户问题：{}\n回答：",
        "质問に答えてください。\n\n質問：{}\n回答：",
        "답하세요.\n\n질문: {}\n답변:",
        "<context>\nRain.\n</context>\n\nQuestion: {}\n\nPlease answer concisely.",
        'Answer the question "{}" briefly.',
        "Rain fell. From that, please answer the user's question: “{}” Be kind.",
        "Current Task: {}\n\nThis is the expected criteria for your final answer: a word\n\nBegin!",
        '{{"question": "{}"}}',
        '{{"user": 17, "User_Query": "{}", "context": ["It rains."], "answer": ""}}\n',
        "Context:\nRain.\n\nQuestion: {}\nPlease answer concisely.\nSay so if you do not know.",
        "<question>{}</question>\n<context>\nRain.\n</context>\n\nAnswer the question.",
        "<documents><document>Rain.</document></documents>\n<query>{}</query>\nBe brief.",
        "Question: {}\n\nUse these notes:\n- Rain.\n- Snow.",
        "<documents>\nRain.\n</documents>\n\n{}",
        "{}\n\n<context>\nRain.\n</context>",
        "<system-reminder>\nBe brief.\n</system-reminder>\n\n{}",
        "<user_message>\n{}\n</user_message>\n<current_time>Noon</current_time>",
        "{}\n\nUse the following context to answer the query:\nRain.\n\nSnow.",
        "{}\nAnswer from these documents only:\n\nRain.\n\nSnow.",
        "Question: {}\n\nUse the notes.\n\n- Rain.\n- Snow.\n- Wind.",
        "Question: {}\n\nAnswer from the notes below.\n\nIt rains: all day.",
        "Question: {}\n\nSearch results:\n[1] Rain.\n[2] Question: how?\nAnswer: so.\n\nCite them.",
        "You are kind.\n\nNotes:\n- Rain.\n\nUser question: {}\n\nBe brief.\nUse 100 words.\nBe kind."
        "\nSay no more.",
        "Here is the user's question: {}\n\nResults:\n- Rain.\n\nWrite the answer.",
        "The user asked: {}\n\nDocument 1:\nRain.\n\nDocument 2:\nSnow.\n\nWrite a reply.",
        "Answer from these:\nRain.\n\n---\n\nAnswer the question based on the above context: {}\n",
        "Answer the question from this context:\nRain.\n\n**Question**\n{}\n\n**Answer**",
        "[[ ## context ## ]]\nRain.\n\n[[ ## question ## ]]\n{}\n\nStart with [[ ## answer ## ]].",
        "<question>\n{}\n</question>\n\n<notes>\nRain.\n</notes>\n\nAnswer the question.",
        "Context:\n```\nRain.\n```\nQuestion:\n```\n{}\n```",
        "Think of it.\nHere is the initial question:\n ------- \n{}\n ------- \nImprove on it:",
        "Beantworte die Frage.\n\nFrage: {}\n\nNotizen:\n- Regen.\n- Schnee.\n\nSei freundlich.",
        "用户问题：{}\n\n笔记：\n- 雨。\n- 雪。",
        "Rain.\n\nQ: {}\nA:",
        "Q: an example?\nA: yes.\n\nQ: {}\nA:",
        "Below is a task.\n\n### Instruction:\n{}\n\n### Input:\nRain.\n\n### Response:\n",
        "### Instruction:\nAnswer.\n\n### Input:\nContext: Rain.\nQuestion: {}\n\n### Response:",
        "### Instruction:\nAnswer the question: {}\n\n### Response:",
        "### Instruction:\nAnswer the question below.\n\n### Input:\n{}\n\n### Response:",
        "<s>[INST] <<SYS>>\nBe kind.\n<</SYS>>\n\n{} [/INST]",
        "<s>[INST] Hello. [/INST] Hello! </s>[INST] {} [/INST]",
        "<|im_start|>system\nBe kind.<|im_end|>\n<|im_start|>user\n{}<|im_end|>\n"
        "<|im_start|>assistant\n",
        "<|im_start|>user\nContext:\nRain.\n\nQuestion: {}\n\nBe brief.<|im_end|>\n"
        "<|im_start|>assistant\nWell, ",
        "<|begin_of_text|><|start_header_id|>user<|end_header_id|>\n\n{}<|eot_id|>"
        "<|start_header_id|>assistant<|end_header_id|>\n\n",
        "<|system|>\nBe kind.</s>\n<|user|>\n{}</s>\n<|assistant|>\n",
        "<|user|>\n{}\n<|assistant|>\n",
        "<start_of_turn>user\n{}<end_of_turn>\n<start_of_turn>model\n",
    ],
)
def test_a_labelled_question_is_found(template: str) -> None:
    assert labelled_questions(template.format("When was it?"))[0] == "When was it?"


@pytest.mark.parametrize(
    "text",
    [
        "When was it?",
        "",
        "A question: none of ours.\nMore text.",
        "Question:\nAnswer: it was long.",
        "# Questions\nWhen was it?\n\n# Context\nA report follows.",
        "Translate this.\n\nInput:\nWhen was it?",
        "I asked her a simple question: none came.",
        "Translate this. Message: when was it?",
        "Translate this. <message>When was it?</message>",
        "<question>When was it?</question> is how the form begins.",
        "<question>When was it?</query>",
        "Ich habe eine Frage: keine.\nEin Bericht.",
        "我有一个问题：没有。\n报告。",
        "Context:\nQuestion: when was it?\nAnswer: at noon.\n\nSum this up.",
        "Translate this.\n<|im_start|>user\nWhen was it?<|im_end|>\n<|im_start|>assistant\n",
        "<|im_start|>user\nWhen?<|im_end|>\n<|im_start|>assistant\nAt noon.<|im_end|>\n",
        "### Instruction:\nWhen was it?\n\n### Notes:\nNone.",
        "Sum this up.\n\nHello,\none question: when was it?\nThanks.",
        "Translate the following question: when was it?",
        'Translate the question "When was it?" into German.',
        'I had to answer the question "When was it?" and could not.',
        '{"question": "When was it?", "answer": "At noon."}',
        '{"query": "When was it?", "results": ["At noon."]}',
        '{"question": 7}',
        '{"question": "When was it?"',
        '{"question": "When was it?"} is what the form sends. }',
        "{When was it?}",
        "What did we decide?\n\nHere is the document:\nRain.",
        "When was it?\n\nTranslate the answer in this document.",
        "Translate this.\nQuestion: when was it?\nAnswer: at noon.\nQuestion: what?\nAnswer:\nRain.",
    ],
)
def test_other_texts_label_no_question(text: str) -> None:
    assert labelled_questions(text) == ()


@pytest.mark.parametrize("said", ["Sum this up.", "Message: when was it?\nTranslate it."])
def test_what_stands_in_a_context_is_left_out(said: str) -> None:
    text = f"<context>\nQuestion: when was it?\n</context>\n\n{said}"
    assert labelled_questions(text) == (said,)


@pytest.mark.parametrize(
    "template",
    [
        "Rain.\n\nQuestion: {}\n\nAnswer:",
        "Question: {}\n\nContext:\nRain.",
        "## Question\n{}\n\n## Documents\nRain.",
        "<question>\n{}\n</question>\n<notes>\nRain.\n</notes>\nAnswer it.",
    ],
)
def test_what_stands_on_several_lines_comes_whole_too(template: str) -> None:
    said = "Hello!\n\nWe sold the van.\nWhen was it?"
    assert labelled_questions(template.format(said)) == ("Hello!", said)


@pytest.mark.parametrize(
    "text",
    ["Question: {}", " user: {}\n", "Quick question: {}", "Question: {}\nAnswer:", "> Query: {}"]
    + ["Frage: {}\nAntwort:", "Question : {}", "问题：{}\n回答：", "\n\nQuery: {}  \nAnswer:"],
)
def test_labels_around_a_question_are_taken_off(text: str) -> None:
    assert unlabelled(text.format("When was it?")) == "When was it?"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "When was it?",
        "Two vans.\nQuestion: when was it?",
        "Question: when was it?\nOr was it not?",
        "The question: when was it?",
        "Berlin: when was it?",
    ],
)
def test_what_has_more_than_labels_around_it_stays(text: str) -> None:
    assert unlabelled(text) == text


def test_looking_for_a_label_takes_no_time() -> None:
    hostile = (
        "Question: a b c\n" * 20_000,
        "Question: abc" + "\n" * 100_000,
        "# Question\nabc\n" * 20_000,
        " \t\n" * 50_000,
        "<query>" * 40_000,
        *["<query>" + " " * 2_000] * 100,
        "<context>" * 40_000,
        "Context:\n" * 40_000,
        "[INST] <<SYS>> " * 40_000,
        "<|user|>" + "</s> <|assistant|>" * 20_000,
        "### Instruction:\n" * 20_000 + "### Response:",
        "Answer the question " * 20_000,
    )

    def look() -> None:
        for text in hostile:
            labelled_questions(f"{text}\nAnswer: z")
            unlabelled(f"{text}\nAnswer: z")

    assert seconds(look) < 5
