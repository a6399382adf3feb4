from __future__ import annotations

import time
from datetime import datetime, timezone

import pytest

from palace.errors import MemoryNotFoundError, StoreError
from palace.store import markdown
from palace.store.blocks import normal_text
from palace.store.comments import (
    edit_comment,
    format_time,
    parse_time,
    read_comment,
    write_comment,
)
from palace.store.inline import find_marks, find_tags
from palace.store.markdown import decode, encode, parse
from palace.store.names import derived_id
from palace.store.rereading import parse_again
from palace.store.timeline_page import speaker_label, split_speaker, turn_lines

PATH = "rooms/work/notes.md"
DAY = "timeline/2023-05-08.md"


def texts(source, path=PATH):
    return [memory.text for memory in parse(path, source).memories]


DRAWER = """---
title: project notes
tags: [deploy, "#ci"]
---
# project notes
- Deploys run from `main` with `make deploy`. #deploy [[architecture/fleet]]
  <!-- memory id=m-01A kind=preference source=agent confidence=0.9 created=2026-05-07T14:30:00Z -->
- Hand-written lines are memories too.
## Later
A paragraph that is
wrapped.
"""


def test_a_drawer_as_the_design_shows_it():
    page = parse(PATH, DRAWER)
    first, second, third = page.memories
    assert page.title == "project notes"
    assert page.faults == ()
    assert (
        first.text == "Deploys run from `main` with `make deploy`. #deploy [[architecture/fleet]]"
    )
    assert (first.id, first.kind, first.trust, first.confidence) == (
        "m-01A",
        "preference",
        "agent",
        0.9,
    )
    assert first.created == datetime(2026, 5, 7, 14, 30, tzinfo=timezone.utc)
    assert (first.tags, first.links) == (("deploy", "ci"), ("architecture/fleet",))
    assert (first.room, first.drawer, first.line, first.heading) == ("work", "notes", 6, "")
    assert second.id == derived_id(PATH, second.text, 0)
    assert second.id.startswith("d-")
    assert len(second.id) == 18
    assert (third.text, third.heading, third.position) == (
        "A paragraph that is wrapped.",
        "Later",
        2,
    )


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("- a\n- b\n* c\n+ d\n1. e\n2) f\n", ["a", "b", "c", "d", "e", "f"]),
        ("- a\n  wrapped\nlazy\n- b\n", ["a wrapped lazy", "b"]),
        ("- a\n  - b\n    wrapped\n    - c\n- d\n", ["a\n- b wrapped\n  - c", "d"]),
        ("- a\n\n  second paragraph\n\n\n  third\n", ["a\n\nsecond paragraph\n\nthird"]),
        ("- a\n\nnot its own\n", ["a", "not its own"]),
        ("- [ ] open\n- [x] done\n", ["[ ] open", "[x] done"]),
        ("one\ntwo\n\nthree\n", ["one two", "three"]),
        ("one\n- item\n", ["one", "item"]),
        ("The year\n1986. was great\n", ["The year\n1986. was great"]),
        ("# h\n***\n---\n\n<!-- note -->\n<!-- two\nlines -->\nSetext\n===\n", []),
        ("<!-- note --> said\n", ["<!-- note --> said"]),
        ("a\n%% hidden %%\nb\n\n%%\n# h\n\n- x\n```\n{}\n```\n%%\n\nc\n", ["a", "b", "c"]),
        ("%% Load\nx\n\n%% Plot\ny\n", ["%% Load x", "%% Plot y"]),
        ("%% open\n\n- b %%\n\n  %%\n", ["%% open", "b %%\n\n%%"]),
        ("- a\n  %% of it %%\n\n50 %% and %% of it\n", ["a %% of it %%", "50 %% and %% of it"]),
        ("```\n%%\n```\n\nb\n\n```\n%% c\n```\n", ["```\n%%\n```", "b", "```\n%% c\n```"]),
        ("| a | b |\n|---|---|\n| 1 | 2 |\n", ["| a | b |\n|---|---|\n| 1 | 2 |"]),
        ("> quote\n> more\n\ntext\n> other\n", ["> quote\n> more", "text", "> other"]),
        ("```\ncode\n\n- x\n```\n", ["```\ncode\n\n- x\n```"]),
        ("Run:\n```\ncode\n```\nthen\n", ["Run:\n```\ncode\n```", "then"]),
        ("- Run:\n  ```sh\n    indented\n  ```\n  then\n", ["Run:\n```sh\n  indented\n```\nthen"]),
        ("- Run:\n```\n# no heading\n```\n- next\n", ["Run:\n```\n# no heading\n```", "next"]),
        ("- ```\n  code\n- next\n", ["```\ncode\n```", "next"]),
        ("~~~~\n~~~\n```\n~~~~\n", ["~~~~\n~~~\n```\n~~~~"]),
        ("-\n- \n-x\n", ["-x"]),
        ("- \ttabbed\n\tmore\n", ["tabbed more"]),
        ("a\rb\r\rc\r\nd", ["a b", "c d"]),
        ("\ufeff- marked\n", ["marked"]),
        ("a\u2028b\x0bc\n", ["a\u2028b\x0bc"]),
        ("---\nnever closed\n", ["never closed"]),
        ("statement\n---\n", ["statement"]),
    ],
)
def test_what_is_a_memory(source, expected):
    assert texts(source) == expected
    assert parse(PATH, source).render() == source


def test_headings_are_the_context():
    page = parse(PATH, "# Top\n- a\n## One\n- b\n### Deep #\n- c\n## Two\n- d\n# Other\n- e\n")
    assert [m.heading for m in page.memories] == ["", "One", "One > Deep", "Two", "Other"]
    assert page.title == "Top"
    other = parse(PATH, "---\ntitle: Given\n---\n# Top\n- a\n")
    assert (other.title, other.memories[0].heading) == ("Given", "Top")
    assert parse(PATH, "- a\n").title == "notes"


def test_tags_and_links_follow_obsidian():
    text = (
        "#a #b/c #2024 #y2024, x#no ## `#code` [[r/d]] [[r/d|x]] [[t#part]] [[#here]] `[[no]]` #a"
    )
    assert find_tags(text) == ("a", "b/c", "y2024")
    assert find_marks(text)[1] == ("r/d", "t")
    assert find_tags("a\n```\n#no [[no]]\n```\n#yes") == ("yes",)
    assert find_tags("#été `` ` #no `` #語") == ("été", "語")
    assert find_marks("```\n[[no]]\n```")[1] == ()


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("- a <!-- memory id=m-1 -->\n", "a"),
        ("- a\n  wrapped <!-- memory id=m-1 -->\n", "a wrapped"),
        ("- a\n  <!-- memory id=m-1 -->\n  - nested by hand\n", "a\n- nested by hand"),
        ("- a <!-- memory id=m-1 --> reflowed\n", "a reflowed"),
        ("- a\n<!-- memory id=m-1 -->\n", "a"),
        ("- a\n\n  <!-- memory id=m-1 -->\n", "a"),
        ("para\n<!-- memory id=m-1 -->\n", "para"),
        ("> quote\n<!-- memory id=m-1 -->\n", "> quote"),
        ("```\ncode\n```\n<!-- memory id=m-1 -->\n", "```\ncode\n```"),
    ],
)
def test_where_the_comment_may_stand(source, expected):
    (memory,) = parse(PATH, source).memories
    assert (memory.id, memory.text) == ("m-1", expected)
    assert parse(PATH, source).faults == ()


def test_imitations_of_the_comment_are_content():
    source = "- a\n  ```\n  <!-- memory id=m-1 -->\n  ```\n- use `<!-- memory id=m-2 -->` here\n- \\<!-- memory id=m-3 -->\n"
    found = parse(PATH, source).memories
    assert all(memory.id.startswith("d-") for memory in found)
    assert found[0].text == "a\n```\n<!-- memory id=m-1 -->\n```"
    assert found[2].text == "<!-- memory id=m-3 -->"


def test_every_field_is_read():
    comment = (
        '<!-- memory id=m-1 kind=negative scope=project:x source=system provenance="a chat"'
        ' tags=["a b","c"] importance=0.25 confidence=.5 created=2026-05-07 updated=2026-05-07T10:00'
        " valid_from=2026-05-07T10:00:00+02:00 valid_to=2026-05-08T00:00:00.5Z status=inactive"
        ' superseded_by=m-2 triggers=x,y project=p task=t session=s reason="it \\"is\\" -\\u002d so" -->'
    )
    page = parse(PATH, f"- text\n  {comment}\n")
    (memory,) = page.memories
    assert page.faults == ()
    assert (memory.kind, memory.scope, memory.trust, memory.provenance) == (
        "negative", "project:x", "system", "a chat",
    )  # fmt: skip
    assert (memory.tags, memory.triggers) == (("a b", "c"), ("x", "y"))
    assert (memory.importance, memory.confidence) == (0.25, 0.5)
    assert memory.created == datetime(2026, 5, 7, tzinfo=timezone.utc)
    assert memory.valid_from == datetime(2026, 5, 7, 8, tzinfo=timezone.utc)
    assert memory.valid_to == datetime(2026, 5, 8, 0, 0, 0, 500_000, tzinfo=timezone.utc)
    assert (memory.status, memory.superseded_by) == ("inactive", "m-2")
    assert (memory.project, memory.task, memory.session) == ("p", "t", "s")
    assert memory.reason == 'it "is" -- so'


@pytest.mark.parametrize(
    "broken",
    [
        "kind=nonsense", "confidence=2", "confidence=nan", "importance=x", "created=yesterday",
        "created=2026-02-30", "created=0001-01-01T00:00:00+14:00", "status=gone", "source=me",
        'id="a b"', "id=", "tags=[1", 'reason="\\x"', "stray", "kind=fact kind=event",
    ],
)  # fmt: skip
def test_a_malformed_value_is_a_fault_and_the_memory_stays(broken):
    page = parse(PATH, f"# h\n- text\n  <!-- memory {broken} -->\n")
    if broken == "tags=[1":
        assert page.memories[0].tags == ("[1",)
        return
    assert [(fault.path, fault.line) for fault in page.faults] == [(PATH, 3)]
    (memory,) = page.memories
    assert (memory.text, memory.kind, memory.confidence, memory.status) == (
        "text",
        "fact",
        1.0,
        "active",
    )
    assert memory.created is None


@pytest.mark.parametrize(
    ("source", "line", "words"),
    [
        ("---\na: [\n---\n- x\n", 2, "front matter"),
        ("---\na: !!python/object:os.system {}\n---\n- x\n", 2, "front matter"),
        ("---\na: 2026-02-30\n---\n- x\n", 2, "be read: day is out of range"),
        ("---\na: !!timestamp x\n---\n- x\n", 2, "front matter"),
        ("---\na: " + "[" * 9000 + "\n---\n- x\n", 2, "front matter"),
        ("---\na: " + "x" * 20_000 + "\n---\n- x\n", 1, "front matter"),
        ("- x\n\n```\ncode", 3, "never ends"),
        ("- x\n\n<!-- note", 3, "never ends"),
        ("- x\n  <!-- memory id=m-1\n", 2, "does not end"),
        ("# h\n<!-- memory id=m-1 -->\n- x\n", 2, "no memory"),
        ("- x <!-- memory id=m-1 -->\n  <!-- memory id=m-2 -->\n", 2, "second"),
        ("- x <!-- memory id=m-1 -->\n- y <!-- memory id=m-1 -->\n", 2, "twice"),
    ],
)
def test_what_cannot_be_understood_is_a_fault(source, line, words):
    page = parse(PATH, source)
    assert page.memories[0].text.startswith("x")
    assert [fault.line for fault in page.faults] == [line]
    assert words in page.faults[0].message
    assert page.render() == source


@pytest.mark.parametrize("body", ["x", "x\n\n- y", "- x\n- y", "x" * 20_000, "> quoted"])
def test_text_between_two_rules_of_dashes_is_read_where_it_has_no_key(body):
    source = f"---\n{body}\n\n---\n- z\n"
    page = parse(PATH, source)
    assert " ".join(memory.text for memory in page.memories) == " ".join(
        [*(line.removeprefix("- ") for line in body.split("\n") if line), "z"]
    )
    assert "front matter" in page.faults[0].message
    assert page.render() == source


@pytest.mark.parametrize(
    "wrong",
    ["date: 2026-02-30", "date: {date: }}", 'by: "Ada', "a: [1, 2", "*: x", "x: y: z"],
)
@pytest.mark.parametrize("first", [True, False])
def test_one_value_of_the_front_matter_that_cannot_be_read_costs_its_key_alone(wrong, first):
    rows = ["# of the garden", "title: Garden", "tags:", "  - soil", "  - water"]
    rows = [wrong, *rows] if first else [*rows, wrong]
    source = "---\n" + "\n".join(rows) + "\n---\n- x\n"
    page = parse(PATH, source)
    assert (page.title, page.memories[0].tags) == ("Garden", ("soil", "water"))
    assert [(f.line, f.message.split(":")[0]) for f in page.faults] == [
        (2 if first else len(rows) + 1, "front matter cannot be read")
    ]
    assert page.render() == source


@pytest.mark.parametrize("value", ["{{date}}", "{{date}} {{time}}", "'{{title}}'", "<% tp.x() %>"])
def test_the_head_of_a_template_is_no_fault(value):
    page = parse("rooms/r/d.md", f"---\ndate: {value}\nowner: Pia\n---\n- x\n")
    assert page.faults == ()
    assert [memory.text for memory in page.memories] == ["owner: Pia", "x"]
    wrong = parse("rooms/r/d.md", f"---\ndate: {value}\na: [\n---\n- x\n")
    assert [fault.line for fault in wrong.faults] == [3]


@pytest.mark.parametrize(
    "written", ["no", "On", "12:30", "007", "1.10", "1_000", "0x1F", "true", "2026-11-24", "3.0"]
)
def test_the_front_matter_is_read_as_it_is_written(written):
    page = parse(PATH, f"---\ntitle: {written}\ntags: [en, {written}]\n---\n- x\n")
    assert (page.title, page.tags, page.faults) == (written, ("en", written), ())


def test_what_git_could_not_merge_is_read_and_its_marks_are_nobodys_words():
    source = (
        "<<<<<<< HEAD\n# x\n- x is 950.\n  <!-- memory id=m-1 -->\n- y\n||||||| base\n"
        "- x is 900.\n=======\n- x is 980.\n>>>>>>> other\n- z\n"
    )
    page = parse(PATH, source)
    assert [memory.text for memory in page.memories] == [
        "x is 950.",
        "y",
        "x is 900.",
        "x is 980.",
        "z",
    ]
    ((line, message),) = [(fault.line, fault.message) for fault in page.faults]
    assert line == 1
    assert "keep one of the versions" in message
    assert page.render() == source
    edited = page.with_memory_fields(1, {"id": "m-2"})
    assert edited == source.replace("- y\n", "- y\n  <!-- memory id=m-2 -->\n")


@pytest.mark.parametrize(
    ("source", "versions"),
    [
        (
            "<<<<<<< HEAD\nSize 44.\n=======\nSize 43.5.\n>>>>>>> phone\n\nRed.\n",
            ["Size 44.", "Size 43.5.", "Red."],
        ),
        (
            "<<<<<<< HEAD\nSize 44.\n<!-- memory id=m-1 -->\n||||||| base\nSize 43.\n"
            "=======\nSize 43.5.\n<!-- memory id=m-2 -->\n>>>>>>> phone\n",
            ["Size 44.", "Size 43.", "Size 43.5."],
        ),
        ("Mira\n<<<<<<< HEAD\n=======\nlikes tea.\n>>>>>>> phone\n", ["Mira likes tea."]),
    ],
)
def test_both_versions_of_a_paragraph_are_memories_of_their_own(source, versions):
    page = parse(PATH, source)
    assert [memory.text for memory in page.memories] == versions
    assert page.render() == source
    assert all(memory.id for memory in page.memories)


@pytest.mark.parametrize("path", [PATH, DAY])
@pytest.mark.parametrize("words", ["- Mira likes tea.", "Mira likes tea."])
@pytest.mark.parametrize("is_ours", [True, False])
def test_a_memory_keeps_its_comment_while_git_asks_which(path, words, is_ours):
    """What was forgotten on one computer does not come back by a merge."""
    retired = "  <!-- memory id=m-1 status=inactive -->\n".lstrip(" " * (words[0] != "-"))
    tagged = retired.replace("status=inactive", "tags=[a]")
    own, theirs = (retired, tagged) if is_ours else (tagged, retired)
    page = parse(path, f"{words}\n<<<<<<< HEAD\n{own}=======\n{theirs}>>>>>>> other\n")
    (memory,) = page.memories
    assert (memory.id, memory.text, memory.status) == ("m-1", "Mira likes tea.", "inactive")
    assert [fault.line for fault in page.faults] == [2, 5 if is_ours else 3]
    back = page.with_memory_fields(0, {"status": None})
    assert back == page.render().replace(" status=inactive", "")


def test_front_matter_that_git_could_not_merge_is_read_in_both_versions():
    source = (
        "---\ntitle: Heating\ntags: [house]\n<<<<<<< HEAD\nstatus: paused\n||||||| base\n"
        "status: new\n=======\nstatus: running\n>>>>>>> phone\nowner: Pia\n---\n- x\n"
    )
    page = parse(PATH, source)
    told = ["status: paused", "status: new", "status: running", "owner: Pia", "x"]
    assert [memory.text for memory in page.memories] == told
    assert (page.title, page.tags, page.render()) == ("Heating", ("house",), source)
    assert ["conflict of git" in fault.message for fault in page.faults] == [True]


def test_code_in_an_item_that_git_could_not_merge_swallows_nothing_behind_it():
    source = (
        "- Run:\n  ```sh\n<<<<<<< HEAD\n  make a\n=======\n  make b\n>>>>>>> phone\n  ```\n- y\n"
    )
    page = parse(PATH, source)
    assert [memory.text for memory in page.memories] == ["Run:\n```sh\nmake a\nmake b\n```", "y"]
    assert [fault.line for fault in page.faults] == [3]


@pytest.mark.parametrize(
    "source",
    [
        "- x\n\n```\n<<<<<<< HEAD\na\n=======\nb\n>>>>>>> other\n```\n",
        "Title\n=======\n- x\n",
        "- x\n\n>>>>>>> quoted often\n",
    ],
)
def test_what_only_looks_like_a_conflict_stays(source):
    page = parse(PATH, source)
    assert page.faults == ()
    assert page.title == ("Title" if "Title" in source else "notes")
    assert "".join(texts(source)).count("other" if "```" in source else "x") == 1


def test_ids_are_unique_and_survive_other_edits():
    source = "- same\n- same\n- x <!-- memory id=m-1 -->\n- y <!-- memory id=m-1 -->\n"
    ids = [memory.id for memory in parse(PATH, source).memories]
    assert len(set(ids)) == 4
    assert ids[2] == "m-1"
    assert ids[3].startswith("d-")
    moved = parse(PATH, "# added\n\n" + source).memories
    assert [memory.id for memory in moved] == ids
    assert parse("rooms/b.md", source).memories[0].id != ids[0]


def test_bytes_that_are_no_text_are_kept_and_said():
    data = b"- caf\xe9 \xff\x00\r\n- ok\r\n"
    page = parse(PATH, decode(data))
    assert encode(page.render()) == data
    assert [memory.text for memory in page.memories] == ["caf\ufffd \ufffd\ufffd", "ok"]
    assert page.faults[0].line == 1
    edited = encode(page.with_memory_fields(1, {"id": "m-1"}))
    assert edited == data + b"  <!-- memory id=m-1 -->\r\n"


def test_fields_are_set_without_touching_another_byte():
    source = '- a\r\n\r\n1. b\r\n   more\r\n   <!-- memory  id=m-1 their="x  y"  kind=fact   z=1-->\r\n\r\npara'
    page = parse(PATH, source)
    done = page.with_memory_fields(1, {"kind": "event", "reason": "so", "id": None})
    assert done == source.replace(
        '<!-- memory  id=m-1 their="x  y"  kind=fact   z=1-->',
        '<!-- memory their="x  y"  kind=event   z=1 reason=so -->',
    )
    assert page.with_memory_fields(0, {"id": "m-2"}) == source.replace(
        "- a\r\n", "- a\r\n  <!-- memory id=m-2 -->\r\n"
    )
    assert page.with_memory_fields(2, {"id": "m-3"}) == source + "\r\n<!-- memory id=m-3 -->"
    with pytest.raises(ValueError, match="no field"):
        page.with_memory_fields(0, {"text": "x"})
    with pytest.raises(ValueError, match="between 0 and 1"):
        page.with_memory_fields(0, {"confidence": 3})


def test_comments_quote_what_needs_it():
    when = datetime(2026, 5, 7, 14, 30, tzinfo=timezone.utc)
    comment = write_comment(
        {"reason": "a --> b\n\"c\"", "tags": ["x", "y"], "triggers": ["a,b"], "created": when,
         "confidence": 0.9, "scope": "project:x", "task": ""}
    )  # fmt: skip
    assert comment == (
        "<!-- memory scope=project:x tags=x,y confidence=0.9 created=2026-05-07T14:30:00Z"
        ' triggers=["a,b"] reason="a \\u002d\\u002d> b\\n\\"c\\"" -->'
    )
    assert read_comment(comment)[0]["reason"] == 'a --> b\n"c"'
    assert edit_comment("<!-- memory a=1 id=m-1 -->", {"id": None}) == "<!-- memory a=1 -->"
    for bad in ({"tags": "x"}, {"kind": "x"}, {"created": "x"}, {"id": "a b"}):
        with pytest.raises(ValueError, match=r"\w"):
            write_comment(bad)


def test_what_is_valid_to_a_day_holds_on_that_day() -> None:
    comment = "<!-- memory valid_from=2026-12-01 valid_to=2026-12-31 -->"
    values = read_comment(comment)[0]
    assert values["valid_from"] == datetime(2026, 12, 1, tzinfo=timezone.utc)
    assert values["valid_to"] == datetime(2026, 12, 31, 23, 59, 59, 999999, tzinfo=timezone.utc)
    until_noon = read_comment("<!-- memory valid_to=2026-12-31T12:00Z -->")[0]
    assert until_noon["valid_to"] == datetime(2026, 12, 31, 12, tzinfo=timezone.utc)


def test_times_are_utc_and_need_a_real_day():
    assert parse_time("2026-05-07 14:30 UTC").hour == 14
    assert parse_time("2026-05-07T14:30-0200").hour == 16
    assert format_time(datetime(2026, 5, 7)) == "2026-05-07T00:00:00Z"
    for bad in ("", "2026", "2026-13-01", "2026-05-07T25:00", "9999-12-31T23:00-02:00"):
        with pytest.raises(ValueError, match=r"\w"):
            parse_time(bad)


@pytest.mark.parametrize(
    "text",
    [
        "# a", "- a", "1. a", "```\ncode\n```", "<!-- note -->", "---", "- -", "--", "* * *", "[[a/b]]",
        "<!-- memory id=m-9 kind=fact -->", "\\<!-- memory -->", "a\n\n```\n\n  x\n```\n\nb", "| a |\n|---|",
        "> q\n> r", "a\n- b\n  - c\n- d", "===", "[2026-05-07 14:30] A: b", "a\n---\nb", "#tag", "`<!-- memory`",
    ],
)  # fmt: skip
def test_awkward_texts_come_back_as_they_were(text):
    assert normal_text(text) == text
    for before in ("", "# h\n", "- x\n", "para", "```\nopen", "<!-- open", "1. x\n\n\n"):
        page = parse(PATH, before)
        read = parse(PATH, page.append_memories([(text, {"id": "m-1"})]))
        assert (read.memories[-1].text, read.memories[-1].id) == (text, "m-1")
        assert len(read.memories) == len(page.memories) + 1


def test_normal_text_is_what_markdown_shows():
    assert normal_text("  a\r\n  b \r\n\r\n\r\nc\x00 ") == "a b\n\nc\ufffd"
    assert normal_text("a\n    - b\n      - c") == "a\n- b\n  - c"
    assert normal_text("x\n```\nopen") == "x\n```\nopen\n```"


@pytest.mark.parametrize(
    ("source", "texts"),
    [
        ("a | b\n--- | ---\nredis | 6380\nsee | x\nend\nof it\n", None),
        ("Ports:\na | b\n:-- | --:\nredis | 6380\n", None),
        ("- x\n  a | b\n  --- | ---\n  1 | 2\n", ["x\na | b\n--- | ---\n1 | 2"]),
        ("one | two\nthree | four\n", ["one | two three | four"]),
        ("a\n--- | ---\n", ["a --- | ---"]),
    ],
)
def test_a_table_without_signs_at_its_ends_keeps_its_rows(source, texts):
    page = parse(PATH, source)
    expected = texts or [source.strip().replace("end\nof", "end of")]
    assert [memory.text for memory in page.memories] == expected
    assert all(normal_text(text) == text for text in expected)
    assert page.render() == source
    with pytest.raises(StoreError, match="empty"):
        parse(PATH, "").append_memories([(" \n ", {})])


def test_an_appended_item_takes_the_files_newlines():
    assert parse(PATH, "# h\r\n").append_memories([("a", {})]) == "# h\r\n\r\n- a\r\n"
    assert parse(PATH, "- x").append_memories([("a\n- b", {})]) == "- x\n- a\n  - b\n"


def test_removal_keeps_neighbours_apart():
    assert parse(PATH, "- a\n- b\n\n# h\n").remove(1) == "- a\n\n# h\n"
    source = "- a\n\nbetween\n\n  indented\n"
    assert texts(parse(PATH, source).remove(1)) == ["a", "indented"]
    with pytest.raises(MemoryNotFoundError):
        parse(PATH, source).position_of("m-none")


TIMELINE = """# 2023-05-08

## session-1
[2023-05-08 13:56] Caroline: Hello
  and a second line

  # not a heading
  <!-- memory provenance="a chat" -->
[2023-05-08 13:57] Deployed v2: all green
[2023-05-08 13:58] : Quoted: words
[2023-05-08 13:59] **a b c d e**: many names

## session-2
[2023-05-08T14:00:59] user: hi
- A summary by hand.
"""


def test_a_timeline_page():
    page = parse(DAY, TIMELINE)
    said = [(m.speaker, m.text, m.session, m.created.minute) for m in page.memories]
    assert said == [
        ("Caroline", "Hello\nand a second line\n\n# not a heading", "session-1", 56),
        ("", "Deployed v2: all green", "session-1", 57),
        ("", "Quoted: words", "session-1", 58),
        ("a b c d e", "many names", "session-1", 59),
        ("user", "hi", "session-2", 0),
        ("", "A summary by hand.", "session-2", 0),
    ]
    assert {(m.kind, m.room, m.drawer) for m in page.memories} == {
        ("event", "timeline", "2023-05-08")
    }
    assert page.memories[0].provenance == "a chat"
    assert page.memories[0].line == 4
    assert page.faults == ()
    assert texts(TIMELINE, PATH)[0].startswith("[2023-05-08 13:56] Caroline")


def test_a_stamp_that_is_no_date_is_a_fault():
    page = parse(DAY, "[2023-02-31 13:56] A: b\n")
    assert page.memories[0].created is None
    assert page.faults[0].message == "a stamp that is no date"


@pytest.mark.parametrize(
    ("line", "speaker", "words"),
    [
        ("Caroline: hi", "Caroline", "hi"),
        ("Dr. No 2: hi", "Dr. No 2", "hi"),
        ("李: 你好", "李", "你好"),
        ("user: hi", "user", "hi"),
        ("note: hi", "", "note: hi"),
        ("http://x: y", "", "http://x: y"),
        ("A B C D E: hi", "", "A B C D E: hi"),
        ("X" * 41 + ": hi", "", "X" * 41 + ": hi"),
        ("Anna:", "Anna", ""),
        (": A: b", "", "A: b"),
        ("**odd name**: b", "odd name", "b"),
        ("no colon", "", "no colon"),
    ],
)
def test_who_is_a_speaker(line, speaker, words):
    assert split_speaker(line) == (speaker, words)


def test_turns_are_written_so_that_they_read_back():
    assert turn_lines("[x] ", "Ann", "a\n\n<!-- memory x -->", fields={"provenance": "p"}) == [
        "[x] Ann: a", "  ", "  \\<!-- memory x -->", "  <!-- memory provenance=p -->",
    ]  # fmt: skip
    assert speaker_label(" a:\nb* ") == "a b"


HOSTILE = {
    "brackets": "[" * 1_000_000,
    "backticks": "`" * 1_000_000,
    "growing ticks": "".join("`" * size + " " for size in range(1, 1400)),
    "comments": "<!--" * 250_000,
    "our comments": "<!-- memory " * 80_000,
    "fields": "- x\n  <!-- memory " + 'a=[" ' * 200_000 + "-->",
    "backslashes": "\\" * 1_000_000 + "<!-- memory -->",
    "dashes": "- " * 500_000 + "x",
    "blanks": "-" + " " * 1_000_000 + "x",
    "links": "[[a|" * 250_000,
    "tags": "#a/" * 330_000,
    "quotes": "> " * 500_000,
    "fences": "```\n~~~\n" * 20_000,
    "colons": "[2023-05-08 13:56] " + "A " * 500_000 + ": x",
    "blank lines": "- a\n" + "\n" * 1_000_000 + "  b",
}


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("path", [PATH, DAY])
def test_hostile_files_take_linear_time(name, path):
    began = time.process_time()
    page = parse(path, HOSTILE[name])
    assert time.process_time() - began < 4
    assert page.render() == HOSTILE[name]


def test_a_title_underlined_with_dashes_is_a_heading():
    source = "Billing\n=======\n\nInvoice numbers\n---------------\n\nThey start at 10000.\n"
    page = parse(PATH, source)
    assert [(m.text, m.heading) for m in page.memories] == [
        ("They start at 10000.", "Invoice numbers")
    ]
    assert page.render() == source


@pytest.mark.parametrize(
    "source",
    [
        "Slept badly.\n----------\nA good day.\n",
        "Slept badly\n---\nA good day\n",
        "- Slept badly\n----------\n- A good day\n",
        "Slept\nbadly\n----------\nA good day\n",
        "Slept badly\n\n----------\nA good day\n",
        "| a | b |\n----------\nA good day\n",
    ],
)
def test_dashes_that_part_make_no_heading(source):
    assert [m.heading for m in parse(PATH, source).memories] == ["", ""]


@pytest.mark.parametrize(
    ("source", "text"),
    [
        (
            "Model:: Vitodens 200\nSerial:: 7542-88\nlives in:: Oslo\n",
            "Model:: Vitodens 200\nSerial:: 7542-88\nlives in:: Oslo",
        ),
        (
            "- Ordered the stove\n  id:: 6438a1b2\n  from Kiuas\n\t- 16.5 kW\n\t  price:: 789\n",
            "Ordered the stove\nid:: 6438a1b2\nfrom Kiuas\n  - 16.5 kW\n    price:: 789",
        ),
        (
            "- TODO Call Jarkko\n  SCHEDULED: <2026-04-15 Wed>\n  :LOGBOOK:\n  CLOCK: [a]\n  :END:\n",
            "TODO Call Jarkko\nSCHEDULED: <2026-04-15 Wed>\n:LOGBOOK:\nCLOCK: [a]\n:END:",
        ),
        ("It is a\nstd::vector and\nfoo::bar.\n", "It is a std::vector and foo::bar."),
    ],
)
def test_a_field_keeps_its_line(source, text):
    assert texts(source) == [text]
    assert normal_text(text) == text


@pytest.mark.parametrize(
    ("path", "source", "days"),
    [
        ("rooms/daily/2026-05-04.md", "# Monday\n\n- Ran 6 km\n", ["2026-05-04"]),
        ("rooms/journals/2026_05_04.md", "- Ran 6 km\n", ["2026-05-04"]),
        ("rooms/Daily/2026/05/04.md", "- Ran 6 km\n", ["2026-05-04"]),
        ("rooms/Daily/2026/05.md", "- Ran 6 km\n", [None]),
        ("rooms/daily/monday.md", "# 4 May 2026\n\n- Ran 6 km\n", ["2026-05-04"]),
        ("rooms/adr/0007.md", "---\ndate: 2026-01-20\n---\n# Queue\n\nRedis.\n", ["2026-01-20"]),
        (
            "rooms/notes/journal.md",
            "# Journal\n\nMine.\n\n## 2026-03-01\n- Rain\n### Night\n- Wind\n## Ideas\n- Kite\n",
            [None, "2026-03-01", "2026-03-01", None],
        ),
        (
            "rooms/notes/changes.md",
            "# Changes\n## [4.1.0] - 2026-03-02\n### Fixed\n- Seats\n",
            ["2026-03-02"],
        ),
        ("rooms/daily/2026-05-04.md", "## Trip, 2026-05-06\n- Oslo\n", ["2026-05-06"]),
        ("rooms/notes/house.md", "- Ran 6 km on 2026-05-04\n", [None]),
    ],
)
def test_what_stands_under_a_day_is_of_that_day(path, source, days):
    told = [memory.as_of for memory in parse(path, source).memories]
    assert [when and when.date().isoformat() for when in told] == days
    assert all(when is None or when.tzinfo is timezone.utc for when in told)


def test_a_comment_knows_better_when_a_memory_was_written():
    source = "- Ran 6 km\n  <!-- memory id=m-1 created=2026-05-07T14:30:00Z -->\n"
    (memory,) = parse("rooms/daily/2026-05-04.md", source).memories
    assert memory.created == datetime(2026, 5, 7, 14, 30, tzinfo=timezone.utc)


def test_days_as_headings_of_the_highest_level_are_no_title():
    source = "# 2026-03-01\nRain\n# 2026-03-02\nSnow\n"
    page = parse("rooms/notes/diary.md", source)
    assert page.title == "diary"
    assert [m.heading for m in page.memories] == ["2026-03-01", "2026-03-02"]


def test_lines_with_a_sign_of_other_programs_are_memories_of_their_own():
    source = (
        "Shopping \U0001f6d2\r\n☐ Oat milk,\r\nthe big one\r\n☑\ufe0f Coffee\r\n\r\n•\tTyres\r\n"
        "- Packing\r\n  • passport\r\n  • tent\r\n> as he said\r\n> • quoted\r\n"
    )
    page = parse(PATH, source)
    assert [memory.text for memory in page.memories] == [
        "Shopping \U0001f6d2",
        "☐ Oat milk, the big one",
        "☑\ufe0f Coffee",
        "•\tTyres",
        "Packing\n• passport\n• tent",
        "> as he said\n> • quoted",
    ]
    assert page.render() == source
    assert all(normal_text(memory.text) == memory.text for memory in page.memories)
    for position in range(len(page.memories)):
        left = [text for n, text in enumerate(texts(source)) if n != position]
        assert texts(page.remove(position)) == left
        stamped = page.with_memory_fields(position, {"id": "m-1"})
        assert parse(PATH, stamped).memories[position].id == "m-1"
        assert texts(stamped) == texts(source)


@pytest.mark.parametrize("source", ["- a\n\n## Notes\n", "- a\n\n***\n", "# Notes\n", "- a\n"])
def test_what_is_written_at_the_end_can_be_taken_out_again(source):
    written = parse(PATH, source).append_memories([("b", {})])
    page = parse(PATH, written)
    assert page.remove(len(page.memories) - 1) == source


@pytest.mark.parametrize(
    ("source", "position", "written"),
    [
        ("# A\n- a\n- b\n## C\n- c\n", 0, "# A\n- a\n- new\n  C\n- b\n## C\n- c\n"),
        ("# A\na\n\n## C\n- c\n", 0, "# A\na\n\n- new\n  C\n\n## C\n- c\n"),
        ("# A\na\n\n\n## C\n- c", 0, "# A\na\n\n- new\n  C\n\n\n## C\n- c"),
        ("| a |\n|---|\n| 1 |\n\nb\n", 0, "| a |\n|---|\n| 1 |\n\n- new\n  C\n\nb\n"),
        ("1. a\r\n   - x\r\n2. b\r\n", 0, "1. a\r\n   - x\r\n- new\r\n  C\r\n2. b\r\n"),
        ("# A\n- a", 0, "# A\n- a\n- new\n  C\n"),
        # An item that is indented would belong to the new one, a heading would lose its gap.
        ("  - a\n  - b\n", 0, "  - a\n  - b\n- new\n  C\n"),
        ("a\n# B\nb\n", 0, "a\n# B\nb\n\n- new\n  C\n"),
    ],
)
def test_a_memory_is_put_behind_another_one(source, position, written):
    comment = "<!-- memory id=m-9 -->"
    page = parse(PATH, source)
    assert page.with_memory_behind(position, "new", {"id": "m-9"}) == written.replace(
        "  C", f"  {comment}"
    )


def test_what_is_put_behind_another_memory_is_parsed_once(monkeypatch):
    page = parse(PATH, "# A\n- a\n- b\n")
    parsed = []
    known = markdown.find_blocks
    monkeypatch.setattr(
        markdown, "find_blocks", lambda lines, **how: parsed.append(lines) or known(lines, **how)
    )
    written = page.with_memory_behind(0, "new", {"id": "m-7"})
    assert [m.text for m in parse_again(page, written).memories] == ["a", "new", "b"]
    assert len(parsed) == 1


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (
            "---\naliases: [Miro, Mr. Tanaka]\ntags: person\n---\n- x\n",
            ("person", "Miro", "Mr. Tanaka"),
        ),
        ("---\nalias: Oda Lindqvist\n---\n- x\n", ("Oda Lindqvist",)),
        ("alias:: Pia Rautio\ntags:: people, [[work]]\n\n- x\n", ("people", "work", "Pia Rautio")),
        ("- alias:: Pia Rautio\n- x\n", ("Pia Rautio",)),
        ("Met Pia.\nalias:: Pia Rautio\n", ()),
    ],
)
def test_a_file_is_known_by_its_other_names(source, words):
    page = parse(PATH, source)
    assert page.document("").tags == words
    assert page.render() == source


@pytest.mark.parametrize(
    ("source", "memories"),
    [
        (
            "title:: Pia\ntype:: person\nalias:: Pia Rautio\n\n- Lives in Oslo.\n",
            ["Lives in Oslo."],
        ),
        ("- icon:: 🐢\n  tags:: people\n- Lives in Oslo.\n", ["Lives in Oslo."]),
        ("tags:: people\nLives in Oslo.\n", ["Lives in Oslo."]),
        ("---\ntags: a\n---\npublic:: true\n\n- Lives in Oslo.\n", ["Lives in Oslo."]),
        ("type:: person\nteam:: sales\n\n- x\n", ["type:: person\nteam:: sales", "x"]),
        ("- x\n  tags:: people\n", ["x\ntags:: people"]),
        ("tags:: people\n<!-- memory id=m-1 -->\n", ["tags:: people"]),
    ],
)
def test_properties_of_the_page_alone_are_no_memory(source, memories):
    page = parse(PATH, source)
    assert [memory.text for memory in page.memories] == memories
    assert page.render() == source
    assert texts(page.append_memories([("y", {})])) == [*memories, "y"]


def test_properties_of_a_page_give_its_title_and_its_day():
    page = parse(PATH, "title:: Sauna project\ndate:: [[2026-06-20]]\n\n- Door 69 cm\n")
    assert page.title == "Sauna project"
    assert [m.as_of for m in page.memories] == [datetime(2026, 6, 20, tzinfo=timezone.utc)]


DIARY = (
    "3 January 2026\nA walk around the lake.\nMinus eight.\n\nThe lamp broke.\n\n"
    "**Sunday, 4 January 2026:**\n\nBettina resigned.\n\n2026-01-11 (Sunday)\n- a red bicycle\n"
)


def test_a_diary_of_plain_text_has_its_days_above_what_was_written_on_them():
    page = parse("rooms/notes/diary.md", DIARY)
    assert [(m.text, f"{m.created:%Y-%m-%d}") for m in page.memories] == [
        ("3 January 2026 A walk around the lake. Minus eight.", "2026-01-03"),
        ("The lamp broke.", "2026-01-03"),
        ("Bettina resigned.", "2026-01-04"),
        ("a red bicycle", "2026-01-11"),
    ]
    days = ["", "3 January 2026", "Sunday, 4 January 2026", "2026-01-11 (Sunday)"]
    assert [memory.heading for memory in page.memories] == days
    assert page.render() == DIARY
    for position in range(4):
        stamped = page.with_memory_fields(position, {"id": "m-1"})
        assert parse(page.path, stamped).memories[position].id == "m-1"
        assert len(parse(page.path, page.remove(position)).memories) == 3


@pytest.mark.parametrize(
    ("source", "memories"),
    [
        ("# Visa\n## Due\n\n2026-07-15\n\n## Start\n\n2026-03-01\n", ["2026-07-15", "2026-03-01"]),
        ("## Due\n\n2026-07-15\n\nAsk Ada.\n\n## Start\n\n2026-03-01\n\nAsk Ole.\n", 4),
        ("2026-07-15\nAsk Ada.\n", ["2026-07-15 Ask Ada."]),
        ("2026-07-15\n\nAsk Ada.\n", ["2026-07-15", "Ask Ada."]),
        ("2026-07-15\n\n2026-07-16\n\n2026-07-17\n", 3),
        ("Kim was born on\n4 May 1990\nin Oslo.\n", ["Kim was born on 4 May 1990 in Oslo."]),
    ],
)
def test_a_day_that_is_what_was_noted_stays_a_memory(source, memories):
    found = texts(source)
    assert found == memories or len(found) == memories


def test_a_german_day_is_no_item_of_a_list():
    page = parse(PATH, "4. Mai 2026\nRegen.\n\n5. Mai 2026\nSonne.\n")
    assert [(m.text, m.heading) for m in page.memories] == [
        ("4. Mai 2026 Regen.", ""),
        ("5. Mai 2026 Sonne.", ""),
    ]
    assert texts("4. Mai 2026\n\nRegen.\n") == ["Mai 2026", "Regen."]


def test_an_underlined_day_is_a_heading():
    source = "2026-07-15\n==========\nAsk Ada.\n\n2026-07-16\n==========\nAsk Ole.\n"
    page = parse(PATH, source)
    assert [(m.text, m.heading) for m in page.memories] == [
        ("Ask Ada.", "2026-07-15"),
        ("Ask Ole.", "2026-07-16"),
    ]


def test_no_write_makes_a_diary_of_other_notes():
    source = "2026-07-15\n\n2026-07-16\n\n4. Mai 2026\n"
    page = parse(PATH, source)
    kept = ["2026-07-15", "2026-07-16", "Mai 2026"]
    assert texts(source) == kept
    for position in range(3):
        assert texts(page.with_memory_fields(position, {"id": "m-1"})) == kept
        written = page.with_memory_behind(position, "new", {"id": "m-1"})
        assert [text for text in texts(written) if text != "new"] == kept


def test_a_diary_of_two_days_can_lose_what_was_written_on_one():
    source = "2026-07-15\n\nAsk Ada.\n\n2026-07-16\n\nAsk Ole.\n"
    page = parse(PATH, source)
    assert texts(source) == ["Ask Ada.", "Ask Ole."]
    assert texts(page.remove(0)) == ["2026-07-15", "2026-07-16", "Ask Ole."]
    assert texts(page.remove(1)) == ["Ask Ada."]


@pytest.mark.parametrize("text", ["## 2026-05-04\n\n- One\n", "Monday, 4 May 2026\n\n- One\n"])
def test_what_is_written_or_changed_under_a_day_is_of_that_day_at_once(text: str) -> None:
    before = parse("rooms/a/b.md", f"{text}\n## 2026-05-05\n\n- Two\n")
    grown = before.append_memories([("Three", {"id": "m-3"})])
    assert parse_again(before, grown) == parse(before.path, grown)
    changed = before.with_memory_fields(0, {"id": "m-1", "kind": "fact"})
    again = parse_again(before, changed)
    assert again == parse(before.path, changed)
    assert again.memories[-1].created is not None
