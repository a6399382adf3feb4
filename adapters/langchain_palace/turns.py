"""One turn of a conversation: decided once, confirmed once, woken up once.

In: messages and who asks. Out: a `Plan`: what to ask the model, or what to reply without one.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any
from weakref import WeakKeyDictionary

from langchain_core.exceptions import OutputParserException
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.messages.ai import UsageMetadata
from pydantic import ValidationError

from langchain_palace.asking import Asker
from langchain_palace.errands import Errand, errand_in
from langchain_palace.heard import is_behind_tool
from langchain_palace.messages import (
    asked_with,
    asking,
    asking_index,
    is_system,
    is_tools,
    text_of,
    verdict_id,
    with_thoughts,
)
from langchain_palace.questions import Question
from langchain_palace.schemas import (
    is_fixing,
    questions_in,
    template_questions,
    without_instructions,
)
from langchain_palace.session import Call
from langchain_palace.tracing import observed
from palace import (
    Answer,
    AnswerCheck,
    AnswerOptions,
    CheckedAnswer,
    Kept,
    Mempalace,
    ModelCall,
    ModelError,
    ModelReply,
    PalaceError,
    RecallMiss,
    RetrievalEnforcer,
    Turn,
    Verdict,
    hosting,
)

Ask = Callable[[ModelCall], hosting.Steps[ModelReply]]
Key = tuple[object, ...]
# Turns, and calls whose reasoning a provider may want back, that may be under way at once.
_KEPT = 512


@dataclass(frozen=True, slots=True)
class Plan(hosting.HostedTurn):
    """What happens in a turn.

    Attributes:
        verdict: What was decided; never `confirm` once the plan is settled.
        question: The person's own words, with all that comes with them.
        options: How answers are made in this turn.
        message_id: Of the message that asks, if it has one.
        wake_up: What the session starts with, on its first turn.
        answer: The whole answer, where pointing and writing were one call, or no person gets it.
        model_calls: Calls made so far, besides the host's own.
        usage: Tokens of those calls, told once with the reply.
        behind: How many messages the asking one stands before the person's last one.
        chooses: Whether the reply is a choice that a program reads, which states nothing.
    """

    verdict: Verdict
    question: str
    options: AnswerOptions
    message_id: str | None = None
    wake_up: str = ""
    answer: Answer | None = None
    model_calls: int = 0
    usage: UsageMetadata | None = None
    behind: int = 0
    chooses: bool = False

    def place_in(self, messages: Sequence[BaseMessage]) -> int | None:
        """Return where the message stands that asks, None if it was cut off or summarised."""
        name = self.message_id
        if name is not None:
            named = next((n for n, message in enumerate(messages) if message.id == name), None)
            if named is not None:
                return named
        last = asking_index(messages)
        return None if last is None or self.is_cut_from(messages) else last - self.behind

    def sent(self, messages: list[Any], index: int | None) -> list[Any]:
        """Return what the model is sent: evidence or wake-up in the message that asks.

        Args:
            messages: The conversation.
            index: See `place_in`.
        """
        said = self.question if index is None else text_of(messages[index])
        text = self.user_text(said)
        return messages if text == said else asking(messages, index, text)

    def goes_on_in(self, messages: Sequence[BaseMessage], index: int) -> bool:
        """Whether a tool loop is still of this turn, be its question there or not.

        Args:
            messages: The conversation.
            index: Where the person asks.
        """
        return asked_with(messages, index) == self.question or self.is_cut_from(messages)

    def is_cut_from(self, messages: Sequence[BaseMessage]) -> bool:
        """Whether the message that asks is gone, be there earlier ones of the person or not.

        Where it has no id it may as well be another one by now, which a pass must not let through.
        """
        name = self.message_id
        if name is None and self.verdict.action == "pass":
            return False
        return not any(
            (name is not None and messages[n].id == name)
            or asked_with(messages, n) == self.question
            for n in range(len(messages) - 1, -1, -1)
        )

    @property
    def asked(self) -> str:
        """What of the message was decided on: an answer may repeat it.

        The text around it is a source where it may be asked about; see `answer_check`.
        """
        return without_instructions(self.verdict.turn.prompt)

    @property
    def session(self) -> str | None:
        """The session of the turn."""
        return self.verdict.turn.session_id

    @property
    def is_checked(self) -> bool:
        """Whether what the model says is held against the evidence."""
        return self.verdict.action == "ground" and not self.chooses

    def on_errand(self, errand: Errand) -> Plan:
        """Return the plan where no person gets the reply: what is remembered asks no model."""
        if self.verdict.action in ("pass", "generate"):
            return self
        said = errand.instead(errand.question or self.question)
        return replace(self, answer=Answer(said, self.verdict))

    def user_text(self, said: str | None = None) -> str:
        """Return what the model is asked in place of the person's words.

        Args:
            said: The words as they stand in the message, if something else changed them.
        """
        said = self.question if said is None else said
        return said if self.chooses else self.prompt(said, self.wake_up)

    def check(self, tool_texts: Sequence[str] = ()) -> AnswerCheck:
        """Return the check of what the model says; see `HostedTurn.check_for`."""
        return self.check_for(self.asked, tool_texts, self.wake_up)

    def metadata(self, checked: CheckedAnswer | None = None) -> dict[str, Any]:
        """Return what the host gets to see: the verdict and the check, as plain values."""
        checked = checked or (self.answer.checked if self.answer else None)
        return {
            **self.verdict.as_dict(),
            "cited": {str(n): i for n, i in checked.citations.items()} if checked else {},
            "unsupported": list(checked.unsupported) if checked else [],
            "supported": checked.supported if checked else True,
            "model_calls": self.model_calls + (not self.stops),
        }


class _UnderWay:
    """What is kept between the calls of a turn, shared by all wrappers of one palace.

    Attributes:
        plans: Settled plans of turns that may go on.
        loops: The same, by who asks and the verdict that the replies tell.
        thoughts: What the model said beside its calls.
    """

    def __init__(self) -> None:
        self.plans: Kept[Key, Plan] = Kept(_KEPT)
        self.loops: Kept[Key, Plan] = Kept(_KEPT)
        self.thoughts: Kept[Key, AIMessage] = Kept(_KEPT)


_UNDER_WAY: WeakKeyDictionary[Mempalace, _UnderWay] = WeakKeyDictionary()
_MAKING = threading.Lock()


class Turns:
    """Decides the turns of one palace and remembers those that are under way.

    A host may make a wrapper anew for each call, so the wrappers of a palace share what is under
    way.

    Args:
        palace: The open palace.
    """

    def __init__(self, palace: Mempalace) -> None:
        self.palace = palace
        self._enforcer = RetrievalEnforcer(palace)
        with _MAKING:
            self._under_way = _UNDER_WAY.setdefault(palace, _UnderWay())

    def __deepcopy__(self, memo: dict[int, Any]) -> Turns:
        return self  # copies of a wrapper share the turns that are under way

    def decide(self, question: Question, call: Call) -> hosting.Steps[Plan]:
        """Decide a turn, seen by callbacks and spans.

        What a template labels as the question is decided on first, for its context would blur it;
        the whole text is if that asks nothing, and then what stands beside the instructions of a
        parser. Of an errand only the question is the person's, and its documents ask nothing.

        Args:
            question: What is asked, with all that comes with it.
            call: Who asks.
        """
        asked = question.asked
        errand = errand_in(asked)
        program = "" if errand else question.program
        around = "" if errand else f"{question.beside}\n{program}\n{asked}"

        def about(part: str) -> Turn:
            rest = without_instructions(around.replace(part, "\n")).strip()
            return Turn(
                part,
                call.session_id,
                call.project,
                question.history,
                # what a model asks behind a tool tells the memory nothing
                trust="agent" if question.by_agent or is_behind_tool(call.config) else "user",
                beside=rest,
                instructions=program,
            )

        def decided() -> Plan:
            parts = _parts(asked, question.alone, errand)
            first = next(parts)
            verdict = self._enforcer.decide(about(first))
            for part in parts:
                if verdict.action != "pass" or _is_settled(verdict):
                    break
                if part != first:
                    verdict = self._enforcer.decide(about(part))
            options = self.palace.answer_options
            if verdict.action == "pass" and is_fixing(asked, options.fallback_text):
                verdict = missed(verdict)
            return Plan(verdict, asked, options, message_id=question.message_id)

        step = hosting.in_thread(decided)
        return (yield from observed(step, prompt=asked, call=call))

    def decide_all(self, question: Question, call: Call) -> hosting.Steps[tuple[Question, Plan]]:
        """Decide what is asked with a message or, if that asks nothing, right before it.

        A question is none the less asked for another message behind it.

        Returns:
            The question that is open, and its plan.
        """
        first: Plan | None = None
        earlier: Question | None = question
        while earlier is not None:
            plan = yield from self.decide(earlier, call)
            if plan.verdict.action != "pass":
                return earlier, replace(plan, behind=question.place - earlier.place)
            first = first or plan
            earlier = earlier.before()
        assert first is not None
        return question, first

    def settle(
        self,
        plan: Plan,
        call: Call,
        ask: Ask,
        *,
        alone: bool,
        wakes: bool = True,
    ) -> hosting.Steps[Plan]:
        """Have unclear evidence confirmed, and wake the session up before its first model call.

        Args:
            plan: A decided turn.
            call: Who asks.
            ask: Makes the model calls.
            alone: Whether the model's text is the whole reply: no tools, nothing structured.
            wakes: Whether this turn may be the one that carries the wake-up.
        """
        if plan.verdict.action == "confirm" and not plan.stops:
            settling = plan.settled(plan.question, ask, alone=alone, asked=plan.asked)
            proved, answer = yield from settling
            plan = replace(plan, verdict=proved, answer=answer, model_calls=1)
            if plan.stops:
                yield self.record(plan, plan.reply, None, 0)
        if plan.stops or not wakes:
            return plan
        woken = yield from hosting.waking(self.palace, call.session_id, call.project)
        return replace(plan, wake_up=woken) if woken else plan

    def settled(
        self, plan: Plan, call: Call, asker: Asker, key: Key, *, alone: bool, wakes: bool
    ) -> hosting.Steps[Plan]:
        """Settle a turn of messages, with what that cost, and keep it for the rest of the turn.

        Args:
            plan: See `settle`, as for the others.
            call: Who asks.
            asker: Makes the model calls.
            key: What the turn is kept by.
            alone: Whether the model's text is the whole reply.
            wakes: Whether this turn may be the one that carries the wake-up.
        """
        plan = yield from self.settle(plan, call, asker, alone=alone, wakes=wakes)
        if asker.usage is not None:
            plan = replace(plan, usage=asker.usage)
        self.keep(key, plan)
        return plan

    @contextmanager
    def telling(self, plan: Plan) -> Iterator[None]:
        """Leave the wake-up to the next turn of the session if the call that tells it fails.

        Who stops reading a stream has begun all the same.

        Raises:
            ModelError: If a reply that is to be checked cannot be read; it is not repeated.
            RecallMiss: If it cannot be read because the model declines in it.
        """
        try:
            yield
        except GeneratorExit:
            raise
        except BaseException as error:
            if plan.wake_up and plan.session:
                self.palace.leave_wake_up(plan.session, plan.wake_up, plan.verdict.turn.project)
            if plan.is_checked and isinstance(error, (OutputParserException, ValidationError)):
                raise unreadable(plan, error) from error
            raise

    def record(
        self, plan: Plan, text: str, checked: CheckedAnswer | None, calls: int
    ) -> hosting.Step[str]:
        """Return the step that writes what was released into the journal."""
        answer = plan.answer or Answer(text, plan.verdict, checked, plan.model_calls + calls)
        return hosting.in_thread(lambda: self.palace.record_answer(answer, plan.verdict))

    def declined(self, plan: Plan, miss: RecallMiss) -> hosting.Step[str]:
        """Return the step that writes down that the model has declined."""
        return self.record(plan, miss.message, CheckedAnswer(miss.message, declined=True), 1)

    def under_way(self, key: Key) -> Plan | None:
        """Return the settled plan of a turn that is entered again, by a tool loop or a retry."""
        return self._under_way.plans.get(key)

    def looped(self, told: Mapping[str, Any], call: Call) -> Plan | None:
        """Return the plan of a tool loop, if this process has decided it.

        Args:
            told: See `told_in_loop`.
            call: Who asks.
        """
        return self._under_way.loops.get((call.session_id, call.project, told["id"]))

    def resumed(self, told: Mapping[str, Any], call: Call) -> hosting.Steps[Plan | None]:
        """Decide anew a tool loop that another process began, where what asks was cut off.

        The journal may have its question. Where it does not, or the question asks for no memory
        without what was said before it, nothing is released: the reply that began the loop says
        that it rests on a memory.

        Args:
            told: See `told_in_loop`.
            call: Who asks.
        """
        if told.get("action") in ("pass", "generate"):
            return None
        asker = {"session_id": call.session_id, "project": call.project}
        words: str = yield hosting.in_thread(lambda: self.palace.question_of(told["id"], **asker))
        plan = yield from self.decide(Question(words, words), call)
        if plan.verdict.action != "pass":
            return plan
        return replace(plan, verdict=missed(plan.verdict))

    def keep(self, key: Key, plan: Plan) -> None:
        """Remember a settled plan for the rest of its turn; its calls are told only once."""
        if plan.usage is not None or plan.model_calls:
            plan = replace(plan, usage=None, model_calls=0)
        turn = plan.verdict.turn
        self._under_way.plans.put(key, plan)
        self._under_way.loops.put((turn.session_id, turn.project, plan.verdict.id), plan)

    def replied(self, plan: Plan, said: AIMessage | None = None) -> None:
        """Note that the model has replied: what the session starts with is told.

        Args:
            plan: The plan of the turn.
            said: The model's message as nobody else may read it; see `whole`.
        """
        if said is not None and any(call["id"] for call in said.tool_calls):
            self._under_way.thoughts.put(_key_of_calls(plan.verdict.id, said), said)
        if plan.wake_up and plan.session:  # an earlier try of this turn may have left it
            self.palace.take_wake_up(plan.session, plan.verdict.turn.project)

    def whole(self, messages: Sequence[BaseMessage]) -> list[BaseMessage]:
        """Return messages with what the model said beside its calls, for the model itself.

        Providers that reason refuse the result of a tool without the reasoning that called it.
        """
        kept = self._under_way.thoughts
        return [self._with_thoughts(m) for m in messages] if kept else list(messages)

    def _with_thoughts(self, message: BaseMessage) -> BaseMessage:
        if not isinstance(message, AIMessage) or not message.tool_calls:
            return message
        said = self._under_way.thoughts.get(_key_of_calls(verdict_id(message), message))
        return message if said is None else with_thoughts(message, said)


def told_in_loop(messages: Sequence[BaseMessage]) -> Mapping[str, Any] | None:
    """Return the verdict that the reply tells which began a tool loop, None outside of one."""
    last = next((m for m in reversed(messages) if not is_system(m)), None)  # reminders end none
    if last is None or not is_tools(last):
        return None
    reply = next((m for m in reversed(messages) if isinstance(m, AIMessage)), None)
    if reply is None or verdict_id(reply) is None:
        return None
    told: Mapping[str, Any] = reply.response_metadata["palace"]
    return told


def _key_of_calls(verdict_id: object, message: AIMessage) -> Key:
    return (verdict_id, *(call["id"] for call in message.tool_calls))


def missed(verdict: Verdict) -> Verdict:
    """Return the ruling on what cannot be answered, though its words ask for no memory."""
    return replace(verdict, action="fallback", outcome="nothing_stored")


def unreadable(plan: Plan, error: Exception) -> PalaceError:
    """Return what to raise where a checked reply cannot be read; nothing of it is repeated."""
    said = getattr(error, "llm_output", None)
    if said and plan.check().check(str(said)).declined:
        return RecallMiss(plan.options.fallback_text, hint="the model declines")
    return ModelError("the model did not return the object it was asked for", hint="ask again")


def _parts(text: str, alone: str, errand: Errand | None) -> Iterator[str]:
    """Yield what to decide on in a text, one after the other until something asks."""
    if errand is not None and errand.question:
        yield errand.question
        return
    yield from template_questions(text)
    yield text
    if alone:
        yield alone
    yield from questions_in(text)


def _is_settled(verdict: Verdict) -> bool:
    """Whether a text wrote to the memory, or is the prompt of another wrapper around this one."""
    return bool(verdict.written) or "machine:own_evidence" in verdict.signal.cues


def key_of(messages: Sequence[BaseMessage], index: int, call: Call) -> Key:
    """Return what tells one turn from another: who asks, and the message that asks."""
    asking = messages[index]
    earlier = "" if asking.id else hash(tuple(text_of(m) for m in messages[:index]))
    return (call.session_id, call.project, asking.id, text_of(asking), earlier)
