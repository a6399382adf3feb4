"""The verbs that carry a palace in and out: imports and exports.

In: files and folders. Out: what was added, left out or written.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from palace.arguments import (
    SOURCES,
    check_choice,
    check_given,
    check_texts,
    moment_in,
    path_in,
    quoted,
)
from palace.errors import ConfigError
from palace.learn.record_files import JOURNAL, SCRATCHPAD, record_files
from palace.ports import Progress
from palace.store.files import ANYTHING, atomic_write, locked
from palace.store.journal import new_record
from palace.store.json_lines import append_line
from palace.store.rooms import RoomStore
from palace.store.tree import own_files
from palace.types.session import ConversationTurn
from palace.verbs.reading import ReadingVerbs

# What reads foreign files is loaded when something is imported: a question needs none of it.
if TYPE_CHECKING:
    from palace.learn.formats import Format
    from palace.learn.intake import Destination, Imported
    from palace.learn.transfer import Exported


class TransferringVerbs(ReadingVerbs):
    """What goes in and out as a whole."""

    def import_from(
        self,
        source: str | Path,
        *,
        form: Format | None = None,
        records: bool = True,
        update: bool = False,
        dry_run: bool = False,
        progress: Progress | None = None,
    ) -> Imported:
        """Import notes, conversations, another program's memories, or an export of a palace.

        Args:
            source: A folder of Markdown or an Obsidian vault (kept as it is), a `.md` file,
                conversation turns as JSON lines (`session, speaker, text, at`), an export of a
                palace, or what ChatGPT, Claude, Google Keep, LangChain, mem0, Slack and
                WhatsApp export.
            form: What it is; recognised by its content if not given.
            records: Whether the journal, which holds prompts, and the notes of sessions are taken
                in, where the source has them.
            update: Whether a note that was edited at its source since takes the place of what an
                import brought from there, where nobody touched that here. An empty one never does.
            dry_run: Import into a copy that is thrown away, and tell what would happen.
            progress: Called with (done, to do), in files, lines or bytes.

        Returns:
            What was added, was there already, and was redacted, left out or refused, with the
            reasons. Doing it again adds nothing.

        Raises:
            ConfigError: If the source cannot be read as any of these; names file and line.
        """
        from palace.learn.formats import FORMATS
        from palace.learn.importing import import_path

        path = path_in("source", source)
        if form is not None:
            check_choice("form", form, FORMATS)
        if dry_run:
            with self._copy() as root:
                to = self._destination(root, RoomStore(root), records=records, update=update)
                done = import_path(path, to=to, form=form, progress=progress)
            return replace(done, dry_run=True)
        to = self._destination(self.root, self.store, records=records, update=update)
        to = replace(to, append=_append)  # notes may stand outside of the palace, and of its copy
        self.require_root()
        with locked(self.root, "import"):  # not the palace's own: an import takes its time
            self.refresh()  # what an import before this one brought
            before = set(to.brought)
            done = import_path(path, to=to, form=form, progress=progress)
            self._note_brought(to.brought)
        self.refresh()
        self._keep_import(done, new=set(done.paths) - before)
        return done

    def _keep_import(self, done: Imported, *, new: set[str]) -> None:
        """Note how many memories came that have no date of their own to be told by."""
        if not done.paths or done.kind == "export":
            return  # what comes from a palace has its own past, and its journal
        undated = [m for m in self.index.memories() if m.path in new and m.created is None]
        if undated or done.updated:
            about = {"kind": done.kind, "memories": len(undated), "updated": done.updated}
            record = new_record("import", "i", None, about)
            self.keep_record(record, otherwise="a report will not tell what was imported")

    @property
    def _brought_file(self) -> Path:
        return self.root / ".palace" / "imported.json"

    def _brought(self) -> dict[str, tuple[str, str]]:
        """Return what imports brought from where; what was lost is refused where it was edited."""
        try:
            found = json.loads(self._brought_file.read_bytes())
            return {path: (str(origin), str(digest)) for path, (origin, digest) in found.items()}
        except (OSError, ValueError, TypeError, AttributeError):
            return {}

    def _note_brought(self, brought: Mapping[str, tuple[str, str]]) -> None:
        if brought != self._brought():
            atomic_write(self._brought_file, json.dumps(brought).encode(), replaces=ANYTHING)

    def _destination(
        self, root: Path, store: RoomStore, *, records: bool, update: bool
    ) -> Destination:
        from palace.learn.intake import Destination

        return Destination(
            root=root,
            home=self.root,
            store=store,
            write_file=lambda path, data, there: _put_file(root, path, data, replaces=there),
            known=lambda: self.memories(include_inactive=True),
            fit=self._parts.writer.fit,
            privacy=self.privacy,
            records=self._record_folders if records else {},
            brought=self._brought(),
            update=update,
        )

    @property
    def _record_folders(self) -> dict[str, Path]:
        return {JOURNAL: self.journal.folder, SCRATCHPAD: self.scratchpad.folder}

    @contextmanager
    def _copy(self) -> Iterator[Path]:
        """A copy of what a person owns; files are never changed in place, so links will do."""
        folder = self.root / ".palace"
        near = folder if os.access(folder, os.W_OK) else None
        with tempfile.TemporaryDirectory(prefix="dry-run-", dir=near) as name:
            root = Path(name)
            for path in own_files(self.root):
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                _link(self.root / path, root / path)
            yield root

    def import_turns(
        self, turns: Iterable[ConversationTurn], *, progress: Progress | None = None
    ) -> int:
        """Add verbatim conversation turns to the timeline; those already there are left out.

        Returns:
            How many timeline pages changed.

        Raises:
            ConfigError: If one is no `ConversationTurn`, or one that cannot be written or that
                nobody could read again; nothing is written then.
            SecretRefusedError: If a turn holds a secret (and they are not redacted): nothing is
                written then, while `import_from` leaves such turns out.
            PersonalDataRefusedError: If one holds personal data (and that is blocked).
        """
        paths = self.store.append_timeline([self._writable(turn) for turn in turns])
        self.refresh(progress=progress)
        return len(paths)

    def _writable(self, turn: ConversationTurn) -> ConversationTurn:
        if not isinstance(turn, ConversationTurn):
            raise ConfigError(
                f"one of the turns is no turn: {type(turn).__name__}",
                hint="give ConversationTurn(session, speaker, text, at)",
            )
        check_texts(
            session=turn.session,
            speaker=turn.speaker,
            text=turn.text,
            provenance=turn.provenance,
            scope=turn.scope,
        )
        check_given(project=turn.project, task=turn.task)
        check_choice("trust", turn.trust, SOURCES)
        at = moment_in("at", turn.at)
        if at is None:
            raise ConfigError("one of the turns has no time", hint="give `at`, a datetime")
        if turn.scope != "global" and not turn.scope.startswith(("project:", "session:")):
            raise ConfigError(
                f"the scope is {quoted(turn.scope)}",
                hint="use global, project:<name> or session:<id>",
            )
        fit = self.privacy.written
        return replace(
            turn,
            text=fit(turn.text),
            speaker=fit(turn.speaker),
            session=fit(turn.session),
            provenance=fit(turn.provenance),
            at=at,
        )

    def export(
        self,
        target: str | Path,
        *,
        form: Literal["json", "markdown"] = "json",
        records: bool = True,
    ) -> Exported:
        """Write everything canonical to one JSON file or a folder of Markdown.

        What the palace does not read, such as a playbook in a folder, is not written either;
        `faults` names it.

        Args:
            target: The file, or the folder.
            form: Which of the two.
            records: Whether the journal, which holds prompts, and the notes of sessions go along.

        Raises:
            ConfigError: If the target exists and is not empty, or `form` is neither.
        """
        from palace.learn.transfer import export_json, export_markdown

        check_choice("form", form, ("json", "markdown"))
        path = path_in("target", target)
        memories = self.memories(include_inactive=True)
        files = own_files(self.root)
        kept = record_files(self._record_folders) if records else {}
        write = export_json if form == "json" else export_markdown
        return write(self.root, path, files=files, memories=memories, records=kept)


def _append(file: Path, lines: bytes) -> None:
    """Append records where an import brings them."""
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    append_line(file, lines, durable=True)


def _link(source: Path, target: Path) -> None:
    try:
        os.link(os.path.realpath(source), target)
    except OSError:
        shutil.copyfile(source, target)


def _put_file(root: Path, relative: str, data: bytes, *, replaces: bytes | None) -> None:
    """Write one file; whoever tidies up does not touch what is written under the lock."""
    with locked(root):
        atomic_write(Path(os.path.realpath(root / relative)), data, replaces=replaces)
