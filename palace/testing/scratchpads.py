"""What every scratchpad must keep, and one in memory that keeps it.

In: a fixture `scratchpad`. Out: inherited tests.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

import pytest

from palace.errors import PalaceError
from palace.ports import Scratchpad
from palace.testing.clock import ManualClock
from palace.text.moments import new_id, utc_now
from palace.types.memory import Trust
from palace.types.session import ScratchEntry


class MemoryScratchpad:
    """Scratchpad that lives in memory only; keeps `ScratchpadContract`.

    Args:
        ttl_s: Time to live of a note that is given none, in seconds, > 0.
        max_entry_chars: Longest note, in characters, >= 1.
        max_entries: Most living notes of one session, >= 1.
        clock: Returns the present moment, aware.
    """

    def __init__(
        self,
        *,
        ttl_s: float = 3600.0,
        max_entry_chars: int = 4000,
        max_entries: int = 1000,
        clock: Callable[[], datetime] = utc_now,
    ) -> None:
        self._ttl_s = ttl_s
        self._max_entry_chars = max_entry_chars
        self._max_entries = max_entries
        self._clock = clock
        self._notes: dict[str, ScratchEntry] = {}

    def append(
        self, session_id: str, text: str, *, ttl_s: float | None = None, source: Trust = "agent"
    ) -> ScratchEntry:
        """Keep one note.

        Raises:
            PalaceError: If the session id is empty, the text is blank or too long, the time to
                live is not above 0, or the session is full.
        """
        lifetime = self._ttl_s if ttl_s is None else ttl_s
        reason = self._refusal(session_id, text, lifetime)
        if reason:
            raise PalaceError(f"the note was refused: {reason}", hint="change the note")
        entry = ScratchEntry(
            id=new_id("s"),
            session_id=session_id,
            text=text,
            at=self._clock(),
            ttl_s=lifetime,
            source=source,
        )
        self._notes[entry.id] = entry
        return entry

    def entries(self, session_id: str) -> list[ScratchEntry]:
        """Return the living notes of a session, oldest first."""
        return [n for n in self._notes.values() if n.session_id == session_id and self._lives(n)]

    def sessions(self) -> list[str]:
        """Return the ids of sessions with living notes, the latest written first."""
        newest_first = reversed([n for n in self._notes.values() if self._lives(n)])
        return list(dict.fromkeys(n.session_id for n in newest_first))

    def get(self, entry_id: str) -> ScratchEntry | None:
        """Return one living note, or None."""
        note = self._notes.get(entry_id)
        return note if note is not None and self._lives(note) else None

    def mark_promoted(self, entry_id: str, memory_id: str) -> ScratchEntry:
        """Note that an entry became a memory.

        Raises:
            PalaceError: If there is no such entry or the memory id is empty.
        """
        if entry_id not in self._notes or not memory_id:
            raise PalaceError(f"no note {entry_id!r} to promote", hint="list the notes first")
        self._notes[entry_id] = replace(self._notes[entry_id], promoted=memory_id)
        return self._notes[entry_id]

    def purge_expired(self) -> int:
        """Forget the sessions in which every note is expired; return how many were forgotten."""
        living = {n.session_id for n in self._notes.values() if self._lives(n)}
        gone = {n.session_id for n in self._notes.values()} - living
        self._notes = {k: n for k, n in self._notes.items() if n.session_id not in gone}
        return len(gone)

    def _refusal(self, session_id: str, text: str, ttl_s: float) -> str:
        if not session_id or not text.strip():
            return "it is empty"
        if len(text) > self._max_entry_chars:
            return f"it exceeds {self._max_entry_chars} characters"
        if not 0 < ttl_s < float("inf"):
            return "its time to live is not above 0"
        return "the session is full" if len(self.entries(session_id)) >= self._max_entries else ""

    def _lives(self, note: ScratchEntry) -> bool:
        return (self._clock() - note.at).total_seconds() < note.ttl_s


class ScratchpadContract:
    """What every `Scratchpad` promises; give a fixture `scratchpad` that takes `clock`.

    The scratchpad under test must accept notes of 1000 characters and refuse notes of 100 000.
    """

    @pytest.fixture
    def clock(self) -> ManualClock:
        """Return the clock the scratchpad under test was given."""
        return ManualClock()

    def test_unknown_session_is_empty(self, scratchpad: Scratchpad) -> None:
        """A session nobody wrote in has no notes, and asking creates none."""
        assert scratchpad.entries("nobody") == []
        assert scratchpad.entries("nobody") == []

    def test_note_is_found_at_once(self, scratchpad: Scratchpad, clock: ManualClock) -> None:
        """What `append` returns is what `entries` returns, with moment and time to live."""
        entry = scratchpad.append("one", "the tunnel uses port 5432", ttl_s=60)
        assert scratchpad.entries("one") == [entry]
        assert entry.id.startswith("s-")
        assert (entry.session_id, entry.text) == ("one", "the tunnel uses port 5432")
        assert (entry.ttl_s, entry.promoted) == (60, "")
        assert abs((entry.at - clock()).total_seconds()) < 5

    def test_oldest_first(self, scratchpad: Scratchpad, clock: ManualClock) -> None:
        """Notes come in the order of writing, also within one second."""
        for number in range(5):
            scratchpad.append("one", f"note {number}", ttl_s=60)
            clock.advance(0 if number < 3 else 1)
        assert [e.text for e in scratchpad.entries("one")] == [f"note {n}" for n in range(5)]

    def test_many_notes_of_a_session_are_all_kept(self, scratchpad: Scratchpad) -> None:
        """None is dropped in silence."""
        for number in range(100):
            scratchpad.append("one", f"note {number}", ttl_s=60)
        assert [e.text for e in scratchpad.entries("one")] == [f"note {n}" for n in range(100)]

    def test_ids_are_unique(self, scratchpad: Scratchpad) -> None:
        """The same text twice makes two notes."""
        first, second = (scratchpad.append("one", "same", ttl_s=60) for _ in range(2))
        assert first.id != second.id
        assert len(scratchpad.entries("one")) == 2

    def test_sessions_do_not_see_each_other(self, scratchpad: Scratchpad) -> None:
        """Ids that differ in case, separators or path characters are different sessions."""
        sessions = ["a", "A", "a/b", "a-b", "a b", "../a", "a\n", "ä", "CON", "x" * 200, "x" * 201]
        for session in sessions:
            scratchpad.append(session, f"of {session!r}", ttl_s=60)
        for session in sessions:
            assert [e.text for e in scratchpad.entries(session)] == [f"of {session!r}"]

    def test_expired_at_exactly_its_time_to_live(
        self, scratchpad: Scratchpad, clock: ManualClock
    ) -> None:
        """A note lives while its age is below its time to live, and not at it."""
        scratchpad.append("one", "short", ttl_s=10)
        clock.advance(9)
        assert [e.text for e in scratchpad.entries("one")] == ["short"]
        clock.advance(1)
        assert scratchpad.entries("one") == []

    def test_time_to_live_of_each_note(self, scratchpad: Scratchpad, clock: ManualClock) -> None:
        """A short-lived note does not take its longer-lived neighbours with it."""
        scratchpad.append("one", "long", ttl_s=100)
        scratchpad.append("one", "short", ttl_s=10)
        clock.advance(10)
        assert [e.text for e in scratchpad.entries("one")] == ["long"]

    def test_text_is_kept_verbatim(self, scratchpad: Scratchpad) -> None:
        """Line ends, quotes, other scripts and control characters come back as they went in."""
        texts = [
            "a\nb",
            "a\r\nb",
            'say "hi" \\n',
            "日本語 🙂",
            "a\u2028b\u0085c",
            " padded ",
            "\t{}[",
        ]
        for text in texts:
            scratchpad.append("one", text, ttl_s=60)
        assert [e.text for e in scratchpad.entries("one")] == texts

    @pytest.mark.parametrize("text", ["", " ", "\n\t"])
    def test_blank_text_is_refused(self, scratchpad: Scratchpad, text: str) -> None:
        """A note without words is an error with a hint, and nothing is kept."""
        with pytest.raises(PalaceError) as caught:
            scratchpad.append("one", text)
        assert caught.value.hint
        assert scratchpad.entries("one") == []

    def test_long_text_is_refused(self, scratchpad: Scratchpad) -> None:
        """An over-long note is an error with a hint; it is never cut silently."""
        scratchpad.append("one", "x" * 1000)
        with pytest.raises(PalaceError) as caught:
            scratchpad.append("one", "x" * 100_000)
        assert caught.value.hint
        assert [len(e.text) for e in scratchpad.entries("one")] == [1000]

    @pytest.mark.parametrize("ttl_s", [0, -1, float("inf"), float("nan")])
    def test_time_to_live_must_be_above_zero(self, scratchpad: Scratchpad, ttl_s: float) -> None:
        """A note cannot be dead on arrival, nor live for ever."""
        with pytest.raises(PalaceError):
            scratchpad.append("one", "text", ttl_s=ttl_s)

    def test_empty_session_id_is_refused(self, scratchpad: Scratchpad) -> None:
        """A note belongs to a session."""
        with pytest.raises(PalaceError):
            scratchpad.append("", "text")

    def test_returned_list_is_the_callers(self, scratchpad: Scratchpad) -> None:
        """Changing what `entries` returned changes nothing in the scratchpad."""
        scratchpad.append("one", "text")
        scratchpad.entries("one").clear()
        assert len(scratchpad.entries("one")) == 1
