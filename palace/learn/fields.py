"""What the fields of a memory may say, checked before anything is written.

In: the values a caller gave. Out: nothing, or an error that names the field and what fits.
"""

from __future__ import annotations

from datetime import datetime
from numbers import Real
from typing import get_args

from palace.errors import ConfigError
from palace.types.memory import MemoryKind, Trust

KINDS: tuple[str, ...] = get_args(MemoryKind)
SOURCES: tuple[str, ...] = get_args(Trust)


def check_choice(name: str, value: str, choices: tuple[str, ...]) -> None:
    """Refuse a word that is none of those to choose from.

    Raises:
        ConfigError: If it is not.
    """
    if value not in choices:
        raise ConfigError(f"{name} is {value!r}", hint=f"use one of {', '.join(choices)}")


def check_share(name: str, value: float) -> None:
    """Refuse a number that is not in [0, 1].

    Raises:
        ConfigError: If it is not; nan, words and truth values are in no range.
    """
    if not isinstance(value, Real) or isinstance(value, bool) or not 0.0 <= value <= 1.0:
        raise ConfigError(f"{name} is {value!r}", hint="use a number from 0 to 1")


def check_validity(begin: datetime | None, end: datetime | None) -> None:
    """Refuse a time that is over before it begins: such a memory would never be found.

    Raises:
        ConfigError: If it is.
    """
    if begin is not None and end is not None and end <= begin:
        raise ConfigError(
            f"valid_to ({end:%Y-%m-%d %H:%M}) is not after valid_from ({begin:%Y-%m-%d %H:%M})",
            hint="name an end that is later than the beginning, or none",
        )
