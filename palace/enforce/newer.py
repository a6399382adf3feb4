"""What stands beside what was found: what is newer than a memory, and memories beside a playbook.

In: the report that answers and all others of a walk. Out: the report with what belongs to it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace

from palace.layers.judging import no_surer_behind
from palace.types.verdict import Evidence, LayerReport

Contradicts = Callable[[str, str], bool]
"""Whether the second of two texts tells another value for the same thing."""
NamedIn = Callable[[str], Collection[str]]
"""The ids of the artifacts that a text names."""


def with_newer(
    found: LayerReport,
    reports: Sequence[LayerReport],
    *,
    contradicts: Contradicts,
    named_in: NamedIn,
) -> LayerReport:
    """Return what was found together with what is newer, what holds now first.

    Before the memory stand the artifact that the prompt names, unless the memory tells of it
    itself, and each later note that contradicts it; the memory may be out of date then.

    Args:
        found: The first report that is sufficient; its first piece of evidence is the memory.
        reports: All reports of the walk.
        contradicts: Tells whether a note says otherwise.
        named_in: Tells whether the memory tells of the artifact itself.
    """
    memory, *others = found.evidence
    before: list[Evidence] = []
    behind: list[Evidence] = []
    for item in _of_layer("L3", reports, found):
        (behind if item.id in named_in(memory.text) else before).append(item)
    notes = contradicting(_of_layer("L2", reports, found), memory, contradicts)
    if notes:
        memory = replace(memory, stale=True)
    evidence = tuple(no_surer_behind((*before, *notes, memory, *behind, *others)))
    return replace(found, layer=evidence[0].layer, evidence=evidence)


def contradicting(
    notes: Iterable[Evidence], memory: Evidence, contradicts: Contradicts
) -> list[Evidence]:
    """Return the notes that are later than a memory and say otherwise."""
    return [n for n in notes if _is_later(n, memory) and contradicts(memory.text, n.text)]


def with_memories(found: LayerReport, reports: Sequence[LayerReport]) -> LayerReport:
    """Return a playbook that was found, with the memories and notes that answer behind it.

    Where a trigger alone brought it up, those that may answer stand there too: "how do I turn on
    the coffee machine?" says the trigger of how it is descaled.
    """
    by_trigger = found.judgement is not None and found.judgement.rule == "trigger"
    outcomes = {"sufficient", "unclear"} if by_trigger else {"sufficient"}
    told = [e for r in reports if r is not found and r.outcome in outcomes for e in r.evidence]
    evidence = tuple(no_surer_behind((*found.evidence, *told)))
    return replace(found, evidence=evidence)


def _of_layer(name: str, reports: Sequence[LayerReport], found: LayerReport) -> Iterator[Evidence]:
    for report in reports:
        if report.layer == name and report is not found:
            yield from report.evidence


def _is_later(note: Evidence, memory: Evidence) -> bool:
    return note.as_of is not None and (memory.as_of is None or note.as_of >= memory.as_of)
