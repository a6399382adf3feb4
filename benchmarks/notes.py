"""Verdicts on hand-written notes, and what two scripted models make of them.

Run:
    python -m benchmarks.notes --cases FILE --palace DIR [--among DIR …] [--others FILE …]
        [--embedder NAME] --json OUT

In: a folder of notes and cases with the verdict a careful friend would expect; perhaps the cases of
other people's notes. Out: where a search alone has the right memory; verdicts by family, whether
the right memory is in the evidence, how often something is presented as a memory that is none, and
what a person gets from a model that points perfectly and from one that lies. Of questions that only
other people's notes answer: how often a model is called for nothing. With `--among` the notes of
others are kept beside, as in a palace of thousands of notes.
"""

from __future__ import annotations

import argparse
import math
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.command import results_file, run, say
from benchmarks.datasets import Case, load_cases, open_notes, take_back
from benchmarks.embedders import add_option, embed_all, use
from benchmarks.measures import latency_ms, mean, report
from palace import (
    DECLINE_TOKEN,
    Answer,
    AnswerCheck,
    AnswerOptions,
    Memory,
    Mempalace,
    ModelCall,
    ModelReply,
    RetrievalEnforcer,
    Verdict,
    answer_steps,
)

_LIE = "zorkmid"
_SEARCHED = 5
_NOT_SEARCHED = ("answerable-procedure", "follow-up")
PLAIN = ("answerable-lexical", "answerable-temporal")
LEFT_ALONE = (
    "task",
    "world-knowledge",
    "machine-shaped",
    "chit-chat",
    "hypothetical-and-howto-general",
)


@dataclass(frozen=True)
class Judged:
    """One case with its verdict and the place of the right memory in the evidence."""

    case: Case
    verdict: Verdict
    place: int | None

    @property
    def right_in_evidence(self) -> bool:
        """Whether the right memory is in the evidence at all."""
        return self.place is not None

    @property
    def grounded(self) -> bool:
        """Whether something is presented as a memory, by the model or without one."""
        action, outcome = self.verdict.action, self.verdict.outcome
        return action == "ground" or (action == "answer" and outcome == "hit")


def judge(case: Case, verdict: Verdict) -> Judged:
    """Return the case with the 1-based place of the right memory, if it is there."""
    places = (n for n, e in enumerate(verdict.evidence, 1) if case.is_gold(e.text, e.source))
    return Judged(case, verdict, next(places, None))


def without_memory(palace: Mempalace, cases: Sequence[Case]) -> list[str]:
    """Return the names of cases to be grounded whose gold is no memory of the palace."""
    by_path: dict[str, list[Memory]] = {}
    for memory in (*palace.index.memories(), *palace.index.memories(layer="L4")):
        by_path.setdefault(memory.path, []).append(memory)
    return [
        case.name
        for case in cases
        if case.expect == "ground"
        and not any(
            case.is_gold(memory.text, memory.source)
            for gold in case.gold
            for memory in by_path.get(gold.partition(": ")[0], ())
        )
    ]


def place_in_search(palace: Mempalace, case: Case) -> int | None:
    """Return the 1-based place of the right memory among the first hits of a search."""
    hits = palace.search(case.turn.prompt, top_k=_SEARCHED)
    places = (n for n, h in enumerate(hits, 1) if case.is_gold(h.memory.text, h.memory.source))
    return next(places, None)


def searched(cases: Sequence[Case], places: Sequence[int | None]) -> dict[str, Any]:
    """Return how often a search alone has the right memory first, and among the first 3 and 5.

    Playbooks and follow-ups are left out: the one are no rooms, the others need their history.
    """
    by_family: dict[str, list[float]] = {"all": []}
    for case, place in sorted(zip(cases, places, strict=True), key=lambda one: one[0].family):
        for family in {"all", case.family}:
            by_family.setdefault(family, []).append(place or math.inf)
    return {
        family: {"n": len(mine)}
        | {f"top{k}": mean([float(p <= k) for p in mine]) for k in (1, 3, 5)}
        for family, mine in by_family.items()
    }


def pointer(judged: Judged, call: ModelCall) -> ModelReply:
    """Reply as a model that quotes the right memory if it is in the evidence, and else declines."""
    if judged.place is None:
        return ModelReply(DECLINE_TOKEN)
    said = judged.verdict.evidence[judged.place - 1].text
    if call.purpose == "answer":
        return ModelReply(said)
    return ModelReply(arguments={"memory": judged.place, "quote": said, "answer": ""})


def liar(judged: Judged, call: ModelCall) -> ModelReply:
    """Reply as a model that misquotes the first memory, and makes up every answer."""
    if call.purpose == "answer":
        return ModelReply(f"It was 4711 {_LIE}s, as Ebenezer Quux said on 1897-02-03.")
    words = judged.verdict.evidence[0].text.split()
    words[len(words) // 2] = _LIE
    return ModelReply(arguments={"memory": 1, "quote": " ".join(words), "answer": _LIE})


def end_to_end(
    judged: Judged, model: Callable[[Judged, ModelCall], ModelReply], options: AnswerOptions
) -> str:
    """Return what a person gets: `right`, `wrong`, `lied`, `fallback` or `untouched`.

    `right` has the words of the right memory, `wrong` those of others alone, `lied` what no
    memory says.
    """
    steps = answer_steps(judged.verdict, question=judged.case.turn.prompt, options=options)
    try:
        call = next(steps)
        while True:
            call = steps.send(model(judged, call))
    except StopIteration as end:
        return _gets(judged, end.value)


def _gets(judged: Judged, answer: Answer) -> str:
    if answer.passed_through:
        return "untouched"
    if _LIE in answer.text:
        return "lied"
    declined = answer.checked is not None and answer.checked.declined
    if declined or answer.verdict.action == "fallback" or not answer.verdict.evidence:
        return "fallback"
    if judged.place is None:
        return "wrong"
    quoted = AnswerCheck(judged.verdict.evidence, judged.case.turn.prompt).quote(judged.place - 1)
    said = judged.verdict.evidence[judged.place - 1].text
    return "right" if said in answer.text or quoted in answer.text else "wrong"


def results(
    all_judged: Sequence[Judged], durations_s: Sequence[float], options: AnswerOptions
) -> dict[str, Any]:
    """Return every measure."""
    ground = [j for j in all_judged if j.case.expect == "ground"]
    refuse = [j for j in all_judged if j.case.expect == "fallback"]
    alone = [j for j in all_judged if j.case.family in LEFT_ALONE]
    plain = [j for j in ground if j.case.family in PLAIN]
    families = sorted({j.case.family for j in all_judged})
    return {
        "n": len(all_judged),
        "verdicts": {
            family: dict(Counter(j.verdict.action for j in all_judged if j.case.family == family))
            for family in families
        },
        "families": {
            family: _shares([j for j in all_judged if j.case.family == family])
            for family in families
        },
        "right_memory": _right_memory(ground),
        "presented_as_memory": mean([float(j.grounded) for j in refuse]),
        "plain_grounded_right": mean([float(j.grounded and j.place == 1) for j in plain]),
        "answerable_ground_or_confirm_right": mean(
            [
                float((j.grounded or j.verdict.action == "confirm") and j.right_in_evidence)
                for j in ground
            ]
        ),
        "deferred": mean([float(j.verdict.action == "confirm") for j in all_judged]),
        "left_alone": mean([float(j.verdict.action == "pass") for j in alone]),
        "end_to_end": {
            model.__name__: {
                expect: dict(
                    Counter(
                        end_to_end(j, model, options) for j in all_judged if j.case.expect == expect
                    )
                )
                for expect in ("ground", "fallback", "pass")
            }
            for model in (pointer, liar)
        },
        "decide_ms": latency_ms(durations_s),
    }


def _shares(group: Sequence[Judged]) -> dict[str, Any]:
    """Return the measures of a family; what is to pass is presented wrongly as well."""
    return {
        "n": len(group),
        "right_memory": _right_memory([j for j in group if j.case.expect == "ground"]),
        "presented_as_memory": mean(
            [float(j.grounded) for j in group if j.case.expect != "ground"]
        ),
        "deferred": mean([float(j.verdict.action == "confirm") for j in group]),
    }


def _right_memory(ground: Sequence[Judged]) -> dict[str, float]:
    """Return how often the right memory is the first piece of evidence, in the first 3 and 5."""
    return {
        f"top{k}": mean([float(j.place is not None and j.place <= k) for j in ground])
        for k in (1, 3, 5)
    }


def asked_for_nothing(palace: Mempalace, cases: Sequence[Case]) -> dict[str, Any]:
    """Return what becomes of the answerable questions of other people's notes, by action."""
    enforcer = RetrievalEnforcer(palace)
    actions: Counter[str] = Counter()
    for case in cases:
        verdict = enforcer.decide(case.turn)
        take_back(palace, verdict)
        actions[verdict.action] += 1
    shares = {action: number / len(cases) for action, number in sorted(actions.items())}
    return {"n": len(cases), **shares}


def main() -> None:
    """Measure and report."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--cases", type=Path, required=True, help="cases, JSONL")
    parser.add_argument("--palace", type=Path, required=True, help="folder of notes; it is copied")
    parser.add_argument(
        "--among", type=Path, nargs="+", default=[], help="folders of notes to be kept beside"
    )
    parser.add_argument(
        "--others", type=Path, action="append", default=[], help="cases of other notes, JSONL"
    )
    parser.add_argument("--json", type=results_file, help="where to write the results")
    add_option(parser)
    arguments = parser.parse_args()
    use(arguments.embedder)
    judged: list[Judged] = []
    durations_s: list[float] = []
    cases = load_cases(arguments.cases)
    others = [case for file in arguments.others for case in load_cases(file)]
    others = [case for case in others if case.expect == "ground" and not case.turn.history]
    mine = arguments.palace.resolve()
    beside = [other for other in arguments.among if other.resolve() != mine]
    with (
        tempfile.TemporaryDirectory() as folder,
        open_notes(arguments.palace, Path(folder), among=beside) as palace,
    ):
        embedded = embed_all(palace)
        enforcer = RetrievalEnforcer(palace)
        say(f"{len(cases)} cases, asked of {arguments.palace}")
        if lost := without_memory(palace, cases):
            say(f"no memory here is the gold of {len(lost)}: {', '.join(lost)}")
        for case in cases:
            started = time.perf_counter()
            verdict = enforcer.decide(case.turn)
            durations_s.append(time.perf_counter() - started)
            take_back(palace, verdict)
            judged.append(judge(case, verdict))
        found = [c for c in cases if c.expect == "ground" and c.family not in _NOT_SEARCHED]
        search = searched(found, [place_in_search(palace, case) for case in found])
        told = results(judged, durations_s, palace.answer_options)
        if others:
            say(f"{len(others)} questions that other notes answer")
            told["others"] = asked_for_nothing(palace, others)
    report({"embedder": embedded, "search": search, **told}, arguments.json)


if __name__ == "__main__":
    run(main)
