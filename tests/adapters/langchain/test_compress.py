"""LangChain histories condensed to the timeline: what is sent, and what stays together."""

from __future__ import annotations

import pytest
from langchain_core.messages import AIMessage, ChatMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_palace import PalaceChatMessageHistory, compress_history
from langchain_palace.messages import asking_index

from palace import Mempalace


@pytest.fixture
def empty(tmp_path):
    with Mempalace.open(tmp_path / "p") as opened:
        yield opened


def call(name):
    return {"name": "look", "args": {"at": name}, "id": f"call-{name}", "type": "tool_call"}


def talk(turns):
    said = [SystemMessage("Be kind.")]
    for n in range(turns):
        said += [
            HumanMessage(f"Is host-{n} up?", id=f"h{n}"),
            AIMessage("", tool_calls=[call(f"{n}a"), call(f"{n}b")], id=f"c{n}"),
            ToolMessage("up", tool_call_id=f"call-{n}a"),
            ToolMessage("down", tool_call_id=f"call-{n}b"),
            AIMessage(f"host-{n} is up, its mirror is down since 0{n}:30.", id=f"a{n}"),
        ]
    return said


def paired(messages):
    made = {c["id"] for m in messages if isinstance(m, AIMessage) for c in m.tool_calls}
    return made == {m.tool_call_id for m in messages if isinstance(m, ToolMessage)}


def test_nothing_is_due(empty):
    assert compress_history(empty, talk(2), "s") == talk(2)


def test_the_latest_turn_is_sent_as_it_is(empty):
    history = talk(4)
    sent = compress_history(empty, history, "s")
    assert sent[0] is history[0]
    assert "host-0 is up" in sent[1].content
    assert all(a is b for a, b in zip(sent[2:], history[16:], strict=True))
    assert paired(sent)
    # The block is nobody's question.
    assert asking_index(sent) == 2
    assert asking_index(sent[:2]) is None
    assert compress_history(empty, sent, "s") == sent
    assert compress_history(empty, history, "s") == sent


@pytest.mark.parametrize("kept", range(1, 21))
def test_calls_stay_with_their_answers_wherever_a_history_ends(empty, kept):
    history = talk(4)[:kept]
    sent = compress_history(empty, history, "s", force=True)
    assert paired(sent) or not paired(history)
    assert [m.type for m in sent][:1] == ["system"]


def test_parts_and_broken_calls(empty):
    image = {"type": "image_url", "image_url": {"url": "https://example.org/x.png"}}
    broken = {"name": "look", "args": "{", "id": "b1", "error": "bad", "type": "invalid_tool_call"}
    history = [
        HumanMessage([{"type": "text", "text": "We use Redis 7."}, image]),
        AIMessage("", invalid_tool_calls=[broken]),
        ToolMessage("no such call", tool_call_id="b1"),
    ]
    [block] = compress_history(empty, history, "s", force=True, project="orchard", task="look")
    assert "We use Redis 7." in block.content
    [entry] = empty.memories(room="timeline")
    assert (entry.scope, entry.task) == ("project:orchard", "look")


@pytest.mark.parametrize(
    ("said", "whose"),
    [
        (HumanMessage("We use Redis 7."), "User"),
        (ChatMessage(role="user", content="We use Redis 7."), "User"),
        (ChatMessage(role="assistant", content="We use Redis 7."), "Assistant"),
        (ChatMessage(role="critic", content="We use Redis 7."), "Assistant"),
        (HumanMessage("We use Redis 7.", name="researcher"), "Assistant"),
    ],
)
def test_whose_words_are_condensed(empty, said, whose):
    history = [HumanMessage("Please look at the queue."), said]
    [block] = compress_history(empty, history, "s", force=True)
    assert f"{whose}: We use Redis 7." in block.content


def test_a_kept_history_can_be_sent_condensed(empty):
    kept = PalaceChatMessageHistory(empty, "s")
    kept.add_messages(talk(4)[1:])
    sent = kept.compressed()
    assert len(sent) == 6
    assert "host-2" in sent[0].content
    assert len(kept.messages) == 20
    kept.add_messages([HumanMessage("Thanks.")])
    assert len(kept.compressed()) == 7


def test_what_is_condensed_of_a_kept_history_is_of_its_project(empty):
    kept = PalaceChatMessageHistory(empty, "s", project="orchard")
    kept.add_messages(talk(4)[1:])
    kept.compressed()
    assert {entry.scope for entry in empty.memories(room="timeline")} == {"project:orchard"}
