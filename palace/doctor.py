"""What a palace can do, tried out: probes are written, found, retired and recovered, and removed.

In: an open palace. Out: one `Check` for every thing that was tried; a failing one hides no other.
"""

from __future__ import annotations

import os
import secrets as _random
import shlex
import stat
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from palace.enforce.enforcer import Enforcement, RetrievalEnforcer
from palace.errors import PalaceError, StoreError
from palace.portable import fold_case, name_fault, without_copy_mark
from palace.store.blocks import MEMORY_KINDS, find_blocks, split_lines
from palace.store.front_matter import read_front_matter
from palace.store.index_sqlite import SqliteIndex
from palace.store.journal import FileJournal, new_record
from palace.store.names import session_file_name
from palace.store.refresh import refresh
from palace.store.scratchpad_file import FileScratchpad
from palace.text import counted
from palace.text.moments import utc_now
from palace.types.checks import Check
from palace.types.memory import MAX_ROOM_DEPTH, Draft, Memory

if TYPE_CHECKING:
    from palace.mempalace import Mempalace

PROBE_ROOM = "doctor-probe"
_SHOWN = 5
_PROBE_TTL_S = 2.0
_MORE_LOOKS = 2
_REINDEX = "run `palace reindex`; the index is derived, nothing is lost"


class Works(NamedTuple):
    """What a check found to work; a hint tells what merely deserves attention."""

    detail: str
    hint: str = ""


def run_checks(palace: Mempalace) -> list[Check]:
    """Try what a palace is for and report, in a fixed order.

    Whatever is written for a trial is removed again, also when the trial fails. A check that is
    not `ok` means that something does not work; what merely deserves attention is ok with a hint.
    """
    checks = [_tried(name, check, palace) for name, check in _INSPECTIONS]
    checks += _memory_checks(palace)
    checks += [_tried(name, check, palace) for name, check in _TRIALS]
    return checks


def _tried(name: str, check: Callable[[Mempalace], Works], palace: Mempalace) -> Check:
    """Run one check; what it raises becomes its result."""
    try:
        works = check(palace)
    except (PalaceError, OSError) as error:
        return _failed(name, error)
    return Check(name, ok=True, detail=works.detail, hint=works.hint)


def _failed(name: str, error: PalaceError | OSError) -> Check:
    if isinstance(error, PalaceError):
        return Check(name, ok=False, detail=error.message, hint=error.hint)
    where = f"{error.filename}: " if error.filename else ""
    said = where + (error.strerror or str(error))
    return Check(name, ok=False, detail=said, hint="check disk and permissions")


# Inspections: nothing is written


def check_settings(palace: Mempalace) -> Works:
    """Say which settings file is in force and which ones are not read."""
    loaded = palace.loaded
    origin = f"read from {loaded.file}" if loaded.file else "defaults, there is no settings file"
    ignored = ", ".join(str(path) for path in loaded.ignored)
    hints = [f"not read, because only one file is: {ignored}"] if ignored else []
    artifacts = palace.settings.artifacts
    folders = [Path(root) for root in artifacts.files.roots]
    files = [Path(path) for path in artifacts.logs.paths]
    # No fault: what is named may be mounted, or written, later.
    hints += [f"artifacts: there is no folder {path}" for path in folders if not path.is_dir()]
    hints += [f"artifacts: there is no file {path}" for path in files if not path.is_file()]
    return Works(origin, "; ".join(hints))


def check_permissions(palace: Mempalace) -> Works:
    """Say whether others can look into the palace, and whether we can write to it."""
    if _is_read_only(palace):
        return Works(
            f"{palace.root} is read-only: it can be asked, but nothing can be remembered",
            "give this user permission to write to the folder",
        )
    elsewhere = [palace.scratchpad.folder] if palace.settings.scratchpad.dir else []
    modes = [(f, stat.S_IMODE(f.stat().st_mode)) for f in (palace.root, *elsewhere) if f.is_dir()]
    open_folders = [(f, mode) for f, mode in modes if mode & 0o077 and os.name != "nt"]
    if open_folders:
        listed = ", ".join(f"{folder} (mode {mode:o})" for folder, mode in open_folders)
        return Works(
            f"other users of this computer can enter {listed}",
            shlex.join(["chmod", "700", *(str(folder) for folder, _ in open_folders)]),
        )
    return Works(f"only you can enter {palace.root}")


def check_files(palace: Mempalace) -> Works:
    """Parse every file and list what could not be understood."""
    faults = tuple(dict.fromkeys(palace.faults()))
    if any(fault.is_unread for fault in faults):
        first = sorted(faults, key=lambda fault: not fault.is_unread)
        told = _listed(f"{fault.path}: {fault.message}" for fault in first)
        raise StoreError(
            f"{counted(len(faults), 'place')} not read or not understood: {told}",
            hint="give this user permission to read them, download them, save them as UTF-8, or"
            " mend the disk;"
            " until then their last version answers, labelled, if one was read",
        )
    if faults:
        told = _listed(f"{fault.path}:{fault.line}: {fault.message}" for fault in faults)
        raise StoreError(
            f"{counted(len(faults), 'place')} not understood: {told}",
            hint="correct the named lines; until then they are kept as they are",
        )
    paths = [stamp.path for _, kept in palace.sources for stamp in kept.look()[0]]
    copies = _copies(paths)
    hints = [f"copies of other files, read as well: {_listed(copies)}"] if copies else []
    if odd := _odd_names(paths):
        told = _listed(odd)
        hints.append(f"read, but taken in by no import, of an export neither: {told}; rename it")
    bare = sum(_bare_headings(palace.root / path) for path in paths if path.startswith("rooms/"))
    if bare:
        told = counted(bare, "heading")
        hints.append(f"{told} with no text below: a heading alone is no memory")
    if stray := palace.store.stray():
        told = f"notes outside rooms/, playbooks/ and timeline/ are not read, such as {stray}"
        hints.append(told)
    detail = f"{counted(len(paths), 'file')}, all understood"
    return Works(detail, "; ".join(hints))


def _copies(paths: Sequence[str]) -> list[str]:
    """Return the files whose name says that they are copies of another one that is there."""
    known = set(map(fold_case, paths))
    stems = ((path, path[:-3]) for path in paths)
    return [
        path
        for path, stem in stems
        if (original := without_copy_mark(stem)) != stem and fold_case(f"{original}.md") in known
    ]


def _odd_names(paths: Sequence[str]) -> list[str]:
    """Return the files that a person could name so here, and that no other palace takes in."""
    faults = ((path, next(filter(None, map(name_fault, path.split("/"))), "")) for path in paths)
    odd = [f"{path} {fault}" for path, fault in faults if fault]
    deep = [path for path in paths if path.count("/") > MAX_ROOM_DEPTH + 1]
    return odd + [f"{path} is more than {MAX_ROOM_DEPTH} rooms deep" for path in deep]


def _bare_headings(page: Path) -> int:
    """Count the headings of a page below which nothing stands; its title needs nothing."""
    lines = [line.rstrip("\r\n") for line in split_lines(page.read_text("utf-8", "replace"))]
    told = [
        block
        for block in find_blocks(lines, first=read_front_matter(lines).end)
        if block.kind in MEMORY_KINDS or (block.kind == "heading" and block.title)
    ]
    return sum(
        block.level > 1 and (after is None or 0 < after.level <= block.level)
        for block, after in zip_longest(told, told[1:])
    )


def check_ids(palace: Mempalace) -> Works:
    """Look for ids that several memories share."""
    memories = palace.memories(include_inactive=True)
    counts = Counter(memory.id for memory in memories)
    twice = [m for m in memories if counts[m.id] > 1]
    if twice:
        raise StoreError(
            f"ids used more than once: {_listed(f'{m.id} in {m.source}' for m in twice)}",
            hint="delete the comment of the copy, so that it gets an id of its own",
        )
    known = counted(len(memories), "memory", "memories")
    return Works(f"{known}, each with an id of its own")


def check_overwritten(palace: Mempalace) -> Works:
    """List what was written lately and is not in its file: an editor may have saved over it."""
    lost = palace.overwritten()
    if lost:
        listed = _listed(f"{one.id} in {one.path} ({one.how})" for one in lost)
        return Works(
            f"{counted(len(lost), 'write')} of the last day not found as written: {listed};"
            " deleted by hand, or overwritten by an editor: `palace recover` puts them back",
        )
    return Works("what was written in the last day stands")


def check_identity(palace: Mempalace) -> Works:
    """Measure the identity against its limit."""
    identity = palace.identity
    used = f"{identity.chars} of {identity.limit} characters ({identity.used_percent} %)"
    if identity.over:
        raise StoreError(
            f"{used}, {identity.over} too many",
            hint="shorten identity.txt, or move details to a room",
        )
    return Works(used if identity.chars else "none is set")


def check_index(palace: Mempalace) -> Works:
    """Ask the database for damage."""
    damage = palace.index.check()
    if damage:
        raise StoreError(f"the index is damaged: {damage}", hint=_REINDEX)
    return Works("whole")


def check_meaning(palace: Mempalace) -> Works:
    """Ask the embedder for a vector, and compare it with what the stored ones were made by."""
    if palace.vectors is None:
        return Works("no embedder is configured, words answer alone")
    identity, state = palace.vectors.look()
    total = counted(state.total, "memory", "memories")
    detail = f"{state.embedded} of {total} embedded by {identity}"
    hint = "" if state.status == "ready" else "`palace embed` embeds the rest now"
    return Works(detail, hint)


# Trials with a probe memory


def check_search(palace: Mempalace, probe: Memory) -> Works:
    """Find the probe by the very next search."""
    if probe.id not in _found_ids(palace, probe):
        raise StoreError(
            "a memory that was just stored is not found by the next search", hint=_REINDEX
        )
    return Works("the next search finds what was remembered")


def check_rebuild(palace: Mempalace, probe: Memory) -> Works:
    """Build an index from the files alone: it has the probe, and else equals the one in use."""
    with (
        tempfile.TemporaryDirectory(prefix="palace-doctor-") as folder,
        closing(SqliteIndex(Path(folder) / "index.sqlite")) as rebuilt,
    ):
        refresh(rebuilt, palace.sources)
        if rebuilt.get(probe.id) != probe:
            raise StoreError(
                "an index built from the files does not hold what was remembered",
                hint="check rooms/ for a full or failing disk",
            )
        different = _different(palace, rebuilt)
        for _ in range(_MORE_LOOKS):
            if different:  # perhaps because somebody writes meanwhile
                refresh(rebuilt, palace.sources)
                different &= _different(palace, rebuilt)
    if different:
        raise StoreError(
            f"{counted(len(different), 'memory', 'memories')} not the same in files and index",
            hint=_REINDEX,
        )
    return Works("everything is recovered from the files alone")


def _different(palace: Mempalace, rebuilt: SqliteIndex) -> set[str]:
    """Return the ids of memories that are not the same in the index in use and in another one."""
    palace.refresh()
    found, expected = (
        {memory.id: memory for memory in index.memories()} for index in (palace.index, rebuilt)
    )
    return {key for key in {*found, *expected} if found.get(key) != expected.get(key)}


def check_retire(palace: Mempalace, probe: Memory) -> Works:
    """Retire the probe; it must not be found, and still be readable."""
    retired = palace.store.update(probe, status="inactive")
    palace.index_file(retired.path)
    if retired.id in _found_ids(palace, probe):
        raise StoreError("a memory that was retired is still found by a search")
    if palace.get(retired.id).text != probe.text:
        raise StoreError("a memory that was retired cannot be read any more")
    return Works("what was retired is not found, and stays readable")


_PROBE_CHECKS = (("search", check_search), ("rebuild", check_rebuild), ("retire", check_retire))


def _memory_checks(palace: Mempalace) -> list[Check]:
    """Store a probe and try everything that needs one; remove it in any case."""
    token = _random.token_hex(6)
    made: Sequence[Path] = ()
    checks: list[Check] = []
    try:
        made = _missing(palace.root / "rooms" / PROBE_ROOM)
        probe = _stored(palace, token)
        checks.append(Check("remember", ok=True, detail="a memory is stored in its file"))
        for name, check in _PROBE_CHECKS:
            checks.append(_tried(name, partial(check, probe=probe), palace))
    except (PalaceError, OSError) as error:
        checks = _unwritten(palace, error)
    finally:
        tidied = _tried("clean-up", partial(_remove_probe, token=token, made=made), palace)
    # Tidying up is worth a line only where it failed.
    return checks if tidied.ok else [*checks, tidied]


def _stored(palace: Mempalace, token: str) -> Memory:
    # Past the journal: nobody should be offered to take a probe back.
    result = palace.probe_writer.remember(
        Draft(f"The doctor stored the probe word zq{token} here.", trust="system"),
        room=PROBE_ROOM,
        drawer=f"probe-{token}",
        on_conflict="keep",
    )
    if result.status != "stored":
        raise StoreError(f"a new memory was taken for an old one, in {result.memory.source}")
    return result.memory


def _unwritten(palace: Mempalace, error: PalaceError | OSError) -> list[Check]:
    failed = _failed("remember", error)
    if _is_read_only(palace):
        failed = replace(failed, detail=f"the palace is read-only: {failed.detail}")
    not_tried = "not tried: nothing could be stored"
    return [failed, *(replace(failed, name=name, detail=not_tried) for name, _ in _PROBE_CHECKS)]


def _remove_probe(palace: Mempalace, token: str, made: Sequence[Path]) -> Works:
    path = f"rooms/{PROBE_ROOM}/probe-{token}.md"
    if (palace.root / path).exists():
        (palace.root / path).unlink()
        palace.store.forget_writes(path)
    _remove_folders(made)
    if any(palace.index.memories(path=path)):
        palace.index_file(path)
    return Works("the probe is removed")


def _found_ids(palace: Mempalace, probe: Memory) -> set[str]:
    return {hit.memory.id for hit in palace.search(probe.text, top_k=10)}


# Other trials


def check_scratchpad(palace: Mempalace) -> Works:
    """Note something for a session of our own, read it, and look again when its time is over."""
    session = f"{PROBE_ROOM}-{_random.token_hex(6)}"
    folder = palace.scratchpad.folder
    made = _missing(folder)
    later = FileScratchpad(folder, clock=lambda: utc_now() + timedelta(seconds=_PROBE_TTL_S))
    try:
        entry = palace.note("The doctor notes a probe.", session_id=session, ttl_s=_PROBE_TTL_S)
        if entry.id not in {e.id for e in palace.notes(session)}:
            raise StoreError("a note that was just written cannot be read")
        if later.entries(session):
            raise StoreError("a note is still readable after its time to live")
    finally:
        (folder / f"{session_file_name(session)}.jsonl").unlink(missing_ok=True)
        if made:
            (folder / ".lock").unlink(missing_ok=True)
            _remove_folders(made)
    return Works("a note is read back, and expires in time")


def check_journal(palace: Mempalace) -> Works:
    """Read the journal, and append to one of our own on the same disk."""
    if not palace.settings.journal.enabled:
        return Works("switched off in the settings")
    last = next(iter(palace.journal.records()), None)
    home = palace.root / ".palace"
    home.mkdir(mode=0o700, exist_ok=True)
    with tempfile.TemporaryDirectory(
        prefix="doctor-", dir=home, ignore_cleanup_errors=True
    ) as folder:
        journal = FileJournal(Path(folder))
        record = new_record("probe", "x", None, {})
        journal.append(record)
        if journal.find(record["id"]) != record:
            raise StoreError("a journal record cannot be read back")
    if not os.access(palace.root / "journal" if last else palace.root, os.W_OK):
        raise StoreError("the journal cannot be written", hint="check the permissions of journal/")
    since = f"the last record is of {last['at']}" if last else "it is empty"
    return Works(f"written and read back; {since}")


def check_enforcer(palace: Mempalace) -> Works:
    """Ask for somebody nobody can know; the only honest reply is that nothing is known."""
    silent = _Unrecorded(replace(palace.enforcement, journal=None))
    # A name of letters alone: with digits in it, it reads as a number or an identifier.
    stranger = "Zq" + "".join(_random.choice("aeioklmnrst") for _ in range(10))
    verdict = RetrievalEnforcer(silent).decide(palace.probe_question.format(stranger))
    allowed = "generate" if palace.settings.enforce.on_miss == "generate" else "fallback"
    if verdict.action != allowed:
        raise StoreError(
            f"a question about an unknown name ended in {verdict.action} ({verdict.outcome})",
            hint="check detector.languages, detector.recall_at and sufficiency in the settings",
        )
    what = "free generation, as the settings allow" if allowed == "generate" else "the fallback"
    return Works(f"a question about an unknown name gets {what}")


_INSPECTIONS = (
    ("settings", check_settings),
    ("permissions", check_permissions),
    ("files", check_files),
    ("ids", check_ids),
    ("overwritten", check_overwritten),
    ("identity", check_identity),
    ("index", check_index),
    ("meaning", check_meaning),
)
_TRIALS = (
    ("scratchpad", check_scratchpad),
    ("journal", check_journal),
    ("enforcer", check_enforcer),
)


@dataclass(frozen=True, slots=True)
class _Unrecorded:
    """A palace whose enforcer leaves no trace in the journal."""

    enforcement: Enforcement


def _missing(folder: Path) -> list[Path]:
    """Return the folder and its parents that do not exist yet, innermost first."""
    made = []
    while not folder.exists():
        made.append(folder)
        folder = folder.parent
    return made


def _remove_folders(folders: Sequence[Path]) -> None:
    """Remove the folders a trial made, unless somebody else uses them by now."""
    with suppress(OSError):
        for folder in folders:
            folder.rmdir()


def _is_read_only(palace: Mempalace) -> bool:
    return not os.access(palace.root, os.W_OK | os.X_OK)


def _listed(items: Iterable[str]) -> str:
    shown = list(items)
    more = f"; and {len(shown) - _SHOWN} more" if len(shown) > _SHOWN else ""
    return "; ".join(shown[:_SHOWN]) + more
