"""How well a write tells duplicates, conflicts and unrelated statements apart.

In: labelled pairs, `benchmarks/data/pairs.jsonl` by default. Out: precision and recall of each
class and the confusion, for each split and by kind of pair; the same end to end, through
`Mempalace.remember` among other memories; how many of as many unrelated facts raise a false alarm;
and what it costs.

    python -m benchmarks.pairs [--pairs FILE] [--json OUT] [--split NAME] [--others N] [--show]
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, fields
from itertools import product
from pathlib import Path
from typing import Any

from benchmarks.command import results_file, run, whole_number
from benchmarks.datasets import BadDataError, json_lines, reading, text_of
from benchmarks.measures import latency_ms, mean, rounded
from palace import Conflict, Duplicate, Memory, Mempalace, WriteResult
from palace.learn.conflict import find_conflicts
from palace.learn.dedup import find_duplicate

DATA = Path(__file__).parent / "data" / "pairs.jsonl"
LABELS = ("duplicate", "conflict", "unrelated")

_THINGS = tuple(
    "archive greenhouse workshop billing-service search-service mail-gateway print-room canteen"
    " north-depot south-depot reading-room test-bench boathouse orchard beehive-row loading-dock"
    " staging-cluster data-lake newsletter ticket-desk garden-pump cargo-bike sewing-table kiln"
    " telescope cold-store choir-loft solar-roof media-server front-desk".split()
)
_ATTRIBUTES = (
    "was founded in {year}",
    "costs {n} euros a month",
    "is looked after by {name}",
    "opens at {clock}",
    "has {n} shelves",
    "is inspected on {day}",
    "stands in {place}",
    "needs {n} litres of water a week",
    "weighs {n} kilos",
    "was painted by {name} in {year}",
    "is locked during the holidays",
    "cannot be reached by bus",
    "keeps its keys in {place}",
    "runs version {n}.2",
    "was repaired {n} times",
    "sends its reports to {name}",
    "is lit by {n} lamps",
    "closes earlier in winter",
    "has a budget of {n} dollars",
    "was moved once, in {year}",
    "is known for its smell",
    "uses forms from {place}",
    "is rented until {year}",
    "likes company on {day}",
    "was never insured by {name}",
    "may be used by guests",
    "lost {n} visitors in {year}",
    "belongs to {name}",
    "has a ceiling of {n} metres",
    "lent a ladder to {name}",
    "gets its power from {place}",
    "is the favourite spot of {name}",
    "had an open house on {n} May {year}",
    "stores {n} boxes",
    "was visited by {name}",
    "is 2 km from {place}",
)
_NAMES = "Ada Boris Carla Dimitri Enno Freya Gustav Hana Igor Juna Karl Lena".split()
_PLACES = "Bremen Turin the-yard Gdansk the-annex Tartu the-hangar Cork the-tower Lund".split()
_DAYS = "Mondays Tuesdays Wednesdays Thursdays Fridays Saturdays".split()


@dataclass(frozen=True)
class Pair:
    """Two statements and what they are to each other."""

    id: str
    split: str
    domain: str
    style: str
    label: str
    tag: str
    stored: str
    new: str


def load_pairs(path: Path = DATA) -> list[Pair]:
    """Return the labelled pairs of a file.

    Raises:
        BadDataError: If a line is in another format, or there is none.
    """
    pairs = []
    for place, data in json_lines(path):
        with reading(place):
            pairs.append(Pair(**{one.name: text_of(data, one.name) for one in fields(Pair)}))
            if pairs[-1].label not in LABELS:
                raise ValueError(f"label {pairs[-1].label!r} is none of {', '.join(LABELS)}")
    if not pairs:
        raise BadDataError(f"{path}: holds no pair")
    return pairs


def judged(pair: Pair) -> str:
    """Return what the rules say of a pair, in the order of a write."""
    stored = Memory("m-1", pair.stored, "rooms/a/b.md", 1, "a", "b")
    if find_duplicate(pair.new, [stored]):
        return "duplicate"
    return "conflict" if find_conflicts(pair.new, [stored]) else "unrelated"


def table(results: Sequence[tuple[Pair, str]]) -> dict[str, Any]:
    """Return precision and recall per class, the confusion, and what is missed by kind of pair.

    An alarm about another memory than the pair's, "wrong conflict", counts against precision.
    """
    confusion = {
        label: {said: sum(p.label == label and s == said for p, s in results) for said in LABELS}
        for label in LABELS
    }
    wrong = Counter(f"{p.label}:{p.tag}" for p, s in results if p.label != s)
    return {
        "pairs": len(results),
        **{
            label: {
                "precision": mean(
                    [float(p.label == s) for p, s in results if s in (label, f"wrong {label}")]
                ),
                "recall": mean([float(s == label) for p, s in results if p.label == label]),
            }
            for label in LABELS
        },
        "confusion": confusion,
        "wrong_by_kind": dict(sorted(wrong.items())),
    }


def other_facts(count: int) -> list[str]:
    """Return unrelated facts: no two of them are about one attribute of one thing."""
    facts = []
    for number, (attribute, thing) in enumerate(product(_ATTRIBUTES, _THINGS)):
        said = attribute.format(
            n=number * 7 % 89 + 2,
            year=1950 + number * 11 % 75,
            name=_NAMES[number * 5 % len(_NAMES)],
            place=_PLACES[number * 3 % len(_PLACES)].replace("-", " "),
            day=_DAYS[number % len(_DAYS)],
            clock=f"{number % 12 + 6}:{number % 4 * 15:02}",
        )
        facts.append(f"The {thing.replace('-', ' ')} {said}.")
    return facts[:count]


def _others(text: str) -> int:
    count = 0 if text == "0" else whole_number(text, "other memories")
    if count > (most := len(_ATTRIBUTES) * len(_THINGS)):
        raise argparse.ArgumentTypeError(f"there are only {most} other facts")
    return count


def end_to_end(pairs: Sequence[Pair], others: int) -> dict[str, Any]:
    """Write everything through `remember`: first the other facts, then one pair after another."""
    with tempfile.TemporaryDirectory() as folder, Mempalace.open(folder) as palace:
        alarms: Counter[str] = Counter()
        named: list[str] = []
        for number, fact in enumerate(other_facts(others)):
            result = palace.remember(fact, room="others", drawer=f"page-{number // 40}")
            alarms[result.status] += 1
            if result.status != "stored":
                named.append(f"{result.status}: {fact} | {result.memory.text}")
                palace.remember(fact, room="others", on_conflict="keep")
        durations: list[float] = []
        results = [(pair, _written(palace, pair, durations)) for pair in pairs]
        splits = sorted({pair.split for pair in pairs})
        return {
            "others": others,
            "false_alarms_among_others": others - alarms["stored"],
            "false_alarm_examples": named[:10],
            **{split: table([r for r in results if r[0].split == split]) for split in splits},
            "remember_ms": latency_ms(durations),
        }


def _written(palace: Mempalace, pair: Pair, durations: list[float]) -> str:
    """Return what `remember` said of a pair; only the right memory counts as found."""
    stored = palace.remember(pair.stored, room="pairs", drawer=pair.id, on_conflict="keep")
    started = time.perf_counter()
    result = palace.remember(pair.new, room="pairs", drawer=pair.id)
    durations.append(time.perf_counter() - started)
    said = _said(result, stored.memory.id)
    for memory in {m.id: m for m in (stored.memory, result.memory)}.values():
        if memory.room == "pairs" and palace.get(memory.id).status == "active":
            palace.forget(memory.id)
    return said


def _said(result: WriteResult, stored_id: str) -> str:
    named = {result.memory.id}
    if isinstance(result, Conflict):
        named |= {m.id for m in result.others}
    if isinstance(result, (Conflict, Duplicate)):
        # An alarm about another memory is wrong whatever the label is.
        return result.status if stored_id in named else f"wrong {result.status}"
    return "unrelated"


def long_texts_ms() -> dict[str, float]:
    """Return the time of one comparison of texts of 20,000 characters, in milliseconds."""
    shapes = {
        "prose": "The server in room 4 listens on port 5432 and never sleeps. ",
        "one word": "x",
        "numbers": "17 ",
        "negations": "not no never ",
    }
    timed = {}
    for name, shape in shapes.items():
        text = (shape * 20_000)[:20_000]
        memory = Memory("m-1", text[:-1] + "y", "rooms/a/b.md", 1, "a", "b")
        started = time.perf_counter()
        find_duplicate(text, [memory])
        find_conflicts(text, [memory])
        timed[name] = (time.perf_counter() - started) * 1000
    return timed


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=Path, default=DATA, help="labelled pairs, JSON lines")
    parser.add_argument("--json", type=results_file, help="also write the numbers to this file")
    parser.add_argument("--split", help="only this part")
    parser.add_argument(
        "--others", type=_others, default=1000, help="other memories; 0 skips the palace"
    )
    parser.add_argument("--show", action="store_true", help="print the pairs it gets wrong")
    arguments = parser.parse_args()
    pairs = [p for p in load_pairs(arguments.pairs) if arguments.split in (None, p.split)]
    if not pairs:
        parser.error(f"there is no part {arguments.split!r}")
    started = time.perf_counter()
    results = [(pair, judged(pair)) for pair in pairs]
    report: dict[str, Any] = {"us_per_pair": (time.perf_counter() - started) * 1e6 / len(pairs)}
    for split in dict.fromkeys(pair.split for pair in pairs):
        report[split] = table([r for r in results if r[0].split == split])
        _print_table(split, report[split])
    report["long_texts_ms"] = long_texts_ms()
    print("texts of 20,000 characters, ms:", rounded(report["long_texts_ms"], 1))
    if arguments.others:
        report["end_to_end"] = whole = end_to_end(pairs, arguments.others)
        for split in (s for s in report if s in whole):
            _print_table(f"end to end, {split}", whole[split])
        print(
            f"{whole['false_alarms_among_others']} false alarms among {arguments.others} other"
            f" facts; remember() ms {whole['remember_ms']}"
        )
        for line in whole["false_alarm_examples"] if arguments.show else ():
            print("  ", line)
    if arguments.show:
        for pair, said in (r for r in results if r[0].label != r[1]):
            print(f"{pair.id} {pair.label} ({pair.tag}) -> {said}: {pair.stored} | {pair.new}")
    if arguments.json:
        arguments.json.write_text(json.dumps(rounded(report), indent=2) + "\n", "utf-8")


def _print_table(name: str, numbers: dict[str, Any]) -> None:
    print(f"{name}: {numbers['pairs']} pairs")
    for label in LABELS:
        row, confusion = numbers[label], numbers["confusion"][label]
        said = ", ".join(f"{said} {count}" for said, count in confusion.items())
        print(
            f"  {label:9}  precision {row['precision']:.3f}  recall {row['recall']:.3f}  ({said})"
        )


if __name__ == "__main__":
    run(main)
