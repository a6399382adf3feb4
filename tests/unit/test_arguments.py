"""Arguments that cannot work are refused by name, before anything is written."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from palace import (
    ConfigError,
    Mempalace,
    Message,
    PalaceError,
    RetrievalEnforcer,
    Turn,
    agent_tools,
)

KNOWN = "The harbour master is called Ines."
NO_TEXT = {"None": None, "bytes": b"words", "int": 7, "list": ["words"]}
Verb = Callable[[Mempalace, Any], object]


@pytest.fixture
def palace(tmp_path: Path) -> Iterator[Mempalace]:
    with Mempalace.open(tmp_path / "p") as opened:
        opened.remember(KNOWN, room="people")
        opened.note("The gate is blue.", session_id="s")
        yield opened


def _id(palace: Mempalace) -> str:
    return palace.memories()[0].id


def _promote(palace: Mempalace, **texts: Any) -> object:
    given = {"summary": "The gate is blue.", "reason": "It was asked.", **texts}
    return palace.promote_to_palace(palace.notes("s")[0], "harbour", "gates", **given)


VERBS: dict[str, Verb] = {
    "remember": lambda p, x: p.remember(x),
    "remember in a room": lambda p, x: p.room("people").remember(x),
    "remember, drawer": lambda p, x: p.remember("The gate is red.", drawer=x),
    "remember, provenance": lambda p, x: p.remember("The gate is red.", provenance=x),
    "correct": lambda p, x: p.correct(_id(p), x),
    "correct, reason": lambda p, x: p.correct(_id(p), "It is Anna.", reason=x),
    "correct, id": lambda p, x: p.correct(x, "It is Anna."),
    "correct_last": lambda p, x: p.correct_last(x, "s"),
    "forget, reason": lambda p, x: p.forget(_id(p), reason=x),
    "erase, reason": lambda p, x: p.erase(_id(p), reason=x),
    "note": lambda p, x: p.note(x, session_id="s"),
    "promote, summary": lambda p, x: _promote(p, summary=x),
    "promote, reason": lambda p, x: _promote(p, reason=x),
    "set_identity": lambda p, x: p.set_identity(x),
    "feedback, reason": lambda p, x: p.feedback(_id(p), True, reason=x),
    "feedback": lambda p, x: p.feedback(x, True),
    "finish_task": lambda p, x: p.finish_task(x, done="It is done."),
    "finish_task, done": lambda p, x: p.finish_task("the gate", done=x),
    "search": lambda p, x: p.search(x),
    "get": lambda p, x: p.get(x),
    "decide": lambda p, x: RetrievalEnforcer(p).decide(x),
    "decide a turn": lambda p, x: RetrievalEnforcer(p).decide(Turn(x)),
}


@pytest.mark.parametrize("wrong", NO_TEXT.values(), ids=NO_TEXT)
@pytest.mark.parametrize("verb", VERBS)
def test_what_is_no_text_is_refused_by_name(palace: Mempalace, verb: str, wrong: object) -> None:
    before = [m.text for m in palace.memories(include_inactive=True)]

    with pytest.raises(ConfigError, match=r"^the \w+ must be text, not (nothing|bytes|int|list)"):
        VERBS[verb](palace, wrong)

    assert [m.text for m in palace.memories(include_inactive=True)] == before
    assert [n.text for n in palace.notes("s")] == ["The gate is blue."]


async def test_what_is_no_text_is_refused_where_it_is_awaited(palace: Mempalace) -> None:
    with pytest.raises(ConfigError, match="the prompt must be text"):
        await RetrievalEnforcer(palace).adecide(None)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "wrong",
    [7, "Who?", {"role": "user", "content": 7}, Message("user", 7), ["Who?"]],  # type: ignore[arg-type]
)
def test_what_is_no_message_is_refused_by_name(palace: Mempalace, wrong: Any) -> None:
    for turn in (
        {"prompt": "Who?", "history": [wrong]},
        {"prompt": Turn("Who?", history=(wrong,))},
    ):
        with pytest.raises(ConfigError, match="the history holds something that is no message"):
            RetrievalEnforcer(palace).decide(**turn)


@pytest.mark.parametrize("name", ["session_id", "project"])
def test_a_session_and_a_project_are_texts(palace: Mempalace, name: str) -> None:
    wrong: dict[str, Any] = {name: 7}
    with pytest.raises(ConfigError, match=f"the {name.removesuffix('_id')} must be text, not int"):
        RetrievalEnforcer(palace).decide("Who?", **wrong)


@pytest.mark.parametrize(
    "said",
    [
        {"role": "user", "content": "Who is the harbour master?"},
        {"role": "user", "content": [{"type": "text", "text": "Who is the harbour master?"}]},
        Message("user", "Who is the harbour master?"),
    ],
)
def test_messages_are_taken_as_hosts_write_them(palace: Mempalace, said: Any) -> None:
    called = {"role": "assistant", "content": None, "tool_calls": [{"id": "1"}]}
    enforcer = RetrievalEnforcer(palace)
    for history in ([said, called], [said, Message("assistant", None)]):  # type: ignore[arg-type]
        for verdict in (
            enforcer.decide("And what is she called?", history=history),
            enforcer.decide(Turn("And what is she called?", history=tuple(history))),
        ):
            assert [evidence.text for evidence in verdict.evidence] == [KNOWN]


@pytest.mark.parametrize("wrong", ["notes/palace", Path("notes/palace"), None, Mempalace])
@pytest.mark.parametrize("take", [RetrievalEnforcer, agent_tools])
def test_only_an_open_palace_is_taken(take: Callable[[Any], object], wrong: object) -> None:
    with pytest.raises(PalaceError, match=r"no open palace.*Mempalace\.open"):
        take(wrong)


@pytest.mark.parametrize("wrong", [0, -1, 1.5, "5", True])
def test_a_number_of_hits_is_a_whole_one_from_1_on(palace: Mempalace, wrong: Any) -> None:
    with pytest.raises(ConfigError, match="top_k must be a whole number from 1 on"):
        palace.search("harbour", top_k=wrong)
    assert len(palace.search("harbour", top_k=1)) == 1
