"""Sentences that have to do with no question."""

from __future__ import annotations

from itertools import combinations

from palace.recall.lexicon import word_tokens
from palace.recall.unrelated import UNRELATED
from palace.text import tokens


def test_no_two_sentences_share_more_than_a_word() -> None:
    content = [set(tokens(sentence)) - word_tokens("stopwords") for sentence in UNRELATED]
    assert all(content)
    assert [one & other for one, other in combinations(content, 2) if len(one & other) > 1] == []
