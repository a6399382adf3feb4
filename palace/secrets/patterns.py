"""Patterns that are compiled when they are first used: most programs need few of those they import.

In: a pattern. Out: what `regex.compile` returns, a little later.
"""

from __future__ import annotations

from typing import Any, cast

import regex


class _Later:
    def __init__(self, pattern: str, flags: int) -> None:
        self._arguments = (pattern, flags)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever a pattern has
        # Kept on the object itself: what is used once is found without this from then on.
        found = getattr(regex.compile(*self._arguments), name)
        setattr(self, name, found)
        return found


def compiled_later(pattern: str, flags: int = 0) -> regex.Pattern[str]:
    """Return a pattern that is compiled when something is first asked of it.

    Args:
        pattern: One that is known to be right; a wrong one raises `regex.error` only then.
        flags: As of `regex.compile`.
    """
    return cast("regex.Pattern[str]", _Later(pattern, flags))
