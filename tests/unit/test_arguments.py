"""Arguments that cannot work are refused by name, before anything is written."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from palace import (
    ConfigError,
    Mempalace,
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
