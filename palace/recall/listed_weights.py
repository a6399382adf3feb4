"""Weights of many thousand names, of which a prompt says a hundred.

In: a file with a name, a tab and a weight on each line, in the order of its bytes. Out: a mapping.
To read all of them takes a twentieth of what the whole command `palace ask` does, so the first
questions of a process find theirs among the lines; who goes on asking gets them all as a `dict`.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping

# To read all costs as much as to find so many.
_WORTH_READING_ALL = 10_000
# A name may hold the end of a line; no word, number or stop is this sign.
_LINE_END = "↵"


class ListedWeights(Mapping[str, float]):
    """Weights that are found among the lines of a file until many have been asked for.

    Args:
        written: What `listed` returned, as UTF-8.
        more: Weights that stand elsewhere.
    """

    def __init__(self, written: bytes, more: Mapping[str, float]) -> None:
        self._written = written.rstrip(b"\n")
        self._more = more
        self._lines = self._written.split(b"\n")
        self._asked = 0
        self._all: dict[str, float] | None = None

    def __getitem__(self, name: str) -> float:
        lines, every = self._lines, self._all  # in this order: another thread may read all
        if every is not None:
            return every[name]
        if name in self._more:
            return self._more[name]
        self._asked += 1
        begin = f"{name.replace(chr(10), _LINE_END)}\t".encode()
        place = bisect_left(lines, begin)
        if place == len(lines) or not lines[place].startswith(begin):
            raise KeyError(name)
        return float(lines[place][len(begin) :])

    def __iter__(self) -> Iterator[str]:
        return iter(self._read())

    def __len__(self) -> int:
        return len(self._read())

    def quickest(self) -> Mapping[str, float]:
        """Return the same weights as they are found most quickly from now on."""
        return self if self._all is None and self._asked < _WORTH_READING_ALL else self._read()

    def _read(self) -> dict[str, float]:
        if self._all is None:
            text = self._written.decode().replace("\n", "\t").replace(_LINE_END, "\n")
            fields = text.split("\t") if text else []
            read = dict(zip(fields[::2], map(float, fields[1::2]), strict=True))
            self._all = {**self._more, **read}
            self._lines = []
        return self._all


def listed(weights: Mapping[str, float]) -> str:
    """Return the text of a file of weights."""
    lines = [f"{name.replace(chr(10), _LINE_END)}\t{w}\n" for name, w in weights.items()]
    return "".join(sorted(lines, key=str.encode))
