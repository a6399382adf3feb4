"""The agent's tools: what they do, what they say, and whose memory they never show."""

from __future__ import annotations

import json
from datetime import datetime, timezone

import pytest

from palace import (
    ConversationTurn,
    Mempalace,
    RetrievalEnforcer,
    StoreUnavailableError,
    agent_tools,
)

PORT = "The staging database listens on port 5432."
NEW_PORT = "The staging database listens on port 5433."
ASKED = "Which port does the staging database listen on?"
NAMES = ("search", "read", "remember", "correct", "forget", "note", "promote", "wake_up")


def tools_of(palace, **scope):
    return {tool.name.removeprefix("palace_"): tool for tool in agent_tools(palace, **scope)}


@pytest.fixture
def tools(palace):
    return tools_of(palace, session_id="s1")


def test_there_are_eight_and_each_says_when_to_use_it_and_when_not(tools):
    assert tuple(tools) == NAMES
    for tool in tools.values():
        assert "Use it" in tool.description
        assert "Do not use it" in tool.description
        assert tool.parameters["type"] == "object"
        assert set(tool.parameters["required"]) <= set(tool.parameters["properties"])
        json.dumps(tool.parameters)
        shape = tool.arguments_model().model_json_schema()
        assert shape["properties"].keys() == tool.parameters["properties"].keys()
        assert shape.get("required", []) == list(tool.parameters["required"])
        assert shape["additionalProperties"] is False


def test_a_turn_is_read_with_who_says_it(palace, tools):
    at = datetime(2026, 3, 2, tzinfo=timezone.utc)
    palace.import_turns([ConversationTurn("s0", "Ann", "I moved the press to the cellar.", at)])
    (found,) = tools["search"](query="Where did Ann move the press?")["memories"]
    read = tools["read"](memory_id=found["id"])["memory"]
    assert found["text"] == read["text"] == "Ann: I moved the press to the cellar."


def test_every_result_is_json_and_says_what_happened(palace, tools):
    memory = tools["remember"](text=PORT, room="infra")["memory"]
    note = tools["note"](text="The tunnel needs a restart after each deploy.")
    promoted = {"summary": "The tunnel needs restarts.", "reason": "it comes up each time"}
    results = [
        tools["search"](query=ASKED),
        tools["read"](memory_id=memory["id"]),
        tools["read"](),
        tools["read"](room="infra", drawer="notes"),
        tools["promote"](note_id=note["note_id"], room="infra", **promoted),
        tools["wake_up"](),
        tools["correct"](memory_id=memory["id"], text=NEW_PORT),
        tools["forget"](memory_id=memory["id"]),
    ]
    for result in results:
        assert json.loads(json.dumps(result)) == result
        assert result["status"]
        assert result["message"]


def test_what_is_remembered_is_found_by_the_next_question(palace, tools):
    result = tools["remember"](text=PORT, room="infra")

    assert result["status"] == "stored"
    assert RetrievalEnforcer(palace).decide(ASKED).action == "ground"
    assert palace.get(result["memory"]["id"]).trust == "agent"


def test_a_duplicate_names_the_memory_it_repeats(tools):
    first = tools["remember"](text=PORT)["memory"]["id"]

    again = tools["remember"](text=PORT)

    assert again["status"] == "duplicate"
    assert f"Duplicate of {first}" in again["message"]


def test_a_conflict_says_what_differs_and_how_to_resolve_it(tools):
    first = tools["remember"](text=PORT)["memory"]["id"]

    conflict = tools["remember"](text=NEW_PORT)
    assert conflict["status"] == "conflict"
    for words in (f"Conflict with {first}", "5432", "5433", "palace_correct", "on_conflict"):
        assert words in conflict["message"]

    assert tools["remember"](text=NEW_PORT, on_conflict="keep")["status"] == "stored"


def test_an_agent_cannot_retire_a_memory_by_remembering(tools):
    result = tools["remember"](text=PORT, on_conflict="supersede")

    assert result["status"] == "invalid"
    assert tools["search"](query=ASKED)["status"] == "nothing_stored"


def test_search_tells_an_answer_from_something_close_and_from_nothing(palace, tools):
    tools["remember"](text=PORT, room="infra")
    close = "Who decided where the staging database of the shop listens?"

    found = tools["search"](query=ASKED)
    assert found["status"] == "found"
    assert found["memories"][0]["text"] == PORT
    assert tools["search"](query=close)["status"] in {"unclear", "nothing_stored"}
    nothing = tools["search"](query="What is the birthday of Zebulon?")
    assert (nothing["status"], nothing["memories"]) == ("nothing_stored", [])


def test_search_sees_notes_of_this_session_and_of_no_other(palace, tools):
    tools["note"](text=PORT)

    assert tools["search"](query=ASKED)["memories"][0]["text"] == PORT
    assert tools_of(palace, session_id="s2")["search"](query=ASKED)["memories"] == []
    assert tools_of(palace)["search"](query=ASKED)["memories"] == []


def test_search_returns_at_most_what_was_asked_for(tools):
    for port in range(5430, 5436):
        tools["remember"](text=f"Port {port} belongs to the staging database.", on_conflict="keep")

    assert len(tools["search"](query=ASKED, limit=2)["memories"]) == 2


def test_a_store_that_cannot_be_read_is_said_and_is_no_memory(palace, tools):
    class BrokenLayer:
        name = "L1"

        def gather(self, turn, query, signal):
            from palace.types.verdict import LayerReport

            return LayerReport("L1", "unavailable", reason="the disk is gone")

    class Parts:
        analyst = palace.enforcement.analyst
        detector = palace.enforcement.detector
        layers = (BrokenLayer(),)

    class Palace:
        enforcement = Parts()

        def refresh(self, *, force):
            return None

    result = tools_of(Palace(), session_id="s1")["search"](query=ASKED)

    assert (result["status"], result["memories"]) == ("unavailable", [])
    assert "the disk is gone" in result["message"]


def test_a_failing_palace_is_a_result_with_its_hint():
    class Palace(Mempalace):
        def __init__(self): ...

        def get(self, memory_id):
            raise StoreUnavailableError("the disk is gone", hint="mount it")

    result = tools_of(Palace(), session_id="s1")["read"](memory_id="m-12345678")

    assert (result["status"], result["message"]) == ("unavailable", "the disk is gone (mount it)")


def test_correct_replaces_and_says_so(palace, tools):
    old = tools["remember"](text=PORT)["memory"]["id"]

    result = tools["correct"](memory_id=old, text=NEW_PORT)

    assert result["status"] == "stored"
    assert f"replaces {old}" in result["message"]
    assert [m["text"] for m in tools["search"](query=ASKED)["memories"]] == [NEW_PORT]
    read = tools["read"](memory_id=old)
    assert read["memory"]["status"] == "inactive"
    assert result["memory"]["id"] in read["message"]


def test_correct_to_what_is_stored_already_says_which_one_stays(tools):
    wrong = tools["remember"](text="The mail relay is called hermes.")["memory"]["id"]
    right = tools["remember"](text=PORT)["memory"]["id"]

    result = tools["correct"](memory_id=wrong, text=PORT)

    assert result["status"] == "duplicate"
    assert f"Duplicate of {right}" in result["message"]
    assert f"{wrong} is no longer found" in result["message"]


def test_correct_that_meets_a_third_memory_is_a_conflict(tools):
    wrong = tools["remember"](text="The mail relay is called hermes.")["memory"]["id"]
    third = tools["remember"](text=PORT)["memory"]["id"]

    result = tools["correct"](memory_id=wrong, text=NEW_PORT)

    assert result["status"] == "conflict"
    assert third in result["message"]


@pytest.mark.parametrize("more", [{"add_tags": ["net"]}, {"link_to": "inbox/notes"}])
def test_a_correction_that_is_a_conflict_leaves_tags_and_links_alone(palace, tools, more):
    wrong = tools["remember"](text="The mail relay is called hermes.")["memory"]["id"]
    tools["remember"](text=PORT)

    result = tools["correct"](memory_id=wrong, text=NEW_PORT, **more)

    assert "Nothing was written" in result["message"]
    assert (palace.get(wrong).tags, palace.get(wrong).links) == ((), ())


@pytest.mark.parametrize("more", [{"link_to": "m-none"}, {"text": " "}])
def test_tags_are_left_alone_where_the_rest_of_a_correction_is_refused(palace, tools, more):
    old = tools["remember"](text=PORT)["memory"]["id"]

    result = tools["correct"](memory_id=old, add_tags=["net"], **more)

    assert result["status"] in {"not_found", "refused"}
    assert palace.get(old).tags == ()


def test_a_correction_tells_what_of_it_could_not_be_done(palace, tools):
    old = tools["remember"](text=PORT, tags=["db"])["memory"]["id"]

    result = tools["correct"](memory_id=old, add_tags=["net"], link_to=old)
    assert result["status"] == "changed"
    assert "not linked: a memory is not linked to itself" in result["message"]
    assert palace.get(old).tags == ("db", "net")

    result = tools["correct"](memory_id=old, text=NEW_PORT, remove_tags=["none"])
    assert result["status"] == "stored"
    assert "as they were" in result["message"]

    result = tools["correct"](memory_id=result["memory"]["id"], text=PORT, add_tags=["moved"])
    assert result["status"] == "stored"
    assert result["memory"]["tags"] == ["db", "net", "moved"]


def test_forget_retires_and_says_that_it_stays_readable(tools):
    old = tools["remember"](text=PORT)["memory"]["id"]

    result = tools["forget"](memory_id=old, reason="switched off")

    assert result["status"] == "forgotten"
    assert "stays readable" in result["message"]
    assert tools["search"](query=ASKED)["memories"] == []
    assert tools["forget"](memory_id=old)["status"] == "not_found"


def test_forget_says_where_the_words_still_stand(palace, tools):
    old = tools["remember"](text=PORT)["memory"]["id"]
    at = datetime(2026, 5, 7, 14, 30, tzinfo=timezone.utc)
    palace.import_turns([ConversationTurn("s1", "Ann", f"As I said before lunch: {PORT}", at)])
    message = tools["forget"](memory_id=old)["message"]
    assert "Its words still stand in: " in message
    assert "timeline/2026-05-07.md" in message


def test_forget_names_a_few_of_many_places(palace, tools):
    room = palace.root / "rooms" / "days"
    room.mkdir(parents=True)
    for day in range(9):
        (room / f"{day}.md").write_text("- The plants got water.\n")
    palace.refresh()
    message = tools["forget"](memory_id=palace.memories(room="days")[0].id)["message"]
    assert message.count("rooms/days/") == 6
    assert " and 3 more. Forget those too that tell of the same" in message
    assert len(palace.memories(room="days")) == 8


def test_memories_of_other_sessions_and_projects_cannot_be_seen_or_touched(palace, tools):
    hidden = [
        palace.remember(PORT, session_id="s2").memory,
        palace.remember(NEW_PORT, project="other").memory,
    ]
    for memory in hidden:
        for result in (
            tools["read"](memory_id=memory.id),
            tools["correct"](memory_id=memory.id, text="The port is 1."),
            tools["forget"](memory_id=memory.id),
        ):
            assert result["status"] == "not_found"
            assert "staging" not in json.dumps(result)  # an id may hold any digits
        assert palace.get(memory.id).status == "active"
    room = palace.settings.write.default_room
    assert tools["read"](room=room)["status"] == "nothing_stored"


def test_a_room_is_not_told_of_where_only_others_keep_something(palace, tools):
    palace.remember(PORT, room="move-to-oslo", session_id="s2")
    palace.remember(NEW_PORT, room="infra")
    (palace.root / "rooms" / "empty").mkdir()

    shown = [room["room"] for room in tools["read"]()["rooms"]]

    assert shown == ["empty", "infra"]


def test_memories_can_be_kept_to_a_session_or_a_project(palace):
    tools = tools_of(palace, session_id="s1", project="site")

    session = tools["remember"](text=PORT, visible_to="session")["memory"]["id"]
    project = tools["remember"](text="The site uses blue.", visible_to="project")["memory"]["id"]

    assert palace.get(session).scope == "session:s1"
    assert palace.get(project).scope == "project:site"


def test_what_needs_a_session_or_project_says_so(palace):
    tools = tools_of(palace)
    promoted = {"room": "r", "summary": "s", "reason": "r"}
    results = [
        tools["note"](text="x"),
        tools["promote"](note_id="s-1", **promoted),
        tools["wake_up"](),
        tools["remember"](text=PORT, visible_to="session"),
    ]
    assert all(r["status"] == "invalid" and "session" in r["message"] for r in results)
    assert tools["remember"](text=PORT, visible_to="project")["status"] == "invalid"
    assert palace.memories() == []


def test_the_host_names_the_session_and_the_model_cannot(palace, tools):
    tools["note"].run({"text": PORT}, session_id="s2")

    assert [n.text for n in palace.notes("s2")] == [PORT]
    assert palace.notes("s1") == []
    refused = tools["search"](query=ASKED, session_id="s2")
    assert refused["status"] == "invalid"
    assert "session_id" in refused["message"]


def test_the_host_names_the_project_of_a_call_and_the_model_cannot(palace):
    tools = tools_of(palace, project="site")
    palace.remember(PORT, project="shop")

    assert tools["search"].run({"query": ASKED}, project="shop")["status"] == "found"
    assert tools["search"](query=ASKED)["status"] == "nothing_stored"
    assert tools["search"](query=ASKED, project="shop")["status"] == "invalid"
    told = {"text": "The shop uses blue.", "visible_to": "project"}
    stored = tools["remember"].run(told, project="shop")["memory"]["id"]
    assert palace.get(stored).scope == "project:shop"


def test_notes_of_other_sessions_cannot_be_promoted(palace, tools):
    other = palace.note(PORT, session_id="s2")

    result = tools["promote"](note_id=other.id, room="infra", summary=PORT, reason="useful")

    assert result["status"] == "not_found"
    assert palace.memories() == []


@pytest.mark.parametrize(
    ("name", "arguments", "words"),
    [
        ("search", {}, "missing"),
        ("search", {"query": 3}, "must be a string"),
        ("search", {"query": " "}, "nothing is asked"),
        ("search", {"query": "x", "limit": 99}, "1 to 20"),
        ("read", {"drawer": "notes"}, "name its room"),
        ("remember", {"text": "x", "tags": "a"}, "must be an array"),
        ("search", {"query": "x", "limit": True}, "must be an integer"),
        ("search", {"query": "x", "limit": "5"}, "must be an integer"),
        ("remember", {"text": "x", "kind": "rumour"}, "one of"),
        ("forget", {"memory_id": None}, "missing"),
        ("wake_up", {"loud": "yes"}, "unknown argument"),
        ("search", None, "missing"),
        ("search", "query", "an object"),
        ("search", ["query"], "an object"),
    ],
)
def test_wrong_arguments_are_told_and_nothing_is_done(palace, tools, name, arguments, words):
    result = tools[name].run(arguments)

    assert result["status"] == "invalid"
    assert words in result["message"]
    assert palace.memories() == []


@pytest.mark.parametrize("name", ["read", "wake_up"])
def test_no_arguments_at_all_are_none(tools, name):
    assert tools[name].run(None) == tools[name].run({})


@pytest.mark.parametrize("name", ["room", "drawer", "key"])
def test_an_empty_name_is_told_and_nothing_is_stored(palace, tools, name):
    result = tools["remember"].run({"text": PORT, name: ""})

    assert result["status"] == "refused"
    assert name in result["message"]
    assert palace.memories() == []


def test_unfit_text_is_refused_with_the_reason(palace, tools):
    secret = "The password is hunter2-Zx9!kLm34"  # noqa: S105 - made up

    result = tools["remember"](text=secret)

    assert result["status"] == "refused"
    assert "hunter2" not in result["message"]
    assert palace.memories() == []


def test_secrets_written_by_hand_are_not_shown(palace, tools):
    path = palace.root / "rooms" / "infra" / "hand.md"
    path.parent.mkdir(parents=True)
    path.write_text("- The staging password is hunter2-Zx9!kLm34\n", encoding="utf-8")
    palace.refresh()

    shown = json.dumps([tools["read"](room="infra"), tools["search"](query="staging password?")])

    assert "hunter2" not in shown


def test_a_long_room_is_cut_and_says_so(palace, tools):
    path = palace.root / "rooms" / "infra" / "hand.md"
    path.parent.mkdir(parents=True)
    lines = "".join(f"- Rack {n} holds {n + 2} machines.\n" for n in range(60))
    path.write_text(lines, encoding="utf-8")
    palace.refresh()

    result = tools["read"](room="infra")

    assert len(result["memories"]) == 50
    assert "60 memories" in result["message"]


def test_wake_up_of_an_empty_palace_says_so(tools):
    assert tools["wake_up"]()["status"] == "nothing_stored"
