"""What prompts look like in each language: words, question types and cue patterns, from YAML.

In: the names of the languages to know. Out: lexicons whose every match is time-limited. Nothing is
worked out before it is needed: most people speak one or two of the languages.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, cached_property, lru_cache
from pathlib import Path
from typing import Any, cast

import regex

from palace.errors import ConfigError
from palace.recall.lexicon_format import PhraseKind, WordKind, read_patterns, read_words
from palace.text import HIDDEN, base_form, fold, month_token, one_apostrophe, words
from palace.types.query import AnswerType

DEFAULT_LANGUAGES = tuple("en de fr es pt zh ja ru it nl ko pl sv tr".split())
MATCHED_CHARS = 600
_TIMED_CHARS = 200
_QUOTES = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"', "«": '"', "»": '"', "´": "'"})
# Blanks, controls and marks that show nothing, such as a byte order mark or a direction.
_UNSEEN_RANGES = (
    (0, 0x20), (0x7F, 0xA0), (0xAD, 0xAD), (0x2000, 0x200F), (0x2028, 0x202F), (0x205F, 0x206F),
    (0x3000, 0x3000), (0xFEFF, 0xFEFF),
)  # fmt: skip
UNSEEN = "".join(chr(sign) for first, last in _UNSEEN_RANGES for sign in range(first, last + 1))
_BLANKS = regex.compile(r"[^\S\n]{2,}|[^\S\n ]")
# What a list, a quotation or a heading puts before its words. "A. Smith" and "1. Mai" are none of
# these: behind a number with a point has to come a small word, as before a question.
_MARKER = regex.compile(
    r"(?:[-*+•‣◦▪–—→]\s+(?:\[[ xX]\]\s+)?|>+\s*|\#{1,6}\s+|\(?(?:\d{1,2}|[A-Za-z])\)\s+"
    r"|(?:\.\.+|…|[\p{So}\p{Sk}\u200d\ufe0f]+)\s+)+(?=\S)"
)
_NUMBERED = regex.compile(r"\d{1,2}\.\s+(?=[*_~]*(?P<word>[\p{L}\p{M}]++))")
# Around all of it, but for a stop: "**When did we move?**". What is around one word is a name.
_EMPHASIS = regex.compile(
    r"(\*\*|__|~~|[*_`])(?=\S)(?P<words>(?:(?!\1).)+\s(?:(?!\1).)+)(?<=\S)\1(?P<stop>[?!.]*)"
)
_WRAPPED = regex.compile(
    "(?:"
    + "|".join(
        rf"{regex.escape(first)}(?P<words>[^{first}{last}]+){regex.escape(last)}"
        for first, last in ('""', "“”", "„“", "„”", "«»", "「」", "()")
    )
    + r")(?P<stop>[?!.]*)"
)
_MOST_MARKS = 4
_GROUP = regex.compile(r"(?<!\\)\((?!\?)")
_PART = regex.compile(r"[^\W_]+")
DENSE_FROM = "\u2e80"  # the scripts of East Asia
_FOLDER = Path(__file__).parent / "lexicons"


class Lexicon:
    """One language; what the keys of its file mean is told at the head of `en.yaml`.

    Args:
        text: Two YAML documents: words and requests, then patterns over a prompt.
        where: The name of the file, for errors.

    Raises:
        ConfigError: If a key is missing, unknown or of the wrong kind; for the second document
            when it is first needed.
    """

    def __init__(self, text: str, where: str) -> None:
        first, _, self._second = text.partition("\n---\n")
        self._where = where
        self._words = read_words(first, where)
        self.language: str = self._words["language"]
        self.about_somebody: str = self._words["about_somebody"]
        self.capitals_mark_names: bool = self._words.get("capitals_mark_names", True)
        self.typical_letters: str = self._words.get("typical_letters", "")
        self.own_letters = frozenset(self._words.get("own_letters", ""))
        self.own_endings = tuple(self._words.get("own_endings", "").split())
        self.scripts: tuple[str, ...] = tuple(self._words.get("scripts", ()))
        self.openings: Mapping[str, Sequence[str]] = self._words.get("openings", {})
        self.tells: Mapping[str, Sequence[str]] = self._words.get("tells", {})
        self.requests: Mapping[str, Sequence[str]] = self._words.get("requests", {})
        self.people: tuple[str, ...] = tuple(self._words.get("people", ()))
        self.endings: tuple[str, ...] = tuple(self._words.get("endings", ()))
        self.alternating: tuple[str, ...] = tuple(self._words.get("alternating", "").split())
        self.names_inflect: bool = self._words.get("names_inflect", False)
        self._folded: dict[WordKind, frozenset[str]] = {}

    def may_be_in(self, text: str) -> bool:
        """Whether a text may be in the language: one with a script of its own needs its letters.

        So no pattern of a language with a script of its own is tried on a text in ASCII.
        """
        return not (self.scripts and text.isascii())

    @cached_property
    def script_letter(self) -> regex.Pattern[str] | None:
        """A letter that gives the language away; None where it shares its script with others."""
        if not self.scripts:
            return None
        return compiled("[" + "".join(rf"\p{{{script}}}" for script in self.scripts) + "]")

    @cached_property
    def function_words(self) -> frozenset[str]:
        """Folded words that carry no content, as people write them."""
        listed = self.listed("stopwords")
        spelt = [form for word in listed for form in self.spelt_otherwise(word)]
        folded = {word: fold(word) for word in (*listed, *spelt)}
        # Where no blanks stand between words, the pairs they are cut into too.
        dense = "\n".join(word for word, form in folded.items() if form >= DENSE_FROM)
        return frozenset((*folded.values(), *(found.token for found in words(dense))))

    def spelt_otherwise(self, word: str) -> list[str]:
        """Return a word with the second spelling of each letter that has one, and the reverse."""
        if "spelt" not in self._words:
            return []
        lowered = word.lower()
        to_first, to_second, longer = self._spellings
        one, two = lowered.translate(to_first), lowered.translate(to_second)
        for letter, letters in longer:
            one, two = one.replace(letters, letter), two.replace(letter, letters)
        return [form for form in dict.fromkeys((one, two)) if form != lowered]

    @cached_property
    def _spellings(self) -> tuple[dict[int, str], dict[int, str], list[tuple[str, str]]]:
        """Second letters -> first ones, the reverse, and pairs of which one has more letters."""
        pairs = [(one, two) for one, two in map(str.split, self._words.get("spelt", ()))]
        single = [pair for pair in pairs if len(pair[1]) == 1]
        to_first = {ord(two): one for one, two in reversed(single)}
        to_second = {ord(one): two for one, two in single}
        return to_first, to_second, [pair for pair in pairs if len(pair[1]) > 1]

    @cached_property
    def misspelt(self) -> Mapping[str, str]:
        """Small words as they are typed in haste -> as they are meant."""
        listed = (entry.partition(" ") for entry in self._words.get("misspelt", ()))
        return {typed: meant for typed, _, meant in listed}

    @cached_property
    def stopwords(self) -> frozenset[str]:
        """The function words, and their index tokens."""
        return self.function_words | _tokens(self.listed("stopwords"))

    @cached_property
    def soft(self) -> frozenset[str]:
        """Words that only say what sort of thing is asked for: folded, and as index tokens."""
        return self.folded("soft") | _tokens(self.listed("soft"))

    @cached_property
    def weekdays(self) -> Mapping[str, tuple[str, ...]]:
        """Folded name of a day of the week, whole or short -> (whole name, short ones)."""
        days = [tuple(map(fold, names.split())) for names in self._words.get("weekdays", ())]
        return {name: names for names in days for name in names}

    @cached_property
    def dated_weekdays(self) -> Mapping[str, tuple[str, ...]]:
        """Folded short name that means something else too -> (whole name,)."""
        days = map(str.split, self._words.get("dated_weekdays", ()))
        return {fold(short): (fold(whole),) for whole, *shorts in days for short in shorts}

    @cached_property
    def cues(self) -> Mapping[str, str]:
        """Cue name -> one alternation."""
        return {name: _alternation(patterns) for name, patterns in self._patterns["cues"].items()}

    @cached_property
    def question_types(self) -> Mapping[AnswerType, str]:
        """Answer type -> one alternation, in order of precedence."""
        return {
            kind: _alternation([f"\\b(?:{p})" for p in patterns])
            for kind, patterns in self._patterns["question_types"].items()
        }

    @cached_property
    def labels(self) -> Mapping[AnswerType, str]:
        """Kind of number or address -> one alternation of what a question says for it."""
        labels = self._patterns.get("labels", {})
        return {kind: _alternation(patterns) for kind, patterns in labels.items()}

    @cached_property
    def follow_up(self) -> str:
        """Alternation of a prompt that leans on the previous turn."""
        return _alternation(self._patterns["follow_up"])

    def listed(self, kind: WordKind) -> list[str]:
        """Return the words of a list as they are written; none where the language has no such."""
        return str(self._words.get(kind, "")).split()

    def folded(self, kind: WordKind) -> frozenset[str]:
        """Return the words of a list folded."""
        if kind not in self._folded:
            self._folded[kind] = frozenset(map(fold, self.listed(kind)))
        return self._folded[kind]

    def phrases(self, kind: PhraseKind) -> Sequence[str]:
        """Return phrases as people write them; none where the language has no such."""
        return tuple(self._words.get(kind, ()))

    def requested(self, kind: str, prompt: str, *, timeout_ms: float) -> bool:
        """Whether a prompt requests something of a kind: "what was the rent before?"."""
        return any(
            first_match(pattern, prompt, timeout_ms=timeout_ms, flags=regex.IGNORECASE)
            for pattern in self.requests.get(kind, ())
        )

    @cached_property
    def _patterns(self) -> Mapping[str, Any]:
        return read_patterns(self._second, self._where)


@lru_cache(maxsize=8)  # a walk asks several times of one prompt
def matchable(prompt: str) -> str:
    """Return what cues are matched against: a prompt as it is read, folded, straight quotes."""
    text = plain(prompt, max_chars=2 * MATCHED_CHARS)
    return fold(one_apostrophe(text).translate(_QUOTES))


def plain(prompt: str, *, max_chars: int) -> str:
    """Return a prompt as it is read: bare words, nothing unseen in it, single blanks, lines kept.

    Args:
        prompt: Any text at all.
        max_chars: Of a longer one the head and the tail count; what is asked stands in one of them.
    """
    prompt = undecorated(prompt)
    if len(prompt) > max_chars:
        half = max_chars // 2
        prompt = f"{prompt[:half]}\n{prompt[-half:]}"
    if not prompt.isascii():
        prompt = HIDDEN.sub("", prompt)
    return _BLANKS.sub(" ", prompt)


@lru_cache(maxsize=8)  # as of `matchable`
def undecorated(prompt: str) -> str:
    """Return a prompt without blanks around it; one of one line without what marks it as a whole.

    A question is the same with a list's "1. " or "- " or a waving hand before it, quoted with ">",
    in bold, in quotes or in brackets. In more lines such marks say that they are a list.
    """
    prompt = prompt.strip(UNSEEN)
    if "\n" in prompt or len(prompt) > 2 * MATCHED_CHARS:
        return prompt
    for _ in range(_MOST_MARKS):
        bare = _without_marks(prompt)
        if bare == prompt:
            break
        prompt = bare
    return prompt


def _without_marks(prompt: str) -> str:
    if marker := _MARKER.match(prompt):
        return prompt[marker.end() :]
    numbered = _NUMBERED.match(prompt)
    if numbered and _may_open_a_question(numbered["word"]):
        return prompt[numbered.end() :]
    whole = _EMPHASIS.fullmatch(prompt) or _WRAPPED.fullmatch(prompt)
    if whole is None or (len(whole["words"].split()) < 2 and whole["words"] < DENSE_FROM):
        return prompt  # what stands around one word makes a name of it
    words, stop = whole["words"].strip(), whole["stop"]
    return words if words.endswith(("?", "!", ".")) else f"{words}{stop}"


def _may_open_a_question(word: str) -> bool:
    """Whether a word is small or leads to one in any language; without blanks between, any may."""
    first = fold(word)
    is_small = first in folded_words("stopwords") or first in folded_words("framing_words")
    return first >= DENSE_FROM or (is_small and month_token(word) is None)


@lru_cache(maxsize=4096)
def compiled(pattern: str, flags: int = 0) -> regex.Pattern[str]:
    """Return a pattern of a lexicon, compiled when it is first needed.

    Raises:
        ConfigError: If it is none.
    """
    try:
        return regex.compile(pattern, flags)
    except regex.error as error:
        raise ConfigError(f"{pattern!r} is no pattern: {error}", hint="mend the lexicon") from error


def matches(pattern: str, text: str, *, timeout_ms: float) -> bool:
    """Whether a pattern of a lexicon occurs in `text`; one that takes too long does not."""
    return first_match(pattern, text, timeout_ms=timeout_ms) is not None


def first_match(
    pattern: str, text: str, *, timeout_ms: float, flags: int = 0
) -> regex.Match[str] | None:
    """Return where a pattern of a lexicon first occurs; one that takes too long does not.

    Watching the clock costs twice what searching a short text does, so only longer ones are timed:
    what ships is linear on hostile text, and a test holds it to that.
    """
    if len(text) <= _TIMED_CHARS:
        is_plain = _is_plain(text) and (not flags or pattern.isascii())
        return (_quickly_compiled if is_plain else compiled)(pattern, flags).search(text)
    try:
        return compiled(pattern, flags).search(text, timeout=timeout_ms / 1000)
    except TimeoutError:
        return None


@lru_cache(maxsize=8)  # some fifty patterns are asked of one text
def _is_plain(text: str) -> bool:
    """Whether `regex` and the standard library agree on what a word or a blank of a text is."""
    return text.isascii() and text.replace("\n", " ").isprintable()


@lru_cache(maxsize=4096)
def _quickly_compiled(pattern: str, flags: int) -> regex.Pattern[str]:
    """Return a pattern that finds the same in plain text, compiled in a third of the time.

    What the standard library does not know, such as a look behind of any length, `regex` compiles.
    """
    try:
        return cast("regex.Pattern[str]", re.compile(pattern, int(flags)))
    except re.error:
        return compiled(pattern, flags)


def without(pattern: str, text: str, *, timeout_ms: float) -> str:
    """Return a text without what a pattern finds in it; as it is where that takes too long."""
    try:
        return compiled(pattern).sub(" ", text, timeout=timeout_ms / 1000)
    except TimeoutError:
        return text


@lru_cache(maxsize=32)
def load_lexicon(language: str) -> Lexicon:
    """Return the shipped lexicon of a language code such as `en`.

    Raises:
        ConfigError: If no such lexicon is shipped, or its file is not UTF-8.
    """
    path = _FOLDER / f"{language}.yaml"
    if not language.isalpha() or not path.is_file():
        known = ", ".join(sorted(p.stem for p in _FOLDER.glob("*.yaml")))
        raise ConfigError(f"no lexicon for language {language!r}", hint=f"there are: {known}")
    try:
        text = path.read_text("utf-8")
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path.name} is not UTF-8", hint="save it as UTF-8") from error
    return Lexicon(text, path.name)


def load_lexicons(languages: Iterable[str]) -> tuple[Lexicon, ...]:
    """Return lexicons in the order asked."""
    return tuple(load_lexicon(language) for language in languages)


@cache
def folded_words(kind: WordKind) -> frozenset[str]:
    """Return the words of a kind in every shipped language, folded."""
    return frozenset[str]().union(*(x.folded(kind) for x in load_lexicons(DEFAULT_LANGUAGES)))


@cache
def word_tokens(kind: WordKind) -> frozenset[str]:
    """Return the index tokens of a kind of words in every shipped language.

    What a memory holds is compared with them, and a memory does not say which language it is in.
    """
    return _tokens(w for x in load_lexicons(DEFAULT_LANGUAGES) for w in x.listed(kind))


def is_word_of(kind: WordKind, token: str) -> bool:
    """Whether a token is one of `word_tokens`.

    To make tokens of all listed words takes up to 90 ms. Those that begin like the token are
    enough: stemming keeps the first letter of a base form.
    """
    return token in _tokens_beginning(kind, token[:1])


@cache
def _tokens_beginning(kind: WordKind, letter: str) -> frozenset[str]:
    return _tokens(_by_first_letter(kind).get(letter, ()))


@cache
def _by_first_letter(kind: WordKind) -> Mapping[str, Sequence[str]]:
    """Return the words of a kind in every shipped language by what their tokens may begin with."""
    by_letter: dict[str, list[str]] = {}
    for word in (word for x in load_lexicons(DEFAULT_LANGUAGES) for word in x.listed(kind)):
        folded = fold(word)
        parts = folded if folded >= DENSE_FROM else _PART.findall(folded)
        for letter in {base_form(part)[0] for part in parts}:
            by_letter.setdefault(letter, []).append(word)
    return by_letter


def phrases_of_every_language(*kinds: PhraseKind) -> list[str]:
    """Return the phrases of some kinds in every shipped language, each once."""
    every = load_lexicons(DEFAULT_LANGUAGES)
    return list(
        dict.fromkeys(phrase for kind in kinds for x in every for phrase in x.phrases(kind))
    )


def is_hiragana(token: str) -> bool:
    """Whether a token is of hiragana alone: pairs of them are endings and particles."""
    return all("\u3040" <= letter <= "\u309f" for letter in token)


def _tokens(listed: Iterable[str]) -> frozenset[str]:
    return frozenset(found.token for word in listed for found in words(word))


def _alternation(patterns: Sequence[str]) -> str:
    """Join patterns that are only asked whether they match: no group of them need be kept.

    Groups are a fifth of what it costs to compile them.
    """
    return "|".join(f"(?:{_GROUP.sub('(?:', pattern)})" for pattern in patterns)
