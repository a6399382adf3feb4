"""Conversations come in from Claude, WhatsApp and Slack as these programs write them, once."""

from __future__ import annotations

from pathlib import Path

import pytest

from palace import ConfigError, Mempalace
from tests.e2e.test_imports import put, taken


@pytest.fixture
def root(here: Path) -> Path:
    return here


def spoken(palace: Mempalace) -> list[tuple[str, str, str]]:
    turns = palace.memories(room="timeline")
    return [(f"{turn.created:%m-%d %H:%M}", turn.speaker, turn.text) for turn in turns]


# Claude


def said(sender: str, *parts: dict[str, object], at: str, **more: object) -> dict[str, object]:
    words = " ".join(str(part["text"]) for part in parts if part["type"] == "text")
    return {
        "uuid": f"{sender}-{at}",
        "text": words,
        "content": list(parts),
        "sender": sender,
        "created_at": f"2025-01-12T{at}:01.123456Z",
        "attachments": [],
        "files": [],
        **more,
    }


def text(words: str) -> dict[str, object]:
    return {"type": "text", "text": words, "citations": []}


def claude(**changes: object) -> dict[str, object]:
    plan = {"file_name": "plan.txt", "extracted_content": "…"}
    used: list[dict[str, object]] = [
        {"type": "thinking", "thinking": "Small."},
        {"type": "tool_use", "name": "web_search", "input": {}},
        {"type": "tool_result", "content": []},
    ]
    spoken_note: dict[str, object] = {**text("The heater stands in row 4."), "type": "voice_note"}
    return {
        "uuid": "0c2b6c9e-1111-4f0e-9a55-aaaaaaaaaaaa",
        "name": "Greenhouse heating",
        "created_at": "2025-01-12T09:14:55.123456Z",
        "account": {"uuid": "a"},
        "chat_messages": [
            said("human", text("The greenhouse has 12 square metres."), at="09:14"),
            said("assistant", *used, text("Then 2 kW do."), text("Insulate it."), at="09:15"),
            said("human", spoken_note, at="09:16", attachments=[plan]),
            said("assistant", at="09:17"),
        ],
        **changes,
    }


def test_an_export_of_claude_becomes_timeline(palace: Mempalace, tmp_path: Path):
    conversations = [claude(), claude(uuid="1", name="", chat_messages=[]), {"chat_messages": 7}]
    files: dict[str, object] = {"conversations.json": conversations, "users.json": []}
    done = taken(palace, put(tmp_path / "data-2025-01-13", files))
    assert (done.kind, done.unit, done.added) == ("claude", "turns", 3)
    assert spoken(palace) == [
        ("01-12 09:14", "user", "The greenhouse has 12 square metres."),
        ("01-12 09:15", "assistant", "Then 2 kW do.\n\nInsulate it."),
        ("01-12 09:16", "user", "[file not imported]\n\nThe heater stands in row 4."),
    ]
    turns = palace.memories(room="timeline")
    assert {turn.session for turn in turns} == {"Greenhouse heating (claude 0c2b6c9e)"}
    assert turns[0].provenance == "claude:human-09:14"
    assert [r.reason for r in done.refused] == ["it is no conversation: it has no chat_messages"]
    assert [r.reason for r in done.ignored] == ["a message without words"]


def test_a_conversation_with_claude_keeps_the_title_it_came_with(palace: Mempalace, tmp_path: Path):
    taken(palace, put(tmp_path, {"old.json": [claude()]}) / "old.json")
    done = taken(palace, put(tmp_path, {"new.json": [claude(name="Frost")]}) / "new.json")
    assert (done.added, done.unchanged) == (0, 3)


@pytest.mark.parametrize("is_told", [True, False])
def test_of_an_edited_prompt_the_last_version_is_taken_where_that_is_told(
    is_told: bool, palace: Mempalace, tmp_path: Path
):
    parents = {"b": "a", "old": "b", "new": "b"} if is_told else {}
    messages = [
        said(who, text(f"Words {key}."), at="09:14", uuid=key, parent_message_uuid=parents.get(key))
        for key, who in (("a", "human"), ("b", "assistant"), ("old", "human"), ("new", "human"))
    ]
    source = put(tmp_path, {"c.json": [claude(chat_messages=messages)]}) / "c.json"
    done = taken(palace, source)
    told = ["a message of another branch"] if is_told else []
    assert (done.added, [r.reason for r in done.ignored]) == (4 - len(told), told)


# WhatsApp

ANDROID = """12/03/2026, 18:04 - Messages and calls are end-to-end encrypted. Tap to learn more.
12/03/2026, 18:04 - Ines Köhler: The rehearsal is on Friday at 19:30
12/03/2026, 18:05 - Tom: ok
bring the score: the blue one

and a pencil
13/03/2026, 09:12 - Ines Köhler: <Media omitted>
13/03/2026, 09:13 - Ines Köhler: write <br> there
"""
IPHONE = """\ufeff[12.03.26, 18:04:11] Chor: \u200eNachrichten sind Ende-zu-Ende-verschlüsselt.\r
[12.03.26, 18:04:40] ~\u202fInes Köhler: Die Probe ist am Freitag um 19:30\r
\u200e[12.03.26, 18:05:01] Tom: \u200e<Anhang: 00000012-PHOTO.jpg>\r
[13.03.26, 18:05:01] Tom: gut
ich komme\r
"""


def test_a_chat_of_an_android_phone_becomes_timeline(palace: Mempalace, tmp_path: Path):
    name = "WhatsApp Chat with Ines.txt"
    done = taken(palace, put(tmp_path, {name: ANDROID}) / name)
    assert (done.kind, done.unit, done.added) == ("whatsapp", "turns", 3)
    assert spoken(palace) == [
        ("03-12 18:04", "Ines Köhler", "The rehearsal is on Friday at 19:30"),
        ("03-12 18:05", "Tom", "ok\nbring the score: the blue one\n\nand a pencil"),
        ("03-13 09:13", "Ines Köhler", "write <br> there"),
    ]
    sessions = {turn.session for turn in palace.memories(room="timeline")}
    assert sessions == {"WhatsApp Chat with Ines (whatsapp)"}
    assert [(r.path_or_line, r.reason) for r in done.ignored] == [
        (f"{name}:1", "a message of WhatsApp itself, or a file"),
        (f"{name}:7", "a message without words"),
    ]


def test_a_chat_of_an_iphone_in_its_folder_becomes_timeline(palace: Mempalace, tmp_path: Path):
    folder = put(tmp_path / "Chor", {"_chat.txt": IPHONE, "00000012-PHOTO.jpg": b"\xff\xd8"})
    assert taken(palace, folder).kind == "whatsapp"
    assert spoken(palace) == [
        ("03-12 18:04", "Ines Köhler", "Die Probe ist am Freitag um 19:30"),
        ("03-13 18:05", "Tom", "gut\nich komme"),
    ]
    assert {turn.session for turn in palace.memories(room="timeline")} == {"Chor (whatsapp)"}


@pytest.mark.parametrize(
    ("dates", "at"),
    [
        (("1/2/26, 6:04 PM - ", "1/20/26, 6:04\u202fPM - "), "01-02 18:04"),
        (("1/2/26, 18:04 - ", "20/2/26, 18:04 - "), "02-01 18:04"),
        (("30/1/26, 18:04 - ", "1/2/26, 18:04 - "), "01-30 18:04"),
        # Neither is beyond 12, but a chat goes forward.
        (("3/1/26, 18:04 - ", "1/2/26, 18:04 - "), "01-03 18:04"),
        (("1/3/2026 6:04 p.\u00a0m. - ", "28/3/2026 6:04 p.\u00a0m. - "), "03-01 18:04"),
        (("2/2/2026, 18:04 - ", "2/2/2026, 18:05 - "), "02-02 18:04"),
        (("3.2.2026 klo 18.04 - ", "4.2.2026 klo 18.04 - "), "02-03 18:04"),
        (("03-02-2026 18:04 - ", "04-02-2026 18:04 - "), "02-03 18:04"),
        (("[2026-02-03, 18:04:59] ", "[2026-02-04, 18:04:59] "), "02-03 18:04"),
        (("2026/2/3 18:04 - ", "2026/2/4 18:04 - "), "02-03 18:04"),
    ],
)
def test_dates_of_a_chat_are_read_in_their_order(
    dates: tuple[str, str], at: str, palace: Mempalace, tmp_path: Path
):
    chat = "".join(f"{date}Ines: Row {n} is free.\n" for n, date in enumerate(dates))
    taken(palace, put(tmp_path, {"c.txt": chat}) / "c.txt")
    assert spoken(palace)[0] == (at, "Ines", "Row 0 is free.")


def test_a_chat_whose_day_may_be_the_month_is_refused_with_what_to_do(command, tmp_path):
    chat = "1/2/26, 18:04 - Ines: One.\n2/3/26, 18:04 - Ines: Two.\n"
    told = command("import", str(put(tmp_path, {"c.txt": chat}) / "c.txt"))
    assert told.code == 2
    assert "which is the day and which the month" in told.err
    assert "hint: export more of the chat" in told.err


@pytest.mark.parametrize(
    "content",
    ["2026-03-12 18:04 - INFO: started\n", "Grandma takes 200 g of butter.\n", "12/03/2026: x\n"],
)
def test_another_text_is_no_chat(content: str, palace: Mempalace, tmp_path: Path):
    with pytest.raises(ConfigError, match="no form I know"):
        palace.import_from(put(tmp_path, {"a.txt": content}) / "a.txt")
    with pytest.raises(ConfigError, match="no chat of WhatsApp"):
        palace.import_from(tmp_path / "a.txt", form="whatsapp")


# Slack


def slack(folder: Path) -> Path:
    people = [
        {"id": "U1", "name": "ada", "profile": {"real_name": "Ada Lind", "display_name": "ada"}},
        {"id": "U2", "name": "bo", "profile": {"display_name": ""}},
    ]
    first = {"type": "message", "user": "U1", "ts": "1773331200.000100"}
    link = "see <https://example.org/x|the plan> &amp; <#C1|general>, <!here>"
    days = [
        {**first, "text": f"<@U2> the freeze starts on Monday, {link}"},
        {**first, "subtype": "channel_join", "text": "<@U1> has joined", "ts": "1773331260.1"},
        {**first, "bot_id": "B1", "text": "Build 7 is green", "ts": "1773331300.1"},
        {**first, "user": "U2", "text": "Which one?", "ts": "1773331320.1", "thread_ts": "1"},
        {**first, "text": "", "files": [{"id": "F1"}], "ts": "1773331380.1"},
        {**first, "text": "When", "ts": None},
        "broken",
    ]
    talk = [{**first, "text": "The van is at door 3.", "ts": "1773417600.1"}]
    return put(
        folder,
        {
            "users.json": people,
            "channels.json": [{"id": "C1", "name": "general", "members": ["U1"]}],
            "dms.json": [{"id": "D1", "members": ["U1", "U2"]}],
            "general/2026-03-12.json": days,
            "general/canvas_in_the_conversation.json": {},
            "D1/2026-03-13.json": talk,
        },
    )


def test_a_workspace_of_slack_becomes_timeline(palace: Mempalace, tmp_path: Path):
    done = taken(palace, slack(tmp_path / "export"))
    assert (done.kind, done.unit, done.added) == ("slack", "turns", 4)
    assert spoken(palace) == [
        (
            "03-12 16:00",
            "Ada Lind",
            "@bo the freeze starts on Monday, see the plan (https://example.org/x) & #general,"
            " @here",
        ),
        ("03-12 16:02", "bo", "Which one?"),
        ("03-12 16:03", "Ada Lind", "[file not imported]"),
        ("03-13 16:00", "Ada Lind", "The van is at door 3."),
    ]
    sessions = [turn.session for turn in palace.memories(room="timeline")]
    assert sessions == ["general (slack general)"] * 3 + ["Ada Lind, bo (slack D1)"]
    assert [r.path_or_line for r in done.refused] == ["general/2026-03-12.json:1"] * 2
    assert {r.reason for r in done.ignored} == {"a message of a bot or of Slack itself"}


# What is none of these


def test_messages_of_another_program_are_not_taken_for_langchains(command, tmp_path):
    author = {"name": "bo"}
    messages = [{"id": "1", "type": "Default", "content": "hi there", "author": author}]
    source = put(tmp_path, {"discord.json": {"messages": messages}}) / "discord.json"
    told = command("import", str(source))
    assert told.code == 2
    assert "it is JSON of no form I know" in told.err


def test_an_export_that_is_packed_says_that_it_is_to_be_unpacked(command, tmp_path):
    told = command("import", str(put(tmp_path, {"export.zip": b"PK\x03\x04..."}) / "export.zip"))
    assert told.code == 2
    assert "hint: unpack it" in told.err
