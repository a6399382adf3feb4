"""Measure what the package costs before it does anything: time to import, size on disk.

Run:
    python -m benchmarks.import_cost

In: the environment it runs in. Out: a Markdown table on standard output. Wall times are medians of
whole interpreter starts; sizes are those of the files that each distribution lists, byte code
left out, for the core dependencies and everything they need.
"""

from __future__ import annotations

import argparse
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

from benchmarks.command import run, whole_number

DISTRIBUTION = "mempalace-enforcer"
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
    files = metadata.files(name) or ()
    paths = [Path(f.locate()) for f in files if f.suffix != ".pyc"]
    return sum(path.stat().st_size for path in paths if path.is_file())


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
    print(f"| all {len(sizes)} | {sum(sizes.values()) / 1e6:.1f} |")


if __name__ == "__main__":
    run(main)
