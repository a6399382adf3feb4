"""The person's own words, found again in what a host sends to a model.

In: messages, a prompt or a template with its arguments. Out: `Asked`: the words to decide on, and
where in the messages they stand. Hosts wrap a question in state, memory blocks, reasoning steps
and prompts; a decision on anything but the words themselves can be talked around.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from itertools import islice, takewhile
from typing import Any

from llama_index.core.agent.workflow.prompts import DEFAULT_STATE_PROMPT
from llama_index.core.base.llms.types import ChatMessage, MessageRole, TextBlock
from llama_index.core.chat_engine.condense_plus_context import DEFAULT_CONDENSE_PROMPT_TEMPLATE
from llama_index.core.chat_engine.condense_question import DEFAULT_TEMPLATE
from llama_index.core.memory.chat_summary_memory_buffer import SUMMARIZE_PROMPT
from llama_index.core.output_parsers.pydantic import PYDANTIC_FORMAT_TMPL
from llama_index.core.prompts import BasePromptTemplate
from llama_index.core.prompts.default_prompts import RANKGPT_RERANK_PROMPT_TMPL
from llama_index.core.retrievers.fusion_retriever import QUERY_GEN_PROMPT

from llama_index_palace.events import NOTHING_NOTED, Noted, noted_verdict
from llama_index_palace.observed import (
    CONVERSATION,
    calls_in,
    is_observation,
    is_result,
    retold,
    tool_texts,
)
from llama_index_palace.structured import NO_ANSWERS, Answers
from llama_index_palace.templates import (
    Purpose,
    Told,
    asked_in_shipped,
    asked_in_template,
    pattern_of,
)
from palace import ConfigError, Message, holds_own_evidence, labelled_questions

_HISTORY_MESSAGES = 12


_SCHEMA = pattern_of(PYDANTIC_FORMAT_TMPL.strip(), schema="(?P<schema>.*)")
_BEFORE_SCHEMA = re.compile(r"\A(?P<words>.+?)" + _SCHEMA + r"\s*\Z", re.DOTALL)
_HAS_SCHEMA = re.compile(_SCHEMA, re.DOTALL)
# What an engine that grades its answers makes of a question for the next try, perhaps of one that
# was tried again already: the bad answer goes after it, or before it. Both are of a model's words,
# the question too where it was rewritten, so each of these marks may be one that a model wrote.
_ASKED_BEFORE = re.compile(r"\n-{8,}\nHere is a previous bad answer\.\n")
_BAD_ANSWER = "Here is a previous bad answer.\n"
_ASKED_AFTER = re.compile(r"\nNow answer the question\.\n")
_MOST_TRIES = 64
# What a reranker says that has the model put passages in order, message by message.
_RANKER = "You are RankGPT, an intelligent assistant that can rank passages"
_RANKED = re.compile(
    pattern_of(RANKGPT_RERANK_PROMPT_TMPL, query="(?P<words>.*)", num=r"\d+"), re.DOTALL
)
# How a memory that condenses old messages hands them over.
_TRANSCRIPT = '"Transcript so far: '
_MEMORY_BLOCK = re.compile(r"\A\s*<memory>.*</memory>\s*\Z", re.DOTALL)
_HISTORY_LINE = re.compile(r"^[^\S\n]*(user|assistant): ", re.MULTILINE)
# What ReActAgent says in the user's role when a step of the model could not be read; what it
# could not read is a part of that step.
_REACT_FORMATS = """
1. To call a tool:
```
Thought: <thought>
Action: <action>
Action Input: <action_input>
```
2. To answer the question:
```
Thought: <thought>
Answer: <answer>
```"""
_REACT_RETRY = re.compile(
    r"\AError while parsing the output: (?:Could not [a-z ]+: )?(?P<step>.*)"
    r"\n\nThe output should be in one of the following formats:"
    rf"{re.escape(_REACT_FORMATS)}\s*\Z",
    re.DOTALL,
)
_REACT_EMPTY = "FAILURE: Your previous response was empty."
# How an agent that writes code has it marked, and what it says in the user's role when it has run.
CODE = "<execute>"
_CODE_RESULT = "Result of executing the code given:\n\n"
_REACT_SAYS = ("Observation: ", "Error while parsing the output: ", _REACT_EMPTY)


@dataclass(frozen=True)
class Asked:
    """What a model call is about.

    Attributes:
        words: The person's own words; the decision is made on them.
        purpose: Who reads what the model says.
        history: Messages before, oldest first.
        program: The program's own messages at the beginning.
        instructions: What these tell the agent that is asked; those of a template tell it nothing.
        place: Index of the message that carries the words, -1 if none does.
        goes_on: Whether anything follows that message: a later call of the same turn.
        noted: The verdict that the last reply after that message notes.
        number: How many messages of the person there are, this one included.
        tool_texts: Results of tools since then.
        retold: A conversation that the host wrote into the message itself, results of tools too.
        further: Further words, decided on too if the first are let through, so that wrapping a
            question does not hide it: the whole of a text that labels its question, what stands
            before the schema that an output parser adds, what an engine tries again, or what the
            person said right before and nobody has replied to.
        beside: What the host sends with the words, documents perhaps; they stand in it too.
        around: The text whose labelled question the words are: what it tells is heard there.
        reasoning: Whether the host expects ReAct steps (`Thought: … Action: … Answer: …`).
        answers: Tools whose call, or whose step, is an answer.
        demanded: Whether the host takes nothing but the object that such a call makes.
        coding: Whether it runs code that stands in the reply.
        schema: The JSON schema of the object that it will read out of the text, if it will.
        may_rewrite: Whether the host may ask the reply next, in the place of the question.
    """

    words: str
    purpose: Purpose = "answer"
    history: tuple[Message, ...] = ()
    program: tuple[ChatMessage, ...] = ()
    instructions: str = ""
    place: int = -1
    goes_on: bool = False
    noted: Noted = NOTHING_NOTED
    number: int = 1
    tool_texts: tuple[str, ...] = ()
    retold: str = ""
    further: tuple[str, ...] = ()
    beside: str = ""
    around: str = ""
    reasoning: bool = False
    answers: Answers = NO_ANSWERS
    demanded: bool = False
    coding: bool = False
    schema: object = None
    may_rewrite: bool = False

    @property
    def turn(self) -> tuple[Any, ...]:
        """What tells this turn from the others of its session, which may have the same words."""
        return self.number, self.words, self.further, self.history

    def besides(self, words: str) -> str:
        """Return what the host sends with words of these, as far as they may ask about it."""
        if self.purpose != "answer":
            return ""
        return without_schema(self.beside.replace(words, "\n")).partition(_BAD_ANSWER)[0].strip()

    @property
    def is_cut_off(self) -> bool:
        """Whether a loop goes on whose question the host no longer sends."""
        is_unknown = self.place < 0 and not self.words
        return is_unknown and bool(self.noted.id) and self.purpose == "answer"

    @property
    def in_schema(self) -> bool:
        """Whether the host will read an object of a schema out of the text."""
        return self.schema is not None


# -- what a template knows -----------------------------------------------------------------------

_TOLD: ContextVar[Told | None] = ContextVar("llama_index_palace_told", default=None)


@contextmanager
def told_by_template(
    prompt: BasePromptTemplate,
    arguments: Mapping[str, Any],
    rewrites: Sequence[re.Pattern[str]] = (),
) -> Iterator[None]:
    """Let the calls inside be decided on the question that a template was given, if it was.

    Args:
        prompt: The template.
        arguments: What it was given.
        rewrites: Templates of hosts of one's own that ask for a rewritten question.

    Raises:
        ConfigError: If it is no template.
    """
    if not isinstance(prompt, BasePromptTemplate):
        raise ConfigError(
            f"{type(prompt).__name__} is no prompt template of LlamaIndex",
            hint='predict takes PromptTemplate("…"); complete takes a text',
        )
    known = (*rewrites, *HOST_REWRITES)
    token = _TOLD.set(asked_in_template(prompt, arguments, known))
    try:
        yield
    finally:
        _TOLD.reset(token)


# -- what messages show --------------------------------------------------------------------------


def asked_in_messages(
    messages: Sequence[ChatMessage],
    *,
    question: str | None = None,
    rewrites: Sequence[re.Pattern[str]] = (),
    models: Collection[str] = (),
) -> Asked:
    """Find what the person asked in the messages of a model call.

    The last message of the user's role that no host wrote: observations and retries of a ReAct
    loop are skipped; memory blocks, agent state and the conversation of a structured reply are
    unwrapped. Without any, the last message that is not the model's own counts, or, where a reply
    tells a verdict, the question that the journal kept under that.

    Args:
        messages: As the host sends them.
        question: The person's words if they are known already.
        rewrites: Prompts that ask for a rewritten question; see `rewrite_pattern`.
        models: Names of tools behind which a model answers.
    """
    place = _own_place(messages)
    if (
        place >= 0
        and not _is_role(messages[place], MessageRole.USER)
        and noted_verdict(messages).id
    ):
        place = -1  # a loop goes on whose question was cut off
    words = _own_words(messages[place]) if place >= 0 else ""
    rewriting = _rewriting(words, rewrites, question)
    if rewriting is not None:
        return rewriting
    before = messages[: max(place, 0)]
    noted = noted_verdict(messages[place + 1 :])
    found = Asked(
        words=words,
        history=_history(before),
        program=tuple(takewhile(is_program, before)),
        beside="\n".join([*(m.content or "" for m in before if is_program(m)), words]),
        place=place,
        goes_on=place < len(messages) - 1 if place >= 0 else bool(noted.id),
        noted=noted,
        number=1 + sum(_is_role(m, MessageRole.USER) for m in before),
        tool_texts=tool_texts(messages[place + 1 :], models),
        retold=retold(messages[place]) if place >= 0 else "",
        reasoning=_is_taught(messages, _is_react_text),
        coding=_is_taught(messages, _is_code_text),
        schema=_wanted_schema(*(m.content or "" for m in (*messages[:1], *messages[-1:]))),
    )
    told = _told_by_messages(messages, words)
    if told is not None:
        found = replace(found, words=told.words, purpose=told.purpose)
        if told.purpose != "answer":  # the messages before are what it works on
            return _known_better(replace(found, history=(), number=1), question)
    else:
        said = "\n".join(message.content or "" for message in found.program)
        found = replace(found, instructions=said)
    said_before = _unanswered(before)
    if words.startswith(_REACT_SAYS):
        said_before = [m.content for m in found.history[::-1] if m.role == "user"][:1]
    if said_before:
        found = replace(found, further=tuple(said_before))
    return _known_better(found, question)


def asked_in_prompt(
    prompt: str, *, question: str | None = None, rewrites: Sequence[re.Pattern[str]] = ()
) -> Asked:
    """Find what the person asked in the prompt of a completion.

    Args:
        prompt: As the host sends it.
        question: The person's words if they are known already.
        rewrites: Prompts that ask for a rewritten question; see `rewrite_pattern`.
    """
    rewriting = _rewriting(prompt, rewrites, question)
    if rewriting is not None:
        return rewriting
    told = asked_in_shipped(without_schema(prompt))
    found = Asked(told.words, told.purpose) if told else _last_of_text(prompt)
    found = replace(
        found, reasoning=_is_react_text(prompt), schema=_wanted_schema(prompt), beside=prompt
    )
    return _known_better(found, question)


def _rewriting(
    text: str, rewrites: Sequence[re.Pattern[str]], question: str | None
) -> Asked | None:
    """Return the question that a text has rewritten, None if it asks for something else."""
    match = next((m for form in rewrites if (m := form.match(text))), None)
    if match is None:
        return None
    found = Asked(question or match["question"].strip(), "rewrite")
    return _after(found, match.groupdict().get("chat_history") or "")


def _last_of_text(prompt: str) -> Asked:
    """Return the last question of a conversation that is written down as one text, or the text.

    Where anything stands before that question, the text is decided on too: a person may have
    written a line that looks like the host's.
    """
    told = prompt.strip()
    said = told.removesuffix("\nassistant:").rstrip()
    history = _history_of_text(said) if said != told else ()
    if not history or history[-1].role != "user":
        return Asked(prompt)
    words = history[-1].content
    alone = said == f"user: {words}"
    found = Asked(words, further=() if alone else (prompt,))
    return _after(found, said.removesuffix(words))


def rewrite_pattern(template: str) -> re.Pattern[str]:
    """Return what matches a rewrite prompt with `{question}` and perhaps `{chat_history}`.

    Raises:
        ConfigError: If the template has no `{question}`.
    """
    if template.count("{question}") != 1:
        raise ConfigError(
            f"the rewrite prompt {template[:80]!r} does not name {{question}} once",
            hint="pass a list of templates as the host has them, each with {question}",
        )
    pieces = re.split(r"\{(\w+)\}", template)
    pattern = "".join(
        re.escape(piece) if number % 2 == 0 else rf"(?P<{piece}>.*?)"
        for number, piece in enumerate(pieces)
    )
    # A shortest first group keeps all the person's words in the last one, whatever they contain.
    return re.compile(rf"\A\s*{pattern.strip()}\s*\Z", re.DOTALL)


HOST_REWRITES = (
    rewrite_pattern(DEFAULT_CONDENSE_PROMPT_TEMPLATE.strip()),
    rewrite_pattern(DEFAULT_TEMPLATE.strip()),
    rewrite_pattern(QUERY_GEN_PROMPT.replace("{query}", "{question}").strip()),
)
_STATE = re.compile(
    r"\A" + pattern_of(DEFAULT_STATE_PROMPT, state=r"\{.*?\}", msg="(?P<words>.*)") + r"\Z",
    re.DOTALL,
)


def _known_better(found: Asked, question: str | None) -> Asked:
    told = _TOLD.get()
    if told is not None:
        found = replace(found, words=told.words, purpose=told.purpose, further=())
        found = replace(_after(found, told.chat_history), may_rewrite=told.may_rewrite)
    if question is not None:
        return replace(found, words=question, further=())
    if holds_own_evidence(found.words):  # somebody has decided on its parts
        return found
    shown = _shown_questions(found.words)
    # The other words of a template would blur it.
    order = [*shown, found.words] if found.purpose == "answer" else [found.words, *shown]
    words, *further = dict.fromkeys((*order, *_parts_of(found.words), *found.further))
    if words == found.words and tuple(further) == found.further:
        return found  # most prompts show no other question
    around = found.words if words != found.words else ""
    return replace(found, words=words, further=tuple(further), around=around)


def _after(found: Asked, said: str) -> Asked:
    """Return a question as it is asked after what was said, as hosts write that down."""
    history = _history_of_text(said)
    if not history:
        return found
    number = 1 + sum(m.role == "user" for m in history)
    return replace(found, history=history[-_HISTORY_MESSAGES:], number=number)


def _shown_questions(words: str) -> list[str]:
    """Return what a longer text shows to be its question, if it shows one."""
    return [*labelled_questions(without_schema(words).strip())]


def _parts_of(words: str) -> Iterator[str]:
    """Yield what else may be the question in a longer text."""
    # Without a schema in it, every word of a long text would be tried for the last before one.
    if _HAS_SCHEMA.search(words) and (match := _BEFORE_SCHEMA.match(words)):
        yield match["words"].rstrip()
    yield from islice(_tried_again(words), _MOST_TRIES)


def _tried_again(words: str) -> Iterator[str]:
    """Yield what may be the question that an engine tries again, the innermost first."""
    ends = [len(words), *(m.start() for m in _ASKED_BEFORE.finditer(words))]
    starts = [0]
    if words.startswith(_BAD_ANSWER):
        starts += [m.end() for m in _ASKED_AFTER.finditer(words)]
    for start in reversed(starts):
        yield from (part for end in reversed(ends) if (part := words[start:end]) not in ("", words))


def _told_by_messages(messages: Sequence[ChatMessage], words: str) -> Told | None:
    """Return what a host asks in messages of its own making, None if it made none of them."""
    first = messages[0].content if messages and _is_role(messages[0], MessageRole.SYSTEM) else None
    if first == SUMMARIZE_PROMPT and words.startswith(_TRANSCRIPT):
        return Told("", "inner")
    if first is not None and first.startswith(_RANKER) and (ranked := _RANKED.fullmatch(words)):
        return Told(ranked["words"], "inner")
    return asked_in_shipped(without_schema(words))


def _unanswered(before: Sequence[ChatMessage]) -> list[str]:
    """Return what the person said last, newest first, with no reply to it."""
    words: list[str] = []
    for message in reversed(before[-_HISTORY_MESSAGES:]):
        if _is_role(message, MessageRole.USER):
            words.append(_own_words(message))
        elif not (is_program(message) or is_result(message) or _leaves_open(message)):
            break
    return words


def _leaves_open(message: ChatMessage) -> bool:
    """Whether a message is a model's and no reply: it says nothing, or calls tools on evidence.

    A loop that rests on a memory may be broken off before it has replied. What it calls in any
    other turn may have done what was asked.
    """
    if not _is_role(message, MessageRole.ASSISTANT):
        return False
    if any(calls_in(message)):
        return noted_verdict([message]).action == "ground"
    has_parts = any(not isinstance(block, TextBlock) for block in message.blocks)
    return not (has_parts or (message.content or "").strip())


def _own_place(messages: Sequence[ChatMessage]) -> int:
    for place in range(len(messages) - 1, -1, -1):
        if _is_role(messages[place], MessageRole.USER) and not _is_of_host(messages, place):
            return place
    others = (MessageRole.ASSISTANT, MessageRole.TOOL, MessageRole.FUNCTION)
    return next((i for i in range(len(messages) - 1, -1, -1) if messages[i].role not in others), -1)


def _is_of_host(messages: Sequence[ChatMessage], place: int) -> bool:
    """Whether a loop of ReAct or of code wrote this message of the user's role.

    Read narrowly: what a person types must never pass for a message of the host.
    """
    if place == 0 or not _is_role(messages[place - 1], MessageRole.ASSISTANT):
        return False
    text, step = messages[place].content or "", messages[place - 1].content or ""
    if text.startswith(_CODE_RESULT):
        return _is_taught(messages, _is_code_text) and CODE in step
    if not _is_taught(messages, _is_react_text):
        return False
    if is_observation(messages[place]):
        return "Action:" in step and "Answer:" not in step
    if not step:
        return text.startswith(_REACT_EMPTY)
    retry = _REACT_RETRY.match(text)
    return retry is not None and retry["step"].strip() in step


def _own_words(message: ChatMessage) -> str:
    texts = [b.text for b in message.blocks if isinstance(b, TextBlock)]
    if texts and texts[0].startswith(CONVERSATION):
        return _last_of_conversation(texts)
    own = [t for t in texts if not _MEMORY_BLOCK.match(t)] or texts
    return "\n".join(_without_state(t) for t in own)


def _without_state(text: str) -> str:
    match = _STATE.match(text)
    return match["words"] if match else text


def _last_of_conversation(texts: Sequence[str]) -> str:
    """Return the user's last message of a conversation that a host wrote block by block."""
    words: list[str] = []
    inside = False
    for text in texts:
        if text == "\t<user>\n":
            words, inside = [], True
        elif text == "\t</user>\n":
            inside = False
        elif inside:
            words.append(text.strip().removeprefix("<message>").removesuffix("</message>"))
    own = [w for w in words if not _MEMORY_BLOCK.match(w)] or words or list(texts)
    return "\n".join(_without_state(w) for w in own)


def _history(before: Sequence[ChatMessage]) -> tuple[Message, ...]:
    # From the newest on, so that a long conversation does not cost more than a short one.
    said = (
        Message(m.role.value, _own_words(m) if _is_role(m, MessageRole.USER) else content)
        for m in reversed(before)
        if m.role in (MessageRole.USER, MessageRole.ASSISTANT) and (content := m.content)
    )
    return tuple(islice(said, _HISTORY_MESSAGES))[::-1]


def _history_of_text(text: str) -> tuple[Message, ...]:
    pieces = _HISTORY_LINE.split(text)
    roles, contents = pieces[1::2], pieces[2::2]
    said = [Message(r, c.strip()) for r, c in zip(roles, contents, strict=True) if c.strip()]
    return tuple(said)


def _is_taught(messages: Sequence[ChatMessage], form: Callable[[str], bool]) -> bool:
    """Whether a host asks for replies of a form."""
    return any(form(m.content or "") for m in messages if _is_role(m, MessageRole.SYSTEM))


def _is_react_text(text: str) -> bool:
    return "Thought:" in text and "Action Input:" in text and "Answer:" in text


def _is_code_text(text: str) -> bool:
    return "<execute>...</execute>" in text


def without_schema(text: str) -> str:
    """Return a text without what an output parser has put into it: its words claim nothing."""
    return _HAS_SCHEMA.sub("", text)


def without_tries(text: str) -> str:
    """Return a question that is tried again without the tries: a model wrote what stands there."""
    last = _ASKED_AFTER.split(text)[-1] if text.startswith(_BAD_ANSWER) else text
    return _ASKED_BEFORE.split(last)[0]


def _wanted_schema(*texts: str) -> object:
    """Return the schema of an object that an output parser has put into one of these texts."""
    found = next((match for text in texts if (match := _HAS_SCHEMA.search(text))), None)
    if found is None:
        return None
    text = found["schema"].strip()
    if text.startswith("{{"):  # as it stands in a template, also where that is formatted already
        text = text.replace("{{", "{").replace("}}", "}")
    try:
        return json.loads(text)
    except ValueError:
        return {}


def is_program(message: ChatMessage) -> bool:
    """Whether a message is the program's own."""
    return message.role in (MessageRole.SYSTEM, MessageRole.DEVELOPER)


def _is_role(message: ChatMessage, role: MessageRole) -> bool:
    return message.role == role
