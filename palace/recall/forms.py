"""Words of a question in the spelling or grammatical form that the memories use.

A question says "Schluessel", "habite-t-elle" or Polish "Antonówkę", and the memory "Schlüssel",
"habite" and "Antonówka". In: the words of a prompt, its language and the palace's vocabulary. Out:
the same words with the tokens that memories have.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from typing import NamedTuple, TypeAlias

import regex

from palace.ports import Scope, TermCounts, Vocabulary
from palace.recall.lexicon import Lexicon, is_hiragana
from palace.recall.related import listed_set
from palace.text import Word, fold, stem, words

CountsOf: TypeAlias = Callable[[Iterable[str]], Mapping[str, TermCounts]]

# What a Japanese verb ends in behind its Chinese letter: 開く is asked for as 開きますか.
_JAPANESE_VERBS = (
    "わいうえおっ かきくけこい がぎぐげごい さしすせそ たちつてとっ"
    " なにぬねのん ばびぶべぼん まみむめもん らりるれろっ"
).split()
# So many letters of a word are left before an ending; one fewer where one of the forms has none.
_FEWEST_LETTERS = 4


class _Endings(NamedTuple):
    """What a language writes on to its words.

    Attributes:
        pattern: One ending or none of each kind, in their order.
        longest: How many letters all of them have at most.
        harder: Letters that sound otherwise before an ending -> as they are at the end.
    """

    pattern: regex.Pattern[str]
    longest: int
    harder: Mapping[int, int]

    def hardened(self, token: str) -> str:
        """Return a token with the letters that stand at the end of a word."""
        return token.translate(self.harder)

    def end(self, rest: str) -> bool:
        """Whether a rest of a word is made of endings, or is none."""
        return self.pattern.fullmatch(rest) is not None


@lru_cache(maxsize=32)
def _endings_of(lexicon: Lexicon) -> _Endings | None:
    """Return the endings of a language; None where its lexicon lists none."""
    if not lexicon.endings:
        return None
    pairs = [fold(pair) for pair in lexicon.alternating]
    harder = str.maketrans("".join(p[0] for p in pairs), "".join(p[1] for p in pairs))
    kinds = [fold(kind).translate(harder).split() for kind in lexicon.endings]
    return _Endings(
        regex.compile("".join(f"(?:{'|'.join(kind)})?" for kind in kinds)),
        sum(max(map(len, kind)) for kind in kinds),
        harder,
    )


def as_memories_spell(found: Sequence[Word], lexicon: Lexicon, counts_of: CountsOf) -> list[Word]:
    """Return the words, of two spellings with the one that the palace has: "Schluessel", 黃, 黄."""
    others = {
        word.token: stem(fold(form))
        for word in found
        if word.shape in ("word", "dense")
        for form in lexicon.spelt_otherwise(word.surface)
    }
    counts = counts_of((*others, *others.values())) if others else {}
    spelt = {t: other for t, other in others.items() if counts[other].any and not counts[t].any}
    return with_tokens(found, spelt)


def without_enclitics(found: Sequence[Word], lexicon: Lexicon, counts_of: CountsOf) -> list[Word]:
    """Return the words with a verb alone where pronouns are written on to it: "habite-t-elle".

    What the palace or the language writes with a hyphen is a word: "rendez-vous".
    """
    verbs = {
        word: word.surface[: word.surface.index("-")]
        for word in found
        if "-" in word.surface
        and lexicon.folded("enclitics").issuperset(map(fold, word.surface.split("-")[1:]))
        and word.token not in listed_set(lexicon.language)
    }
    counts = counts_of(word.token for word in verbs) if verbs else {}
    alone: list[Word] = []
    for word in found:
        if word in verbs and not counts[word.token].any:
            cut = words(verbs[word])
            alone.extend(verb._replace(start=word.start + verb.start) for verb in cut)
        else:
            alone.append(word)
    return alone


def as_memories_inflect(
    unknown: Sequence[Word], lexicon: Lexicon, vocabulary: Vocabulary, *, scope: Scope
) -> dict[str, str]:
    """Return, for words in a form that no memory has, the token of a form that some memory has.

    Two tokens are forms of one word if they begin alike and differ only in `endings` that the
    lexicon lists for the language, or are one Japanese verb. Of several, the one with the longest
    common beginning is taken, then the most frequent.

    Args:
        unknown: Words that carry content and that the palace does not hold.
        lexicon: The language of the prompt.
        vocabulary: What the palace's words are.
        scope: What may be read.
    """
    endings = _endings_of(lexicon)
    if endings is None:
        return _japanese_verbs(unknown, vocabulary, scope) if _is_japanese(lexicon) else {}
    meant: dict[str, str] = {}
    for word in unknown:
        token = word.token
        if word.shape != "word" or not token.isalpha() or len(token) < _FEWEST_LETTERS:
            continue
        shared = _forms(token, endings, vocabulary, scope)
        if shared:
            counts = vocabulary.counts(shared, scope=scope)
            meant[token] = max(shared, key=lambda t: (shared[t], counts[t].any, t))
    return meant


def _is_japanese(lexicon: Lexicon) -> bool:
    return "Hiragana" in lexicon.scripts


def _japanese_verbs(
    unknown: Sequence[Word], vocabulary: Vocabulary, scope: Scope
) -> dict[str, str]:
    """Return, for a Chinese letter with the ending of a verb, the form that most memories have."""
    others = {
        word.token: [
            word.token[0] + ending
            for row in _JAPANESE_VERBS
            if word.token[1] in row
            for ending in row
        ]
        for word in unknown
        if word.shape == "dense" and len(word.token) == 2 and not is_hiragana(word.token[0])
    }
    counts = vocabulary.counts(chain.from_iterable(others.values()), scope=scope) if others else {}
    told = {
        token: max(forms, key=lambda form: counts[form].any)
        for token, forms in others.items()
        if forms
    }
    return {token: form for token, form in told.items() if counts[form].any}


def _forms(token: str, endings: _Endings, vocabulary: Vocabulary, scope: Scope) -> dict[str, int]:
    """Return the tokens of the palace that are forms of one, with how many letters they share."""
    hard = endings.hardened(token)
    stems = [n for n in range(_FEWEST_LETTERS - 1, len(hard) + 1) if endings.end(hard[n:])]
    # The last letter may sound otherwise before an ending.
    begin = token[: max(stems[0] - 1, _FEWEST_LETTERS - 1)]
    most = stems[-1] + endings.longest
    shared: dict[str, int] = {}
    for other in vocabulary.beginning(begin, most_chars=most, scope=scope):
        harder = endings.hardened(other)
        for n in reversed(stems):
            enough = n >= _FEWEST_LETTERS or n in (len(hard), len(harder))
            if enough and harder[:n] == hard[:n] and endings.end(harder[n:]):
                shared[other] = n
                break
    return shared


def with_tokens(found: Iterable[Word], meant: Mapping[str, str]) -> list[Word]:
    """Return words with the tokens that are meant in place of those that were typed."""
    return [w._replace(token=meant[w.token], extra=()) if w.token in meant else w for w in found]
