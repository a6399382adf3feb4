"""Does the palace hold another value for the same thing: found without a model, precision first.

In: a text and memories that resemble it. Out: the memories it contradicts and what differs. A
judge, where a host gives one, has the last word on what the rules find or doubt.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from palace.errors import ModelError
from palace.learn.comparing import Comparison, compare
from palace.learn.parsed import read_statement
from palace.ports import ConflictJudge
from palace.types.changes import Relation
from palace.types.memory import Memory

# A write may cost a few calls of a judge, never one for every neighbour.
MAX_JUDGED = 4
_log = logging.getLogger(__name__)

_Compared = tuple[Memory, Comparison]


@dataclass(frozen=True, slots=True)
class Said:
    """What a judge said; of anything else it has no opinion. Implements the port `ConflictJudge`.

    Attributes:
        relations: (stored statement, new statement) -> what it said of them.
    """

    relations: Mapping[tuple[str, str], Relation | None]

    def judge(self, stored: str, new: str) -> Relation | None:
        """Return what was said of these two, None if nothing was."""
        return self.relations.get((stored, new))


def ask_judge(judge: ConflictJudge, text: str, resembling: Iterable[Memory]) -> Said:
    """Ask a judge all that `find_conflicts` would ask it, and return what it said.

    A model may think for seconds; asked beforehand, it lets nobody wait.
    """
    asked = _to_judge(_compared(text, resembling))
    return Said({(memory.text, text): _opinion(judge, memory.text, text) for memory, _ in asked})


def find_conflicts(
    text: str, resembling: Iterable[Memory], *, judge: ConflictJudge | None = None
) -> list[tuple[Memory, str]]:
    """Return the memories that state another value for the same thing, and what differs.

    Args:
        text: The new statement.
        resembling: Memories to compare it with, of one scope.
        judge: Asked about at most `MAX_JUDGED` memories: those that the rules call a conflict,
            then those they are in doubt about. Where it fails or cannot tell, the rules stand.
    """
    compared = _compared(text, resembling)
    found = _by_rules(compared)
    if judge is not None:
        asked = _to_judge(compared)
        found = [p for p in asked if _judged(judge, p, text)] + found[MAX_JUDGED:]
    return [(memory, _detail(comparison)) for memory, comparison in found]


def contradicts(stored: str, new: str) -> bool:
    """Return whether, by the rules, a new text tells another value for the same thing."""
    return compare(read_statement(stored), read_statement(new)).relation == "conflict"


def _compared(text: str, resembling: Iterable[Memory]) -> list[_Compared]:
    new = read_statement(text)
    return [(memory, compare(read_statement(memory.text), new)) for memory in resembling]


def _by_rules(compared: Sequence[_Compared]) -> list[_Compared]:
    return [pair for pair in compared if pair[1].relation == "conflict"]


def _to_judge(compared: Sequence[_Compared]) -> list[_Compared]:
    doubted = [pair for pair in compared if pair[1].relation == "doubtful"]
    return (_by_rules(compared) + doubted)[:MAX_JUDGED]


def _judged(judge: ConflictJudge, pair: _Compared, text: str) -> bool:
    memory, comparison = pair
    said = _opinion(judge, memory.text, text)
    return comparison.relation == "conflict" if said is None else said == "conflict"


def _opinion(judge: ConflictJudge, stored: str, new: str) -> Relation | None:
    try:
        return judge.judge(stored, new)
    except ModelError as error:
        _log.warning("the judge of conflicts failed, the rules decide: %s", error)
        return None


def _detail(comparison: Comparison) -> str:
    nothing = "no such value"
    return f"stored: {comparison.old or nothing}; new: {comparison.new or nothing}"
