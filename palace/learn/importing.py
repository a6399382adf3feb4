"""Memory on its way in: Markdown, vaults, conversations, other programs' memories, our own exports.

In: a path somebody named, and where to write. Out: what was added, found there already, redacted,
left out and refused, with file and line. Doing it again adds nothing.
"""

from __future__ import annotations

import base64
import binascii
import json
import os
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import regex

from palace.errors import ConfigError, SchemaTooNewError, TextRefusedError
from palace.ignoring import IgnoreRules, secret_name
from palace.learn.chats import chat_file, read_slack, read_whatsapp
from palace.learn.foreign import (
    Known,
    Left,
    Said,
    items_of,
    read_chatgpt,
    read_claude,
    read_json,
    read_langchain,
    read_mem0,
    reading,
)
from palace.learn.formats import (
    CONVERSATIONS,
    NOT_NOTES,
    RENAMED,
    SUPPORTED,
    Format,
    is_palace,
    recognise,
)
from palace.learn.hygiene import control_character_reason
from palace.learn.intake import DIFFERS, Destination, Imported, Intake
from palace.learn.keep_notes import keep_files, read_keep_note
from palace.learn.places import name_reason
from palace.learn.record_files import (
    JOURNAL,
    SCRATCHPAD,
    record_files,
)
from palace.learn.transfer import (
    FORMAT,
    OTHER_TEXTS,
    VERSION,
    markdown_files,
    said,
)
from palace.learn.turns import read_turns
from palace.ports import Progress
from palace.recall.blocks import strip_own_markers
from palace.types.memory import IDENTITY_FILE, SUFFIX, TIMELINE, Draft
from palace.types.session import ConversationTurn

KEEP_ROOM = "keep"
MEM0_ROOM = "mem0"
MAX_DRAWER_CHARS = 60
_FOLDERS = ("markdown", "obsidian", "keep", "slack")
_TURNS_AT_ONCE = 5000
_STAMPED = regex.compile(r"^\[\d{4}-\d\d-\d\d \d\d:\d\d\] ", regex.MULTILINE)
_TEMPLATE = "it is a template"
_OF_TEMPLATES = regex.compile(r"(?:^|/)[^\p{L}/]*templates?/", regex.IGNORECASE)
_TO_BE_FILLED = regex.compile(rb"\{\{[^{}\n]{1,80}\}\}|<%[^%\n]{1,200}%>")
_NAME_UNFIT = regex.compile(r"[^\w.]+")


def import_path(
    source: Path,
    *,
    to: Destination,
    form: Format | None = None,
    progress: Progress | None = None,
) -> Imported:
    """Import whatever a path holds; doing it again changes nothing.

    A folder that is a palace (`palace.learn.formats.is_palace`) keeps its places, its settings
    are not taken. The Markdown of any other folder, and of one that is called a vault, is copied
    byte for byte below `rooms/`, by subfolder, files at the top to a room with the folder's own
    name. A single `.md` file goes to the room `inbox`. Hidden names, symlinks and what `.gitignore`
    and `.secretsignore` name are left out. Conversations become turns of the timeline, memories of
    other programs a room of their own. What the palace has already is never overwritten, unless
    it is as an import brought it from there, and was edited there since, and `to` says so.

    Args:
        source: A file or folder; see `palace.learn.formats.recognise`.
        to: The palace.
        form: What it is; recognised by its content if not given.
        progress: Called with (files, lines or bytes done, to do).

    Raises:
        ConfigError: If the source is missing or nothing of this; names file and line.
    """
    with reading(source):
        if not source.exists():
            raise ConfigError(f"there is nothing to import at {source}", hint=SUPPORTED)
        if not source.is_dir() and secret_name(Path(source.name)):
            raise ConfigError(
                f"{source} is not read: files of that name usually hold secrets",
                hint="copy what is harmless to another file",
            )
        if not source.is_dir() and not source.is_file():
            raise ConfigError(f"{source} is no file and no folder", hint=SUPPORTED)
        intake = Intake(to, form or recognise(source))
        _READERS[intake.kind](_content_of(source, intake.kind), intake, progress)
    return intake.done()


def _content_of(source: Path, kind: Format) -> Path:
    """Return the file a folder's format is about; a mismatch is an error."""
    if source.is_dir() and kind in ("chatgpt", "claude"):
        return source / CONVERSATIONS
    if source.is_dir() and kind == "whatsapp" and (chat := chat_file(source)):
        return chat
    if source.is_dir() and kind not in _FOLDERS:
        raise ConfigError(f"{source} is a folder, no {kind} file", hint="name the file in it")
    if kind in ("obsidian", "slack") and not source.is_dir():
        what = "vault" if kind == "obsidian" else "export of Slack"
        raise ConfigError(f"{source} is no folder, so no {what}", hint=f"name the {what}'s folder")
    return source


# Folders


def _import_markdown(source: Path, intake: Intake, progress: Progress | None) -> None:
    real, home = Path(os.path.realpath(source)), Path(os.path.realpath(intake.to.home))
    if real != home and real.is_relative_to(home):
        raise ConfigError(f"{source} is part of this palace already", hint=SUPPORTED)
    if source.is_file():
        return _take_file(source, source.name, f"rooms/inbox/{source.stem}{SUFFIX}", intake)
    if real in home.parents:
        intake.ignore(str(home.relative_to(real)), "it is this palace")
    is_own = intake.kind != "obsidian" and is_palace(source)
    paths = _notes_in(source, intake, is_own=is_own, without=home)
    if not paths and not intake.refused and not is_own:
        names = (Path(left.path_or_line) for left in intake.ignored)
        is_text = any(name.suffix.lower() in OTHER_TEXTS for name in names)
        hint = RENAMED if is_text else SUPPORTED
        raise ConfigError(f"{source} holds no Markdown files", hint=hint)
    rules = IgnoreRules(real)
    is_vault = intake.kind == "obsidian"
    kept = {**(_templates(source) if is_vault else {}), **({} if is_own else _old_versions(source))}
    places = {path: path if is_own else _place(path, real.name) for path in paths}
    if not is_own:
        intake.former = _former_places(intake.to.root, places.values())
    for number, (path, place) in enumerate(places.items(), 1):
        reason = rules.reason(real / path) or _program_reason(path, kept, is_vault=is_vault)
        if reason := reason or ("" if is_own else _template_reason(source, path)):
            intake.ignore(path, reason)
        else:
            _take_file(source / path, path, place, intake)
        if progress:
            progress(number, len(paths))
    for path, file in record_files(_record_folders(source) if is_own else {}).items():
        intake.take_records(path, file.read_bytes())
    return None


def _notes_in(source: Path, intake: Intake, *, is_own: bool, without: Path) -> list[str]:
    """Return the files to take, relative to the source; a folder that cannot be read is refused.

    Args:
        source: A folder.
        intake: What is told of such a folder.
        is_own: Whether it is a palace, whose identity is taken and whose settings are not.
        without: A palace that may stand in it and would take itself in, once more each time.
    """
    real = Path(os.path.realpath(source))
    left = None if is_own else intake.ignore  # a palace has files of its own, and they have places
    paths = sorted(markdown_files(source, unread=intake.refuse, left=left))
    if real in without.parents:
        paths = [path for path in paths if not (real / path).is_relative_to(without)]
    if not is_own:
        return paths
    identity = (source / IDENTITY_FILE).is_file() and not (source / IDENTITY_FILE).is_symlink()
    kept = [path for path in paths if path.split("/")[0] not in NOT_NOTES]
    return [*[IDENTITY_FILE] * identity, *kept]


def _record_folders(palace: Path) -> dict[str, Path]:
    return {name: palace / name for name in (JOURNAL, SCRATCHPAD)}


def _place(path: str, folder: str) -> str:
    room, _, name = path.rpartition("/")
    return f"rooms/{room or folder}/{name}"


def _former_places(palace: Path, places: Iterable[str]) -> dict[int, list[str]]:
    """Return the palace's drawers that no note of a source has the name of, by their size in bytes.

    If one has the bytes of a note that is new, that note was taken in before under another name.
    Nothing is returned where no note of the source is new.
    """
    there = {f"rooms/{name}" for name in markdown_files(palace / "rooms")}
    former: dict[int, list[str]] = {}
    if not there.issuperset(places):
        for path in sorted(there.difference(places)):
            former.setdefault((palace / path).stat().st_size, []).append(path)
    return former


def _take_file(source: Path, name: str, target: str, intake: Intake) -> None:
    try:
        data = source.read_bytes()
    except OSError as error:
        intake.refuse(name, f"it cannot be read: {said(error)}")
        return
    intake.take(name, target, data, origin=os.path.realpath(source))


# Where a vault says which folder or note its templates are, and the keys that say it.
_TEMPLATES = (
    ("templates.json", ("folder",)),
    ("daily-notes.json", ("template",)),
    ("plugins/templater-obsidian/data.json", ("templates_folder",)),
    ("plugins/periodic-notes/data.json", ("daily", "weekly", "monthly", "quarterly", "yearly")),
)


def _templates(vault: Path) -> dict[str, str]:
    """Return the folders and notes that a vault makes notes of, each with why it is left out."""
    found: dict[str, str] = {}
    for name, keys in _TEMPLATES:
        try:
            values = json.loads((vault / ".obsidian" / name).read_text("utf-8"))
            named = [values.get(key) for key in keys]
        except (OSError, ValueError, AttributeError):
            continue
        for value in named:
            place = value.get("template") if isinstance(value, Mapping) else value
            if isinstance(place, str) and (path := place.strip("/")):
                places = f"{path}/", f"{path.removesuffix(SUFFIX)}{SUFFIX}"
                found |= dict.fromkeys(places, _TEMPLATE)
    return found


def _template_reason(source: Path, path: str) -> str:
    """Say that a note in a folder `Templates` has a place to be filled in, "" if it has none."""
    if _OF_TEMPLATES.search(path):
        with suppress(OSError):  # told where it is read
            return _TEMPLATE if _TO_BE_FILLED.search((source / path).read_bytes()) else ""
    return ""


def _old_versions(graph: Path) -> dict[str, str]:
    """Return where Logseq keeps old versions of the pages of a graph, if a folder is one."""
    is_graph = (graph / "logseq" / "config.edn").is_file()
    return {"logseq/bak/": "it is an old version that Logseq keeps"} if is_graph else {}


def _program_reason(path: str, kept: Mapping[str, str], *, is_vault: bool) -> str:
    """Say why a file is the note of a program and no person's, or "" if it is not."""
    if is_vault and path.lower().endswith(".excalidraw.md"):
        return "it is a drawing"
    return next((reason for start, reason in kept.items() if path.startswith(start)), "")


# Notes of Google Keep


def _import_keep(source: Path, intake: Intake, progress: Progress | None) -> None:
    files = keep_files(source) if source.is_dir() else [source]
    for number, file in enumerate(files, 1):
        found = read_keep_note(file)
        if isinstance(found, Left):
            (intake.refuse if found.is_fault else intake.ignore)(file.name, found.reason)
        else:
            place = f"rooms/{KEEP_ROOM}/{file.stem}{SUFFIX}"
            data = found.encode("utf-8", "replace")
            intake.take(file.name, place, data, origin=os.path.realpath(file))
        if progress:
            progress(number, len(files))


# Conversations


def _import_turns(source: Path, intake: Intake, progress: Progress | None) -> None:
    _take_turns(source, _told_in(source, intake, progress), intake)


def _told_in(source: Path, intake: Intake, progress: Progress | None) -> Iterable[Said | Left]:
    """Return what is told in a file or folder of the form that an import is of."""
    if intake.kind == "turns":
        return read_turns(source, progress=progress)
    if intake.kind == "slack":
        return read_slack(source, progress=progress)
    if intake.kind == "whatsapp":
        return read_whatsapp(source, progress=progress)
    items = items_of(source, progress=progress)
    if intake.kind == "langchain":
        at = datetime.fromtimestamp(int(source.stat().st_mtime), tz=timezone.utc)
        return read_langchain(items, session=f"{source.stem} (langchain)", at=at)
    sessions = (turn.session for turn in intake.to.known() if turn.room == TIMELINE)
    read = read_chatgpt if intake.kind == "chatgpt" else read_claude
    return read(items, sessions=sessions)


def _take_turns(source: Path, read: Iterable[Said | Left], intake: Intake) -> None:
    """Add turns in batches; those without a time of their own are known by their words."""
    batch: list[ConversationTurn] = []
    undated: Counter[tuple[str, str, str]] | None = None
    for found in read:
        name = f"{found.file or source.name}:{found.line}"
        if isinstance(found, Left):
            (intake.refuse if found.is_fault else intake.ignore)(name, found.reason)
            continue
        turn = _clean_turn(name, found.turn, intake)
        if turn is None:
            continue
        if not found.is_dated:
            undated = _said_before(intake) if undated is None else undated
            key = (turn.session, turn.speaker, turn.text)
            if undated[key]:
                undated[key] -= 1
                intake.unchanged += 1
                continue
        batch.append(turn)
        if len(batch) >= _TURNS_AT_ONCE:
            _append(batch, intake)
            batch = []
    _append(batch, intake)


def _clean_turn(name: str, turn: ConversationTurn, intake: Intake) -> ConversationTurn | None:
    """Return a turn as it is kept: without our own evidence and what is private."""
    text = strip_own_markers(turn.text)
    if not text.strip():
        intake.ignore(name, "nothing but our own evidence")
        return None
    kept = [
        intake.cleaned(name, part) for part in (text, turn.speaker, turn.session, turn.provenance)
    ]
    if any(part is None for part in kept):
        return None
    words, speaker, session, provenance = (str(part) for part in kept)
    return replace(turn, text=words, speaker=speaker, session=session, provenance=provenance)


def _said_before(intake: Intake) -> Counter[tuple[str, str, str]]:
    turns = (memory for memory in intake.to.known() if memory.room == TIMELINE)
    return Counter((turn.session, turn.speaker, turn.text) for turn in turns)


def _append(turns: Sequence[ConversationTurn], intake: Intake) -> None:
    if not turns:
        return
    root = intake.to.root
    pages = {f"timeline/{turn.at.astimezone(timezone.utc):%Y-%m-%d}.md" for turn in turns}
    before = {page: _stamps(root / page) for page in pages}
    changed = intake.to.store.append_timeline(turns)
    added = sum(_stamps(root / page) - before[page] for page in changed)
    intake.added += added
    intake.unchanged += len(turns) - added
    intake.paths.update(dict.fromkeys(changed))


def _stamps(page: Path) -> int:
    """Count the turns of a timeline page; only they start a line with a stamp."""
    try:
        return len(_STAMPED.findall(page.read_text("utf-8", "replace")))
    except FileNotFoundError:
        return 0


# Memories of other programs


def _import_mem0(source: Path, intake: Intake, progress: Progress | None) -> None:
    origins: dict[str, set[str]] = {}
    # With the drawer: two owners may say the same of themselves.
    words: set[tuple[str, str]] = set()
    for memory in intake.to.known():
        if memory.room != TIMELINE:
            origins.setdefault(memory.provenance, set()).add(_folded(memory.text))
            owner = memory.drawer.casefold() if memory.room == MEM0_ROOM else ""
            words.add((owner, _folded(memory.text)))
    drawers: dict[str, list[Draft]] = {}
    for found in read_mem0(items_of(source, progress=progress)):
        name = f"{source.name}:{found.line}"
        if isinstance(found, Left):
            intake.refuse(name, found.reason)
            continue
        draft = _fitting(name, found, intake)
        if draft is None:
            continue
        drawer, key = _drawer_name(found.drawer), _folded(draft.text)
        places = {("", key), (drawer.casefold(), key)}
        is_named = draft.provenance != MEM0_ROOM
        known = origins.get(draft.provenance, set()) if is_named else set()
        if key in known or not words.isdisjoint(places):
            intake.unchanged += 1
            continue
        if known:
            intake.refuse(name, DIFFERS)
            continue
        words.add((drawer.casefold(), key))
        drawers.setdefault(drawer, []).append(draft)
    for drawer, drafts in sorted(drawers.items()):
        for memory in intake.to.store.add_many(drafts, room=MEM0_ROOM, drawer=drawer):
            intake.paths[memory.path] = None
            intake.added += 1


def _fitting(name: str, found: Known, intake: Intake) -> Draft | None:
    reason = control_character_reason(found.draft.text)
    if reason:
        intake.refuse(name, f"it holds {reason}")
        return None
    draft = found.draft
    names = "\n".join((found.drawer, *draft.tags))
    if reason := intake.to.privacy.name_refusal(names):
        intake.refuse(name, reason)
        return None
    kept = [intake.cleaned(name, part) for part in (draft.text, draft.provenance)]
    if any(part is None for part in kept):
        return None
    text, provenance = (str(part) for part in kept)
    try:
        return replace(draft, text=intake.to.fit(text), provenance=provenance)
    except TextRefusedError as error:
        intake.refuse(name, error.message)
        return None


def _drawer_name(owner: str) -> str:
    """Return the name of an owner's drawer as it stands on disk, whatever its case."""
    plain = unicodedata.normalize("NFKC", owner)
    name = _NAME_UNFIT.sub("-", plain)[:MAX_DRAWER_CHARS].strip(".-")
    is_fit = any(map(str.isalnum, name)) and not name_reason(name)
    return name if is_fit else "memories"


def _folded(text: str) -> str:
    return " ".join(text.split()).casefold()


# Exports


def _import_export(source: Path, intake: Intake, progress: Progress | None) -> None:
    files, records = _export_entries(source)
    for number, entry in enumerate((*files, *records), 1):
        path = entry.get("path") if isinstance(entry, Mapping) else None
        name = path if isinstance(path, str) else f"file {number}"
        data = _entry_bytes(entry)
        if not isinstance(path, str) or data is None:
            intake.refuse(name, "it has no path, or neither text nor base64")
        elif number > len(files):
            intake.take_records(path, data)
        else:
            intake.take(name, path, data, as_text=False)
        if progress:
            progress(number, len(files) + len(records))


def _export_entries(source: Path) -> tuple[list[Any], list[Any]]:
    """Return the files of an export, and the records that exports of today have beside them."""
    data = read_json(source)
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise ConfigError(f"{source}:1: it is no export of a palace", hint=SUPPORTED)
    version = data.get("version")
    if isinstance(version, int) and version > VERSION:
        raise SchemaTooNewError(
            f"{source}:1: it is an export of version {str(version)[:20]}, known is {VERSION}",
            hint="use the version of this program that wrote it, or a newer one",
        )
    if version != VERSION:
        raise ConfigError(f"{source}:1: it is no export of a palace", hint=SUPPORTED)
    entries = data.get("files")
    if not isinstance(entries, list):
        raise ConfigError(f"{source}:1: the export has no list of files", hint=SUPPORTED)
    records = data.get("records", [])
    return entries, records if isinstance(records, list) else []


def _entry_bytes(entry: object) -> bytes | None:
    if not isinstance(entry, Mapping):
        return None
    text, encoded = entry.get("text"), entry.get("base64")
    if isinstance(text, str):
        with suppress(UnicodeEncodeError):
            return text.encode()
    elif isinstance(encoded, str):
        with suppress(binascii.Error, ValueError):
            return base64.b64decode(encoded, validate=True)
    return None


_READERS: Mapping[Format, Callable[[Path, Intake, Progress | None], None]] = {
    "markdown": _import_markdown,
    "obsidian": _import_markdown,
    "turns": _import_turns,
    "chatgpt": _import_turns,
    "claude": _import_turns,
    "keep": _import_keep,
    "langchain": _import_turns,
    "slack": _import_turns,
    "whatsapp": _import_turns,
    "mem0": _import_mem0,
    "export": _import_export,
}
