"""What a session end keeps of what a person said: how much of it is right, how much is missed.

In: labelled utterances, `benchmarks/data/gapfill.jsonl` (splits dev and test, written before the
rules; the rules were tuned on dev alone), and whole conversations about what a palace holds
already (split talks), each ended in a palace of its own. Out: precision and recall for each split,
by label and language, and what was kept wrongly by the reason why it should not be.

    python -m benchmarks.gapfill [--json OUT] [--split NAME] [--show]
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.command import results_file, run
from palace import Mempalace, Message, stated_in

_FOLDER = Path(__file__).parent / "data"
DATA = tuple(_FOLDER / f"gapfill{name}.jsonl" for name in ("", "_later", "_blind", "_talks"))
_HEARD = ("stored", "corrected", "conflict")


@dataclass(frozen=True)
class Case:
    """One utterance: what it should be kept as, and what it was."""

    split: str
    label: str
    why: str
    language: str
    text: str
    got: str


def judged(*paths: Path) -> list[Case]:
    """Return every labelled utterance with what the rules make of it."""
    cases: list[Case] = []
    for line in (ln for path in paths or DATA for ln in path.read_text("utf-8").splitlines()):
        data = json.loads(line)
        if "held" in data:
            cases.extend(_of_talk(data))
            continue
        history = [Message("assistant", data["before"])] if data["before"] else []
        found = stated_in([*history, Message("user", data["text"])])
        got = found[0].kind if found else "none"
        cases.append(
            Case(data["split"], data["label"], data["why"], data["lang"], data["text"], got)
        )
    return cases


def _of_talk(data: Mapping[str, Any]) -> Iterator[Case]:
    """Yield what was said, and whatever else is kept or asked about, as a case of its own."""
    turns = [*data["before"], ["user", data["text"]], *data["after"]]
    with tempfile.TemporaryDirectory() as folder, Mempalace.open(folder) as palace:
        for text in data["held"]:
            palace.remember(text)
        ended = palace.on_session_end(data["id"], [Message(role, text) for role, text in turns])
    heard = {f.text: f.kind for f in ended.filled if f.status in _HEARD}
    own = next((text for text in heard if not data["keeps"] or data["keeps"] in text), "")
    got = heard.pop(own, "none")
    yield Case(data["split"], data["label"], data["why"], data["lang"], data["text"], got)
    for text, kind in heard.items():
        yield Case(data["split"], "none", "beside", data["lang"], text, kind)


def measure(cases: Sequence[Case]) -> dict[str, Any]:
    """Return precision and recall of keeping, and of the kind it is kept as."""
    kept = [c for c in cases if c.got != "none"]
    wanted = [c for c in cases if c.label != "none"]
    right = [c for c in kept if c.label != "none"]
    exact = [c for c in kept if c.label == c.got]
    return {
        "utterances": len(cases),
        "to_keep": len(wanted),
        "kept": len(kept),
        "precision": round(len(right) / len(kept), 3) if kept else None,
        "recall": round(len(right) / len(wanted), 3) if wanted else None,
        "right_kind": round(len(exact) / len(right), 3) if right else None,
        "wrongly_kept": dict(Counter(c.why for c in kept if c.label == "none")),
    }


def main() -> None:
    """Print the measures, or write them as JSON."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("--json", type=results_file, help="write the measures to this file")
    parser.add_argument(
        "--split",
        choices=["dev", "test", "later", "blind", "talks", "talks_later"],
        help="only this split",
    )
    parser.add_argument("--show", action="store_true", help="print what went wrong")
    options = parser.parse_args()
    cases = [c for c in judged() if options.split in (None, c.split)]
    report: dict[str, Any] = {}
    for split in sorted({c.split for c in cases}):
        own = [c for c in cases if c.split == split]
        report[split] = {
            "all": measure(own),
            **{
                f"lang:{lang}": measure([c for c in own if c.language == lang])
                for lang in sorted({c.language for c in own})
            },
            **{
                f"label:{label}": measure([c for c in own if c.label == label])
                for label in sorted({c.label for c in own} - {"none"})
            },
        }
    for split, groups in report.items():
        for name, row in groups.items():
            print(f"{split:5} {name:18} {json.dumps(row)}")
    if options.show:
        for case in cases:
            if (case.got != "none") != (case.label != "none"):
                print(f"{case.split} {case.label}/{case.why} -> {case.got}: {case.text}")
    if options.json:
        options.json.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    run(main)
