"""What tools answer and prompts tell, without what the model itself wrote in them.

A tool that keeps a list, takes down a thought or hands over to another agent repeats its arguments,
and a chain may write its conversation down in the prompt. If that counted as said by somebody else,
a model could vouch for itself. In: such a text, and what the model wrote to a tool. Out: the text
that an answer may rest on.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from itertools import zip_longest

from palace.text.late_patterns import late_standard

# Words enough to state something: shorter arguments are what a tool is asked about.
_STATEMENT = late_standard(
    r"(?<!\S)(\S+\s+){3}\S|[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{8}"
)

# Who speaks in a conversation that is written down, as the frameworks put it.
_SPEAKER = late_standard(
    r"^[^\S\n]*(?:(?P<model>AI|[Aa]ssistant)|(?P<person>Human|[Uu]ser)|[Ss]ystem|[Tt]ool|Function):",
    re.MULTILINE,
)
_MODELS = ("AI:", "ssistant:")
# What goes on behind a conversation: a label, a heading, a tag or a line.
_BEHIND = late_standard(r"\n[^\S\n]*\n(?=[^\S\n]*(?:#|<|---|\*\*|[^\W\d_][\w ]{0,30}:))")


def without_echoes(texts: Iterable[str], *, written: Iterable[str]) -> tuple[str, ...]:
    """Return what tools said, without the statements of the model that stand in it.

    Args:
        texts: What tools answered.
        written: The values of the model's calls; four words or more state something.
    """
    stated = filter(is_statement, written)
    forms = [f for value in stated for f in (value, repr(value)[1:-1], json.dumps(value)[1:-1])]
    return tuple(_without(text, forms) for text in texts)


def without_replies(text: str) -> str:
    """Return a text without what the model says in a conversation that is written down in it.

    Where no person speaks it is none, whatever stands before a colon.
    """
    if not any(mark in text for mark in _MODELS):
        return text
    labels = list(_SPEAKER.finditer(text))
    if not any(label["person"] for label in labels):
        return text
    kept, start = [], 0
    for label, following in zip_longest(labels, labels[1:]):
        if label["model"]:
            end = following.start() if following else len(text)
            behind = _BEHIND.search(text, label.end(), end)
            kept.append(text[start : label.start()])
            start = behind.start() if behind else end
    return "".join([*kept, text[start:]])


def is_statement(text: str) -> bool:
    """Whether a text has four words or more: fewer state nothing by themselves."""
    return _STATEMENT.search(text) is not None


def _without(text: str, forms: Iterable[str]) -> str:
    for form in forms:
        text = text.replace(form, " ")
    return text
