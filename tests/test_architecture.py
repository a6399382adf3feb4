"""The direction of imports, and what no module may import at all."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
GROUND = {"types", "errors", "ports", "text", "portable", "kept", "deadline"}
GROUND |= {"secrets", "privacy", "ignoring", "arguments"}
FILTERS = {"secrets", "privacy"}
MAY_IMPORT = {
    "types": {"explaining"},
    "explaining": set(),
    "errors": set(),
    "arguments": {"types", "errors", "text", "secrets"},
    "ports": {"types"},
    "text": {"types"},
    "secrets": {"types"},
    "privacy": {"types", "errors", "secrets", "kept"},
    "ignoring": set(),
    "portable": set(),
    "kept": set(),
    "deadline": set(),
    "settings": {"types", "errors", "portable"},
    "presets": {"types", "errors", "portable"},
    "store": GROUND,
    "fetch": GROUND,
    "models": GROUND,
    "recall": GROUND - FILTERS,
    "layers": GROUND | {"recall"},
    "enforce": GROUND | {"recall", "layers"},
    "learn": GROUND | {"recall"},
    "hosting": {"types", "enforce"},
    "tools": {"types", "errors", "ports", "text", "arguments", "secrets", "tracing", "enforce"},
    "testing": GROUND - FILTERS,
    "tracing": {"types", "secrets"},
    "past": GROUND | {"store", "recall"},
    "configured": {"ports", "settings", "models", "fetch", "enforce"},
    "assembly": GROUND
    | {"configured", "past", "store", "models", "recall", "layers", "enforce", "learn", "settings"},
    "doctor": GROUND | {"store", "enforce"},
    "layout": {"presets", "settings", "portable"},
    "mempalace": GROUND
    | {
        "settings",
        "presets",
        "store",
        "recall",
        "enforce",
        "learn",
        "assembly",
        "doctor",
        "layout",
        "verbs",
    },
    "verbs": GROUND
    | {"settings", "store", "recall", "enforce", "learn", "configured", "assembly", "presets"},
    "facade": set(),
    "serve": {"facade"},
    "__main__": {"serve"},
}
# Annotations of what the root hands to its parts; nothing of it is imported at run time.
MAY_NAME = {
    "assembly": {"verbs"},
    "doctor": {"mempalace"},
    "layout": {"mempalace"},
    "tools": {"mempalace"},
    "hosting": {"mempalace"},
    "facade": set(MAY_IMPORT) - {"serve", "__main__"},
}
HEAVY = (
    "pydantic",
    "httpx",
    "click",
    "numpy",
    "yaml",
    "langchain",
    "llama_index",
    "wordllama",
    "torch",
)
NEWER_THAN_3_10 = {
    "asyncio": {"Runner", "TaskGroup", "timeout"},
    "contextlib": {"chdir"},
    "datetime": {"UTC"},
    "enum": {"StrEnum", "verify"},
    "hashlib": {"file_digest"},
    "itertools": {"batched"},
    "tomllib": {""},
    "typing": {"LiteralString", "Never", "NotRequired", "Self", "assert_never", "override"},
}


@dataclass(frozen=True)
class Import:
    """One imported module; `when` is `top`, `lazy` (in a function) or `typing`."""

    importer: str
    module: str
    names: tuple[str, ...]
    when: str
    where: str
    level: int = 0


@cache
def imports_of(path: Path) -> list[Import]:
    place = path.relative_to(ROOT)
    importer = ".".join(place.with_suffix("").parts).removesuffix(".__init__")
    return list(_imports(ast.parse(path.read_text("utf-8")), importer, str(place), "top"))


def _imports(node: ast.AST, importer: str, place: str, when: str) -> Iterator[Import]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.expr):
            continue  # no statement stands in an expression, and most of a tree is expressions
        inside = when
        if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            inside = "typing"
        elif isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
            inside = "lazy"
        if isinstance(child, ast.Import):
            for alias in child.names:
                yield Import(importer, alias.name, ("",), when, f"{place}:{child.lineno}")
        elif isinstance(child, ast.ImportFrom):
            names = tuple(alias.name for alias in child.names)
            where = f"{place}:{child.lineno}"
            yield Import(importer, child.module or "", names, when, where, child.level)
        else:
            yield from _imports(child, importer, place, inside)


def group(module: str) -> str:
    name = (module.split(".") + ["facade"])[1]
    return {"whole_files": "portable"}.get(name, name)


@cache
def sources(folder: str) -> list[Path]:
    return sorted((ROOT / folder).rglob("*.py"))


# Read by the tests, not when this module is: every worker imports it, few of them run its tests.
def imports() -> list[Import]:
    return [found for path in sources("palace") for found in imports_of(path)]


def ours() -> list[Import]:
    return [i for i in imports() if i.module.split(".")[0] == "palace"]


def test_imports_point_one_way():
    wrong = []
    for found in ours():
        importer, imported = group(found.importer), group(found.module)
        allowed = MAY_IMPORT[importer] | {importer}
        if found.when == "typing":
            allowed |= MAY_NAME.get(importer, set())
        if imported not in allowed:
            wrong.append(f"{found.where}: {importer} -> {imported}")
    assert not wrong


def test_every_group_is_governed():
    assert {group(i.importer) for i in ours()} <= set(MAY_IMPORT)
    assert len(ours()) > 100  # the parser sees them


def test_a_package_is_imported_by_its_modules():
    packages = {
        ".".join(p.parent.relative_to(ROOT).parts)
        for p in sources("palace")
        if p.name == "__init__.py"
    }
    # what others ask of these stands in the package itself, and its parts below it
    asked = {
        f"palace.{name}" for name in ("presets", "secrets", "serve", "settings", "text", "tools")
    }
    inner = packages - {"palace"} - asked
    assert [i.where for i in ours() if i.module in inner] == []


def test_no_relative_imports():
    assert [i.where for i in imports() if i.level] == []


def test_no_cycles_at_import_time():
    graph = {}
    modules = {i.importer for i in imports()} | {i.module for i in ours()}
    for found in ours():
        if found.when == "top":
            named = [f"{found.module}.{name}" for name in found.names]
            graph.setdefault(found.importer, set()).update({found.module, *named} & modules)
    assert len(list(TopologicalSorter(graph).static_order())) > 20


def test_no_doors_but_the_program_know_the_doors():
    assert {
        i.importer for i in ours() if group(i.module) == "serve" and group(i.importer) != "serve"
    } == {"palace.__main__"}


@pytest.mark.parametrize(
    "folder", ["palace", "adapters", "benchmarks", "examples", "tests", "docs"]
)
def test_nothing_newer_than_python_3_10(folder):
    wrong = [
        f"{found.where}: {found.module} {', '.join(found.names)}"
        for path in sources(folder)
        for found in imports_of(path)
        if {*found.names, ""} & NEWER_THAN_3_10.get(found.module, set()) and found.when != "typing"
    ]
    assert not wrong


@pytest.mark.parametrize("folder", ["adapters", "benchmarks", "examples"])
def test_what_stands_outside_uses_the_package_only(folder):
    # the fitting of the shipped models works on the parts it fits, and the measure of one part on
    # that part
    parts = ("palace.recall", "palace.ports", "palace.store", "palace.text", "palace.types")
    allowed = {"benchmarks": parts}.get(folder, ())
    wrong = [
        f"{found.where}: {found.module}"
        for path in sources(folder)
        for found in imports_of(path)
        if found.module.startswith("palace.")
        and not found.module.startswith(tuple(allowed))
        # the labelled pairs are judged one by one, the labelled answers sentence by sentence
        and (folder, found.module.rpartition(".")[0])
        not in (("benchmarks", "palace.learn"), ("benchmarks", "palace.enforce"))
    ]
    assert not wrong


def test_importing_the_package_is_cheap():
    code = "import sys, palace; print(*sorted(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    loaded = done.stdout.split()
    assert "palace" in loaded
    assert [name for name in loaded if name.startswith(HEAVY)] == []
    assert [name for name in loaded if name.startswith("palace.")] == []


def test_a_question_loads_nothing_that_only_other_verbs_need():
    code = (
        "import sys; from palace import Mempalace, RetrievalEnforcer\n"
        "import tempfile; palace = Mempalace.open(tempfile.mkdtemp())\n"
        "RetrievalEnforcer(palace).decide('When did we move?'); print(*sorted(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    unneeded = {"consolidate", "condense", "statements", "importing", "formats", "gaps", "report"}
    unneeded |= {"hygiene", "conflict", "comparing", "values"}
    loaded = set(done.stdout.split())
    assert loaded.isdisjoint(f"palace.learn.{name}" for name in unneeded)
    assert loaded.isdisjoint({"palace.enforce.suspicion", "palace.secrets.personal_data"})
