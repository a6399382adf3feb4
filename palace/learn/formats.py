"""Which of the forms that can be imported a path holds, told by its content.

In: a file or folder. Out: the name of its format, or an error that says what was looked for.
"""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, get_args

from palace.errors import ConfigError
from palace.learn.chats import CHAT_SUFFIX, chat_file, is_slack, is_whatsapp
from palace.learn.foreign import MESSAGE_TYPES, items_of
from palace.learn.json_stream import UTF16_MARKS, is_json
from palace.learn.keep_notes import is_keep, is_keep_note
from palace.learn.transfer import FOLDERS, FORMAT, OTHER_TEXTS, markdown_files
from palace.types.memory import IDENTITY_FILE, SUFFIX

Format = Literal[
    "markdown",
    "obsidian",
    "turns",
    "export",
    "mem0",
    "chatgpt",
    "claude",
    "keep",
    "langchain",
    "slack",
    "whatsapp",
]
FORMATS: tuple[Format, ...] = get_args(Format)
SUPPORTED = (
    "supported are a folder of Markdown files or an Obsidian vault, a .md file, .jsonl conversation"
    " turns (session, speaker, text, at), a .json export of a palace, and what ChatGPT, Claude,"
    " Google Keep, LangChain, mem0, Slack and WhatsApp export; --format names one where it is not"
    " recognised"
)
_PACKED = "unpack it, and name the folder or the file in it"
_PACKS = (b"PK\x03\x04", b"\x1f\x8b", b"7z\xbc\xaf\x27\x1c", b"Rar!")
RENAMED = (
    "notes are Markdown, plain text too: give the file a name that ends in .md; a conversation"
    " comes as .jsonl turns, one a line: session, speaker, text, at"
)
CONVERSATIONS = "conversations.json"
NOT_NOTES = frozenset({"config", "scratchpad", "journal"})
_SAMPLE_BYTES = 65_536
_LIKE_JSON = re.compile(rb'\{\s*["}]|\[\s*[{\]]')  # "[12.03.26, 18:04] Ines: …" is a chat
# What mem0 has beside the words of a memory; without any, words may be anybody's.
_MEM0_MARKS = ("user_id", "agent_id", "run_id", "hash", "metadata", "categories", "created_at")


def recognise(source: Path) -> Format:
    """Return the format of a file or folder that exists.

    A folder is a vault if it has `.obsidian` and is no palace. One without Markdown of its own is
    an export if it has `conversations.json`, what Slack or Google Keep writes, or one chat of
    WhatsApp. Any other is Markdown. A file named `.md` is Markdown; any other is judged by what it
    begins with.

    Raises:
        ConfigError: If it is nothing of this.
        OSError: If it cannot be read.
    """
    if source.is_dir():
        return _format_of_folder(source)
    if source.suffix.lower() == SUFFIX:
        return "markdown"
    with source.open("rb") as file:
        start = file.read(_SAMPLE_BYTES).removeprefix(BOM_UTF8).lstrip()
    if start.startswith(UTF16_MARKS):
        raise ConfigError(f"{source} is written in UTF-16", hint="save it as UTF-8")
    if not start:
        raise ConfigError(f"{source} is empty: there is nothing in it", hint=SUPPORTED)
    suffix = source.suffix.lower()
    if suffix in (".json", ".jsonl", ".ndjson"):
        if start[:1] not in (b"{", b"["):
            raise ConfigError(f"{source}:1: it is not JSON", hint=SUPPORTED)
    elif not _LIKE_JSON.match(start):
        if suffix == CHAT_SUFFIX and is_whatsapp(start.decode("utf-8", "ignore")):
            return "whatsapp"
        other = _PACKED if start.startswith(_PACKS) else SUPPORTED
        raise ConfigError(
            f"{source} cannot be imported: it is no form I know",
            hint=RENAMED if suffix in OTHER_TEXTS else other,
        )
    if _is_lines(start) or source.suffix.lower() in (".jsonl", ".ndjson"):
        return "turns"
    return _format_of_json(source)


def _format_of_folder(source: Path) -> Format:
    if (source / ".obsidian").is_dir() and not is_palace(source):
        return "obsidian"
    if is_palace(source) or any(entry.suffix.lower() == SUFFIX for entry in source.iterdir()):
        return "markdown"
    if (source / CONVERSATIONS).is_file():
        return recognise(source / CONVERSATIONS)  # more than one program calls its export so
    if is_slack(source):
        return "slack"
    if is_keep(source):
        return "keep"
    return "whatsapp" if chat_file(source) else "markdown"


def is_palace(source: Path) -> bool:
    """Whether a folder is a palace, or the export of one, and not notes with a folder `rooms`.

    It says who it is, or holds its index, or has no notes but in the places of a palace.
    """
    if (source / IDENTITY_FILE).is_file() or (source / ".palace").is_dir():
        return True
    tops = {path.split("/")[0] for path in markdown_files(source)}
    return any((source / name).is_dir() for name in FOLDERS) and tops <= {*FOLDERS, *NOT_NOTES}


def _is_lines(start: bytes) -> bool:
    """Whether a file begins with one whole JSON object on a line, and another one below it."""
    first, _, rest = start.partition(b"\n")
    return first[:1] == b"{" and rest.lstrip()[:1] == b"{" and is_json(first)


def _format_of_json(source: Path) -> Format:
    item = next(items_of(source), None)
    if item is None:
        raise ConfigError(f"{source} is empty: there is nothing in it", hint="export it again")
    if item.problem:
        raise ConfigError(f"{source}:{item.line}: {item.problem}", hint="export it again")
    found = _format_of_item(item.value)
    if found is None:
        raise ConfigError(f"{source}:{item.line}: it is JSON of no form I know", hint=SUPPORTED)
    return found


def _format_of_item(value: Any) -> Format | None:  # noqa: ANN401 - whatever JSON holds
    if not isinstance(value, Mapping):
        return None
    is_message = "lc" in value or "role" in value or ("type" in value and "data" in value)
    is_typed = "content" in value and str(value.get("type")) in MESSAGE_TYPES
    has_words = any(isinstance(value.get(name), str) for name in ("text", "content"))
    is_memory = has_words and any(name in value for name in _MEM0_MARKS)
    signs: tuple[tuple[Format, bool], ...] = (
        ("export", value.get("format") == FORMAT),
        ("turns", {"session", "speaker", "text", "at"} <= set(value)),
        ("chatgpt", isinstance(value.get("mapping"), Mapping)),
        ("claude", isinstance(value.get("chat_messages"), list)),
        ("keep", is_keep_note(value)),
        ("langchain", is_message or is_typed),
        ("mem0", is_memory or isinstance(value.get("memory"), str)),
    )
    return next((form for form, is_one in signs if is_one), None)
