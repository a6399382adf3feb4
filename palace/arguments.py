"""What callers hand in, refused at once where it cannot work, and not in the middle of it.

In: arguments of the facade. Out: nothing or the argument itself; else an error that names it.
"""

from __future__ import annotations

from typing import TypeVar

from palace.errors import ConfigError

_T = TypeVar("_T")


def check_texts(**given: object) -> None:
    """Refuse what is no text.

    Raises:
        ConfigError: If one of these is no `str`; names it.
    """
    for name, value in given.items():
        if not isinstance(value, str):
            kind = "nothing" if value is None else type(value).__name__
            hint = "decode it first" if isinstance(value, (bytes, bytearray)) else "give a str"
            raise ConfigError(f"the {name} must be text, not {kind}", hint=hint)


def check_counts(**given: object) -> None:
    """Refuse what is no whole number from 1 on; None stands for the usual one.

    Raises:
        ConfigError: If one of these is none; names it.
    """
    for name, value in given.items():
        if value is None:
            continue
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            hint = f"leave {name} out for what the settings say"
            raise ConfigError(f"{name} must be a whole number from 1 on, not {value!r}", hint=hint)


def require_palace(palace: _T) -> _T:
    """Return an open palace as it is; every wrapper takes one, and nothing else in its place.

    A wrapper opens none by itself: nobody would close it, and a mistyped path would be a new, empty
    palace that remembers nothing.

    Raises:
        ConfigError: If it is a path, a class or anything else that cannot be asked.
    """
    if not hasattr(type(palace), "enforcement"):
        raise ConfigError(
            f"{str(palace)[:80]!r} is no open palace",
            hint="open it first, and hand in what `Mempalace.open(path)` returns",
        )
    return palace
