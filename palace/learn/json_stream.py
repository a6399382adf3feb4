"""The elements of a JSON list, one at a time: a file of any size needs the memory of one element.

In: a binary file. Out: each element with the line it begins at, or why it could not be read.
"""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO

import regex

UTF16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
"""What a text begins with that was saved in UTF-16, as some editors and shells do."""
MAX_ITEM_BYTES = 64 * 1024 * 1024
"""Longest element; a longer one ends the list with a problem."""
_BLOCK_BYTES = 1 << 20
# A string is skipped whole; one that does not end in what was read so far is a lone quote.
_TOKEN = regex.compile(rb'"(?:[^"\\]++|\\.)*+"|["{}\[\],]', regex.DOTALL)


@dataclass(frozen=True, slots=True)
class Item:
    """One element of a list.

    Attributes:
        line: Where it begins, 1-based.
        value: What it is; None with a problem.
        problem: Why it could not be read, for a person, else "".
        end: Byte of the file behind it.
    """

    line: int
    value: Any
    problem: str = ""
    end: int = 0


def stream_items(file: BinaryIO) -> Iterator[Item]:
    """Yield the elements of the JSON list that a file holds.

    A list that is cut off gives what stands before the cut, and an item with the problem.

    Args:
        file: At its beginning; UTF-8, with or without a byte order mark.
    """
    reader = _Reader(file)
    if not reader.enter_list():
        yield Item(1, None, "it is no list")
        return
    yield from reader.items()


def item_in(data: bytes, *, line: int, end: int = 0) -> Item:
    """Return the element that bytes are, or why they are none.

    Args:
        data: One JSON value, blanks around it allowed.
        line: Where it begins, 1-based.
        end: Byte of the file behind it.
    """
    try:
        return Item(line, json.loads(data.decode("utf-8")), end=end)
    except UnicodeDecodeError:
        return Item(line, None, "it is not UTF-8 text", end)
    except json.JSONDecodeError as error:
        return Item(line + error.lineno - 1, None, f"it is not JSON: {error.msg}", end)
    except (ValueError, RecursionError):
        return Item(line, None, "it nests too deeply or holds too large a number", end)


def is_json(text: str | bytes) -> bool:
    """Whether a text is one whole JSON value."""
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


class _Reader:
    """A window on the file that begins with the element being read."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._data = b""
        self._line = 1
        self._offset = 0
        self._ended = False

    def enter_list(self) -> bool:
        while len(self._data) < len(codecs.BOM_UTF8) and not self._ended:
            self._more()
        self._drop(len(self._data) - len(self._data.removeprefix(codecs.BOM_UTF8).lstrip()))
        while not self._data and not self._ended:
            self._more()
            self._drop(len(self._data) - len(self._data.lstrip()))
        if self._data[:1] != b"[":
            return False
        self._drop(1)
        return True

    def items(self) -> Iterator[Item]:
        while True:
            end, closes = self._end_of_item()
            if end < 0:
                what = "it is longer than is read" if not self._ended else "the list never ends"
                yield Item(self._line, None, what, self._offset)
                return
            yield from self._item(self._data[:end])
            self._drop(end + 1)
            if closes:
                return

    def _item(self, data: bytes) -> Iterator[Item]:
        bare = data.strip()
        if not bare:
            return
        line = self._line + data[: len(data) - len(data.lstrip())].count(b"\n")
        yield item_in(bare, line=line, end=self._offset + len(data))

    def _end_of_item(self) -> tuple[int, bool]:
        """Return where the element at hand ends, and whether the list ends with it; -1: never."""
        depth, position = 0, 0
        while True:
            for token in _TOKEN.finditer(self._data, position):
                sign = token[0]
                if sign == b'"' and not self._ended:
                    break
                if sign in (b",", b"]") and depth == 0:
                    return token.start(), sign == b"]"
                depth += (sign in (b"{", b"[")) - (sign in (b"}", b"]"))
                position = token.end()
            if self._ended or len(self._data) > MAX_ITEM_BYTES:
                return -1, False
            self._more()

    def _more(self) -> None:
        # What is read doubles, so that looking again at a long string costs no more than linear.
        block = self._file.read(max(_BLOCK_BYTES, len(self._data)))
        self._ended = not block
        self._data += block

    def _drop(self, count: int) -> None:
        self._line += self._data.count(b"\n", 0, count)
        self._offset += count
        self._data = self._data[count:]
