"""LlamaIndex histories condensed to the timeline, and the block that does it for `Memory`."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.memory import InsertMethod, Memory
from llama_index_palace import PalaceSummaryBlock, compress_history, palace_session
from llama_index_palace.compress import as_message

from palace import Mempalace


@pytest.fixture
def empty(tmp_path):
    with Mempalace.open(tmp_path / "p") as opened:
        yield opened


def talk(turns):
    said = [ChatMessage(role="system", content="Be kind.")]
    for n in range(turns):
        calls = [{"id": f"c{n}", "type": "function", "function": {"name": "look"}}]
        said += [
            ChatMessage(role="user", content=f"Is host-{n} up?"),
            ChatMessage(role="assistant", content="", additional_kwargs={"tool_calls": calls}),
            ChatMessage(role="tool", content="up", additional_kwargs={"tool_call_id": f"c{n}"}),
            ChatMessage(role="assistant", content=f"host-{n} is up since 0{n}:30."),
        ]
    return said


def test_the_latest_turn_is_sent_as_it_is(empty):
    history = talk(4)
    assert compress_history(empty, talk(3), "s") == talk(3)
    sent = compress_history(empty, history, "s")
    assert sent[0] is history[0]
    assert "host-2 is up" in sent[1].content
    assert all(a is b for a, b in zip(sent[2:], history[13:], strict=True))
    assert compress_history(empty, sent, "s") == sent
    assert compress_history(empty, history, "s") == sent


@pytest.mark.parametrize("size", range(1, 18))
def test_calls_stay_with_their_answers(empty, size):
    sent = compress_history(empty, talk(4)[:size], "s")
    neutral = [as_message(message) for message in sent]
    made = [call for message in neutral for call in message.calls]
    answered = [message.answers for message in neutral if message.answers]
    assert answered == made[: len(answered)]
    assert len(made) - len(answered) <= (size % 4 == 3)


def test_calls_of_every_shape_are_read():
    for call in ({"id": "x"}, SimpleNamespace(id="x"), SimpleNamespace(tool_id="x")):
        kwargs = {"tool_calls": [call]}
        assert as_message(ChatMessage(role="assistant", additional_kwargs=kwargs)).calls == ("x",)
    odd = ChatMessage(role="assistant", content="a", additional_kwargs={"tool_calls": "x"})
    assert as_message(odd).calls == ()
    assert as_message(ChatMessage(role="developer", content="a")).role == "system"


async def test_what_leaves_the_short_term_memory_becomes_a_summary(empty):
    block = PalaceSummaryBlock(empty)
    memory = Memory.from_defaults(
        session_id="s",
        token_limit=260,
        token_flush_size=60,
        chat_history_token_ratio=0.5,
        memory_blocks=[block],
        insert_method=InsertMethod.USER,
    )
    for n in range(14):
        await memory.aput(
            ChatMessage(role="user", content=f"We decided that host-{n} gets plan {n}.")
        )
        await memory.aput(ChatMessage(role="assistant", content=f"Noted, plan {n} for host-{n}."))
    told = "\n".join(m.content or "" for m in await memory.aget(input="and now?"))
    await memory.sql_store._async_engine.dispose()
    entries = empty.memories(room="timeline")
    assert entries
    assert {entry.session for entry in entries} == {"s"}
    assert "host-0" in told
    assert "host-13" in told
    every = told + "\n".join(entry.text for entry in entries)
    assert [n for n in range(14) if f"host-{n}" not in every] == []


async def test_a_summary_is_of_the_project_whose_turn_is_served(empty):
    block = PalaceSummaryBlock(empty, project="meadow")
    batch = [ChatMessage(role="user", content="We decided that the gate code is 4711.")]
    with palace_session("s", project="orchard"):
        await block.aput(batch)
    with palace_session("t"):
        await block.aput(batch)
    await PalaceSummaryBlock(empty, session_id="u", project="meadow").aput(batch)
    scopes = {entry.session: entry.scope for entry in empty.memories(room="timeline")}
    assert scopes == {"s": "project:orchard", "t": "project:meadow", "u": "project:meadow"}


async def test_equal_messages_in_two_batches_are_both_condensed(empty):
    block = PalaceSummaryBlock(empty, session_id="s")
    batch = [ChatMessage(role="user", content="yes"), ChatMessage(role="assistant", content="ok")]
    await block.aput(batch)
    await block.aput(batch)
    assert "(4 messages)" in await block.aget()


async def test_what_cannot_be_written_waits_and_stops_nobody(empty, caplog):
    block = PalaceSummaryBlock(empty, session_id="s")
    batch = [ChatMessage(role="user", content="yes"), ChatMessage(role="assistant", content="ok")]
    in_the_way = empty.root / "timeline"
    in_the_way.write_text("no folder")
    await block.aput(batch)
    await block.aput(batch)
    assert "4 messages of s are not condensed yet" in caplog.text
    in_the_way.unlink()
    await block.aput(batch)
    assert "(6 messages)" in await block.aget()


async def test_without_a_session_nothing_is_kept(empty):
    block = PalaceSummaryBlock(empty)
    await block.aput([ChatMessage(role="user", content="yes")])
    assert await block.aget() == ""
