"""Whether a statement says that something is over or new: "we no longer use Jenkins", "… again".

In: statements. Out: yes or no, by rules over words, precision first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest

import palace.learn.word_classes as lists
from palace.learn.parsed import Parsed, read_statement
from palace.learn.values import Term

# "The tyres of the car", "a lock for the bike": neither is there only while the other is.
_ASIDE = frozenset({"of", "for", "about"})
# When something ended. On Fridays is how often, and what for.
_WHEN = frozenset({"month", "date", "year", "day"})
_HAS = frozenset({"has", "have"})


def ends(stored: Parsed, new: Parsed) -> bool:
    """Whether the new statement only says that what the stored one says is over.

    "We sold the caravan", "she no longer cleans for us": what is over may be a part of what is
    stored, and the new statement may say nothing else.
    """
    denies = new.negated and bool(new.functions & lists.NO_MORE)
    told = [t for t in new.terms if t.kind not in _WHEN]
    over = [t for t in told if not t.subject and (t.retired or denies)]
    # "We switched from Trello to Linear", where "we" use Trello.
    switches = new.first_person and bool(
        new.verbs & lists.CHANGE_VERBS and stored.verbs & lists.HAVING
    )
    if not (denies or switches or _quits(new)) or stored.negated or stored.past:
        return False
    subjects = {t.key for t in new.terms if t.subject} - lists.QUITTING
    if stored.first_person != new.first_person or not subjects <= {stored.terms[0].key}:
        return False
    held = {t.key: t.slot for t in _whole(stored.terms)}
    done = [t for t in over if t.verb]
    things = [t for t in over if t not in done]
    if done and all(t.key in held for t in done):
        return all(held.get(t.key) == t.slot for t in things)
    has = lists.HAVING.issuperset(t.key for t in done) and stored.verbs.isdisjoint(lists.REGARDING)
    # Who moved from Ghent still has customers in Ghent.
    held = {key: slot for key, slot in held.items() if not switches or slot in ("", "a")}
    return has and bool(things) and all(t.key in held for t in things)


def may_be_over(held: Parsed, change: Parsed) -> bool:
    """Whether a change ends what another statement says of the thing that it leaves.

    What happened once, and is told later, does not bring it back. Who moved from Kiel was born
    there all the same, and may have a flat there; who plays the cello instead of the viola may own
    one. What is sold nobody has.
    """
    if not held.changed and (held.past or held.functions & lists.WAS):
        return False
    has = not held.verbs and bool(held.functions & _HAS)
    others = has or held.verbs & lists.LIST_VERBS - change.verbs
    return not others or bool(change.verbs & lists.LEAVING_VERBS)


def tells_news(text: str) -> bool:
    """Whether a statement says of itself that something else was so before: "now", "again"."""
    said = read_statement(text)
    if said.held and said.held.is_news:
        return True
    return "again" in said.functions or (said.changed and "go" not in said.verbs)


def _quits(new: Parsed) -> bool:
    """Whether something is ended, and the statement ends with it: "we cancelled the Economist".

    When that was may follow. "I left the car in Bath" ends nothing.
    """
    told = [t for t in new.terms if t.kind not in _WHEN]
    return any(t.key in lists.QUITTING for t in told) and told[-1].retired


def _whole(terms: Sequence[Term]) -> Iterator[Term]:
    """Yield the terms that end a phrase and are not aside: "Jenkins", but not "Jenkins logs"."""
    for term, after in zip_longest(terms, terms[1:]):
        joined = after is not None and after.at == term.at + 1 and after.key not in lists.HOW_OFTEN
        if (term.verb or not joined) and term.slot not in _ASIDE:
            yield term
