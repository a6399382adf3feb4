"""Whatever the populations: a bar keeps its rate, is the lowest that does, and says what it keeps."""

from __future__ import annotations

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from palace.recall.calibration import lowest_bar, share_reaching, upper_bound
from palace.recall.cloze import cloze_question
from palace.recall.lexicon import load_lexicon
from palace.text import tokens
from tests.doubles import FixedVocabulary, memory

LIGHT = settings(deadline=None, max_examples=60)
confidences = st.lists(st.floats(0, 0.998), max_size=150)
rates = st.sampled_from([0.02, 0.05, 0.1, 0.3])
WORDS = (
    "the Mira paid 40 euros to Holt on 3 May at 9:30 because of blue kettle v2.0 repairs".split()
)


@LIGHT
@given(confidences, rates)
def test_a_bar_keeps_its_rate_and_no_lower_one_does(wrong: list[float], rate: float) -> None:
    bar = lowest_bar(wrong, rate)
    total = len(wrong)
    if bar is None:
        assert upper_bound(0, total) > rate
        return
    assert upper_bound(sum(w >= bar for w in wrong), total) <= rate
    lower = bar - 0.0011
    if lower > 0:
        assert upper_bound(sum(w >= lower for w in wrong), total) > rate
    assert share_reaching(wrong, bar) <= rate


@LIGHT
@given(st.integers(0, 200), st.integers(1, 200))
def test_the_bound_is_above_the_share_and_grows(hits: int, total: int) -> None:
    hits = min(hits, total)
    assert hits / total <= upper_bound(hits, total) <= 1
    assert upper_bound(max(hits - 1, 0), total) <= upper_bound(hits, total)


@LIGHT
@given(
    st.lists(st.sampled_from(WORDS), max_size=20).map(" ".join),
    st.sampled_from(["", "Mira"]),
    st.integers(0, 5),
)
def test_a_question_never_says_its_answer(text: str, speaker: str, seed: int) -> None:
    made = cloze_question(
        memory(text, speaker=speaker),
        load_lexicon("en"),
        FixedVocabulary(),
        rng=random.Random(seed),
    )
    if made is not None:
        assert made.text.endswith("?")
        assert not made.answer <= set(tokens(made.text)) - set(tokens(speaker))
