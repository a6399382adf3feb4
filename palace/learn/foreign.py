"""What other programs export, read as turns and drafts: ChatGPT, Claude, LangChain and mem0.

In: a JSON file. Out: for every message or memory, what it becomes here, or why it does not. Nothing
is written, judged or redacted here.
"""

from __future__ import annotations

import io
import json
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

import regex

from palace.errors import ConfigError
from palace.learn.json_stream import Item, stream_items
from palace.learn.moment import parse_moment
from palace.ports import Progress
from palace.types.memory import Draft
from palace.types.session import ConversationTurn

MAX_WHOLE_BYTES = 256 * 1024 * 1024
_MAX_NAME_CHARS = 60
_LISTS = ("results", "memories", "messages", "conversations")
_LIST = regex.compile(rf'"(?:{"|".join(_LISTS)})"\s*+:\s*+(?=\[)'.encode())
_ROLES = {
    **dict.fromkeys(("human", "user", "HumanMessageChunk", "humanchunk"), "user"),
    **dict.fromkeys(("ai", "assistant", "AIMessageChunk", "aichunk"), "assistant"),
}
MESSAGE_TYPES = frozenset(_ROLES) | {"system", "tool", "function", "developer", "chat", "generic"}
"""What LangChain calls the type of a message; other programs have messages with a type, too."""
_ATTACHED = "[{} not imported]"
_MARK = regex.compile(r"\((?:chatgpt|claude) [^()]{1,8}\)\Z")


@dataclass(frozen=True, slots=True)
class Left:
    """Something that becomes nothing here.

    Attributes:
        line: Of the file, 1-based.
        reason: For a person.
        is_fault: Whether it should have become something; else it was left out on purpose.
        file: What the source calls the file, if it has several.
    """

    line: int
    reason: str
    is_fault: bool = True
    file: str = ""


@dataclass(frozen=True, slots=True)
class Said:
    """A turn, and whether the source says when it was said; else it has the file's own time."""

    line: int
    turn: ConversationTurn
    is_dated: bool = True
    file: str = ""


@dataclass(frozen=True, slots=True)
class Known:
    """A memory of another program, and the drawer it belongs to."""

    line: int
    draft: Draft
    drawer: str


def items_of(source: Path, *, progress: Progress | None = None) -> Iterator[Item]:
    """Yield the elements of a JSON list, or of the one list in a JSON object.

    A list is streamed. An object is read whole, up to 256 MB; one without a list of elements is
    an element itself.

    Raises:
        ConfigError: If an object is too large or not JSON.
    """
    size = source.stat().st_size
    with source.open("rb") as file:
        start = file.read(4096).removeprefix(BOM_UTF8).lstrip()[:1]
        file.seek(0)
        if start == b"[":
            for item in stream_items(file):
                yield item
                if progress:
                    progress(min(item.end, size), size)
            return
    if size > MAX_WHOLE_BYTES:
        raise ConfigError(
            f"{source} has {size} bytes in one object, at most {MAX_WHOLE_BYTES} are read",
            hint="export it as a list, or in parts",
        )
    members, lines = _members(read_json(source)), []
    if len(members) > 1:
        lines = _lines_of(members, source.read_bytes())
    for number, value in enumerate(members):
        yield Item(lines[number] if lines else 1, value)
    if progress:
        progress(size, size)


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Turn what the operating system refuses of a file that a person named into a `ConfigError`."""
    try:
        yield
    except OSError as error:
        hint = "check its permissions"
        if isinstance(error, FileNotFoundError):
            hint = "check its name and its folder"
        elif isinstance(error, IsADirectoryError):
            hint = "it is a folder: name a file in it"
        file = error.filename or path  # of a folder it may be a file in it
        raise ConfigError(f"{file} cannot be read: {error.strerror or error}", hint=hint) from error


def read_json(source: Path) -> Any:  # noqa: ANN401 - whatever JSON holds
    """Return what a file of JSON holds.

    Raises:
        ConfigError: If it is no JSON in UTF-8; names the line.
    """
    try:
        return json.loads(source.read_bytes().decode("utf-8-sig"))
    except json.JSONDecodeError as error:
        raise ConfigError(
            f"{source}:{error.lineno}: it is not JSON: {error.msg}",
            hint="export it again; the file may be cut off",
        ) from error
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{source}:1: it is not JSON in UTF-8", hint="export it again") from error


def _members(value: object) -> list[Any]:
    if isinstance(value, Mapping) and "format" not in value:
        inner = value.get("kwargs") if isinstance(value.get("kwargs"), Mapping) else value
        for name in _LISTS:
            found = inner.get(name) if isinstance(inner, Mapping) else None
            if isinstance(found, list):
                return found
            if isinstance(found, Mapping) and isinstance(found.get("results"), list):
                return list(found["results"])
    return [value]


def _lines_of(members: list[Any], data: bytes) -> list[int]:
    """Return the line that each member of an inner list begins at; [] if the list is not found."""
    for found in _LIST.finditer(data):
        items = list(stream_items(io.BytesIO(data[found.end() :])))
        if [item.value for item in items] == members:
            before = data.count(b"\n", 0, found.end())
            return [before + item.line for item in items]
    return []


def mappings(value: object) -> list[Mapping[str, Any]]:
    """Return the objects in a list, as far as it is one."""
    return [e for e in value if isinstance(e, Mapping)] if isinstance(value, list) else []


def spoken(
    line: int, session: str, speaker: str, text: str, at: datetime | None, *, origin: str
) -> Said | Left:
    """Return a message as a turn; without words or a time it becomes none."""
    if not text.strip():
        return Left(line, "a message without words", is_fault=False)
    if at is None:
        return Left(line, "a message that nobody knows the time of")
    return Said(line, ConversationTurn(session, speaker, text, at, provenance=origin))


def _origin(program: str, identifier: object) -> str:
    return f"{program}:{identifier}" if identifier else program


# ChatGPT


def read_chatgpt(items: Iterator[Item], *, sessions: Iterable[str] = ()) -> Iterator[Said | Left]:
    """Yield what a person and ChatGPT said, the branch of each conversation that is shown last.

    A session is a conversation, named after its title and the beginning of its id. Tool calls,
    hidden messages and other branches are left out; images and files leave a mark.

    Args:
        items: The conversations.
        sessions: Names that are taken already; a conversation that got another title since then
            keeps the one it came with.
    """
    named = _named(sessions)
    seen: set[int] = set()
    for item in items:
        value = item.value
        mapping = value.get("mapping") if isinstance(value, Mapping) else None
        if not isinstance(mapping, Mapping):
            yield Left(item.line, item.problem or "it is no conversation: it has no mapping")
            continue
        identifier = str(value.get("conversation_id") or value.get("id") or "")
        session = _session("chatgpt", identifier, value.get("title"), named, line=item.line)
        at = parse_moment(value.get("create_time"))
        for message in _branch(mapping, value.get("current_node")):
            read = _chatgpt_turn(message, session, at, item.line)
            if isinstance(read, Said):
                at = read.turn.at
                if message.get("id") and hash(read.turn) in seen:
                    read = Left(item.line, "a message that stands there twice", is_fault=False)
                else:
                    seen.add(hash(read.turn))
            yield read


def _named(sessions: Iterable[str]) -> dict[str, str]:
    """Return the sessions that are taken already by the mark that each ends with."""
    return {found[0]: session for session in sessions if (found := _MARK.search(session))}


def _session(
    program: str, identifier: str, title: object, named: Mapping[str, str], *, line: int
) -> str:
    """Return what a conversation is called; by its id it keeps the name it came with."""
    mark = f"({program} {identifier[:8] or line})"
    words = " ".join(str(title or "").split())[:_MAX_NAME_CHARS]
    session = f"{words or 'Untitled'} {mark}"
    return named.get(mark, session) if identifier else session


def _branch(mapping: Mapping[str, Any], current: object) -> list[Mapping[str, Any]]:
    """Return the messages from the first one to the current node, or to the last leaf."""
    nodes = {key: node for key, node in mapping.items() if isinstance(node, Mapping)}
    if current not in nodes:
        leaves = [key for key, node in nodes.items() if not node.get("children")]
        current = leaves[-1] if leaves else None
    messages: list[Mapping[str, Any]] = []
    seen: set[object] = set()
    while current in nodes and current not in seen:
        seen.add(current)
        node = nodes[str(current)]
        if isinstance(node.get("message"), Mapping):
            messages.append(node["message"])
        current = node.get("parent")
    return messages[::-1]


def _chatgpt_turn(
    message: Mapping[str, Any], session: str, before: datetime | None, line: int
) -> Said | Left:
    author = message.get("author")
    role = author.get("role") if isinstance(author, Mapping) else None
    about = message.get("metadata")
    hidden = isinstance(about, Mapping) and about.get("is_visually_hidden_from_conversation")
    to_tool = message.get("recipient") not in (None, "all")
    if role not in ("user", "assistant") or hidden or to_tool:
        return Left(line, "a message of a tool or the system", is_fault=False)
    content = message.get("content")
    words = _chatgpt_text(content) if isinstance(content, Mapping) else ""
    text = "\n\n".join(filter(None, (*_chatgpt_files(about), words)))
    at = parse_moment(message.get("create_time")) or before
    origin = _origin("chatgpt", message.get("id"))
    return spoken(line, session, str(role), text, at, origin=origin)


def _chatgpt_text(content: Mapping[str, Any]) -> str:
    if content.get("content_type") not in ("text", "multimodal_text", "code"):
        return ""
    parts = content.get("parts")
    said = parts if isinstance(parts, list) else [content.get("text")]
    return "\n\n".join(text for part in said if (text := _part_text(part)))


def _chatgpt_files(about: object) -> Iterator[str]:
    """Yield a mark for each file that was attached; images stand among the parts."""
    attached = about.get("attachments") if isinstance(about, Mapping) else None
    for file in attached if isinstance(attached, list) else ():
        kind = file.get("mime_type") if isinstance(file, Mapping) else None
        if not str(kind).startswith("image/"):
            yield _ATTACHED.format("file")


def _part_text(part: object) -> str:
    """Return the words of a part of a message; what has none leaves a mark."""
    if isinstance(part, str):
        return part
    if not isinstance(part, Mapping):
        return ""
    if isinstance(part.get("text"), str):
        return str(part["text"])
    kind = str(part.get("content_type") or part.get("type") or "attachment")
    if kind in ("tool_use", "tool_call", "thinking", "reasoning"):
        return ""
    return _ATTACHED.format(kind.replace("_asset_pointer", "").replace("_url", ""))


# Claude


def read_claude(items: Iterator[Item], *, sessions: Iterable[str] = ()) -> Iterator[Said | Left]:
    """Yield what a person and Claude said, as `read_chatgpt` does.

    Where messages name the one before them, those that lead to the last one are taken, else all.
    Thoughts and the use of tools are left out; images and files leave a mark.

    Args:
        items: The conversations.
        sessions: As there.
    """
    named = _named(sessions)
    for item in items:
        value = item.value
        found = value.get("chat_messages") if isinstance(value, Mapping) else None
        if not isinstance(found, list):
            yield Left(item.line, item.problem or "it is no conversation: it has no chat_messages")
            continue
        identifier = str(value.get("uuid") or "")
        session = _session("claude", identifier, value.get("name"), named, line=item.line)
        messages = mappings(found)
        shown = _shown(messages)
        at = parse_moment(value.get("created_at"))
        for message in messages:
            read = _claude_turn(message, session, at, item.line)
            if id(message) not in shown:
                read = Left(item.line, "a message of another branch", is_fault=False)
            elif isinstance(read, Said):
                at = read.turn.at
            yield read


def _shown(messages: list[Mapping[str, Any]]) -> set[int]:
    """Return which messages lead to the last one; all of them if that is not told throughout."""
    by_id = {message.get("uuid"): message for message in messages}
    current = messages[-1] if messages else None
    branch: list[Mapping[str, Any]] = []
    while current is not None and len(branch) < len(messages):
        branch.append(current)
        current = by_id.get(current.get("parent_message_uuid"))
    begins = bool(branch) and branch[-1] is messages[0]
    return {id(message) for message in (branch if begins else messages)}


def _claude_turn(
    message: Mapping[str, Any], session: str, before: datetime | None, line: int
) -> Said | Left:
    role = _ROLES.get(str(message.get("sender")))
    if role is None:
        return Left(line, "a message of a tool or the system", is_fault=False)
    parts = [p for p in mappings(message.get("content")) if p.get("type") in ("text", "voice_note")]
    told = [part["text"] for part in parts if isinstance(part.get("text"), str)]
    words = "\n\n".join(told) or str(message.get("text") or "")
    files = [message.get(name) for name in ("attachments", "files")]
    count = sum(len(named) for named in files if isinstance(named, list))
    text = "\n\n".join(filter(None, (*[_ATTACHED.format("file")] * count, words)))
    at = parse_moment(message.get("created_at")) or before
    return spoken(line, session, role, text, at, origin=_origin("claude", message.get("uuid")))


# LangChain


def read_langchain(items: Iterator[Item], *, session: str, at: datetime) -> Iterator[Said | Left]:
    """Yield what was said in messages that LangChain wrote.

    Read are `messages_to_dict` and the files of its file history (`type`, `data`), `dumpd`
    (`lc`, `kwargs`) and plain `role`, `content`. System and tool messages are left out.

    Args:
        items: The messages.
        session: The session they are of.
        at: When they were said, for messages without a time of their own.
    """
    for item in items:
        message = _message_fields(item.value)
        if message is None:
            yield Left(item.line, item.problem or "it is no message: it has no type and content")
            continue
        # A message of a role that somebody chose has a type that says nothing: `chat`, `message`.
        named = (_ROLES.get(str(message.get(name))) for name in ("type", "role"))
        role = next(filter(None, named), None)
        if role is None:
            yield Left(item.line, "a message of a tool or the system", is_fault=False)
            continue
        content = message.get("content")
        parts = content if isinstance(content, list) else [content]
        text = "\n\n".join(words for part in parts if (words := _part_text(part)))
        own, speaker = _time_of(message), str(message.get("name") or role)
        origin = _origin("langchain", message.get("id"))
        read = spoken(item.line, session, speaker, text, own or at, origin=origin)
        yield replace(read, is_dated=own is not None) if isinstance(read, Said) else read


def _message_fields(value: object) -> Mapping[str, Any] | None:
    if not isinstance(value, Mapping):
        return None
    inner: Mapping[str, Any] = value
    for name in ("data", "kwargs"):
        if isinstance(value.get(name), Mapping):
            inner = {"type": value.get("type"), **value[name]}
            if inner["type"] == "constructor":
                named = value.get("id") or ["?"]
                inner = {**inner, "type": str(named[-1]).replace("Message", "").lower()}
            break
    known = "content" in inner and (inner.get("type") or inner.get("role"))
    return inner if known else None


def _time_of(message: Mapping[str, Any]) -> datetime | None:
    for place in ("additional_kwargs", "response_metadata"):
        about = message.get(place)
        if isinstance(about, Mapping):
            for name in ("timestamp", "created_at", "created"):
                at = parse_moment(about.get(name))
                if at is not None:
                    return at
    return parse_moment(message.get("created_at") or message.get("timestamp"))


# mem0


def read_mem0(items: Iterator[Item]) -> Iterator[Known | Left]:
    """Yield the memories of a mem0 export, as `get_all` returns them.

    A memory keeps its words, its times and, as its provenance, its id; whose it is names the
    drawer; `categories` and `metadata.category` become tags. A model wrote these words, so they
    are an agent's, which a person's word overrules.
    """
    for item in items:
        value = item.value if isinstance(item.value, Mapping) else {}
        text = next((value[k] for k in ("memory", "text", "content") if value.get(k)), None)
        if not isinstance(text, str):
            yield Left(item.line, item.problem or "it is no memory: it has no words")
            continue
        owner = next((value[k] for k in ("user_id", "agent_id", "run_id") if value.get(k)), "")
        identifier = value.get("id") or value.get("hash") or ""
        created = parse_moment(value.get("created_at"))
        updated = parse_moment(value.get("updated_at"))
        draft = Draft(
            text=text,
            trust="agent",
            provenance=_origin("mem0", identifier),
            tags=tuple(dict.fromkeys(_mem0_tags(value))),
            created=created or updated,
            valid_from=updated if updated != created else None,
            session=str(value.get("run_id") or ""),
        )
        yield Known(item.line, draft, str(owner) or "memories")


def _mem0_tags(value: Mapping[str, Any]) -> Iterator[str]:
    about = value.get("metadata")
    given = [value.get("categories"), about.get("category") if isinstance(about, Mapping) else None]
    for named in given:
        for tag in named if isinstance(named, list) else [named]:
            if isinstance(tag, str) and tag.strip():
                yield "-".join(tag.split()).lstrip("#")
