"""Similar questions are found by an index of their words, as a comparison with all would."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

from hypothesis import given
from hypothesis import strategies as st

from palace.learn.gaps import SIMILAR, find_gaps

NOON = datetime(2026, 3, 14, 12, 0, tzinfo=timezone.utc)
WORDS = ("rent", "boiler", "may", "olga", "paid", "garden", "roof", "17", "18", "v2")
QUESTIONS = st.lists(
    st.tuples(st.sets(st.sampled_from(WORDS), min_size=1), st.booleans()), max_size=30
)


def is_similar(one: set[str], other: set[str]) -> float:
    """Return the share of common words, 0 where a number differs or too little is shared."""
    if any(c.isdigit() for word in one ^ other for c in word):
        return 0.0
    share = len(one & other) / len(one | other)
    return share if share >= SIMILAR else 0.0


def compared_with_all(asked: list[tuple[set[str], bool]]) -> list[tuple[str, ...]]:
    """Return the unanswered groups, each question put to the most similar, of those the newest."""
    groups: list[tuple[set[str], bool, list[str]]] = []
    for number, (words, found) in enumerate(asked):
        best = max(groups, key=lambda group: is_similar(words, group[0]), default=None)
        if best is None or not is_similar(words, best[0]):
            best = (words, found, [])
            groups.append(best)
        if not found:
            best[2].append(f"v-{number}")
    return sorted(tuple(ids) for _, answered, ids in groups if ids and not answered)


@given(QUESTIONS)
def test_groups_are_those_of_a_comparison_with_all(asked: list[tuple[set[str], bool]]) -> None:
    records = [
        {
            "id": f"v-{number}",
            "type": "verdict",
            "at": (NOON - timedelta(hours=number)).isoformat(),
            "outcome": "hit" if found else "nothing_stored",
            "prompt": " ".join(sorted(words)),
        }
        for number, (words, found) in enumerate(asked)
    ]
    gaps = find_gaps(records, terms=str.split).gaps
    assert sorted(gap.verdicts for gap in gaps) == compared_with_all(asked)
