"""Whatever comes in from outside: no reader crashes, and none takes more than linear time."""

from __future__ import annotations

import contextlib
import io
import json
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from palace.errors import ConfigError
from palace.learn.json_stream import stream_items
from palace.recall.apart import sentences_apart
from palace.recall.lexicon import load_lexicons
from palace.recall.query import Analyst
from palace.recall.shape import code_share, machine_reason
from palace.settings import load_settings
from palace.settings.file import parse_yaml
from palace.settings.model import Settings
from palace.store.comments import read_comment, write_comment
from palace.store.front_matter import read_front_matter
from palace.store.inline import find_marks
from palace.store.journal import FileJournal
from palace.store.json_lines import decode_line, encode_line, read_newest_first
from palace.store.markdown import decode, encode, parse
from palace.store.scratchpad_file import FileScratchpad
from palace.types.session import Turn
from tests.clock import seconds
from tests.doubles import FixedVocabulary
from tests.properties.strategies import any_text, file_bytes

law = settings(deadline=None, max_examples=30)
PATHS = st.sampled_from(["rooms/a/b.md", "timeline/2020-01-01.md"])
ANALYST = Analyst(load_lexicons(["en", "de"]), FixedVocabulary("the blue kettle"))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)  # fmt: skip
RECORDS = st.dictionaries(st.text(max_size=8), JSON, max_size=4)
KB = 1024


@law
@given(file_bytes, PATHS)
def test_any_file_reads_and_renders_back(data, path):
    page = parse(path, decode(data))
    assert encode(page.render()) == data
    assert len({memory.id for memory in page.memories}) == len(page.memories)


@law
@given(any_text)
def test_what_is_wrong_with_any_front_matter_stands_in_it(text):
    read = read_front_matter(["---", *text.splitlines(), "---", "body"])
    # Without any key it is text between two rules, and none of it is front matter.
    assert read.end >= 2 or (read.end == 0 and read.problem and not read.values)
    assert 1 <= read.line <= max(read.end, 2)


@law
@given(any_text)
def test_any_comment_reads_to_fields_that_write(text):
    fields, problems = read_comment(f"<!-- memory {text} -->")
    assert all(isinstance(problem, str) for problem in problems)
    written = write_comment(fields)
    assert write_comment(read_comment(written)[0]) == written


@law
@given(any_text)
def test_any_prompt_is_understood(text):
    query = ANALYST.analyse(Turn(text))
    assert query.text == text
    machine_reason(text)
    assert 0 <= code_share(text) <= 1


@law
@given(
    st.one_of(
        any_text, st.dictionaries(st.sampled_from([*Settings.model_fields]), JSON).map(json.dumps)
    )
)
def test_any_settings_file_is_settings_or_an_error_with_a_hint(text):
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder) / "mempalace.yaml"
        config.write_bytes(text.encode("utf-8", "surrogatepass"))
        assert read_or_refused(config)


@law
@given(st.binary(max_size=300))
def test_settings_of_any_bytes_too(data):
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder) / "mempalace.yaml"
        config.write_bytes(data)
        assert read_or_refused(config)


def read_or_refused(config: Path) -> bool:
    """Whether a file is settings, or an error that says what to do."""
    try:
        loaded = load_settings(config=config, env={}, cwd=config.parent)
    except ConfigError as error:
        return bool(error.hint)
    return isinstance(loaded.settings, Settings)


@law
@given(RECORDS)
def test_a_record_reads_back(record):
    line = encode_line(record)
    assert line.count(b"\n") == 1
    assert decode_line(line) == record


@law
@given(
    st.lists(st.one_of(st.binary(max_size=60), RECORDS.map(encode_line)), max_size=6).map(b"".join)
)
def test_any_lines_read_as_records_or_not_at_all(data):
    with tempfile.TemporaryDirectory() as folder:
        for place in ("journal/2026-05.jsonl", "scratch/s.jsonl"):
            file = Path(folder) / place
            file.parent.mkdir()
            file.write_bytes(data)
        lines = list(read_newest_first(file))
        whole = data[: data.rfind(b"\n") + 1]
        assert b"".join(reversed(lines)).replace(b"\n", b"") == whole.replace(b"\n", b"")
        assert all(isinstance(decode_line(line), (dict, type(None))) for line in lines)
        assert all(r["id"] and r["type"] for r in FileJournal(Path(folder) / "journal").records())
        FileScratchpad(Path(folder) / "scratch").entries("s")


@law
@given(
    st.one_of(
        st.binary(max_size=200), st.lists(JSON, max_size=4).map(lambda v: json.dumps(v).encode())
    )
)
def test_any_bytes_stream_as_items_or_a_problem(data):
    items = list(stream_items(io.BytesIO(data)))
    assert all(isinstance(item.problem, str) for item in items)


def settings_or_error(text: str) -> None:
    with contextlib.suppress(ConfigError):
        parse_yaml(text, name="settings")


def newest_first(text: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "lines.jsonl"
        file.write_text(text, encoding="utf-8")
        for line in read_newest_first(file):
            decode_line(line)


READERS: dict[str, Callable[[str], object]] = {
    "page": lambda text: parse("rooms/a/b.md", text),
    "day": lambda text: parse("timeline/2020-01-01.md", text),
    "front matter": lambda text: read_front_matter(["---", *text.split("\n"), "---"]),
    "comment": lambda text: read_comment(f"<!-- memory {text} -->"),
    "marks": find_marks,
    "prompt": lambda text: (ANALYST.analyse(Turn(text)), machine_reason(text), code_share(text)),
    "questions apart": lambda text: list(sentences_apart(f"a{text}b")),
    "lines": newest_first,
    # At most 256 KB are read, and a reader in plain Python is slow: an eighth of the text.
    "settings": lambda text: settings_or_error(text[: len(text) // 8]),
    "list": lambda text: list(stream_items(io.BytesIO(f"[{text}".encode()))),
}
SHAPES = (
    "a", " ", "\n", "- a\n", "> ", "```\n", "`a", "<!--", "<!-- memory id=m-1 -->", "[[", "#a ", "\\", '"',
    "a=1 ", "[", '{"a":', "é語", "- a <!-- memory\n", "[2020-01-01 10:00] A: b\n",
)  # fmt: skip
# Four times the text: linear is 4 times the time, quadratic 16 times.
MOST_TIMES_SLOWER = 8
FLOOR_S = 0.01
LONGEST_S = 0.02


@pytest.mark.parametrize("reader", READERS)
def test_four_times_the_text_takes_four_times_the_time(reader):
    """32 KB, 128 KB, and 512 KB where that is not too long to wait for."""
    read = READERS[reader]
    slow = []
    for shape in SHAPES:
        before = seconds(partial(read, shape * (32 * KB // len(shape.encode()))))
        for size in (128 * KB, 512 * KB):
            most = MOST_TIMES_SLOWER * max(before, FLOOR_S)
            again = partial(read, shape * (size // len(shape.encode())))
            cost = seconds(again)
            if cost > most and (cost := min(cost, seconds(again, tries=3))) > most:
                slow.append((shape, size, before, cost))
            if (before := cost) > LONGEST_S:
                break
    assert slow == []
