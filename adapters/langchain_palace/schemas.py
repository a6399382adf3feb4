"""Prompts that say in which form the answer is wanted, as output parsers put it.

In: messages or a text. Out: the schema where a parser wants one, and what stands beside its
instructions.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence

from langchain_core.messages import BaseMessage

from langchain_palace.messages import asking_index, is_system, text_of
from palace import holds_own_evidence, labelled_questions, works_on_given_words

# What `get_format_instructions` returns: for JSON and what is like it the shape, with a schema.
_JSON = (
    r"Return a JSON object\."
    r"|(?:STRICT OUTPUT FORMAT:\n.{0,2000}?)?The output should be (?:formatted"
    r" as a JSON instance|a markdown code snippet formatted in the following schema).{0,2000}?"
    r"(?:Here is the output schema[^\n]*:\n```\n|```json\n).*?(?:\n```|\Z)"
)
_OTHERS = (
    r"The output should be formatted as a XML file.{0,2000}?"
    r"Here are the output tags[^\n]*:\n```\n.*?(?:\n```|\Z)"
    r"|Your response should be a (?:list of comma separated values|markdown list), eg: `[^`]*`"
    r"(?: or `[^`]*`)?"
    r"|Your response should be a numbered list with each item on a new line\. For example: \n\n"
    r"1\. foo\n\n2\. bar\n\n3\. baz"
)
# A chain that asks each document alone reads the score behind an answer.
_SCORED = (
    r"also return a score of how fully it answered the user's question\. This should be in the"
    r" following format:"
)
_WANTS_FORM = re.compile(rf"{_JSON}|{_SCORED}", re.DOTALL)
_SCHEMA = re.compile(r"Here is the output schema[^\n]*:\n```\n(?P<schema>\{.*?\})\n```", re.DOTALL)
# What a chain says that has an answer refined with one document after another.
_REFINED = re.compile(
    r"The original question is as follows: (?P<words>.+?)\nWe have provided an existing answer: ",
    re.DOTALL,
)
# A conversation as `get_buffer_string` and others write it down.
_OTHERS_LABEL = r"(?:System|AI|Assistant|Tool|Function):"
_PERSON = re.compile(r"^(?:Human|User):", re.MULTILINE)
_REPLY = re.compile(r"^(?:AI|Assistant|Tool|Function):[ \t]*\S", re.MULTILINE)
_OTHERS_TURN = re.compile(rf"^{_OTHERS_LABEL}", re.MULTILINE)
_TO_BE_CONTINUED = re.compile(r"\n(?:AI|Assistant):\s*\Z")
_WRITTEN_DOWN = re.compile(rf"\s*(?:{_OTHERS_LABEL}|(?:Human|User):)")
# How a parser has a reply put right that it could not read, without a word of what was asked.
_FIXED = "\nCompletion:\n--------------\n"
_FIX = "\n\nAbove, the Completion did not satisfy the constraints given in the Instructions.\n"
_INSTRUCTIONS = re.compile(rf"{_JSON}|{_OTHERS}", re.DOTALL)
# Each of them holds one of these words, which are found in a hundredth of the time.
_MARKS = (
    "Return a JSON object.",
    "The output should be ",
    "Your response should be a ",
    "also return a score of ",
)


def template_questions(text: str) -> tuple[str, ...]:
    """Return what a template labels as the question in a longer text, if it does.

    In a conversation that is written down as one text that is what the person says last, be it in
    several lines. The prompt of another wrapper around this one has been decided on.
    """
    if holds_own_evidence(text):
        return ()
    if refined := _REFINED.match(text):
        return (refined["words"],)
    return labelled_questions(text) or tuple(filter(None, [_said_last(text)]))


def _said_last(text: str) -> str:
    """Return what the person says last in a conversation that is written down, or "".

    What has its reply there already is not asked again.
    """
    if not (_WRITTEN_DOWN.match(text) or _TO_BE_CONTINUED.search(text)):
        return ""
    *before, said = _PERSON.split(text)
    if not before or _REPLY.search(said):
        return ""
    return _OTHERS_TURN.split(said, maxsplit=1)[0].strip()


def wanted_schema(messages: Sequence[BaseMessage]) -> object:
    """Return the schema of what an output parser will read out of the reply to messages.

    It is None where none will, and empty where the prompt does not say it or it is no JSON.
    """
    index = asking_index(messages)
    told = [m for m in messages if is_system(m)]
    texts = [text_of(m) for m in (told if index is None else [*told, messages[index]])]
    wanted = next((t for t in texts if _may_instruct(t) and _WANTS_FORM.search(t)), None)
    if wanted is None:
        return None
    found = _SCHEMA.search(wanted)
    try:
        return json.loads(found["schema"]) if found else {}
    except ValueError:
        return {}


def is_fixing(text: str, reply: str) -> bool:
    """Whether a parser wants a reply in another form; there is none for a miss said in words."""
    return f"{_FIXED}{reply}" in text and _FIX in text


def without_instructions(text: str) -> str:
    """Return a text without the instructions of an output parser: their words claim nothing."""
    return _INSTRUCTIONS.sub("", text) if _may_instruct(text) else text


def _may_instruct(text: str) -> bool:
    return any(mark in text for mark in _MARKS)


def questions_in(text: str) -> Iterator[str]:
    """Yield what stands beside the instructions of a parser, if the whole text asks nothing."""
    pieces = _INSTRUCTIONS.split(text) if _may_instruct(text) else ()
    asking = len(pieces) > 1 and not works_on_given_words(without_instructions(text))
    for piece in map(str.strip, pieces if asking else ()):
        yield from labelled_questions(piece)
        if piece:
            yield piece.rpartition("\n")[2]  # "Answer the query." before it is not of the question
            yield piece
