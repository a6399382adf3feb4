"""The generated palaces of the speed benchmark: the same every time, with words spread as usual."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from benchmarks import rivals
from benchmarks.generated import Words, drawers, questions, write_palace
from palace import Mempalace

WORDS = 3000


@pytest.fixture(autouse=True)
def _few_words(monkeypatch: pytest.MonkeyPatch) -> None:
    made = Words(5, size=WORDS)
    monkeypatch.setattr("benchmarks.generated.Words", lambda seed: made)


def test_a_smaller_palace_is_the_beginning_of_a_larger() -> None:
    small, large = (list(drawers(n, seed=5)) for n in (150, 450))
    assert sum(len(found) for _, found in large) == 450
    assert large[0][1][:150] == small[0][1]
    assert list(drawers(450, seed=5)) == large


def test_few_words_are_frequent_and_many_are_rare() -> None:
    words = Words(5, size=WORDS)
    said = Counter(
        word
        for _, found in drawers(2000, seed=5)
        for text in found
        for word in {w.strip(".") for w in text.split()}
        if word in words.known
    )
    counts = sorted(said.values(), reverse=True)
    assert counts[0] > 20 * counts[len(counts) // 2]
    assert max(counts) < 600  # function words apart, nothing stands in a third of all memories


def test_a_palace_holds_what_was_written(tmp_path: Path) -> None:
    write_palace(tmp_path, 250, seed=5)
    sample = [text for _, found in drawers(250, seed=5) for text in found]
    asked = questions(sample, 40, seed=5)
    assert len({question.split()[0] for question in asked}) > 4
    assert "{" not in "".join(asked)
    with Mempalace.open(tmp_path) as palace:
        assert palace.index.size() == 250
        hits = palace.search(sample[3], top_k=1)
        assert hits[0].memory.text == sample[3]


def test_a_search_that_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(statements: object) -> rivals.Ask:
        raise ModuleNotFoundError("no module", name="nowhere")

    monkeypatch.setattr(
        rivals,
        "RIVALS",
        (("plain", rivals.plain_fts5, 10), ("gone", missing, 10), ("slow", missing, 1)),
    )
    found = dict(rivals.measured(["a kettle", "a lamp"], ["kettle", ""]))
    assert found["plain"]["search_ms"]["questions"] == 2
    assert found["gone"] == {"left_out": "not installed: nowhere"}
    assert "left_out" in found["slow"]
