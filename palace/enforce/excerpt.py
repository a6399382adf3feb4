"""What a model is shown of an artifact that is too long for it: what was asked about, or is newest.

In: a text, a question and a number of tokens. Out: parts of the text, as they are, in their order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from palace.enforce.markers import indented
from palace.text import estimate_tokens, tokens

GAP = "[…]"
# A longer paragraph is taken line by line: a table, a listing.
_PARAGRAPH_CHARS = 600


def excerpt(text: str, question: str, *, max_tokens: int, newest: bool = False) -> str:
    """Return a text that fits: its beginning, and the parts that share most with a question.

    A word says the less, the more parts have it. Parts that share equally much stand in for each
    other from the first on.

    Args:
        text: What an artifact says.
        question: The person's own words.
        max_tokens: Most estimated tokens, with every line indented. A beginning that is longer is
            returned all the same.
        newest: Whether the end of the text is what matters, as of a log.

    Returns:
        The text itself if it fits; else its parts with `GAP` on a line for what is left out.
    """
    if _cost_tokens(text) <= max_tokens:
        return text
    parts = text.split("\n") if newest else list(_parts(text))
    kept = {0}
    left = max_tokens - _cost_tokens(parts[0]) - 2 * _cost_tokens(GAP)
    for number in range(len(parts) - 1, 0, -1) if newest else _by_worth(parts, question):
        cost = _cost_tokens(parts[number]) + (0 if newest else _cost_tokens(GAP))
        if cost <= left:
            kept.add(number)
            left -= cost
        elif newest:
            break
    return "\n".join(_with_gaps(parts, kept))


def _cost_tokens(part: str) -> int:
    return estimate_tokens(f"{indented(part)}\n")


def _parts(text: str) -> Iterator[str]:
    """Yield paragraphs with the blank lines behind them, long ones by their lines."""
    lines: list[str] = []
    for line in text.split("\n"):
        if lines and line.strip() and not lines[-1].strip():
            yield from _whole_or_lines(lines)
            lines = []
        lines.append(line)
    yield from _whole_or_lines(lines)


def _whole_or_lines(lines: list[str]) -> list[str]:
    whole = "\n".join(lines)
    return [whole] if len(whole) <= _PARAGRAPH_CHARS else lines


def _by_worth(parts: list[str], question: str) -> list[int]:
    """Return the numbers of all parts but the first, by what they share with a question."""
    asked = set(tokens(question))
    shared = [asked.intersection(tokens(part)) for part in parts]
    counts = Counter(token for held in shared for token in held)
    worth = [sum(1 / counts[token] for token in held) for held in shared]
    return sorted(range(1, len(parts)), key=lambda number: (-worth[number], number))


def _with_gaps(parts: list[str], kept: set[int]) -> Iterator[str]:
    for number, part in enumerate(parts):
        if number in kept:
            yield part
        elif number - 1 in kept:
            yield GAP
