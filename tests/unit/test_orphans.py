from __future__ import annotations

import time
from dataclasses import replace

import pytest

from palace import Mempalace
from palace.store.markdown import parse
from palace.store.orphans import mended, orphaned, strayed
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


def test_where_nothing_is_to_be_mended_nobody_is_waited_for(tmp_path):
    file = tmp_path / "rooms" / "a" / "b.md"
    file.parent.mkdir(parents=True)
    file.write_text("\n".join(LINES), "utf-8")
    with Mempalace.open(tmp_path) as palace:
        file.write_text("\n".join(line for line in LINES if RETIRED not in line), "utf-8")
        with another_writer(tmp_path):
            palace.refresh()
            assert OURS in {memory.text for memory in palace.memories()}


def test_a_drawer_of_ten_thousand_is_looked_through_once():
    before = parse("rooms/a/b.md", "".join(f"- Fact {n}.\n" for n in range(10_000))).memories
    now = [replace(m, text=f"{m.text}!") for m in before[:2]] + list(before[2:])
    named = [replace(m, id=f"m-{m.position}") for m in before]
    began = time.process_time()
    assert orphaned(before, now) == []
    assert len(strayed(named, before)) == 10_000
    assert time.process_time() - began < 0.5


RETIRED = "<!-- memory id=m-1 source=agent status=inactive -->"
TAGGED = "<!-- memory id=m-2 tags=x -->"
LINES = ["- Pia likes tea.", f"- {OURS}", f"  {RETIRED}", f"- {HERS}", f"  {TAGGED}"]


@pytest.mark.parametrize("first", [0, 1])  # with and without a memory above all comments
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("moves", [[(1, 2)], [(3, 2)], [(3, 2), (2, 1)], [(1, 2), (2, 3)]])
def test_who_moves_one_line_takes_its_comment_along(tmp_path, first, end, moves):
    """Alt and an arrow: what was retired came back, and what stood beside it was retired."""
    file = tmp_path / "rooms" / "a" / "b.md"
    file.parent.mkdir(parents=True)
    file.write_bytes(end.join(["# B", "", *LINES[first:], ""]).encode())
    with Mempalace.open(tmp_path) as palace:

        def stand():
            found = palace.memories(include_inactive=True)
            return sorted((m.text, m.id, m.status, m.trust, m.tags) for m in found)

        before, moved = stand(), list(LINES)
        for here, there in moves:
            moved[here], moved[there] = moved[there], moved[here]
        file.write_bytes(end.join(["# B", "", *moved[first:], ""]).encode())
        palace.refresh()
        assert stand() == before
        assert palace.faults() == []
        words = [line for line in moved[first:] if "<!--" not in line]
        written = file.read_bytes().decode().split(end)
        assert [line for line in written if line and "<!--" not in line] == ["# B", *words]
        assert sorted(line for line in written if "<!--" in line) == [f"  {RETIRED}", f"  {TAGGED}"]
        palace.reindex()
        assert stand() == before


@pytest.mark.parametrize(
    "now",
    [
        LINES,
        [LINES[1], *LINES],  # a line was copied
        [LINES[1], "- The kettle is in Kiel.", *LINES[2:]],  # and the one below reworded
        [*LINES[:1], "- The kettle is in Kiel.", *LINES[2:]],
        [LINES[0], LINES[1], *LINES[3:]],  # the comment was deleted
        [*LINES[:3], LINES[4]],  # the words were
        [LINES[0], LINES[3], LINES[2], LINES[1], LINES[4]],  # the words changed places
    ],
)
def test_what_an_edit_may_have_meant_so_stays(now):
    before = parse("rooms/a/b.md", "\n".join(LINES)).memories
    page = parse("rooms/a/b.md", "\n".join(now))
    assert mended(page, before) == page.render()


def test_a_comment_that_stands_twice_is_not_moved():
    before = parse("rooms/a/b.md", "\n".join(LINES)).memories
    twice = "\n".join([LINES[2], *LINES[1:2], "", LINES[2]])
    page = parse("rooms/a/b.md", f"{twice}\n")
    assert mended(page, before) == page.render()


@pytest.mark.parametrize("mark", ["- ", ""])
def test_what_a_tool_did_to_all_lines_is_mended_in_one_look(mark):
    """Sorted lines, and a formatter that sets a blank line before each comment of a paragraph."""
    gap = [] if mark else [""]
    facts = [
        (f"{mark}Fact {n}.", f"{'  ' if mark else ''}<!-- memory id=m-{n} -->", *gap)
        for n in range(2000)
    ]
    whole = [line for fact in sorted(facts) for line in fact]
    if mark:
        told = sorted(whole)
    else:
        told = [line for fact in sorted(facts) for line in (fact[0], "", *fact[1:])]
    before = parse("rooms/a/b.md", "\n".join(whole)).memories
    began = time.process_time()
    after = parse("rooms/a/b.md", mended(parse("rooms/a/b.md", "\n".join(told)), before))
    assert [(m.id, m.text) for m in after.memories] == [(m.id, m.text) for m in before]
    assert after.faults == ()
    assert time.process_time() - began < 2.0
