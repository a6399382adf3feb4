"""Timeline pages: verbatim conversation turns as stamped lines a person can read.

In: conversation turns, or the lines of one stamped block. Out: the lines of a page, or the
speaker and the exact words. Every text survives the way there and back.

    # 2023-05-08

    ## session-1
    [2023-05-08 13:56] Caroline: What she said first,
      and her second line.
      <!-- memory provenance=chat -->
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from datetime import datetime, timezone

from palace.store.blocks import dedent
from palace.store.comments import clean, escape_comments, unescape_comments, write_comment
from palace.text.moments import in_utc

MAX_SPEAKER_CHARS = 40
MAX_SPEAKER_WORDS = 4
ROLES = frozenset({"user", "assistant", "system", "tool", "agent", "human"})
"""Lower-case names that are speakers all the same."""

_INDENT = "  "
_BOLD = re.compile(r"\*\*([^*:]{1,200})\*\*:(?: |\Z)")


def stamp_time(day: str, minute: str) -> datetime | None:
    """Return the UTC time of a stamp, or None if the calendar has no such time."""
    try:
        return datetime.fromisoformat(f"{day}T{minute}:00").replace(tzinfo=timezone.utc)
    except ValueError:
        return None


def verbatim_text(text: str) -> str:
    r"""Return what a page keeps of a turn: `\n` line ends, U+FFFD for NUL and lone surrogates."""
    return clean(text).replace("\r\n", "\n").replace("\r", "\n")


def speaker_label(name: str) -> str:
    """Return a speaker as a page can hold it: one line, no `:` or `*`, at most 200 characters."""
    kept = "".join(" " if char in ":*" or _is_control(char) else char for char in clean(name))
    return " ".join(kept.split())[:200].rstrip()


def session_title(session: str) -> str:
    """Return a session id as a heading can hold it: one line, single spaces."""
    kept = "".join(" " if _is_control(char) else char for char in clean(session))
    return " ".join(kept.split())


def split_speaker(text: str) -> tuple[str, str]:
    """Split what follows a stamp into the speaker, or "", and the words.

    A leading `: ` says that there is no speaker, `**name**: ` that it is this one; otherwise the
    part before the first `: ` is taken if it looks like a name: at most 40 characters and 4 words,
    each beginning with a digit or a letter that is not lower-case, or a role such as `user`.
    """
    first, newline, rest = text.partition("\n")
    bold = _BOLD.match(first)
    if bold:
        return bold.group(1), first[bold.end() :] + newline + rest
    label, colon, words = first.partition(":")
    is_speaker = bool(colon) and words[:1] in ("", " ") and (not label or _is_plain_speaker(label))
    return (label, words[1:] + newline + rest) if is_speaker else ("", text)


def turn_lines(
    stamp: str, speaker: str, text: str, *, fields: Mapping[str, object] | None = None
) -> list[str]:
    """Return the lines of one turn, without line ends.

    Args:
        stamp: What the first line starts with, e.g. `[2023-05-08 13:56] `.
        speaker: As `speaker_label` returns it.
        text: As `verbatim_text` returns it.
        fields: Go into a metadata comment, if there are any.
    """
    first, *rest = text.split("\n")
    lines = [stamp + _opening(speaker, first)]
    lines += [_INDENT + escape_comments(line) for line in rest]
    if fields:
        lines.append(_INDENT + write_comment(fields))
    return lines


def minute_of(at: datetime) -> str:
    """Return a time as a stamp prints it, UTC; naive is UTC."""
    return in_utc(at).replace(tzinfo=None).isoformat(" ", "minutes")


def turn_text(first: str, rest: Sequence[str]) -> str:
    """Return the words of a turn from its lines, metadata comments already taken out.

    Args:
        first: The first line behind its stamp.
        rest: The lines below it, as they stand in the file.
    """
    return "\n".join([first, *(unescape_comments(dedent(line, 2)) for line in rest)])


def _opening(speaker: str, first: str) -> str:
    if speaker:
        plain = _is_plain_speaker(speaker)
        return f"{speaker}: {first}" if plain else f"**{speaker}**: {first}"
    return first if split_speaker(first) == ("", first) else f": {first}"


def _is_plain_speaker(label: str) -> bool:
    words = label.split(" ")
    if label in ROLES:
        return True
    if len(label) > MAX_SPEAKER_CHARS or len(words) > MAX_SPEAKER_WORDS:
        return False
    return all(word and word[0].isalnum() and not word[0].islower() for word in words)


def _is_control(char: str) -> bool:
    return unicodedata.category(char) in {"Cc", "Zl", "Zp"}
