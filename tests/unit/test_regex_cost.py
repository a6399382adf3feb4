"""No pattern of ours can be made slow: every compiled one meets hostile text of two sizes."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest
import regex

import palace
from palace.text.late_patterns import LatePattern
from tests.clock import seconds

SMALL, LARGE = 400, 3200
# Linear is 8 times the time, quadratic 64 times; a floor keeps the clock's grain out of it.
MOST_TIMES_SLOWER = 25
FLOOR_S = 0.0003
PIECES = (
    "a", " ", "\t", "\n", "0", "-", "_", ".", ",", ":", "/", "\\", "|", "*", "#", "`", "'", '"', "(", "[",
    "<", "&", "=", "!", "@", "é", "語", "\u200b", "a ", "a-", "a.", "0.", "0,", "0-", "1:", "a:", "[[", "]]",
    "![", "](", "<!--", "-->", "<a ", "</", "&lt;", "&amp;", "http://", "a@", "- ", "1. ", "# ", "```", "---",
    "key=", "id=m-", "token ", "the ", "Aa ", "A", "AB", "2026-", "2026-03-", "12:", "march ", "#1", "a/b",
    "a_b", "a'b", "\\u", "%2e", "../", "from ", "at ", "File \"", "+ ", "@@ ", "{\"", "\":", "},", "=\"",
)  # fmt: skip
# What may stay: the reason why the text it meets is short.
BOUNDED = {
    "palace.enforce.sentences._CITATIONS[0]": "matched at one place of a sentence, never searched",
}
Use = Callable[[Any, str], object]


def everywhere(pattern: Any, text: str) -> object:
    return sum(1 for _ in pattern.finditer(text))


def at_the_start(pattern: Any, text: str) -> object:
    return pattern.match(text), pattern.fullmatch(text)


def modules() -> Iterator[pkgutil.ModuleInfo]:
    """The modules of the core, and of the adapters where their frameworks are installed."""
    yield from pkgutil.walk_packages(palace.__path__, "palace.")
    for name in ("langchain_palace", "llama_index_palace"):
        try:
            adapter = importlib.import_module(name)
        except ImportError:
            continue
        yield from pkgutil.walk_packages(adapter.__path__, f"{name}.")


def patterns() -> dict[str, tuple[Any, Use]]:
    """Every compiled pattern that stands in a module of ours, and how it is used there."""
    found: dict[str, tuple[Any, Use]] = {}
    for module in modules():
        if module.name.endswith("__main__"):
            continue
        try:
            loaded = importlib.import_module(module.name)
        except ImportError:
            continue  # what an optional package is needed for
        source = inspect.getsource(loaded)
        for name, value in vars(loaded).items():
            for number, one in enumerate(compiled(value)):
                use = at_the_start if only_matched(name, source) else everywhere
                found.setdefault(f"{module.name}.{name}[{number}]", (one, use))
    unique = {(id(pattern), use): name for name, (pattern, use) in found.items()}
    return {name: found[name] for name in unique.values()}


def only_matched(name: str, source: str) -> bool:
    """Whether a pattern is only ever tried at one place of a text."""
    used = re.findall(rf"\b{re.escape(name)}\b(?!\s*[:=])(\.\w+)?", source)
    return bool(used) and set(used) <= {".match", ".fullmatch"}


def compiled(value: object) -> list[Any]:
    if isinstance(value, (re.Pattern, regex.Pattern, LatePattern)):
        return [value] if isinstance(value.pattern, str) else []
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple, set, frozenset)):
        return [one for item in value for one in compiled(item)]
    if hasattr(value, "__dataclass_fields__") and not isinstance(value, type):
        fields = [getattr(value, name, None) for name in value.__dataclass_fields__]
        return [one for item in fields for one in compiled(item)]
    return []


PATTERNS = patterns()


def slowest(name: str) -> str:
    """The first text that is too slow for this pattern, or ""."""
    pattern, use = PATTERNS[name]
    for piece in PIECES:
        large = piece * (LARGE // len(piece)) + "\x00"
        cost = seconds(partial(use, pattern, large))
        if cost < FLOOR_S * MOST_TIMES_SLOWER:
            continue
        small = max(seconds(partial(use, pattern, large[:SMALL] + "\x00")), FLOOR_S)
        cost = seconds(partial(use, pattern, large), tries=3)
        if cost > MOST_TIMES_SLOWER * small:
            return f"{name} on {piece!r}: {small * 1000:.1f} -> {cost * 1000:.0f} ms"
    return ""


def test_there_are_patterns_to_try():
    assert len(PATTERNS) > 200


@pytest.mark.parametrize("start", range(0, len(PATTERNS), 60))
def test_no_pattern_takes_more_than_linear_time(start):
    names = list(PATTERNS)[start : start + 60]
    judged = [name for name in names if name not in BOUNDED]
    assert [slow for name in judged if (slow := slowest(name))] == []


def test_every_exception_is_still_needed():
    assert [name for name in BOUNDED if name not in PATTERNS or not slowest(name)] == []


def test_a_pattern_that_backtracks_is_seen(monkeypatch):
    monkeypatch.setitem(PATTERNS, "bad", (re.compile(r"a+[bc]"), everywhere))
    assert slowest("bad").startswith("bad on 'a'")
