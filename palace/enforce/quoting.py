"""The quote contract: a model may point to a memory, and its pointing is verified word by word.

In: what a model replied to `quote_prompt`. Out: the memory it truly quoted, or nothing; of a
question for several things, the memories.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import regex

from palace.enforce.answer_words import content_tokens
from palace.enforce.prompt import DECLINE_TOKEN, shown_text
from palace.secrets import redact
from palace.text import straight
from palace.types.verdict import Evidence

QUOTE_SCHEMA: Mapping[str, Any] = MappingProxyType(
    {
        "name": "point_to_memory",
        "description": "Point to the one memory item that answers the question, by quoting it.",
        "parameters": {
            "type": "object",
            "properties": {
                "memory": {
                    "type": ["integer", "null"],
                    "description": "Number of the item that answers, or null if none does.",
                },
                "quote": {
                    "type": "string",
                    "description": "The words of that item that answer, copied exactly.",
                },
                "answer": {
                    "type": "string",
                    "description": "A short answer that says only what the item says.",
                },
                "also": {
                    "type": "array",
                    "description": "Further items, only if the question asks for several things.",
                    "items": {
                        "type": "object",
                        "properties": {
                            "memory": {"type": "integer", "description": "Number of the item."},
                            "quote": {"type": "string", "description": "Its words, copied."},
                        },
                        "required": ["memory", "quote"],
                    },
                },
            },
            "required": ["memory", "quote", "answer"],
        },
    }
)

_LEAST_CONTENT_WORDS = 2
_LONGEST_REPLY_CHARS = 20_000
_FENCED = regex.compile(r"```[\w-]*\s*\n?(.*?)```", regex.DOTALL)
_POINTS = (
    r"^[\s>*_#-]*memory[\s*_]*[:=][\s*_]*\[?\#?(?P<memory>\d{1,6}|none|null)\]?[\s*_.]*\n+"
    r"[\s>*_#-]*quote[\s*_]*[:=][*_]*"
)
_FLAGS = regex.IGNORECASE | regex.DOTALL | regex.MULTILINE
_LABELLED = regex.compile(
    rf"{_POINTS}(?P<quote>.*?)(?:\n[\s>*_#-]*answer[\s*_]*[:=][*_]*(?P<answer>.*))?\Z", _FLAGS
)
_POINTS_AGAIN = regex.compile(_POINTS, _FLAGS)
_OUTER_QUOTES = regex.compile(r"""\A(["'“‘„«])(.*)["'”’“»]\Z""", regex.DOTALL)


@dataclass(frozen=True, slots=True)
class QuoteReply:
    """What a model replied under the quote contract.

    Attributes:
        memory: Number of the item it points to, 1-based as shown, or None if it declined.
        quote: The words it claims to copy.
        answer: Its own short answer; never released unchecked.
        also: Further items it points to.
    """

    memory: int | None
    quote: str = ""
    answer: str = ""
    also: tuple[QuoteReply, ...] = ()


def parse_quote(reply: str | Mapping[str, Any]) -> QuoteReply | None:
    """Return a reply as the contract has it, or None if the contract was ignored.

    Args:
        reply: The arguments of the tool call, or text: JSON (also fenced), the three labelled
            lines, or the decline token.
    """
    if isinstance(reply, Mapping):
        return _from_arguments(reply)
    text = reply.strip()[:_LONGEST_REPLY_CHARS]
    found = _from_json(text) or _from_labels(text)
    if found is None and DECLINE_TOKEN in text:
        return QuoteReply(None)
    return found


def verify_quote(reply: QuoteReply | None, evidence: Sequence[Evidence]) -> Evidence | None:
    """Return the evidence that a reply truly quotes, or None.

    The quote must stand in the item with the reply's number, whole words, as that item was shown.
    White space, typographic quotation marks and dashes are normalised, nothing else is. A quote
    has at least two content words, unless the memory itself has fewer; then it is the whole memory.

    Args:
        reply: The parsed reply.
        evidence: In the order it was shown.

    Returns:
        That item of `evidence`, untouched: what may be said is the memory's own text.
    """
    if reply is None or reply.memory is None or not 1 <= reply.memory <= len(evidence):
        return None
    item = evidence[reply.memory - 1]
    for text in (redact(item.text), shown_text(item)):
        for quote in _readings(reply.quote):
            if _quotes(quote, _normal(text)):
                return item
    return None


def verify_quotes(reply: QuoteReply | None, evidence: Sequence[Evidence]) -> tuple[Evidence, ...]:
    """Return the evidence that a reply to a question for several things truly quotes.

    Who invents the first quote is believed nothing; a further one that is not in its memory is left
    out, as if it had not been pointed to. See `verify_quote`.

    Args:
        reply: The parsed reply.
        evidence: In the order it was shown.

    Returns:
        These items, each once, the first one first; none if that was not quoted.
    """
    first = verify_quote(reply, evidence)
    if reply is None or first is None:
        return ()
    found = [first]
    for other in reply.also[: len(evidence)]:
        item = verify_quote(other, evidence)
        if item is not None and all(item is not known for known in found):
            found.append(item)
    return tuple(found)


def _from_arguments(arguments: Mapping[str, Any]) -> QuoteReply | None:
    if "memory" not in arguments:
        return None
    quote, answer = arguments.get("quote"), arguments.get("answer")
    quote, answer = (value if isinstance(value, str) else "" for value in (quote, answer))
    number = arguments["memory"]
    if number is None or DECLINE_TOKEN in (quote, answer):
        return QuoteReply(None)
    if isinstance(number, float) and number.is_integer():
        number = int(number)
    if isinstance(number, str):
        digits = number.strip().strip("[]#").strip()
        if digits.casefold() in ("", "null", "none", DECLINE_TOKEN.casefold()):
            return QuoteReply(None)
        number = int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 7 else None
    if not isinstance(number, int) or isinstance(number, bool):
        return None
    return QuoteReply(number, quote, answer, _also(arguments.get("also")))


def _also(given: object) -> tuple[QuoteReply, ...]:
    """Return the further items of a reply; what is not as the contract has it is left out."""
    listed = given if isinstance(given, list) else ()
    replies = (_from_arguments(other) for other in listed if isinstance(other, Mapping))
    return tuple(QuoteReply(r.memory, r.quote) for r in replies if r and r.memory is not None)


def _from_json(text: str) -> QuoteReply | None:
    candidates = [text, *(found.strip() for found in _FENCED.findall(text))]
    first, last = text.find("{"), text.rfind("}")
    if 0 <= first < last:
        candidates.append(text[first : last + 1])
    for candidate in candidates:
        if not candidate.startswith("{"):
            continue
        try:
            value = json.loads(candidate, strict=False)
        except (ValueError, RecursionError):
            continue
        inner = value.get("arguments", value.get("parameters"))
        reply = _from_arguments(value) or (
            _from_arguments(inner) if isinstance(inner, dict) else None
        )
        if reply is not None:
            return reply
    return None


def _from_labels(text: str) -> QuoteReply | None:
    fenced = _FENCED.search(text)
    found = _LABELLED.search(fenced[1].strip() if fenced else text)
    if found is None:
        return None
    # Words, and behind them a number and the words of the next, as often as it points again.
    number, quotes = found["memory"], _POINTS_AGAIN.split(found["quote"])
    quote, answer = quotes[0].strip(), (found["answer"] or "").strip()
    if not number.isdigit() or DECLINE_TOKEN in (quote, answer):
        return QuoteReply(None)
    again = zip(quotes[1::2], quotes[2::2], strict=True)
    also = tuple(QuoteReply(int(n), words.strip()) for n, words in again if n.isdigit())
    return QuoteReply(int(number), quote, answer, also)


def _normal(text: str) -> str:
    return " ".join(straight(text).split())


def _readings(quote: str) -> list[str]:
    """Return the quote, and the quote without the marks a model puts around one."""
    whole = quote.strip()
    inner = _OUTER_QUOTES.match(whole)
    return [_normal(whole), *([_normal(inner[2])] if inner else [])]


def _quotes(quote: str, text: str) -> bool:
    if not quote:
        return False
    if quote == text:
        return True
    if len(content_tokens(quote)) < _LEAST_CONTENT_WORDS:
        return False
    start = text.find(quote)
    while start >= 0:
        if not (_joined(text, start) or _joined(text, start + len(quote))):
            return True
        start = text.find(quote, start + 1)
    return False


def _joined(text: str, place: int) -> bool:
    """Whether the characters around a place belong to one word or number."""
    before, after = text[max(0, place - 2) : place], text[place : place + 2]
    if not before or not after or _is_dense(before[-1]) or _is_dense(after[0]):
        return False
    if before[-1].isalnum() and after[0].isalnum():
        return True
    if before[-1].isdigit() and len(after) == 2 and after[0] in ".,:/-" and after[1].isdigit():
        return True
    return after[0].isdigit() and len(before) == 2 and before[1] in ".,:/-" and before[0].isdigit()


def _is_dense(character: str) -> bool:
    return regex.match(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}]", character) is not None
