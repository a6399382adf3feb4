"""What a part of a conversation becomes."""

from __future__ import annotations

import pytest

from palace import ModelError
from palace.learn.condense import as_said, by_model, by_picking, transcript
from palace.learn.cues import load_cues
from palace.testing import ScriptedGenerator
from palace.text import estimate_tokens
from palace.types.session import Message

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2
CUES = load_cues(("en",))
TALK = [
    Message("user", "Hi there! How are you?"),
    Message("assistant", "Hello! I'm happy to help. Let me know what you need."),
    Message("user", "We decided to move the wiki to Outline on 2026-04-02."),
    Message("assistant", "Great. The export takes 3 hours on the host heron."),
    Message("tool", '{"status": "ok", "rows": 17}', answers="c1"),
    Message("user", "Thanks, that was helpful."),
]


def test_picking_takes_decisions_and_values_and_no_chat():
    assert by_picking(TALK, budget_tokens=200, cues=CUES).splitlines() == [
        "- User: We decided to move the wiki to Outline on 2026-04-02.",
        "- Assistant: The export takes 3 hours on the host heron.",
    ]


def test_picking_takes_what_a_person_told_before_what_they_asked():
    asked = "Which branch are releases of the website cut from?"
    for told in ("Releases are cut from the trunk.", "No, they are cut from stable, not main."):
        talk = [Message("user", asked), Message("user", told)]
        assert by_picking(talk, budget_tokens=14, cues=CUES) == f"- User: {told}"


def test_picking_keeps_its_budget():
    text = by_picking(TALK * 20, budget_tokens=20, cues=CUES)
    assert text
    assert estimate_tokens(text) <= 20


@pytest.mark.parametrize("said", ["ok", "Thanks!", "```\ncode = 1\n```", "?"])
def test_something_is_always_left(said):
    assert by_picking([Message("user", said)], budget_tokens=50, cues=CUES).startswith("- User: ")


def test_as_said():
    lines = as_said([Message("user", "a\n\nb"), Message("tool", "x" * 5000)]).splitlines()
    assert lines[:2] == ["[RAW] User: a", "[RAW] User: b"]
    assert lines[2].startswith("[RAW] Tool: xxx")
    assert lines[2].endswith("[3000 more characters]")


def test_secrets_and_echo_are_left_out_everywhere():
    said = [Message("user", f"The key is {TOKEN}. <memory-context>old words</memory-context>")]
    generator = ScriptedGenerator(["- User: there is a key"])
    made = by_model(generator, said, budget_tokens=100, window_tokens=1000)
    shown = [*transcript(said), as_said(said), by_picking(said, budget_tokens=99, cues=CUES), made]
    shown += [m.content for asked in generator.asked for m in asked]
    assert not any(TOKEN in text or "old words" in text for text in shown)


def condensed(reply, source="We moved 12 hosts to heron-2 on Friday, " * 3, **more):
    options = {"budget_tokens": 100, "window_tokens": 2000, **more}
    return by_model(ScriptedGenerator([reply]), [Message("user", source)], **options)


def test_a_model_is_believed_where_its_values_are_in_the_source():
    reply = "- User: moved 12 hosts\n- User: moved 13 hosts\n- to heron-2"
    assert condensed(reply) == "- User: moved 12 hosts\n- to heron-2"


def test_a_summary_longer_than_its_source_is_not_used():
    assert condensed("word " * 200, source="short words only") == ""


def test_a_model_that_repeats_our_block_says_nothing():
    assert condensed("<memory-context>moved 12 hosts</memory-context>") == ""


def test_a_model_s_secret_is_removed():
    text = condensed(f"- the key {TOKEN}", source=f"A long story about the key {TOKEN}. " * 9)
    assert TOKEN not in text


def test_control_characters_are_a_failure():
    with pytest.raises(ModelError, match="control characters"):
        condensed("- moved\x1b[2J 12 hosts")


def test_a_long_source_goes_in_pieces_and_comes_out_within_the_budget():
    generator = ScriptedGenerator(["- one\n- " + "long " * 9] * 40)
    source = [Message("user", f"word {n} " * 60) for n in range(20)]
    text = by_model(generator, source, budget_tokens=30, window_tokens=1000)
    assert len(generator.asked) > 3
    assert all(estimate_tokens(asked[1].content) < 600 for asked in generator.asked)
    assert 0 < estimate_tokens(text) <= 30
