"""Whatever is said and however it is handed over: every message is condensed once, none is lost."""

from __future__ import annotations

from contextlib import nullcontext
from datetime import datetime, timedelta, timezone

from hypothesis import given, settings
from hypothesis import strategies as st

from palace import ModelError
from palace.learn.consolidate import Consolidator, Limits
from palace.learn.conversation import safe_cut, tokens_of
from palace.learn.cues import load_cues
from palace.testing import ManualClock, ScriptedGenerator
from palace.text import estimate_tokens
from palace.types.memory import Memory
from palace.types.session import Message, SessionMark

NOON = datetime(2026, 3, 14, 12, 0, tzinfo=timezone.utc)
LONG = settings(max_examples=40, deadline=None)

# Few words on purpose: equal messages are what makes it hard.
words = st.sampled_from(["yes", "ok", "We use Redis 7.", "go on", "and so on " * 8])
turns = st.lists(
    st.tuples(words, st.integers(0, 2), words), min_size=1, max_size=14
)  # question, tool calls, answer


class Marks:
    def __init__(self):
        self.mark = SessionMark("s")

    def read(self, session_id):
        return self.mark

    def write(self, mark):
        self.mark = mark

    def locked(self):
        return nullcontext()


class Timeline(list):
    def __call__(self, entry):
        self.append(entry)

    def memories(self, session_id):
        return [
            Memory(
                f"m-{n}",
                e.text,
                "timeline/x.md",
                n,
                "timeline",
                "x",
                created=e.at,
                provenance=e.provenance,
            )
            for n, e in enumerate(self)
        ]


def consolidator(timeline, *, script=(), **limits):
    return Consolidator(
        marks=Marks(),
        entries=timeline.memories,
        write=timeline,
        frame=lambda text: f"<memory-context>\n{text}\n</memory-context>",
        clock=ManualClock(NOON),
        limits=Limits(**{"window_tokens": 300, "turns": 2, "summary_tokens": 60, **limits}),
        generator=ScriptedGenerator(script) if script else None,
        cues=load_cues(("en",)),
    )


def messages_of(drawn, *, timed):
    said = []

    def say(role, text, **more):
        at = NOON - timedelta(hours=1) + timedelta(seconds=len(said)) if timed else None
        said.append(Message(role, text, at=at, **more))

    for question, calls, answer in drawn:
        say("user", question)
        for n in range(calls):
            say("assistant", "", calls=(f"c{n}",))
            say("tool", "done", answers=f"c{n}")
        say("assistant", answer)
    return said


def whole(message):
    return [(call, message.answers) for call in message.calls]


def handed_over(way, said, sent_before, seen):
    """The whole history; what was sent last and what came since; or the last part of it."""
    if way == "whole" or sent_before is None:
        return said
    if way == "sent":
        return [*sent_before, *said[seen:]]
    return said[max(0, seen - 6) :] if seen <= len(said) else said


@LONG
@given(turns, st.booleans(), st.sampled_from(["whole", "sent"]), st.integers(1, 3))
def test_every_message_is_condensed_once_and_in_order(drawn, timed, way, step):
    timeline = Timeline()
    made = consolidator(timeline, idle=timedelta(days=1))
    said = messages_of(drawn, timed=timed)
    condensed, sent, seen = [], None, 0
    for end in [*range(step, len(said), step), len(said)]:
        history = handed_over(way, said[:end], sent, seen)
        done = made.compress_if_needed(history, "s")
        condensed += done.condensed
        sent, seen = done.messages, end
        rest = said[len(condensed) : end]
        # What is not condensed is sent, word for word, after at most the request under way.
        assert list(done.messages[len(done.messages) - len(rest) :]) == rest
        assert len(done.messages) - len(rest) <= 2
    inner_cuts_repeat_the_request = way == "sent"
    if not inner_cuts_repeat_the_request:
        assert condensed == said[: len(condensed)]
    made.compress_if_needed(said if way == "whole" else sent, "s", ask=True)
    assert made.marks.mark.count >= len(said)


@LONG
@given(turns, st.lists(st.booleans(), max_size=20))
def test_no_failure_loses_a_message(drawn, failures):
    script = [ModelError("down") if fails else "- We use Redis 7." for fails in failures]
    timeline = Timeline()
    made = consolidator(timeline, script=[*script, ModelError("down")], idle=timedelta(days=1))
    said = messages_of(drawn, timed=False)
    condensed = []
    for end in range(1, len(said) + 1):
        done = made.compress_if_needed(said[:end], "s")
        condensed += done.condensed
        assert condensed == said[: len(condensed)]
        rest = said[len(condensed) : end]
        assert list(done.messages[len(done.messages) - len(rest) :]) == rest


@LONG
@given(turns)
def test_what_is_sent_keeps_its_budget(drawn):
    made = consolidator(Timeline(), idle=timedelta(days=1))
    said = messages_of(drawn, timed=False)
    for end in range(1, len(said) + 1):
        done = made.compress_if_needed(said[:end], "s")
        assert estimate_tokens(done.injected) <= 60 + 60
        assert tokens_of(done.messages) <= 300 + 60


@LONG
@given(turns)
def test_only_messages_after_the_mark_are_condensed(drawn):
    made = consolidator(Timeline(), idle=timedelta(days=1))
    said = messages_of(drawn, timed=True)
    for end in range(1, len(said) + 1):
        last = made.marks.mark.last_consolidated_at
        done = made.compress_if_needed(said[:end], "s")
        assert last is None or all(m.at > last for m in done.condensed)


@LONG
@given(turns, st.integers(0, 60))
def test_a_cut_never_parts_a_call_from_its_answer(drawn, cut):
    said = messages_of(drawn, timed=False)
    place = safe_cut(said, min(cut, len(said)))
    assert place <= cut
    calls = [c for m in said[:place] for c in m.calls]
    answers = [m.answers for m in said[:place] if m.answers]
    assert calls == answers


@LONG
@given(turns)
def test_a_lost_mark_is_found_again(drawn):
    timeline = Timeline()
    made = consolidator(timeline, idle=timedelta(days=1))
    said = messages_of(drawn, timed=False)
    for end in range(1, len(said) + 1):
        made.compress_if_needed(said[:end], "s")
    kept, entries = made.marks.mark, list(timeline)
    made.marks.mark = SessionMark("s")
    made.compress_if_needed(said, "s", ask=True)
    assert timeline[: len(entries)] == entries
    assert made.marks.mark.count == len(said)
    assert kept.count <= len(said)
