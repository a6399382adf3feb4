"""Judge one sentence of an answer: what in it stands in the evidence, and what does not.

In: a sentence and what may be said. Out: the unsupported pieces, as written; none if it holds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import regex

from palace.enforce.answer_words import (
    answer_words,
    is_content,
    is_framing,
    read_words,
    unknown_spans,
)
from palace.enforce.arithmetic import says_nothing
from palace.enforce.citations import CITATION, called_by_number, citations_in
from palace.enforce.dates import find_dates, find_weekdays
from palace.enforce.grounds import Grounds
from palace.enforce.intervals import other_intervals, other_rates
from palace.enforce.polarity import affirms_denied, contradicts, has_opposites
from palace.enforce.quantities import SaidNumber, find_quantities, read_quantities
from palace.enforce.quantity import Quantity
from palace.enforce.shorthand import short_dates, short_quantities
from palace.enforce.specifics import (
    find_names,
    find_specifics,
    is_inside,
    is_negated,
)
from palace.enforce.spoken import minutes_past
from palace.enforce.strangers import is_spelled, strangers
from palace.enforce.support import Support
from palace.enforce.swapped import other_sides, swapped, turned_round
from palace.recall.related import translated
from palace.text import Word, fold, month_token

_MARKS = regex.compile(r"\A\s*(?:[-*+•>]\s+|#{1,6}\s+|\d{1,3}[.)]\s+|\|)+")
_DAY_OF_MONTH = regex.compile(r"(?:0?[1-9]|[12]\d|3[01])\.\s$")
_MONTH_WORD = regex.compile(r"\p{L}{3,10}\b")
_AT = regex.compile(
    r"\b(?:at|by|until|till|before|after|from|to|um|bis|ab|vor|nach|à|as?|las|alle|om)\s$",
    regex.IGNORECASE,
)
_DAYTIME = regex.compile(r"\s(?:in|at) |\s\p{L}+s\Z")
# "neuf heures et demie" is a time of day or a time taken.
_HOURS = regex.compile(
    r"\s?(?:heures?|h|horas|ore|uur)(?:\s(?:et|y|e)\s\p{L}+)?\Z", regex.IGNORECASE
)
_ONE = Quantity((1.0,), text="one")  # read alone it is a pronoun
# Each alone would be a small count: "4 7 1 1".
_DIGIT_BY_DIGIT = regex.compile(
    r"(?<![\w.,:/-])\d(?:(?:[ \u00a0][-–])?[ \u00a0\n]\d){3,}+(?!\w|[.,:/-]\d)"
)
_PLURAL = regex.compile(r"\d+(?:\.\d+)?s")
_TO = regex.compile(r"\b(?:to|auf|à|a|naar)\s$", regex.IGNORECASE)
_COMPARED = regex.compile(
    r"\s?(?:more|less|fewer|mehr|weniger|de plus|de moins|más|menos|di più|in meno|meer|minder)\b",
    regex.IGNORECASE,
)
_BUT = regex.compile(r",?\s(?:but|aber|mais|pero|però|ma|mas|maar|но)\s", regex.IGNORECASE)
_MARKUP = regex.compile(r"[*_#|>]{1,3}")
# Fitted on the dev split of benchmarks/data/answers.jsonl; see docs/decisions/0003-answers.md.
LEAST_COVERED = 0.3
# Where not all is English, fewer words of the same meaning are known.
LEAST_COVERED_ELSEWHERE = 0.15
STRICT_LEAST_COVERED = 0.75
BRIEF_WORDS = 1
LABEL_WORDS = 3
_RESEMBLES_WEIGHT = 0.7
# A heading or the label of a list.
_LABEL = regex.compile(
    r"\A\s*(?:#{1,6}[ \t][^\n]+|\*\*[^\n*.!?|]{1,60}\*\*"
    r"|(?:[-*+•][ \t]+|\d{1,2}[.)][ \t]+)?[*_]*[^\n.!?|:]{1,60}:[*_]*)\s*\Z"
)


@dataclass(frozen=True, slots=True)
class Judged:
    """What became of one sentence.

    Attributes:
        unsupported: Its pieces that stand nowhere.
        citations: Numbers of the evidence it cites.
        lone: Its only word, where that stands nowhere: too little to judge beside
            others ("Brilliantly!"), an answer of its own without them ("Lisbon.").
        claims: Whether it says more than such a word or a courtesy.
    """

    unsupported: tuple[str, ...] = ()
    citations: tuple[int, ...] = ()
    lone: str = ""
    claims: bool = True


def judge(sentence: str, grounds: Grounds, before: str = "") -> Judged:
    """Judge one sentence of an answer.

    First, what it cites must exist, and what is exact in it stand there. Where all of that holds
    and something is claimed, nothing in it may be of another or in another's place, and its words
    must stand there and deny nothing.

    Args:
        sentence: As the model wrote it, marks of lists and citations included.
        grounds: What it may rest on.
        before: What was said and holds so far: its numbers may be worked on.
    """
    bare, cited, missing = _without_citations(sentence, grounds)
    marked = _mark_chars(bare, german=grounds.has_german_dates)
    bare = " " * marked + bare[marked:]
    if not missing and answer_words().courtesies.fullmatch(fold(bare)):
        return Judged((), cited, claims=False)
    support = _support_of(bare, cited, grounds)
    wrong, taken = _specifics_missing(
        bare, support, german=grounds.is_german, before=f"{grounds.question}\n{before}"
    )
    if grounds.foreign_texts:
        wrong += strangers(bare, taken, grounds.question, grounds.foreign_texts, support)
    if missing or wrong:
        return Judged((*missing, *wrong), cited)
    if _claims_nothing(bare, before, strict=grounds.strict):
        claimed = _behind_refusal(bare)
        if not claimed or _claims_nothing(claimed, before, strict=grounds.strict):
            return Judged((), cited)
        beyond = [span for span in taken if claimed[slice(*span)].strip()]
        return Judged(tuple(_claims_missing(claimed, beyond, grounds, label=False)), cited)
    slots, given = grounds.slots, not grounds.is_yes_no
    found = (
        slots.misplaced(bare, grounds.question, before, given=given)
        or turned_round(bare, grounds.texts)
        or other_sides(bare, grounds.texts)
        or slots.exchanged(bare)
        or other_intervals(bare, grounds.texts)
        or other_rates(bare, grounds.texts)
        or _claims_missing(bare, taken, grounds, label=is_label(sentence))
    )
    lone = "" if found else _lone_word(bare, taken, grounds)
    return Judged(tuple(found), cited, lone, claims=not lone)


def _without_citations(
    sentence: str, grounds: Grounds
) -> tuple[str, tuple[int, ...], Sequence[str]]:
    """Return a sentence with blanks for its citations, what it cites, and those that are none."""
    cited, missing = citations_in(sentence, len(grounds.evidence))
    bare = CITATION.sub(lambda match: " " * len(match[0]), sentence)
    said = (*grounds.texts, grounds.question)
    for match in called_by_number(bare, len(grounds.evidence), said):
        cited += [n for n in map(int, regex.findall(r"\d+", match["numbers"])) if n not in cited]
        bare = bare[: match.start()] + " " * len(match[0]) + bare[match.end() :]
    return bare, tuple(cited), missing


def _claims_nothing(sentence: str, before: str, *, strict: bool) -> bool:
    """Whether a sentence says that nothing is known, what to do then, or only offers."""
    lists = answer_words()
    folded = fold(sentence)
    if lists.refusals.search(folded) or (not strict and lists.offers.fullmatch(folded)):
        return True
    return bool(lists.refusals.search(fold(before)) and lists.advice.search(folded))


def _behind_refusal(sentence: str) -> str:
    """Return what is said all the same behind a "but" where nothing is known, in its place."""
    refused = answer_words().refusals.search(fold(sentence))
    but = _BUT.search(sentence, refused.end()) if refused else None
    return " " * but.end() + sentence[but.end() :] if but else ""


def _mark_chars(sentence: str, *, german: bool) -> int:
    """Return how many characters at the start of a sentence are markers of lists and headings."""
    marks = _MARKS.match(sentence)
    if marks is None:
        return 0
    day = _DAY_OF_MONTH.search(sentence, marks.start(), marks.end()) if german else None
    following = _MONTH_WORD.match(sentence, marks.end())
    if day and following and month_token(following[0]):
        return day.start()
    return marks.end()


def _support_of(sentence: str, cited: Sequence[int], grounds: Grounds) -> Support:
    """Return what the specifics of a sentence must stand in.

    A cited sentence stands on what it cites. An affirmed sentence in reply to "Did we …?" cannot
    stand on the question: what was asked is not thereby true.
    """
    asked = not grounds.is_yes_no or is_negated(sentence)
    if cited:
        return grounds.cited(cited, asked=asked)
    return grounds.everything if asked else grounds.unasked


def _specifics_missing(
    sentence: str, support: Support, *, german: bool = False, before: str = ""
) -> tuple[list[str], list[tuple[int, int]]]:
    """Return the specifics that do not stand there, and the spans of all of them."""
    days = _days_said(sentence, support)
    spans = [(start, end) for start, end, _ in days]
    specifics = find_specifics(sentence, spans, find_quantities(sentence, spans))
    taken = [(s.start, s.end) for s in specifics]
    wrong = [(s.start, s.text) for s in specifics if not support.specifics.has_specific(s)]
    wrong.extend(
        (start, sentence[start:end])
        for start, end, stands in days
        if not stands and not is_inside(start, taken)
    )
    wrong.extend(
        (match.start(), match[0])
        for match in _DIGIT_BY_DIGIT.finditer(sentence)
        if not support.has_digits(match[0])
    )
    taken += spans
    numbers = find_quantities(sentence, taken)
    taken += [(q.start, q.end) for q in numbers]
    wrong.extend((q.start, q.text.strip()) for q in _unfounded(numbers, sentence, support, before))
    words = _words_missing(sentence, support, taken, german=german)
    wrong.extend((word.start, word.surface) for word in words)
    unknown = unknown_spans(sentence) if wrong and not support.strict else []
    wrong = [(start, text) for start, text in wrong if not is_inside(start, unknown)]
    return [text for _, text in sorted(set(wrong))], taken


def _days_said(sentence: str, support: Support) -> list[tuple[int, int, bool]]:
    """Return where a sentence has dates and weekdays, and whether what it may rest on has them.

    In digits alone ("12/3") it is a date only if that has it.
    """
    known = support.dates
    days = [(d.start, d.end, known.has_date(d, sentence)) for d in find_dates(sentence)]
    written = [(start, end) for start, end, _ in days]
    days += [
        (d.start, d.end, known.has_date(d, sentence))
        for d in short_dates(sentence, strict=True)
        if not is_inside(d.start, written) and known.has_date(d)
    ]
    days += [
        (start, end, known.has_weekday(weekday, sentence, end))
        for weekday, start, end in find_weekdays(sentence)
    ]
    return days


def _words_missing(
    sentence: str, support: Support, taken: Sequence[tuple[int, int]], *, german: bool
) -> Iterator[Word]:
    """Yield the names that do not stand there, and the words in whose place others do."""
    for word, opening in find_names(sentence, taken, german=german):
        if support.is_of_another(word, sentence) or (
            not support.has_name(word)
            and not is_spelled(word, support)
            and not support.dates.has_feast(fold(word.surface))
            and not support.is_added_to_name(word, sentence)
            and (len(word.surface) > 1 or support.has_other_label(word, sentence))
            and not (opening and support.knows(word))
        ):
            yield word
    for word in read_words(sentence):
        if not is_inside(word.start, taken) and (
            support.has_like_name(word, sentence)
            or support.has_another(word)
            or _has_another_in_english(word, support)
        ):
            yield word


def _unfounded(
    numbers: Sequence[Quantity], sentence: str, support: Support, before: str
) -> list[Quantity]:
    """Return the numbers of a sentence that do not hold.

    One may be worked out from others that hold, so they are asked again while more of them do; two
    that only prove each other ("60 off 276, so 216") do not hold.
    """
    others = short_quantities(sentence)
    left, held = list(numbers), list[Quantity]()
    while True:
        holding = [
            quantity
            for quantity in left
            if any(
                support.quantities.has_number(SaidNumber(reading, sentence, before, held))
                for reading in _meant(quantity, sentence)
            )
            or any(
                _may_read(quantity, other) and support.quantities.has_reading(other)
                for other in others
            )
        ]
        if not holding:
            return left
        held += holding
        left = [quantity for quantity in left if quantity not in holding]


def _meant(quantity: Quantity, sentence: str) -> Iterator[Quantity]:
    """Yield a number and what else it may mean: of "two in the morning" two that are taken then."""
    yield quantity
    before = sentence[: quantity.start]
    elided = quantity.loose or _TO.search(before) or _COMPARED.match(sentence, quantity.end)
    if not quantity.unit and elided and says_nothing(quantity.noun):
        # "two hours, five with the break"
        measured = [q for q in read_quantities(before) if q.unit and q.values]
        for last in measured[-1:]:
            yield replace(quantity, unit=last.unit, factor=last.factor)
    if _PLURAL.fullmatch(quantity.text):  # "the 45s", "3.5s for the ribs"
        yield replace(quantity, unit="", factor=1.0)
    if quantity.unit == "time" and _HOURS.search(quantity.text):
        at = 60 * quantity.values[0] + minutes_past(sentence, quantity.end)
        yield replace(quantity, unit="clock", factor=1.0, values=(at % 1440, (at + 720) % 1440))
    if quantity.unit == "clock":
        word = quantity.text.split(" ", 1)[0]
        first = next(iter(read_quantities(word)), _ONE if word.casefold() == "one" else None)
        if first and not first.unit and _DAYTIME.search(quantity.text) and not _AT.search(before):
            yield replace(first, start=quantity.start, end=quantity.start + len(first.text))


def _may_read(quantity: Quantity, other: Quantity) -> bool:
    """Whether shorthand may stand here, which it may not where a time of day is said in full."""
    exact = quantity.unit == "clock" and len(quantity.values) == 1
    same = not quantity.unit or quantity.unit in (other.unit, "clock")
    whole = _count_digits(other) >= _count_digits(quantity)  # "38 902" is no 38
    return not exact and same and whole and quantity.start <= other.start < quantity.end


def _count_digits(quantity: Quantity) -> int:
    return sum(letter.isdigit() for letter in quantity.text)


def _has_another_in_english(word: Word, support: Support) -> bool:
    """Whether "rot" is said where blue is remembered."""
    if support.language == "en" or not is_content(word) or support.has_word(word):
        return False
    english = translated([word.token], support.language).get(word.token, ())
    return support.tokens.isdisjoint(english) and any(
        support.has_another(word._replace(token=token)) for token in english
    )


def is_label(sentence: str) -> bool:
    """Whether a piece only says what stands below it: a heading, the head of a table."""
    head, _, rule = sentence.strip().partition("\n")
    is_head = "|" in head and "-" in rule and not rule.strip("|:- \t")
    if not is_head and not _LABEL.match(sentence):
        return False
    cells = head.split("|") if is_head else [sentence]
    return all(sum(map(_says_something, read_words(cell))) <= LABEL_WORDS for cell in cells)


def _claims_missing(
    sentence: str, taken: Sequence[tuple[int, int]], grounds: Grounds, *, label: bool
) -> list[str]:
    """Return the parts of a sentence whose words stand nowhere, or which say the opposite."""
    listed = [w for w in read_words(sentence) if not is_inside(w.start, taken)]
    content = [w for w in listed if _says_something(w)]
    if not content and not taken:
        return _reply_missing(sentence, listed, grounds)
    refuted = (
        contradicts(sentence, grounds.clauses, grounds.language)
        or affirms_denied(sentence, grounds.texts)
        or swapped(sentence, grounds.texts)
    )
    share = own = _share(content, grounds.everything)
    if grounds.strict and grounds.is_yes_no and not is_negated(sentence):
        own = _share(content, grounds.unasked)
    least = LEAST_COVERED if grounds.is_english else LEAST_COVERED_ELSEWHERE
    # What is exact in it stands there, and one word is too little to judge.
    is_brief = taken or label or len(content) <= BRIEF_WORDS
    uncovered = (grounds.strict and own < STRICT_LEAST_COVERED) or (not is_brief and share < least)
    return [_short(sentence)] if refuted or uncovered else []


def _says_something(word: Word) -> bool:
    return is_content(word) and not is_framing(word)


def _lone_word(sentence: str, taken: Sequence[tuple[int, int]], grounds: Grounds) -> str:
    """Return the only word of a sentence, if it stands nowhere.

    In small letters it may be the label of a structured answer ("high").
    """
    listed = read_words(sentence)
    if taken or len(listed) != 1 or listed[0].surface.islower() or not _says_something(listed[0]):
        return ""
    return "" if _share(listed, grounds.everything) else listed[0].surface


def _share(content: Sequence[Word], support: Support) -> float:
    """Return the share of content in [0, 1] that stands there."""
    points = 0.0
    for word in content:
        if support.has_word(word):
            points += 1
        elif support.resembles(word):
            points += _RESEMBLES_WEIGHT
    return points / len(content) if content else 1.0


def _reply_missing(sentence: str, listed: Sequence[Word], grounds: Grounds) -> list[str]:
    """Judge a sentence without content: "Yes.", "You do.", "Here you go!"."""
    lists = answer_words()
    spoken = {fold(w.surface) for w in listed}
    replies = bool(spoken & (lists.affirmations | lists.denials))
    if not grounds.is_yes_no:
        alone = replies and len(spoken) == 1 and not grounds.is_yes_no_later
        return [_short(sentence)] if alone else []
    denied = bool(spoken & lists.denials) or is_negated(sentence)
    if not replies and (not denied or any(is_framing(w) for w in listed)):
        return []  # "She has!": what follows carries the claim
    wrong, taken = _specifics_missing(grounds.question, grounds.unasked)
    asked = read_words(grounds.question)
    content = [w for w in asked if _says_something(w) and not is_inside(w.start, taken)]
    stands = not wrong and _share(content, grounds.unasked) >= 0.5
    opposed = any(c.negated for c in grounds.clauses) or any(map(has_opposites, grounds.texts))
    affirms = stands and not opposed
    return [_short(sentence)] if denied == affirms else []


def _short(text: str) -> str:
    return " ".join(_MARKUP.sub(" ", text).split()).strip(" ,;:")
