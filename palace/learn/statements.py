"""Sentences of a conversation: how a message is cut into them, and which of them are statements.

In: the text of a message. Out: its sentences without code, quotes and our own blocks; and of what
a person said, what they stated outright.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

import regex

import palace.learn.word_classes as lists
from palace.learn.cues import MAX_SENTENCE_CHARS, Cues, asks, place_in, plain
from palace.recall.blocks import strip_own_markers
from palace.recall.language import language_of
from palace.recall.lexicon import DEFAULT_LANGUAGES, DENSE_FROM, load_lexicons
from palace.text import Word, fold, tokens, words
from palace.text.full_stops import ends_sentence

StatementKind = Literal["preference", "fact", "correction"]

_FENCE = regex.compile(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)", regex.DOTALL)
_CITED_LINE = regex.compile(r"^[ \t]*(?:>|\||(?: {4}|\t)\S).*$", regex.MULTILINE)
_BULLET = regex.compile(r"^[ \t]*(?:[-*+•]|\d{1,3}[.)])[ \t]+|^#{1,6}[ \t]+|\*\*|__")
# Before a small letter a full stop ends a sentence behind a long word: no abbreviation has so many.
_END = regex.compile(
    r"(?<=[.!?…])[\"')\]]*\s+(?=[\p{Lu}\p{Lo}\p{N}\"'(¿¡])|(?<=[。！？])"
    r"|(?<=\p{L}{5}\.|[!?])\s+(?=\p{Ll})"
)
_QUOTATION = regex.compile(r"[\"„“”«»]|(?<!\w)['‘’](?=\w)[^'‘’]{2,}['‘’](?!\w)|`")
_SPELLED = (lists.WEEKDAYS.keys() - lists.AMBIGUOUS_DAYS) | lists.VALUES
_SHARED_WORDS = 2
_LEAST_WORDS = 4
_LASTING: tuple[StatementKind, ...] = ("preference", "fact")


@dataclass(frozen=True, slots=True)
class Statement:
    """Something a person stated outright.

    Attributes:
        text: Their words, verbatim, without what only led to the statement.
        kind: What sort of statement it is.
        wrong: For a correction that names both: the words that are wrong.
        right: For a correction that names both: the words that are right.
        whole: Whether the words make sense alone, without what was said before.
        about: For such a correction: the sentence that holds the wrong words.
        at: When it was said, aware; None where nobody knows.
    """

    text: str
    kind: StatementKind
    wrong: str = ""
    right: str = ""
    whole: bool = True
    about: str = ""
    at: datetime | None = None


def sentences(message: str) -> list[str]:
    """Return the sentences of a message, each on one line; code, cited lines and echo left out."""
    said = _CITED_LINE.sub("", _FENCE.sub("\n", strip_own_markers(message)))
    found: list[str] = []
    for line in said.splitlines():
        text, start = _BULLET.sub("", line), 0
        for end in _END.finditer(text):
            stop = end.start() - 1
            if text[stop] != "." or ends_sentence(text, stop):
                found.append(text[start : end.end()])
                start = end.end()
        found.append(text[start:])
    return [" ".join(sentence.split()) for sentence in found if sentence.strip()]


def stated(text: str, *, before: str = "", cues: Sequence[Cues]) -> list[Statement]:
    """Return what a person stated outright in a message, in order.

    Preferences and facts about themselves or their own, and corrections of what was said before.
    Questions, hypotheticals, quotes, other people, moods, sarcasm, tasks and what only holds now
    are none of it; nor is anything before they take it back, or behind a request to work on a
    text, which is that text.

    Args:
        text: The message.
        before: What the assistant said last, for corrections.
        cues: The languages to read.
    """
    found: list[Statement] = []
    unjudged = ""
    for sentence in sentences(text):
        if any(c.says("text_task", plain(sentence)) for c in cues):
            break
        if len(sentence) > MAX_SENTENCE_CHARS or _QUOTATION.search(sentence):
            continue
        taken_back = [m for c in cues if (m := c.find("retraction", plain(sentence)))]
        own = sentence
        if taken_back:
            found.clear()
            own = sentence[place_in(sentence, max(m.end() for m in taken_back)) :].strip(" ,;:")
        made = (_judge(own, before, c) for c in cues)
        asked = (_remembered(unjudged, c) for c in cues if _only_asks(own, c))
        statement = next((s for s in (*made, *asked) if s is not None), None)
        if statement is not None and _is_foreign(own, cues):
            statement = None
        unjudged = own if statement is None else ""
        if statement is not None:
            found.append(statement)
    return found


def specifics(sentence: str) -> Iterator[Word]:
    """Yield the words that are values: numbers, identifiers, names, weekdays."""
    for number, word in enumerate(words(sentence)):
        capital = word.surface[:1].isupper() and number > 0 and len(word.surface) > 1
        if word.shape in ("number", "identifier") or capital or fold(word.surface) in _SPELLED:
            yield word


def _is_foreign(sentence: str, cues: Sequence[Cues]) -> bool:
    """Whether a sentence is in a language without cues: Polish "nie" is no German "nie"."""
    known = [c.language for c in cues]
    lexicons = load_lexicons(dict.fromkeys((*known, *DEFAULT_LANGUAGES)))
    return language_of(sentence, words(sentence), lexicons).language not in known


def _judge(sentence: str, before: str, cues: Cues) -> Statement | None:
    whole = plain(sentence)
    if asks(whole) or cues.says("sarcasm", whole):
        return None
    correction = _correction(sentence, before, cues)
    if correction is not None:
        return correction
    asked = _without_request(sentence, cues)
    if asked and (remembered := _remembered(asked, cues)):
        return remembered
    statement = cues.without_lead_in(asked or sentence)
    said = plain(statement)
    return None if _is_veiled(said, cues) else _kept(statement, said, cues)


def _without_request(sentence: str, cues: Cues) -> str | None:
    """Return a sentence without its request to remember it; None if it has none."""
    found = cues.find("remember", plain(sentence))
    if found is None:
        return None
    start, end = (place_in(sentence, at) for at in found.span())
    stop = sentence[-1] if end == len(sentence) and sentence[-1] in ".!。" else ""
    rest = f"{sentence[:start]} {sentence[end:]}".strip(" ,:;、")
    return f"{rest}{stop}" if rest else ""


def _only_asks(sentence: str, cues: Cues) -> bool:
    """Whether a sentence only asks to remember the one before it: "Please keep that in mind."."""
    rest = _without_request(sentence, cues)
    return rest is not None and len(words(rest)) < _SHARED_WORDS + 1


def _remembered(sentence: str, cues: Cues) -> Statement | None:
    """Return what a person asks to be remembered; a few words or a question are none."""
    statement = cues.without_lead_in(sentence)
    if len(words(statement)) < _LEAST_WORDS or _is_veiled(plain(statement), cues):
        return None
    return Statement(_capitalised(statement), "fact")


def _kept(statement: str, said: str, cues: Cues) -> Statement | None:
    """Return a preference or a fact; what points at something shown is none."""
    if cues.says("deictic", said):
        return None
    for kind in _LASTING:
        valued = cues.says(f"{kind}_specific", said) and any(specifics(statement))
        if valued or cues.says(kind, said):
            return Statement(_capitalised(statement), kind)
    return None


def _is_veiled(said: str, cues: Cues) -> bool:
    """Whether a plain sentence asks, announces, supposes, quotes, or says what only holds now."""
    veils = ("question", "hypothetical", "quoted", "not_now")
    return said.endswith(":") or asks(said) or any(cues.says(veil, said) for veil in veils)


def _correction(sentence: str, before: str, cues: Cues) -> Statement | None:
    """Return what corrects the assistant's words: it is about them, and says what is right."""
    whole = plain(sentence)
    lead = cues.find("correction_lead", whole)
    rest = sentence[place_in(sentence, lead.end() if lead else 0) :].strip(" ,:;")
    said = plain(rest)
    contrast = cues.find("contrast", said)
    about = set(tokens(before))
    if _is_veiled(said, cues) or not about:
        return None
    verb = contrast and contrast.groupdict().get("verb")
    if contrast and not (
        _is_within(contrast["wrong"], about) and about.issuperset(tokens(verb or ""))
    ):
        contrast, verb = None, None
    # No clause, such as "B14, not B12.", has to name a value: "blue, not green" may be a wish.
    valued = contrast is not None and any(specifics(f"so {contrast['right']}"))
    if not (valued or verb or cues.says("clause", said)):
        return None
    own = {t for word in specifics(rest) for t in (word.token, *word.parts)}
    led = cues.says("correction", whole) and len(set(tokens(rest)) & about) >= _SHARED_WORDS
    if contrast is None and not (led and own - about):
        return None
    if contrast is None:
        wrong, right = _exchanged(rest, said, about, cues)
    else:
        wrong, right = (_words_of(rest, contrast.span(name)) for name in ("wrong", "right"))
    if not wrong:
        return Statement(_capitalised(rest), "correction")
    return Statement(
        _capitalised(rest),
        "correction",
        wrong,
        right,
        whole=contrast is None or contrast["subject"] is None,
        about=next((s for s in sentences(before) if plain(wrong) in plain(s)), ""),
    )


def _exchanged(rest: str, said: str, about: set[str], cues: Cues) -> tuple[str, str]:
    """Return the one value that is denied and the only new one, where they are of one sort."""
    denied = cues.find("denied", said)
    if denied is None or not _is_within(denied["wrong"], about):
        return "", ""
    right_part = rest[: place_in(rest, denied.start())]
    wrong_part = _words_of(rest, denied.span("wrong"))
    new = {w.surface for w in specifics(right_part) if w.token not in about}
    old = {w.surface for w in specifics(f"so {wrong_part}")}
    if len(new) != 1 or len(old) != 1:
        return "", ""
    wrong, right = old.pop(), new.pop()
    around = set(tokens(wrong_part)) - set(tokens(wrong))
    alike = _has_digit(wrong) == _has_digit(right) and around.issubset(tokens(right_part))
    return (wrong, right) if alike else ("", "")


def _has_digit(text: str) -> bool:
    return any(map(str.isdigit, text))


def _is_within(phrase: str, about: set[str]) -> bool:
    """Whether what is called wrong is what was said, all of it that carries a value."""
    content = [t for t in tokens(phrase) if len(t) > 2 or t.isdigit() or _is_pair(t)]
    return bool(content) and any(t in about for t in content[-1:])


def _is_pair(token: str) -> bool:
    """Whether it is two letters of writing without blanks."""
    return len(token) > 1 and token[0] >= DENSE_FROM


def _words_of(sentence: str, span: tuple[int, int]) -> str:
    start, end = (place_in(sentence, at) for at in span)
    return sentence[start:end].strip(" ,.")


def _capitalised(text: str) -> str:
    stripped = text.strip()
    return stripped[:1].upper() + stripped[1:]
