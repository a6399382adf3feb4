"""Which words of a prompt name somebody or something, by their capitals and by the palace.

In: the words of a prompt, their lexicon and how the palace writes them. Out: names as index tokens.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import regex

from palace.ports import TermCounts
from palace.recall.content import is_function_word
from palace.recall.forms import CountsOf
from palace.recall.given_names import is_given_name
from palace.recall.lexicon import Lexicon, is_word_of
from palace.recall.related import everyday_words
from palace.recall.small_names import everyday_names
from palace.text import Word, fold, starts_sentence

# A lower-case word is taken for a name when the palace mostly writes it as one.
_NAME_SHARE = 0.6
# … and one with a capital, at the start of a sentence, also when the palace puts it there itself.
_NAME_SHARE_OF_A_CAPITAL = 0.2
_LETTERS = regex.compile(r"\p{L}[\p{L}\p{M}]*")


def names_in(
    prompt: str,
    found: Sequence[Word],
    content: Sequence[Word],
    counts: Mapping[str, TermCounts],
    lexicon: Lexicon,
) -> tuple[tuple[str, ...], ...]:
    """Return names: runs of capitalised words, and words the palace itself writes as names."""
    shouting = _is_shouted(found)
    everyday = everyday_names(prompt, found, lexicon)
    names: list[tuple[str, ...]] = []
    somebody = False
    previous_end = -1
    for word in content:
        is_month = word.token.startswith("month") and word.token[5:].isdecimal()  # no "Monthey"
        if word.shape not in ("word", "identifier") or is_month:
            continue
        count = counts[word.token]
        ordinary = word.token in lexicon.soft and word.surface.islower()
        written = lexicon.capitals_mark_names and not shouting and word.surface[0].isupper()
        share = _NAME_SHARE_OF_A_CAPITAL if written else _NAME_SHARE
        known = _is_written_as_name(count, share) and not ordinary
        opens = starts_sentence(prompt, word.start)
        capital = written and not opens
        # A name is one wherever it stands, if it is no word of the palace; Polish "Kim" opens.
        other = count.any or (opens and word.token in lexicon.soft)
        given = word.surface[0].isupper() and not other and is_given_name(word, lexicon)
        quoted = prompt[word.start - 1 : word.start] == "`"
        # "when did rose call": nobody unless memories have the word, and then who they tell of.
        if not (known or capital or given or quoted or (word in everyday and count.any)):
            continue
        if _is_only_a_time(word, count, lexicon):
            continue
        adjacent = names and prompt[previous_end : word.start].strip() == ""
        if adjacent and word.surface[0].isupper():
            names[-1] = (*names[-1], word.token)
        else:
            names.append((word.token,))
        # A short day of the week stands for a longer word.
        typed = _LETTERS.match(prompt, word.start) if word.shape == "word" else None
        previous_end = typed.end() if typed else word.end
        somebody = somebody or not _is_nobody(word, count, lexicon)
    # Beside a name a feast counts: of "Tim's Halloween" a memory has to tell.
    return tuple(dict.fromkeys(names)) if somebody else ()


def called_in(
    text: str, found: Sequence[Word], lexicon: Lexicon, counts_of: CountsOf
) -> frozenset[Word]:
    """Return function words that are a name: a "Will" inside a sentence, here and in the palace."""
    if not lexicon.capitals_mark_names or _is_shouted(found):
        return frozenset()
    capitals = [
        word
        for word in found
        if word.shape == "word" and word.surface[0].isupper() and len(word.token) > 1
        if is_function_word(word, lexicon) and not starts_sentence(text, word.start)
    ]
    counts = counts_of(word.token for word in capitals) if capitals else {}
    return frozenset(word for word in capitals if _is_written_as_name(counts[word.token]))


def _is_written_as_name(count: TermCounts, share: float = _NAME_SHARE_OF_A_CAPITAL) -> bool:
    return count.name > 0 and count.name >= share * count.any


def _is_shouted(found: Sequence[Word]) -> bool:
    """Whether a text is in Title Case or ALL CAPS, so that a capital says nothing."""
    spaced = [w for w in found if w.shape == "word"]
    return len(spaced) > 3 and sum(w.surface[0].isupper() for w in spaced) > 0.8 * len(spaced)


def _is_only_a_time(word: Word, count: TermCounts, lexicon: Lexicon) -> bool:
    """Whether a word names nobody: a "Friday" that the palace does not know, a German "Jahr"."""
    form = fold(word.surface)
    is_day = form in lexicon.weekdays or (form,) in lexicon.dated_weekdays.values()
    if count.any and (lexicon.capitals_mark_names or is_day):
        return False
    return is_word_of("relative_dates", word.token)


def _is_nobody(word: Word, count: TermCounts, lexicon: Lexicon) -> bool:
    """Whether a word that no memory has is an "Easter" or an "MOT": no person's or place's name."""
    form = fold(word.surface)
    if count.any:
        return False
    if form in lexicon.folded("feasts"):
        return True
    if len(form) < 2 or not word.surface.isupper():
        return False
    calls = is_given_name(word, lexicon) or form in lexicon.folded("everyday_names")
    return not calls and word.token in everyday_words(lexicon.language)


def named_among(
    unknown: Iterable[Word], formed: Mapping[str, str], counts_of: CountsOf, lexicon: Lexicon
) -> set[str]:
    """Return the tokens in another form that are names, here or in the palace."""
    counts = counts_of(formed.values()) if formed and lexicon.capitals_mark_names else {}
    return {
        word.token
        for word in unknown
        if (count := counts.get(formed.get(word.token, "")))
        and (word.surface[0].isupper() or count.name >= _NAME_SHARE * count.any)
    }
