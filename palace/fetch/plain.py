"""What all fetchers share: plain text that fits, and the bounds of what is read of a prompt.

In: text or bytes from outside. Out: printable text within a size cap, and whether it was cut.
"""

from __future__ import annotations

import codecs
from datetime import datetime, timezone

import regex

# How much of a prompt is read for what it names, how long one pattern may take there, and how many
# artifacts one fetcher names at most.
MAX_PROMPT_CHARS = 20_000
PATTERN_TIMEOUT_S = 0.25
MAX_REFS = 8
# Characters of scripts that put no blank between words, for a set of a pattern.
DENSE = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Thai}"
# Files whose names have neither a folder nor an ending to know them by.
BARE_FILES = frozenset(
    {"README", "LICENSE", "Makefile", "Dockerfile", "CHANGELOG", "Justfile", "Procfile"}
)
_CONTROL = regex.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_SNIFF_BYTES = 8192
_MAX_BROKEN_SHARE = 0.01
_MAX_FOREIGN_SHARE = 0.2


def printable(text: str) -> str:
    """Return text with Unix line ends, without control or direction-override characters.

    Half characters, which JSON can carry and UTF-8 cannot, become question marks.
    """
    whole = text.encode("utf-8", errors="replace").decode("utf-8")
    return _CONTROL.sub("", whole.replace("\r\n", "\n").replace("\r", "\n"))


def one_line(text: str, *, max_chars: int = 300) -> str:
    """Return text as one line of at most `max_chars` characters, white space collapsed."""
    line = " ".join(printable(text).split())
    return line if len(line) <= max_chars else line[: max_chars - 1] + "…"


def clip_bytes(text: str, max_bytes: int) -> tuple[str, bool]:
    """Cut text to at most `max_bytes` bytes of UTF-8, never inside a character.

    Returns:
        The text and whether anything was cut.
    """
    data = text.encode("utf-8", errors="replace")
    if len(data) <= max_bytes:
        return data.decode("utf-8"), False
    return data[:max_bytes].decode("utf-8", errors="ignore"), True


def decode_text(data: bytes, *, whole: bool = True) -> str | None:
    """Decode bytes of a text file as UTF-8, or say that they are no text.

    Args:
        data: The file, or its beginning.
        whole: False if the bytes were cut, so that a broken last character is no fault.

    Returns:
        The text (a byte order mark removed), or None for binary data: a NUL byte in the first
        8 KiB, or more than one character in a hundred that is no UTF-8. What begins with the mark
        of UTF-16, as some Windows programs write it, is read as that.
    """
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return _utf16(data, whole=whole)
    if b"\0" in data[:_SNIFF_BYTES]:
        return None
    text, broken_share = _decoded(data, whole=whole)
    return None if broken_share > _MAX_BROKEN_SHARE else text


def _utf16(data: bytes, *, whole: bool) -> str | None:
    try:
        text = codecs.getincrementaldecoder("utf-16")().decode(data, final=whole)
    except UnicodeDecodeError:
        return None
    return None if "\0" in text else text


def is_binary(beginning: bytes) -> bool:
    """Return whether a file begins as no text does, such as a compressed one.

    More is let pass than by `decode_text`: single lines of another encoding, or of UTF-16.
    """
    return _decoded(beginning[:_SNIFF_BYTES], whole=False)[1] > _MAX_FOREIGN_SHARE


def _decoded(data: bytes, *, whole: bool) -> tuple[str, float]:
    """Return the text of bytes and how much of it is no UTF-8, in [0, 1]."""
    decoder = codecs.getincrementaldecoder("utf-8-sig")(errors="replace")
    text = decoder.decode(data, final=whole)
    genuine = data.count("\N{REPLACEMENT CHARACTER}".encode())
    broken = text.count("\N{REPLACEMENT CHARACTER}") - genuine
    return text, broken / max(1, len(text))


def minutes(at: datetime) -> str:
    """Return a moment for a person, to the minute, in UTC."""
    return f"{at.astimezone(timezone.utc):%Y-%m-%d %H:%M} UTC"
