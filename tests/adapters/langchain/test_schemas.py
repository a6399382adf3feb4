"""The instructions of an output parser in the prompt do not hide the question beside them."""

from __future__ import annotations

import contextlib
import json

import pytest
from langchain_core.output_parsers import (
    CommaSeparatedListOutputParser,
    JsonOutputParser,
    MarkdownListOutputParser,
    NumberedListOutputParser,
    PydanticOutputParser,
    XMLOutputParser,
)
from langchain_core.prompts import ChatPromptTemplate
from langchain_palace import ChatPalace
from pydantic import BaseModel

from palace import RecallMiss, UngroundedAnswerError
from tests.adapters.langchain.doubles import (
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
    declining,
    pointing,
)


class Answer(BaseModel):
    """An answer."""

    text: str


PYDANTIC = PydanticOutputParser(pydantic_object=Answer)
OF_JSON = [PYDANTIC, JsonOutputParser(pydantic_object=Answer), JsonOutputParser()]
OTHERS = [
    CommaSeparatedListOutputParser(),
    MarkdownListOutputParser(),
    NumberedListOutputParser(),
    XMLOutputParser(tags=["answer"]),
]
TEMPLATES = {
    "last": [("human", "Answer the user query.\n{form}\n{asked}\n")],
    "first": [("human", "Answer the user query.\n{asked}\n{form}")],
    "labelled": [("human", "{form}\n\nQuestion: {asked}")],
    "in the system prompt": [("system", "Be brief. {form}"), ("human", "{asked}")],
}


def chain(palace, model, parser, template="last"):
    prompt = ChatPromptTemplate.from_messages(TEMPLATES[template])
    filled = prompt.partial(form=parser.get_format_instructions())
    return filled | ChatPalace(inner=model, palace=palace)


def saying(text, fence="{}"):
    """Return a persona that points truly and puts a text into JSON."""

    def persona(asked):
        if asked.is_pointing:
            return pointing(asked, 1, asked.items[0], asked.items[0])
        return fence.format(json.dumps({"text": text}))

    return persona


@pytest.mark.parametrize("template", TEMPLATES)
class TestMisses:
    @pytest.mark.parametrize("parser", OF_JSON)
    def test_where_json_is_wanted_a_miss_is_an_error(self, palace, template, parser):
        model = CountingModel(persona=saying(LIE))
        with pytest.raises(RecallMiss, match="memory palace"):
            chain(palace, model, parser, template).invoke({"asked": MISS})
        assert model.calls == 0

    @pytest.mark.parametrize("parser", OTHERS)
    def test_elsewhere_it_is_the_fallback(self, palace, template, parser):
        model = CountingModel(persona=saying(LIE))
        assert chain(palace, model, parser, template).invoke({"asked": MISS}).text == FALLBACK
        assert model.calls == 0


@pytest.mark.parametrize("template", TEMPLATES)
@pytest.mark.parametrize("way", ["invoke", "stream"])
class TestAnswers:
    def said(self, chain, words, way):
        parsed = chain | PYDANTIC
        made = parsed.invoke({"asked": words}) if way == "invoke" else None
        return made or list(parsed.stream({"asked": words}))[-1]

    @pytest.mark.parametrize("fence", ["{}", "```json\n{}\n```", "Here:\n```json\n{}\n```\nBye!"])
    def test_what_the_memory_says_is_released(self, palace, template, way, fence):
        for words, text in ((HIT, HIT_TEXT), (UNCLEAR, UNCLEAR_TEXT)):
            model = CountingModel(persona=saying(text, fence))
            made = self.said(chain(palace, model, PYDANTIC, template), words, way)
            assert made == Answer(text=text)

    @pytest.mark.parametrize("words", [HIT, UNCLEAR])
    def test_what_it_does_not_say_is_not(self, palace, template, way, words):
        model = CountingModel(persona=saying(LIE))
        with pytest.raises(UngroundedAnswerError):
            self.said(chain(palace, model, PYDANTIC, template), words, way)

    def test_declining_is_a_miss(self, palace, template, way):
        asking = chain(palace, CountingModel(persona=declining), PYDANTIC, template)
        with pytest.raises(RecallMiss, match="memory palace"):
            self.said(asking, HIT, way)

    def test_what_asks_for_no_memory_passes(self, palace, template, way):
        model = CountingModel(persona=saying("Rain."))
        made = self.said(chain(palace, model, PYDANTIC, template), PASS, way)
        assert made == Answer(text="Rain.")


@pytest.mark.parametrize("liar", LIARS)
def test_unclear_evidence_is_quoted_or_missed(palace, liar):
    asking = chain(palace, CountingModel(persona=liar), PYDANTIC)
    with contextlib.suppress(RecallMiss, UngroundedAnswerError):
        assert LIE not in asking.invoke({"asked": UNCLEAR}).text


@pytest.mark.parametrize("kind", ["RetryOutputParser", "RetryWithErrorOutputParser"])
class TestTryingAgain:
    def said(self, kind, palace, model, words):
        parsers = pytest.importorskip("langchain_classic.output_parsers")
        asked = ChatPromptTemplate.from_template("{question}\n{form}").invoke(
            {"question": words, "form": PYDANTIC.get_format_instructions()}
        )
        chat = ChatPalace(inner=model, palace=palace)
        again = getattr(parsers, kind).from_llm(chat, PYDANTIC)
        return again.parse_with_prompt(f"{LIE}\nCompletion:\nNone.", asked)

    def test_on_a_miss_asks_no_model(self, palace, kind):
        model = CountingModel(persona=saying(LIE))
        with pytest.raises(RecallMiss, match="memory palace"):
            self.said(kind, palace, model, MISS)
        assert model.calls == 0

    @pytest.mark.parametrize(("words", "text"), [(HIT, HIT_TEXT), (UNCLEAR, UNCLEAR_TEXT)])
    def test_holds_what_is_remembered_and_no_lie(self, palace, kind, words, text):
        told = self.said(kind, palace, CountingModel(persona=saying(text)), words)
        assert told == Answer(text=text)
        with pytest.raises(UngroundedAnswerError):
            self.said(kind, palace, CountingModel(persona=saying(LIE)), words)

    def test_passes_where_nothing_remembered_is_asked_for(self, palace, kind):
        told = self.said(kind, palace, CountingModel(persona=saying("Rain.")), PASS)
        assert told == Answer(text="Rain.")


@pytest.mark.parametrize("words", [MISS, UNCLEAR])
def test_a_miss_in_words_is_not_put_into_another_form(palace, words):
    parsers = pytest.importorskip("langchain_classic.output_parsers")
    model = CountingModel(persona=lambda asked: declining(asked) if asked.is_pointing else LIE)
    chat = ChatPalace(inner=model, palace=palace)
    fixing = parsers.OutputFixingParser.from_llm(chat, PYDANTIC)

    with pytest.raises(RecallMiss, match="memory palace"):
        (chat | fixing).invoke(words)
    assert model.calls == (words == UNCLEAR)


def test_a_reply_of_the_models_own_is_put_into_another_form(palace):
    parsers = pytest.importorskip("langchain_classic.output_parsers")
    replies = iter(["Rain.", '{"text": "Rain."}'])
    chat = ChatPalace(inner=CountingModel(persona=lambda asked: next(replies)), palace=palace)
    fixing = parsers.OutputFixingParser.from_llm(chat, PYDANTIC)

    assert (chat | fixing).invoke(PASS) == Answer(text="Rain.")


@pytest.mark.parametrize("words", [HIT, UNCLEAR, MISS])
@pytest.mark.parametrize(
    "asked",
    [
        "Translate the following question into French.\n{}\n{form}",
        "{form}\nTranslate the following question into French.\n{}",
        "Translate the question below.\n\n{form}\n\nQuestion: {}",
    ],
)
def test_words_to_be_translated_into_a_form_pass(palace, asked, words):
    model = CountingModel(persona=saying("Quand ?"))
    text = asked.format(words, form=PYDANTIC.get_format_instructions())

    assert (ChatPalace(inner=model, palace=palace) | PYDANTIC).invoke(text).text == "Quand ?"
    assert [asked.text for asked in model.asked] == [text]
