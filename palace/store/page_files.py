"""The palace's Markdown files as pages: read parsed, and changed until nobody interferes.

In: a path in the palace, and a change that turns its page into new text. Out: the page as its
file has it, durably written, and the page as it was before.
"""

from __future__ import annotations

from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Callable
from pathlib import Path

from palace.errors import DrawerParseError, MemoryNotFoundError, WriteConflictError
from palace.store.files import (
    DISK,
    SAVE_TIMEOUT_S,
    FileSystem,
    atomic_write,
    digest,
    read_bytes,
    wait_for_save,
)
from palace.store.markdown import Page, decode, encode, parse
from palace.store.names import resolve_inside
from palace.store.rereading import parse_again
from palace.types.memory import Document

MAX_ATTEMPTS = 20
KEPT_PAGES = 8


class PageFiles:
    """The pages below one root; those written last are kept parsed.

    Any call may raise `StoreUnavailableError`, where the file system refuses, and
    `UnsafeNameError`, where a path leaves the palace.

    Args:
        root: The palace.
        file_system: The steps of a durable write.
    """

    def __init__(self, root: Path, *, file_system: FileSystem = DISK) -> None:
        self.root = root
        self._file_system = file_system
        self._written: dict[str, tuple[bytes, Page]] = {}

    def document(self, path: str) -> Document:
        """Return what one file holds.

        Raises:
            MemoryNotFoundError: If there is no such file.
            DrawerParseError: If it is written in UTF-16: none of its words could be read.
        """
        data = read_bytes(resolve_inside(self.root, path))
        _refuse_utf16(path, data, "is not read")
        return self._parsed(path, data).document(digest(data))

    def page(self, path: str) -> Page:
        """Return one file, parsed; a missing one is empty."""
        return self._page_at(resolve_inside(self.root, path), path)[0]

    def edit(
        self, path: str, change: Callable[[Page], str], *, save_timeout_s: float = SAVE_TIMEOUT_S
    ) -> tuple[Page, Page]:
        """Read, change and write a file until nobody interferes; return it, and as it was.

        Both are the same page where the change changes nothing. Whoever calls this holds the
        palace's lock; somebody without it may still save the file meanwhile.

        Args:
            path: Of the file, which need not exist yet.
            change: Returns the new text of a page; asked again for a page that changed meanwhile.
            save_timeout_s: How long to wait for a program that is saving the file, in seconds.

        Raises:
            DrawerParseError: If the file is written in UTF-16.
            WriteConflictError: If the file kept changing.
        """
        for _ in range(MAX_ATTEMPTS):
            real = resolve_inside(self.root, path)
            wait_for_save(real, timeout_s=save_timeout_s)
            before, stood = self._page_at(real, path)
            _refuse_utf16(path, stood or b"", "what is added to it would be UTF-8")
            text = change(before)
            if text == before.render():
                return before, before
            data = encode(text)
            try:
                atomic_write(real, data, replaces=stood, file_system=self._file_system)
            except WriteConflictError:
                continue
            page = parse_again(before, text)
            self._remember(path, data, page)
            return page, before
        raise WriteConflictError(
            f"{path} was changed {MAX_ATTEMPTS} times while it was being written",
            hint="close the program that keeps writing it, then try again",
        )

    def _page_at(self, real: Path, path: str) -> tuple[Page, bytes | None]:
        """Return a file, parsed, and its bytes; a missing one is empty and has none."""
        try:
            data = read_bytes(real)
        except MemoryNotFoundError:
            return parse(path, ""), None
        return self._parsed(path, data), data

    def _parsed(self, path: str, data: bytes) -> Page:
        """Return a file, parsed; the few written last are known."""
        known, page = self._written.get(path, (b"", None))
        return page if page and known == data else parse(path, decode(data))

    def _remember(self, path: str, data: bytes, page: Page) -> None:
        others = [kept for kept in self._written.items() if kept[0] != path]
        self._written = dict([*others, (path, (data, page))][-KEPT_PAGES:])


def _refuse_utf16(path: str, data: bytes, why: str) -> None:
    if data.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
        raise DrawerParseError(
            f"{path} is written in UTF-16, and {why}",
            hint="save the file as UTF-8 in your editor, then try again",
        )
