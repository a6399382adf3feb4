"""The benchmarks' commands on other people's data: small, one-sided or wrong."""

from __future__ import annotations

import json
import math
import os
import runpy
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchmarks import speed
from benchmarks.command import run as run_main
from benchmarks.generated import write_palace
from benchmarks.measures import auroc, false_hits_at
from benchmarks.recall import Asked, honesty
from benchmarks.rivals import bm25s
from benchmarks.vectors import filled, meanwhile, take_in
from palace.ports import Scope
from palace.store.vectors import VectorIndex

REPOSITORY = Path(__file__).parents[2]
SAID = (
    ("Zoë", "I adopted a three-legged cat last weekend."),
    ("Tim", "Lovely! What is her name?"),
    ("Zoë", "Her name is Måns. I am taking a pottery class in Malmö."),
    ("Tim", "I sold my red Vespa for 900 euros."),
)
MEASURES = {"n", *(f"recall@{k}" for k in (1, 5, 10, 20)), *(f"hit@{k}" for k in (1, 5, 10))}
MEASURES |= {"mrr", "session_recall@5", "session_recall@10"}
GROUPS = {"overall", "cat1_4", *(f"cat{number}" for number in range(1, 6))}
FAMILIES = {"foreign", "foreign_swapped", "adversarial"}


def talk(name: str, *questions: tuple[str, str, int]) -> dict[str, Any]:
    return {
        "sample_id": name,
        "conversation": {
            "speaker_a": "Zoë",
            "speaker_b": "Tim",
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": [
                {"speaker": speaker, "dia_id": f"D1:{number}", "text": text}
                for number, (speaker, text) in enumerate(SAID, 1)
            ],
        },
        "qa": [
            {"question": question, "evidence": [evidence], "category": category}
            for question, evidence, category in questions
        ],
    }


CLASS = ("Where does Zoë take a pottery class?", "D1:3", 4)
VESPA = ("How much did Tim get for his Vespa?", "D1:4", 1)
WRONG = ("Where does Tim take a pottery class?", "D1:3", 5)


@pytest.fixture
def started(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str, str]]:
    """Run a benchmark as the command does; return its code, what it printed and what it told."""

    def start(name: str, *arguments: str | Path) -> tuple[int, str, str]:
        path = str(REPOSITORY / "benchmarks" / f"{name}.py")
        monkeypatch.chdir(REPOSITORY)
        monkeypatch.setattr(sys, "argv", [path, *map(str, arguments)])
        code = 0
        try:
            runpy.run_path(path, run_name="__main__")
        except SystemExit as ended:
            code = int(ended.code or 0)
        return code, *capsys.readouterr()

    return start


Started = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(tmp_path: Path, started: Started) -> Callable[..., tuple[int, str, dict[str, Any]]]:
    """Run a benchmark that writes its results; return its code, what it told and these."""

    def run_one(name: str, *arguments: str | Path) -> tuple[int, str, dict[str, Any]]:
        out = tmp_path / "out.json"
        code, printed, told = started(name, *arguments, "--json", out)
        results = json.loads(out.read_text("utf-8")) if out.exists() else {}
        if results:
            assert json.loads(printed) == results
        return code, told, results

    return run_one


Run = Callable[..., tuple[int, str, dict[str, Any]]]


def written(folder: Path, name: str, content: object) -> Path:
    path = folder / name
    lines = content if isinstance(content, list) and name.endswith("l") else [content]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    return path


def test_one_conversation_has_no_foreign_questions_and_every_key(tmp_path: Path, run: Run) -> None:
    data = written(tmp_path, "talk.json", [talk("one", CLASS, VESPA, WRONG)])
    code, _, results = run("recall", "--locomo", data)
    assert code == 0
    assert results["retrieval"].keys() == GROUPS
    assert all(group.keys() == MEASURES for group in results["retrieval"].values())
    assert results["retrieval"]["cat2"] == {**dict.fromkeys(MEASURES), "n": 0}
    assert results["retrieval"]["cat1_4"]["recall@5"] == 1.0
    assert results["honesty"].keys() == {*FAMILIES, "shipped_bar"}
    assert results["honesty"]["foreign"]["n"] == 0
    assert results["honesty"]["foreign"]["auroc"] is None
    assert results["honesty"]["adversarial"]["n"] == 1
    assert results["honesty"]["shipped_bar"].keys() >= {*FAMILIES, "answerable"}


def test_questions_that_nothing_answers_alone_are_measured(tmp_path: Path, run: Run) -> None:
    code, _, results = run("recall", "--locomo", written(tmp_path, "t.json", [talk("one", WRONG)]))
    assert code == 0
    assert results["retrieval"]["cat1_4"]["n"] == 0
    assert results["honesty"]["adversarial"]["false_hit@90"] is None


@pytest.mark.parametrize("merged", [False, True])
def test_two_conversations_ask_each_other(tmp_path: Path, run: Run, *, merged: bool) -> None:
    data = written(tmp_path, "talk.json", [talk("one", CLASS), talk("two", VESPA)])
    code, told, results = run("recall", "--locomo", data, *(["--merged"] if merged else []))
    assert code == 0
    assert "two (2 of 2)" in told
    assert results["honesty"]["foreign"]["n"] == (0 if merged else 2)


def test_questions_that_name_no_turn_are_counted(tmp_path: Path, run: Run) -> None:
    data = written(tmp_path, "talk.json", [talk("one", CLASS, ("Who?", "page 3", 4), WRONG)])
    code, told, results = run("recall", "--locomo", data)
    assert (code, results["retrieval"]["cat1_4"]["n"]) == (0, 1)
    assert "one: 1 questions name no turn of it and are left out\n" in told


def test_sessions_without_a_date_are_told(tmp_path: Path, run: Run) -> None:
    undated = talk("one", CLASS)
    del undated["conversation"]["session_1_date_time"]
    code, told, results = run("recall", "--locomo", written(tmp_path, "talk.json", [undated]))
    assert (code, results["retrieval"]["cat4"]["hit@1"]) == (0, 1.0)
    assert "one: no date of session_1; that of the session before is taken\n" in told


def test_a_package_that_is_missing_is_named(tmp_path: Path) -> None:
    (tmp_path / "scipy.py").write_text("raise ModuleNotFoundError(name='scipy')\n")
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.reliability", "--help"],
        cwd=REPOSITORY,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (1, "error: scipy is not installed (extra bench)\n")


def test_what_the_package_costs_counts_the_package_too(started: Started) -> None:
    code, printed, _ = started("import_cost", "--runs", "1")
    rows = dict(line.strip("| ").split(" | ") for line in printed.splitlines() if " | " in line)
    of_others = float(next(size for name, size in rows.items() if name.startswith("all ")))
    assert code == 0
    assert float(rows["with this package"]) > of_others + 1


def test_one_statement_is_enough_to_search() -> None:
    pytest.importorskip("bm25s")
    assert bm25s(["The tunnel uses port 5432."])("tunnel port")


def test_measures_of_nothing_are_no_number() -> None:
    assert math.isnan(false_hits_at([], [0.5], 0.9))
    assert math.isnan(false_hits_at([0.5], [], 0.9))
    assert math.isnan(auroc([], [0.5]))


def test_what_was_only_searched_is_not_what_was_grounded_on() -> None:
    right = frozenset({"one/D1:3"})
    asked = [
        Asked("cat4", ["one/D1:2", "one/D1:3"], right, 0.5, "ground", frozenset({"one/D1:2"})),
        Asked("cat4", ["one/D1:3"], right, 0.5, "ground", right),
    ]
    assert honesty(asked)["shipped_bar"]["answerable_grounded_right"] == 0.5


def test_false_hits_are_counted_at_the_bar_that_keeps_a_share() -> None:
    kept = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0]
    assert false_hits_at(kept, [0.15, 0.2, 0.25], 0.9) == pytest.approx(2 / 3)


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    room = tmp_path / "notes" / "rooms" / "haus" / "dach"
    room.mkdir(parents=True)
    (room / "ziegel.md").write_text(
        "---\ntitle: Ziegel\n---\n- Die Ziegel von Firma Krüger kosteten 4.350 Euro.\n"
        "- Der Dachdecker heißt Özdemir.\n",
        "utf-8",
    )
    return tmp_path / "notes"


def case(prompt: str, expect: str, **more: Any) -> dict[str, Any]:
    gold = ["rooms/haus/dach/ziegel.md: Die Ziegel von Firma Krüger kosteten 4."]
    made = {"id": prompt, "prompt": prompt, "expect": expect, "family": "own", "lang": "de"}
    return made | {"gold": gold if expect == "ground" else [], "history": []} | more


def test_a_share_of_no_case_is_no_number(tmp_path: Path, notes: Path, run: Run) -> None:
    cases = written(tmp_path, "cases.jsonl", [case("Wer ist der Dachdecker?", "ground")])
    code, _, results = run("notes", "--cases", cases, "--palace", notes)
    assert (code, results["n"], results["presented_as_memory"]) == (0, 1, None)


def test_what_models_say_about_notes_goes_through_the_check(
    tmp_path: Path, notes: Path, run: Run
) -> None:
    prompts = [
        case("Was haben die Ziegel von Firma Krüger gekostet?", "ground"),
        case("Übersetze 'Dach' ins Englische.", "pass", family="task"),
    ]
    cases = written(tmp_path, "cases.jsonl", prompts)
    code, _, results = run("notes", "--cases", cases, "--palace", notes)
    assert code == 0
    assert results["verdicts"] == {"own": {"ground": 1}, "task": {"pass": 1}}
    assert results["families"] == {
        "own": {
            "n": 1,
            "right_memory": {"top1": 1.0, "top3": 1.0, "top5": 1.0},
            "presented_as_memory": None,
            "deferred": 0.0,
        },
        "task": {
            "n": 1,
            "right_memory": {"top1": None, "top3": None, "top5": None},
            "presented_as_memory": 0.0,
            "deferred": 0.0,
        },
    }
    assert results["end_to_end"]["pointer"] == {
        "ground": {"right": 1},
        "fallback": {},
        "pass": {"untouched": 1},
    }
    assert results["end_to_end"]["liar"]["ground"] == {"right": 1}


def test_a_palace_that_answers_without_a_model_presents_memories_too(
    tmp_path: Path, notes: Path, run: Run
) -> None:
    (notes / "config").mkdir()
    (notes / "config" / "mempalace.yaml").write_text("enforce:\n  on_hit: answer\n", "utf-8")
    asked = case("Was haben die Ziegel von Firma Krüger gekostet?", "ground")
    wrong = asked | {"id": "wrong", "expect": "fallback", "gold": []}
    cases = written(tmp_path, "cases.jsonl", [asked, wrong])
    _, _, results = run("notes", "--cases", cases, "--palace", notes)
    assert results["verdicts"] == {"own": {"answer": 2}}
    assert results["answerable_ground_or_confirm_right"] == 1.0
    assert results["presented_as_memory"] == 1.0


def test_what_one_case_tells_is_not_there_for_the_next(
    tmp_path: Path, notes: Path, run: Run
) -> None:
    prompts = [
        case("Remember that the tiles of the shed cost 900 euros.", "pass", family="task"),
        case("What did the tiles of the shed cost?", "fallback"),
    ]
    cases = written(tmp_path, "cases.jsonl", prompts)
    _, _, results = run("notes", "--cases", cases, "--palace", notes)
    assert results["verdicts"]["task"] == {"answer": 1}
    assert results["presented_as_memory"] == 0.0


def test_questions_of_other_notes_are_counted_by_what_becomes_of_them(
    tmp_path: Path, notes: Path, run: Run
) -> None:
    cases = written(tmp_path, "cases.jsonl", [case("Wer ist der Dachdecker?", "ground")])
    asked = [
        case("Was haben die Ziegel von Firma Krüger gekostet?", "ground"),
        case("When did we move the bees to the orchard?", "ground"),
        case("Who cut the hedge?", "fallback"),  # not even its own notes answer it
    ]
    others = written(tmp_path, "others.jsonl", asked)
    _, _, results = run("notes", "--cases", cases, "--palace", notes, "--others", others)
    assert results["others"] == {"n": 2, "fallback": 0.5, "ground": 0.5}
    _, _, alone = run("notes", "--cases", cases, "--palace", notes)
    assert "others" not in alone


def test_a_gold_that_is_no_memory_is_told(tmp_path: Path, notes: Path, run: Run) -> None:
    prompts = [
        case("Wer ist der Dachdecker?", "ground", id="slip", gold=["rooms/dach.md: Der"]),
        case("Was kosteten die Ziegel?", "ground", id="right"),
        case("Wo ist die Leiter?", "ground", id="none", gold=[]),
    ]
    cases = written(tmp_path, "cases.jsonl", prompts)
    code, told, _ = run("notes", "--cases", cases, "--palace", notes)
    assert code == 0
    assert "no memory here is the gold of 2: slip, none\n" in told


def test_a_folder_of_notes_is_taken_from_inside_it(
    tmp_path: Path, notes: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(REPOSITORY))
    cases = written(tmp_path, "cases.jsonl", [case("Wer ist der Dachdecker?", "ground")])
    code, told, _ = run("notes", "--cases", cases, "--palace", notes / "rooms" / "..")
    assert code == 0, told


def test_shares_of_all_prompts_are_told_beside_those_by_source(tmp_path: Path, run: Run) -> None:
    prompts = [
        {"text": "What did we decide about the logo?", "label": 1, "source": "a"},
        {"text": "Wie hieß nochmal der Arzt von Oma?", "label": 1, "source": "b"},
        {"text": "Write a sorting function in Go.", "label": 0, "source": "c"},
    ]
    path = written(tmp_path, "prompts.jsonl", prompts)
    code, _, results = run("detector", "--prompts", path)
    assert code == 0
    assert results["empty"]["recall"]["all"] == {"n": 2, "share": 1.0}
    assert results["empty"]["recall"].keys() == {"all", "a", "b"}
    assert results["empty"]["false_alarms"]["all"] == {"n": 1, "share": 0.0}
    code, _, results = run(
        "detector", "--prompts", written(tmp_path, "positive.jsonl", prompts[:1])
    )
    assert results["empty"]["false_alarms"] == {"all": {"n": 0, "share": None}}


def test_a_prompt_that_only_tells_something_is_no_recall_and_leaves_no_trace(
    tmp_path: Path, run: Run
) -> None:
    told = {"text": "Note: Kessler paid cash for the sofa, 400.", "label": 0, "source": "a"}
    asked = {"text": "Is 400 for a sofa from Kessler a good price?", "label": 0, "source": "b"}
    alone = run("detector", "--prompts", written(tmp_path, "alone.jsonl", [asked]))[2]
    both = run("detector", "--prompts", written(tmp_path, "both.jsonl", [told, asked]))[2]
    assert both["empty"]["false_alarms"]["a"] == {"n": 1, "share": 0.0}
    assert both["empty"]["false_alarms"]["b"] == alone["empty"]["false_alarms"]["b"]


def test_a_source_may_be_called_all(tmp_path: Path, run: Run) -> None:
    prompts = [
        {"text": "What did we decide about the logo?", "label": 1, "source": source}
        for source in ("all", "b")
    ]
    _, _, results = run("detector", "--prompts", written(tmp_path, "p.jsonl", prompts))
    assert results["empty"]["recall"]["all"]["n"] == 2


@pytest.mark.parametrize(
    ("source", "encoding"), [("Zoë", "ascii"), ("half a character \ud83d", "utf-8")]
)
def test_results_are_written_whatever_the_names_in_the_data_hold(
    tmp_path: Path, source: str, encoding: str, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONIOENCODING", encoding)
    prompt = {"text": "What did we decide about the logo?", "label": 1, "source": source}
    code, _, results = run("detector", "--prompts", written(tmp_path, "p.jsonl", [prompt]))
    assert code == 0
    assert source in results["empty"]["recall"]


def test_few_vectors_are_measured_too(run: Run) -> None:
    pytest.importorskip("numpy")
    size = ("--memories", "10", "--dimension", "8", "--questions", "2")
    code, told, results = run("vectors", *size)
    assert (code, results["memories"]) == (0, 10), told


def test_a_memory_that_is_written_is_taken_in_beside_the_others(tmp_path: Path) -> None:
    np = pytest.importorskip("numpy")
    index, file = filled(tmp_path, 10, 8)
    found = VectorIndex(index, file)
    vector = np.ones(8, dtype="<f4").tobytes()
    scope = Scope(session_id="s1", project="garden")
    assert len(found.nearest(vector, layer="L1", scope=scope, limit=60)) == 10
    take_in(meanwhile(0), index, file, rng=np.random.default_rng(0), dimension=8)
    assert len(found.nearest(vector, layer="L1", scope=scope, limit=60)) == 11
    index.close()
    file.close()


def test_a_palace_that_was_half_written_is_made_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(root: Path, size: int, *, seed: int) -> None:
        write_palace(root, size // 2, seed=seed)
        raise KeyboardInterrupt

    monkeypatch.setattr(speed, "write_palace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        speed.written(tmp_path / "8", 8)
    monkeypatch.undo()
    speed.written(tmp_path / "8", 8)
    lines = [p.read_text("utf-8") for p in (tmp_path / "8" / "rooms").rglob("*.md")]
    assert "".join(lines).count("\n- ") == 8
    assert [p.name for p in tmp_path.iterdir()] == ["8"]


def test_an_interrupted_run_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    def main() -> None:
        raise KeyboardInterrupt

    with pytest.raises(SystemExit) as raised:
        run_main(main)
    assert raised.value.code == 130
    assert capsys.readouterr().err == "interrupted\n"


@pytest.fixture
def data(tmp_path: Path, notes: Path) -> Path:
    """Make a folder of data that can be measured, and of data that cannot."""
    written(tmp_path, "talk.json", [talk("one", CLASS)])
    written(tmp_path, "prompts.jsonl", [{"text": "Who?", "label": 1, "source": "a"}])
    written(tmp_path, "cases.jsonl", [case("Wer ist der Dachdecker?", "ground")])
    (tmp_path / "empty").write_text("")
    (tmp_path / "broken").write_text('{"text": "Who?", \n')
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder/palace_own").symlink_to(notes)
    (tmp_path / "folder/cases_own.jsonl").symlink_to(tmp_path / "cases.jsonl")
    return tmp_path


_DETECTOR = ("detector", "--prompts")
_NOTES = ("notes", "--palace", "@notes", "--cases")
_RECALL = ("recall", "--locomo")
_BOTH_KINDS = ("--embedder", "wordllama", "--embedder", "sentence-transformers:nowhere")
_FIT = ("fit", "--locomo", "@talk.json", "--notes", "@folder", "--out", "@", "--prompts")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ((*_DETECTOR, "@nowhere"), "nowhere: No such file"),
        ((*_DETECTOR, "@empty"), "empty: holds no prompt"),
        ((*_DETECTOR, "@broken"), "broken, line 1: "),
        ((*_DETECTOR, "@folder"), "folder: Is a directory"),
        ((*_DETECTOR, "@prompts.jsonl", "--json", "@nowhere/out.json"), "there is no folder"),
        ((*_NOTES, "@nowhere"), "nowhere: No such file"),
        ((*_NOTES, "@empty"), "empty: holds no case"),
        ((*_NOTES, "@broken"), "broken, line 1: "),
        ((*_NOTES, "@folder"), "folder: Is a directory"),
        ((*_NOTES, "@cases.jsonl", "--json", "@nowhere/out.json"), "there is no folder"),
        ((*_NOTES, "@cases.jsonl", "--palace", "@folder"), "folder: is no palace"),
        ((*_NOTES, "@cases.jsonl", "--embedder", "off:on"), "'off:on' is no embedder"),
        ((*_RECALL, "@nowhere"), "nowhere: No such file"),
        ((*_RECALL, "@talk.json", "--embedder", "magic"), "'magic' is no embedder"),
        ((*_RECALL, "@empty"), "empty: "),
        ((*_RECALL, "@broken"), "broken: "),
        ((*_RECALL, "@folder"), "folder: Is a directory"),
        ((*_RECALL, "@talk.json", "--json", "@nowhere/out.json"), "there is no folder"),
        (("speed", "--memories", "9", "--folder", "@empty"), "empty"),
        (("speed", "--memories", "9", "--json", "@nowhere/out.json"), "there is no folder"),
        (("speed", "--memories", "9", "--picture", "@folder"), "folder' is a folder"),
        (("speed", "--memories", "0"), "'0' is no number of memories"),
        (("speed", "--memories", "many"), "'many'"),
        (("speed", "--memories", "10", "--questions", "0"), "'0' is no number of questions"),
        (("vectors", "--memories", "0"), "'0' is no number of memories"),
        (("vectors", "--memories", "9", "--dimension", "0"), "'0' is no number of numbers"),
        (("answers", "--json", "@nowhere/out.json"), "there is no folder"),
        (("gapfill", "--json", "@nowhere/out.json"), "there is no folder"),
        (("crash", "--json", "@folder"), "is a folder, not a file"),
        (("crash", "--kills", "0"), "'0' is no number of kills"),
        (("stress", "--processes", "0"), "'0' is no number of processes"),
        (("stress", "--json", "@nowhere/out.json"), "there is no folder"),
        (("pairs", "--others", "-1"), "'-1' is no number of other memories"),
        (("pairs", "--others", "5000"), "there are only 1080 other facts"),
        (("pairs", "--pairs", "@empty"), "empty: holds no pair"),
        (("pairs", "--pairs", "@broken"), "broken, line 1: "),
        ((*_FIT, "@nowhere"), "nowhere: No such file"),
        ((*_FIT, "@empty"), "empty: holds no prompt"),
        ((*_FIT, "@broken"), "broken, line 1: "),
        ((*_FIT, "@prompts.jsonl", "--notes", "@notes"), "notes: holds no folder palace_NAME"),
        ((*_FIT, "@prompts.jsonl", "--out", "@nowhere"), "there is no folder"),
        ((*_FIT, "@prompts.jsonl", "--embedder", "magic"), "'magic' is no embedder"),
        ((*_FIT, "@prompts.jsonl", *_BOTH_KINDS), "are not fitted together"),
    ],
)
def test_what_is_wrong_is_told_in_a_line_before_the_work(
    data: Path, started: Started, arguments: tuple[str, ...], told: str
) -> None:
    if arguments[0] == "fit":
        pytest.importorskip("scipy")
    words = [str(data / word[1:]) if word.startswith("@") else word for word in arguments]
    code, printed, error = started(*words)
    assert (code, printed) == (2, "")
    last = error.splitlines()[-1]
    assert "error: " in last
    assert told in last
