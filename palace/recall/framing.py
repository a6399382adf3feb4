"""Words around a question that lead to it and say nothing of what is asked.

"According to my notes, when did we hire Olga?" asks what "When did we hire Olga?" does: no memory
that answers has to hold a note, an idea, a check or somebody's wondering. In: the words of a prompt
and those with content. Out: the latter without what leads to the question or follows it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import regex

from palace.recall.lexicon import Lexicon
from palace.text import Word, fold

# Where what is said beside a question ends.
_BREAK = regex.compile(r"[,:;.!?…–—\n，。：；！？、]")


def without_framing(
    prompt: str, content: Sequence[Word], found: Sequence[Word], lexicon: Lexicon
) -> list[Word]:
    """Return the content of a prompt without what frames its question.

    A framing word counts as such before all other content, with the beginning of a question or a
    break between; and behind all other content, with a break between. "What did the doctor find?"
    and "Where did I note the code?" keep theirs, and so does a prompt of nothing else, or one that
    begins with what it asks about ("The check, when is it due?").

    Args:
        prompt: What the words stand in.
        content: Its words with content, in order.
        found: All its words, in order.
        lexicon: Its language; one that lists no such words has none.
    """
    framing = lexicon.folded("framing_words")
    marked = {word for word in content if fold(word.surface) in framing} if framing else set()
    rest = [word for word in content if word not in marked]
    if not (marked and rest):
        return list(content)
    asked = [word for word in rest if word.token not in lexicon.soft] or rest
    begins = max(_begins(prompt, asked[0], found, lexicon), default=0)
    ended = _BREAK.search(prompt, asked[-1].end)
    ends = ended.start() if ended else len(prompt)
    framed = {word for word in marked if word.end <= begins or word.start >= ends}
    framed -= _topic(prompt, content[0], found, lexicon)
    return [word for word in content if word not in framed]


def _topic(prompt: str, first: Word, found: Sequence[Word], lexicon: Lexicon) -> set[Word]:
    """Return the word that a prompt begins with if it tells what is asked about.

    It stands behind a small word or two, and a break follows: "The check, when is it due?", "For
    the search: who is on call?". "In my notes, when …" and "Sorry, when …" do not tell it.
    """
    before = [fold(word.surface) for word in found if word.start < first.start]
    himself = lexicon.folded("first_person") | lexicon.folded("address")
    is_told = len(before) == 1 or (len(before) == 2 and himself.isdisjoint(before))
    return {first} if is_told and _BREAK.match(prompt, first.end) else set()


def _begins(prompt: str, first: Word, found: Sequence[Word], lexicon: Lexicon) -> Iterator[int]:
    """Yield where a question may begin before its first word with content."""
    yield from (match.end() for match in _BREAK.finditer(prompt, 0, first.start))
    openers = {tuple(fold(phrase).split()) for phrase in lexicon.phrases("question_openers")}
    before = [word for word in found if word.start < first.start]
    said = [fold(word.surface) for word in before]
    for place, word in enumerate(before):
        if (said[place],) in openers or tuple(said[place : place + 2]) in openers:
            yield word.start
