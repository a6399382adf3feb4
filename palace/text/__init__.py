"""Pure text: index tokens, words, names, numbers and dates, the same for writing and asking.

In: any text at all. Out: tokens that hold only letters, digits and inner punctuation, so that they
are safe in any query language once quoted.
"""

from __future__ import annotations

import re
import threading
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain, groupby
from typing import Literal, NamedTuple

import regex
from snowballstemmer.english_stemmer import EnglishStemmer
from snowballstemmer.russian_stemmer import RussianStemmer

from palace.text.late_patterns import late
from palace.text.months import DATED_MONTHS, MONTH_NAMES, NO_MONTH, SMALL_MONTHS, is_dated

MAX_TOKEN_CHARS = 64

# Scripts written without spaces (or, for Hangul, with particles glued on) are cut into bigrams.
_DENSE = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}\u30FC"
MONEY = "€"
"""Index token of any currency's sign at a number."""
# Korean "12,000원", "5만 원" and "삼만 원"; what follows the unit is a particle.
_WON = r"원(?<=(?:\d|[백천만억조] )원)"
_CHUNK = regex.compile(
    rf"(?P<money>{_WON})|(?P<dense>[{_DENSE}]+)"
    r"|(?P<sign>(?<![\p{L}\p{N}_])[A-Za-z](?:\+\+|\#)(?!\p{L}))"
    r"|(?P<money>[$€£¥₽₹₩₺](?=[ \u00A0]?\d)|(?<=\d[ \u00A0]?)[€£¥₽₹₩₺]"
    r"|(?<=\d),[-–—](?![\p{L}\p{N}]))"
    rf"|(?P<word>[[\p{{L}}\p{{N}}_]--[{_DENSE}]][[\p{{L}}\p{{M}}\p{{N}}_]--[{_DENSE}]]*+"
    rf"(?:[.'’\-:/@+,][[\p{{L}}\p{{N}}_]--[{_DENSE}]][[\p{{L}}\p{{M}}\p{{N}}_]--[{_DENSE}]]*+)*+)",
    regex.VERSION1,
)
# The same where there are no other letters, in a third of the time.
_ASCII_CHUNK = re.compile(
    r"(?P<sign>(?<![A-Za-z0-9_])[A-Za-z](?:\+\+|#)(?![A-Za-z]))"
    r"|(?P<money>\$(?= ?\d)|(?<=\d),-(?![A-Za-z0-9]))"
    r"|(?P<word>[A-Za-z0-9_]+(?:[.'\-:/@+,][A-Za-z0-9_]+)*)"
)
_NO_TOKEN = late(r"[^\p{L}\p{M}\p{N}_.'’\-:/@+,#]")
# What shows nothing between letters: soft hyphens, breaks without width, directions. Joiners part
# words in some scripts; between Latin letters they only forbid a ligature.
_SHOWS_NOTHING = "\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff"
HIDDEN = regex.compile(
    rf"(?<=\p{{Latin}})[{_SHOWS_NOTHING}\u200c\u200d]+(?=\p{{Latin}})|[{_SHOWS_NOTHING}]+"
)
_APOSTROPHES = regex.compile(r"(?<=[\p{L}\p{M}])[\u02BC\u02BB\uFF07‘‛′´`](?=\p{L})")
_TYPOGRAPHIC = str.maketrans(
    {
        **dict.fromkeys("‘’‚‛′ʼ＇", "'"),
        **dict.fromkeys("“”„‟″«»＂", '"'),
        **dict.fromkeys("‐‑‒–—―−", "-"),
        "…": "...",
    }
)
_WIDTH_FORMS = regex.compile(r"[\uFF00-\uFFEF]")
_CAMEL = late(r"\p{Lu}+(?=\p{Lu}\p{Ll})|\p{Lu}?\p{Ll}+|\p{Lu}+|\p{N}+")
_SPLIT = late(r"[.'’\-:/@+,_]+")
_GROUPED_DECIMAL = late(r"\d{1,3}(?:(?:,\d{3})+\.|(?:\.\d{3})+,)\d+")
_GROUPED_NUMBER = late(r"\d{1,3}(?:[,.]\d{3})+")
_NUMBER = regex.compile(r"\d+(?:[.,]\d+)*")
_ISO_DATE = late(r"(?<!\d)(\d{4})-(\d{2})-(\d{2})(?!\d)")
_ISO_MONTH = late(r"(?<!\d)(\d{4})-(0[1-9]|1[0-2])(?![\d-])")
# Written so, a day and a month are told apart: "2.11.2026", "2026/11/2".
_PLAIN_DATE = late(
    r"(?:0?[1-9]|[12]\d|3[01])\.(?P<month>0?[1-9]|1[0-2])\.(?P<year>(?:19|20)\d\d)"
    r"|(?P<year>(?:19|20)\d\d)/(?P<month>0?[1-9]|1[0-2])/(?:0?[1-9]|[12]\d|3[01])"
)
# A mark inside a word or an address ends nothing; in scripts without blanks words follow at once.
_SENTENCE_END = late(rf"(?<![.!?…])[.!?…]++(?=[\s\"'”’)\]{_DENSE}]|$)|[。؟\n]+")
_QUESTION_MARKS = frozenset("?？؟")
_POSSESSIVE = late(r"['’]s$", regex.IGNORECASE)
_MARKS = dict.fromkeys(range(0x0300, 0x0370))  # combining accents
_UNFOLDED = str.maketrans("øłđıð\u2044", "oldid/") | str.maketrans(
    {"æ": "ae", "œ": "oe", "þ": "th"}
)

_IRREGULAR_LINES = """
be am is are was were been being|have has had having|do does did done|go goes went gone
buy bought|bring brought|think thought|catch caught|teach taught|seek sought|fight fought
say said|pay paid|tell told|sell sold|hold held|keep kept|sleep slept|feel felt|leave left
lose lost|meet met|send sent|spend spent|lend lent|build built|lead led|feed fed|read|run ran
sit sat|win won|begin began begun|drink drank drunk|sing sang sung|swim swam swum|ring rang rung
speak spoke spoken|break broke broken|choose chose chosen|steal stole stolen|freeze froze frozen
write wrote written|drive drove driven|ride rode ridden|rise rose risen|give gave given
take took taken|shake shook shaken|fall fell fallen|eat ate eaten|see saw seen|come came
become became|know knew known|grow grew grown|throw threw thrown|fly flew flown|draw drew drawn
show showed shown|wear wore worn|tear tore torn|find found|get got gotten|make made|stand stood
understand understood|forget forgot forgotten|hear heard|hide hid hidden|bite bit bitten
lie lay lain|mean meant|deal dealt|dream dreamt|learn learnt|burn burnt|shoot shot|stick stuck
strike struck|hang hung|dig dug|bind bound|wake woke woken|sew sewn|forgive forgave forgiven
child children|person people|man men|woman women|mouse mice|foot feet|tooth teeth|goose geese
life lives|wife wives|knife knives|leaf leaves|shelf shelves|analysis analyses|criterion criteria
"""
_IRREGULAR = {
    form: forms[0]
    for line in _IRREGULAR_LINES.split("\n")
    for forms in (group.split() for group in line.split("|"))
    for form in forms[1:]
}

_PERHAPS_MONTHS = SMALL_MONTHS | DATED_MONTHS

# Numbers and letters in brackets that are one character ("⑽"): the brackets are no part of a word.
_BRACKETED = {
    code: unicodedata.normalize("NFKC", chr(code)).strip("()")
    for first, last in ((0x2474, 0x24B5), (0x3200, 0x3243), (0x1F110, 0x1F12A))
    for code in range(first, last + 1)
}


def fold(text: str) -> str:
    """Return `text` in NFKC, case-folded, Latin/Greek/Cyrillic accents removed."""
    if text.isascii():
        return text.casefold()
    lowered = unicodedata.normalize("NFKC", text.translate(_BRACKETED)).casefold()
    if lowered.isascii():
        return lowered
    plain = unicodedata.normalize("NFD", lowered).translate(_MARKS)
    return unicodedata.normalize("NFC", plain).translate(_UNFOLDED)


_MONTHS = {
    fold(name): f"month{number:02d}"
    for number, names in enumerate(MONTH_NAMES, 1)
    for name in names
}


class _Stemmers(threading.local):
    """The stemmers of one thread: they write down in themselves the word they are at.

    Always those in Python, of one version: the package itself prefers a compiled one of any other
    version where that is installed, and the index, the weights and the table of related words are
    made of these stems.
    """

    def __init__(self) -> None:
        self.english = EnglishStemmer()
        self.russian = RussianStemmer()


_STEMMERS = _Stemmers()


def base_form(word: str) -> str:
    """Return the base form of a folded English word that is irregular, else the word."""
    return _IRREGULAR.get(word, word)


@lru_cache(maxsize=131_072)
def stem(word: str) -> str:
    """Return the index stem of one folded word.

    English irregular forms are mapped to their base first ("went" -> "go"); Cyrillic words go
    through the Russian stemmer, Latin ones through the English one, others stay as they are.

    Source: Porter2 and the Russian stemmer of the Snowball project, as of its version 2.2.
    """
    base = base_form(word)
    if base.isascii():
        return str(_STEMMERS.english.stemWord(base)) if base.isalpha() else base
    if is_cyrillic(base):
        return str(_STEMMERS.russian.stemWord(base))
    return base


def is_cyrillic(word: str) -> bool:
    """Whether a word begins with a Cyrillic letter: it is written with endings."""
    return "CYRILLIC" in unicodedata.name(word[:1] or " ", "")


WordShape = Literal["word", "identifier", "number", "dense"]


class Word(NamedTuple):
    """One word of a text.

    Attributes:
        surface: As written, possessive ending removed.
        start: Offset of the first character in the text, in characters.
        token: The one token that stands for it.
        parts: Tokens that together stand for it too.
        extra: Further tokens that the index gets for it (months of ISO dates, single characters).
    """

    surface: str
    start: int
    shape: WordShape
    token: str
    parts: tuple[str, ...] = ()
    extra: tuple[str, ...] = ()

    @property
    def end(self) -> int:
        """Offset behind its last character in the text."""
        return self.start + len(self.surface)


def words(text: str) -> list[Word]:
    """Cut a text into words, in order; linear in its length.

    Identifiers (`handleWebSocketReconnect`, `v2.0.1`, `guest_wifi`) and hyphenated words are one
    word with parts; words joined by an apostrophe or a slash are several words.
    """
    found = [_moved(word, start) for start, cut in _chunks(text) for word in cut]
    if found and found[-1].start >= len(text):  # composing makes two letters of a few
        return [word._replace(start=min(word.start, len(text) - 1)) for word in found]
    return found


def _chunks(text: str) -> Iterator[tuple[int, Sequence[Word]]]:
    """Yield where each chunk of a text begins, and its words as if the text began there."""
    if text.isascii():
        found: Iterator[re.Match[str]] | Iterator[regex.Match[str]] = _ASCII_CHUNK.finditer(text)
    elif HIDDEN.search(text):
        yield from _shown_chunks(text)
        return
    else:
        text = composed(text)
        found = _CHUNK.finditer(text)
    for match in found:
        chunk, kind, start = match[0], match.lastgroup, match.start()
        if kind == "word":
            if chunk in _PERHAPS_MONTHS and is_dated(text, start, match.end()):
                yield start, [_month_word(chunk, 0, chunk.lower())]
            else:
                yield start, _cut(chunk)
        elif kind == "dense":
            yield start, _dense_words(chunk)
        elif kind == "sign":  # C++, C#, F#
            yield start, [Word(chunk, 0, "identifier", chunk.lower())]
        else:
            yield start, [Word(chunk, 0, "word", MONEY)]


def _shown_chunks(text: str) -> Iterator[tuple[int, Sequence[Word]]]:
    """Yield the chunks of a text as it is read, and where each begins in what is written."""
    hidden = {n for found in HIDDEN.finditer(text) for n in range(*found.span())}
    places = [n for n in range(len(text)) if n not in hidden]
    for start, cut in _chunks(HIDDEN.sub("", text)):
        yield places[min(start, len(places) - 1)], cut


@lru_cache(maxsize=65_536)
def _cut(chunk: str) -> tuple[Word, ...]:
    return tuple(_spaced_words(chunk))


def _moved(word: Word, offset: int) -> Word:
    return Word(word.surface, word.start + offset, word.shape, word.token, word.parts, word.extra)


def composed(text: str) -> str:
    """Return text in which one letter is one character: composed accents, full-width kana."""
    text = one_apostrophe(text)
    if _WIDTH_FORMS.search(text):
        return unicodedata.normalize("NFKC", text)
    return unicodedata.normalize("NFC", text)


def one_apostrophe(text: str) -> str:
    """Return text with "’" inside its words, whichever apostrophe was typed: "Miraʼs", "don`t"."""
    return _APOSTROPHES.sub("’", text)


def straight(text: str) -> str:
    """Return text with straight quotes, hyphens and three dots for their typographic signs."""
    return text.translate(_TYPOGRAPHIC)


def tokens(text: str) -> list[str]:
    """Return the index tokens of a text, in order, repetitions kept."""
    return tokens_of(chain.from_iterable(found for _, found in _chunks(text)))


def tokens_of(found: Iterable[Word]) -> list[str]:
    """Return the index tokens of words that were cut already."""
    result: list[str] = []
    for word in found:
        result.append(word.token)
        if word.parts:
            result.extend(part for part in word.parts if part != word.token)
        result.extend(word.extra)
    return result


def question_ranges(text: str, found: Sequence[Word]) -> Iterator[tuple[int, int]]:
    """Yield which of the tokens of `tokens_of(found)` stand in a question, as (start, end).

    A question is a sentence that ends in a question mark; `text` is what `found` was cut from.
    """
    if _QUESTION_MARKS.isdisjoint(text):
        return
    if not text.isascii():
        text = composed(text)  # as `words` reads it, so that places agree
    sentences = list(_SENTENCE_END.finditer(text))
    ends = [end.end() for end in sentences]
    questions = {n for n, end in enumerate(sentences) if not _QUESTION_MARKS.isdisjoint(end[0])}
    here = 0
    for sentence, spoken in groupby(found, key=lambda word: bisect_right(ends, word.start)):
        start, here = here, here + len(tokens_of(spoken))
        if sentence in questions:
            yield start, here


def name_tokens(text: str) -> Iterator[str]:
    """Yield tokens of words that look like names: capitals inside a sentence, identifiers.

    A capitalised word at the start of a sentence counts only when another follows it.
    """
    yield from name_tokens_of(text, words(text))


def name_tokens_of(text: str, found: Sequence[Word]) -> Iterator[str]:
    """Yield the tokens of `name_tokens` from words that were cut already."""
    for number, word in enumerate(found):
        if word.shape == "identifier":
            yield word.token
        elif word.shape == "word" and word.surface[0].isupper():
            following = found[number + 1] if number + 1 < len(found) else None
            paired = (
                following is not None
                and following.surface[:1].isupper()
                and text[word.end : following.start].strip() == ""
            )
            if paired or not starts_sentence(text, word.start):
                yield word.token


def starts_sentence(text: str, start: int) -> bool:
    """Whether the word at `start` opens a sentence, a line or a list item."""
    before = text[:start].rstrip(" \t*_`\"'“‘(«¿¡#>\u200e\u200f\ufeff")
    if not before or before[-1] in ".!?:;\n-–—•。！？":
        return True
    return not any(map(str.isalnum, before))  # behind "👋" nothing was said yet


def _dense_words(run: str) -> list[Word]:
    folded = fold(run)
    if len(folded) == 1:
        return [Word(run, 0, "dense", folded)]
    last, end = len(folded) - 2, len(run) - 1
    return [
        Word(
            folded[i : i + 2],
            min(i, end),  # folding makes two letters of some
            "dense",
            folded[i : i + 2],
            extra=(folded[i], folded[i + 1]) if i == last else (folded[i],),
        )
        for i in range(last + 1)
    ]


def _spaced_words(chunk: str) -> list[Word]:
    if chunk.isalpha() and (len(chunk) == 1 or chunk[1:].islower()):  # most words are plain ones
        return [_plain_word(chunk, 0)]
    bare = _POSSESSIVE.sub("", chunk)
    if bare[0].isdigit() and not any(c.isalpha() for c in bare):
        return [_number_word(bare)]
    if _is_identifier(bare):
        return [_identifier_word(bare, 0)]
    pieces = []
    offset = 0
    for piece in _SPLIT.split(bare):
        offset = bare.find(piece, offset)
        if piece:
            pieces.append(_plain_word(piece, offset))
        offset += len(piece)
    if len(pieces) > 1 and "-" in bare and not any(c in "./:@+," for c in bare):
        return [_compound_word(bare, pieces)]
    return pieces


def _compound_word(chunk: str, pieces: Sequence[Word]) -> Word:
    """Return a hyphenated word: "Wi-Fi" is found by "wifi", "e-mail" is not any "mail"."""
    joined = stem(_as_token("".join(c for c in chunk if c.isalnum())))
    parts = tuple(p.token for p in pieces)
    extra = tuple(token for p in pieces for token in p.extra)
    if len(pieces[0].surface) == 1:
        return Word(chunk, 0, "word", joined, extra=(*parts, *extra))
    return Word(chunk, 0, "word", joined, parts=parts, extra=extra)


def _as_token(text: str) -> str:
    """Return folded text as a token: compatibility forms may unfold into spaces and dots."""
    folded = fold(text)
    return (folded if folded.isascii() else _NO_TOKEN.sub("", folded))[:MAX_TOKEN_CHARS]


def _plain_word(piece: str, start: int) -> Word:
    if not piece.isalpha() and any(c.isdigit() for c in piece):
        return _identifier_word(piece, start)
    folded = _as_token(piece)
    month = None if piece == NO_MONTH or folded in DATED_MONTHS else _MONTHS.get(folded)
    if month and (folded not in SMALL_MONTHS or piece[0].isupper()):
        return _month_word(piece, start, folded)
    return Word(piece, start, "word", stem(folded) or folded or piece)


def _month_word(piece: str, start: int, folded: str) -> Word:
    return Word(piece, start, "word", _MONTHS[folded], extra=(stem(folded),))


def _number_word(chunk: str) -> Word:
    token = canonical_number(chunk)
    iso = _ISO_DATE.fullmatch(chunk)
    if iso:
        year, month, _ = iso.groups()
        return Word(chunk, 0, "number", chunk, extra=(year, f"month{month}"))
    iso = _ISO_MONTH.fullmatch(chunk)
    if iso:
        return Word(chunk, 0, "number", chunk, extra=(iso[1], f"month{iso[2]}"))
    token = token[:MAX_TOKEN_CHARS]
    date = _PLAIN_DATE.fullmatch(chunk)
    month = (f"month{int(date['month']):02}",) if date else ()
    if chunk.count(".") > 1:  # a version: "4.2.0" is found by "4.2" too
        shorter = chunk.rpartition(".")[0][:MAX_TOKEN_CHARS]
        year = (date["year"],) if date else ()
        return Word(chunk, 0, "number", token, extra=(shorter, *year, *month))
    if token != chunk or "." in chunk:
        return Word(chunk, 0, "number", token)
    parts = [p[:MAX_TOKEN_CHARS] for p in _SPLIT.split(chunk) if p]
    extra = (*parts, *month) if len(parts) > 1 else ()
    return Word(chunk, 0, "number", token, extra=extra)


def _is_identifier(chunk: str) -> bool:
    """Whether a chunk is code-like: inner capitals, underscores, or digits joined to letters."""
    if "_" in chunk or "@" in chunk or any(c.isdigit() for c in chunk):
        return True
    inner = chunk[1:]
    if "-" in inner or "'" in inner or "’" in inner:
        return False
    if any(c in "./:+," for c in inner):
        return "." in inner and not any(c in "/:," for c in inner) and len(chunk) > 4
    return any(c.isupper() for c in inner) and any(c.islower() for c in chunk)


def _identifier_word(chunk: str, start: int) -> Word:
    token = _as_token(chunk)
    parts: list[str] = []
    for piece in _SPLIT.split(chunk):
        for part in _CAMEL.findall(piece) or ([piece] if piece else []):
            folded = _as_token(part)
            parts.append(stem(folded) if folded.isalpha() else folded)
    useful = tuple(p for p in parts if len(p) > 1 or p.isdigit())
    extra: tuple[str, ...] = ()
    if len(token) > 2 and token[0] == "v" and token[1].isdigit():
        extra = (token[1:],)
    return Word(chunk, start, "identifier", token, parts=useful, extra=extra)


def canonical_number(text: str) -> str:
    """Return a number without thousands separators, with a decimal point: `18,000` -> `18000`."""
    if _GROUPED_NUMBER.fullmatch(text):
        return regex.sub(r"[,.]", "", text)
    if _GROUPED_DECIMAL.fullmatch(text):  # 1,234.56 and 1.234,56
        whole, fraction = regex.split(r"[,.](?=\d+$)", text)
        return f"{regex.sub(r'[,.]', '', whole)}.{fraction}"
    if regex.fullmatch(r"\d+,\d+", text):
        return text.replace(",", ".")
    return text


def numbers(text: str) -> tuple[str, ...]:
    """Return the numbers of a text in canonical form, in order, repetitions kept."""
    return tuple(canonical_number(n) for n in _NUMBER.findall(text))


def month_token(word: str, *, beside_day: bool = False) -> str | None:
    """Return the canonical token (`month02`) of a month's name in any supported language.

    One that is a name or a word elsewhere, too, has one only beside a day or a year.
    """
    folded = fold(word)
    told = beside_day or not (word == NO_MONTH or folded in DATED_MONTHS)
    return _MONTHS.get(folded) if told else None


def month_number(word: str) -> int | None:
    """Return which month of the year a word names, 1 for January, where `month_token` has one."""
    token = month_token(word)
    return int(token.removeprefix("month")) if token else None


def estimate_tokens(text: str) -> int:
    """Estimate how many model tokens a text takes; errs on the high side.

    Four characters a token for spaced scripts, one token a character for dense ones.

    Source: the usual rule of thumb of the byte-pair tokenizers' own documentation.
    """
    dense = 0 if text.isascii() else len(regex.findall(rf"[{_DENSE}]", text))
    return dense + (len(text) - dense + 3) // 4


_LOOK_BACK_CHARS = 80


def right_before(pattern: regex.Pattern[str], text: str, place: int) -> regex.Match[str] | None:
    """Return what stands right before a place of a text, by a pattern that ends with `$`.

    It looks back some words and no further: else every place of a long text would cost the whole.
    """
    return pattern.search(text, max(0, place - _LOOK_BACK_CHARS), place)


def counted(number: int, one: str, many: str = "") -> str:
    """Return a number with the word for so many; that for many is `one` with an s if not given."""
    return f"{number} {one if number == 1 else many or f'{one}s'}"


def clip(text: str, max_chars: int) -> str:
    """Return `text` on one line, cut at a word end with an ellipsis beyond `max_chars`."""
    line = " ".join(text.split())
    if len(line) <= max_chars:
        return line
    cut = line[: max_chars - 1]
    return (cut.rsplit(" ", 1)[0] if " " in cut[max_chars // 2 :] else cut) + "…"
