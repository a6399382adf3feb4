"""Nothing private enters by a side door: names, tags, origins, turns; and no nonsense either."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

from palace import (
    ConfigError,
    ConversationTurn,
    Mempalace,
    PalaceError,
    SecretRefusedError,
    TextRefusedError,
    agent_tools,
)

KEY = "AKIA" + "Q3EGTLXN7WPLYB2D"
FACT = "The mill by the creek grinds rye on Mondays."
TALK = [
    {"role": "user", "content": "We grind 10 sacks on Mondays."},
    {"role": "assistant", "content": "Noted."},
]
NOON = datetime(2026, 5, 4, 12, tzinfo=timezone.utc)


def kept(palace: Mempalace) -> bytes:
    files = sorted(p for p in palace.root.rglob("*") if p.is_file())
    return b"\n".join([str(p).encode() + p.read_bytes() for p in files])


@pytest.mark.parametrize(
    "said",
    [
        {"provenance": f"letter with {KEY}"},
        {"tags": ["mill", KEY]},
        {"room": KEY},
        {"drawer": KEY},
        {"project": KEY},
        {"session_id": KEY},
        {"key": KEY},
        {"triggers": [KEY]},
    ],
)
def test_a_secret_is_refused_beside_the_words_too(palace, said):
    with pytest.raises(SecretRefusedError):
        palace.remember(FACT, **said)
    assert KEY.encode() not in kept(palace)


def test_a_secret_is_no_tag(palace):
    memory = palace.remember(FACT).memory
    with pytest.raises(SecretRefusedError):
        palace.tag(memory.id, [KEY])
    assert KEY.encode() not in kept(palace)


@pytest.mark.parametrize(
    "said", [{"tags": [f"{KEY}!"]}, {"key": f"{KEY}!"}, {"triggers": [f"/({KEY}/"]}]
)
def test_a_secret_is_not_echoed_where_it_is_unfit_anyway(palace, said):
    with pytest.raises((ConfigError, TextRefusedError)) as caught:
        palace.remember(FACT, **said)
    assert KEY not in str(caught.value)
    assert "secret removed" in str(caught.value)


@pytest.mark.parametrize(
    "do",
    [
        lambda p, _: p.remember("The weir leaks.", kind=KEY),
        lambda p, _: p.remember("The weir leaks.", source=KEY),
        lambda p, _: p.get(KEY),
        lambda p, _: p.memories(room=KEY),
        lambda p, m: p.tag(m, remove=[KEY]),
        lambda p, _: p.undo(KEY),
        lambda p, _: p.verdict(KEY),
        lambda p, _: p.recover(KEY),
        lambda p, _: p.room(KEY),
    ],
)
def test_a_secret_is_not_echoed_where_it_names_nothing(palace, do):
    memory = palace.remember(FACT).memory
    with pytest.raises(PalaceError) as caught:
        do(palace, memory.id)
    assert KEY not in str(caught.value)
    assert KEY.encode() not in kept(palace)


def test_a_tool_does_not_echo_a_secret(palace):
    tools = {tool.name: tool for tool in agent_tools(palace, session_id="s")}
    said = [
        tools["palace_read"](memory_id=KEY),
        tools["palace_promote"](note_id=KEY, room="mill", summary=FACT, reason="why"),
        tools["palace_note"](text="Rye.", **{KEY: "x"}),
    ]
    assert KEY not in str(said)
    with pytest.raises(ValueError, match="kind") as caught:
        tools["palace_remember"].arguments_model()(text=FACT, kind=KEY)
    assert KEY not in str(caught.value)


def test_a_secret_is_no_session_of_a_note(palace):
    with pytest.raises(SecretRefusedError):
        palace.note("The lamp is green.", session_id=KEY)
    assert palace.scratchpad.sessions() == []


@pytest.mark.parametrize(
    "do",
    [
        lambda p: p.compress_if_needed(TALK, KEY, force=True),
        lambda p: p.on_session_end(KEY, TALK),
        lambda p: p.on_session_end("s", TALK, project=KEY),
        lambda p: p.finish_task("Paint the mill", done="It is painted.", session_id=KEY),
        lambda p: p.finish_task(KEY),
    ],
)
def test_a_secret_is_no_session_of_what_is_condensed(palace, do):
    with pytest.raises(SecretRefusedError) as refused:
        do(palace)
    assert KEY not in str(refused.value)
    assert KEY.encode() not in kept(palace)


def test_a_session_that_is_called_by_a_secret_leaves_no_mark(palace):
    palace.remember(FACT)
    palace.begin_session(KEY)
    assert palace.take_wake_up(KEY)
    palace.begin_session(KEY)
    assert palace.take_wake_up(KEY) == ""
    assert KEY.encode() not in kept(palace)


def test_where_secrets_are_redacted_a_name_is_still_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("PALACE_WRITE__SECRETS", "redact")
    with Mempalace.open(tmp_path / "palace") as palace:
        stored = palace.remember(FACT, provenance=f"letter with {KEY}").memory
        assert "secret removed" in stored.provenance
        with pytest.raises(SecretRefusedError):
            palace.remember("The mill is for sale.", tags=[KEY])
        assert KEY.encode() not in kept(palace)


def test_a_turn_with_a_secret_is_not_taken(palace):
    turns = [ConversationTurn("s", "Ann", text, NOON) for text in ("Hello.", f"It is {KEY}.")]
    with pytest.raises(SecretRefusedError):
        palace.import_turns(turns)
    assert KEY.encode() not in kept(palace)
    assert b"Hello." not in kept(palace)


def test_a_turn_of_no_moment_is_refused_by_name(palace):
    beyond = datetime.max.replace(tzinfo=timezone(timedelta(hours=-5)))
    for at in (beyond, "2026-05-08"):
        with pytest.raises(ConfigError, match="at "):
            palace.import_turns([ConversationTurn("s", "Ann", "Hello.", at)])
    assert b"Hello." not in kept(palace)


@pytest.mark.parametrize("beside", [{"categories": [KEY]}, {"user_id": KEY}, {"id": KEY}])
def test_a_memory_of_mem0_has_no_secret_beside_its_words(palace, tmp_path, beside):
    file = tmp_path / "mem0.json"
    file.write_text(json.dumps({"results": [{"id": "a-1", "memory": FACT, **beside}]}), "utf-8")
    done = palace.import_from(file)
    assert (done.added, len(done.refused)) == (0, 1)
    assert KEY.encode() not in kept(palace)


@pytest.mark.parametrize("name", [f"{KEY}.md", f"{KEY}/notes.md"])
def test_a_file_of_a_source_is_not_called_by_a_secret(palace, tmp_path, name):
    note = tmp_path / "vault" / name
    note.parent.mkdir(parents=True)
    note.write_text(f"- {FACT}\n", "utf-8")
    done = palace.import_from(note.parents[1] if "/" in name else note)
    assert (done.added, len(done.refused)) == (0, 1)
    assert KEY not in str(done)
    assert KEY.encode() not in kept(palace)


def test_a_tag_is_a_tag_with_or_without_its_sign(palace):
    assert palace.remember(FACT, tags=["#mill", "rye"]).memory.tags == ("mill", "rye")
    with pytest.raises(ConfigError, match="is no tag"):
        palace.remember("The weir leaks.", tags=["two words"])


@pytest.mark.parametrize(
    "said",
    [
        {"importance": float("nan")},
        {"importance": -0.1},
        {"confidence": 1.5},
        {"kind": "wish"},
        {"source": "oracle"},
        {"valid_from": NOON, "valid_to": datetime(2026, 5, 3)},
    ],
)
def test_what_no_memory_can_be_is_refused_with_a_hint(palace, said: dict[str, Any]):
    with pytest.raises(ConfigError) as caught:
        palace.remember(FACT, **said)
    assert caught.value.hint
    assert palace.memories() == []


@pytest.mark.parametrize(
    "write",
    [
        lambda p, m: p.correct(m, "The mill grinds oats.", source="oracle"),
        lambda p, _: p.promote_to_palace(
            p.note(FACT, session_id="s"), "mill", "notes", summary="Rye.", reason="why", kind="wish"
        ),
    ],
)
def test_corrections_and_promotions_refuse_it_too(
    palace, write: Callable[[Mempalace, str], object]
):
    memory = palace.remember("The weir leaks.").memory
    with pytest.raises(ConfigError):
        write(palace, memory.id)
    assert [m.text for m in palace.memories()] == ["The weir leaks."]


def test_the_refusal_of_an_origin_names_what_is_wrong_once(palace):
    with pytest.raises(TextRefusedError, match=r"^the text holds a character that reverses"):
        palace.remember(FACT, provenance="letter\u202e")


def test_no_path_is_not_the_current_folder(palace, tmp_path, monkeypatch):
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "notes.md").write_text(f"- {FACT}\n", "utf-8")
    monkeypatch.chdir(tmp_path / "here")
    with pytest.raises(ConfigError):
        palace.import_from("")
    assert palace.memories() == []
