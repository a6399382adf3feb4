"""The journal on disk: what was decided and used, one file of JSON lines for each month.

In: records (verdicts, uses, feedback). Out: the same records, newest first, and single ones by id.

Records are only ever appended. The single thing that removes them is `apply_retention`, which
deletes whole month files. Prompts may be private, so files have mode 0600 and the folder 0700.
"""

from __future__ import annotations

import json
import re
import threading
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from datetime import datetime, timedelta, timezone
from functools import lru_cache
from pathlib import Path
from typing import Any

from palace.errors import ConfigError
from palace.store.files import DISK, listing, refusals
from palace.store.json_lines import (
    append_line,
    decode_line,
    encode_line,
    end_of_lines,
    overwrite_lines,
    read_newest_first,
)
from palace.text.moments import aware_moment, id_time, new_id, utc_now

MIN_PREFIX_CHARS = 6
_MONTH_FILE = re.compile(r"(\d{4})-(0[1-9]|1[0-2])\.jsonl")
_REQUIRED = ("id", "at", "type")


class FileJournal:
    """Journal in `<folder>/YYYY-MM.jsonl`; implements the port `Journal`.

    A record belongs to the month of its own `at`, in UTC; or to the one after it, if that has
    begun: order is the order of writing, so a clock that was set back does not reorder anything.
    Any call may raise `StoreUnavailableError`, where the disk refuses.

    Args:
        folder: Where the month files are; made at the first write, mode 0700.
        retention_days: Days that `apply_retention` keeps, >= 1; None keeps everything.

    Raises:
        ConfigError: If `retention_days` is below 1.
    """

    def __init__(self, folder: Path, *, retention_days: int | None = 365) -> None:
        if retention_days is not None and retention_days < 1:
            raise ConfigError(
                f"the journal cannot be kept for {retention_days} days",
                hint="use a whole number of days, 1 or more, or none to keep everything",
            )
        self.folder = folder
        self._retention_days = retention_days
        self._lock = threading.Lock()

    def append(self, record: Mapping[str, Any]) -> None:
        """Write one whole record or raise.

        Args:
            record: JSON-like; has at least `id` and `type` (text, not empty) and `at` (an aware
                datetime, or ISO 8601 text with an offset).

        Raises:
            ConfigError: If one of these is missing, or JSON cannot say the record.
        """
        at = aware_moment(record.get("at"))
        if at is None or not all(_is_name(record.get(key)) for key in ("id", "type")):
            raise ConfigError(
                "a journal record needs an id, a type and the moment it is about",
                hint="give text as id and type, and an aware datetime or ISO 8601 text as at",
            )
        line = encode_line(record)
        path, following = _month_and_next(self.folder, at.year, at.month)
        with self._lock:
            with refusals("read", self.folder):
                to = following if following.exists() else path  # a clock was set back
            # To lose the last records in a power cut is better than a millisecond on every prompt.
            append_line(to, line, durable=False)

    def records(
        self,
        *,
        since: datetime | None = None,
        type: str | None = None,
        among: int | None = None,
        holding: Collection[str] | None = None,
    ) -> Iterator[dict[str, Any]]:
        """See `Journal.records`; month files are opened one after another, as needed."""
        types = None if type is None else {type: _needle(type)}
        needles = [b""] if holding is None else [text.encode() for text in holding]
        for path in self._month_files():
            if since is not None and _month_end(path) <= since:
                return
            for line in read_newest_first(path):
                if among is not None:
                    if among <= 0:
                        return
                    among -= 1
                if not any(needle in line for needle in needles):
                    continue
                record = _record(line, types)
                at = aware_moment(record["at"]) if record else None
                if record and (since is None or (at is not None and at >= since)):
                    yield record

    def find(self, record_id: str) -> dict[str, Any] | None:
        """Return the record with this id, or with the only id that begins so.

        The month an id was made in is looked at first. If several records share the id, the
        newest is returned. A prefix that fits several ids finds nothing.

        Args:
            record_id: A whole id, or at least 6 characters of its beginning.
        """
        if not record_id:
            return None
        found: dict[str, dict[str, Any]] = {}
        for record in self._beginning_with(record_id):
            if record["id"] == record_id:
                return record
            if len(record_id) >= MIN_PREFIX_CHARS:
                found.setdefault(record["id"], record)
        return next(iter(found.values())) if len(found) == 1 else None

    def appended(
        self,
        mark: Mapping[str, int],
        *,
        types: Collection[str] | None = None,
        newest: int | None = None,
    ) -> tuple[list[dict[str, Any]], dict[str, int]] | None:
        """Return the records written since a mark, and the mark of now.

        Args:
            mark: What an earlier call returned; empty for everything.
            types: Only records of these types.
            newest: Of each type at most this many, the newest.

        Returns:
            Records newest first; None if the mark no longer fits, because a month file is shorter
            or gone.
        """
        needles = None if types is None else {type: _needle(type) for type in types}
        left: Counter[str] = Counter()
        found: list[dict[str, Any]] = []
        reached: dict[str, int] = {}
        for path in self._month_files():
            behind, end = mark.get(path.name, 0), end_of_lines(path)
            reached[path.name] = end
            for line in read_newest_first(path, behind=behind, end=end):
                record = _record(line, needles)
                if record is None:
                    continue
                found.append(record)
                left[record["type"]] += 1
                if newest is not None and needles and left[record["type"]] >= newest:
                    del needles[record["type"]]  # enough of these: they are not even parsed
        fits = all(reached.get(name, -1) >= offset for name, offset in mark.items())
        return (found, reached) if fits else None

    def apply_retention(self, now: datetime | None = None) -> tuple[str, ...]:
        """Delete the month files that lie wholly before the retention; return their names."""
        if self._retention_days is None:
            return ()
        oldest = (now or utc_now()) - timedelta(days=self._retention_days)
        expired = [path for path in reversed(self._month_files()) if _month_end(path) <= oldest]
        with refusals("delete", self.folder):
            for path in expired:
                path.unlink(missing_ok=True)
            if expired:
                DISK.fsync_dir(self.folder)
        return tuple(path.name for path in expired)

    def redact(
        self,
        clean: Callable[[Mapping[str, Any]], Mapping[str, Any]],
        *,
        concerns: Callable[[str], bool] = lambda _line: True,
    ) -> int:
        """Take words out of records for good, in place; ids, times and order stay.

        Args:
            clean: Returns a record without the words; the same values if there are none in it. A
                damaged line is given as `{"line": text}` and goes as a whole if that changes.
            concerns: Whether a line may hold something to take out. Only such lines are parsed.

        Returns:
            How many records changed.
        """
        with self._lock:
            files = self._month_files()
            return sum(
                overwrite_lines(path, lambda line: _cleaned(line, clean, concerns))
                for path in files
            )

    def _month_files(self) -> list[Path]:
        """Month files, newest month first."""
        found = listing(self.folder)
        paths = (Path(entry.path) for entry in found if _MONTH_FILE.fullmatch(entry.name))
        return sorted(paths, reverse=True)

    def _beginning_with(self, prefix: str) -> Iterator[dict[str, Any]]:
        """Records whose id begins so; the month of the id first, then newest first."""
        made = id_time(prefix)
        likely = "" if made is None else f"{made:%Y-%m}.jsonl"
        # Parsing JSON is what costs: lines without these bytes cannot hold the id.
        needle = json.dumps(prefix)[1:-1].encode() if prefix.isascii() else b""
        for path in sorted(self._month_files(), key=lambda p: p.name != likely):
            for line in read_newest_first(path):
                record = _record(line) if needle in line else None
                if record is not None and record["id"].startswith(prefix):
                    yield record


def new_record(
    type: str, mark: str, session: str | None, about: Mapping[str, Any]
) -> dict[str, Any]:
    """Return a record of this moment, with an id of its own.

    Args:
        type: What the journal calls it.
        mark: What its id begins with.
        session: The session it belongs to.
        about: What else it says.
    """
    at = utc_now().isoformat()
    return {"id": new_id(mark), "type": type, "at": at, "session": session, **about}


def _cleaned(
    line: bytes,
    clean: Callable[[Mapping[str, Any]], Mapping[str, Any]],
    concerns: Callable[[str], bool],
) -> bytes:
    if not concerns(line.decode("utf-8", "replace")):
        return line
    record = decode_line(line)
    if record is None:
        torn = {"line": line.decode("utf-8", "replace")}
        return line if clean(torn) == torn else b""
    kept = clean(record)
    if kept == record:
        return line
    new = encode_line(kept).rstrip(b"\n")
    if len(new) > len(line):
        bare = {key: record[key] for key in _REQUIRED if key in record}
        new = encode_line(bare).rstrip(b"\n")
    return new if len(new) <= len(line) else b""


def _needle(type: str) -> bytes:
    """Return bytes that every record of a type holds; "" where its name can be written otherwise.

    Parsing JSON is what reading a journal costs, and most lines are verdicts.
    """
    return f'"{type}"'.encode() if re.fullmatch(r"[\w-]+", type, re.ASCII) else b""


def _record(line: bytes, types: Mapping[str, bytes] | None = None) -> dict[str, Any] | None:
    """Return the record of a line, None if it is none or of another type than these."""
    if types is not None and not any(needle in line for needle in types.values()):
        return None
    record = decode_line(line)
    if record is None or not all(_is_name(record.get(key)) for key in _REQUIRED):
        return None
    return record if types is None or record["type"] in types else None


def _is_name(value: object) -> bool:
    return isinstance(value, str) and value != ""


@lru_cache(maxsize=64)
def _month_and_next(folder: Path, year: int, month: int) -> tuple[Path, Path]:
    """Return the file of a month and that of the month after it."""
    path = folder / f"{year:04}-{month:02}.jsonl"
    return path, folder / f"{_month_end(path):%Y-%m}.jsonl"


def _month_end(path: Path) -> datetime:
    """The first moment after the month of this file."""
    year, month = int(path.name[:4]), int(path.name[5:7])
    following = (max(year, 1), month + 1) if month < 12 else (min(year + 1, 9999), 1)
    return datetime(*following, 1, tzinfo=timezone.utc)
