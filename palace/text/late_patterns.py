"""Patterns that are compiled when they are first used: a start needs few of hundreds.

In: a pattern as it is written. Out: what is used like a compiled one.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cached_property, partial
from typing import Any, cast

import regex


class LatePattern:
    """A pattern that is compiled by its first use.

    Args:
        compile: Returns it compiled.
    """

    def __init__(self, compile: Callable[[], Any]) -> None:
        self._compile = compile

    @cached_property
    def _compiled(self) -> Any:  # noqa: ANN401 - a pattern of either library
        return self._compile()

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - what patterns have
        """Return what the compiled pattern has; the next use finds it at once."""
        if name.startswith("_"):
            raise AttributeError(name)
        found = getattr(self._compiled, name)
        setattr(self, name, found)
        return found


def late(pattern: str, flags: int = 0) -> regex.Pattern[str]:
    """Return a pattern of the `regex` module that is compiled by its first use."""
    return cast("regex.Pattern[str]", LatePattern(partial(regex.compile, pattern, flags)))


def late_standard(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """Return a pattern of the standard library that is compiled by its first use."""
    return cast("re.Pattern[str]", LatePattern(partial(re.compile, pattern, flags)))
