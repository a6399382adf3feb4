"""Read evaluation data by path and open palaces that hold it, through the public API alone.

In: files in LoCoMo's format, labelled prompts as JSONL, folders of notes with cases. Out: values
and open palaces.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from palace import ConversationTurn, Memory, Mempalace, Message, Turn

_DIALOGUE_ID = re.compile(r"D\d+:\d+")
ADVERSARIAL = 5


@dataclass(frozen=True, slots=True)
class Question:
    """A question about a conversation; `evidence` are dialogue ids that exist in it."""

    text: str
    evidence: frozenset[str]
    category: int


@dataclass(frozen=True, slots=True)
class Conversation:
    """One long conversation with its questions; a turn's provenance is its dialogue id."""

    name: str
    speakers: tuple[str, str]
    turns: tuple[ConversationTurn, ...]
    questions: tuple[Question, ...]


@dataclass(frozen=True, slots=True)
class Case:
    """A prompt over notes with the verdict a careful friend would expect."""

    name: str
    turn: Turn
    expect: str
    family: str
    gold: tuple[str, ...]

    def is_gold(self, memory_text: str, source: str) -> bool:
        """Whether a memory, by its text and its `path:line`, is one that answers."""
        path = source.rpartition(":")[0]
        return any(
            path == gold_path and memory_text.startswith(prefix)
            for gold_path, _, prefix in (gold.partition(": ") for gold in self.gold)
        )


def load_locomo(path: Path) -> list[Conversation]:
    """Read conversations in LoCoMo's format.

    A turn is its text and, in brackets, the caption of its picture. Malformed evidence ids are
    repaired: every `D<session>:<turn>` inside an entry counts (`D8:6; D9:17`, `D:11:26` with its
    stray colon), ids that name no turn are dropped.
    """
    return [_conversation(entry) for entry in json.loads(path.read_text("utf-8"))]


def _conversation(entry: dict[str, Any]) -> Conversation:
    spoken = entry["conversation"]
    turns: list[ConversationTurn] = []
    for key, messages in spoken.items():
        if not re.fullmatch(r"session_\d+", key) or not isinstance(messages, list):
            continue
        at = datetime.strptime(f"{spoken[f'{key}_date_time']} +0000", "%I:%M %p on %d %B, %Y %z")
        turns.extend(
            ConversationTurn(
                session=key,
                speaker=message["speaker"],
                text=_said(message),
                at=at,
                provenance=message["dia_id"],
            )
            for message in messages
        )
    known = {turn.provenance for turn in turns}
    return Conversation(
        name=entry["sample_id"],
        speakers=(spoken["speaker_a"], spoken["speaker_b"]),
        turns=tuple(turns),
        questions=tuple(
            Question(item["question"], _evidence(item, known), item["category"])
            for item in entry["qa"]
        ),
    )


def _said(message: dict[str, Any]) -> str:
    caption = message.get("blip_caption")
    return f"{message['text']} [{caption}]" if caption else str(message["text"])


def _evidence(item: dict[str, Any], known: set[str]) -> frozenset[str]:
    found = (
        identifier
        for text in item.get("evidence", ())
        for identifier in _DIALOGUE_ID.findall(str(text).replace("D:", "D"))
    )
    return frozenset(identifier for identifier in found if identifier in known)


def open_conversation(conversation: Conversation, folder: Path) -> Mempalace:
    """Return a palace in `folder` whose timeline is the conversation."""
    palace = Mempalace.open(folder / conversation.name)
    palace.import_turns(conversation.turns)
    return palace


def load_cases(path: Path) -> list[Case]:
    """Read cases: `{id, prompt, history, expect, gold, family, lang}` a line."""
    lines = path.read_text("utf-8").splitlines()
    return [_case(json.loads(line)) for line in lines if line.strip()]


def _case(data: dict[str, Any]) -> Case:
    history = tuple(Message(m["role"], m["content"]) for m in data.get("history", ()))
    return Case(
        name=data["id"],
        turn=Turn(data["prompt"], history=history),
        expect=data["expect"],
        family=data["family"],
        gold=tuple(data.get("gold", ())),
    )


def open_notes(source: Path, folder: Path) -> Mempalace:
    """Return a palace that is a copy of a folder of notes."""
    target = folder / source.name
    shutil.copytree(source, target, copy_function=shutil.copyfile)
    for path in (target, *target.rglob("*")):
        path.chmod(0o700 if path.is_dir() else 0o600)
    return Mempalace.open(target)


def load_prompts(path: Path) -> Iterator[tuple[str, int, str]]:
    """Yield (text, label, source) of labelled prompts."""
    for line in path.read_text("utf-8").splitlines():
        data = json.loads(line)
        yield data["text"], int(data["label"]), data["source"]


def dialogue_ids(memories: list[Memory]) -> list[str]:
    """Return the dialogue ids of timeline memories, in order."""
    return [memory.provenance for memory in memories]
