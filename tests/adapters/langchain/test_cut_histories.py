"""A tool loop goes on where the host has cut off the question, or summarised it."""

from __future__ import annotations

import pytest
from langchain_core.messages import (
    AIMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
    trim_messages,
)
from langchain_palace import ChatPalace

from palace import Mempalace, UngroundedAnswerError
from tests.adapters.langchain.doubles import (
    CHAT,
    FALLBACK,
    HIT,
    HIT_TEXT,
    LIARS,
    MISS,
    PASS,
    UNCLEAR,
    UNCLEAR_TEXT,
    CountingModel,
    Shipped,
    calling,
    calling_once,
    honest,
    lying_after_a_true_quote,
    session,
    weather,
)


def trimmed(messages):
    return trim_messages(messages, max_tokens=2, token_counter=len, include_system=False)


def trimmed_behind_the_system(messages):
    return [SystemMessage("Be brief."), *trimmed(messages)]


def summarised(messages):
    told = {"lc_source": "summarization"}
    return [HumanMessage("The person asked for something.", additional_kwargs=told), *messages[1:]]


def trimmed_behind_an_earlier_message(messages):
    return [HumanMessage("Hello there!"), *trimmed(messages)]


def trimmed_behind_an_earlier_turn(messages):
    return [HumanMessage("Hello there!"), AIMessage("Hello."), *trimmed(messages)]


CUTS = [
    trimmed,
    trimmed_behind_the_system,
    summarised,
    trimmed_behind_an_earlier_message,
    trimmed_behind_an_earlier_turn,
]


def under_way(palace, persona, prompt, config=None):
    """Return a model with a tool, and a conversation in which it called that."""
    model = CountingModel(persona=calling_once("weather", {"city": "Rome"}, then=persona))
    bound = ChatPalace(inner=model, palace=palace).bind_tools([weather])
    reply = bound.invoke([HumanMessage(prompt)], config)
    said = [HumanMessage(prompt), reply, ToolMessage(weather("Rome"), tool_call_id="c1")]
    return model, bound, said


@pytest.mark.parametrize("cut", CUTS)
@pytest.mark.parametrize(("prompt", "text"), [(HIT, HIT_TEXT), (UNCLEAR, UNCLEAR_TEXT)])
class TestATurnThatIsChecked:
    def test_goes_on_with_its_evidence(self, palace, cut, prompt, text):
        model, bound, said = under_way(palace, honest, prompt)
        before = len(palace.verdicts(limit=99))

        told = bound.invoke(cut(said))

        assert told.text == f"{text} [1]"
        assert len(palace.verdicts(limit=99)) == before
        sent = model.asked[-1].messages
        assert [m.type for m in sent][-2:] == ["ai", "tool"]
        assert [m.type for m in sent if prompt in m.text] == ["human"]
        assert [m.type for m in sent].count("system") == (sent[0].type == "system")

    @pytest.mark.parametrize("liar", LIARS)
    def test_stays_checked(self, palace, cut, prompt, text, liar):
        _, bound, said = under_way(palace, liar, prompt)

        assert "80085" not in bound.invoke(cut(said)).text
        assert not any("80085" in str(chunk.content) for chunk in bound.stream(cut(said)))

    def test_is_of_its_session(self, palace, cut, prompt, text):
        model, bound, said = under_way(palace, honest, prompt, session("a"))
        before = model.calls

        told = bound.invoke(cut(said), session("b"))

        assert told.text == FALLBACK
        assert model.calls == before

    @pytest.mark.parametrize("liar", LIARS)
    def test_stays_checked_in_another_process(self, palace, cut, prompt, text, liar):
        _, _, said = under_way(palace, honest, prompt)
        with reopened(palace) as anew:
            model = CountingModel(persona=calling_once("weather", {"city": "Rome"}, then=liar))
            bound = ChatPalace(inner=model, palace=anew).bind_tools([weather])

            assert "80085" not in bound.invoke(cut(said)).text
            assert not any("80085" in str(chunk.content) for chunk in bound.stream(cut(said)))

    def test_goes_on_in_another_process(self, palace, cut, prompt, text):
        _, _, said = under_way(palace, honest, prompt)
        with reopened(palace) as anew:
            model = CountingModel(persona=calling_twice)
            bound = ChatPalace(inner=model, palace=anew).bind_tools([weather])
            before = len(anew.verdicts(limit=99))

            calls = bound.invoke(cut(said))
            told = bound.invoke([*cut(said), calls, ToolMessage("Rain.", tool_call_id="c2")])

            assert calls.tool_calls
            assert told.text == f"{text} [1]"
            is_earlier_left = cut(said)[0].text == "Hello there!"
            assert len(anew.verdicts(limit=99)) == before + 1 + is_earlier_left
            for asked in model.asked:
                assert prompt in asked.everything
                assert not asked.is_pointing or "tool" not in [m.type for m in asked.messages]

    @pytest.mark.parametrize("kept", ["hash", "off"])
    def test_whose_question_nobody_knows_any_more_ends(
        self, palace, monkeypatch, cut, prompt, text, kept
    ):
        monkeypatch.setenv("PALACE_JOURNAL__PROMPTS", kept)
        with reopened(palace) as first:
            _, _, said = under_way(first, honest, prompt)
        with reopened(first) as anew:
            model = CountingModel(persona=honest)

            told = ChatPalace(inner=model, palace=anew).bind_tools([weather]).invoke(cut(said))

        assert told.text == FALLBACK
        assert model.calls == 0


def reopened(palace):
    """Return the palace as another process has it: what is under way in this one is not there."""
    palace.close()
    return Mempalace.open(palace.root)


def calling_twice(asked):
    called = [m for m in asked.messages if m.type == "tool"]
    if asked.is_pointing or len(called) != 1:
        return honest(asked)
    return calling("weather", {"city": "Rome"}, id="c2")


@pytest.mark.parametrize("cut", CUTS)
def test_what_asks_for_no_memory_is_sent_as_it_is_by_another_process(palace, cut):
    _, _, said = under_way(palace, honest, PASS)
    with reopened(palace) as anew:
        model = CountingModel(persona=honest)

        assert ChatPalace(inner=model, palace=anew).bind_tools([weather]).invoke(cut(said))
        assert model.asked[-1].messages == cut(said)


@pytest.mark.parametrize("cut", CUTS)
def test_what_asks_for_no_memory_is_sent_as_it_is(palace, cut):
    model, bound, said = under_way(palace, honest, PASS)

    assert bound.invoke(cut(said)).text == CHAT
    assert model.asked[-1].messages == cut(said)


@pytest.mark.parametrize("cut", CUTS)
def test_an_answer_in_a_schema_stays_checked(palace, cut):
    def persona(asked):
        name = asked.tools[0]
        given = {"date": "2027-01-01"} if name == "Shipped" else {"city": "Rome"}
        return calling(name, given)

    chat = ChatPalace(inner=CountingModel(persona=persona), palace=palace)
    said = [HumanMessage(HIT), chat.bind_tools([weather]).invoke(HIT)]
    said.append(ToolMessage(weather("Rome"), tool_call_id="c1"))

    with pytest.raises(UngroundedAnswerError):
        chat.with_structured_output(Shipped).invoke(cut(said))


@pytest.mark.parametrize("cut", CUTS)
@pytest.mark.parametrize("prompt", [HIT, UNCLEAR])
def test_a_reminder_of_the_program_ends_no_ruling(palace, cut, prompt):
    reminder = SystemMessage("Two steps are left.")
    _, bound, said = under_way(palace, lying_after_a_true_quote, prompt)

    assert "80085" not in bound.invoke([*cut(said), reminder]).text
    with reopened(palace) as anew:
        model = CountingModel(persona=lying_after_a_true_quote)
        bound = ChatPalace(inner=model, palace=anew).bind_tools([weather])

        assert "80085" not in bound.invoke([*cut(said), reminder]).text


@pytest.mark.parametrize("earlier", [HIT, PASS, MISS])
@pytest.mark.parametrize(
    ("prompt", "text"), [(HIT, f"{HIT_TEXT} [1]"), (UNCLEAR, f"{UNCLEAR_TEXT} [1]"), (PASS, CHAT)]
)
def test_an_earlier_question_is_not_answered_in_place_of_it(palace, earlier, prompt, text):
    model = CountingModel(persona=calling_once("weather", {"city": "Rome"}, then=honest))
    bound = ChatPalace(inner=model, palace=palace).bind_tools([weather])
    asked = HumanMessage(earlier, id="h1")
    bound.invoke([asked])
    calls = bound.invoke([asked, AIMessage("So be it."), HumanMessage(prompt, id="h2")])

    told = bound.invoke([asked, calls, ToolMessage(weather("Rome"), tool_call_id="c1")])

    assert told.text == text


def test_a_question_edited_in_its_loop_is_decided_on(palace):
    model = CountingModel(persona=calling_once("weather", {"city": "Rome"}, then=honest))
    bound = ChatPalace(inner=model, palace=palace).bind_tools([weather])
    calls = bound.invoke([HumanMessage(HIT, id="h1")])
    answered = ToolMessage(weather("Rome"), tool_call_id="c1")

    assert bound.invoke([HumanMessage(MISS, id="h1"), calls, answered]).text == FALLBACK
    assert bound.invoke([HumanMessage(PASS, id="h1"), calls, answered]).text == CHAT


def test_a_question_that_gets_another_id_is_told_once(palace):
    model = CountingModel(persona=calling_once("weather", {"city": "Rome"}, then=honest))
    bound = ChatPalace(inner=model, palace=palace).bind_tools([weather])
    calls = bound.invoke([HumanMessage(HIT, id="h1")])

    bound.invoke([HumanMessage(HIT, id="h2"), calls, ToolMessage("Rain.", tool_call_id="c1")])

    assert model.asked[-1].text.count(HIT) == model.asked[0].text.count(HIT)


def test_a_program_that_tells_the_time_ends_no_ruling(palace):
    """What is said before a question without an id tells it from the same words asked later."""
    model = CountingModel(persona=calling_once("weather", {"city": "Rome"}, then=honest))
    bound = ChatPalace(inner=model, palace=palace).bind_tools([weather])
    asked = HumanMessage(UNCLEAR)

    calls = bound.invoke([SystemMessage("It is 12:00."), asked])
    answered = ToolMessage(weather("Rome"), tool_call_id="c1")
    told = bound.invoke([SystemMessage("It is 12:01."), asked, calls, answered])

    assert told.text == f"{UNCLEAR_TEXT} [1]"
    assert [a.is_pointing for a in model.asked] == [True, False, False]
    assert len(palace.verdicts(limit=9)) == 1
