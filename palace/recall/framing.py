"""Words around a question that lead to it and say nothing of what is asked.

"According to my notes, when did we hire Olga?" asks what "When did we hire Olga?" does: no memory
that answers has to hold a note, an idea, a check or somebody's wondering. In: the words of a prompt
and those with content. Out: the latter without what leads to the question or follows it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import cache, lru_cache

import regex

from palace.recall.borders import within_borders
from palace.recall.lexicon import DENSE_FROM, Lexicon
from palace.text import Word, fold

# Where what is said beside a question ends.
_BREAK = regex.compile(r"[,:;.!?…–—\n，。：；！？、]")
_COMMA = regex.compile(r"\s*[,:;，：；、]")
_ANY_ENDING = "~"
_LETTERS_OF_A_POSSESSIVE = 2  # 我的, 私の, 우리


def without_framing(
    prompt: str, content: Sequence[Word], found: Sequence[Word], lexicon: Lexicon
) -> list[Word]:
    """Return the content of a prompt without what frames its question.

    A framing word counts as such before all other content, with the beginning of a question or a
    break between, or with a phrase that frames without one (根据我的笔记, "notlarıma göre"); and
    behind all other content, with a break or the same between. "What did the doctor find?" and
    "Where did I note the code?" keep theirs, and so does a prompt of nothing else, or one that
    begins with what it asks about ("The check, when is it due?").

    Args:
        prompt: What the words stand in.
        content: Its words with content, in order.
        found: All its words, in order.
        lexicon: Its language; one that lists no such words has none.
    """
    framing = lexicon.folded("framing_words")
    phrases = _spans(prompt, lexicon.phrases("framing_phrases"))
    spans = [*_spans(prompt, _sought(framing)), *phrases]
    covered = {place for start, end in spans for place in range(start, end)}
    behind = {end for _, end in phrases}

    def frames(word: Word) -> bool:
        if fold(word.surface) in framing or covered.issuperset(range(word.start, word.end)):
            return True
        # Of a pair of letters each may be small, or begin what stands behind a phrase.
        return word.shape == "dense" and all(
            place in covered or place in behind or letter in lexicon.function_words
            for place, letter in enumerate(word.surface, word.start)
        )

    rest = [word for word in within_borders(content, found, lexicon) if not frames(word)]
    beside = [word for word in content if word not in rest]
    if not (rest and beside):
        return list(content)
    asked = [word for word in rest if word.token not in lexicon.soft] or rest
    first, last = asked[0].start, asked[-1].end
    closed = (end for _, end in phrases if end <= first)
    begins = max((*_begins(prompt, first, found, lexicon), *closed), default=0)
    # A phrase behind it is the last that is said: 妈妈提醒我什么？ asks for what she reminds of.
    opened = (start for start, end in phrases if start >= last and end >= found[-1].end)
    ended = _BREAK.search(prompt, last)
    ends = min((ended.start() if ended else len(prompt), *opened))
    framed = {word for word in beside if word.start < begins or word.start >= ends}
    framed -= _topic(prompt, content, found, lexicon, spans)
    return [word for word in content if word not in framed]


def may_begin(
    prompt: str, content: Sequence[Word], found: Sequence[Word], lexicon: Lexicon
) -> list[int]:
    """Return where the question of a prompt may begin: at once, and behind what only leads to it.

    Args:
        prompt: What the words stand in.
        content: Its words with content, in order, without what frames the question.
        found: All its words, in order.
        lexicon: Its language.
    """
    first = content[0].start if content else 0
    phrases = _spans(prompt, lexicon.phrases("framing_phrases"))
    behind = (end for _, end in phrases if end <= first)
    return sorted({0, *_begins(prompt, first, found, lexicon), *behind})


@cache
def _sought(framing: frozenset[str]) -> tuple[str, ...]:
    """Return the words that are looked for among letters: no blank or no one ending ends them."""
    return tuple(word for word in framing if word >= DENSE_FROM or word.endswith(_ANY_ENDING))


def _spans(prompt: str, listed: Sequence[str]) -> list[tuple[int, int]]:
    """Return where words or phrases stand in a prompt, accents and case apart."""
    if not listed:
        return []
    evened = fold(prompt) if prompt.isascii() else "".join(map(_evened, prompt))
    return [found.span() for found in _any_of(tuple(listed)).finditer(evened)]


@lru_cache(maxsize=4096)
def _evened(letter: str) -> str:
    """Return a letter without its accent, or as it is where that is not one letter."""
    plain = fold(letter)
    return plain if len(plain) == 1 else letter


@cache
def _any_of(listed: tuple[str, ...]) -> regex.Pattern[str]:
    """Return what finds any of some words or phrases, the longest first."""
    said = sorted(map(fold, listed), key=len, reverse=True)
    return regex.compile("|".join(map(_bounded, said)))


def _bounded(said: str) -> str:
    """Return what finds a word or a phrase; in Korean it begins a word, and ends anyhow."""
    if said >= DENSE_FROM and not said.endswith(_ANY_ENDING):
        return rf"(?<!\p{{Hangul}}){regex.escape(said)}"
    stem = said.removesuffix(_ANY_ENDING)
    return rf"(?<!\p{{L}}){regex.escape(stem)}" + (r"\p{L}*" if stem != said else r"(?!\p{L})")


def _topic(
    prompt: str,
    content: Sequence[Word],
    found: Sequence[Word],
    lexicon: Lexicon,
    spans: Collection[tuple[int, int]],
) -> set[Word]:
    """Return the word that a prompt begins with if it tells what is asked about.

    It stands behind a small word or two, and a break follows: "The check, when is it due?", "For
    the search: who is on call?". "In my notes, when …" and "Sorry, when …" do not tell it. Without
    blanks it stands behind a letter or two, and a comma or a colon follows: 我的笔记，放在哪里？
    """
    himself = lexicon.folded("first_person") | lexicon.folded("address")
    if content[0].shape == "dense":
        start, end = min(spans, default=(0, 0))
        before = prompt[:start].strip()
        is_told = len(before) == _LETTERS_OF_A_POSSESSIVE or (
            len(before) == 1 and before not in himself
        )
        told = {word for word in content if word.start < end}
        return told if is_told and _COMMA.match(prompt, end) else set()
    if any(start < content[0].end <= end for start, end in spans):
        return set()  # "For the record, when …"
    small = [fold(word.surface) for word in found if word.start < content[0].start]
    is_told = len(small) == 1 or (len(small) == 2 and himself.isdisjoint(small))
    return {content[0]} if is_told and _BREAK.match(prompt, content[0].end) else set()


def _begins(prompt: str, first: int, found: Sequence[Word], lexicon: Lexicon) -> Iterator[int]:
    """Yield where a question may begin before its first word with content."""
    yield from (match.end() for match in _BREAK.finditer(prompt, 0, first))
    openers = {tuple(fold(phrase).split()) for phrase in lexicon.phrases("question_openers")}
    before = [word for word in found if word.start < first]
    said = [fold(word.surface) for word in before]
    for place, word in enumerate(before):
        if (said[place],) in openers or tuple(said[place : place + 2]) in openers:
            yield word.start
