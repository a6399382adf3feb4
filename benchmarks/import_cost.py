"""Measure what the package costs before it does anything: time to import, size on disk.

Run:
    python -m benchmarks.import_cost

In: the environment it runs in. Out: a Markdown table on standard output. Wall times are medians of
whole interpreter starts; sizes are those of the files that each distribution lists, byte code
left out, for the core dependencies and everything they need, and of the package itself.
"""

from __future__ import annotations

import argparse
import importlib.util
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from importlib import metadata
from pathlib import Path

from benchmarks.command import run, whole_number

DISTRIBUTION = "mempalace-enforcer"
PACKAGES = ("palace", "langchain_palace", "llama_index_palace")
STATEMENTS = (
    ("bare interpreter", "pass"),
    ("`import palace`", "import palace"),
    ("`from palace import Mempalace`", "from palace import Mempalace"),
    ("the command, up to its first line", "import palace.serve.cli"),
)


def start_ms(statement: str, *, runs: int) -> float:
    """Return the median wall time of a fresh interpreter that runs a statement, in ms."""
    times = []
    for _ in range(runs):
        started = time.perf_counter()
        subprocess.run([sys.executable, "-c", statement], check=True)  # noqa: S603 - our own words
        times.append((time.perf_counter() - started) * 1000)
    return statistics.median(times)


def core_distributions(name: str = DISTRIBUTION) -> Iterator[str]:
    """Yield the distributions a plain install brings along, without the package itself."""
    seen, waiting = {_normal(name)}, [name]
    while waiting:
        for requirement in metadata.requires(waiting.pop()) or ():
            needed, _, marker = requirement.partition(";")
            found = _normal(re.split(r"[^\w.-]", needed.strip(), maxsplit=1)[0])
            if found not in seen and "extra ==" not in marker and _is_installed(found):
                seen.add(found)
                waiting.append(found)
                yield found


def size_bytes(name: str) -> int:
    """Return the size of a distribution's files, in bytes, without byte code."""
    return _bytes(Path(f.locate()) for f in metadata.files(name) or ())


def own_size_bytes() -> int:
    """Return the size of what the package installs, likewise, wherever it is imported from."""
    specs = [spec for name in PACKAGES if (spec := importlib.util.find_spec(name))]
    folders = [Path(f) for spec in specs for f in spec.submodule_search_locations or ()]
    return _bytes(path for folder in folders for path in folder.rglob("*"))


def _bytes(paths: Iterable[Path]) -> int:
    return sum(p.stat().st_size for p in paths if p.suffix != ".pyc" and p.is_file())


def _is_installed(name: str) -> bool:
    """Return whether a requirement is there; one for another system or version is not."""
    try:
        metadata.distribution(name)
    except metadata.PackageNotFoundError:
        return False
    return True


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument(
        "--runs",
        type=lambda text: whole_number(text, "starts"),
        default=21,
        help="starts for each statement",
    )
    runs = parser.parse_args().runs
    print("| start | median, ms |\n|---|---|")
    for label, statement in STATEMENTS:
        print(f"| {label} | {start_ms(statement, runs=runs):.0f} |")
    sizes = {name: size_bytes(name) for name in core_distributions()}
    print("\n| core dependency | size, MB |\n|---|---|")
    for name, size in sorted(sizes.items(), key=lambda item: -item[1]):
        print(f"| {name} | {size / 1e6:.1f} |")
    all_of_them = sum(sizes.values())
    print(f"| all {len(sizes)} | {all_of_them / 1e6:.1f} |")
    print(f"| with this package | {(all_of_them + own_size_bytes()) / 1e6:.1f} |")


if __name__ == "__main__":
    run(main)
