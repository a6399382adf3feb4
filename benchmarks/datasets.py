"""Read evaluation data by path and open palaces that hold it, through the public API alone.

In: files in LoCoMo's format, labelled prompts as JSONL, folders of notes with cases. Out: values
and open palaces.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from itertools import cycle
from pathlib import Path
from typing import Any

from palace import ConversationTurn, Mempalace, Message, Turn, Verdict
from palace.learn.moment import parse_moment

_UNDATED = datetime(2000, 1, 1, tzinfo=timezone.utc)
_BESIDE_THE_WORDS = re.compile(r"\A\s*(?:[-*+]|\d+[.)])\s|<!--.*", re.DOTALL)
_PARAGRAPH = re.compile(r"\A|\n[ \t]*\n")
_DIALOGUE_ID = re.compile(r"D\s*:?\s*(\d+)\s*:\s*(\d+)", re.IGNORECASE)
_VERDICTS = ("ground", "fallback", "pass")
ADVERSARIAL = 5


class BadDataError(ValueError):
    """A file of data is not in the format that is read; says which one, where and why."""


@contextmanager
def reading(place: str) -> Iterator[None]:
    """Tell where data stands that is not as it should be."""
    try:
        yield
    except KeyError as error:
        raise BadDataError(f"{place}: {error} is missing") from error
    except (ValueError, TypeError, AttributeError) as error:
        raise BadDataError(f"{place}: {error}") from error


def json_lines(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield (place, object) of a file of JSON lines; blank ones are left out."""
    with reading(str(path)):
        lines = path.read_text("utf-8-sig").split("\n")
    for number, line in enumerate(lines, 1):
        if line.strip():
            place = f"{path}, line {number}"
            with reading(place):
                data = json.loads(line)
                if not isinstance(data, dict):
                    raise TypeError("is no JSON object")
            yield place, data


@dataclass(frozen=True, slots=True)
class Question:
    """A question about a conversation; `evidence` are dialogue ids that exist in it."""

    text: str
    evidence: frozenset[str]
    category: int


@dataclass(frozen=True, slots=True)
class Conversation:
    """One long conversation with its questions; a turn's provenance is its dialogue id.

    Of `undated` sessions no date can be read; they are taken to be of the day of the one before.
    """

    name: str
    speakers: tuple[str, ...]
    turns: tuple[ConversationTurn, ...]
    questions: tuple[Question, ...]
    undated: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Case:
    """A prompt over notes with the verdict a careful friend would expect."""

    name: str
    turn: Turn
    expect: str
    family: str
    gold: tuple[str, ...]

    def is_gold(self, memory_text: str, source: str) -> bool:
        """Whether a memory, by its text and its `path:line`, is one that answers.

        A gold is cut from a memory, or a later paragraph of it, that is joined to one line: where
        lines end does not count, nor do a marker of a list and a comment with an id.
        """
        path = source.rpartition(":")[0]
        golds = (gold.partition(": ") for gold in self.gold)
        begun = tuple(_in_one_line(prefix) for gold_path, _, prefix in golds if gold_path == path)
        return bool(begun) and any(
            _in_one_line(memory_text[paragraph.end() :]).startswith(begun)
            for paragraph in _PARAGRAPH.finditer(memory_text)
        )


def _in_one_line(text: str) -> str:
    return " ".join(_BESIDE_THE_WORDS.sub("", text).split())


def load_locomo(path: Path) -> list[Conversation]:
    """Read conversations in LoCoMo's format.

    A turn is its text and, in brackets, the caption of its picture. Malformed evidence ids are
    repaired: every `D<session>:<turn>` inside an entry counts (`D8:6; D9:17`, `D:11:26` with its
    stray colon, `D30:05` with its stray zero, `d4: 2`), ids that name no turn are dropped. A date
    may have any form that names one day; who speaks is a speaker, named as one or not.

    Raises:
        BadDataError: If the file is in another format.
    """
    with reading(str(path)):
        entries = json.loads(path.read_text("utf-8-sig"))
    if not isinstance(entries, list):
        raise BadDataError(f"{path}: is no list of conversations")
    if not entries:
        raise BadDataError(f"{path}: holds no conversation")
    found: dict[str, Conversation] = {}
    for number, entry in enumerate(entries, 1):
        with reading(f"{path}, conversation {number}"):
            name = text_of(entry, "sample_id")
            spoken, asked = entry["conversation"], entry["qa"]
        if name in found:
            raise BadDataError(f"{path}: two conversations are called {name!r}")
        found[name] = _conversation(f"{path}, {name!r}", name, spoken, asked)
    return list(found.values())


def _conversation(
    place: str, name: str, spoken: dict[str, Any], asked: Sequence[dict[str, Any]]
) -> Conversation:
    sessions = _sessions(place, spoken)
    read = {key: parse_moment(spoken.get(f"{key}_date_time")) for key in sessions}
    at = next((moment for moment in read.values() if moment), _UNDATED)
    turns: list[ConversationTurn] = []
    known: dict[tuple[int, int], str] = {}
    for key, messages in sessions.items():
        at = read[key] or at
        for number, message in enumerate(messages, 1):
            with reading(f"{place}, {key}, turn {number}"):
                named = text_of(message, "dia_id")
                known[_dialogue_id(named)] = named
                speaker = text_of(message, "speaker")
                turns.append(ConversationTurn(key, speaker, _said(message), at, named))
    questions = []
    if not isinstance(asked, list):
        raise BadDataError(f"{place}: qa is no list of questions")
    for number, item in enumerate(asked, 1):
        with reading(f"{place}, question {number}"):
            questions.append(
                Question(text_of(item, "question"), _evidence(item, known), _category(item))
            )
    people = [spoken.get("speaker_a"), spoken.get("speaker_b"), *(turn.speaker for turn in turns)]
    return Conversation(
        name=name,
        speakers=tuple(dict.fromkeys(one for one in people if one and isinstance(one, str))),
        turns=tuple(turns),
        questions=tuple(questions),
        undated=tuple(key for key, moment in read.items() if moment is None),
    )


def _sessions(place: str, spoken: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """Return the sessions in which something was said, in the order of their numbers."""
    with reading(place):
        said = [key for key, messages in spoken.items() if isinstance(messages, list) and messages]
    numbers = {key: found for key in said if (found := re.fullmatch(r"session_(\d+)", key))}
    return {key: spoken[key] for key in sorted(numbers, key=lambda key: int(numbers[key][1]))}


def text_of(data: dict[str, Any], key: str) -> str:
    """Return a text of an object; one that is none, or missing, is an error."""
    if not isinstance(data, dict):
        raise TypeError(f"is no JSON object: {data!r}")
    value = data[key]
    if not isinstance(value, str):
        raise TypeError(f"{key} is no text: {value!r}")
    return value


def _said(message: dict[str, Any]) -> str:
    caption = message.get("blip_caption")
    if not caption:
        return text_of(message, "text")
    return f"{message.get('text') or ''} [{caption}]".lstrip()


def _category(item: dict[str, Any]) -> int:
    category = int(item["category"])
    if not 1 <= category <= ADVERSARIAL:
        raise ValueError(f"category {category} is none of 1 to {ADVERSARIAL}")
    return category


def _evidence(item: dict[str, Any], known: dict[tuple[int, int], str]) -> frozenset[str]:
    found = _DIALOGUE_ID.findall(str(item.get("evidence")))
    named = ((int(session), int(turn)) for session, turn in found)
    return frozenset(known[one] for one in named if one in known)


def _dialogue_id(text: str) -> tuple[int, int]:
    found = _DIALOGUE_ID.fullmatch(text)
    if found is None:
        raise ValueError(f"{text!r} is no id of a turn, such as D1:2")
    return int(found[1]), int(found[2])


def swapped(text: str, theirs: Sequence[str], ours: Sequence[str]) -> str:
    """Return a question with the names of one conversation's speakers put for another's."""
    put = dict(zip(theirs, cycle(ours), strict=False))
    if not put:
        return text
    names = "|".join(re.escape(name) for name in sorted(put, key=len, reverse=True))
    return re.sub(rf"(?<!\w)(?:{names})(?!\w)", lambda found: put[found[0]], text)


def place_of(conversation: Conversation, folder: Path) -> Path:
    """Return where in `folder` its palace goes; any text may be the name of a conversation."""
    digest = hashlib.sha256(conversation.name.encode("utf-8", "surrogatepass")).hexdigest()
    return folder / f"{re.sub('[^a-zA-Z0-9]+', '-', conversation.name)[:40]}-{digest[:8]}"


def open_for_turns(root: Path) -> Mempalace:
    """Return a new palace that redacts what looks like a secret instead of refusing all turns."""
    settings = root / "config" / "mempalace.yaml"
    settings.parent.mkdir(parents=True)
    settings.write_text("write:\n  secrets: redact\n", "utf-8")
    return Mempalace.open(root)


def open_conversation(conversation: Conversation, folder: Path) -> Mempalace:
    """Return a palace in `folder` whose timeline is the conversation."""
    palace = open_for_turns(place_of(conversation, folder))
    palace.import_turns(conversation.turns)
    return palace


def open_together(conversations: Iterable[Conversation], root: Path) -> Mempalace:
    """Return a palace whose timeline is all of some conversations."""
    palace = open_for_turns(root)
    for conversation in conversations:
        palace.import_turns(marked(conversation))
    return palace


def marked(conversation: Conversation) -> list[ConversationTurn]:
    """Return the turns with sessions and ids that stay apart in a merged palace."""
    return [
        replace(
            turn,
            session=f"{conversation.name} {turn.session}",
            provenance=f"{conversation.name}/{turn.provenance}",
        )
        for turn in conversation.turns
    ]


def load_cases(path: Path) -> list[Case]:
    """Read cases: `{id, prompt, history, expect, gold, family, lang}` a line.

    Raises:
        BadDataError: If a line is in another format, or there is none.
    """
    cases = []
    for place, data in json_lines(path):
        with reading(place):
            cases.append(_case(data))
    if not cases:
        raise BadDataError(f"{path}: holds no case")
    return cases


def _case(data: dict[str, Any]) -> Case:
    if data["expect"] not in _VERDICTS:
        raise ValueError(f"expect {data['expect']!r} is none of {', '.join(_VERDICTS)}")
    gold = data.get("gold") or ()
    if not isinstance(gold, (list, tuple)) or not all(isinstance(one, str) for one in gold):
        raise TypeError(f"gold is no list of texts: {gold!r}")
    history = tuple(
        Message(text_of(said, "role"), text_of(said, "content"))
        for said in data.get("history") or ()
    )
    return Case(
        name=str(data["id"]),
        turn=Turn(text_of(data, "prompt"), history=history),
        expect=data["expect"],
        family=text_of(data, "family"),
        gold=tuple(gold),
    )


def cases_of(palace: Path) -> Path:
    """Return the file of cases that stands beside a folder `palace_NAME`."""
    return palace.with_name(f"cases_{palace.name.removeprefix('palace_')}.jsonl")


def notes_in(folder: Path) -> list[tuple[Path, list[Case]]]:
    """Return the palaces `palace_NAME` of a folder with their cases, by name.

    Raises:
        BadDataError: If there is none, one is none, or cases are missing or in another format.
    """
    found = sorted(folder.glob("palace_*"))
    if not found:
        raise BadDataError(f"{folder}: holds no folder palace_NAME")
    for path in found:
        check_notes(path)
    return [(path, load_cases(cases_of(path))) for path in found]


def check_notes(source: Path) -> None:
    """Look whether a folder is one of notes.

    Raises:
        BadDataError: If it is none.
    """
    if not any((source / name).is_dir() for name in ("rooms", "timeline", "playbooks")):
        raise BadDataError(f"{source}: is no palace, it has none of rooms, timeline and playbooks")


def open_notes(source: Path, folder: Path, *, among: Iterable[Path] = ()) -> Mempalace:
    """Return a palace that is a copy of a folder of notes, perhaps with those of others beside.

    Raises:
        BadDataError: If a folder is none.
    """
    check_notes(source)
    target = folder / source.resolve().name
    shutil.copytree(source, target, copy_function=shutil.copyfile, ignore_dangling_symlinks=True)
    for other in among:
        check_notes(other)
        _lay_beside(other, target)
    for path in (target, *target.rglob("*")):
        path.chmod(0o700 if path.is_dir() else 0o600)
    return Mempalace.open(target)


def _lay_beside(source: Path, target: Path) -> None:
    """Put the notes of one palace into another: rooms and playbooks under names of their own."""
    name = source.resolve().name
    for path in sorted(source.rglob("*.md")):
        kind, *inside = path.relative_to(source).parts
        if kind not in ("rooms", "timeline", "playbooks") or not inside:
            continue
        if kind != "timeline":  # of one day there is one page
            inside[0] = f"{name}-{inside[0]}"
        placed = target.joinpath(kind, *inside)
        placed.parent.mkdir(parents=True, exist_ok=True)
        before = f"{placed.read_text('utf-8')}\n" if placed.exists() else ""
        placed.write_text(before + path.read_text("utf-8"), "utf-8")


def take_back(palace: Mempalace, verdict: Verdict) -> None:
    """Take back what a prompt told the memory: the next one is asked of the palace as it was."""
    for write in reversed(verdict.written):
        if write.status == "corrected":
            palace.undo()
        elif write.status == "stored":
            palace.erase(write.memory_id)  # a palace without a journal cannot undo


def load_prompts(path: Path) -> Iterator[tuple[str, int, str]]:
    """Yield (text, label, source) of labelled prompts.

    Raises:
        BadDataError: If a line is in another format, or there is none.
    """
    place = ""
    for place, data in json_lines(path):
        with reading(place):
            text, label, source = text_of(data, "text"), data["label"], text_of(data, "source")
            if label not in (0, 1, "0", "1"):
                raise ValueError(f"label {label!r} is neither 0 nor 1")
        yield text, int(label), source
    if not place:
        raise BadDataError(f"{path}: holds no prompt")
