from __future__ import annotations

import pytest

from palace.errors import (
    DrawerParseError,
    MemoryNotFoundError,
    UnsafeNameError,
    WriteConflictError,
)
from palace.store.files import FileSystem, digest
from palace.store.markdown import Page
from palace.store.page_files import MAX_ATTEMPTS, PageFiles

PATH = "rooms/a/b.md"


@pytest.fixture
def file(tmp_path):
    file = tmp_path / PATH
    file.parent.mkdir(parents=True)
    return file


def _adding(text):
    return lambda page: page.append_memories([(text, {})])


def _texts(page: Page):
    return [memory.text for memory in page.memories]


class MeddlingDisk(FileSystem):
    """A disk on which a person saves the same file while we write it, so many times."""

    def __init__(self, path, times):
        self.path, self.times = path, times

    def fsync(self, descriptor):
        super().fsync(descriptor)
        if self.times:
            self.times -= 1
            self.path.write_bytes(self.path.read_bytes() + f"- hers {self.times}\n".encode())


def test_a_persons_edit_is_merged_and_never_overwritten(tmp_path, file):
    file.write_text("- ours <!-- memory id=m-1 -->\n")
    meddled = PageFiles(tmp_path, file_system=MeddlingDisk(file, 2))
    page, before = meddled.edit(PATH, lambda page: page.with_memory_fields(0, {"confidence": 0.5}))
    assert page.memories[0].confidence == 0.5
    assert _texts(page) == _texts(before) == ["ours", "hers 1", "hers 0"]
    hopeless = PageFiles(tmp_path, file_system=MeddlingDisk(file, 100))
    with pytest.raises(WriteConflictError) as caught:
        hopeless.edit(PATH, _adding("lost"))
    assert caught.value.retryable
    assert len(hopeless.page(PATH).memories) == 3 + MAX_ATTEMPTS
    assert "lost" not in file.read_text()


def test_a_file_is_made_by_its_first_change_and_a_missing_one_is_empty(tmp_path, file):
    pages = PageFiles(tmp_path)
    assert pages.page(PATH).lines == ()
    with pytest.raises(MemoryNotFoundError):
        pages.document(PATH)
    page, before = pages.edit(PATH, _adding("one"))
    assert (before.lines, file.read_text()) == ((), page.render())
    assert pages.document(PATH) == page.document(digest(file.read_bytes()))
    with pytest.raises(UnsafeNameError):
        pages.page("../elsewhere.md")


def test_what_changes_nothing_writes_nothing(tmp_path, file):
    file.write_text("- ours\n")
    stood = file.stat()
    page, before = PageFiles(tmp_path).edit(PATH, Page.render)
    assert page is before
    assert (file.stat().st_ino, file.stat().st_mtime_ns) == (stood.st_ino, stood.st_mtime_ns)


def test_a_page_that_was_written_is_read_again_once_somebody_else_writes_it(tmp_path, file):
    pages = PageFiles(tmp_path)
    page, _ = pages.edit(PATH, _adding("ours"))
    assert pages.page(PATH) is page
    file.write_text("- hers\n")
    assert _texts(pages.page(PATH)) == ["hers"]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be"])
def test_a_file_in_utf16_is_never_written_in_two_encodings(tmp_path, file, encoding):
    text = ("\ufeff" if encoding == "utf-16-be" else "") + "- The fish is called Nemo.\n"
    file.write_bytes(text.encode(encoding))
    before = file.read_bytes()
    with pytest.raises(DrawerParseError, match="UTF-16") as refused:
        PageFiles(tmp_path).edit(PATH, _adding("The cat is called Minka."))
    assert "as UTF-8" in refused.value.hint
    assert file.read_bytes() == before
