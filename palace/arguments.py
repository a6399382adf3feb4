"""What callers hand in, refused at once where it cannot work, and not in the middle of it.

In: arguments of the facade. Out: nothing, or the argument as it is used; else an error that names
it.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from numbers import Real
from os import PathLike
from pathlib import Path
from typing import TypeVar, get_args

from palace.errors import ConfigError
from palace.secrets import redact
from palace.text.moments import in_utc, iso_moment
from palace.types.memory import MemoryKind, Trust
from palace.types.session import Message

KINDS: tuple[str, ...] = get_args(MemoryKind)
SOURCES: tuple[str, ...] = get_args(Trust)
_T = TypeVar("_T")
_QUOTED_CHARS = 80


def quoted(value: object) -> str:
    """Return what a caller handed in as an error tells of it: in short, and never a secret."""
    return redact(repr(value))[:_QUOTED_CHARS]


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


def check_given(**given: object) -> None:
    """Refuse what is neither text nor left out (None).

    Raises:
        ConfigError: If one of these is anything else; names it.
    """
    check_texts(**{name: value for name, value in given.items() if value is not None})


def check_names(**given: object) -> None:
    """Refuse a name that is given and empty; one that is left out (None) is none.

    An empty one is a variable that was never set: what is meant for one session would be stored
    for everyone.

    Raises:
        ConfigError: If one of these is no text, or has nothing in it; says which.
    """
    check_given(**given)
    for name, value in given.items():
        if isinstance(value, str) and not value.strip():
            raise ConfigError(f"the {name} is empty", hint="name one, or leave it out")


def check_part(name: str, given: object, *methods: str) -> None:
    """Refuse what cannot be a part of the palace; one that is left out (None) is none.

    A name or a class, or another library's object, would only fail where it is used, and what
    fails there costs meaning or an artifact, not the answer: nobody would notice.

    Raises:
        ConfigError: If it lacks one of these methods, or is a class.
    """
    if isinstance(given, type):
        raise ConfigError(f"the class {given.__name__} is no {name}", hint="give one made of it")
    if given is not None and not all(callable(getattr(given, one, None)) for one in methods):
        raise ConfigError(
            f"{type(given).__name__} is no {name}: it has no {' and '.join(methods)}",
            hint="palace.ports says what each part has to have",
        )


def path_in(name: str, value: str | PathLike[str]) -> Path:
    """Return a path with its `~` resolved.

    An empty one is a variable that was never set: it would mean the folder that one happens to
    stand in.

    Raises:
        ConfigError: If it is none, or empty, or of a user who is not known, or has a character
            that no path may have.
    """
    if not isinstance(value, (str, PathLike)):
        kind = "nothing" if value is None else type(value).__name__
        raise ConfigError(f"the {name} must be a path, not {kind}", hint="give a str or a Path")
    if not str(value).strip():
        raise ConfigError(f"the {name} is empty", hint="name a file or folder")
    try:
        is_unfit = b"\0" in os.fsencode(value)
    except UnicodeEncodeError:
        is_unfit = True
    if is_unfit:
        raise ConfigError(
            f"the {name} {quoted(str(value))} has a character that no path may have",
            hint="name a file or folder",
        )
    try:
        return Path(value).expanduser()
    except RuntimeError as error:
        raise ConfigError(f"nobody knows the folder of {value}", hint="write it out") from error


def check_lists(**given: object) -> None:
    """Refuse what is not several texts; one text alone would be taken for its letters.

    Raises:
        ConfigError: If one of these is no list, tuple or other collection of `str`; names it.
    """
    for name, value in given.items():
        if not isinstance(value, Collection) or isinstance(value, (str, bytes, Mapping)):
            kind = "nothing" if value is None else type(value).__name__
            raise ConfigError(f"{name} must be a list of texts, not {kind}", hint="give a list")
        for one in value:
            check_texts(**{f"text in {name}": one})


def moment_in(name: str, value: datetime | None) -> datetime | None:
    """Return a moment in UTC, which one without an offset is in already; None stays None.

    Raises:
        ConfigError: If it is no `datetime`, or none that UTC knows.
    """
    if value is None:
        return None
    if not isinstance(value, datetime):
        raise ConfigError(
            f"{name} must be a datetime, not {type(value).__name__}",
            hint="give one such as datetime(2026, 5, 7, tzinfo=timezone.utc)",
        )
    try:
        return in_utc(value)
    except OverflowError as error:
        raise ConfigError(
            f"{name} is {value}, which is no moment in UTC", hint="leave it out for no bound"
        ) from error


def messages_in(history: Iterable[object] | None) -> tuple[Message, ...]:
    """Return messages as hosts write them, in our own form; None is no history.

    Raises:
        ConfigError: If one of them is no message, or it is no list of them; names the type.
    """
    if history is not None and not isinstance(history, Iterable):
        raise ConfigError(
            f"the history must be a list of messages, not {type(history).__name__}",
            hint="give a list, oldest first",
        )
    return tuple(map(message_in, history or ()))


def message_in(given: object) -> Message:
    """Return a message of hosts that write {role, content}; one of tool calls has no content.

    Raises:
        ConfigError: If it is no message; names its type.
    """
    said = given.get("content") if isinstance(given, Mapping) else getattr(given, "content", given)
    if isinstance(said, (list, tuple)):
        said = "\n".join(text for part in said if (text := _text_of(part)) is not None)
    if not (isinstance(given, (Mapping, Message)) and (said is None or isinstance(said, str))):
        raise ConfigError(
            f"the history holds something that is no message with text: {type(given).__name__}",
            hint='a message is a Message, or {"role": "user", "content": "hello"}',
        )
    if isinstance(given, Message):
        text, at = said or "", moment_in("at", given.at)
        if text is given.content and at is given.at:
            return given  # mostly; and a history may be long
        return replace(given, content=text, at=at)
    return Message(
        str(given.get("role") or ""),
        said or "",
        at=_said_at(given.get("at")),
        calls=tuple(_ids(given.get("tool_calls") or given.get("calls"))),
        answers=str(given.get("tool_call_id") or given.get("answers") or ""),
    )


def _said_at(at: object) -> datetime | None:
    """Return when a host's message was said; None for what is no moment."""
    if isinstance(at, str):
        try:
            return iso_moment(at.strip())
        except ValueError:
            return None
    return moment_in("at", at) if isinstance(at, datetime) else None


def _text_of(part: object) -> str | None:
    text = part.get("text") if isinstance(part, Mapping) else part
    return text if isinstance(text, str) else None


def _ids(calls: object) -> Iterable[str]:
    for call in calls if isinstance(calls, (list, tuple)) else ():
        given = call.get("id") if isinstance(call, Mapping) else call
        if given:
            yield str(given)


def check_counts(*, least: int = 1, **given: object) -> None:
    """Refuse what is no whole number from the least one on; None stands for the usual one.

    Raises:
        ConfigError: If one of these is none; names it.
    """
    for name, value in given.items():
        if value is None:
            continue
        if not isinstance(value, int) or isinstance(value, bool) or value < least:
            raise ConfigError(
                f"{name} must be a whole number from {least} on, not {quoted(value)}",
                hint=f"leave {name} out for what the settings say",
            )


def check_choice(name: str, value: str, choices: tuple[str, ...]) -> None:
    """Refuse a word that is none of those to choose from.

    Raises:
        ConfigError: If it is not.
    """
    if value not in choices:
        raise ConfigError(f"{name} is {quoted(value)}", hint=f"use one of {', '.join(choices)}")


def check_share(name: str, value: float) -> None:
    """Refuse a number that is not in [0, 1].

    Raises:
        ConfigError: If it is not; nan, words and truth values are in no range.
    """
    if not isinstance(value, Real) or isinstance(value, bool) or not 0.0 <= value <= 1.0:
        raise ConfigError(f"{name} is {quoted(value)}", hint="use a number from 0 to 1")


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


def tool_names(argument: str, names: Collection[str]) -> frozenset[str]:
    """Return the names of tools that an argument of a wrapper gives.

    Raises:
        ConfigError: If it is one text, which would be taken for a name of each letter.
    """
    if isinstance(names, str):
        raise ConfigError(
            f"{argument} is a list of names, not the text {names!r}", hint=f"{argument}=[{names!r}]"
        )
    return frozenset(names)
