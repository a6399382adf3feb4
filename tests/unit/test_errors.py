"""One tree of errors, drawn on top of its module, each with a hint."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from palace import errors
from palace.errors import PalaceError, RecallMiss, SecretRefusedError, TextRefusedError


def classes() -> dict[str, type[PalaceError]]:
    found = inspect.getmembers(errors, inspect.isclass)
    return {name: kind for name, kind in found if issubclass(kind, PalaceError)}


def test_every_error_is_ours() -> None:
    found = inspect.getmembers(errors, inspect.isclass)
    assert {name for name, kind in found if issubclass(kind, Exception)} == set(classes())


def test_the_drawing_is_the_tree() -> None:
    drawn: dict[str, str] = {}
    above: list[tuple[int, str]] = []
    for line in (errors.__doc__ or "").splitlines():
        name = line.lstrip(" │├└─").split(" ")[0]
        if name not in classes():
            continue
        depth = line.index(name)
        above = [(d, n) for d, n in above if d < depth]
        drawn[name] = above[-1][1] if above else ""
        above.append((depth, name))
    assert drawn == {
        name: "" if kind is PalaceError else kind.__bases__[0].__name__
        for name, kind in classes().items()
    }


@pytest.mark.parametrize("kind", classes().values(), ids=lambda kind: kind.__name__)
def test_message_and_hint(kind: type[PalaceError]) -> None:
    error = kind("the door is shut", hint="open it")
    assert (error.message, error.hint) == ("the door is shut", "open it")
    assert str(error) == "the door is shut (open it)"
    assert str(kind("the door is shut")) == "the door is shut"


def written(node: ast.expr) -> Iterator[str]:
    """The texts that an argument may be, `{}` for what is filled in."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.JoinedStr):
        yield "".join(p.value if isinstance(p, ast.Constant) else "{}" for p in node.values)
    elif isinstance(node, ast.IfExp):
        yield from (*written(node.body), *written(node.orelse))


def test_messages_and_hints_are_clauses_that_can_be_joined() -> None:
    texts = []
    for file in Path(errors.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") in classes():
                hints = [keyword.value for keyword in node.keywords if keyword.arg == "hint"]
                texts += [text for part in (*node.args[:1], *hints) for text in written(part)]
    assert len(texts) > 400
    assert [t for t in texts if re.match(r"[A-Z][a-z]", t) or re.search(r"[^.]\.\Z", t)] == []


def test_what_may_succeed_later() -> None:
    retryable = {name for name, kind in classes().items() if kind("x").retryable}
    assert retryable == {
        "WriteConflictError",
        "StoreUnavailableError",
        "FetchTimeoutError",
        "EmbedderUnavailableError",
    }
    assert PalaceError("x", retryable=True).retryable


def test_relatives() -> None:
    assert issubclass(RecallMiss, LookupError)
    assert issubclass(SecretRefusedError, TextRefusedError)
