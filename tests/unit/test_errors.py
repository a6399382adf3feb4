"""One tree of errors, drawn on top of its module, each with a hint."""

from __future__ import annotations

import inspect

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
