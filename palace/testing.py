"""Contracts that every implementation of a port must keep, and doubles that keep them.

In: a pytest fixture that builds your implementation. Out: the tests it inherits. The module needs
pytest. An implementation is held to its contract by a subclass in a test file:

    import pytest

    from palace.testing import ManualClock, ScratchpadContract

    class TestMyScratchpad(ScratchpadContract):
        @pytest.fixture
        def scratchpad(self, clock: ManualClock) -> MyScratchpad:
            return MyScratchpad(clock=clock)

The fixture `clock` is provided by the contract and can be overridden, for example by one whose
`advance` moves the time of a server. Call `pytest.register_assert_rewrite("palace.testing")` in
your `conftest.py`, before the import, to see values in failed assertions.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from typing import Any, Protocol

import pytest

from palace.errors import FetchDeniedError, FetchError, FetchNotFoundError, PalaceError
from palace.ports import ArtifactRef, Fetcher, Index, Journal, Scope, Scratchpad, TermCounts
from palace.text import new_id, utc_now
from palace.types import Document, FileStamp, LayerName, Memory, ScratchEntry, Trust


class ManualClock:
    """A clock that stands still until a test moves it; call it for the present moment.

    Args:
        now: Where it starts, aware.
    """

    def __init__(self, now: datetime = datetime(2026, 3, 14, 9, 30, tzinfo=timezone.utc)) -> None:
        self._now = now

    def __call__(self) -> datetime:
        """Return the present moment, aware."""
        return self._now

    def advance(self, seconds: float) -> None:
        """Move the clock by this many seconds; negative ones set it back."""
        self._now += timedelta(seconds=seconds)


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


class MemoryJournal:
    """Journal that lives in memory only; keeps `JournalContract`."""

    def __init__(self) -> None:
        self._lines: list[str] = []

    def append(self, record: Mapping[str, Any]) -> None:
        """Keep one record.

        Raises:
            PalaceError: If `id`, `at` or `type` is missing, or JSON cannot say the record.
        """
        moment = record.get("at")
        at = moment.isoformat() if isinstance(moment, datetime) else moment
        if not (at and record.get("id") and record.get("type")):
            raise PalaceError("a record needs id, at and type", hint="give all three")
        try:
            self._lines.append(json.dumps({**record, "at": at}, allow_nan=False))
        except (TypeError, ValueError) as error:
            raise PalaceError("a record must be JSON", hint="use plain values") from error

    def records(
        self, *, since: datetime | None = None, type: str | None = None
    ) -> Iterator[dict[str, Any]]:
        """Yield records, newest first."""
        for line in reversed(self._lines):
            record: dict[str, Any] = json.loads(line)
            is_late = since is None or datetime.fromisoformat(record["at"]) >= since
            if is_late and type in (None, record["type"]):
                yield record

    def find(self, record_id: str) -> dict[str, Any] | None:
        """Return the record with this id, or the only one that begins with 6 characters or more."""
        similar = [r for r in self.records() if record_id and r["id"].startswith(record_id)]
        exact = [r for r in similar if r["id"] == record_id]
        if exact:
            return exact[0]
        is_unique = len({r["id"] for r in similar}) == 1
        return similar[0] if is_unique and len(record_id) >= 6 else None


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


class JournalContract:
    """What every `Journal` promises; give a fixture `journal` that returns an empty one."""

    def record(self, record_id: str, *, day: int = 1, type: str = "verdict") -> dict[str, Any]:
        """Return a small record of March or, beyond day 31, of a later month of 2026."""
        at = datetime(2026, 3, 1, 12, tzinfo=timezone.utc) + timedelta(days=day - 1)
        return {"id": record_id, "at": at.isoformat(), "type": type}

    def test_empty_journal(self, journal: Journal) -> None:
        """Nothing written, nothing found."""
        assert list(journal.records()) == []
        assert journal.find("v-000001") is None

    def test_record_comes_back_whole(self, journal: Journal) -> None:
        """Nested values, other scripts, line ends and unknown fields survive."""
        record = {
            **self.record("v-000001"),
            "prompt": 'what did "we"\n\tdecide? 日本語 \u2028 🙂',
            "walk": [{"layer": "L1", "best": 0.25, "reason": None, "ok": True}],
        }
        journal.append(record)
        assert list(journal.records()) == [record]
        assert journal.find("v-000001") == record

    def test_newest_first(self, journal: Journal) -> None:
        """Records come newest first, within a day and across months."""
        days = [1, 1, 2, 30, 31, 32, 33, 70]
        for number, day in enumerate(days):
            journal.append(self.record(f"v-00000{number}", day=day))
        found = [r["id"] for r in journal.records()]
        assert found == [f"v-00000{n}" for n in reversed(range(len(days)))]

    def test_since_includes_its_moment(self, journal: Journal) -> None:
        """`since` keeps records at or after it, across months."""
        for day in (1, 31, 32, 70):
            journal.append(self.record(f"v-0000{day:02}", day=day))
        since = datetime(2026, 3, 31, 12, tzinfo=timezone.utc)
        assert [r["id"] for r in journal.records(since=since)] == [
            "v-000070",
            "v-000032",
            "v-000031",
        ]
        later = since + timedelta(seconds=1)
        assert [r["id"] for r in journal.records(since=later)] == ["v-000070", "v-000032"]

    def test_type_filters(self, journal: Journal) -> None:
        """`type` keeps records of that type, and combines with `since`."""
        journal.append(self.record("v-000001"))
        journal.append(self.record("u-000001", type="use"))
        journal.append(self.record("u-000002", type="use", day=40))
        assert [r["id"] for r in journal.records(type="use")] == ["u-000002", "u-000001"]
        since = datetime(2026, 4, 1, tzinfo=timezone.utc)
        assert [r["id"] for r in journal.records(type="use", since=since)] == ["u-000002"]
        assert list(journal.records(type="feedback")) == []

    def test_moment_may_be_a_datetime(self, journal: Journal) -> None:
        """An aware datetime is accepted as `at` and comes back as ISO 8601 text."""
        at = datetime(2026, 3, 2, tzinfo=timezone.utc)
        journal.append({"id": "v-000001", "at": at, "type": "verdict"})
        (record,) = journal.records(since=at)
        assert datetime.fromisoformat(record["at"]) == at

    def test_find_by_unique_prefix(self, journal: Journal) -> None:
        """Six characters or more are enough if only one id begins so; a whole id always wins."""
        for record_id in ("v-aaaa11", "v-aaaa22", "v-aaaa2"):
            journal.append(self.record(record_id))
        assert _id_of(journal.find("v-aaaa1")) == "v-aaaa11"
        assert _id_of(journal.find("v-aaaa2")) == "v-aaaa2"
        assert journal.find("v-aaaa") is None
        assert journal.find("v-aaaa3") is None
        assert journal.find("aaaa11") is None

    def test_short_prefix_finds_nothing(self, journal: Journal) -> None:
        """Fewer than six characters are an id or nothing."""
        journal.append(self.record("v-aaaa11"))
        assert journal.find("v-aaa") is None
        assert journal.find("") is None
        journal.append(self.record("v-9"))
        assert _id_of(journal.find("v-9")) == "v-9"

    @pytest.mark.parametrize("missing", ["id", "at", "type"])
    def test_incomplete_record_is_refused(self, journal: Journal, missing: str) -> None:
        """A record without id, moment or type is an error, and nothing is written."""
        record = self.record("v-000001")
        del record[missing]
        with pytest.raises(PalaceError):
            journal.append(record)
        assert list(journal.records()) == []

    @pytest.mark.parametrize("value", [object(), float("nan"), {1, 2}])
    def test_unsayable_record_is_refused(self, journal: Journal, value: object) -> None:
        """A value JSON cannot say is an error, and nothing is written."""
        with pytest.raises(PalaceError):
            journal.append({**self.record("v-000001"), "value": value})
        assert list(journal.records()) == []

    def test_later_change_of_the_argument_changes_nothing(self, journal: Journal) -> None:
        """The journal keeps what it was given, not a reference to it."""
        record = {**self.record("v-000001"), "cues": ["past"]}
        journal.append(record)
        record["cues"].clear()
        assert _found(journal, "v-000001")["cues"] == ["past"]


def _id_of(record: dict[str, Any] | None) -> str:
    return "" if record is None else str(record["id"])


def _found(journal: Journal, record_id: str) -> dict[str, Any]:
    record = journal.find(record_id)
    assert record is not None
    return record


class FetcherContract:
    """What every `Fetcher` keeps.

    A subclass gives the fixtures `fetcher`; `prompt`, which names one artifact that exists;
    `missing`, a reference to an artifact that does not; and `forbidden`, a reference to one
    that the fetcher is not configured for.
    """

    def test_recognises_what_a_prompt_names(self, fetcher: Fetcher, prompt: str) -> None:
        """A reference carries the fetcher's own host, and asking twice gives the same."""
        refs = list(fetcher.recognise(prompt))
        assert len(refs) == 1
        assert refs[0].host == fetcher.host
        assert refs[0].target
        assert list(fetcher.recognise(prompt)) == refs

    def test_recognised_artifact_can_be_fetched(self, fetcher: Fetcher, prompt: str) -> None:
        """An artifact says what it is, where it is and when it was fetched."""
        [ref] = fetcher.recognise(prompt)
        artifact = fetcher.fetch(ref)
        assert artifact.ref.startswith(f"{fetcher.host}:{ref.target}")
        assert artifact.title
        assert "\n" not in artifact.title
        assert artifact.text
        assert artifact.url
        assert artifact.fetched_at.utcoffset() == timedelta(0)
        assert not artifact.truncated

    @pytest.mark.parametrize(
        "text",
        [
            "",
            " \n\t ",
            "good morning",
            "the #tag, and/or 3/4, e.g. v2.0.1 on 2026-03-04 at 12:30",
            "\x00\ufeff\u202e ((( \\ ' \" ` #",
            "ascii, 漢字, emoji 🏛️, \ud800",
            "#" * 30_000,
            "a/" * 30_000,
        ],
    )
    def test_other_text_names_nothing(self, fetcher: Fetcher, text: str) -> None:
        """No text makes `recognise` raise, and none without a name is recognised."""
        assert list(fetcher.recognise(text)) == []

    def test_missing_artifact(self, fetcher: Fetcher, missing: ArtifactRef) -> None:
        """What does not exist is an error of its own, never an artifact."""
        with pytest.raises(FetchNotFoundError) as error:
            fetcher.fetch(missing)
        assert error.value.hint

    def test_forbidden_artifact(self, fetcher: Fetcher, forbidden: ArtifactRef) -> None:
        """What is not configured is denied, with a hint that says what to set."""
        with pytest.raises(FetchDeniedError) as error:
            fetcher.fetch(forbidden)
        assert error.value.hint

    @pytest.mark.parametrize("target", ["", "/", "..", "a/b#1/../..", "\x00", "x" * 10_000])
    @pytest.mark.parametrize("kind", ["issue", "pull", "repo_file", "file", "log", "odd"])
    def test_strange_references_are_fetch_errors(
        self, fetcher: Fetcher, kind: str, target: str
    ) -> None:
        """References are data: whatever they hold, nothing but `FetchError` comes out."""
        with pytest.raises(FetchError):
            fetcher.fetch(ArtifactRef(kind, fetcher.host, target, {}))

    def test_reference_of_another_host(self, fetcher: Fetcher, prompt: str) -> None:
        """A reference made for another fetcher is refused."""
        [ref] = fetcher.recognise(prompt)
        with pytest.raises(FetchError):
            fetcher.fetch(replace(ref, host="another"))


class FilledIndex(Index, Protocol):
    """An index with the way in that its contract needs."""

    def apply(
        self,
        documents: Iterable[tuple[Document, FileStamp]],
        *,
        layer: LayerName = "L1",
        removed: Iterable[str] = (),
    ) -> int:
        """Replace these files' memories and forget removed files; return how many were written."""


class IndexContract:
    """What every `Index` promises; give a fixture `index` that returns an empty one.

    The index under test must take documents by `apply`, as `FilledIndex` says.
    """

    everyone = Scope()

    def memory(self, number: int, text: str, **fields: Any) -> Memory:  # noqa: ANN401 - fields of `Memory`
        """Return the `number`th memory of a drawer named `desk/notes`."""
        values: dict[str, Any] = {"path": "rooms/desk/notes.md", "room": "desk", **fields}
        return Memory(
            f"m-{number:08}", text, line=number + 1, drawer="notes", position=number, **values
        )

    def put(self, index: FilledIndex, *memories: Memory, layer: LayerName = "L1") -> None:
        """Replace the file of the first memory by a file with these."""
        path = memories[0].path
        document = Document(path, f"digest of {len(memories)}", "notes", (), memories)
        index.apply([(document, FileStamp(path, 1, 1))], layer=layer)

    def found(
        self, index: Index, *terms: str, scope: Scope = everyone, layer: LayerName = "L1"
    ) -> list[str]:
        """Return the texts that a search finds, best first."""
        candidates = index.candidates(terms, layer=layer, scope=scope, limit=50)
        return [m.text for m in index.load([c.key for c in candidates])]

    def test_empty(self, index: FilledIndex) -> None:
        """Nothing in, nothing out, and no error."""
        assert self.found(index, "anyth") == []
        assert (index.size(), index.get("m-00000001"), index.load([1])) == (0, None, [])
        assert index.counts(["anyth"]) == {"anyth": TermCounts()}

    def test_best_first_and_limit(self, index: FilledIndex) -> None:
        """More and rarer terms come first; `limit` keeps the best."""
        texts = ("blue kettle", "blue lamp", "blue kettle and green lamp", "blue rug")
        self.put(index, *(self.memory(n, text) for n, text in enumerate(texts)))
        assert self.found(index, "green", "kettl")[0] == "blue kettle and green lamp"
        scores = [c.bm25 for c in index.candidates(["blue"], **self.asking())]
        assert len(scores) == 4
        assert scores == sorted(scores, reverse=True)
        assert all(score > 0 for score in scores)
        (best,) = index.candidates(["green", "kettl"], **self.asking(limit=1))
        assert index.load([best.key])[0].position == 2
        assert index.candidates(["blue"], **self.asking(limit=0)) == []

    def asking(self, limit: int = 50) -> Any:  # noqa: ANN401 - keyword arguments of `candidates`
        """Return the usual keyword arguments of a search."""
        return {"layer": "L1", "scope": self.everyone, "limit": limit}

    def test_candidate_tells_tokens_context_and_names(self, index: FilledIndex) -> None:
        """A candidate can be scored without being loaded."""
        self.put(index, self.memory(3, "At noon Mira went home.", heading="Travel", session="s1"))
        (found,) = index.candidates(["go"], **self.asking())
        assert (found.path, found.position, found.session) == ("rooms/desk/notes.md", 3, "s1")
        assert found.body == ("at", "noon", "mira", "go", "home")
        assert {"travel", "note", "desk"} <= set(found.context)
        assert found.names == {"mira"}

    @pytest.mark.parametrize("term", ['"', "*", "NEAR", "AND", "(", ":", "-", "^", "a b", "", "'"])
    def test_operators_are_words(self, index: FilledIndex, term: str) -> None:
        """No term is an operator of a query language."""
        self.put(index, self.memory(0, "blue kettle"))
        assert self.found(index, term, "kettl", term) == ["blue kettle"]
        assert self.found(index, term) == []

    def test_scopes(self, index: FilledIndex) -> None:
        """Project and session memories are visible to their own readers only."""
        scopes = ("global", "project:garden", "session:s1", "project:s1", "session:garden")
        self.put(index, *(self.memory(n, f"kettle {s}", scope=s) for n, s in enumerate(scopes)))
        seen = {
            reader: {m.removeprefix("kettle ") for m in self.found(index, "kettl", scope=reader)}
            for reader in (Scope(), Scope("s1"), Scope(project="garden"), Scope("s1", "garden"))
        }
        assert list(seen.values()) == [
            {"global"},
            {"global", "session:s1"},
            {"global", "project:garden"},
            {"global", "session:s1", "project:garden"},
        ]
        for reader in (Scope("S1"), Scope("s"), Scope(""), Scope("s1' OR '1'='1"), Scope("%")):
            assert self.found(index, "kettl", scope=reader) == ["kettle global"]

    def test_inactive_and_expired_are_never_found(self, index: FilledIndex) -> None:
        """They stay readable by id; neither searches nor neighbours return them."""
        past, later = (datetime(y, 1, 1, tzinfo=timezone.utc) for y in (2001, 9001))
        self.put(
            index,
            self.memory(0, "red kettle", status="inactive", superseded_by="m-00000002"),
            self.memory(1, "green kettle", valid_to=past),
            self.memory(2, "blue kettle", valid_to=later),
        )
        assert self.found(index, "kettl") == ["blue kettle"]
        found = index.candidates(["kettl"], **self.asking())
        assert index.neighbours(found, distance=2, scope=self.everyone) == {found[0].key: []}
        assert [_text_of(index.get(f"m-0000000{n}")) for n in range(3)] == [
            "red kettle",
            "green kettle",
            "blue kettle",
        ]
        assert index.size() == 2  # the expired one is still active

    def test_layers_are_apart(self, index: FilledIndex) -> None:
        """A search sees one layer."""
        self.put(index, self.memory(0, "blue kettle"))
        self.put(index, self.memory(0, "kettle steps", path="playbooks/tea.md"), layer="L4")
        assert self.found(index, "kettl") == ["blue kettle"]
        assert self.found(index, "kettl", layer="L4") == ["kettle steps"]

    def test_replaced_and_removed_files(self, index: FilledIndex) -> None:
        """What a file no longer holds is gone from searches, counts and size."""
        self.put(index, self.memory(0, "blue kettle"), self.memory(1, "green lamp"))
        before = index.counts(["kettl", "lamp"])
        assert (before["kettl"].any, before["lamp"].any, index.size()) == (1, 1, 2)
        self.put(index, self.memory(0, "red lamp"))
        after = index.counts(["kettl", "lamp"])
        assert (after["kettl"].any, after["lamp"].any, index.size()) == (0, 1, 1)
        assert self.found(index, "kettl", "lamp") == ["red lamp"]
        index.apply((), removed=["rooms/desk/notes.md", "rooms/never/was.md"])
        assert (self.found(index, "lamp"), index.size()) == ([], 0)
        assert index.counts(["lamp"]) == {"lamp": TermCounts()}

    def test_counts_tell_names_apart(self, index: FilledIndex) -> None:
        """`name` counts memories that write the term as a name."""
        self.put(index, self.memory(0, "we met Mira Holt"), self.memory(1, "we saw mira beans"))
        count = index.counts(["mira", "bean"])
        assert (count["mira"], count["bean"]) == (TermCounts(2, 1), TermCounts(1, 0))

    def test_load_keeps_the_order_and_leaves_out_what_vanished(self, index: FilledIndex) -> None:
        """Memories come back whole, in the order asked."""
        memories = [self.memory(n, f"kettle number {n}", tags=("tea",)) for n in range(3)]
        self.put(index, *memories)
        keys = [c.key for c in index.candidates(["kettl"], **self.asking())]
        keys.sort(reverse=True)
        assert index.load([*keys[:2], 987_654, keys[2]]) == memories[::-1]
        assert index.load([]) == []

    def test_neighbours(self, index: FilledIndex) -> None:
        """They stand near in the same file and session, and tell on which side."""
        self.put(
            index, *(self.memory(n, f"word{n}", session="s1" if n < 5 else "s2") for n in range(7))
        )
        elsewhere = (self.memory(n, f"other{n}", path="rooms/desk/b.md") for n in range(4))
        self.put(index, *elsewhere)
        (third,) = index.candidates(["word3"], **self.asking())
        near = index.neighbours([third], distance=2, scope=self.everyone)[third.key]
        assert [(c.body[0], c.position - third.position) for c in near] == [
            ("word1", -2),
            ("word2", -1),
            ("word4", 1),
        ]
        assert index.neighbours([third], distance=0, scope=self.everyone) == {third.key: []}


def _text_of(memory: Memory | None) -> str:
    return "" if memory is None else memory.text
