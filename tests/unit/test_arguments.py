"""Arguments that cannot work are refused by name, before anything is written."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import date, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from palace import (
    ConfigError,
    ConversationTurn,
    Mempalace,
    Message,
    PalaceError,
    RetrievalEnforcer,
    StoreUnavailableError,
    Turn,
    UnsafeNameError,
    agent_tools,
)
from palace.arguments import message_in
from palace.testing import HashedEmbedder

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
    "correct_last, session": lambda p, x: p.correct_last("No, it is 5433.", x),
    "forget, reason": lambda p, x: p.forget(_id(p), reason=x),
    "erase, reason": lambda p, x: p.erase(_id(p), reason=x),
    "note": lambda p, x: p.note(x, session_id="s"),
    "note, session": lambda p, x: p.note("The gate is red.", session_id=x),
    "notes": lambda p, x: p.notes(x),
    "wake_up": lambda p, x: p.wake_up(x),
    "compress_if_needed": lambda p, x: p.compress_if_needed([], x),
    "on_session_end": lambda p, x: p.on_session_end(x, []),
    "link": lambda p, x: p.link(_id(p), x),
    "room": lambda p, x: p.room(x),
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


@pytest.mark.parametrize("wrong", [b"words", 7, ["words"]], ids=["bytes", "int", "list"])
@pytest.mark.parametrize(
    "verb",
    [
        lambda p, x: p.undo(x),
        lambda p, x: p.verdict(x),
        lambda p, x: p.remember("The gate is red.", room=x),
        lambda p, x: p.remember("The gate is red.", session_id=x),
        lambda p, x: p.remember("The gate is red.", project=x),
        lambda p, x: p.remember("The gate is red.", key=x),
        lambda p, x: p.search("harbour", session_id=x),
        lambda p, x: p.search("harbour", project=x),
        lambda p, x: p.wake_up("s", x),
        lambda p, x: p.session_wake_up(x),
        lambda p, x: p.session_wake_up("new", x),
        lambda p, x: p.memories(room=x),
        lambda p, x: p.memories(drawer=x),
        lambda p, x: p.compress_if_needed([], "s", task=x),
        lambda p, x: p.correct_last("No, it is 5433.", "s", project=x),
        lambda p, x: p.on_session_end("s", [], project=x),
        lambda p, x: p.finish_task("the gate", done="It is done.", session_id=x),
    ],
)
def test_what_may_be_left_out_is_text_where_it_is_given(
    palace: Mempalace, verb: Verb, wrong: object
) -> None:
    with pytest.raises(ConfigError, match=r"^the \w+ must be text, not (bytes|int|list)"):
        verb(palace, wrong)


@pytest.mark.parametrize("wrong", ["", "  "])
@pytest.mark.parametrize(
    "verb",
    [
        lambda p, x: p.remember("The gate is red.", room=x),
        lambda p, x: p.remember("The gate is red.", drawer=x),
        lambda p, x: p.remember("The gate is red.", session_id=x),
        lambda p, x: p.remember("The gate is red.", project=x),
        lambda p, x: p.remember("The gate is red.", key=x),
        lambda p, x: p.promote_to_palace(
            p.notes("s")[0], "a", "b", summary="The gate is red.", reason="why", project=x
        ),
        lambda p, x: p.memories(room=x),
        lambda p, x: p.memories(drawer=x),
        lambda p, x: p.get(x),
        lambda p, x: p.forget(x),
        lambda p, x: p.correct(x, "The gate is red."),
        lambda p, x: p.history(x),
        lambda p, x: p.link(_id(p), x),
        lambda p, x: p.feedback(x, True),
        lambda p, x: p.undo(x),
        lambda p, x: p.verdict(x),
    ],
)
def test_an_empty_name_is_no_name_and_none_left_out(
    palace: Mempalace, verb: Verb, wrong: str
) -> None:
    before = [m.text for m in palace.memories(include_inactive=True)]

    with pytest.raises(PalaceError, match=r"empty|is no key") as caught:
        verb(palace, wrong)

    assert isinstance(caught.value, (ConfigError, UnsafeNameError))
    assert caught.value.hint
    assert [m.text for m in palace.memories(include_inactive=True)] == before


def test_a_host_without_a_session_or_a_word_may_ask(palace: Mempalace) -> None:
    asked = RetrievalEnforcer(palace).decide("", session_id="", project="")
    assert asked.action == "pass"


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("", "is empty"),
        (" ", "is empty"),
        (b"p", "must be a path, not bytes"),
        (7, "must be a path, not int"),
        ("~nobody-of-this-name/p", "nobody-of-this-name"),
        ("a\0b", "has a character that no path may have"),
        ("a\ud800b", "has a character that no path may have"),
    ],
)
def test_what_is_no_path_is_refused(palace: Mempalace, wrong: Any, said: str) -> None:
    for verb in (Mempalace.open, palace.import_from, palace.export):
        with pytest.raises(ConfigError, match=said):
            verb(wrong)
    with pytest.raises(ConfigError, match="the source must be a path, not nothing"):
        palace.import_from(None)  # type: ignore[arg-type]


@pytest.mark.parametrize("wrong", ["no", "yes", 0, None])
def test_whether_something_helped_is_true_or_false_and_no_word(
    palace: Mempalace, wrong: Any
) -> None:
    before = palace.strength(_id(palace))
    with pytest.raises(ConfigError, match="^helpful must be True or False, not"):
        palace.feedback(_id(palace), wrong)
    assert palace.strength(_id(palace)) == before


@pytest.mark.parametrize("wrong", ["high", True])
def test_what_is_no_number_is_refused_by_name(palace: Mempalace, wrong: Any) -> None:
    with pytest.raises(ConfigError, match=f"^importance is {wrong!r}"):
        palace.remember("The gate is red.", importance=wrong)
    with pytest.raises(ConfigError, match="^limit must be a whole number from 1 on"):
        palace.verdicts(limit=wrong)
    with pytest.raises(ConfigError, match=f"^a note cannot live for {wrong!r} seconds"):
        palace.note("The gate is red.", session_id="s", ttl_s=wrong)
    for budget in (wrong, -1):
        with pytest.raises(ConfigError, match="^budget_tokens must be a whole number from 0 on"):
            palace.wake_up("s", budget_tokens=budget)
    assert palace.wake_up("s", budget_tokens=0).text == ""


@pytest.mark.parametrize("wrong", ["L9", "l1", "", None])
def test_only_layers_that_are_searched_are_taken(palace: Mempalace, wrong: Any) -> None:
    with pytest.raises(ConfigError, match="^layer is") as caught:
        palace.search("harbour", layer=wrong)
    assert caught.value.hint == "use one of L1, L4"


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


def test_a_turn_and_a_form_of_exports_are_what_they_are_called(
    palace: Mempalace, tmp_path: Path
) -> None:
    said: Any = {"session": "s", "speaker": "Ann", "text": "Hello."}
    with pytest.raises(ConfigError, match="one of the turns is no turn: dict"):
        palace.import_turns([said])
    form: Any = "xml"
    with pytest.raises(ConfigError, match="form is 'xml'"):
        palace.export(tmp_path / "new", form=form)
    assert not (tmp_path / "new").exists()


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
        {"role": "user", "content": ["Who is the", {"type": "text", "text": "harbour master?"}, 7]},
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


def test_what_a_conversation_has_none_of_may_be_none(palace: Mempalace) -> None:
    said = [Message("user", "My boat is called Alma.")]
    done = palace.compress_if_needed(said, "t", project=None, task=None, force=True)
    ended = palace.on_session_end("t", said, project=None)
    entry = palace.finish_task("gate", done="Painted.", session_id=None, project=None)
    assert (done.status, len(ended.filled)) == ("condensed", 1)
    assert (entry.scope, entry.project, entry.session) == ("global", "", "Task gate")


def test_a_target_that_the_disk_cannot_name_is_an_error_of_ours(palace: Mempalace) -> None:
    for form in ("json", "markdown"):
        with pytest.raises(StoreUnavailableError, match="the export to a+ failed: File name too"):
            palace.export("a" * 5000, form=form)


HELD = ConversationTurn("s", "Ada", "Hello there.", datetime(2026, 5, 1, tzinfo=timezone.utc))


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"session": 7}, "the session must be text, not int"),
        ({"speaker": None}, "the speaker must be text, not nothing"),
        ({"text": b"Hello"}, "the text must be text, not bytes"),
        ({"provenance": None}, "the provenance must be text, not nothing"),
        ({"project": 7}, "the project must be text, not int"),
        ({"at": None}, "one of the turns has no time"),
        ({"trust": "nobody"}, "trust is 'nobody'"),
        ({"scope": "mine"}, "the scope is 'mine'"),
    ],
)
def test_a_turn_that_cannot_be_kept_is_refused_before_any_is(
    palace: Mempalace, wrong: dict[str, Any], said: str
) -> None:
    with pytest.raises(ConfigError, match=said):
        palace.import_turns([HELD, replace(HELD, **wrong)])
    assert palace.memories(room="timeline") == []


async def test_who_has_no_history_may_say_so(palace: Mempalace) -> None:
    asked = RetrievalEnforcer(palace)
    for history in (None, (), iter(())):
        assert asked.decide("Who is the harbour master?", history=history).outcome == "hit"
        assert (
            await asked.adecide("Who is the harbour master?", history=history)
        ).turn.history == ()
    with pytest.raises(ConfigError, match="the history must be a list of messages, not int"):
        asked.decide("Who is the harbour master?", history=7)  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="the history must be a list of messages, not int"):
        palace.on_session_end("s", 7)  # type: ignore[arg-type]


CALLING = [
    {"role": "user", "content": [{"type": "text", "text": "My boat is called Alma."}]},
    {"role": "assistant", "content": None, "tool_calls": [{"id": "c1", "type": "function"}]},
    {"role": "tool", "tool_call_id": "c1", "content": "stored"},
    Message("assistant", None),  # type: ignore[arg-type]
    {"role": "user", "content": "Thanks."},
]


def test_a_conversation_is_taken_as_hosts_write_it(palace: Mempalace) -> None:
    ended = palace.on_session_end("alma", CALLING)
    assert [fill.text for fill in ended.filled] == ["My boat is called Alma."]
    sent = palace.compress_if_needed(CALLING[:3], "other").messages
    assert [(m.role, m.calls, m.answers) for m in sent[1:]] == [
        ("assistant", ("c1",), ""),
        ("tool", (), "c1"),
    ]


@pytest.mark.parametrize(
    ("at", "meant"),
    [
        ("2026-05-01T10:00:00Z", datetime(2026, 5, 1, 10, tzinfo=timezone.utc)),
        ("2026-05-01T10:00:00+02:00", datetime(2026, 5, 1, 8, tzinfo=timezone.utc)),
        (datetime(2026, 5, 1, 10), datetime(2026, 5, 1, 10, tzinfo=timezone.utc)),
        ("this morning", None),
        (None, None),
    ],
)
def test_the_time_of_a_message_may_be_text_as_in_json(at: object, meant: datetime | None) -> None:
    assert message_in({"role": "user", "content": "Hello.", "at": at}).at == meant


def test_times_of_messages_may_lack_a_zone(palace: Mempalace) -> None:
    times = [datetime(2026, 1, 1), datetime(2026, 1, 1, 1, tzinfo=timezone.utc)]  # noqa: DTZ001
    said = [Message("user", "The gate is red.", at=at) for at in times]
    assert palace.compress_if_needed(said, "s", force=True).status == "condensed"
    with pytest.raises(ConfigError, match="at must be a datetime, not str"):
        palace.compress_if_needed([Message("user", "Hi", at="today")], "s")  # type: ignore[arg-type]


@pytest.mark.parametrize("wrong", [7, "Hello", {"role": "user", "content": 7}])
def test_what_is_no_message_of_a_conversation_is_refused(palace: Mempalace, wrong: Any) -> None:
    for verb in (
        lambda: palace.on_session_end("s", [wrong]),
        lambda: palace.compress_if_needed([wrong], "s"),
    ):
        with pytest.raises(ConfigError, match="the history holds something that is no message"):
            verb()


LISTS: dict[str, Verb] = {
    "tags": lambda p, x: p.remember("The gate is red.", tags=x),
    "triggers": lambda p, x: p.remember("The gate is red.", triggers=x),
    "add": lambda p, x: p.tag(_id(p), x),
    "remove": lambda p, x: p.tag(_id(p), remove=x),
    "conclusions": lambda p, x: p.finish_task("gate", done="Painted.", conclusions=x),
    "decisions": lambda p, x: p.finish_task("gate", done="Painted.", decisions=x),
}


@pytest.mark.parametrize("wrong", ["gate", b"gate", None, 7, {"gate": 1}, [7], [None], [b"gate"]])
@pytest.mark.parametrize("name", LISTS)
def test_one_text_is_not_taken_for_its_letters(palace: Mempalace, name: str, wrong: Any) -> None:
    before = palace.memories()
    with pytest.raises(ConfigError, match=f"{name} must be (a list of texts|text), not"):
        LISTS[name](palace, wrong)
    assert palace.memories() == before


MOMENTS: dict[str, Verb] = {
    "as_of": lambda p, x: p.search("gate", as_of=x),
    "as_of of a question": lambda p, x: RetrievalEnforcer(p).decide("Who?", as_of=x),
    "as_of of a turn": lambda p, x: RetrievalEnforcer(p).decide(Turn("Who?", as_of=x)),
    "since of gaps": lambda p, x: p.gaps(since=x),
    "since of verdicts": lambda p, x: p.verdicts(since=x),
    "since of a report": lambda p, x: p.report(since=x, until=datetime(9000, 1, 1)),  # noqa: DTZ001
    "until of a report": lambda p, x: p.report(since=datetime(2026, 1, 1), until=x),  # noqa: DTZ001
    "valid_from": lambda p, x: p.remember("The gate is red.", valid_from=x),
    "valid_to": lambda p, x: p.remember("The gate is red.", valid_to=x),
}


@pytest.mark.parametrize("name", MOMENTS)
def test_a_moment_without_a_zone_is_in_utc(palace: Mempalace, name: str) -> None:
    RetrievalEnforcer(palace).decide("Who?")
    MOMENTS[name](palace, datetime(2027, 1, 1))  # noqa: DTZ001 - that is what is tested


@pytest.mark.parametrize(
    "wrong",
    [
        "2026-05-01",
        date(2026, 5, 1),
        1.7e9,
        datetime.max.replace(tzinfo=timezone(-timedelta(hours=5))),
    ],
)
@pytest.mark.parametrize("name", MOMENTS)
def test_what_is_no_moment_is_refused_by_name(palace: Mempalace, name: str, wrong: Any) -> None:
    with pytest.raises(ConfigError, match=f"^{name.split()[0]} (must be a datetime, not|is 9999)"):
        MOMENTS[name](palace, wrong)


@pytest.mark.parametrize("wrong", ["notes/palace", Path("notes/palace"), None, Mempalace])
@pytest.mark.parametrize("take", [RetrievalEnforcer, agent_tools])
def test_only_an_open_palace_is_taken(take: Callable[[Any], object], wrong: object) -> None:
    with pytest.raises(PalaceError, match=r"no open palace.*Mempalace\.open"):
        take(wrong)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"embedder": "wordllama"}, "str is no embedder: it has no embed"),
        ({"embedder": HashedEmbedder}, "the class HashedEmbedder is no embedder"),
        ({"generator": HashedEmbedder()}, "HashedEmbedder is no generator: it has no generate"),
        ({"judge": str.split}, "method_descriptor is no judge: it has no judge"),
        ({"fetchers": ["issues"]}, "str is no fetcher: it has no recognise and fetch"),
    ],
)
def test_a_part_that_cannot_be_one_is_refused_when_the_palace_is_opened(
    tmp_path: Path, given: Any, said: str
) -> None:
    with pytest.raises(ConfigError, match=said) as refused:
        Mempalace.open(tmp_path, **given)
    assert refused.value.hint


@pytest.mark.parametrize("wrong", [0, -1, 1.5, "5", True])
def test_a_number_of_hits_is_a_whole_one_from_1_on(palace: Mempalace, wrong: Any) -> None:
    with pytest.raises(ConfigError, match="top_k must be a whole number from 1 on"):
        palace.search("harbour", top_k=wrong)
    assert len(palace.search("harbour", top_k=1)) == 1
