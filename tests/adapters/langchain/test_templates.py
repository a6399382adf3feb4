"""What a template puts around a question, memories and conversations too, does not blur it."""

from __future__ import annotations

import pytest
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, get_buffer_string
from langchain_core.prompts import ChatPromptTemplate
from langchain_palace import ChatPalace, PalaceRunnable
from langchain_palace.questions import question_in
from langchain_palace.session import call_of
from langchain_palace.turns import Turns

from palace import RecallMiss, hosting
from tests.adapters.langchain.doubles import (
    CHAT,
    FALLBACK,
    HIT,
    HIT_TEXT,
    LIARS,
    LIE,
    MISS,
    PASS,
    UNCLEAR,
    UNCLEAR_TEXT,
    CountingModel,
    honest,
)

SYSTEM = SystemMessage("You are helpful and know our dashboard.")
DOCUMENTS = [Document("The garden has 17 trees."), Document("When did we move to Oslo?")]
EARLIER = [HumanMessage("Hello."), AIMessage("Hello, what can I do?")]


def as_prompt(question):
    prompt = ChatPromptTemplate.from_messages([SYSTEM, ("human", "{question}")])
    return prompt.invoke({"question": question}).to_string()


def after_others(question):
    return get_buffer_string([SYSTEM, *EARLIER, HumanMessage(question)])


def to_be_continued(question):
    return f"{get_buffer_string([*EARLIER, HumanMessage(question)])}\nAI:"


def beside_context(question):
    return f"Answer from the context.\n\nContext: {UNCLEAR_TEXT}\n\nQuestion: {question}"


def beside_an_answer(question):
    return f"Context: {HIT_TEXT}\n\nQuestion: {question}\nHelpful answer:"


def before_context(question):
    context = "\n\n".join([f"Section {n} tells of ports and boards." for n in range(20)])
    return f"Answer it.\n\n**Question:** {question}\n\n**Context:**\n{context}"


def before_advice(question):
    sections = "\n".join([f"Section {n} tells of ports and boards." for n in range(20)])
    return f"<context>\n{sections}\n</context>\n\nQuestion: {question}\n\nPlease be brief."


def before_notes(question):
    notes = "\n".join([f"- Section {n} tells of ports and boards." for n in range(20)])
    return f"Here is the user's question: {question}\n\nUse these notes:\n{notes}\n\nBe brief."


def below_other_lines(question):
    sections = "\n".join([f"Section {n} tells of ports and boards." for n in range(20)])
    return f"## Question\nGood morning!\n\n{question}\n\n## Documents\n{sections}"


def in_chat_tokens(question):
    system = f"<|im_start|>system\nOur dashboard is for {DOCUMENTS[0].page_content}<|im_end|>"
    return f"{system}\n<|im_start|>user\n{question}<|im_end|>\n<|im_start|>assistant\n"


def before_other_questions(question):
    context = "Question: When is the office open?\nAnswer: From nine to five."
    return f"Answer it.\nQuestion: {question} \nContext: {context}\n\nThe garden.\nAnswer:"


def in_several_lines(question):
    return get_buffer_string([SYSTEM, *EARLIER, HumanMessage(f"Hello.\n\n{question}\nPlease.")])


def after_instructions(question):
    return (
        "The following is a friendly conversation between a human and an AI.\n\nCurrent"
        f" conversation:\n{get_buffer_string(EARLIER)}\nHuman: Hello.\n\n{question}\nPlease.\nAI:"
    )


TEXTS = [
    after_instructions,
    as_prompt,
    in_several_lines,
    after_others,
    to_be_continued,
    beside_context,
    beside_an_answer,
    before_context,
    before_advice,
    before_notes,
    below_other_lines,
    in_chat_tokens,
    before_other_questions,
]


@pytest.mark.parametrize("text_of", TEXTS)
@pytest.mark.parametrize("host_of", [ChatPalace, PalaceRunnable])
@pytest.mark.parametrize(
    ("prompt", "outcome", "calls"),
    [(MISS, "nothing_stored", 0), (HIT, "hit", 1), (UNCLEAR, "near_miss", 2)],
)
def test_the_question_is_decided_on(palace, text_of, host_of, prompt, outcome, calls):
    model = CountingModel(persona=honest)
    wrapped = {"inner" if host_of is ChatPalace else "bound": model}

    reply = host_of(**wrapped, palace=palace).invoke(text_of(prompt))

    assert reply.response_metadata["palace"]["outcome"] == outcome
    assert model.calls == calls
    assert all("You are helpful" in asked.text for asked in model.asked if text_of is as_prompt)


@pytest.mark.parametrize("is_first", [True, False])
@pytest.mark.parametrize(
    ("prompt", "text", "calls"),
    [(MISS, FALLBACK, 0), (HIT, HIT_TEXT, 1), (UNCLEAR, UNCLEAR_TEXT, 2), (PASS, CHAT, 1)],
)
def test_a_file_in_a_part_of_its_own_blurs_no_question(palace, prompt, text, calls, is_first):
    lines = "\n".join([f"Line {n} tells of the garden and its trees." for n in range(20)])
    parts = [{"type": "text", "text": f"File notes.txt:\n{lines}"}]
    parts.insert(0 if is_first else 1, {"type": "text", "text": prompt})
    model = CountingModel(persona=honest)

    said = ChatPalace(inner=model, palace=palace).invoke([HumanMessage(parts)])

    assert said.text.startswith(text)
    assert model.calls == calls


@pytest.mark.filterwarnings("ignore:The function `load_qa_chain`")
@pytest.mark.parametrize("is_chat", [True, False])
@pytest.mark.parametrize(
    ("prompt", "text", "calls"),
    [(MISS, FALLBACK, 0), (HIT, HIT_TEXT, 2), (UNCLEAR, UNCLEAR_TEXT, 4), (PASS, CHAT, 2)],
)
def test_an_answer_that_is_refined_is_one_to_the_question(palace, is_chat, prompt, text, calls):
    chains = pytest.importorskip("langchain_classic.chains.question_answering")
    prompts = pytest.importorskip("langchain_classic.chains.question_answering.refine_prompts")
    model = CountingModel(persona=honest)
    chat = ChatPalace(inner=model, palace=palace)
    given = {} if is_chat else {"refine_prompt": prompts.DEFAULT_REFINE_PROMPT}
    chain = chains.load_qa_chain(chat, chain_type="refine", **given)

    told = chain.invoke({"input_documents": DOCUMENTS, "question": prompt})["output_text"]

    assert told.startswith(text)
    assert model.calls == calls


@pytest.mark.parametrize("liar", LIARS)
def test_no_lie_refines_an_answer(palace, liar):
    prompts = pytest.importorskip("langchain_classic.chains.question_answering.refine_prompts")
    chain = prompts.CHAT_REFINE_PROMPT | ChatPalace(
        inner=CountingModel(persona=liar), palace=palace
    )
    for prompt in (HIT, UNCLEAR):
        said = chain.invoke({"question": prompt, "existing_answer": CHAT, "context_str": LIE}).text
        assert "80085" not in said


def test_what_has_its_reply_in_a_conversation_is_not_asked_again(palace):
    model = CountingModel(persona=honest)
    text = get_buffer_string([HumanMessage(f"Hello.\n{MISS}"), AIMessage("A fine one.")])

    ChatPalace(inner=model, palace=palace).invoke(f"{text}\n\nWrite a haiku about it.")

    assert model.calls


@pytest.mark.parametrize("text_of", TEXTS[:-2])
def test_what_asks_nothing_passes_as_it_is(palace, text_of):
    model = CountingModel(persona=honest)

    ChatPalace(inner=model, palace=palace).invoke(text_of(PASS))

    assert [asked.text for asked in model.asked] == [text_of(PASS)]


@pytest.mark.parametrize("host_of", [ChatPalace, PalaceRunnable])
@pytest.mark.parametrize("prompt", [HIT, UNCLEAR, MISS])
@pytest.mark.parametrize(
    "template",
    [
        "Translate the following question into French: {}",
        "Please translate the question below.\n\nQuestion: {}",
        "{}\n\nTranslate the above to French.",
        "Fix the spelling: {}",
    ],
)
def test_words_to_be_translated_pass_as_they_are(palace, host_of, template, prompt):
    model = CountingModel(persona=honest)
    host = host_of(**{"bound" if host_of is PalaceRunnable else "inner": model}, palace=palace)

    assert host.invoke(template.format(prompt)).text == CHAT
    assert [asked.text for asked in model.asked] == [template.format(prompt)]


def test_what_goes_on_with_an_ordinary_turn_passes_and_behind_a_miss_does_not(palace):
    model = CountingModel(persona=honest)
    chat = ChatPalace(inner=model, palace=palace)

    for said in ("Another one, please.", "When?"):
        ordinary = [HumanMessage(PASS), AIMessage(CHAT), HumanMessage(said)]
        assert chat.invoke(ordinary).text == CHAT
    calls = model.calls
    missed = [HumanMessage(MISS), AIMessage(FALLBACK), HumanMessage("When?")]
    assert chat.invoke(missed).text == FALLBACK
    assert model.calls == calls


@pytest.mark.filterwarnings("ignore:The function `load_qa_chain`")
@pytest.mark.filterwarnings("ignore:The apply_and_parse method")
def test_a_chain_that_reads_a_score_gets_no_reply_in_words_on_a_miss(palace):
    chains = pytest.importorskip("langchain_classic.chains.question_answering")
    model = CountingModel(persona=lambda asked: "A score of how well.\nScore: 90")
    chain = chains.load_qa_chain(ChatPalace(inner=model, palace=palace), chain_type="map_rerank")

    with pytest.raises(RecallMiss, match=FALLBACK):
        chain.invoke({"input_documents": DOCUMENTS, "question": MISS})
    assert model.calls == 0
    told = chain.invoke({"input_documents": DOCUMENTS, "question": PASS})
    assert told["output_text"] == "A score of how well."


MINUTES = "Present: Karim, Ulla.\nBudget: Ulla prepares a new budget until 20 June."
OF_MINUTES = "Who prepares the new budget?"
OWN = ["Who prepares my budget for the garden?", "Do you remember who prepared the new budget?"]


def in_the_system(question):
    return [
        SystemMessage(f"Answer from the context.\n\nContext: {MINUTES}"),
        HumanMessage(question),
    ]


def in_the_message(question):
    return f"{MINUTES}\n\nQuestion: {question}"


def in_tags(question):
    return f"<context>\n{MINUTES}\n</context>\n\n{question}"


@pytest.mark.parametrize("prompt_of", [in_the_system, in_the_message, in_tags])
@pytest.mark.parametrize("wrapper", ["model", "chain"])
def test_what_a_document_beside_the_question_tells_is_asked_of_that(palace, prompt_of, wrapper):
    model = CountingModel(persona=lambda asked: CHAT)
    wrapped = ChatPalace(inner=model, palace=palace)
    if wrapper == "chain":
        wrapped = PalaceRunnable(bound=model, palace=palace)

    for question in (MISS, *OWN, OF_MINUTES.replace("the new budget", "the boats")):
        assert wrapped.invoke(prompt_of(question)).text.startswith(FALLBACK), question
    assert all(asked.is_pointing for asked in model.asked)
    assert wrapped.invoke(prompt_of(OF_MINUTES)).text == CHAT


def test_documents_that_a_chain_is_given_are_asked_as_well(palace):
    model = CountingModel(persona=lambda asked: CHAT)
    template = ChatPromptTemplate.from_template("{documents}\n{question}")
    chain = PalaceRunnable(bound=template | model, palace=palace)
    given = {"documents": [Document(MINUTES)], "unit": 3}

    assert chain.invoke({"question": OF_MINUTES, **given}).text == CHAT
    assert chain.invoke({"question": OWN[0], **given}).text == FALLBACK
    assert chain.invoke({"question": OF_MINUTES, "documents": DOCUMENTS}).text == FALLBACK


def test_nothing_stands_beside_a_message_alone(palace):
    turns = Turns(palace)
    for asked, beside in ((HIT, ""), (f"A document.\n\nQuestion: {HIT}", "A document.")):
        plan = hosting.run(turns.decide(question_in(asked), call_of(None)))
        assert (plan.verdict.turn.prompt, plan.verdict.turn.beside[:11]) == (HIT, beside)
