"""What LangChain's retrievers ask a model on the way to documents: no reply to a person.

In: the text of a prompt. Out: the question in it, and what to say where no model may be asked: the
question as it is, or that no document is relevant. Said in words, a miss would become a query or a
document.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from langchain_core.messages import BaseMessage

from langchain_palace.messages import is_system, text_of


@dataclass(frozen=True, slots=True)
class Errand:
    """A prompt whose reply is read by a program.

    Attributes:
        question: The person's words in it, "" where it has none.
        instead: Returns the reply that changes nothing, given the person's words.
    """

    question: str
    instead: Callable[[str], str]

    @property
    def chooses(self) -> bool:
        """Whether the reply is a choice among what the program offers, in a schema."""
        return self.instead is _no_tools


def errand_in(text: str) -> Errand | None:
    """Return the errand that a prompt is, None if it is none that is known."""
    for pattern, instead in _ERRANDS:
        found = pattern.search(text)
        if found:
            return Errand((found.groupdict().get("question") or "").strip(), instead)
    return None


def errand_of(messages: Sequence[BaseMessage], index: int) -> Errand | None:
    """Return the errand that messages are.

    Args:
        messages: What a model is asked.
        index: Where the last message of the person stands.
    """
    told = [m for m in messages if is_system(m)]
    texts = dict.fromkeys(text_of(m) for m in [messages[index], *told])
    return next(filter(None, map(errand_in, texts)), None)


def _as_asked(question: str) -> str:
    return question


def _no_part(_question: str) -> str:
    return "NO_OUTPUT"


def _no_text(_question: str) -> str:
    return ""


def _no_tools(_question: str) -> str:
    return '{"tools": []}'


def _not_relevant(_question: str) -> str:
    return "NO"


def _no_filter(question: str) -> str:
    return _in_json(query=question, filter="NO_FILTER")


def _default_route(question: str) -> str:
    return _in_json(destination="DEFAULT", next_inputs=question)


def _in_json(**values: str) -> str:
    return f"```json\n{json.dumps(values, ensure_ascii=False)}\n```"


def _prompt(words: str) -> re.Pattern[str]:
    """Read the words of a prompt: ends of lines and blanks are one, `{q}` stands for a question."""
    spaced = re.sub(r"\s+", r"\\s+", words)
    return re.compile(spaced.replace("{q}", "(?P<question>.*?)"), re.DOTALL | re.IGNORECASE)


# As they ship, and a few words of one's own within. Documents stand behind the question where there
# are any: what they say cannot pass for one.
_ERRANDS = (
    (
        _prompt(
            r"\AGiven the following question and context, extract any part of the context"
            r" \*AS IS\* that is relevant to answer the question\. If none of the context is"
            r" relevant return NO_OUTPUT\. Remember, \*DO NOT\* edit the extracted parts of the"
            r" context\. > Question: {q} > Context: >>>"
        ),
        _no_part,
    ),
    (
        _prompt(
            r"\AGiven the following question and context, return YES if the context is relevant to"
            r" the question and NO if it isn't\. > Question: {q} > Context: >>>"
        ),
        _not_relevant,
    ),
    (
        _prompt(
            r"\AYou are an? .{0,60}assistant\. Your task is to generate \w+ different versions of"
            r" the given user question to retrieve .*? Original question: {q}\s*\Z"
        ),
        _as_asked,
    ),
    (
        _prompt(
            r"\AYou are an assistant tasked with taking a natural language query from a user and"
            r" converting it into a query for a vectorstore\. .*? Here is the user query: {q}\s*\Z"
        ),
        _as_asked,
    ),
    (
        _prompt(
            r"\APlease write a [\w ]*passage .{0,60}?(Question|Topic|Claim): {q} Passage:\s*\Z"
        ),
        _as_asked,
    ),
    (
        _prompt(
            r"\AGiven the following conversation and a follow up question, rephrase the follow up"
            r" question to be a standalone question.* Follow Up Input: {q}"
            r" Standalone question:\s*\Z"
        ),
        _as_asked,
    ),
    (
        _prompt(
            r"\AYour goal is to structure the user's query to match the request schema provided"
            r" below\..* User Query: {q} Structured Request:\s*\Z"
        ),
        _no_filter,
    ),
    (
        _prompt(
            r"\AGiven a (raw text input to a language model|query to a question answering system)"
            r" select the .* << INPUT >> {q} << OUTPUT"
        ),
        _default_route,
    ),
    (
        _prompt(
            r"\AUse the following portion of a long document to see if any of the text is relevant"
            r" to answer the question\.(.* Question: {q} Relevant text, if any:\s*\Z)?"
        ),
        _no_text,
    ),
    (
        _prompt(r"\AYour goal is to select the most relevant tools for answering the user's query"),
        _no_tools,
    ),
    # The tutorials' own, which stand beside the person's message.
    (
        _prompt(
            r"\b(formulate|rephrase|reformulate|rewrite|generate|create)\b.{0,120}\bstandalone"
            r" (question|query)\b.{0,200}\b(do not|don't|never) (try to )?answer (the|it|this)\b"
        ),
        _as_asked,
    ),
    (
        _prompt(r"\AGiven the above conversation, generate a search query to look up\b"),
        _as_asked,
    ),
)
