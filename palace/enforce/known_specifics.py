"""What must stand in the evidence as it is written: addresses, paths, code, quotes, identifiers.

In: sources, and such a piece of an answer. Out: whether it stands there, perhaps cut, joined or
with its placeholders filled.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import regex

from palace.enforce.quantity import is_unit
from palace.enforce.source import Source, is_cut_from, plain
from palace.enforce.specifics import KOREAN_NAME, Specific
from palace.recall.related import everyday_words
from palace.text import fold, is_cyrillic, stem

_JOINED = regex.compile(r"(?P<head>[\w.-]+):(?P<tail>\d{1,5})|(?P<head>.+)/(?P<tail>[\w.-]+)")
_IDENTIFIER = regex.compile(r"(?P<letters>\p{L}{1,3})(?P<digits>\d{1,3})")
_ALONE = regex.compile(r"(?<![\w/-])\p{L}++(?![\w/-])")
_QUALIFIED = regex.compile(r"-\p{L}{2,}ed$")  # "IP65-rated"
_PLACEHOLDER = regex.compile(r"<[\p{L}][\w -]{0,30}>")
# Digits that are written in groups, or in none: of an account, a card, a telephone.
_GROUPED = regex.compile(r"\+?[\p{L}\d ./()-]{9,60}")
# Chinese words of one letter that a name follows.
_BEFORE_NAMES = frozenset("找由和与與跟是请請给給向让讓被对對为為叫问問见見约約及同到去")
_DENSE = regex.compile(r"[\p{Han}\p{Katakana}\p{Hangul}]")
_HANGUL = regex.compile(r"\p{Hangul}")
_GROUP_MARKS = r"[ ./()-]{0,3}"
_LEAST_GROUPED_DIGITS = 9
_LEAST_ROOT_CHARS = 6
_MOST_NAME_WORDS = 2


def _is_cut_compound(known: Sequence[str], said: Sequence[str]) -> bool:
    """Whether each part of a compound is that of another or that cut: "req/min"."""
    return len(known) == len(said) and all(
        _is_of_one_root(k, s) or is_cut_from(k, s) for k, s in zip(known, said, strict=True)
    )


def _is_of_one_root(one: str, other: str) -> bool:
    """Whether two words are forms of one: co-supervised, co-supervisor."""
    alike = min(len(one), len(other)) >= _LEAST_ROOT_CHARS
    return stem(one) == stem(other) or (
        alike and one[:_LEAST_ROOT_CHARS] == other[:_LEAST_ROOT_CHARS]
    )


@dataclass(frozen=True, eq=False)
class KnownSpecifics:
    """The exact things of several sources together.

    Attributes:
        sources: Texts that an answer may draw on.
    """

    sources: Sequence[Source]

    @cached_property
    def _apart(self) -> frozenset[str]:
        """Their words that are no parts of others: of "pg-orders" and "cart-api" none."""
        return frozenset(stem(m[0]) for s in self.sources for m in _ALONE.finditer(s.plain))

    def has_specific(self, specific: Specific) -> bool:
        """Whether an address, a path, code, a quote or an identifier stands there."""
        wanted = plain(specific.wanted)
        if specific.kind == "quote":
            return self._has_quote(wanted)
        if specific.kind == "code" and "\n" in specific.wanted:
            return self._has_lines(specific.wanted)
        if specific.kind in ("path", "url"):
            wanted = wanted.rstrip("/")
        if specific.kind in ("code", "path", "url") and _PLACEHOLDER.search(wanted):
            return self._has_filled(wanted)
        if specific.kind == "compound":
            return self._has_compound(wanted)
        if specific.kind == "name":
            return self._has_person(wanted)
        return (
            self._has_whole(wanted)
            or (specific.kind == "identifier" and self._has_identifier(wanted))
            or (specific.kind in ("identifier", "path", "code") and self._has_joined(wanted))
        )

    def _has_person(self, wanted: str) -> bool:
        """Whether somebody with a title is called so there; other words may stand before a name.

        A name of two letters is another's behind another family name: 中田和夫 for 中村和夫. A
        Korean name is wrong where one stands there that it has a part in common with, or a word
        that differs in a letter.
        """
        # In Latin letters nobody is called so.
        latin = not any(_DENSE.search(s.plain) for s in self.sources)
        if latin or any(wanted in s.plain for s in self.sources):
            return True
        if _HANGUL.match(wanted):
            known = (m[0] for s in self.sources for m in KOREAN_NAME.finditer(s.plain))
            if any(name[0] == wanted[0] or name[1:] == wanted[1:] for name in known):
                return False
            # Without a title it is a name where all but one letter are the same.
            other = (f"{wanted[:n]}\\p{{Hangul}}{wanted[n + 1 :]}" for n in range(len(wanted)))
            near = regex.compile(
                rf"(?<!\p{{Hangul}})(?:{'|'.join(other)})(?!(?![은는이가을를의에께와과도만])\p{{Hangul}})"
            )
            return not any(near.search(s.plain) for s in self.sources)
        before, name = wanted[:-2], wanted[-2:]
        if not any(name in s.plain for s in self.sources):
            # "找王医生"
            return name[:-1] in _BEFORE_NAMES and any(name[-1] in s.plain for s in self.sources)
        ordinary = before[-1:] in _BEFORE_NAMES or before in everyday_words("ja")
        if not before or ordinary or any(before in s.plain for s in self.sources):
            return True
        full = regex.compile(rf"(?<!\p{{Han}})\p{{Han}}{{{len(before)}}}{name}")
        return not any(full.search(s.plain) for s in self.sources)

    def _has_joined(self, wanted: str) -> bool:
        """Whether host and port, or folder and file, stand apart in one source.

        Neither may stand there as a part of another address or path, whose parts are its own.
        """
        found = _JOINED.fullmatch(wanted)
        if found is None:
            return False
        head = rf"(?<![\w./:-]){regex.escape(found['head'])}/?(?![\w/:-]|\.\w)"
        tail = rf"(?<![\w./:-]){regex.escape(found['tail'])}(?![\w/:-]|\.\w)"
        return any(
            regex.search(head, s.plain) and regex.search(tail, s.plain) for s in self.sources
        )

    def _has_whole(self, wanted: str) -> bool:
        if not wanted:
            return True
        left = r"(?<!\w)(?<!(?<!\d)-)" if wanted[0].isalnum() or wanted[0] in "_-" else r"(?<![\w])"
        right = r"(?!\w|-\w|[.,]\d)" if wanted[-1].isalnum() or wanted[-1] in "_-" else ""
        pattern = regex.compile(left + regex.escape(wanted) + right)
        return any(pattern.search(s.plain) or pattern.search(s.spaced) for s in self.sources)

    def _has_filled(self, wanted: str) -> bool:
        """Whether something stands there that fills the places left open: "dump-<date>.sql"."""
        kept = map(regex.escape, _PLACEHOLDER.split(wanted))
        pattern = regex.compile(rf"(?<![\w-]){'[^ /]+'.join(kept)}(?![\w-])")
        return any(pattern.search(s.plain) for s in self.sources)

    def _has_identifier(self, wanted: str) -> bool:
        """Whether it stands there with more at its ends (master_r3.wav), or as one (pg_dumps)."""
        if wanted.endswith("s") and self._has_whole(wanted[:-1]):
            return True
        if self._has_grouped(wanted):
            return True
        if _QUALIFIED.search(wanted) and self._has_whole(_QUALIFIED.sub("", wanted)):
            return True
        label = _IDENTIFIER.fullmatch(wanted)
        if label is None:
            return False
        # master_r3.wav, a4paper, and the first of m11-m20
        whole = rf"(?<=\w_){wanted}(?=[_.])|(?<!\w){wanted}(?=\p{{L}}|[-–]{label['letters']}\d)"
        return any(regex.search(whole, s.plain) for s in self.sources)

    def _has_grouped(self, wanted: str) -> bool:
        """Whether the same digits stand there in other groups, or in none."""
        signs = [sign for sign in wanted if sign.isalnum()]
        if sum(map(str.isdigit, signs)) < _LEAST_GROUPED_DIGITS or not _GROUPED.fullmatch(wanted):
            return False
        written = [_GROUP_MARKS.join(signs)]
        if wanted[0] == "0":  # a telephone, whose country may be told in place of its 0
            written.append(
                rf"(?:\+|00)\d{{1,3}}{_GROUP_MARKS}0?{_GROUP_MARKS.join(['', *signs[1:]])}"
            )
        elif wanted[0] == "+":
            written += [_GROUP_MARKS.join(["0", *signs[n:]]) for n in (1, 2, 3)]
        pattern = regex.compile(rf"(?<![\w.,])(?:{'|'.join(written)})(?!\w|[.,]\d)")
        return any(pattern.search(s.plain) for s in self.sources)

    def _has_compound(self, wanted: str) -> bool:
        """Whether a hyphenated word stands there, or at least no sibling of it does.

        "ops-admin" is wrong where "ops-viewer" is remembered; "half-hour" is a word like any other.
        """
        mark = "/" if "/" in wanted else "-"
        parts = wanted.split(mark)
        apart = mark == "-" and all(stem(part) in self._apart for part in parts)
        if apart or all(map(is_unit, parts)) or self._has_whole(wanted):
            return True
        siblings = regex.compile(
            rf"(?<![\w-])(?:{regex.escape(parts[0])}{mark}\w+|\w+{mark}{regex.escape(parts[-1])})(?![\w-])"
        )
        found = (match[0] for s in self.sources for match in siblings.finditer(s.plain))
        return all(_is_cut_compound(sibling.split(mark), parts) for sibling in found)

    def _has_quote(self, wanted: str) -> bool:
        pieces = regex.split(r"\.\.\.|…|\[\.\.\.\]", wanted)
        bare = (piece.strip(" .,;:!?'\"") for piece in pieces)
        return all(self._has_whole(piece) or self._has_inflected(piece) for piece in bare)

    def _has_inflected(self, wanted: str) -> bool:
        """Whether a name in another case stands there, as in "у «Севера»" of «Север»."""
        parts = wanted.split()
        named = len(parts) <= _MOST_NAME_WORDS and all(map(is_cyrillic, parts))
        return named and self._apart.issuperset(map(stem, map(fold, parts)))

    def _has_lines(self, code: str) -> bool:
        lines = [" ".join(line.split()) for line in code.splitlines()]
        return all(self._has_whole(plain(line)) for line in lines if line.strip("`~{}()[];, "))
