"""Our own evidence blocks in a text: those made here, and what only looks like one.

In: a text. Out: whether it holds evidence that was already shown, or the text without any blocks.
A wrapper around another hands its prompt on with the evidence in it, and that has been decided on.
But anybody can write our tag, so only a block that this process has rendered counts as one.
"""

from __future__ import annotations

import regex

from palace.kept import Kept

OPEN_TAG = "<memory-context>"
CLOSE_TAG = "</memory-context>"
_OWN_TAG = regex.compile(r"<\s*+(/?)\s*+memory-context(?![\w-])[^<>]*+>?", regex.IGNORECASE)
_TAG_ITSELF = regex.compile(r"<\s*+/?\s*+memory-context\b(?:\s*+>)?", regex.IGNORECASE)
# Enough for every session of a busy host, and small: a number each.
_made: Kept[int, bool] = Kept(4096)


def note_block(block: str) -> str:
    """Remember that this process has rendered a block, and return it."""
    _made.put(hash(block), True)
    return block


def holds_own_evidence(text: str) -> bool:
    """Whether a text holds blocks of evidence, and this process has rendered every one of them."""
    *blocks, rest = text.split(CLOSE_TAG)
    around = [rest]
    for piece in blocks:
        before, tag, inside = piece.partition(OPEN_TAG)
        if _made.get(hash(f"{tag}{inside}{CLOSE_TAG}")) is None:
            return False
        around.append(before)
    return bool(blocks) and not any(has_own_tag(words) for words in around)


def asked_words(prompt: str) -> str:
    """Return a prompt as it is to be judged: a tag that somebody wrote hides nothing in it."""
    if not has_own_tag(prompt) or holds_own_evidence(prompt):
        return prompt
    return _TAG_ITSELF.sub(" ", prompt)


def has_own_tag(text: str) -> bool:
    """Whether anything in a text reads as our tag."""
    return _TAG_ITSELF.search(text) is not None


def strip_own_markers(text: str) -> str:
    """Return a text without our evidence blocks, so that memory never feeds on its own echo.

    Whole `<memory-context …>…</memory-context>` blocks go, in any case and nested; an unclosed
    one goes to the end of the text, a closing tag alone goes by itself. A text without any comes
    back unchanged. Stripping twice changes nothing more.
    """
    kept: list[str] = []
    depth, position = 0, 0
    for tag in _OWN_TAG.finditer(text):
        if depth == 0:
            kept.append(text[position : tag.start()])
        depth = max(0, depth - 1) if tag[1] else depth + 1
        position = tag.end()
    if not position:
        return text
    if depth == 0:
        kept.append(text[position:])
    # A line break between the pieces: two halves of a tag must not meet and become one.
    return "\n".join(piece.strip() for piece in kept if piece.strip())
