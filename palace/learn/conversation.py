"""A conversation as consolidation sees it: what is new in it, and where it may be cut.

In: a history as a host hands it over (whole, shortened by us, or a window of it) and the mark of
its session. Out: what no summary holds yet. When in doubt a message is new: condensed twice is a
repetition, never condensed is a loss.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import regex

from palace.recall.blocks import strip_own_markers
from palace.text import estimate_tokens
from palace.types.session import Message, SessionMark

TAIL = 64
"""Digests of condensed messages that a mark keeps."""
CONDENSED_TITLE = "Condensed from earlier in this conversation"
_COUNT = regex.compile(rf"{CONDENSED_TITLE} \((\d{{1,9}}) messages\)")
_LEAST_RUN = 2
_SESSIONS_SEEN = 500


@dataclass(frozen=True, slots=True)
class Talk:
    """A history, taken apart.

    Attributes:
        history: As it was handed over.
        system: Places of system messages.
        fresh: Places of the messages that no summary holds, in order.
    """

    history: tuple[Message, ...]
    system: tuple[int, ...]
    fresh: tuple[int, ...]

    @property
    def new(self) -> tuple[Message, ...]:
        """The messages that no summary holds."""
        return tuple(self.history[place] for place in self.fresh)


def take_apart(history: Sequence[Message], mark: SessionMark) -> Talk:
    """Return what is new in a history.

    System messages and messages that are nothing but our own block are never condensed. Of the
    others the first ones are condensed already if they are those that the mark ends with. If the
    mark is not found in the history, and all messages have times, those after
    `last_consolidated_at` are new; without times all are.
    """
    system = tuple(n for n, message in enumerate(history) if message.role == "system")
    own = [n for n, message in enumerate(history) if is_own(message)]
    apart = {*system, *own}
    rest = [n for n in range(len(history)) if n not in apart]
    said = [history[n] for n in rest]
    base = _condensed_before(history[own[0]]) if own and own[0] < min(rest, default=0) else 0
    known = _known(said, mark, base=base)
    if known is not None:
        return Talk(tuple(history), system, tuple(rest[known:]))
    last = mark.last_consolidated_at
    if last is not None and all(message.at for message in said):
        rest = [n for n in rest if (history[n].at or last) > last]
    return Talk(tuple(history), system, tuple(rest))


def is_own(message: Message) -> bool:
    """Whether a message holds nothing but our own evidence blocks."""
    if message.calls or message.answers or not message.content.strip():
        return False
    return not strip_own_markers(message.content).strip()


def digest_of(message: Message) -> str:
    """Return what tells a message from others: 16 hexadecimal digits, our blocks left out."""
    said = [
        message.role,
        strip_own_markers(message.content).strip(),
        list(message.calls),
        message.answers,
        message.at.isoformat() if message.at else "",
    ]
    text = json.dumps(said, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def batch_digest(messages: Sequence[Message]) -> str:
    """Return what tells a run of messages from others: 16 hexadecimal digits."""
    return hashlib.sha256("".join(map(digest_of, messages)).encode()).hexdigest()[:16]


def tokens_of(messages: Sequence[Message]) -> int:
    """Estimate the model tokens of messages, four of each for its frame."""
    return sum(estimate_tokens(message.content) + 4 for message in messages)


def turn_starts(messages: Sequence[Message]) -> list[int]:
    """Return where the turns begin: at every user message; the first turn begins at 0."""
    starts = [n for n, message in enumerate(messages) if message.role == "user"]
    return starts if starts[:1] == [0] or not messages else [0, *starts[1:]]


def paused_at(times: Sequence[datetime], *, idle: timedelta, now: datetime) -> int:
    """Return how many messages stand before the last pause of at least `idle`; 0 without one.

    Args:
        times: When each message was said, in their order.
        idle: How long a pause is.
        now: The time since the last message counts as a pause too.
    """
    if not times:
        return 0
    if now - times[-1] >= idle:
        return len(times)
    gaps = (n for n in range(len(times) - 1, 0, -1) if times[n] - times[n - 1] >= idle)
    return next(gaps, 0)


class FirstSeen:
    """When messages without times were first seen, as long as this process lives."""

    def __init__(self) -> None:
        self._seen: OrderedDict[str, dict[str, datetime]] = OrderedDict()
        self._lock = threading.Lock()

    def times(self, session_id: str, messages: Sequence[Message], now: datetime) -> list[datetime]:
        """Return when each message was said, or else when it was first seen here.

        Only the messages of the last call are remembered, of the 500 sessions used last.
        """
        digests = [digest_of(message) for message in messages]
        with self._lock:
            before = self._seen.pop(session_id, {})
            seen = {digest: before.get(digest, now) for digest in digests}
            self._seen[session_id] = seen
            while len(self._seen) > _SESSIONS_SEEN:
                self._seen.popitem(last=False)
        pairs = zip(messages, digests, strict=True)
        return [message.at or seen[digest] for message, digest in pairs]


def safe_cut(messages: Sequence[Message], cut: int) -> int:
    """Return the largest place up to `cut` where no tool call is parted from its answers.

    A call that the last message makes is still to be answered; one that was left unanswered
    further up holds nothing back.
    """
    last = _last_answers(messages)
    while torn := [n for n in range(cut) if last.get(n, n) >= cut]:
        cut = min(torn)
    return cut


def _last_answers(messages: Sequence[Message]) -> dict[int, int]:
    """Return, by the place of a calling message, the place of the last answer to it."""
    last: dict[int, int] = {}
    following: dict[str, int] = {}  # ids may be used again later: the next answer is the right one
    for place in range(len(messages) - 1, -1, -1):
        message = messages[place]
        if message.answers:
            following[message.answers] = place
        if message.calls:
            pending = len(messages) if place == len(messages) - 1 else place
            last[place] = max(following.pop(call, pending) for call in message.calls)
    return last


def _condensed_before(block: Message) -> int:
    found = _COUNT.search(block.content)
    return int(found[1]) if found else 0


def _known(said: Sequence[Message], mark: SessionMark, *, base: int) -> int | None:
    """Return how many of the first messages are condensed; None if the mark is not to be found."""
    if not mark.count:
        return 0
    digests = [digest_of(message) for message in said]
    expected = mark.count - base
    if 0 <= expected <= len(digests) and _ends_with(digests[:expected], mark.tail):
        return expected
    for end in range(1, len(digests) + 1):
        run = min(end, len(mark.tail))
        if run >= min(_LEAST_RUN, mark.count) and _ends_with(digests[:end], mark.tail):
            return end
    return None


def _ends_with(digests: Sequence[str], tail: Sequence[str]) -> bool:
    run = min(len(digests), len(tail))
    return list(digests[len(digests) - run :]) == list(tail[len(tail) - run :])
