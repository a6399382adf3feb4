"""README and docs say what is true: commands, settings, help, examples, results, links."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from docs import generate
from palace import Mempalace, RetrievalEnforcer, load_preset, seed, settings_table
from palace.testing import EmbedderContract

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text("utf-8")
RESULTS = (ROOT / "docs" / "results.md").read_text("utf-8")
# what a user reads: what is held here may stand on any of these pages, but on one alone
USER_PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
DOCS = "\n".join(page.read_text("utf-8") for page in USER_PAGES)
PAGES = [
    *USER_PAGES,
    ROOT / "CHANGELOG.md",
    ROOT / "SECURITY.md",
    *sorted((ROOT / "docs" / "decisions").glob("*.md")),
]
COMMANDS = [(), *generate.commands()]


def block(name: str) -> str:
    """What stands between the markers of a generated block."""
    [found] = re.findall(rf"<!-- {name}:begin[^\n]*-->\n(.*?)<!-- {name}:end -->", DOCS, re.DOTALL)
    return found


def fence_after(marker: str) -> str:
    """The fenced block that follows a marker."""
    [found] = re.findall(rf"{re.escape(marker)}\n```\w+\n(.*?)```", DOCS, re.DOTALL)
    return found


def test_settings_table():
    assert block("settings") == settings_table(), "run `python docs/generate.py`"


def test_every_command_has_its_help():
    headings = re.findall(r"^### `palace(.*)`$", block("help"), re.MULTILINE)
    assert [tuple(heading.split()) for heading in headings] == COMMANDS
    assert len(COMMANDS) > 15


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_help(command):
    """Word for word where the help was laid out by the same version of click, else its substance."""
    title = " ".join(("palace", *command))
    [written] = re.findall(
        rf"^### `{title}`\n\n```text\n(.*?)\n```$", block("help"), re.MULTILINE | re.DOTALL
    )
    real = generate.help_of(*command)
    [version] = re.findall(r"<!-- help:begin click=(\S+) -->", DOCS)
    if generate.click_version() == version:
        assert written == real, "run `python docs/generate.py`"
    assert substance(written) == substance(real)


@pytest.mark.parametrize("command", COMMANDS[1:], ids=" ".join)
def test_what_every_command_takes_is_told_once(command):
    shared = generate.EVERYWHERE.findall(generate.printed_help(*command))
    assert len(shared) == len(generate.EVERYWHERE.findall(generate.printed_help())) == 5


def substance(text: str) -> tuple[str, list[str], str]:
    """The first sentence, the options and the example; how they are laid out is click's business."""
    sentence = text.split("\n\n")[1].split()
    options = re.findall(r"^  (?:-\w, )?(--[a-z-]+)", text, re.MULTILINE)
    return " ".join(sentence), sorted(options), text.splitlines()[-1].strip()


def test_the_build_runs_the_commands_of_the_readme():
    done = subprocess.run(
        ["bash", str(ROOT / ".ci" / "run"), "--list"], capture_output=True, text=True, check=True
    )
    written = [fence_after(f"<!-- command:{name} -->") for name in ("first", "tests")]
    assert done.stdout == "".join(written)
    assert all(command.count("\n") == 1 for command in written)


def test_first_answer_is_the_one_shown(tmp_path, capsys):
    from palace.serve.cli import run

    command = fence_after("<!-- command:first -->")
    [question] = re.findall(r'ask "(.*)"', command)
    assert run(["init", "--sample", str(tmp_path)]) == 0
    capsys.readouterr()
    assert run(["--root", str(tmp_path), "ask", question]) == 0
    assert f"```text\n{capsys.readouterr().out}```" in README
    assert run(["--root", str(tmp_path), "ask", "When did we move to Oslo?"]) == 1
    assert "I don't have this in my memory palace." in capsys.readouterr().out


def test_the_commands_that_change_the_sample(tmp_path, monkeypatch):
    from palace.serve.cli import run

    first, *commands, last = fence_after("<!-- commands:changing -->").splitlines()
    assert (first, last) == ("export PALACE_ROOT=./sample-palace", "unset PALACE_ROOT")
    assert run(["init", "--sample", str(tmp_path)]) == 0
    monkeypatch.setenv("PALACE_ROOT", str(tmp_path))
    for command in commands:
        assert run(shlex.split(command)[1:]) == 0, command


def test_the_ids_of_the_example_drawer_are_not_those_of_the_sample(tmp_path):
    seed(load_preset("sample"), tmp_path)
    drawers = "".join(page.read_text("utf-8") for page in (tmp_path / "rooms").rglob("*.md"))
    shown = re.findall(r"<!-- memory id=(\S+)", DOCS)
    assert shown
    assert not [memory_id for memory_id in shown if memory_id in drawers]


def test_the_wrapped_model(tmp_path, monkeypatch, capsys):
    models = pytest.importorskip("langchain_core.language_models.fake_chat_models")
    with Mempalace.open(tmp_path / "my-palace") as palace:
        palace.remember("We shipped 4.1.0 on 2026-03-02.")
    monkeypatch.chdir(tmp_path)
    model = models.FakeListChatModel(responses=["On 2026-03-02 [1]."])
    names = {"model": model}
    exec(fence_after("<!-- code:langchain -->"), names)
    names["palace"].close()
    assert capsys.readouterr().out == "On 2026-03-02 [1]. ground\n"


def test_the_embedder_of_ones_own(tmp_path, monkeypatch):
    fake = pytest.importorskip("langchain_core.embeddings.fake")
    pytest.importorskip("numpy")
    monkeypatch.chdir(tmp_path)
    names = {"embeddings": fake.DeterministicFakeEmbedding(size=384)}
    exec(fence_after("<!-- code:embedder -->"), names)
    with names["palace"] as palace:
        palace.remember("We shipped 4.1.0 on 2026-03-02.")
        assert palace.embed().embedded == 1
    embedder = names["MyEmbedder"]()
    EmbedderContract().test_one_unit_vector_a_text(embedder, "query")
    EmbedderContract().test_nothing_in_nothing_out(embedder)


def test_json_of_ask(tmp_path):
    seed(load_preset("sample"), tmp_path)
    with Mempalace.open(tmp_path) as palace:
        real = RetrievalEnforcer(palace).decide("When did we move to PostgreSQL 16?").as_dict()
    written = json.loads(fence_after("<!-- json:ask -->"))
    assert shape(written) == shape(real)
    assert written["evidence"][0]["source"] == real["evidence"][0]["source"]


def shape(value: object) -> object:
    """Keys in their order and kinds of values; of a list, its first item."""
    if isinstance(value, dict):
        return [(key, shape(item)) for key, item in value.items()]
    if isinstance(value, list):
        return [shape(item) for item in value[:1]]
    return "number" if isinstance(value, (int, float)) else type(value).__name__


EXAMPLES = re.findall(r"```python\n(.*?)```\n\nprints\n\n```text\n(.*?)```", DOCS, re.DOTALL)


def test_every_python_example_says_what_it_prints():
    assert len(EXAMPLES) == DOCS.count("```python\n") > 0


@pytest.mark.parametrize(("code", "printed"), EXAMPLES)
def test_python_example(code, printed, tmp_path):
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8"},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert (done.stdout, done.stderr) == (printed, "")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_to_files_and_headings(page):
    targets = [
        t.partition("#") for t in re.findall(r"\]\(([^)\s]+)\)", prose(page)) if ":" not in t
    ]
    assert [t for t, _, _ in targets if not (page.parent / t).exists()] == []
    lost = [
        f"{t}#{anchor}"
        for t, _, anchor in targets
        if anchor and anchor not in anchors(page.parent / t if t else page)
    ]
    assert lost == []


def prose(page: Path) -> str:
    """A page without its fenced blocks."""
    return re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)


def anchors(page: Path) -> set[str]:
    """What links to the headings of a page end in."""
    headings = re.findall(r"^#+ (.*)$", prose(page), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading).lower().replace(" ", "-") for heading in headings}


def test_every_page_can_be_reached_from_the_readme_or_the_index():
    listed = README + (ROOT / "docs" / "README.md").read_text("utf-8")
    pages = [page for page in PAGES if page.parent.name in ("docs", "decisions")]
    assert [page.name for page in pages if f"{page.name})" not in listed] == []


def test_every_result_of_the_readme_stands_among_all_results():
    short = {number for cell in cells(block("results")) for number in numbers(cell)}
    assert len(short) > 50
    assert sorted(short - set(numbers(RESULTS))) == []


def cells(table: str) -> list[str]:
    """The cells of results and of goals, the second and the third of a row."""
    rows = [line.split(" | ") for line in table.splitlines() if line.count(" | ") > 3]
    return [cell for row in rows for cell in row[1:3]]


def numbers(text: str) -> list[str]:
    return re.findall(r"\d*\.?\d+", text)


def test_the_readme_stays_short():
    assert README.count("\n") <= 330


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_prose_is_wrapped(page):
    long = [
        line
        for line in prose(page).splitlines()
        if len(line) > 100 and not line.startswith("|") and " " in line.strip("- *")
    ]
    assert long == []


def test_decisions_are_numbered_once():
    pages = sorted((ROOT / "docs" / "decisions").glob("*.md"))
    numbers = [re.match(r"(\d{4})-[a-z0-9-]+\.md$", page.name) for page in pages]
    assert all(numbers)
    assert len({found[1] for found in numbers}) == len(pages)
    assert [p.name for p in pages if not p.read_text("utf-8").startswith("# ")] == []


@pytest.mark.parametrize(
    "page", sorted((ROOT / "docs" / "decisions").glob("*.md")), ids=lambda page: page.name
)
def test_every_decision_has_the_same_parts(page):
    parts = ["**Question.**", "**Choice.**", "## What holds now", "## Tried and dropped"]
    parts.append("## What would change it")
    text = page.read_text("utf-8")
    assert [part for part in parts if f"\n{part}" not in text] == []


def test_decisions_named_in_the_sources_exist():
    named = {
        path
        for source in (ROOT / "palace").rglob("*.py")
        for path in re.findall(r"docs/decisions/[\w-]+\.md", source.read_text("utf-8"))
    }
    assert sorted(path for path in named if not (ROOT / path).is_file()) == []


def test_the_changelog_knows_the_version():
    from palace import __version__

    assert re.search(
        rf"^## {re.escape(__version__)}\b", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.M
    )


def test_every_promise_names_a_test_that_exists():
    page = (ROOT / "SECURITY.md").read_text("utf-8")
    promises = [line for line in page.splitlines() if line.startswith("| ") and "::" in line]
    named = re.findall(r"`(tests/[\w/]+\.py)::(test_\w+)`", page)
    assert len(promises) > 15
    assert all("`tests/" in line for line in promises)
    missing = [
        f"{file}::{name}"
        for file, name in named
        if not re.search(rf"\bdef {name}\(", (ROOT / file).read_text("utf-8"))
    ]
    assert missing == []
