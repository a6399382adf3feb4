"""What an adapter needs to put a turn into a host that calls its model itself.

In: what was decided, and a host that may have an event loop and may stream. Out: whether its call
is made, with what text, and how its words are checked; and drivers for logic that is written once:
a generator yields a `Step` for each piece of work it wants done and `Shown` for each piece of a
reply. The drivers differ in nothing but how they do a step; what goes wrong in one is raised where
it was asked for.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import (
    AsyncGenerator,
    AsyncIterable,
    Awaitable,
    Callable,
    Generator,
    Iterable,
    Sequence,
)
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from palace.enforce.answering import (
    Answer,
    AnswerOptions,
    ModelCall,
    ModelReply,
    answer_check,
    answer_steps,
    confirm_steps,
)
from palace.enforce.grounding import AnswerCheck
from palace.enforce.prompt import context_prompt, grounded_prompt
from palace.types.verdict import Verdict

if TYPE_CHECKING:
    from palace.mempalace import Mempalace

_log = logging.getLogger(__name__)
T = TypeVar("T")
S = TypeVar("S")
# Where `of_palace` keeps what it made.
_OF_PALACE = "_of_palace"


@dataclass(frozen=True, slots=True)
class Step(Generic[T]):
    """A piece of work.

    Attributes:
        now: Does it, blocking.
        later: Does it without blocking the event loop.
    """

    now: Callable[[], T]
    later: Callable[[], Awaitable[T]]


@dataclass(frozen=True, slots=True)
class Shown(Generic[T]):
    """A piece of a reply, for whoever reads it."""

    piece: T


Steps = Generator[Step[Any], Any, T]
Pieces = Generator[Step[Any] | Shown[T], Any, None]
Stream = Iterable[T] | AsyncIterable[T]


def in_thread(work: Callable[[], T]) -> Step[T]:
    """Return blocking work as a step; with an event loop it runs in a thread."""
    return Step(work, lambda: asyncio.to_thread(work))


def host_call(call: Callable[[], Any]) -> Step[Any]:
    """Return a call of which there is one kind as a step: it blocks, or is to be awaited."""
    return Step(call, call)


def begin_stream(
    now: Callable[[], Iterable[T]], later: Callable[[], AsyncIterable[T]]
) -> Step[Stream[T]]:
    """Return the beginning of a stream as a step: of the one or of the other."""

    async def begun() -> AsyncIterable[T]:
        return later()

    return Step(now, begun)


def relay(source: Stream[S], take: Callable[[S], Iterable[Step[Any] | Shown[T]]]) -> Pieces[T]:
    """Show what comes in a stream, as far as it may be shown.

    Args:
        source: A stream that has begun.
        take: Takes in what came; shows what may be shown now.
    """
    following = _following(source)
    while (came := (yield following)) is not _END:
        yield from take(came)


_END: Any = object()


def _following(source: Stream[Any]) -> Step[Any]:
    """Return the step that waits for what comes next in a stream, `_END` behind the last."""
    if isinstance(source, AsyncIterable):
        coming = aiter(source)
        return Step(lambda: _END, lambda: anext(coming, _END))
    ready = iter(source)

    async def later() -> Any:  # noqa: ANN401 - whatever streams
        return next(ready, _END)

    return Step(lambda: next(ready, _END), later)


def run(steps: Steps[T]) -> T:
    """Run the steps, blocking, and return their result."""
    try:
        step = next(steps)
        while True:
            try:
                done = step.now()
            except BaseException as error:  # noqa: BLE001 - raised where the step was asked for
                step = steps.throw(error)
            else:
                step = steps.send(done)
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]


async def arun(steps: Steps[T]) -> T:
    """Run the steps without blocking the event loop and return their result."""
    try:
        step = next(steps)
        while True:
            try:
                done = await step.later()
            except BaseException as error:  # noqa: BLE001 - raised where the step was asked for
                step = steps.throw(error)
            else:
                step = steps.send(done)
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]


def stream(pieces: Pieces[T]) -> Generator[T, None, None]:
    """Run the steps, blocking, and yield what they show."""
    try:
        step = next(pieces)
        while True:
            try:
                done = (yield step.piece) if isinstance(step, Shown) else step.now()
            except BaseException as error:  # noqa: BLE001 - also where nobody reads on
                step = pieces.throw(error)
            else:
                step = pieces.send(done)
    except StopIteration:
        return


async def astream(pieces: Pieces[T]) -> AsyncGenerator[T, None]:
    """Run the steps without blocking the event loop and yield what they show."""
    try:
        step = next(pieces)
        while True:
            try:
                done = (yield step.piece) if isinstance(step, Shown) else await step.later()
            except BaseException as error:  # noqa: BLE001 - also where nobody reads on
                step = pieces.throw(error)
            else:
                step = pieces.send(done)
    except StopIteration:
        return


# -- a turn ------------------------------------------------------------------------------------


class HostedTurn:
    """What the turns of all hosts share; each host keeps what else it knows of one.

    Attributes:
        verdict: What was decided; never `confirm` once the turn is settled.
        options: How answers are made.
        answer: The whole answer, where the host's own call is not needed for it.
    """

    __slots__ = ()

    verdict: Verdict
    options: AnswerOptions
    answer: Answer | None

    @property
    def stops(self) -> bool:
        """Whether the model must not be called (again) in this turn."""
        return self.answer is not None or self.verdict.action in ("fallback", "answer")

    @property
    def is_checked(self) -> bool:
        """Whether what the model says is held against the evidence."""
        return self.verdict.action == "ground"

    @property
    def reply(self) -> str:
        """The reply of a turn that stops."""
        if self.answer is not None:
            return self.answer.text
        return self.verdict.text or self.options.fallback_text

    def prompt(self, said: str, wake_up: str = "") -> str:
        """Return what the model is asked: evidence or wake-up before the host's own text."""
        render = grounded_prompt if self.is_checked else context_prompt
        budget = self.options.context_budget_tokens
        return render(said, self.verdict, wake_up=wake_up, budget_tokens=budget)

    def check_for(self, question: str, tool_texts: Sequence[str], wake_up: str) -> AnswerCheck:
        """Return the check of what the model says.

        Results of tools count as evidence, but not for an answer to unclear evidence: that one
        rests on the quoted memory alone.
        """
        unclear = self.verdict.outcome == "near_miss"
        also = () if unclear else tuple(filter(None, [*tool_texts, wake_up]))
        return answer_check(self.verdict, question=question, options=self.options, also=also)

    def settled(
        self,
        question: str,
        ask: Callable[[ModelCall], Steps[ModelReply]],
        *,
        alone: bool,
        asked: str | None = None,
    ) -> Steps[tuple[Verdict, Answer | None]]:
        """Have unclear evidence confirmed before the host's own call.

        Args:
            question: The person's own words.
            ask: Makes the quote call.
            alone: Whether the model's text is the whole reply: no tools, nothing structured. Then
                the answer may come with the quote, where `quote_calls` is `one`.
            asked: What of the words such an answer may repeat, if not all.

        Returns:
            What was proved, and the answer if it came with that.
        """
        verdict, options = self.verdict, self.options
        if alone and options.quote_calls == "one":
            trip = answer_steps(verdict, question=question, options=options, asked=asked)
            answer = yield from _made(trip, ask)
            return answer.verdict, answer
        proved = confirm_steps(verdict, question=question, options=options)
        return (yield from _made(proved, ask)), None


def of_palace(wrapper: Any, make: Callable[[Mempalace], T]) -> T:  # noqa: ANN401 - of any host
    """Return what is made of a wrapper's palace: once, and anew where it is given another palace.

    It is kept among the wrapper's own attributes: to look at a private one of pydantic takes a
    microsecond. Copies share it.

    Args:
        wrapper: Has a `palace`.
        make: What is made has it as well.
    """
    held = vars(wrapper)
    kept = held.get(_OF_PALACE)
    if kept is None or kept.palace is not wrapper.palace:
        kept = held[_OF_PALACE] = make(wrapper.palace)
    made: T = kept
    return made


def waking(palace: Mempalace, session_id: str | None, project: str | None) -> Steps[str]:
    """Begin a session, and return the wake-up that waits for this turn, once.

    Args:
        palace: The open palace.
        session_id: The session; without one there is no first turn, and the result is "".
        project: Its project, if any.
    """
    if not session_id:
        return ""
    if not palace.has_begun(session_id):
        yield in_thread(lambda: palace.begin_session(session_id, project))
    return palace.take_wake_up(session_id, project)


def _made(
    trip: Generator[ModelCall, ModelReply, T], ask: Callable[[ModelCall], Steps[ModelReply]]
) -> Steps[T]:
    """Make the calls that a trip asks for."""
    try:
        call = next(trip)
        while True:
            reply = yield from ask(call)
            call = trip.send(reply)
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]


@lru_cache(maxsize=256)
def tell_handed_over(agent: str) -> None:
    """Warn that another agent goes on with a checked turn, once for each: nobody sees its model.

    Args:
        agent: Its name.
    """
    _log.warning(
        "%.80r goes on with a checked turn: what it says is checked only where its own model is"
        " wrapped, or the whole graph is",
        agent,
    )
