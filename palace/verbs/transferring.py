"""The verbs that carry a palace in and out: imports and exports.

In: files and folders. Out: what was added, left out or written.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal

from palace.learn.transfer import (
    Exported,
    Imported,
    export_json,
    export_markdown,
    import_path,
)
from palace.store.files import atomic_write
from palace.types import (
    ConversationTurn,
)
from palace.verbs.opened import Progress
from palace.verbs.reading import ReadingVerbs


class TransferringVerbs(ReadingVerbs):
    """What goes in and out as a whole."""

    def import_from(self, source: str | Path, *, progress: Progress | None = None) -> Imported:
        """Import a folder of Markdown, conversation turns as JSONL, or an export of a palace.

        Args:
            source: A folder (kept as it is), a `.md` file, a `.jsonl` file of turns
                (`session, speaker, text, at`) or a `.json` export.
            progress: Called with (done, to do).

        Returns:
            What was added, was there already, and was refused, with the reasons.

        Raises:
            ConfigError: If the source cannot be read as any of these; names file and line.
        """
        done = import_path(
            Path(source).expanduser(),
            root=self.root,
            write_file=self._put_file,
            append_turns=self._append_turns,
            progress=progress,
        )
        self.refresh()
        return done

    def import_turns(
        self, turns: Iterable[ConversationTurn], *, progress: Progress | None = None
    ) -> int:
        """Add verbatim conversation turns to the timeline; those already there are left out.

        Returns:
            How many timeline pages changed.
        """
        paths = self._append_turns(list(turns))
        self.refresh(progress=progress)
        return len(paths)

    def _append_turns(self, turns: Sequence[ConversationTurn]) -> list[str]:
        return self.store.append_timeline(turns)

    def _put_file(self, relative: str, data: bytes) -> None:
        atomic_write(self.root / relative, data, expected_digest=None)

    def export(self, target: str | Path, *, form: Literal["json", "markdown"] = "json") -> Exported:
        """Write everything canonical to one JSON file or a folder of Markdown.

        Raises:
            ConfigError: If the target exists and is not empty.
        """
        path = Path(target).expanduser()
        memories = self.memories(include_inactive=True)
        if form == "json":
            return export_json(self.root, path, memories=memories)
        return export_markdown(self.root, path, memories=memories)
