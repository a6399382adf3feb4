"""What tools answer, without what the model itself wrote to them.

A tool that keeps a list, takes down a thought or hands over to another agent repeats its arguments.
If that counted as said by the tool, a model could vouch for itself. In: the text of a tool, and
what the model wrote. Out: the text that an answer may rest on.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

# Words enough to state something: shorter arguments are what a tool is asked about.
_STATEMENT = re.compile(
    r"(?<!\S)(\S+\s+){3}\S|[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{8}"
)


def without_echoes(texts: Iterable[str], *, written: Iterable[str]) -> tuple[str, ...]:
    """Return what tools said, without the statements of the model that stand in it.

    Args:
        texts: What tools answered.
        written: The values of the model's calls; four words or more state something.
    """
    stated = filter(is_statement, written)
    forms = [f for value in stated for f in (value, repr(value)[1:-1], json.dumps(value)[1:-1])]
    return tuple(_without(text, forms) for text in texts)


def is_statement(text: str) -> bool:
    """Whether a text has four words or more: fewer state nothing by themselves."""
    return _STATEMENT.search(text) is not None


def _without(text: str, forms: Iterable[str]) -> str:
    for form in forms:
        text = text.replace(form, " ")
    return text
