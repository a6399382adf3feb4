from __future__ import annotations

import time
from dataclasses import replace

import pytest

from palace import Mempalace
from palace.store.markdown import parse
from palace.store.orphans import orphaned
from tests.doubles import another_writer

HERS, OURS = "The lathe stands in Oslo.", "The kettle stands in Bergen."
COMMENT = "<!-- memory id=m-1 kind=fact source=agent status=inactive -->"
FILES = [
    f"- {HERS}\n- {OURS}\n  {COMMENT}\n- last\n",
    f"{HERS}\n\n{OURS}\n{COMMENT}\n",
    f"\ufeff- {HERS}\r\n- {OURS}\r\n  {COMMENT}\r\n",
    f"1. {HERS}\n2. {OURS}\n   {COMMENT}",
]


def cut(text: str) -> str:
    """Delete the words of ours, as an editor deletes a line."""
    lines = text.splitlines(keepends=True)
    return "".join(line for line in lines if OURS not in line).replace(
        f"{HERS}\n\n<!--", f"{HERS}\n<!--"
    )


@pytest.mark.parametrize("text", FILES)
def test_a_comment_left_behind_is_nobody_s(tmp_path, text):
    file = tmp_path / "rooms" / "a" / "b.md"
    file.parent.mkdir(parents=True)
    file.write_bytes(text.encode())
    with Mempalace.open(tmp_path) as palace:
        [own] = [memory for memory in palace.memories() if memory.text == HERS]
        file.write_bytes(cut(text).encode())
        palace.refresh()
        found = palace.memories(include_inactive=True)
        assert [m for m in found if m.text == HERS] == [own]
        assert "m-1" not in {memory.id for memory in found}
        assert COMMENT in file.read_text("utf-8")
        assert file.read_bytes().replace(b"<!-- -->\r\n", b"").replace(b"<!-- -->\n", b"") == (
            cut(text).encode()
        )
        [fault] = palace.faults()
        assert COMMENT in file.read_text("utf-8-sig").splitlines()[fault.line - 1]
        palace.reindex()
        assert [m for m in palace.memories() if m.text == HERS] == [own]
        check = next(check for check in palace.doctor() if check.name == "files")
        assert f"b.md:{fault.line}" in check.detail


def test_reworded_moved_and_adopted_words_keep_their_comment():
    def of(text):
        return parse("rooms/a/b.md", text).memories

    before = of(FILES[0])
    assert orphaned(before, before) == []
    assert orphaned(before, of(FILES[0].replace(OURS, "The kettle is in Kiel."))) == []
    assert orphaned(before, of(f"- {OURS}\n- {HERS}\n  {COMMENT}\n")) == []
    assert orphaned(before, of(f"- {HERS}\n- new words\n  {COMMENT}\n")) == []
    assert orphaned(before, of(f"- {HERS}\n- {HERS}\n  {COMMENT}\n")) == []
    assert orphaned(before, of(f"- {HERS}\n  {COMMENT}\n")) == ["m-1"]
    assert orphaned([], of(FILES[0])) == []


def test_while_somebody_writes_the_file_is_looked_at_again(tmp_path):
    file = tmp_path / "rooms" / "a" / "b.md"
    file.parent.mkdir(parents=True)
    file.write_text(FILES[0], "utf-8")
    with Mempalace.open(tmp_path) as palace:
        file.write_text(cut(FILES[0]), "utf-8")
        with another_writer(tmp_path):
            palace.refresh()
            assert HERS in {memory.text for memory in palace.memories()}
            assert file.read_text("utf-8") == cut(FILES[0])
        palace.refresh()
        assert "m-1" not in {memory.id for memory in palace.memories(include_inactive=True)}


def test_a_drawer_of_ten_thousand_is_looked_through_once():
    before = parse("rooms/a/b.md", "".join(f"- Fact {n}.\n" for n in range(10_000))).memories
    now = [replace(m, text=f"{m.text}!") for m in before[:2]] + list(before[2:])
    began = time.process_time()
    assert orphaned(before, now) == []
    assert time.process_time() - began < 0.5
