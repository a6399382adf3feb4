"""The wheel holds what it must and nothing else, and works where the checkout is not.

The archive of the sources holds the pages that its README leads to.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
QUESTION = "When did we move to PostgreSQL 16?"
# Python 3.14 wants to be told how far an archive is trusted, and some that are old cannot be told
SAFELY = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}

# one worker builds once
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("packaging"), pytest.mark.timeout(300)]


def run(*command: object, cwd: Path) -> str:
    done = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env={k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def build(kind: str, folder: Path) -> Path:
    run(
        sys.executable,
        "-m",
        "build",
        f"--{kind}",
        "--no-isolation",
        "--outdir",
        folder,
        ROOT,
        cwd=folder,
    )
    [built] = folder.iterdir()
    return built


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    return build("wheel", tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """The folder of the programs of an environment that holds the wheel and what it needs."""
    folder = tmp_path_factory.mktemp("installed")
    run(sys.executable, "-m", "venv", folder / "venv", cwd=folder)
    programs = folder / "venv" / ("Scripts" if os.name == "nt" else "bin")
    run(programs / "python", "-m", "pip", "install", "--quiet", wheel, cwd=folder)
    return programs


@pytest.fixture(scope="module")
def contents(wheel):
    with zipfile.ZipFile(wheel) as archive:
        return sorted(archive.namelist())


def test_every_file_of_the_package_is_in_the_wheel(contents):
    sources = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "palace").rglob("*")
        if path.is_file() and path.suffix != ".pyc"
    }
    assert {name for name in contents if name.startswith("palace/")} == sources


@pytest.mark.parametrize(
    "name",
    [
        "palace/py.typed",
        "palace/learn/statement_words.yaml",
        "palace/recall/lexicons/en.yaml",
        "palace/recall/weights/detector.json",
        "palace/recall/weights/detector.txt",
        "palace/recall/weights/sufficiency_statement.json",
        "palace/presets/sample/identity.txt",
        "palace/presets/sample/rooms/architecture/database.md",
        "palace/presets/issue_analysis/cues.yaml",
    ],
)
def test_data_is_in_the_wheel(contents, name):
    assert name in contents


def test_nothing_else_is_in_the_wheel(contents):
    adapters = {path.parent.name for path in (ROOT / "adapters").glob("*/*.py")}
    packages = {name.partition("/")[0] for name in contents}
    metadata = {name for name in packages if name.endswith(".dist-info")}
    assert packages - metadata == {"palace", *adapters}
    assert len(metadata) == 1
    assert [name for name in contents if name.endswith("licenses/LICENSE")]


def test_import_outside_the_checkout(installed, tmp_path):
    code = (
        "import importlib, pkgutil, palace\n"
        "EXTRA = ('http', 'forge', 'gitea', 'github')\n"
        "names = [m.name for m in pkgutil.walk_packages(palace.__path__, 'palace.')]\n"
        "apart = ('palace.__main__', 'palace.testing', *('palace.fetch.' + x for x in EXTRA))\n"
        "[importlib.import_module(n) for n in names if not n.startswith(apart)]\n"
        "print(palace.__file__)"
    )
    place = Path(run(installed / "python", "-W", "error", "-c", code, cwd=tmp_path).strip())
    assert place.is_relative_to(installed.parent)


def test_the_command_answers_outside_the_checkout(installed, tmp_path):
    from palace import __version__

    assert run(installed / "palace", "--version", cwd=tmp_path) == f"{__version__}\n"
    run(installed / "palace", "init", "--sample", tmp_path / "sample", cwd=tmp_path)
    answer = run(installed / "palace", "--root", tmp_path / "sample", "ask", QUESTION, cwd=tmp_path)
    assert answer.startswith("We moved the database from PostgreSQL 13 to PostgreSQL 16")


def test_the_archive_of_the_sources_holds_what_its_pages_link_to(tmp_path):
    (tmp_path / "built").mkdir()
    with tarfile.open(build("sdist", tmp_path / "built")) as archive:
        archive.extractall(tmp_path / "unpacked", **SAFELY)
    [root] = (tmp_path / "unpacked").iterdir()
    pages = [*root.glob("*.md"), *root.glob("docs/**/*.md")]
    linked = {
        page.parent / target
        for page in pages
        for target in re.findall(r"\]\(([^)\s#]+)", page.read_text("utf-8"))
        if ":" not in target
    }
    assert root / "docs" / "commands.md" in linked
    assert sorted(path for path in linked if not path.exists()) == []
