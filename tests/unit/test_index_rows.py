"""A memory as JSON and back."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import datetime, timedelta, timezone

import pytest

from palace.store.index_rows import decode_memory, encode_memory, memory_tokens
from palace.types.memory import Memory
from tests.doubles import memory

MOMENT = datetime(2026, 3, 14, 9, 30, 5, 250, tzinfo=timezone.utc)


def test_every_field_survives() -> None:
    whole = Memory(
        id="m-1",
        text='A "quoted"\n\ttext \u2028 日本語 🙂 \\ </script>',
        path="rooms/desk/notes.md",
        line=7,
        room="desk",
        drawer="notes",
        title="Notes",
        heading="A > B",
        position=3,
        kind="negative",
        scope="project:garden",
        trust="agent",
        provenance="chat",
        tags=("a", "b c"),
        links=("desk/plans",),
        importance=0.1,
        confidence=1 / 3,
        created=MOMENT,
        updated=MOMENT + timedelta(days=1),
        valid_from=MOMENT - timedelta(days=1),
        valid_to=datetime(2027, 1, 1, tzinfo=timezone(timedelta(hours=5, minutes=30))),
        status="inactive",
        superseded_by="m-2",
        triggers=("before a deploy",),
        project="garden",
        task="dig",
        session="s1",
        reason="why not",
        speaker="Mira",
    )
    assert decode_memory(encode_memory(whole)) == whole


def test_defaults_are_left_out_and_come_back() -> None:
    plain = memory("short")
    data = json.loads(encode_memory(plain))
    assert set(data) == {"id", "text", "path", "line", "room", "drawer"}
    assert decode_memory(encode_memory(plain)) == plain


def test_values_equal_to_falsehood_survive() -> None:
    odd = memory("x", confidence=0.0, importance=0.0, trust="system", line=0)
    assert decode_memory(encode_memory(odd)) == odd


def test_the_json_is_one_line() -> None:
    assert "\n" not in encode_memory(memory("a\nb\r\nc", tags=("x\ny",)))


@pytest.mark.parametrize(
    ("place", "tokens"),
    [
        ("2026-05-04", {"2026-05-04", "month05", "4"}),  # as "on 4 May" asks for it
        ("2026_05_04", {"2026-05-04", "month05"}),
        ("2026-05-04 Call with Miro", {"2026-05-04", "month05", "call", "miro"}),
        ("2026/05/04", {"2026-05-04", "month05", "4"}),
        ("2026-05", {"2026", "month05"}),
        ("api-gateway", {"api", "gateway"}),
    ],
)
def test_a_drawer_is_found_by_its_day_and_its_words(place: str, tokens: set[str]) -> None:
    drawer = place.rpartition("/")[2]
    held = replace(memory("Ran 6 km."), path=f"rooms/daily/{place}.md", drawer=drawer)
    _, context, _, _ = memory_tokens(held)
    assert tokens <= set(context.split())


def test_a_turn_is_found_by_the_number_of_its_day() -> None:
    at = datetime(2026, 5, 4, 9, 30, tzinfo=timezone.utc)
    turn = replace(memory("Ran 6 km."), room="timeline", drawer="2026-05-04", created=at)
    _, context, _, _ = memory_tokens(turn)
    assert {"2026-05-04", "month05", "4", "2026"} <= set(context.split())
