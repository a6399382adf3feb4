"""Which memory a person contradicts in a conversation, and its right words, where that is plain.

In: a correction as it was said, and the memories the last answer used. Out: the memory with its
right words, or a question.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import regex

from palace.learn.dedup import says_the_same
from palace.learn.requests import Contradiction
from palace.recall.lexicon import load_lexicon
from palace.text import fold
from palace.text.late_patterns import late
from palace.types.changes import Unclear
from palace.types.memory import Memory

# Where no blanks stand between words, a unit stands right at its number: 每年300元.
_DENSE = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}"
_IN_A_WORD = rf"[^\W{_DENSE}]"
_NUMBER = late(rf"(?<!{_IN_A_WORD}|\.)\d+(?:[.,:/-]\d+)*(?!{_IN_A_WORD})")
_PIECE = late(
    rf"[{_DENSE}]|(?![{_DENSE}])[\p{{L}}\p{{N}}](?:(?![{_DENSE}])[\p{{L}}\p{{N}}_.'’/-])*(?<![.'’/-])"
)
_WORD = late(r"[\p{L}\p{N}][\p{L}\p{N}_.'’/-]*(?<![.'’/-])")
_NUMBER_AND_UNIT = 2
_STANDS_OUT = late(r"[\p{Lu}\p{N}]")
_GOES_ON = late(r"\s+\p{L}")
_REST_OF_NAME = late(r"(?:[ ]\p{Lu}[\p{L}'’-]+)+")
_NAME_BEFORE = late(r"\p{Lu}[\p{L}'’-]+[ ]\Z")
_VALUES = frozenset({"number", "date", "clock", "weekday", "version"})
_HANGUL = late(r"\p{Hangul}")
_SPACED = late(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}]")


def righted(said: Contradiction, used: Sequence[Memory]) -> tuple[Memory, str] | Unclear:
    """Return the memory that is contradicted and its words put right.

    The wrong value must stand once in exactly one of the memories (copies of one count as one).
    Where only the right value was said, there must be a single memory, and a single value of its
    kind in it.

    Args:
        said: What the person said.
        used: Active memories that the last answer rested on, the surest first.
    """
    if said.old:
        right = ((m, _with_the_value(m.text, said)) for m in used)
        fits = [(m, text) for m, text in right if text]
        first = fits[0] if fits else None
        if first and all(says_the_same(m.text, first[0].text) for m, _ in fits):
            return first
        meant = tuple(m for m, _ in fits) or tuple(used)
        return Unclear(f"Which of these is wrong, and should {said.old!r} be {said.new!r}?", meant)
    if len(used) == 1 and (text := _with_its_value(used[0].text, said)):
        return used[0], text
    return Unclear(f"What exactly is wrong, and should be {said.new!r}?", tuple(used))


def _with_the_value(text: str, said: Contradiction) -> str:
    """Return a text with the wrong value replaced, or "".

    Where the verb stands last, what it is told of may be said before the value ("dişçi randevusu
    salı değil"): of that nothing is lost.
    """
    words, held, old = said.old.split(), text.casefold(), said.old.casefold()
    if said.verb_last and (held.startswith(old) or old not in held):
        digits = any(map(str.isdigit, said.new))
        for number in range(1, len(words)):
            value = " ".join(words[-number:])
            alike = any(map(str.isdigit, value)) == digits
            shorter = len(said.new.split()) < len(words)
            right = replaced(text, value, said.new, small=said.small) if alike and shorter else ""
            if right:
                return right
    return replaced(text, said.old, said.new, small=said.small)


def _with_its_value(text: str, said: Contradiction) -> str:
    """Return a text with its only value of a kind changed; "" if it has none or several."""
    numbers = list(_NUMBER.finditer(text))
    if len(numbers) == 1:
        before, after = text[: numbers[0].start()], text[numbers[0].end() :]
        number = _without_repeated(before, said.new, after)
        if _NUMBER.fullmatch(number):
            return f"{before}{number}{after}"
    # The rules have word lists, which nobody needs who only asks.
    from palace.learn.dense import with_day
    from palace.learn.parsed import read_statement

    if right := with_day(text, said.new):
        return right

    told = [t for t in read_statement(said.new).terms if t.kind in _VALUES]
    held = [t for t in read_statement(text).terms if told and t.kind == told[0].kind]
    if len(told) != 1 or len(held) != 1:
        return ""
    year = f" {held[0].unit}" if held[0].kind == "date" and not told[0].unit else ""
    return replaced(text, held[0].surface.removesuffix(year), said.new, small=said.small)


def replaced(text: str, old: str, new: str, *, small: Collection[str] = ()) -> str:
    """Return a text with a value replaced; "" unless the old value stands in it just once.

    Words around the new value that stand around the old one already are not said twice. The result
    is "" also where the new value is a sentence of its own: it repeats words from elsewhere in the
    text or, if the `small` words of the language are given, has others before its value ("she moved
    to Bruges").
    """
    letter = r"[\p{L}\p{N}]" if _HANGUL.search(old) else _IN_A_WORD  # 민서 is no 김민서
    edge = "" if _SPACED.search(old) else f"(?!{letter})"
    if edge and _HANGUL.search(old):  # 화요일 of 화요일이다
        edge = f"(?=(?:{'|'.join(load_lexicon('ko').listed('particles'))})?{edge})"
    start = "" if _SPACED.search(old) else f"(?<!{letter})"
    # The 5 of "4.5 kg" is another number, in any script.
    start += r"(?<!\d|\d[.,:/-])" if old[0].isdigit() else ""
    edge += r"(?!\d|[.,:/-]\d)" if old[-1].isdigit() else ""
    places = list(regex.finditer(start + regex.escape(old) + edge, text, regex.IGNORECASE))
    if len(places) != 1 or old.casefold() == new.casefold():
        return ""
    before, after = text[: places[0].start()], text[places[0].end() :]
    new = _without_repeated(before, new, after, small)
    if old[0].isupper() and len(_words(new)) > len(_words(old)):
        # "Ann Lee, not Mia" is not "Ann Lee Bell", where Mia Bell is stored.
        name = _REST_OF_NAME.match(after)
        after = after[name.end() :] if name else after
        if not name and _NAME_BEFORE.search(before):
            return ""
    if small and not _is_alike(old, new, small):
        return ""
    if _NUMBER.fullmatch(old) and len(_words(new)) > _NUMBER_AND_UNIT and _GOES_ON.match(after):
        return ""  # "870 since October" would part a number from its unit
    elsewhere = {*_words(before), *_words(after)} - set(_words(old))
    return "" if elsewhere.intersection(_words(new)) else f"{before}{new}{after}"


def _is_alike(old: str, new: str, small: Collection[str]) -> bool:
    """Whether both are values of one sort: a number, or a name behind small words at most."""
    value = next((word for word in _WORD.finditer(new) if _STANDS_OUT.search(word[0])), None)
    if not _STANDS_OUT.search(old):
        return True
    if value is None:
        return len(_words(new)) <= len(_words(old))
    return all(fold(word) in small for word in _words(new[: value.start()]))


def _without_repeated(before: str, new: str, after: str, small: Collection[str] = ()) -> str:
    """Return a value without the words at its ends that stand around it already ("port 5433").

    A pronoun may stand for what the text is about: "it listens on 5433".
    """
    words = list(_PIECE.finditer(new))
    said = _pieces(new)
    most = len(said) - 1
    front = _joint(_pieces(before), said, most=most)
    subject = next((n for n, word in enumerate(said) if fold(word) not in small), 0)
    if not front and (repeated := _joint(_pieces(before), said[subject:], most=most - subject)):
        front = subject + repeated
    back = _joint(said[front:], _pieces(after), most=len(said) - front - 1)
    start = words[front].start() if front else 0
    return new[start : words[-1 - back].end() if back else len(new)]


def _joint(first: list[str], second: list[str], *, most: int) -> int:
    """Return how many words end the first list and begin the second one."""
    return next((n for n in range(most, 0, -1) if first[-n:] == second[:n]), 0)


def _words(text: str) -> list[str]:
    return [word[0].casefold() for word in _WORD.finditer(text)]


def _pieces(text: str) -> list[str]:
    """Return the words of a text, or its letters where no blanks stand between words."""
    return [piece[0].casefold() for piece in _PIECE.finditer(text)]
