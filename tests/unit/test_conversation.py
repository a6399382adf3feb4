"""What is new in a history, and where it may be cut."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta, timezone

from palace.learn.conversation import (
    FirstSeen,
    digest_of,
    is_own,
    paused_at,
    safe_cut,
    take_apart,
    turn_starts,
)
from palace.types.session import Message, SessionMark

NOON = datetime(2026, 3, 14, 12, 0, tzinfo=timezone.utc)
SAID = [
    Message("user" if n % 2 == 0 else "assistant", f"words {n}", at=NOON + timedelta(minutes=n))
    for n in range(8)
]
BLOCK = "<memory-context>\nCondensed from earlier in this conversation ({} messages): x\n</memory-context>"


def untimed(messages):
    return [replace(message, at=None) for message in messages]


def mark_after(messages, last=None):
    return SessionMark(
        "s", last, count=len(messages), tail=tuple(digest_of(m) for m in messages)[-3:]
    )


def test_everything_is_new_without_a_mark():
    history = [Message("system", "rules"), *SAID]
    talk = take_apart(history, SessionMark("s"))
    assert (talk.system, talk.new) == ((0,), tuple(SAID))


def test_the_whole_history_again():
    talk = take_apart(SAID, mark_after(SAID[:5]))
    assert talk.new == tuple(SAID[5:])


def test_equal_messages_are_told_apart_by_their_number():
    said = [Message("user", "yes"), Message("assistant", "ok")] * 4
    assert len(take_apart(said, mark_after(said[:4])).new) == 4


def test_what_follows_our_own_block_is_new_even_if_it_was_said_before():
    said = untimed(SAID[:2]) * 3
    mark = mark_after(said[:2])
    history = [Message("user", BLOCK.format(2)), *said[2:]]
    assert take_apart(history, mark).fresh == (1, 2, 3, 4)


def test_a_window_onto_the_conversation():
    talk = take_apart(untimed(SAID[3:]), mark_after(untimed(SAID[:6])))
    assert talk.new == tuple(untimed(SAID[6:]))


def test_a_history_that_was_edited_goes_by_time():
    edited = [replace(m, content=m.content + "!") for m in SAID]
    assert take_apart(edited, mark_after(SAID[:4], last=SAID[3].at)).new == tuple(edited[4:])


def test_a_history_that_was_edited_and_has_no_times_is_new():
    edited = untimed([replace(m, content=m.content + "!") for m in SAID])
    assert take_apart(edited, mark_after(untimed(SAID[:4]))).new == tuple(edited)


def test_evidence_does_not_make_a_message_another_one():
    asked = Message("user", "<memory-context>\n[1] x\n</memory-context>\n\nWhat now?")
    assert digest_of(asked) == digest_of(Message("user", "What now?"))
    assert not is_own(asked)
    assert is_own(Message("user", BLOCK.format(3)))
    assert not is_own(Message("assistant", "", calls=("c1",)))


def test_a_call_is_never_parted_from_its_answers():
    messages = [
        Message("user", "look"),
        Message("assistant", "", calls=("a", "b")),
        Message("tool", "1", answers="a"),
        Message("tool", "2", answers="b"),
        Message("assistant", "", calls=("a",)),
        Message("tool", "3", answers="a"),
        Message("assistant", "done"),
    ]
    assert [safe_cut(messages, cut) for cut in range(8)] == [0, 1, 1, 1, 4, 4, 6, 7]


def test_a_call_that_is_still_to_be_answered_stays():
    messages = [Message("user", "look"), Message("assistant", "", calls=("a",))]
    assert safe_cut(messages, 2) == 1
    assert safe_cut([*messages, Message("user", "never mind")], 3) == 3


def test_turns_begin_with_the_person():
    roles = ["assistant", "user", "assistant", "tool", "user"]
    assert turn_starts([Message(role, "x") for role in roles]) == [0, 4]
    assert turn_starts([]) == []


def test_a_pause():
    times = [NOON, NOON + timedelta(minutes=1), NOON + timedelta(minutes=20)]
    ten = timedelta(minutes=10)
    assert paused_at(times, idle=ten, now=times[-1]) == 2
    assert paused_at(times, idle=ten, now=times[-1] + ten) == 3
    assert paused_at(times[:2], idle=ten, now=times[1]) == 0
    assert paused_at([], idle=ten, now=NOON) == 0


def test_messages_without_times_have_the_time_they_were_first_seen():
    seen = FirstSeen()
    said = untimed(SAID)
    assert seen.times("s", said[:1], NOON) == [NOON]
    later = NOON + timedelta(hours=1)
    assert seen.times("s", said[:2], later) == [NOON, later]
    assert seen.times("other", said[:1], later) == [later]
