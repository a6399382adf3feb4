"""Laws of the Markdown store: nothing is lost, edits stay where they belong, words survive."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from palace.store.blocks import normal_text
from palace.store.comments import (
    clean,
    edit_comment,
    escape_comments,
    read_comment,
    unescape_comments,
    write_comment,
)
from palace.store.markdown import decode, encode, parse
from palace.store.rereading import parse_again
from palace.store.timeline_merge import merge_turns
from palace.store.timeline_page import (
    minute_of,
    session_title,
    speaker_label,
    split_speaker,
    turn_lines,
    verbatim_text,
)
from tests.properties.strategies import (
    any_text,
    field_text,
    file_bytes,
    labels,
    markdown_text,
    turns,
)

PATH = "rooms/a/b.md"
DAY = "timeline/2020-01-01.md"
law = settings(deadline=None, max_examples=60)


def _kept(text: str) -> list[tuple[str, str]]:
    return [(memory.id, memory.text) for memory in parse(PATH, text).memories]


@law
@given(file_bytes, st.sampled_from([PATH, DAY]))
def test_parse_then_render_gives_back_every_byte(data, path):
    assert encode(parse(path, decode(data)).render()) == data


@law
@given(any_text)
def test_normal_text_twice_is_normal_text_once(text):
    once = normal_text(text)
    assert normal_text(once) == once


@law
@given(
    st.one_of(file_bytes.map(decode), markdown_text),
    st.lists(any_text.filter(normal_text), min_size=1, max_size=3),
)
def test_reading_only_what_was_added_reads_the_same(text, added):
    page = parse(PATH, text)
    for number, one in enumerate(added):
        grown = page.append_memories([(one, {"id": f"m-{number}", "tags": ["odd"]})])
        page = parse_again(page, grown)
        assert page == parse(PATH, grown)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("- a\n", "- a\n  more\n"),
        ("- a\n", "- a\n- b <!-- memory id=m-1 -->\n- c <!-- memory id=m-2 -->\n"),
        ("- a\n", "- a\n- b\n"),
        ("- a\n", "- a\n- b <!-- memory id=m-1 -->\nlazy\n"),
        ("- a\n", "- a\n- b <!-- memory id=m-1 -->\n# h\n"),
        ("- a\n", "- a\n- b <!-- memory id=m-1 -->\n===\n"),
        ("- a <!-- memory id=m-1 -->\n", "- a <!-- memory id=m-1 -->\n- b <!-- memory id=m-1 -->\n"),
        ("- a\n", "- c\n- b <!-- memory id=m-1 -->\n"),
        ("- a\n```\n", "- a\n```\n- b <!-- memory id=m-1 -->\n"),
        ("---\ntags: [x]\n", "---\ntags: [x]\n- b <!-- memory id=m-1 -->\n"),
        ("# T\n## S\n", "# T\n## S\n\n- b #y <!-- memory id=m-1 -->\n  - n\n"),
        ("---\ntags: [x]\n---\n# T\n", "---\ntags: [x]\n---\n# T\n\n- b <!-- memory id=m-1 -->\n"),
        ("", "- b <!-- memory id=m-1 -->\n"),
    ],
)  # fmt: skip
def test_whatever_was_added_is_read_as_a_whole_would_be(before, after):
    for path in (PATH, DAY):
        assert parse_again(parse(path, before), after) == parse(path, after)


@law
@given(
    st.one_of(file_bytes.map(decode), markdown_text),
    st.lists(any_text.filter(normal_text), max_size=3),
    st.lists(st.tuples(st.integers(0, 9), field_text), min_size=1, max_size=3),
)
def test_reading_only_the_comment_that_changed_reads_the_same(text, added, changes):
    items = [(one, {"id": f"m-a{n}", "tags": ["odd"]}) for n, one in enumerate(added)]
    page = parse(PATH, parse(PATH, text).append_memories(items) if items else text)
    for number, (place, said) in enumerate(changes):
        if not page.memories:
            return
        position = place % len(page.memories)
        name = page.memories[position].id
        fields = {"id": name if name.startswith("m-") else f"m-{number}", "reason": said}
        changed = page.with_memory_fields(position, fields)
        page = parse_again(page, changed)
        assert page == parse(PATH, changed)


@law
@given(markdown_text, any_text, any_text)
def test_whatever_changed_in_one_line_is_read_as_a_whole_would_be(text, old, new):
    before, after = (
        f"{text}\n- a\n  {line}\n- b\n  <!-- memory id=m-2 -->\n" for line in (old, new)
    )
    assert parse_again(parse(PATH, before), after) == parse(PATH, after)


COMMENT = "  <!-- memory id=m-1 kind=fact -->"


@pytest.mark.parametrize(
    "after",
    [
        "  <!-- memory id=m-1 kind=fact tags=x,y links=rooms/a reason=r -->",
        "  <!-- memory id=m-3 status=inactive superseded_by=m-2 -->",
        "  <!-- memory id=m-2 -->",
        "  <!-- memory kind=fact -->",
        "  <!-- memory id=m-1 kind=nonsense -->",
        "  <!-- memory id=m-1 kind=fact kind=event -->",
        "  <!-- memory id=m-1 --> and more",
        "  and <!-- memory id=m-1 -->",
        "  <!-- memory id=m-1 --> <!-- memory id=m-4 -->",
        "  <!-- memory id=m-1",
        "<!-- memory id=m-1 -->",
        "    <!-- memory id=m-1 -->",
        "  <!-- note -->",
        '  <!-- memory id=m-1 reason="\x00" -->',
        "  <!-- memory id=m-1 -->\r",
        "  ```",
        "",
    ],
)
def test_another_comment_is_read_as_a_whole_would_be(after):
    around = "---\ntags: [t]\n---\n# T\n## S\n\n- a #own\n{}\n- b\n  <!-- memory id=m-2 -->\n"
    for path in (PATH, DAY):
        before = parse(path, around.format(COMMENT))
        assert parse_again(before, around.format(after)) == parse(path, around.format(after))


@pytest.mark.parametrize(
    "around",
    [
        "- a\n{}- b\n",
        "- a\n{}\n- b\n",
        "- a\n{}  more\n- b\n",
        "- a\n  - nested\n{}\n- b\n",
        "- a\n  ```\n  code\n  ```\n{}- b\n",
        "- a\n  ```\n  code\n{}",
        "- a\n{}",
        "- a\n{}# h\n- b\n",
        "- a\n{}lazy\n",
        "para\n{}- b\n",
        "para\n{}\nother\n",
        "para\ntwo\n{}===\n",
        "> quote\n{}\n- b\n",
        "```\ncode\n```\n{}- b\n",
        "- a\r\n{}- b\r\n",
        "\ufeff- a\n{}- b\n",
        "# T\n{}- b\n",
        "---\ntags: [t]\n---\n- a #own [[x/y]]\n{}\n\n- a #own [[x/y]]\n",
    ],
)
def test_a_first_comment_is_read_as_a_whole_would_be(around):
    for path in (PATH, DAY):
        before = parse(path, around.format(""))
        for comment in (COMMENT, COMMENT.strip(), f"  {COMMENT}"):
            for end in ("\n", "\r\n", " \n", " x\n"):
                after = around.format(comment + end)
                assert parse_again(before, after) == parse(path, after)


def test_of_a_page_with_another_comment_only_that_is_read():
    before = parse(PATH, f"- a\n{COMMENT}\n- b\n  <!-- memory id=m-2 -->\n- c\n")
    after = parse_again(before, before.with_memory_fields(1, {"status": "inactive"}))
    assert [m.status for m in after.memories] == ["active", "inactive", "active"]
    assert [m is before.memories[m.position] for m in after.memories] == [True, False, True]
    first = parse_again(after, after.with_memory_fields(2, {"id": "m-3"}))
    assert [m is after.memories[m.position] for m in first.memories] == [True, True, False]


@law
@given(file_bytes, any_text.filter(normal_text))
def test_an_appended_memory_reads_back_and_moves_no_other(data, text):
    before = decode(data)
    page = parse(PATH, before)
    after = page.append_memories([(text, {"id": "m-new", "reason": text})])
    assert page.closing or after.startswith(before)
    read = parse(PATH, after)
    assert _kept(after)[:-1] == _kept(before)
    assert read.memories[-1].id == "m-new"
    assert read.memories[-1].text == normal_text(text)
    assert read.memories[-1].reason == clean(text)


@law
@given(file_bytes, st.data())
def test_setting_fields_changes_that_memory_only(data, draw):
    before = decode(data)
    page = parse(PATH, before)
    if not page.memories:
        return
    position = draw.draw(st.integers(0, len(page.memories) - 1))
    after = page.with_memory_fields(position, {"id": "m-new", "status": "inactive"})
    found = parse(PATH, after).memories
    assert [m.text for m in found] == [m.text for m in page.memories]
    assert found[position].id == "m-new"
    assert found[position].status == "inactive"
    assert [m.status for m in found if m.position != position] == [
        m.status for m in page.memories if m.position != position
    ]


@law
@given(markdown_text, st.data(), st.sampled_from([PATH, DAY]))
def test_removing_a_memory_leaves_the_others(before, draw, path):
    page = parse(path, before)
    if not page.memories:
        return
    position = draw.draw(st.integers(0, len(page.memories) - 1))
    found = parse(path, page.remove(position)).memories
    assert [m.text for m in found] == [m.text for m in page.memories if m.position != position]


@law
@given(any_text)
def test_escaping_a_line_is_undone_exactly(text):
    line = text.replace("\n", " ").replace("\r", " ")
    assert unescape_comments(escape_comments(line)) == line


@law
@given(field_text, st.lists(field_text, min_size=1, max_size=3), any_text)
def test_comment_values_survive_and_never_end_the_comment(reason, tags, foreign):
    comment = write_comment({"reason": reason, "tags": tags})
    assert comment.index("-->") == len(comment) - 3
    assert "\n" not in comment
    values, problems = read_comment(comment)
    assert problems == []
    assert values["reason"] == clean(reason)
    assert values["tags"] in (
        tuple(clean(tag) for tag in tags),
        tuple(clean(t).strip() for t in tags),
    )
    edited = edit_comment('<!-- memory  x="é" id=m-1 y=2-->', {"reason": reason, "id": None})
    assert edited.startswith('<!-- memory  x="é" y=2')
    assert read_comment(edited)[0] == {"reason": clean(reason)}


@law
@given(labels, any_text)
def test_a_turn_reads_back_word_for_word(speaker, text):
    lines = turn_lines("[2020-01-01 10:00] ", speaker_label(speaker), verbatim_text(text))
    page = parse(DAY, "\n".join(lines) + "\n")
    if not verbatim_text(text).strip():
        assert page.memories == ()
        return
    assert len(page.memories) == 1
    assert page.memories[0].text == verbatim_text(text)
    assert page.memories[0].speaker == speaker_label(speaker)


@law
@given(any_text)
def test_splitting_off_a_speaker_never_invents_words(text):
    speaker, words = split_speaker(text)
    assert text.endswith(words)
    assert speaker in text


@law
@given(markdown_text, st.lists(turns, max_size=8))
def test_the_timeline_takes_each_turn_once(before, said):
    page = parse(DAY, before)
    once = merge_turns(page, said)
    read = parse(DAY, once)
    assert merge_turns(read, said) == once
    had = [(m.text, m.speaker) for m in page.memories]
    has = [(m.text, m.speaker) for m in read.memories]
    for turn in said:
        if turn.text.strip():
            key = (verbatim_text(turn.text), speaker_label(turn.speaker))
            assert key in has
    assert len(has) <= len(had) + len(said)
    sessions = {(m.session, minute_of(m.created), m.text) for m in read.memories if m.created}
    for turn in said:
        if verbatim_text(turn.text).strip():
            key = (session_title(turn.session), minute_of(turn.at), verbatim_text(turn.text))
            assert key in sessions
