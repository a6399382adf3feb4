"""Days of the week in a prompt, whole or short, as the palace writes them.

In: the words of a prompt, its language and what the palace's words are. Out: the words, a day of
the week by the token that the palace has for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from palace.ports import TermCounts
from palace.recall.lexicon import Lexicon
from palace.text import Word, fold, tokens

_Counts = Callable[[Iterable[str]], Mapping[str, TermCounts]]


def weekdays_as_written(found: Sequence[Word], lexicon: Lexicon, counts: _Counts) -> list[Word]:
    """Return the words of a prompt, "on Wed" as "on Wednesday" where nobody wrote "Wed".

    Short days count with a capital, and those that mean something else too ("Sat", German "Do")
    only behind a word such as "on"; those never stand for a whole day.

    Args:
        found: The words, in order.
        lexicon: The language of the prompt.
        counts: Returns how often tokens stand in the palace.
    """
    return [
        _as_written(word, before, lexicon, counts)
        for before, word in zip((None, *found), found, strict=False)
    ]


def _as_written(word: Word, before: Word | None, lexicon: Lexicon, counts: _Counts) -> Word:
    name = fold(word.surface)
    day = lexicon.weekdays.get(name)
    if day is None and before is not None and (dated := lexicon.dated_weekdays.get(name)):
        day = dated if fold(before.surface) in lexicon.folded("before_weekdays") else None
    if day is None or (name != day[0] and not word.surface[0].isupper()):
        return word
    written = [token for form in day for token in tokens(form)[:1]]
    # The person's own writing first: where it is known, nothing changes.
    ordered = [word.token, *(token for token in written if token != word.token)]
    known = counts(ordered)
    token = next((token for token in ordered if known[token].any), written[0])
    surface = word.surface if name == day[0] else day[0].title()
    return word._replace(surface=surface, token=token)
