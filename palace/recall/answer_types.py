"""What kind of thing would answer a prompt: a day, a price, a phone number, somebody.

In: a prompt as it is matched, and its language. Out: the kind, and the words that only say it.
"""

from __future__ import annotations

from typing import NamedTuple

from palace.recall.lexicon import Lexicon, first_match, matches
from palace.text import tokens
from palace.types.query import AnswerType

# A question of these kinds may be one for a phone number or an e-mail address; who has it, or
# where it stands, is another one.
_MAY_BE_A_LABEL: frozenset[AnswerType] = frozenset(("label", "number", "thing"))


class AskedKind(NamedTuple):
    """What kind of thing is asked for.

    Attributes:
        kind: It.
        labels: Index tokens that only say that it is asked for ("phone number").
    """

    kind: AnswerType
    labels: frozenset[str] = frozenset()


def asked_kind(text: str, lexicon: Lexicon, *, timeout_ms: float) -> AskedKind:
    """Return what kind of thing would answer a prompt; a thing where nothing tells.

    Args:
        text: The prompt as it is matched.
        lexicon: Its language.
        timeout_ms: Bound on each pattern, in milliseconds.
    """
    kind = _kind(text, lexicon, timeout_ms)
    for label, pattern in lexicon.labels.items() if kind in _MAY_BE_A_LABEL else ():
        if found := first_match(pattern, text, timeout_ms=timeout_ms):
            return AskedKind(label, frozenset(tokens(found[0])))
    return AskedKind(kind)


def _kind(text: str, lexicon: Lexicon, timeout_ms: float) -> AnswerType:
    for kind, pattern in lexicon.question_types.items():
        if matches(pattern, text, timeout_ms=timeout_ms):
            return kind
    return "thing"
