"""Nested items with a comment: which comment is whose, and which lines."""

from __future__ import annotations

import pytest

from palace.store.markdown import parse
from palace.store.rereading import parse_again

A, B, C = ("<!-- memory id=m-a -->", "<!-- memory id=m-b -->", "<!-- memory id=m-c -->")


def read(*lines: str) -> dict[str, str]:
    page = parse("rooms/r/x.md", "\n".join(lines) + "\n")
    assert page.render() == "\n".join(lines) + "\n"
    return {m.id if m.id.startswith("m-") else "-": m.text for m in page.memories}


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        (("- a", "  - b", f"  {A}"), {"m-a": "a\n- b"}),
        (("- a", "  - b", f"    {B}"), {"-": "a", "m-b": "b"}),
        (("- a", f"  - b {B}", f"  {A}"), {"m-a": "a", "m-b": "b"}),
        (("- a", f"  {A}", "  - b", f"  {B}"), {"m-a": "a", "m-b": "b"}),
        ((f"- a {A}", "\t- b", f"\t  {B}", "\t- c"), {"m-a": "a\n- c", "m-b": "b"}),
        (
            ("- a", "  - b", "    - c", f"      {C}", f"    {B}", f"  {A}"),
            {"m-a": "a", "m-b": "b", "m-c": "c"},
        ),
        (("- a", "  - b", "    - c", f"      {C}", f"  {A}"), {"m-a": "a\n- b", "m-c": "c"}),
        (("10. a", "    - b", f"    {A}"), {"m-a": "a\n- b"}),
        (("10. a", "  - b", f"    {A}"), {"m-a": "a\n- b"}),
        (("- a", "  ```", "  - b", f"    {B}", "  ```"), {"-": f"a\n```\n- b\n  {B}\n```"}),
        (
            ("- a", "  - b", "", "    more", f"    {B}", "", "  end"),
            {"-": "a\n\nend", "m-b": "b\n\nmore"},
        ),
        (("- a", "  - b", f"    {B}", "- c"), {"-": "c", "m-b": "b"}),
    ],
)
def test_a_comment_belongs_to_the_item_it_is_indented_for(
    lines: tuple[str, ...], found: dict[str, str]
) -> None:
    assert read(*lines) == found


def test_what_is_written_to_one_leaves_the_others_as_they_are() -> None:
    text = f"- a\n  - b\n    {B}\n  - c\n- d\n"
    page = parse("rooms/r/x.md", text)
    assert [m.text for m in page.memories] == ["a\n- c", "b", "d"]
    changed = parse("rooms/r/x.md", page.with_memory_fields(0, {"id": "m-a"}))
    assert [(m.id[:3], m.text) for m in changed.memories] == [
        ("m-a", "a\n- c"),
        ("m-b", "b"),
        (page.memories[2].id[:3], "d"),
    ]
    for position, behind in ((0, 2), (1, 3)):
        grown = parse("rooms/r/x.md", page.with_memory_behind(position, "new", {"id": "m-n"}))
        texts = [m.text for m in grown.memories]
        assert texts.index("new") == behind
        assert [text for text in texts if text != "new"] == ["a\n- c", "b", "d"]
    assert page.remove(1) == "- a\n  - c\n- d\n"


def test_a_small_change_beside_nested_memories_reads_as_the_whole_page_does() -> None:
    path = "rooms/r/x.md"
    page = parse(path, f"- z\n- a\n  - b\n    {B}\n  - c\n- d\n  {C}\n")
    changes = [page.with_memory_fields(n, {"id": f"m-{n}{n}", "kind": "fact"}) for n in range(4)]
    for text in (*changes, page.append_memories([("new", {"id": "m-n"})])):
        assert parse_again(page, text) == parse(path, text)
        assert len({memory.id for memory in parse(path, text).memories}) >= 4
