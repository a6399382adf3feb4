"""Does the palace hold another value for the same thing: found without a model, precision first.

In: a text and memories that resemble it. Out: the memories it contradicts and what differs. A
judge, where a host gives one, has the last word on what the rules find or doubt.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable

from palace.errors import ModelError
from palace.learn.comparing import Comparison, compare
from palace.learn.statement import read_statement
from palace.ports import ConflictJudge
from palace.types.memory import Memory

# A write may cost a few calls of a judge, never one for every neighbour.
MAX_JUDGED = 4
_log = logging.getLogger(__name__)


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
    new = read_statement(text)
    compared = [(memory, compare(read_statement(memory.text), new)) for memory in resembling]
    found = [pair for pair in compared if pair[1].relation == "conflict"]
    if judge is not None:
        doubted = [pair for pair in compared if pair[1].relation == "doubtful"]
        asked = (found + doubted)[:MAX_JUDGED]
        found = [p for p in asked if _judged(judge, p, text)] + found[MAX_JUDGED:]
    return [(memory, _detail(comparison)) for memory, comparison in found]


def _judged(judge: ConflictJudge, pair: tuple[Memory, Comparison], text: str) -> bool:
    memory, comparison = pair
    try:
        said = judge.judge(memory.text, text)
    except ModelError as error:
        _log.warning("the judge of conflicts failed, the rules decide: %s", error)
        said = None
    return comparison.relation == "conflict" if said is None else said == "conflict"


def _detail(comparison: Comparison) -> str:
    nothing = "no such value"
    return f"stored: {comparison.old or nothing}; new: {comparison.new or nothing}"
