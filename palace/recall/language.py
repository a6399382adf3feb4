"""Which language a text is in.

In: a text and the lexicons of the languages that are known. Out: the lexicon of one of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from palace.recall.lexicon import Lexicon, compiled, folded_words
from palace.recall.related import everyday_words
from palace.text import Word, fold


def language_of(text: str, found: Sequence[Word], lexicons: Sequence[Lexicon]) -> Lexicon:
    """Return the lexicon of a text's language: by script, else by its function words.

    The function words of each language are counted. Typical letters count like one function word,
    and so does each word, names apart, with a letter or an ending that no other language has: a
    Turkish sentence may have no function word at all. The small words before a surname ("van der
    Berg") count only where nothing else tells. Languages that share the small words of a text ("que
    dia paga a Ana") are told apart by everyday words; where that fails too, the first lexicon wins.

    Args:
        text: Any text.
        found: Its words.
        lexicons: The languages to know, at least one.
    """
    spaced = sum(w.shape != "dense" for w in found)
    # Japanese is written with the letters of Chinese too: more scripts are the surer sign.
    possible = [lexicon for lexicon in lexicons if lexicon.may_be_in(text)]
    telling = [lexicon for lexicon in possible if lexicon.scripts]
    for lexicon in sorted(telling, key=lambda lexicon: -len(lexicon.scripts)):
        # A foreign name inside a sentence is not the sentence.
        if _script_letters(text, lexicon) > spaced:
            return lexicon
    letters = frozenset(text.lower())
    of_names = _before_surnames(text, found)
    said = [
        (fold(w.surface), w.start not in of_names)
        for w in found
        if w.shape == "word" and len(w.token) > 1
    ]
    no_names = [w.surface for w in found if w.surface.islower()]
    spelt = [] if text.isascii() else list(map(set, no_names))

    def evidence(lexicon: Lexicon) -> tuple[int, int]:
        if lexicon.scripts and not _script_letters(text, lexicon):
            return (0, 0)
        typical = not letters.isdisjoint(lexicon.typical_letters)
        own = len([word for word in spelt if not lexicon.own_letters.isdisjoint(word)])
        if lexicon.own_endings:
            own += len([word for word in no_names if word.endswith(lexicon.own_endings)])
        small = lexicon.function_words
        known = [apart for word, apart in said if word in small]
        return (typical + own + sum(known), len(known))

    told = [(evidence(lexicon), lexicon) for lexicon in possible]
    most = max((count for count, _ in told), default=(0, 0))
    if most == (0, 0):
        return lexicons[0]
    tied = [lexicon for count, lexicon in told if count == most]
    if len(tied) == 1:
        return tied[0]
    tokens, typed = {word.token for word in found}, {word.surface.lower() for word in found}

    def familiar(lexicon: Lexicon) -> int:
        exact = typed.intersection(lexicon.listed("stopwords"))  # Portuguese "lá" is no "la"
        content = (tokens & everyday_words(lexicon.language)) - lexicon.stopwords
        return len(content) + len(exact)

    return max(tied, key=familiar)


def _before_surnames(text: str, found: Sequence[Word]) -> frozenset[int]:
    """Return the places of two or more words that together stand before a surname."""
    particles = folded_words("surname_particles")
    run: list[Word] = []
    places: set[int] = set()
    for word in found:
        beside = not run or text[run[-1].end : word.start] == " "
        if len(run) > 1 and beside and word.surface[0].isupper():
            places.update(particle.start for particle in run)
        kept = run if beside else []
        run = [*kept, word] if word.surface in particles else []
    return frozenset(places)


def is_unread(text: str, lexicons: Iterable[Lexicon]) -> bool:
    """Whether most letters of a text are of scripts that none of the languages is written in."""
    if text.isascii():
        return False
    # A language without letters of its own is written in Latin ones.
    scripts = sorted({s for lexicon in lexicons for s in lexicon.scripts or ("Latin",)})
    letters = compiled(r"\p{L}").findall(text)
    read = compiled("[" + "".join(rf"\p{{{script}}}" for script in scripts) + "]").findall(text)
    return 2 * len(read) < len(letters)


def _script_letters(text: str, lexicon: Lexicon) -> int:
    letter = lexicon.script_letter
    return 0 if letter is None or text.isascii() else len(letter.findall(text))
