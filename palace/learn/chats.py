"""What messengers export: WhatsApp's text file of a chat, Slack's folder of a workspace.

In: the file or folder. Out: for every message the turn it becomes, or why it becomes none. Nothing
is written, judged or redacted here.
"""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import regex

from palace.errors import ConfigError
from palace.learn.foreign import Left, Said, items_of, mappings, read_json, spoken
from palace.learn.json_stream import Item
from palace.learn.moment import parse_moment
from palace.ports import Progress

# WhatsApp

CHAT_SUFFIX = ".txt"
_HIDDEN = "\ufeff\u200e\u200f\u202a\u202b\u202c"
_SPACE = r"[ \t\xa0\u202f]"
_STAMP = regex.compile(
    rf"[{_HIDDEN}]*+(?P<open>\[)?"
    r"(?P<one>\d{1,4})(?P<sign>[./-])(?P<two>\d{1,2})(?P=sign)(?P<three>\d{1,4})"
    rf"(?P<comma>,)?(?:{_SPACE}(?:à|klo|kl\.|um|at))?{_SPACE}++"
    r"(?P<hour>\d{1,2})[:.](?P<minute>\d\d)(?:[:.](?P<second>\d\d))?"
    rf"(?:{_SPACE}*+(?P<half>[ap])\.?{_SPACE}?m\b\.?)?"
    rf"(?(open)\]{_SPACE}?|{_SPACE}[-–]{_SPACE})(?P<rest>.*)",
    regex.IGNORECASE,
)
_SPEAKER = regex.compile(rf"(?P<name>[^:\n]{{1,80}}):(?:{_SPACE}|\Z)(?P<text>.*)", regex.DOTALL)
# "<Media omitted>" in any language; a tag that somebody wrote has neither blank nor such letters.
_PLACEHOLDER = regex.compile(r"<(?=[^<>]*[ \xa0\u0100-\U0010ffff])[^<>\n]{1,200}>")
_FIRST_LINES = 20
_SAMPLE_BYTES = 65_536


def is_whatsapp(start: str) -> bool:
    """Whether a text begins as a chat that WhatsApp exported, with a message of somebody."""
    stamps = [found for line in start.splitlines()[:_FIRST_LINES] if (found := _stamp(line))]
    first = next((line for line in start.splitlines() if line.strip()), "")
    return bool(_stamp(first)) and any(_SPEAKER.match(found["rest"]) for found in stamps)


def chat_file(folder: Path) -> Path | None:
    """Return the one chat of WhatsApp in a folder that it was exported to with its media."""
    texts = [path for path in folder.iterdir() if path.suffix.lower() == CHAT_SUFFIX]
    if len(texts) != 1 or not texts[0].is_file():
        return None
    with texts[0].open("rb") as file:
        start = file.read(_SAMPLE_BYTES)
    return texts[0] if is_whatsapp(start.decode("utf-8", "ignore")) else None


def read_whatsapp(source: Path, *, progress: Progress | None = None) -> Iterator[Said | Left]:
    """Yield what was said in a chat that WhatsApp exported; times are taken for UTC.

    The session is the chat, by the name of its file, or of the folder of a `_chat.txt`. A message
    goes on over the lines that have no stamp. What WhatsApp itself tells, and media, are left out.

    Args:
        source: The chat.
        progress: Called with (lines done, to do).

    Raises:
        ConfigError: If it is no such chat or no UTF-8, or if day and month of its dates could be
            swapped.
    """
    try:
        lines = source.read_bytes().decode("utf-8-sig").split("\n")
    except UnicodeDecodeError as error:
        raise ConfigError(f"{source} is not UTF-8 text", hint="export it again") from error
    messages = _messages(lines)
    if not messages:
        raise ConfigError(
            f"{source}:1: it is no chat of WhatsApp",
            hint="a message of one begins as `12/03/2026, 18:04 - Ines: ` or with that in brackets",
        )
    order = _order(source, [stamp for _, stamp, _ in messages])
    name = source.parent.resolve().name if source.stem == "_chat" else source.stem
    session = f"{name} (whatsapp)"
    for line, stamp, words in messages:
        who = _SPEAKER.fullmatch(words)
        text = who["text"].strip("\r\n") if who else ""
        if who is None or text.startswith(("\u200e", "\u200f")):
            yield Left(line, "a message of WhatsApp itself, or a file", is_fault=False)
        else:
            text = "" if _PLACEHOLDER.fullmatch(text.strip()) else text
            speaker = who["name"].strip(_HIDDEN + " ~\xa0\u202f")
            at = _moment(stamp, order)
            yield spoken(line, session, speaker, text, at, origin="whatsapp")
    if progress:
        progress(len(lines), len(lines))


def _stamp(line: str) -> regex.Match[str] | None:
    """Match the beginning of a message, and of no line of a log: `2026-03-12 18:04 - …`."""
    found: regex.Match[str] | None = _STAMP.match(line)
    if found is None or found["open"] or found["comma"]:
        return found
    return None if len(found["one"]) == 4 and found["sign"] == "-" else found


def _messages(lines: Sequence[str]) -> list[tuple[int, regex.Match[str], str]]:
    """Return each message with its line, its stamp and its words, further lines included."""
    found: list[tuple[int, regex.Match[str], list[str]]] = []
    for number, line in enumerate(lines, 1):
        bare = line.removesuffix("\r")
        stamp = _stamp(bare)
        if stamp:
            found.append((number, stamp, [stamp["rest"]]))
        elif found:
            found[-1][2].append(bare)
    return [(number, stamp, "\n".join(words)) for number, stamp, words in found]


def _order(source: Path, stamps: Sequence[regex.Match[str]]) -> str:
    """Return in which order the dates of a chat stand: `dmy`, `mdy` or `ymd`.

    Between day and month the one that cannot be the other decides, or that time goes forward.
    """
    first = stamps[0]
    if len(first["one"]) == 4:
        return "ymd"
    if first["sign"] != "/":
        return "dmy"
    fits = [order for order in ("dmy", "mdy") if all(_moment(stamp, order) for stamp in stamps)]
    if len(fits) == 2:
        days = {order: [_moment(stamp, order) for stamp in stamps] for order in fits}
        forward = [order for order in fits if days[order] == sorted(filter(None, days[order]))]
        fits = forward or fits
        if len(fits) == 2 and days["dmy"] == days["mdy"]:
            fits = ["dmy"]
    if len(fits) != 1:
        raise ConfigError(
            f"{source}: it cannot be told which is the day and which the month of its dates"
            f" ({first['one']}/{first['two']}/{first['three']})",
            hint="export more of the chat, or write its dates as 12.3.2026, the day first",
        )
    return fits[0]


def _moment(stamp: regex.Match[str], order: str) -> datetime | None:
    parts = dict(zip(order, (int(stamp[name]) for name in ("one", "two", "three")), strict=True))
    year = parts["y"] + (2000 if parts["y"] < 100 else 0)
    hour, half = int(stamp["hour"]), (stamp["half"] or "").lower()
    if half:
        hour = hour % 12 + (12 if half == "p" else 0)
    clock = (hour, int(stamp["minute"]), int(stamp["second"] or 0))
    try:
        return datetime(year, parts["m"], parts["d"], *clock, tzinfo=timezone.utc)
    except ValueError:
        return None


# Slack

_USERS = "users.json"
_CHANNELS = ("channels.json", "groups.json", "dms.json", "mpims.json")
_DAY_FILE = regex.compile(r"\d{4}-\d\d-\d\d\.json")
_SPOKEN = (None, "thread_broadcast", "me_message", "file_share", "file_comment")
_REFERENCE = regex.compile(r"<(?P<sign>[@#!]?)(?P<what>[^<>|]+)(?:\|(?P<label>[^<>]*))?>")


def is_slack(folder: Path) -> bool:
    """Whether a folder is what Slack exports of a workspace."""
    named = any((folder / name).is_file() for name in _CHANNELS)
    return named and (folder / _USERS).is_file()


def read_slack(folder: Path, *, progress: Progress | None = None) -> Iterator[Said | Left]:
    """Yield what people said in a workspace that Slack exported, channel by channel.

    A session is a channel, or those who wrote to each other. What bots and Slack itself tell is
    left out; files leave a mark.

    Args:
        folder: With `users.json`, the lists of channels, and a folder for each of them.
        progress: Called with (files done, to do).

    Raises:
        ConfigError: If its users or channels cannot be read.
    """
    users = {key: _name_of(user) for key, user in _by_id(folder / _USERS).items()}
    talks: dict[str, str] = {}
    for file in (folder / name for name in _CHANNELS):
        for key, channel in _by_id(file).items() if file.is_file() else ():
            named, members = channel.get("name"), channel.get("members")
            ids = map(str, members) if isinstance(members, list) else ()
            people = [users.get(member, member) for member in ids]
            is_talk = file.name in ("dms.json", "mpims.json") and people
            talks[str(named or key)] = ", ".join(people) if is_talk else str(named or key)
    files = [file for file in sorted(folder.glob("*/*.json")) if _DAY_FILE.fullmatch(file.name)]
    for number, file in enumerate(files, 1):
        place = file.parent.name
        session = f"{talks.get(place, place)} (slack {place})"
        for item in items_of(file):
            read = _slack_turn(item, users, session)
            yield replace(read, file=f"{place}/{file.name}")
        if progress:
            progress(number, len(files))


def _by_id(file: Path) -> dict[str, Mapping[str, Any]]:
    return {str(e["id"]): e for e in mappings(read_json(file)) if e.get("id")}


def _name_of(user: Mapping[str, Any]) -> str:
    profile = user.get("profile")
    about = profile if isinstance(profile, Mapping) else {}
    given = (about.get("real_name"), user.get("real_name"), about.get("display_name"))
    return str(next(filter(None, (*given, user.get("name"))), user["id"]))


def _slack_turn(item: Item, users: Mapping[str, str], session: str) -> Said | Left:
    value = item.value
    if not isinstance(value, Mapping) or "ts" not in value:
        return Left(item.line, item.problem or "it is no message: it has no ts")
    if value.get("subtype") not in _SPOKEN or not value.get("user") or value.get("bot_id"):
        return Left(item.line, "a message of a bot or of Slack itself", is_fault=False)
    files, who, at = value.get("files"), str(value["user"]), str(value["ts"])
    marks = ["[file not imported]"] * (len(files) if isinstance(files, list) else 0)
    text = "\n\n".join(filter(None, (*marks, _slack_text(str(value.get("text") or ""), users))))
    speaker = users.get(who, who)
    return spoken(item.line, session, speaker, text, parse_moment(at), origin=f"slack:{at}")


def _slack_text(text: str, users: Mapping[str, str]) -> str:
    """Return a text as Slack shows it: people and channels by name, links with labels."""

    def shown(found: regex.Match[str]) -> str:
        sign, what, label = found["sign"], found["what"], found["label"]
        if sign == "@":
            return "@" + (label or users.get(what, what))
        if sign:
            return f"#{label or what}" if sign == "#" else f"@{label or what}".replace("@@", "@")
        address = what.removeprefix("mailto:")
        return address if label in (None, "", what, address) else f"{label} ({what})"

    return html.unescape(_REFERENCE.sub(shown, text))
