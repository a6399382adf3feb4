"""What LangChain's retrievers ask a model on the way to documents: no reply to a person.

In: the text of a prompt. Out: the question in it, and what to say where no model may be asked: the
question as it is, or that no document is relevant. Said in words, a miss would become a query or a
document.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from langchain_palace.messages import SOURCE
from langchain_palace.session import Call
from palace import rewritten_question


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
        return self.instead in (_NO_TOOLS, _NO_DOCUMENTS)


def errand_in(text: str) -> Errand | None:
    """Return the errand that a prompt is, None if it is none that is known."""
    said = " ".join(text.split())  # a prompt's line ends are where its program put them
    for form in _FORMS:
        question = form.question_in(said)
        if question is not None:
            return Errand(question, form.instead)
    rewritten = rewritten_question(text)
    return Errand(rewritten, _as_asked) if rewritten else None


def errand_of(texts: Iterable[str]) -> Errand | None:
    """Return the errand that messages are.

    Args:
        texts: What the person says last, and what the program itself says.
    """
    return next(filter(None, map(errand_in, texts)), None)


def is_clerical(texts: Iterable[str], call: Call) -> bool:
    """Whether a program has documents or an old conversation worked over: nobody asks anything.

    LangChain's middleware marks such calls; its chains and memories are known by their words.

    Args:
        texts: What the person says last, and what the program itself says.
        call: Where the call comes from.
    """
    if (call.config.get("metadata") or {}).get(SOURCE) in _CLERICAL_CALLS:
        return True
    return any(_CLERICAL.search(" ".join(text.split())) for text in texts)


def _as_asked(question: str) -> str:
    return question


def _always(reply: str) -> Callable[[str], str]:
    return lambda _question: reply


_NO_TOOLS = _always('{"tools": []}')
_NO_DOCUMENTS = _always('{"ranked_document_ids": []}')


def _no_filter(question: str) -> str:
    return _in_json(query=question, filter="NO_FILTER")


def _default_route(question: str) -> str:
    return _in_json(destination="DEFAULT", next_inputs=question)


def _in_json(**values: str) -> str:
    return f"```json\n{json.dumps(values, ensure_ascii=False)}\n```"


@dataclass(frozen=True, slots=True)
class _Form:
    """A prompt as it ships, with a few words of one's own within; looked for in linear time.

    Attributes:
        begins: What it begins with; ends of lines and blanks are one blank.
        instead: Returns the reply that changes nothing.
        mark: What stands before the question, `None` where there is no question in it.
        ends: What stands behind the question.
        last: Whether the last such mark counts and the text ends there: documents before it may
            hold the same words, and behind the first one they cannot pass for a question.
        bare: Whether it may also have no question.
        holds: Folded words that it holds wherever it begins; they are found in a fiftieth of the
            time.
    """

    begins: re.Pattern[str]
    instead: Callable[[str], str]
    mark: str | None = None
    ends: str = ""
    last: bool = False
    bare: bool = False
    holds: str = ""

    def question_in(self, text: str) -> str | None:
        """Return the question of a text of this form, "" where it has none, None of another."""
        if self.holds and self.holds not in text.casefold():
            return None
        found = self.begins.search(text)
        if found is None:
            return None
        if self.mark is None:
            return ""
        question = self._after(text, found.end())
        return "" if question is None and self.bare else question

    def _after(self, text: str, start: int) -> str | None:
        mark = self.mark or ""
        at = text.rfind(mark, start) if self.last else text.find(mark, start)
        if at < 0:
            return None
        at += len(mark)
        if self.last or not self.ends:
            ends = text.endswith(self.ends) and len(text) - len(self.ends) >= at
            return text[at : len(text) - len(self.ends)].strip() if ends else None
        end = text.find(self.ends, at)
        return text[at:end].strip() if end >= 0 else None


def _begins(words: str) -> re.Pattern[str]:
    return re.compile(rf"\A{words}", re.IGNORECASE)


_FORMS = (
    _Form(
        _begins(
            r"Given the following question and context, extract any part of the context"
            r" \*AS IS\* that is relevant to answer the question\. If none of the context is"
            r" relevant return NO_OUTPUT\. Remember, \*DO NOT\* edit the extracted parts of the"
            r" context\. > Question:"
        ),
        _always("NO_OUTPUT"),
        mark=" ",
        ends=" > Context: >>>",
    ),
    _Form(
        _begins(
            r"Given the following question and context, return YES if the context is relevant to"
            r" the question and NO if it isn't\. > Question:"
        ),
        _always("NO"),
        mark=" ",
        ends=" > Context: >>>",
    ),
    _Form(
        _begins(
            r"You are an? .{0,60}assistant\. Your task is to generate \w+ different versions of"
            r" the given user question to retrieve "
        ),
        _as_asked,
        mark=" Original question: ",
    ),
    _Form(
        _begins(
            r"You are an assistant tasked with taking a natural language query from a user and"
            r" converting it into a query for a vectorstore\. "
        ),
        _as_asked,
        mark=" Here is the user query: ",
    ),
    _Form(
        _begins(r"Please write a [\w ]{0,60}passage .{0,60}?(?:Question|Topic|Claim):"),
        _as_asked,
        mark=" ",
        ends=" Passage:",
    ),
    _Form(
        _begins(
            r"Given the following conversation and a follow up question, rephrase the follow up"
            r" question to be a standalone question"
        ),
        _as_asked,
        mark=" Follow Up Input: ",
        ends=" Standalone question:",
        last=True,
    ),
    _Form(
        _begins(
            r"Your goal is to structure the user's query to match the request schema provided"
            r" below\."
        ),
        _no_filter,
        mark=" User Query: ",
        ends=" Structured Request:",
        last=True,
    ),
    _Form(
        _begins(
            r"Given a (?:raw text input to a language model|query to a question answering system)"
            r" select the "
        ),
        _default_route,
        mark=" << INPUT >> ",
        ends=" << OUTPUT",
    ),
    _Form(
        _begins(
            r"Use the following portion of a long document to see if any of the text is relevant"
            r" to answer the question\."
        ),
        _always(""),
        mark=" Question: ",
        ends=" Relevant text, if any:",
        last=True,
        bare=True,
    ),
    _Form(
        _begins(r"Your goal is to select the most relevant tools for answering the user's query"),
        _NO_TOOLS,
    ),
    _Form(
        re.compile(
            r" Documents = \[[^\]]{0,80}\] Sort the Documents by their relevance to the Query\.\Z"
        ),
        _NO_DOCUMENTS,
    ),
    # The tutorials' own, which stand beside the person's message.
    _Form(
        re.compile(
            r"\b(?:formulate|rephrase|reformulate|rewrite|generate|create)\b.{0,120}\bstandalone"
            r" (?:question|query)\b.{0,200}\b(?:do not|don't|never) (?:try to )?answer"
            r" (?:the|it|this)\b",
            re.IGNORECASE,
        ),
        _as_asked,
        holds="standalone",
    ),
    _Form(
        _begins(r"Given the above conversation, generate a search query to look up\b"), _as_asked
    ),
)

# What has text worked over: a miss said in words would become a summary, a name or a tool's result.
_CLERICAL_CALLS = frozenset({"summarization", "tool_emulation"})
_CLERICAL = re.compile(
    r"\A(?:Write a concise summary of the following: \".* CONCISE SUMMARY:\Z"
    r"|Your job is to produce a final summary\. We have provided an existing summary up to "
    r"|Progressively summarize the lines of conversation provided, adding onto the previous"
    r" summary returning a new summary\. "
    r"|You are an AI assistant reading the transcript of a conversation between an AI and a human\."
    r" Extract all of the proper nouns "
    r"|You are an AI assistant helping a human keep track of facts about relevant people, places,"
    r" and concepts in their life\. Update the summary of the provided entity "
    r"|You are a networked intelligence helping a human track knowledge triples "
    r"|You are a smart assistant designed to help high school teachers come up with reading"
    r" comprehension questions\.)"
)
