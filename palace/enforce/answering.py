"""The trip from a verdict to an answer, as plain code that asks for its model calls.

In: a verdict and what the model replies. Out: an `Answer`. Nothing here knows a framework: a host
runs the generator, makes each `ModelCall` its own way and sends the `ModelReply` back.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, get_args

from palace.arguments import check_choice
from palace.enforce.grounding import MODES, AnswerCheck, CheckedAnswer, Mode
from palace.enforce.prompt import context_prompt, grounded_prompt, quote_prompt, shown_text
from palace.enforce.quoting import QUOTE_SCHEMA, QuoteReply, parse_quote, verify_quotes
from palace.enforce.replies import quote_evidence
from palace.text.echoes import without_replies
from palace.types.verdict import FALLBACK_TEXT, Verdict

QuoteCalls = Literal["one", "two"]
Steps = Generator["ModelCall", "ModelReply", "Answer"]


@dataclass(frozen=True, slots=True)
class AnswerOptions:
    """How answers are made; see the `answers:` settings.

    Attributes:
        mode: What happens with unsupported text of a grounded answer.
        quote_calls: `one`: the answer comes with the quote; `two`: it is written in a call of its
            own, from the quoted memory alone.
        fallback_text: The reply when the model declines.
        context_budget_tokens: Most estimated tokens of evidence in one message, or None.
        identity: Text of L0; an answer may use its words.

    Raises:
        ConfigError: If `mode` or `quote_calls` is none of these.
    """

    mode: Mode = "replace"
    quote_calls: QuoteCalls = "two"
    fallback_text: str = FALLBACK_TEXT
    context_budget_tokens: int | None = None
    identity: str = ""

    def __post_init__(self) -> None:
        check_choice("mode", self.mode, MODES)
        check_choice("quote_calls", self.quote_calls, get_args(QuoteCalls))


@dataclass(frozen=True, slots=True)
class ModelCall:
    """A call that the host must make.

    Attributes:
        purpose: `quote` (pointing, never shown) or `answer` (written for the person).
        user_text: Replaces the text of the last user message.
        schema: Set: ask for this tool or JSON if the model can; `user_text` also tells how to
            reply in plain words.
    """

    purpose: Literal["quote", "answer"]
    user_text: str
    schema: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class ModelReply:
    """What the model replied.

    Attributes:
        text: Its text, "" if there is none.
        arguments: Arguments of the tool call that `ModelCall.schema` asked for, if it made one.
        has_tool_calls: Whether it calls tools of the host, which must run before there is an
            answer.
    """

    text: str = ""
    arguments: Mapping[str, Any] | None = None
    has_tool_calls: bool = False


@dataclass(frozen=True, slots=True)
class Answer:
    """What may be released.

    Attributes:
        text: The reply.
        verdict: The verdict it rests on; after a verified quote, the `ground` verdict on the
            quoted memory, or memories; after a failed one, a `fallback` verdict.
        checked: The check of the model's words, where one was made.
        model_calls: How many calls were made.
        passed_through: Whether the model's own message goes on as it is: the prompt was no recall,
            or the model calls tools of the host first (then only its text is replaced by `text`).
    """

    text: str
    verdict: Verdict
    checked: CheckedAnswer | None = None
    model_calls: int = 0
    passed_through: bool = False


def answer_steps(
    verdict: Verdict,
    *,
    question: str,
    options: AnswerOptions,
    asked: str | None = None,
    wake_up: str = "",
    also: Sequence[str] = (),
) -> Steps:
    """Yield the model calls of a turn and return its answer.

    `fallback` and `answer` make no call. `pass` and `generate` make one, whose reply goes on
    unchecked. `ground` makes one, checked. `confirm` makes the quote call; without a verified
    quote the reply is the fallback, and nothing the model said is released. What it writes about
    a quoted memory is always checked, and unsupported text always replaced, whatever the mode.

    Args:
        verdict: What the enforcer decided.
        question: The person's own words.
        options: How answers are made.
        asked: What of these words an answer may repeat, if not all.
        wake_up: What the session starts with, on its first turn.
        also: Further texts whose words an answer may use, e.g. results of tools in this turn.
    """
    if verdict.action in ("fallback", "answer"):
        return Answer(verdict.text or options.fallback_text, verdict)
    if verdict.action in ("confirm", "ground"):
        asked = question if asked is None else asked
        turn = _Asking(question, asked, options, wake_up=wake_up, also=tuple(also))
        made = _confirmed if verdict.action == "confirm" else _grounded
        return (yield from made(verdict, turn))
    text = context_prompt(
        question, verdict, wake_up=wake_up, budget_tokens=options.context_budget_tokens
    )
    reply = yield ModelCall("answer", text)
    return Answer(reply.text, verdict, model_calls=1, passed_through=True)


def confirm_steps(
    verdict: Verdict, *, question: str, options: AnswerOptions
) -> Generator[ModelCall, ModelReply, Verdict]:
    """Yield the quote call of a `confirm` verdict and return what it proved.

    For tool loops, streams and structured output: run it before the host's own call. Any other
    verdict is returned as it is, without a call.

    Returns:
        A `ground` verdict on the quoted memory, or a `fallback` verdict with its reply. Where the
        question asks for several things it may be more than one.
    """
    proved, _ = yield from _pointed(verdict, question, options)
    return proved


def answer_check(
    verdict: Verdict, *, question: str, options: AnswerOptions, also: Sequence[str] = ()
) -> AnswerCheck:
    """Return the check for answers to a `ground` verdict.

    After a near miss that was confirmed the check is strict, and always in the mode `replace`.
    Else what stands beside a question that may ask about it is a source, too. What the model said
    in a conversation that is written down there, or with the question, is none.
    """
    unclear = verdict.outcome == "near_miss"
    beside = "" if unclear or verdict.signal.own else verdict.turn.beside
    return AnswerCheck(
        verdict.evidence,
        without_replies(question),
        identity=options.identity,
        fallback_text=options.fallback_text,
        mode="replace" if unclear else options.mode,
        strict=unclear,
        also=(
            *also,
            *filter(None, [without_replies(beside)]),
            *(shown_text(item) for item in verdict.reminders),
            *(write.text for write in verdict.written),
        ),
    )


def _pointed(
    verdict: Verdict, question: str, options: AnswerOptions
) -> Generator[ModelCall, ModelReply, tuple[Verdict, QuoteReply | None]]:
    """Yield the quote call; return what it proved and the reply, None where nothing is proved."""
    if verdict.action != "confirm":
        return verdict, None
    text = quote_prompt(
        question, verdict, in_words=True, budget_tokens=options.context_budget_tokens
    )
    reply = yield ModelCall("quote", text, QUOTE_SCHEMA)
    parsed = parse_quote(reply.text if reply.arguments is None else reply.arguments)
    quoted = verify_quotes(parsed, verdict.evidence)
    if not verdict.signal.several:
        quoted = quoted[:1]
    if not quoted:
        text = verdict.text or options.fallback_text
        return replace(verdict, action="fallback", text=text), None
    proved = replace(verdict, action="ground", layer=quoted[0].layer, evidence=quoted)
    return replace(proved, text=quote_evidence(proved.evidence)), parsed


class _Asking(NamedTuple):
    """What a verdict is answered with; see `answer_steps`."""

    question: str
    asked: str
    options: AnswerOptions
    wake_up: str
    also: tuple[str, ...]


def _confirmed(verdict: Verdict, turn: _Asking) -> Steps:
    proved, reply = yield from _pointed(verdict, turn.question, turn.options)
    if reply is None:
        return Answer(proved.text, proved, model_calls=1)
    if turn.options.quote_calls == "one":
        check = answer_check(proved, question=turn.asked, options=turn.options)
        checked = check.check(reply.answer)
        return Answer(checked.text, proved, checked, model_calls=1)
    answer = yield from _grounded(proved, turn)
    return replace(answer, model_calls=2)


def _grounded(verdict: Verdict, turn: _Asking) -> Steps:
    options, wake_up = turn.options, turn.wake_up
    text = grounded_prompt(
        turn.question, verdict, wake_up=wake_up, budget_tokens=options.context_budget_tokens
    )
    reply = yield ModelCall("answer", text)
    if reply.has_tool_calls and not reply.text.strip():
        return Answer("", verdict, model_calls=1, passed_through=True)
    sources = (*turn.also, wake_up) if wake_up else turn.also
    check = answer_check(verdict, question=turn.asked, options=options, also=sources)
    checked = check.check(reply.text)
    return Answer(
        checked.text, verdict, checked, model_calls=1, passed_through=reply.has_tool_calls
    )
