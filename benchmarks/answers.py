"""How good the answer check is: what is made up is caught, what is honest is let through.

In: small evidence sets with labelled answers, `benchmarks/data/answers*.jsonl`: dev and test;
blind and blind 2 to 35, but for the last written before the check was seen; dev 2 and fresh, in the
shorthand of notes; dev 3, answers that compute. Out: for each split and label how many answers are
flagged, and precision and recall of the check; with `--mutate` how many alterations made from the
honest answers are caught.

    python -m benchmarks.answers [--json OUT] [--split NAME] [--show] [--mutate]

Each part was unseen once, and what it showed then is in docs/decisions/0003-answers.md. All have
been looked at since: what they show now is no estimate for unseen answers.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from benchmarks.command import results_file, run
from benchmarks.mutations import mutations
from palace import AnswerCheck, CheckedAnswer, Evidence

_FOLDER = Path(__file__).parent / "data"
DATA = tuple(sorted(_FOLDER.glob("answers*.jsonl")))
# Nothing is fitted on these.
HELD_OUT = ("blind 7", *(f"blind {number}" for number in range(11, 36)))
HONEST = ("faithful", "paraphrase", "summary", "refusal")
ALTERED = ("altered_number", "altered_date", "altered_name", "altered_path")
SWAPPED = ("swapped_binding",)
INVENTED = ("invented_addition",)


@dataclass(frozen=True)
class Case:
    """One labelled answer, the check of its evidence set, and the texts of that set."""

    name: str
    split: str
    label: str
    answer: str
    question: str
    check: AnswerCheck
    texts: tuple[str, ...]
    known: str


def load_cases(*paths: Path) -> Iterator[Case]:
    """Yield the labelled answers of some files, by default of all of them."""
    for line in (ln for path in paths or DATA for ln in path.read_text("utf-8").splitlines()):
        data = json.loads(line)
        evidence = [
            Evidence(
                id=f"{data['set']}-{number}",
                text=item["text"],
                layer="L1",
                source=item["source"],
                as_of=_day(item["as_of"]),
            )
            for number, item in enumerate(data["evidence"], 1)
        ]
        check = AnswerCheck(evidence, data["question"], mode="replace")
        shown = (f"{e.text} {e.source} {e.as_of or ''}" for e in evidence)
        texts = tuple(item["text"] for item in data["evidence"])
        known = " ".join((*shown, data["question"]))
        for item in data["answers"]:
            named = data["set"], data["split"], item["label"], item["text"], data["question"]
            yield Case(*named, check, texts, known)


def author(case: Case) -> str:
    """Return whose answer it is: every part has another author, but test is of the one of dev."""
    return "dev" if case.split == "test" else case.split


def _day(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text).replace(tzinfo=timezone.utc) if text else None


def measure(cases: list[tuple[Case, CheckedAnswer]]) -> dict[str, Any]:
    """Return how many answers of each label are flagged, and precision and recall.

    Recall of a label is the share of its answers that are flagged; its precision is the share of
    them among all flagged answers of the label and flagged honest answers. An altered answer
    counts as caught when it is flagged.
    """
    total: Counter[str] = Counter()
    flagged: Counter[str] = Counter()
    for case, checked in cases:
        total[case.label] += 1
        flagged[case.label] += not checked.supported
    false_flags = sum(flagged[label] for label in HONEST)
    labels = {
        label: {
            "answers": total[label],
            "flagged": flagged[label],
            "rate": round(flagged[label] / total[label], 4),
            **(
                {}
                if label in HONEST
                else {"precision": _ratio(flagged[label], flagged[label] + false_flags)}
            ),
        }
        for label in (*HONEST, *ALTERED, *SWAPPED, *INVENTED)
        if total[label]
    }

    def rate(names: tuple[str, ...]) -> float | None:
        return _ratio(sum(flagged[n] for n in names), sum(total[n] for n in names))

    made_up = (*ALTERED, *SWAPPED, *INVENTED)
    caught = sum(flagged[n] for n in made_up)
    return {
        "answers": sum(total.values()),
        "labels": labels,
        "altered_caught": rate(ALTERED),
        "invented_caught": rate(INVENTED),
        "honest_flagged": rate(HONEST),
        "precision": _ratio(caught, caught + false_flags),
        "recall": rate(made_up),
    }


def measure_mutations(cases: list[Case]) -> dict[str, tuple[int, int]]:
    """Return kind -> (caught, made) for alterations of the honest answers that pass unaltered."""
    caught: Counter[str] = Counter()
    made: Counter[str] = Counter()
    for case in cases:
        if case.label not in HONEST or not case.check.check(case.answer).supported:
            continue
        for kind, altered in mutations(case.answer, case.known):
            made[kind] += 1
            caught[kind] += not case.check.check(altered).supported
    return {kind: (caught[kind], made[kind]) for kind in sorted(made)}


def _ratio(part: int, whole: int) -> float | None:
    """Return a share, None of nothing."""
    return round(part / whole, 4) if whole else None


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=results_file, help="also write the numbers to this file")
    parser.add_argument("--split", help='only this part, such as "blind 2"')
    parser.add_argument("--mutate", action="store_true", help="also alter the honest answers")
    parser.add_argument("--show", action="store_true", help="print the answers it gets wrong")
    arguments = parser.parse_args()
    cases = [c for c in load_cases() if arguments.split in (None, c.split)]
    if not cases:
        parser.error(f"there is no part {arguments.split!r}")
    started = time.perf_counter()
    results = [(case, case.check.check(case.answer)) for case in cases]
    each_ms = (time.perf_counter() - started) * 1000 / len(cases)
    report: dict[str, Any] = {"ms_per_answer": round(each_ms, 3)}
    for split in sorted({case.split for case in cases}):
        report[split] = measure([r for r in results if r[0].split == split])
        _print_table(split, report[split])
    print(f"{each_ms:.2f} ms per answer")
    if arguments.mutate:
        report["mutations"] = measure_mutations(cases)
        for kind, (caught, made) in report["mutations"].items():
            print(f"  made from honest answers: {kind:10} {caught:4}/{made:4} caught")
    if arguments.show:
        _print_wrong(results)
    if arguments.json:
        arguments.json.write_text(json.dumps(report, indent=2) + "\n", "utf-8")


def _print_table(split: str, numbers: dict[str, Any]) -> None:
    print(f"{split}: {numbers['answers']} answers")
    for label, row in numbers["labels"].items():
        precision = f"  precision {_shown(row['precision'])}" if "precision" in row else ""
        print(
            f"  {label:18} {row['flagged']:3}/{row['answers']:3} flagged"
            f" {row['rate']:.3f}{precision}"
        )
    for name in ("altered_caught", "invented_caught", "honest_flagged", "precision", "recall"):
        print(f"  {name:18} {_shown(numbers[name])}")


def _shown(share: float | None) -> str:
    return "none" if share is None else f"{share:.3f}"


def _print_wrong(results: list[tuple[Case, CheckedAnswer]]) -> None:
    for case, checked in results:
        if checked.supported != (case.label in HONEST):
            print(f"{case.split} {case.name} {case.label}: {case.answer}")
            print(f"    {checked.unsupported}")


if __name__ == "__main__":
    run(main)
