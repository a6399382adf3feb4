"""A list of any size, an element at a time."""

from __future__ import annotations

import io
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from palace.learn import json_stream
from palace.learn.json_stream import stream_items

_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=6),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(
    items=st.lists(_JSON, max_size=5), indent=st.sampled_from([None, 1]), block=st.integers(1, 9)
)
@settings(deadline=None, max_examples=40)
def test_the_elements_are_those_of_the_list(items, indent, block):
    text = json.dumps(items, indent=indent, ensure_ascii=False)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_stream, "_BLOCK_BYTES", block)
        found = list(stream_items(io.BytesIO(b"\xef\xbb\xbf \n" + text.encode())))
    assert [item.value for item in found] == items
    assert not any(item.problem for item in found)


def test_lines_and_problems_are_named():
    text = b'[\n{"a": "]},["},\n\n 2,\n{x},\n"\xff"\n, [1'
    found = [(i.line, i.value, i.problem) for i in stream_items(io.BytesIO(text))]
    assert found[:2] == [(2, {"a": "]},["}, ""), (4, 2, "")]
    assert [(line, problem.split(":")[0]) for line, _, problem in found[2:]] == [
        (5, "it is not JSON"),
        (6, "it is not UTF-8 text"),
        (7, "the list never ends"),
    ]


@pytest.mark.parametrize("text", [b"", b"{}", b"x", b"\x00"])
def test_what_is_no_list_is_a_problem(text):
    assert [i.problem for i in stream_items(io.BytesIO(text))] == ["it is no list"]


def test_an_element_has_a_longest_size(monkeypatch):
    text = b'[1, "' + b"x" * 3_000_000 + b'", 2]'
    monkeypatch.setattr("palace.learn.json_stream.MAX_ITEM_BYTES", 1_000_000)
    found = list(stream_items(io.BytesIO(text)))
    assert [i.problem for i in found] == ["", "it is longer than is read"]
