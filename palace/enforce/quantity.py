"""A number as it is said: what it may mean, its unit, and where it stands.

In: what a reader of digits, words or Chinese letters found. Out: values that can be compared,
whatever the writing.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number as it is said.

    Attributes:
        values: What it may mean: more than one where a separator can be read two ways.
        unit: Family of its unit (`time`, `bytes` …), `clock`, `version`, `ordinal`, or "".
        factor: Size of the unit in the family's smallest.
        start: Place of its first character; `end` after its last.
        text: As written, unit included.
        loose: Whether it is only said about ("about 2,000").
        version: The version's digits, for a version.
        noun: Stem of the word that follows a number without a unit.
    """

    values: tuple[float, ...]
    unit: str = ""
    factor: float = 1.0
    start: int = 0
    end: int = 0
    text: str = ""
    loose: bool = False
    version: str = ""
    noun: str = ""

    @property
    def measures(self) -> tuple[float, ...]:
        """The values in the family's smallest unit."""
        return tuple(round(value * self.factor, 9) for value in self.values)


def times_of_day(minutes: float, half: str | None = None) -> tuple[float, ...]:
    """Return what a time in minutes may mean: before 13:00 either half of the day if none is said.

    Args:
        minutes: After midnight, or after noon.
        half: "a", "p" or nothing.
    """
    if half:
        return (minutes % 720 + (720 if half.casefold() == "p" else 0),)
    return (minutes,) if minutes >= 780 else (minutes, minutes + 720)
