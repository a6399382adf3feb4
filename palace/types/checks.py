"""What is seen when a palace is looked over: what doctor tried, what looks like an attack.

In: a palace's files and index. Out: what a person is told.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from palace.types.memory import Trust

Overwriting = Literal["missing", "older", "back"]


@dataclass(frozen=True, slots=True)
class Overwritten:
    """Something the palace wrote within a day that its file does not have as it was written.

    Attributes:
        id: Of the memory.
        path: Its file, relative to the palace.
        text: Its words as they were written; "" if it was erased.
        at: When it was written, aware.
        how: `missing`: it is nowhere. `older`: it is as before that write, e.g. active again.
            `back`: it was erased and stands there again.
    """

    id: str
    path: str
    text: str
    at: datetime
    how: Overwriting


@dataclass(frozen=True, slots=True)
class Suspect:
    """Something stored that looks like an attack on whoever reads it.

    Attributes:
        id: Of the memory, playbook or note; `identity` for the identity.
        source: Where a person finds it.
        trust: Whose word it is.
        reasons: What makes it suspicious; see `palace.enforce.suspicion`.
        excerpt: Its first words, with secrets and stings removed.
    """

    id: str
    source: str
    trust: Trust
    reasons: tuple[str, ...]
    excerpt: str


@dataclass(frozen=True, slots=True)
class Check:
    """One thing `doctor` tried."""

    name: str
    ok: bool
    detail: str
    hint: str = ""
