"""Our own evidence blocks in a text: those made here, and what only looks like one.

In: a text. Out: whether it holds evidence that was already shown, or the text without any blocks.
Where one wrapper stands around another, the inner one gets a prompt that was decided on already and
holds the evidence. Anybody can write our tag, so only a block that this process has rendered counts
as such evidence.
"""

from __future__ import annotations

import regex

from palace.kept import Kept

OPEN_TAG = "<memory-context>"
CLOSE_TAG = "</memory-context>"
_OWN_TAG = regex.compile(r"<\s*+(/?)\s*+memory-context(?![\w-])[^<>]*+>?", regex.IGNORECASE)
_TAG_ITSELF = regex.compile(r"<\s*+(/?)\s*+memory-context\b(?:\s*+>)?", regex.IGNORECASE)
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

    Whole `<memory-context …>…</memory-context>` blocks go, in any case and nested. A tag that
    begins or ends none hides nothing: it is kept in square brackets, as it would be shown. A text
    without any comes back unchanged. Stripping twice changes nothing more.
    """
    if not has_own_tag(text):
        return text
    opened: list[int] = []
    blocks: list[tuple[int, int]] = []
    for tag in _OWN_TAG.finditer(text):
        if not tag[1]:
            opened.append(tag.start())
        elif opened:
            start = opened.pop()
            while blocks and blocks[-1][0] > start:
                blocks.pop()
            blocks.append((start, tag.end()))
    starts, ends = [start for start, _ in blocks], [end for _, end in blocks]
    kept = [text[end:start] for end, start in zip([0, *ends], [*starts, len(text)], strict=True)]
    kept = [_TAG_ITSELF.sub(r"[\1memory-context]", piece).strip() for piece in kept]
    # A line break between the pieces: two halves of a tag must not meet and become one.
    return "\n".join(piece for piece in kept if piece)
