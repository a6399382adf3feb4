"""How two statements stand to each other: the same, one contradicting the other, or neither.

In: two statements. Out: a `Comparison`. Pure rules over words and values, no model, precision
first: two facts that merely resemble each other are `unrelated`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import palace.learn.word_classes as lists
from palace.learn.dense import both_hold, differ_in_values, differing
from palace.learn.ending import ends, may_be_over
from palace.learn.held import contradicting
from palace.learn.parsed import Parsed, is_past_form
from palace.learn.values import Term, are_equal
from palace.learn.word_classes import opposites_of
from palace.text import stem

Relation = Literal["same", "conflict", "doubtful", "unrelated"]


@dataclass(frozen=True, slots=True)
class Comparison:
    """What two statements are to each other.

    Attributes:
        relation: `doubtful` is close and undecided: what a judge may be asked about.
        old: What the stored statement says that the new one does not.
        new: What the new statement says instead.
    """

    relation: Relation
    old: str = ""
    new: str = ""


@dataclass(frozen=True, slots=True)
class _Aligned:
    """Two statements side by side: what they share and what is left over on each side."""

    stored: Parsed
    new: Parsed
    shared: tuple[tuple[Term, Term], ...]
    old_rest: tuple[Term, ...]
    new_rest: tuple[Term, ...]

    @property
    def rests(self) -> tuple[Term, ...]:
        return self.old_rest + self.new_rest


def compare(stored: Parsed, new: Parsed) -> Comparison:
    """Compare two statements; a text too long to be one is unrelated to everything."""
    if not (stored.whole and new.whole and stored.terms and new.terms):
        return Comparison("unrelated")
    if (known := _uncut(stored, new)) is not None:
        return known
    pair = _align(stored, new)
    relation = _relation(pair)
    if stored.negated != new.negated:
        return Comparison(relation, *(f"it is {'not ' * s.negated}so" for s in (stored, new)))
    turned = _opposed_slots(pair) or ("", "")
    return Comparison(
        relation, _said(pair.old_rest) or turned[0], _said(pair.new_rest) or turned[1]
    )


def _uncut(stored: Parsed, new: Parsed) -> Comparison | None:
    """Compare two statements in writing whose words are not cut; None where that tells nothing."""
    if stored.frame and new.frame and differ_in_values(stored.frame, new.frame):
        if both_hold(stored.frame, new.frame):
            return Comparison("unrelated")
        if values := differing(stored.frame, new.frame):
            return Comparison("conflict", *values)
    if stored.held and new.held and (values := contradicting(stored.held, new.held)):
        return Comparison("conflict", *values)
    return None


def may_be_same(one: Parsed, other: Parsed) -> bool:
    """Whether `compare` could call two statements the same; where not, it is known at once.

    Of what one side alone has, a word or two that add nothing may be left over, see `_only_light`.
    """
    sides = (one, other), (other, one)
    if any(key not in lists.LIGHT for side in sides for key in _alone(*side)):
        return False
    return not all(any(True for _ in _alone(*side)) for side in sides)


def tell_alike(one: Parsed, other: Parsed) -> bool:
    """Whether no small word of one side alone tells something: before or after, is or was."""
    if one.functions & lists.TELLING != other.functions & lists.TELLING:
        return False
    # "The gate's locked" is not past, and "may borrow" is "may be borrowed".
    return one.past == other.past or bool((one.functions | other.functions) & lists.AUXILIARIES)


def _alone(one: Parsed, other: Parsed) -> Iterator[str]:
    """Yield the keys of the terms that nothing of the other statement equals."""
    for term, handles in zip(one.terms, one.handles, strict=True):
        if handles.isdisjoint(other.known):
            yield term.key


def _said(terms: Sequence[Term]) -> str:
    told = [t for t in terms if t.key not in lists.CHANGE_VERBS] or terms
    return " ".join(t.surface for t in told)


def _relation(pair: _Aligned) -> Relation:
    if ends(pair.stored, pair.new) or ends(pair.new, pair.stored):
        return "conflict"
    if _different_subject(pair):
        return "unrelated"
    if not pair.rests or _only_light(pair):
        return _without_rests(pair)
    return _by_rests(pair) if _enough(pair) else "unrelated"


def _by_rests(pair: _Aligned) -> Relation:
    if _retires(pair):
        return "conflict"
    if pair.stored.negated != pair.new.negated:
        return "conflict" if _denies(pair) else "unrelated"
    return "conflict" if _opposed(pair) else _by_values(pair)


def _without_rests(pair: _Aligned) -> Relation:
    if pair.stored.negated != pair.new.negated:
        return "conflict"
    if not tell_alike(pair.stored, pair.new):
        return "conflict" if _opposed_slots(pair) else "doubtful"
    return "same" if _same_order(pair) else "unrelated"


def _opposed_slots(pair: _Aligned) -> tuple[str, str] | None:
    """Return how the same is told the other way round: "before" it here and "after" it there."""
    slots = ((a.slot, b.slot) for a, b in pair.shared)
    return next(((a, b) for a, b in slots if stem(a) in opposites_of(stem(b))), None)


def _only_light(pair: _Aligned) -> bool:
    """Whether one side has a word or two more that add nothing to what is shared."""
    if pair.old_rest and pair.new_rest:
        return False
    return len(pair.shared) >= 2 and all(t.key in lists.LIGHT for t in pair.rests)


# -- alignment ----------------------------------------------------------------------------------


def _align(stored: Parsed, new: Parsed) -> _Aligned:
    left = list(new.terms)
    shared: list[tuple[Term, Term]] = []
    rest: list[Term] = []
    for term in stored.terms:
        match = _partner_of(term, left)
        if match is None:
            rest.append(term)
        else:
            left.remove(match)
            shared.append((term, match))
    apart = [pair for pair in shared if _is_crossed(*pair, rest)]
    old_rest, new_rest = (*rest, *(a for a, _ in apart)), (*left, *(b for _, b in apart))
    return _Aligned(stored, new, tuple(shared), old_rest, new_rest)


def _is_crossed(one: Term, other: Term, rest: Sequence[Term]) -> bool:
    """Whether one number names a thing here and counts there: "locker 1 has 7", "locker 7 has 9".

    Then another number is left over.
    """
    crosses = one.kind == "number" and one.subject != other.subject
    return crosses and any(t.kind == "number" for t in rest)


def _partner_of(term: Term, others: Sequence[Term]) -> Term | None:
    return next((t for t in others if are_equal(term, t) and term.retired == t.retired), None)


# -- the same subject ---------------------------------------------------------------------------


def _different_subject(pair: _Aligned) -> bool:
    stored, new = pair.stored, pair.new
    owners = {stored.owner, new.owner} - {""}
    if len(owners) > 1:
        return True
    doers = _names_doers(pair)
    over = _over(new)

    def is_about(term: Term) -> bool:
        # "Joost works the early shift instead of Malin" is about the shift.
        return term.subject and not (doers and _is_doer(term)) and term.key not in over

    old = [t for t in pair.old_rest if is_about(t)]
    ours = [t for t in pair.new_rest if is_about(t)]
    return bool(old and ours) and not _opposite_terms(old, ours)


def _names_doers(pair: _Aligned) -> bool:
    """Whether a subject may itself be the value: "Priya leads the team", "Lotte is the captain"."""
    return bool(pair.stored.verbs & pair.new.verbs & lists.ROLE_VERBS) or _names_office(pair)


def _is_doer(term: Term) -> bool:
    """Whether a subject names somebody.

    A number or code before the verb says which one is meant: "room B12", "line U2 runs".
    """
    return term.kind == "word" and term.surface[0].isupper()


def _names_office(pair: _Aligned) -> bool:
    """Whether both say who holds an office that one person holds at a time."""
    both = pair.stored, pair.new
    plain = not any(s.verbs or s.functions & _INDEFINITE for s in both)
    return plain and any(a.key in lists.OFFICES and not a.subject for a, _ in pair.shared)


_INDEFINITE = frozenset({"a", "an"})


def _soft(term: Term) -> bool:
    return term.key in lists.CHANGE_VERBS or term.key in ("up", "down") or term.retired


def _opposite_terms(old: Sequence[Term], new: Sequence[Term]) -> bool:
    keys = {a.key for a in old}
    return not all(keys.isdisjoint(opposites_of(b.key)) for b in new)


def _enough(pair: _Aligned) -> bool:
    """Whether what is shared is enough to speak of one thing."""
    if any(a.kind == "word" for a, _ in pair.shared):
        return True
    both = pair.stored.first_person and pair.new.first_person
    return both and (bool(pair.shared) or _moves_house(pair))


def _moves_house(pair: _Aligned) -> bool:
    """Whether "I moved to X" meets "I live in Y": nothing else is shared."""
    verbs = pair.stored.verbs, pair.new.verbs
    return any(
        one & lists.DWELLING and other & lists.CHANGE_VERBS for one, other in (verbs, verbs[::-1])
    ) and all(_is_verb(t) or t.slot in lists.PLACES for t in pair.rests)


def _same_order(pair: _Aligned) -> bool:
    order = [pair.new.terms.index(b) for _, b in pair.shared]
    if order == sorted(order):
        return pair.stored.passive == pair.new.passive
    if pair.stored.passive != pair.new.passive:
        return True
    return _is_rotation(order, [a for a, _ in pair.shared])


def _is_rotation(order: Sequence[int], terms: Sequence[Term]) -> bool:
    """Whether one part of the statement merely moved: "on Thursdays …", "… on Thursdays"."""
    start, end = 0, len(order)
    while order[start] == start:
        start += 1
    while order[end - 1] == end - 1:
        end -= 1
    middle = list(order[start:end])
    cut = middle.index(min(middle))
    if middle[cut:] + middle[:cut] != sorted(middle):
        return False
    blocks = terms[start : start + cut], terms[start + cut : end]
    whole = start == 0 and end == len(order) and len(order) > 2
    values = [{_value_kind(t) for t in block} - {""} for block in blocks]
    return whole or not values[0] & values[1]


def _value_kind(term: Term) -> str:
    return ("name" if term.name else "") if term.kind == "word" else term.kind


# -- contradictions -----------------------------------------------------------------------------


def _opposed(pair: _Aligned) -> bool:
    """Whether a word of one side excludes a word of the other, and little else differs."""
    for a in pair.old_rest:
        for b in pair.new_rest:
            if a.key in opposites_of(b.key):
                others = [t for t in pair.rests if t not in (a, b) and not _light(t)]
                return len(others) <= 1
    return False


def _light(term: Term) -> bool:
    return term.key in lists.CHANGE_VERBS or term.key in lists.LIGHT_BESIDE_OPPOSITES


def _retires(pair: _Aligned) -> bool:
    """Whether one statement names what the other tells as over: "switched from X to Y".

    All of it: the Saturday shifts are not what is on Saturdays.
    """
    both = pair.stored, pair.new
    told = ((both, pair.new_rest), (both[::-1], pair.old_rest))
    return any(
        over <= {t.key for t in rest} and may_be_over(held, change)
        for (change, held), rest in told
        if (over := _over(change))
    )


def _over(statement: Parsed) -> set[str]:
    """Return what a statement says is no more."""
    return {t.key for t in statement.terms if t.retired}


def _denies(pair: _Aligned) -> bool:
    """Whether what one side denies is what the other says, and not more or less of it."""
    return all(map(_light, pair.rests)) or (pair.new.changed and len(pair.rests) <= 1)


def _by_values(pair: _Aligned) -> Relation:
    old = [t for t in pair.old_rest if not _soft(t)]
    new = [t for t in pair.new_rest if not _soft(t)]
    qualified = [bool(s.functions & lists.QUALIFIERS) for s in (pair.stored, pair.new)]
    if not old or not new or qualified[0] != qualified[1] or _apart_in_time(old, new, pair):
        return "unrelated"
    told_apart = _has_code_and_more(old) or _has_code_and_more(new)
    typed, old, new = _take_typed_pairs(old, new)
    if typed is None:
        return "unrelated"
    if told_apart:
        return "doubtful"
    slots, old, new = _take_slot_pairs(old, new, pair, strict=typed > 0)
    if typed and all(t.key in lists.LASTING and not t.subject for t in (*old, *new)):
        old, new = [], []  # "lasts two weeks", "is three weeks long"
    # "The parallel class" is another class than "our class".
    narrowed = any(t.subject and not t.verb and t.key != "new" for t in (*old, *new))
    close = not (old and new) and len(old) + len(new) <= 2 and _one_thing(pair, typed + slots)
    if close and not narrowed:
        return "conflict"
    return "unrelated" if typed else "doubtful"


def _has_code_and_more(terms: Sequence[Term]) -> bool:
    """Whether a code only says of what another value is told: "paid INV-88 with 300 euros"."""
    kinds = {term.kind for term in terms} - {"word"}
    return "code" in kinds and len(kinds) > 1


def _one_thing(pair: _Aligned, values: int) -> bool:
    """Whether a thing is named beside the verb, or a verb alone is shared and one value differs."""
    things = [(a, b) for a, b in pair.shared if not _is_verb(a)]
    if things:
        # "Our vet is Ann", "Ben is our vet".
        turned = pair.stored.copula or pair.new.copula
        return turned or any(a.subject == b.subject for a, b in things)
    told = all(said.past for said in (pair.stored, pair.new))
    return not told and (values == 1 or _are_addresses(pair))


def _are_addresses(pair: _Aligned) -> bool:
    """Whether it is told where somebody lives: a street and its number are one value."""
    return all(
        [t.slot in lists.PLACES for t in rest if t.slot] == [True] and not any(t.unit for t in rest)
        for rest in (pair.old_rest, pair.new_rest)
    )


def _is_verb(term: Term) -> bool:
    return term.verb and not term.subject


_TIMES = frozenset({"date", "year", "weekday", "month", "day", "ordinal"})


def _apart_in_time(old: Sequence[Term], new: Sequence[Term], pair: _Aligned) -> bool:
    """Whether both may be true, each at its own time."""
    old_times = {t.kind for t in old if t.kind in _TIMES}
    new_times = {t.kind for t in new if t.kind in _TIMES}
    told = pair.stored.past, pair.new.past
    once = (old_times and told[0] and not new_times) or (new_times and told[1] and not old_times)
    if once or _is_seasonal(old) or _is_seasonal(new):
        return True
    both = old_times & new_times
    if not both:
        return _was_and_is(pair)
    if "day" in both or _is_periodic(old) or _is_periodic(new):
        return True
    if any(a.kind in ("version", "code") for a, _ in pair.shared):
        return False  # 4.1.0 is shipped once
    last = [bool(s.functions & lists.FORMER) for s in (pair.stored, pair.new)]
    return all(told) or (any(told) and last[0] != last[1]) or _was_and_is(pair)


def _was_and_is(pair: _Aligned) -> bool:
    """Whether one tells how it was, the other how it is; a change ("was moved to") tells both."""
    both = (pair.stored, pair.new)
    if any("to" in said.functions for said in both):
        return False
    told = {(bool(said.functions & lists.WAS), bool(said.functions & lists.IS)) for said in both}
    forms = ((a.surface.lower(), b.surface.lower()) for a, b in pair.shared)
    return told == {(True, False), (False, True)} or any(
        is_past_form(a) != is_past_form(b)
        for a, b in forms  # "lived", "live"
    )


def _is_seasonal(terms: Sequence[Term]) -> bool:
    """Whether a value is told of a season: "lives in Kiel in summer", but not "is in summer"."""
    told = [t.key in lists.SEASONS and t.slot in _DURING for t in terms]
    return any(told) and not all(told)


def _is_periodic(terms: Sequence[Term]) -> bool:
    """Whether a value is told of a month or a year: "3 euros in March"."""
    told = any(t.kind in ("month", "year") and t.slot in _DURING for t in terms)
    return told and any(t.kind in ("number", "clock") for t in terms)


_DURING = frozenset({"in", "im", "during"})


def _take_typed_pairs(
    old: Sequence[Term], new: Sequence[Term]
) -> tuple[int | None, list[Term], list[Term]]:
    """Pair numbers with numbers, dates with dates; None where they measure different things."""
    count = 0
    left_old, left_new = [], list(new)
    for term in old:
        partner = next((t for t in left_new if _comparable(term, t)), None)
        if term.kind == "word" or partner is None:
            left_old.append(term)
            continue
        left_new.remove(partner)
        count += 1
    if any(t.kind != "word" for t in left_old) and any(t.kind != "word" for t in left_new):
        return None, left_old, left_new
    return count, left_old, left_new


_ALIKE = (
    frozenset({"number", "version"}),
    frozenset({"date", "weekday"}),
    frozenset({"number", "year"}),
)


def _comparable(one: Term, other: Term) -> bool:
    if one.kind != other.kind:
        measured = any(t.unit for t in (one, other) if t.kind == "number")
        return frozenset({one.kind, other.kind}) in _ALIKE and not measured
    if one.kind == "number" and one.unit and other.unit:
        return one.unit.split(":")[0] == other.unit.split(":")[0]
    return True


def _take_slot_pairs(
    old: Sequence[Term], new: Sequence[Term], pair: _Aligned, *, strict: bool
) -> tuple[int, list[Term], list[Term]]:
    """Pair phrases that fill the same slot, where only one thing can fill it.

    Beside a number that differs (`strict`) only names and phrases with a preposition are paired:
    "port 5432" and "3 replicas" are two attributes, "10:00 in Leipzig" and "9:00 in Ghent" are one.
    """
    old_phrases, new_phrases = _phrases(old), _phrases(new)
    count = 0
    for phrase in list(old_phrases):
        partner = _partner(phrase, new_phrases, pair, strict=strict)
        if partner is not None:
            old_phrases.remove(phrase)
            new_phrases.remove(partner)
            count += 1
    return count, [t for p in old_phrases for t in p], [t for p in new_phrases for t in p]


def _partner(
    phrase: Sequence[Term], others: Sequence[list[Term]], pair: _Aligned, *, strict: bool
) -> list[Term] | None:
    """Return the phrase that fills the same slot, one of the same part of the sentence first."""
    for other in sorted(others, key=lambda p: p[0].subject != phrase[0].subject):
        named = phrase[0].name and other[0].name
        if strict and phrase[0].slot in ("", "a") and not named:
            continue
        if _excludes(phrase, other, pair):
            return other
    return None


def _phrases(terms: Sequence[Term]) -> list[list[Term]]:
    """Group the terms that stand together."""
    phrases: list[list[Term]] = []
    for term in terms:
        last = phrases[-1][-1] if phrases else term
        if last is term or term.slot or term.at > last.at + 2 or _is_verb(last):
            phrases.append([term])
        else:
            phrases[-1].append(term)
    return phrases


def _excludes(old: Sequence[Term], new: Sequence[Term], pair: _Aligned) -> bool:
    if not _slots_agree(old, new, pair):
        return False
    kinds = {"word", "number"} if old[0].slot in lists.PLACES else {"word"}
    if not {t.kind for t in (*old, *new)} <= kinds or _is_verb(old[0]) or _is_verb(new[0]):
        return False
    if (pair.stored.verbs | pair.new.verbs) & lists.LIST_VERBS:
        return False
    one, other = ({lists.CLOSED_CLASSES.get(t.key) for t in side} for side in (old, new))
    return bool((one & other) - {None}) or _functional(old, new, pair)


def _slots_agree(old: Sequence[Term], new: Sequence[Term], pair: _Aligned) -> bool:
    """Whether two phrases say the same sort of thing, so that one of them may exclude the other.

    Who is on leave may be in Cork, and what is in Cork may be near the station. What is new is told
    as it comes: "we park in the garage now", where it was "on Elm Street".
    """
    slots = old[0].slot, new[0].slot
    if "to" in slots and (pair.stored.verbs | pair.new.verbs) & lists.CHANGE_VERBS:
        return may_be_over(pair.stored, pair.new) and may_be_over(pair.new, pair.stored)
    if not lists.PLACES.issuperset(slots):
        return slots[0] == slots[1]
    told = _how_told(old), _how_told(new)
    alike = told[0] == told[1] and (slots[0] == slots[1] or told[0] == "thing")
    return alike or pair.stored.changed or pair.new.changed


def _how_told(place: Sequence[Term]) -> str:
    """Return how a place is told: as a thing, by a name, or in a word that may tell a state."""
    is_thing = not place[0].bare or any(t.kind == "number" for t in place)
    return "thing" if is_thing else "name" if place[0].name else "state"


def _functional(old: Sequence[Term], new: Sequence[Term], pair: _Aligned) -> bool:
    """Whether only one thing can stand here: an attribute, a role, a place."""
    verbs = pair.stored.verbs & pair.new.verbs
    if pair.stored.labelled and pair.new.labelled:
        return True
    if pair.stored.copula and pair.new.copula and not verbs:
        keys = {a.key for a, _ in pair.shared}
        if keys & lists.ATTRIBUTES or old[0].slot in lists.PLACES - {"to"}:
            return True
        return all(p[0].name for p in (old, new))
    changes = (pair.stored.verbs | pair.new.verbs) & lists.CHANGE_VERBS - {"go"}  # "goes to school"
    exclusive = bool(verbs & lists.EXCLUSIVE_VERBS or changes)
    return exclusive and not (pair.stored.past or pair.new.past)
