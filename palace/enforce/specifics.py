"""The parts of a sentence that must be exactly right: addresses, paths, code, quotes, names.

In: a sentence. Out: its specifics with their places; numbers and dates are read elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import regex

from palace.enforce.answer_words import answer_words, read_words
from palace.enforce.han import is_negated_there
from palace.enforce.quantity import Quantity
from palace.recall.given_names import as_listed, given_names
from palace.recall.lexicon import load_lexicon
from palace.recall.related import everyday_words
from palace.text import Word, fold, month_token, right_before, starts_sentence

SpecificKind = Literal["code", "url", "path", "quote", "identifier", "compound", "name"]

_URL = regex.compile(
    r"\b\p{L}[\p{L}\d+.-]{1,10}://[^\s<>\"'`]+|\bwww\.[^\s<>\"'`]+", regex.IGNORECASE
)
_CODE = regex.compile(
    r"(?P<fence>```|~~~(?<=(?:\A|\n)[ \t]*~~~)).*?(?:(?P=fence)|\Z)|``[^`\n]+``|`[^`\n]+`",
    regex.DOTALL,
)
_LANGUAGE = regex.compile(r"\A(?:```+|~~~+)[\w+#.-]{0,20}[ \t]*(?:\r?\n)")
_QUOTE = regex.compile(
    # Behind a digit the sign stands for inches or seconds: 0.9" instead of 0.6".
    r"(?<!\d)\"([^\"\n]{1,300})\"|“([^”\n]{1,300})”|„([^“”\n]{1,300})[“”]|«([^»\n]{1,300})»"
    r"|「([^」\n]{1,300})」|『([^』\n]{1,300})』|(?<![\w’'])[‘']([^‘’'\n]{2,200})[’'](?!\w)"
)
# A part of a path has at most 255 characters, the part of an address before its @ at most 64;
# unbounded, a long run of signs would be read again from each of them.
_PATH = regex.compile(
    r"(?<![\w/:.€$£%°²³])(?:~|\.{1,2}|/)?/[\w.@+~-]+(?:/[\w.@+~*-]+)*/?"
    r"|(?<![\w/])(?!\d{1,2}/\d{1,2}/\d{2,4}\b|\d{4}/\d{1,2}/\d{1,2}(?![\w/]))"
    r"[\w.@+-]{1,255}+/(?:[\w.@+-]{1,255}+/)+[\w.@+-]*"
    r"|(?<![\w/])\p{L}[\w.-]{0,255}+/(?![\w/.])"
    r"|(?<![\w/.])[\w@+-]{1,255}+/[\w@+-]{0,255}+\.\p{L}[\w.]*\b"
    r"|(?<![\w/.@-])(?:[\w-]{1,63}\.){1,8}\p{L}{2,24}/[\w.@+~%-]+(?![\w/])"  # example.org/new
    r"|\b[A-Za-z]:\\[^\s\"'`]+|(?<!\w)#[\p{L}_][\w-]*"
)
_IDENTIFIER = regex.compile(
    # Digits in groups: of an account, of a card, of a telephone.
    r"(?<!\w)\p{Lu}{2}\d\d(?:[ \u00a0][\p{Lu}\d]{4}){2,7}(?:[ \u00a0][\p{Lu}\d]{1,3})?(?!\w)"
    r"|(?<![\w.,:/-])\d{4}(?:[ \u00a0-]\d{4}){3}(?![\w-]|[.,]\d)"
    r"|(?<![\w.,:/+-])(?!0[.,])(?=(?:\+|0)(?:[ \u00a0./()-]{0,2}\d){9})(?:\+|\(?0)\d{0,14}"
    r"(?:[ \u00a0./()-]{1,2}\d{1,12}){0,8}(?![\w-]|[.,]\d)"
    r"|[\w.+-]{1,64}+@[\w-]++(?:\.[\w-]+)+"
    r"|(?<![\w.])(?!(?:mid|early|late|end|pre|post)-\d{4}\b)"
    r"[\p{L}_][\w]*(?:[-./:][\w]+){0,32}\d[\w]*(?:[-./:][\w]+)*"  # p95, HTTP/2
    r"|(?<![\w.])(?!\d+[x×](?!\p{L}))\d+(?:[.,]\d+)?\p{Latin}[\w-]*"  # 22B
    r"|(?<![\w.-])\d+-\d*\p{Lu}\w*(?:-\w+)*"  # 608-2RS
    r"|(?<![\w.,])\d{16,}(?![\w])"  # more digits than a float can tell apart
    r"|(?<![\w-])(?:--[a-z][\w-]+|-\p{L}\w{0,8}\d\w*(?![\w-]))"  # --jobs, -j8
    r"|(?<!\w)[\p{L}\d]*_[\w]+(?:\.\w+)*"  # mail_dead
    r"|(?<![\w.])\p{L}[\w-]{1,255}+\.[a-z]\w{0,9}(?:\.\w+)*(?!\w)"  # worker.py
    r"|(?<![\w-])\p{Ll}+\p{Lu}\w*|(?<!\w)\p{Lu}\p{Ll}+(?:\p{Lu}\p{Ll}+)+\w*"  # camelCase
)
# Letters of writing without blanks: an identifier beside them is none of theirs ("端口是5432").
DENSE = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Thai}\u30fc]")
"""Letters of writing without blanks."""
_COLOUR = regex.compile(r"#(?=\d*[A-Fa-f])(?:[\dA-Fa-f]{3}){1,2}(?!\w)")
_COMPOUND = regex.compile(r"(?<![\w/-])\p{Ll}{2,}(?:[-/]\p{Ll}{2,})+(?![\w/-])")
_SENTENCE_WORD = regex.compile(r"\p{L}[\p{L}\p{M}]*")
# What follows a name that opens a sentence.
_VERBS = frozenset(
    "is was has had will would did does says said wants wanted can could should and or also "
    "told thinks likes gets got took made gave went sent came left kept paid put chose built "
    "wrote met ran won found saw brought bought thought taught led drove began spoke heard held"
    " sold lent spent flew drew grew knew threw broke woke wore rode rang sang lost stood let"
    " understood".split()
)
# What a sentence that tells somebody what to do may begin with.
_IMPERATIVES = frozenset("add give press remember send set text use".split())
_PLAIN_ENDINGS = ("ing", "ly", "tion", "sion", "ment", "ness", "ity", "ance", "ence", "ship", "age")
# Of verbs that need no "you" or "they" before them: "Usáis Debian", "Поставили Debian".
_VERB_ENDINGS = (
    "áis", "éis", "steis", "aste", "aron", "ieron", "ábamos", "íamos", "remos", "eram", "avam",
    "avate", "ете", "ёте", "ите", "али", "яли", "или", "ели",
)  # fmt: skip
_GERMAN = frozenset(
    "der die das und ist nicht ein eine einen wird am im den dem des zum zur auf mit er sie es von"
    " vom bis für bei nach ihr wir hat haben sind kein keine oder aus um"
    " war waren wurde wurden dafür dagegen gegen kann hatte auch noch nur dann du dich"
    " dir wie wer wann welche welcher welches zahlt seit dieser diese dieses jetzt schon ab"
    " pro je kommt".split()
)
# Not a part of an identifier: "none" of a build target is no negation.
_PLAIN_WORD = regex.compile(r"(?<![\w/.=_-])\p{L}+(?:['’]t\b)?(?![\w/=_-])")
_WITHOUT = regex.compile(r"(?<!\w)w/o(?!\w)", regex.IGNORECASE)
_NONE = regex.compile(r"(?<![\d.,:/-])0(?![\d.,:/-]|\s?[%°])")
_AFTER_TITLE = regex.compile(
    r"\b(?:Dr|Mr|Mrs|Ms|Prof|St|Sr|Sra|Hr|Fr|Mme|M|Rev|Gen|Capt|Fa|[Dd]ott|[Ss]ig|Hon)\.\s*$"
)
# Behind an apostrophe Turkish writes the endings of names, and of nothing else.
_TURKISH_ENDINGS = frozenset(
    "e a ye ya i ı u ü yi yı yu yü de da te ta den dan ten tan in ın un ün nin nın nun nün le la"
    " yle yla deki daki teki taki".split()
)
_CELL = regex.compile(r"\|\s*[*_]*$")
_TITLES = frozenset("herr herrn frau dr mr mrs ms mme prof familie fa firma".split())
_KOREAN = (
    r"(?<!\p{Hangul})[김이박최정강조윤장임한오서신권황안송류홍전고문양손배백허유남]\p{Hangul}{2}"
)
_KOREAN_TITLE = (
    "(?:씨|님|선생|과장|부장|차장|대리|팀장|사장|이사|교수|원장|기사|박사|변호사|간호사)"
)
KOREAN_NAME = regex.compile(
    rf"{_KOREAN}(?=\s?{_KOREAN_TITLE})|(?<={_KOREAN_TITLE}\s){_KOREAN}(?!\p{{Hangul}})"
)
"""A family name and a given one of two syllables, beside a title."""
# With what may stand before the name: a family name, or a word ("担当中村さん").
_HONOURED = regex.compile(
    r"(?:\p{Han}{1,4}|\p{Katakana}{1,10})(?=さん|氏|様|君|ちゃん|先生|医生|女士|小姐|老师)"
)
# Without a title a Chinese name is told by the part that somebody has: 负责人是周敏。
_IN_CHARGE = regex.compile(
    r"(?:负责人|負責人|联系人|聯繫人|对接人|經理|经理|老师|老師|班主任|医生|醫生|房东|房東|老板|老闆|司机|司機|律师|律師"
    r"|会计|會計|编辑|編輯|主管|组长|組長|店长|店長)(?:是|叫|为|為|[:：])\K"
    r"[王李张張刘劉陈陳杨楊黄黃赵趙周吴吳徐孙孫朱马馬胡郭林何高梁郑鄭罗羅宋谢謝唐韩韓曹许許邓鄧萧蕭冯馮曾程蔡彭潘袁董余苏蘇叶葉]"
    r"\p{Han}{1,2}(?=$|[^\p{L}\p{N}])"
)
# Words that are names of people too.
_WORDS_AND_NAMES = frozenset(
    "aimee alexa ali allen amber amy angel annie archie aria art baker basil beau beck bella"
    " belle bianca bill billie billy black blanca blanche bloem brandy brook brooke brooks brown"
    " bruno burns candy cara carol celeste charity chase cherry chiara chip christian claire"
    " clara clark clay clement cliff consuelo cook cooper coral dale dan dawn dean denis diana"
    " dolly dolores donna dot drake drew duke dusty earl ed emerald emmi esther faith felicity"
    " fern fleur floor flor flora ford forest fox franca frances frank freddie gemma gene"
    " georgia ginger glen graca grace grant gray green grey guido guy hank harmony hart heath"
    " heather henri henry herb hilary holly honey honor hope hunter iris isla ivory jack jasmine"
    " jay jean jet jewel joy judge junior justice kent king kit knight lamb lance lane lars"
    " laurel lee len lena leo lever levi lily lloyd lone lottie luce lucy luis luna luz mac mae"
    " marc marco marguerite marie marina mario mark mary mason massimo mat matt max mees mel"
    " mercedes mercy merel miles mills min moll moore nan nick nils nina noble noel norm norma"
    " olive oliver otto page pansy pasquale patience paz pearl peg penny perry pia pierre pilar"
    " pip piper polly porter potter prince raven ray reed reg regina rene rex rich rob robin rod"
    " roman roos rosa rose rosemary ross ruby rusty sage sal sandy sierra sky skye sol stanley"
    " star stella sterling stone storm sue sunny tallis tamara tina tom travis vale vera"
    " victoria viola violet vitoria wade walker ward west white will william wolf wood woods"
    " young".split()
)
_NOT_NAMES = frozenset(
    "i a ok o x am pm mr mrs ms dr prof no yes id herr frau hr fr mister madam doctor"
    " professor aunt uncle grandma grandpa mum mom dad captain sir mme monsieur madame senor"
    " new year senora signora signor signore sig sra mevrouw mevr meneer mijnheer mlle"
    " http https url os cpu cpus vcpus ram tv pc sms gps"
    " whoever whatever whichever whenever wherever"
    " mademoiselle dona pani pan fru bey hanim vat mwst tva iva btw".split()
)


@dataclass(frozen=True, slots=True)
class Specific:
    """A part of a sentence that must be found as it is.

    Attributes:
        text: As written.
        wanted: What must be found: without marks around it.
        start: Place of its first character; `end` after its last.
    """

    kind: SpecificKind
    text: str
    wanted: str
    start: int
    end: int


def is_inside(place: int, spans: Sequence[tuple[int, int]]) -> bool:
    """Whether a place of a text lies in one of some spans."""
    return any(start <= place < end for start, end in spans)


def places_in(spans: Iterable[tuple[int, int]]) -> frozenset[int]:
    """Return every place that lies in one of some spans, for who asks about many of a long text."""
    return frozenset(place for start, end in spans for place in range(start, end))


def find_specifics(
    text: str, days: Iterable[tuple[int, int]], numbers: Iterable[Quantity]
) -> list[Specific]:
    """Return addresses, code, quotes, paths and identifiers of a text; names are `find_names`.

    Args:
        text: A sentence.
        days: Spans that are dates and weekdays, not identifiers.
        numbers: Its numbers: with a unit or letters ("60g", "18.5k") they are no identifiers.
    """
    found: list[Specific] = []
    used = bytearray(len(text) + 1)
    measured = [(q.start, q.end) for q in numbers if q.unit or q.text[-1:].isalpha()]
    for start, end in (*measured, *days):
        used[start:end] = b"\2" * (end - start)
    for specific in _candidates(text):
        span = used[specific.start : specific.end]
        if b"\1" in span or (specific.kind in ("identifier", "compound") and b"\2" in span):
            continue
        parts = {known for known, sign in zip(span, specific.text, strict=True) if sign != "/"}
        if specific.kind == "path" and parts == {2}:
            continue  # "Mon/Wed/Fri"
        found.append(specific)
        used[specific.start : specific.end] = b"\1" * (specific.end - specific.start)
    return found


@lru_cache(maxsize=512)
def _candidates(text: str) -> tuple[Specific, ...]:
    return tuple(_read(text))


def _read(text: str) -> Iterator[Specific]:
    for match in _CODE.finditer(text):
        wanted = _LANGUAGE.sub("", match[0]).strip("`~").strip()
        yield Specific("code", match[0], wanted, *match.span())
    for match in _COLOUR.finditer(text):
        yield Specific("code", match[0], match[0], *match.span())
    for match in _URL.finditer(text):
        yield _trimmed("url", match)
    for match in _QUOTE.finditer(text):
        inner = next(group for group in match.groups() if group is not None)
        yield Specific("quote", match[0], inner.strip(), *match.span())
    for match in _PATH.finditer(text):
        yield _trimmed("path", match)
    for match in _IDENTIFIER.finditer(text if text.isascii() else DENSE.sub("\u3000", text)):
        yield _trimmed("identifier", match)
    for match in _COMPOUND.finditer(text):
        yield Specific("compound", match[0], match[0], *match.span())
    named = (*_HONOURED.finditer(text), *KOREAN_NAME.finditer(text), *_IN_CHARGE.finditer(text))
    for match in named:
        yield Specific("name", match[0], match[0], *match.span())


def _trimmed(kind: SpecificKind, match: regex.Match[str]) -> Specific:
    bare = match[0].rstrip(".,;:!?)]}*'’\"")
    return Specific(kind, bare, bare, match.start(), match.start() + len(bare))


def find_names(
    text: str, taken: Sequence[tuple[int, int]], *, german: bool = False
) -> list[tuple[Word, bool]]:
    """Return words that look like names, and whether only their place says so.

    Args:
        text: A sentence; markers of lists and headings may stand before it.
        taken: Spans that are something else already.
        german: Whether the sentence stands in a German conversation.

    Returns:
        (word, opening) pairs; `opening` marks a word that begins a sentence or a cell of a table,
        where a capital proves little: in a sentence it is a name only if what follows says so.
    """
    german = german or is_german(text)
    found: list[tuple[Word, bool]] = []
    listed = read_words(text)
    inside = places_in(taken)
    for number, word in enumerate(listed):
        if not _may_be_name(word) or word.start in inside:
            continue
        titled = number > 0 and _is_surname(text, listed[number - 1], word)
        told = titled or is_given_name(word) or len(word.surface) == 1
        if german and not told:
            continue
        if not starts_sentence(text, word.start) or right_before(_AFTER_TITLE, text, word.start):
            found.append((word, right_before(_CELL, text, word.start) is not None))
        elif _is_called(word) or _opens_like_a_name(text, word, listed[number + 1 : number + 3]):
            found.append((word, True))
        elif [after.shape for after in listed[number + 1 : number + 2]] == ["dense"]:
            found.append((word, True))  # among letters that have no capitals
    return found


def _is_surname(text: str, before: Word, word: Word) -> bool:
    """Whether a word stands behind a title, or behind a given name and is none of every day."""
    if before.surface.casefold() in _TITLES:
        return True
    beside = is_given_name(before) and text[before.end : word.start] == " "
    return beside and not is_everyday(word.surface, "de")


def is_given_name(word: Word) -> bool:
    """Whether people are called so, and nothing of every day is in German."""
    return as_listed(word) in given_names() and word.token not in everyday_words("de")


def _is_called(word: Word) -> bool:
    """Whether people are called so, and nothing of every day is."""
    return as_listed(word) in given_names() and fold(word.surface) not in _WORDS_AND_NAMES


@lru_cache(maxsize=4096)
def may_be_name(surface: str) -> bool:
    """Whether a word with a capital may be a name: no month, no function word, no frame."""
    return all(map(_may_be_name, read_words(surface)))


def is_everyday(surface: str, language: str = "en") -> bool:
    """Whether a word with a capital is one of every day, and no name too."""
    everyday = everyday_words(language)
    return fold(surface) not in _WORDS_AND_NAMES and all(
        word.token in everyday and as_listed(word) not in given_names()
        for word in read_words(surface)
    )


def _may_be_name(word: Word) -> bool:
    folded = fold(word.surface)
    if len(folded) == 1:
        return word.surface.isupper() and folded not in _NOT_NAMES  # a label: "bed D"
    return (
        word.shape in ("word", "identifier")
        and word.surface[0].isupper()
        and folded not in _NOT_NAMES
        and month_token(word.surface) is None
        # The function words of other languages are names in English: Devon, Sans, Son.
        and folded not in load_lexicon("en").stopwords
        and folded not in answer_words().framing
    )


def _opens_like_a_name(text: str, word: Word, next_two: Sequence[Word]) -> bool:
    following = next_two[0] if next_two else None
    folded = fold(word.surface)
    plain = folded.endswith(_PLAIN_ENDINGS)
    ordinary = word.token in answer_words().groups and folded not in _WORDS_AND_NAMES
    empty = folded in answer_words().function or folded in _IMPERATIVES
    if empty or plain or ordinary or following is None:
        return False
    between = text[word.start + len(word.surface) : following.start]
    if between.strip(" *_`,") in ("'s", "’s"):
        return True
    nearby = following.surface
    if between.strip():
        ending = between in ("'", "’") and nearby in _TURKISH_ENDINGS
        turkish = ending and not folded.endswith("qu")  # "Bursa'da", but "Lorsqu'un"
        return turkish or (nearby[0].isupper() and between.strip() == ",")
    if nearby in ("and", "or"):  # "Ida and Tom", not "Gluten and nuts"
        return len(next_two) > 1 and next_two[1].surface[0].isupper()
    if nearby[0].isupper():
        verb = word.surface.casefold().endswith(_VERB_ENDINGS) or fold(nearby) in _TITLES
        return len(nearby) > 1 and not verb  # "Chase Dr Ruiz"
    return (
        nearby in _VERBS
        or (nearby.endswith("ed") and len(nearby) > 3)
        or _is_singular_verb(folded, nearby)
    )


def _is_singular_verb(folded: str, nearby: str) -> bool:
    """Whether "Xs" after a word that is no plural reads as its verb."""
    plain = nearby.isalpha() and nearby.endswith("s") and not nearby.endswith(("ss", "us", "is"))
    return plain and len(nearby) > 3 and not folded.endswith("s")


@lru_cache(maxsize=512)
def is_german(text: str) -> bool:
    """Whether a sentence reads as German, where every noun has a capital."""
    found = {match[0].casefold() for match in _SENTENCE_WORD.finditer(text)}  # "9 am, 10 am"
    return sum(word in _GERMAN for word in found) >= 2 and not any(
        word in ("the", "of", "you", "is", "for") for word in found
    )


def is_negated(text: str) -> bool:
    """Whether a clause has a word that turns it into its opposite."""
    found = _PLAIN_WORD.findall(fold(text))
    negations = answer_words().negations
    return (
        _NONE.search(text) is not None
        or _WITHOUT.search(text) is not None
        or any(word in negations or word.endswith(("n't", "n’t")) for word in found)
        or is_negated_there(text)
    )
