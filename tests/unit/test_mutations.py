"""Altered answers made from honest ones."""

from __future__ import annotations

from benchmarks.mutations import mutations

ANSWER = "On 19 May Ines paid 1,250 euros for the two chairs."
KNOWN = "19 May: Ines paid 1,250 euros, 2 chairs"


def test_each_alteration_changes_one_specific_to_one_that_is_unknown():
    made = dict(mutations(ANSWER, KNOWN))
    assert set(made) == {"digits", "month", "name", "word"}
    for altered in made.values():
        changed = [w for w in altered.split() if w not in ANSWER.split()]
        assert len(changed) == 1
        assert changed[0] not in KNOWN


def test_alterations_are_the_same_every_time():
    assert list(mutations(ANSWER, KNOWN)) == list(mutations(ANSWER, KNOWN))


def test_citations_and_numbers_of_lists_are_left_alone():
    assert not list(mutations("1. It is done [12].", "It is done."))
