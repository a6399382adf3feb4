"""Measure the secrets filter: what it finds of known secrets, and how often it cries wolf.

Run:
    python -m benchmarks.secrets [FILE_OR_FOLDER ...] [--cases detect-secrets/tests/plugins]

In: folders and files by path (`.jsonl`: every `text` is a document), and the sources and documents
of this Python if none are given; with `--cases`, the parameter tables of detect-secrets' own
plugin tests, from a checkout of that project. Out: Markdown tables on standard output. Ordinary
texts hold no secrets, so all findings in them count as false alarms, by line and by document.
Where detect-secrets is installed, its own answers stand beside ours.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import re
import sys
import sysconfig
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from palace import find_personal_data, find_secrets

PROSE = (".md", ".rst", ".txt")
CODE = (".py", ".pyi")
_MAX_BYTES = 500_000
_SHOWN_CHARS = 60
_EXPECTATIONS = re.compile(r"should_(?:flag|be_caught)$")
# Test suites hold real keys on purpose.
_TESTS = re.compile(r"(?:^|/)(?:tests?|testing|test_[^/]*|conftest\.py)(?:/|$)")

Finder = Callable[[str], Sequence[Any]]


@dataclass
class Alarms:
    """What a finder said about texts that hold nothing to find."""

    documents: int = 0
    lines: int = 0
    flagged_documents: int = 0
    flagged_lines: int = 0
    chars: int = 0
    seconds: float = 0.0
    examples: list[str] = field(default_factory=list)

    def add(self, text: str, name: str, find: Finder) -> None:
        """Count one document."""
        started = time.perf_counter()
        findings = find(text)
        self.seconds += time.perf_counter() - started
        hit = sorted({text.count("\n", 0, found.start) + 1 for found in findings})
        self.documents += 1
        self.chars += len(text)
        self.lines += len(text.splitlines())
        self.flagged_documents += bool(hit)
        self.flagged_lines += len(hit)
        for found in findings:
            line = text.count("\n", 0, found.start) + 1
            value = text[found.start : found.end][:_SHOWN_CHARS]
            self.examples.append(f"{name}:{line}: {found.kind}: {value!r}")

    def row(self, name: str) -> str:
        """Return the line of the table."""
        by_line = 100 * self.flagged_lines / max(self.lines, 1)
        by_document = 100 * self.flagged_documents / max(self.documents, 1)
        speed = self.chars / 1e6 / max(self.seconds, 1e-9)
        return (
            f"| {name} | {self.documents} | {self.lines} | {self.flagged_lines} |"
            f" {by_line:.4f} % | {self.flagged_documents} | {by_document:.2f} % | {speed:.1f} |"
        )


def texts(path: Path, suffixes: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield (name, text) of every document at a path; what is not UTF-8 is left out."""
    if path.suffix == ".jsonl":
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
            said = json.loads(line)
            if isinstance(said, dict) and isinstance(said.get("text"), str):
                yield f"{path.name}:{number}", said["text"]
        return
    files = [path] if path.is_file() else sorted(path.rglob("*"))
    for file in files:
        named = file.suffix.lower() in suffixes or path.is_file()
        if not named or not file.is_file() or file.stat().st_size > _MAX_BYTES:
            continue
        try:
            yield (
                str(file.relative_to(path) if path != file else file.name),
                file.read_text("utf-8"),
            )
        except UnicodeDecodeError:
            continue


def ordinary() -> Iterator[tuple[str, Path, tuple[str, ...]]]:
    """Yield (name, folder, suffixes) of the ordinary texts that every machine has."""
    yield "standard library, code", Path(sysconfig.get_path("stdlib")), CODE
    yield "installed packages, documents", Path(sysconfig.get_path("purelib")), PROSE
    yield "installed packages, code", Path(sysconfig.get_path("purelib")), CODE


def measure_alarms(
    name: str, path: Path, suffixes: Sequence[str], *, find: Finder, most: int
) -> Alarms:
    """Look through the ordinary texts of one source.

    Args:
        name: Of the source; those of this machine are read without test suites.
        path: Where they are.
        suffixes: Of the files to read in a folder.
        find: What to ask.
        most: Documents to read, spread evenly over all there are.
    """
    every = list(texts(path, suffixes))
    if name:
        every = [(n, t) for n, t in every if not _TESTS.search(n) and _is_own(n, name)]
    step = max(1, len(every) // most)
    alarms = Alarms()
    for document, text in every[::step]:
        alarms.add(text, document, find)
    return alarms


def _is_own(document: str, name: str) -> bool:
    """Whether a document belongs to the source: packages lie below the standard library."""
    return not name.startswith("standard") or not document.startswith("site-packages")


def read_cases(folder: Path) -> Iterator[tuple[str, str, bool]]:
    """Yield (plugin, text, whether it is a secret) of detect-secrets' parametrised tests."""
    for file in sorted(folder.glob("*_test.py")):
        module = _loaded(file)
        plugin = file.stem.removesuffix("_test")
        for test in _tests(module):
            for mark in getattr(test, "pytestmark", ()):
                names, table = mark.args[0], mark.args[1]
                names = [n.strip() for n in names.split(",")] if isinstance(names, str) else names
                if len(names) == 2 and _EXPECTATIONS.search(names[1]):
                    for text, expected in table:
                        yield plugin, text, expected


def _tests(module: ModuleType) -> Iterator[object]:
    for thing in vars(module).values():
        if isinstance(thing, type):
            yield from (test for test in vars(thing).values() if not isinstance(test, staticmethod))
        elif isinstance(thing, FunctionType):
            yield thing


def _loaded(file: Path) -> ModuleType:
    """Import a test module; what it needs and is not installed stands aside."""
    spec = importlib.util.spec_from_file_location(file.stem, file)
    if spec is None or spec.loader is None:
        raise ImportError(f"{file} cannot be imported")
    module = importlib.util.module_from_spec(spec)
    for absent in ("responses", "mock", "testing", "testing.mocks"):
        sys.modules.setdefault(absent, _Anything(absent))
    spec.loader.exec_module(module)
    return module


class _Anything(ModuleType):
    """A module with every name there is."""

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever was asked for
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *given, **_: given[0] if given and callable(given[0]) else _Anything(name)


def theirs() -> Callable[[str], bool] | None:
    """Return detect-secrets' own verdict on a text, with all its plugins, or None without it."""
    try:
        from detect_secrets.core.secrets_collection import SecretsCollection
        from detect_secrets.settings import default_settings
    except ImportError:
        return None

    def flags(text: str) -> bool:
        with tempfile.TemporaryDirectory() as folder, default_settings():
            file = Path(folder) / "case.txt"
            file.write_text(text, "utf-8")
            found = SecretsCollection()
            found.scan_file(str(file))
            return any(True for _ in found)

    return flags


def print_cases(folder: Path, *, show: bool) -> None:
    """Print what we and detect-secrets say about its own test cases."""
    other = theirs()
    tables: dict[str, list[tuple[str, bool]]] = {}
    for plugin, text, expected in read_cases(folder):
        tables.setdefault(plugin, []).append((text, expected))
    print("| plugin | secrets | ours | theirs | no secrets | flagged by us | by them |")
    print("|---|--:|--:|--:|--:|--:|--:|")
    missed: list[str] = []
    totals = [0] * 6
    for plugin, cases in tables.items():
        secrets = [text for text, expected in cases if expected]
        plain = [text for text, expected in cases if not expected]
        found = [text for text in secrets if find_secrets(text)]
        missed += [f"{plugin}: missed {t!r}" for t in secrets if t not in found]
        wrong = [text for text in plain if find_secrets(text)]
        missed += [f"{plugin}: flagged {t!r}" for t in wrong]
        beside = [sum(map(other, texts)) if other else 0 for texts in (secrets, plain)]
        row = [len(secrets), len(found), beside[0], len(plain), len(wrong), beside[1]]
        totals = [a + b for a, b in zip(totals, row, strict=True)]
        print(f"| {plugin} | " + " | ".join(map(str, row)) + " |")
    print("| all | " + " | ".join(map(str, totals)) + " |")
    print("\n" + "\n".join(missed) if show else "")


def main(argv: Sequence[str] | None = None) -> None:
    """Read the arguments, measure and print."""
    parser = argparse.ArgumentParser(description=str(__doc__).split("\n", 1)[0])
    parser.add_argument("paths", nargs="*", type=Path, help="ordinary texts; else this Python's")
    parser.add_argument("--cases", type=Path, help="detect-secrets' tests/plugins")
    parser.add_argument("--personal", action="store_true", help="look for personal data instead")
    parser.add_argument("--most", type=int, default=3000, help="documents of each source")
    parser.add_argument("--show", action="store_true", help="print what was flagged or missed")
    given = parser.parse_args(argv)
    if given.cases:
        print_cases(given.cases, show=given.show)
        return
    find: Finder = find_personal_data if given.personal else find_secrets
    sources: list[tuple[str, Path, tuple[str, ...]]] = [
        ("", path, PROSE + CODE) for path in given.paths
    ] or list(ordinary())
    print("| ordinary texts | documents | lines | flagged | of lines | documents flagged |", end="")
    print(" of documents | million characters/s |\n|---|--:|--:|--:|--:|--:|--:|--:|")
    examples: list[str] = []
    for name, path, suffixes in sources:
        alarms = measure_alarms(name, path, suffixes, find=find, most=given.most)
        print(alarms.row(name or path.name), flush=True)
        examples += alarms.examples
    if given.show:
        print("\n" + "\n".join(examples))


if __name__ == "__main__":
    main()
