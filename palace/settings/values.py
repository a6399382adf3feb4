"""What the value of a key may be: types with their bounds, and what a section of settings is.

In: plain values. Out: the same, or a `PydanticCustomError` that says what they must be.
"""

from __future__ import annotations

import re
from typing import Annotated, Literal, TypeVar
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    SecretStr,
    StrictFloat,
    StringConstraints,
)
from pydantic_core import PydanticCustomError

from palace.portable import is_device
from palace.types.memory import PLAYBOOKS, TIMELINE
from palace.types.query import RecallKind


def unique(items: tuple[str, ...]) -> tuple[str, ...]:
    """Return the items of a list in which nothing may stand twice."""
    if len(set(items)) != len(items):
        raise PydanticCustomError("unique", "must not name anything twice")
    return items


def _check_url(value: str) -> str:
    try:
        parts = urlsplit(value)
        good = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        good = False
    if not good or parts.username is not None or parts.password is not None:
        raise PydanticCustomError("url", "must be an http(s) address without user or password")
    if parts.query or parts.fragment or re.search(r"\s", value):
        raise PydanticCustomError("url", "must be an http(s) address without spaces, ? and #")
    return value.rstrip("/")


def _check_token(value: SecretStr) -> SecretStr:
    if not re.fullmatch(r"[!-~]{1,1000}", value.get_secret_value()):
        raise PydanticCustomError("token", "must be one word of visible ASCII characters")
    return value


def in_order(low_key: str, low: float | None, high_key: str, high: float | None) -> None:
    """Refuse a pair of keys of which the low one is above the high one; either may be unset."""
    if low is not None and high is not None and low > high:
        raise PydanticCustomError("order", f"must not be above {high_key}", {"key": low_key})


Share = Annotated[StrictFloat, Field(ge=0, le=1)]
PathText = Annotated[str, StringConstraints(min_length=1, max_length=4096, pattern=r"^[^\x00]+$")]
Url = Annotated[str, StringConstraints(max_length=2000), AfterValidator(_check_url)]
Token = Annotated[SecretStr, AfterValidator(_check_token)]
ModelName = Annotated[
    str, StringConstraints(min_length=1, max_length=4096, pattern=r"^[^\x00-\x1f]+$")
]
Language = Literal[
    "en", "de", "fr", "es", "pt", "zh", "ja", "ru", "it", "nl", "ko", "pl", "sv", "tr"
]
# ASCII alone: with every script's letters, this one pattern costs half of the start.
Repository = Annotated[
    str, StringConstraints(pattern=r"^[A-Za-z0-9_.-]{1,100}/[A-Za-z0-9_.-]{1,100}$")
]


def check_room(name: str) -> str:
    """Return the name of a room, which must not be kept for something else."""
    if is_device(name) or name.strip().casefold() in (TIMELINE, PLAYBOOKS):
        raise PydanticCustomError("room", "must not be a name that is kept for something else")
    return name


class Section(BaseModel):
    """A part of the settings: frozen, and every key must be known."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", allow_inf_nan=False, hide_input_in_errors=True
    )


_S = TypeVar("_S", bound=Section)


def section(model: type[_S]) -> _S:
    """Return the field of a section: what it is about is said once, by its model."""
    return Field(model(), description=model.__doc__)


class Cue(Section):
    """A person's own recall cue."""

    pattern: str = Field(
        min_length=2, max_length=200, description="Literal phrase, any case; 2 to 200 characters."
    )
    kind: RecallKind = Field(description="What sort of recall the phrase asks for.")
