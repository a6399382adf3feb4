"""The labelled pairs: the goals hold on what nobody tuned on, and unrelated facts raise no alarm."""

from __future__ import annotations

import json
import math
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from benchmarks.datasets import BadDataError
from benchmarks.pairs import LABELS, judged, load_pairs, other_facts, table
from palace.learn.conflict import find_conflicts
from palace.learn.dedup import find_duplicate
from tests.doubles import memory

PAIRS = load_pairs()
UNTUNED = ("held_out", "last_check", "first_look")


def test_every_part_has_pairs_of_every_class_and_none_twice() -> None:
    splits = Counter((p.split, p.label) for p in PAIRS)
    assert {s for s, _ in splits} == {"dev", "held_out", "styles", "last_check", "first_look"}
    assert all(splits[s, label] >= 15 for s, _ in splits for label in LABELS)
    assert len({(p.stored, p.new) for p in PAIRS}) == len(PAIRS) == len({p.id for p in PAIRS})
    held_out = {p.domain for p in PAIRS if p.split == "held_out"}
    assert held_out.isdisjoint(p.domain for p in PAIRS if p.split == "dev")


def test_the_goals_hold_on_the_held_out_half() -> None:
    numbers = table([(p, judged(p)) for p in PAIRS if p.split in UNTUNED])
    assert numbers["conflict"]["precision"] >= 0.9
    assert numbers["conflict"]["recall"] >= 0.8
    assert numbers["duplicate"]["precision"] == 1.0


def test_an_alarm_about_another_memory_counts_against_precision() -> None:
    pair = next(p for p in PAIRS if p.label == "conflict")
    numbers = table([(pair, "conflict"), (pair, "wrong conflict")])
    assert numbers["conflict"] == {"precision": 0.5, "recall": 0.5}
    assert math.isnan(numbers["duplicate"]["recall"])


def test_facts_about_one_thing_never_retire_each_other() -> None:
    facts = other_facts(1000)
    about_one = [f for f in facts if f.startswith("The cold store ")]
    assert len(about_one) > 30
    for number, fact in enumerate(about_one):
        held = [memory(text, n) for n, text in enumerate(about_one) if n != number]
        assert find_conflicts(fact, held) == []
        assert find_duplicate(fact, held) is None


def written(folder: Path, **changes: Any) -> Path:
    pair = {"id": "a", "split": "own", "domain": "d", "style": "s", "label": "conflict"}
    pair |= {"tag": "t", "stored": "It is 5.", "new": "It is 6."}
    path = folder / "pairs.jsonl"
    path.write_text(json.dumps(pair | changes), "utf-8")
    return path


def test_a_pair_may_hold_more_than_is_read(tmp_path: Path) -> None:
    assert [p.id for p in load_pairs(written(tmp_path, note="seen on Monday"))] == ["a"]


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"label": "maybe"}, "line 1: label 'maybe' is none of duplicate, conflict, unrelated"),
        ({"new": None}, "line 1: new is no text: None"),
    ],
)
def test_a_wrong_pair_is_named(tmp_path: Path, changes: dict[str, Any], told: str) -> None:
    with pytest.raises(BadDataError, match=told):
        load_pairs(written(tmp_path, **changes))
