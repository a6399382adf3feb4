"""Take the sting out of content: our own tag however it is spelled, and what programs act on.

In: the words of a memory. Out: the same words, with no text in them that reads as the beginning or
the end of our evidence block, that a chat protocol takes for its own, or that a viewer fetches.
"""

from __future__ import annotations

import unicodedata
from html import unescape

import regex

from palace.secrets.findings import INVISIBLE, hides_something
from palace.text.late_patterns import late

# Look-alikes that compatibility folding leaves as they are.
_LOOKALIKES = str.maketrans(
    {
        **dict.fromkeys("‹〈⟨《≺ᐸ❮˂⋖«⧼", "<"),
        **dict.fromkeys("›〉⟩》≻ᐳ❯˃⋗»⧽", ">"),
        **dict.fromkeys("∕⁄╱\\", "/"),
        **dict.fromkeys("‐‑‒–—―−‿⁃˗⸺﹘_·.", "-"),
        **dict.fromkeys("мϻᴍ", "m"),
        **dict.fromkeys("еεєᴇ", "e"),
        **dict.fromkeys("оοσᴏ0", "o"),
        **dict.fromkeys("гᴦꭇʀ", "r"),
        **dict.fromkeys("уγүʏ", "y"),
        **dict.fromkeys("сϲᴄ", "c"),
        **dict.fromkeys("пηոɴ", "n"),
        **dict.fromkeys("тτᴛ", "t"),
        **dict.fromkeys("хχ", "x"),
    }
)
# Character references; a zero reads as the letter in them, see the look-alikes.
_TAG_START = r"(?:<|&(?:amp;)*(?:lt|\#o*6o|\#xo*3c);?)"
_TAG_END = r"(?:>|&(?:amp;)*(?:gt|\#o*62|\#xo*3e);?)"
_TAG = late(rf"{_TAG_START}(?P<slash>/*+)memory-*+context(?:[^<>\n]{{0,80}}?{_TAG_END})?+")
_DROPPED_CATEGORIES = frozenset({"Cf", "Mn", "Cc", "Zs", "Zl", "Zp"})
_BEGINNINGS = frozenset("<&＜﹤‹〈⟨《≺ᐸ❮˂⋖«⧼＆﹠")
_REFERENCE = late(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z]{2,24});|.", regex.DOTALL)

# What a viewer of Markdown or HTML loads by itself: it would tell a stranger that it was read.
_IMAGE = late(r"!(?=\[)")
_ELEMENT = late(
    r"<(?=/?(?:img|image|picture|source|iframe|frame|script|link|object|embed|video|audio|track|svg"
    r"|style|meta|base|form|input|body|bgsound)\b)",
    regex.IGNORECASE,
)
_LINE_END = late("\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")
# Words that model servers may take for the frame of a conversation and not for text in it.
_PROTOCOL = late(
    r"[<\[](?=[|｜]|<SYS>|/SYS>|<SYS\]|/?INST\]|/?s>|(?:start|end)_of_turn>|/?(?:bos|eos)>)",
    regex.IGNORECASE,
)


def harmless(text: str) -> str:
    """Return text that a model, a chat program and a viewer take for words and nothing else.

    Our tags are escaped, images become links, elements that load something and the marks of chat
    protocols are broken up. Doing it twice changes nothing.
    """
    seen = escape_markers(text)
    if "<" not in seen and "[" not in seen:
        return seen
    seen = _IMAGE.sub("! ", seen)
    seen = _ELEMENT.sub("&lt;", seen)
    return _PROTOCOL.sub(lambda found: f"{found[0]} ", seen)


def escape_markers(text: str) -> str:
    """Return `text` without anything that reads as our tag; escaping twice changes nothing.

    Invisible characters go first. Our tag in any spelling (case, blanks, full width, look-alike
    letters, character references) becomes `[memory-context]` in square brackets.
    """
    seen = INVISIBLE.sub("", text) if hides_something(text) else text
    if _BEGINNINGS.isdisjoint(seen):
        return seen
    plain, places = _skeleton(seen)
    pieces, kept = [], 0
    for found in _TAG.finditer(plain):
        pieces += [seen[kept : places[found.start()][0]], f"[{found['slash'][:1]}memory-context]"]
        kept = places[found.end() - 1][1]
    return "".join((*pieces, seen[kept:]))


def indented(text: str) -> str:
    """Return text whose every line is indented: only our own lines begin at the margin."""
    return "\n".join(f"  {line}".rstrip() for line in _LINE_END.split(text.strip()))


def _skeleton(text: str) -> tuple[str, list[tuple[int, int]]]:
    """Return the text as an eye reads it, and for each of its characters the span in `text`."""
    plain: list[str] = []
    places: list[tuple[int, int]] = []
    for piece in _REFERENCE.finditer(text):
        for character in unicodedata.normalize("NFKD", _referred(piece[0])):
            if character != "\n" and unicodedata.category(character) in _DROPPED_CATEGORIES:
                continue
            folded = character.casefold().translate(_LOOKALIKES)
            plain.append(folded)
            places.extend([piece.span()] * len(folded))
    return "".join(plain), places


def _referred(piece: str) -> str:
    """Return the character that a reference stands for, unless that may begin a further one."""
    return piece if len(piece) == 1 or (character := unescape(piece)) == "&" else character
