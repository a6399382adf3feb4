"""What is said and found behind a tool of an agent: a model's words are no evidence.

In: LlamaIndex' spans, which every tool, retriever and model makes. Out: whether a model spoke in
the run of a tool whose words nobody has checked, and what tools and retrievers found on the way,
which no model made up. Not heard is a model in another process, or in a thread that the tool
itself has begun.
"""

from __future__ import annotations

import hashlib
import inspect
import threading
from collections.abc import (
    AsyncIterable,
    AsyncIterator,
    Callable,
    Iterable,
    Iterator,
    Sequence,
)
from contextlib import contextmanager
from contextvars import ContextVar, Token
from dataclasses import replace
from itertools import product
from typing import Any, NamedTuple, TypeVar

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.base.llms.base import BaseLLM
from llama_index.core.bridge.pydantic import PrivateAttr
from llama_index.core.schema import MetadataMode
from llama_index.core.tools.function_tool import sync_to_async
from llama_index.core.tools.types import BaseTool, ToolOutput
from llama_index_instrumentation import root_dispatcher
from llama_index_instrumentation.span import BaseSpan
from llama_index_instrumentation.span_handlers import BaseSpanHandler

from palace import AnswerCheck, CheckedAnswer, Kept, hosting, values_in, without_echoes

_T = TypeVar("_T")
_END: Any = object()
# A person may take a while to approve a call beside it.
_KEPT_S = 3600.0
# Before 0.14.22 a plain function that is awaited ran in a thread that knew nothing of its caller.
_THREADS_KNOW = "copy_context" in {
    name
    for code in sync_to_async.__code__.co_consts
    if inspect.iscode(code)
    for name in code.co_names
}
_THREADS = "asyncio_"
# What a tool raises that waits for somebody, and is called again then.
_WAITS = "WaitingForEvent"


class TellsItself:
    """A model that tells by itself what of its words nobody has checked."""


class Heard:
    """What is said and found within a run.

    Args:
        around: What hears the runs around it.
        given: What a model wrote to the tool that runs.

    Attributes:
        given: The same.
        is_behind: Whether it runs behind a tool, or is one.
        is_said: Whether a model spoke whose words no palace has checked.
        written: What models wrote to tools.
        found: What tools and retrievers brought in whose own runs no model spoke.
    """

    def __init__(self, around: Sequence[Heard] = (), given: Sequence[object] = ()) -> None:
        self.given = given
        self.is_behind = True
        self.is_said = False
        self.written: list[object] = [*given]
        self.found: list[str] = []
        self._around = around

    def evidence(self) -> tuple[str, ...]:
        """Return what was found, without what models wrote to tools."""
        return without_echoes(self.found, written=values_in(self.written))

    def end(self, texts: Iterable[str]) -> None:
        """Tell the runs around what this one brought.

        Args:
            texts: What a tool or a retriever answered.
        """
        found = self.found if self.is_said else [*texts]
        for one in self._around:
            one.is_said = one.is_said or self.is_said
            one.written += self.written
            if len(self._around) == 1:  # of several nobody knows whose it is
                one.found += found


_HEARING: ContextVar[Heard | None] = ContextVar("llama_index_palace_heard", default=None)
# What was found behind a tool that answered with a text, where a model spoke there or it failed.
_BEHIND: Kept[tuple[str, bytes], tuple[str, ...]] = Kept(4096, kept_s=_KEPT_S)
_EXPECTED: Kept[tuple[str, frozenset[str]], Direct] = Kept(kept_s=_KEPT_S)
_LOCK = threading.Lock()


def evidence_in(text: str, tool: str) -> Sequence[str]:
    """Return what of the text of a tool may vouch for an answer.

    Args:
        text: What it answered.
        tool: Its name, "" if nobody knows it.
    """
    found = _BEHIND.get((tool, _digest(text)))
    return [text] if found is None else found


class Reply(NamedTuple):
    """What becomes of a result of a tool that is the reply of one turn, or may be.

    Attributes:
        check: Returns the check of it; takes what was found behind the tool.
        record: Records what is released of it.
        is_known: Whether it is known to be the reply; else the tool's own mark tells.
    """

    check: Callable[[tuple[str, ...]], AnswerCheck]
    record: Callable[[CheckedAnswer], None]
    is_known: bool = True


class Direct(NamedTuple):
    """Calls under way of a tool with the same arguments whose result is the reply.

    Attributes:
        replies: One for each of them.
        over: How many of the calls are over.
    """

    replies: tuple[Reply, ...] = ()
    over: int = 0


def expect(tool: str, given: object, reply: Reply) -> None:
    """Have the result of a call checked if a model speaks behind the tool and it is the reply.

    Args:
        tool: Its name.
        given: What the model wrote to it.
        reply: What becomes of it.
    """
    key = tool, frozenset(values_in(given))
    with _LOCK:
        replies, over = _EXPECTED.get(key) or Direct()
        _EXPECTED.put(key, Direct((*replies, reply), over))


def _expected(tool: str, heard: Heard) -> Direct:
    """Return what becomes of the result of a call that is over now."""
    if not len(_EXPECTED):  # as in most turns
        return Direct()
    key = tool, frozenset(values_in(heard.given))
    with _LOCK:
        direct = _EXPECTED.pop(key) or Direct()
        if direct.over + 1 < len(direct.replies):
            _EXPECTED.put(key, direct._replace(over=direct.over + 1))
    return direct


def _released(direct: Direct, text: str, heard: Heard) -> CheckedAnswer:
    """Return what may be shown of a result; of two who ask the same, none gets the other's."""
    checks = [reply.check(heard.evidence()) for reply in direct.replies]
    made = [check.check(text) for check in checks]
    if len({one.text for one in made}) == 1:
        return made[direct.over]
    return replace(made[direct.over], text=checks[0].fallback_text, citations={})


def said_unchecked() -> None:
    """Tell the run of a tool that a model spoke in it whose words nobody has checked."""
    for heard in _EAR.listening():
        heard.is_said = True


def is_behind_tool() -> bool:
    """Whether what happens now happens in the run of a tool: what is asked there a model wrote."""
    heard = _HEARING.get()
    return heard is not None and heard.is_behind


@contextmanager
def _unheard() -> Iterator[None]:
    heard = Heard()
    heard.is_behind = is_behind_tool()
    token = _HEARING.set(heard)
    try:
        yield
    finally:
        _HEARING.reset(token)


def unheard(step: hosting.Step[Any]) -> hosting.Step[Any]:
    """Return the call of a model whose words are checked before anybody gets them."""

    def now() -> Any:
        with _unheard():
            return step.now()

    async def later() -> Any:
        with _unheard():
            return await step.later()

    return hosting.Step(now, later)


def unheard_stream(source: hosting.Stream[_T]) -> hosting.Stream[_T]:
    """Return the stream of such a call; some models are asked only when it is read."""
    return _unheard_later(source) if isinstance(source, AsyncIterable) else _unheard_now(source)


def _unheard_now(source: Iterable[_T]) -> Iterator[_T]:
    coming = iter(source)
    while True:
        with _unheard():
            piece = next(coming, _END)
        if piece is _END:
            return
        yield piece


async def _unheard_later(source: AsyncIterable[_T]) -> AsyncIterator[_T]:
    coming = aiter(source)
    while True:
        with _unheard():
            piece = await anext(coming, _END)
        if piece is _END:
            return
        yield piece


def hear() -> None:
    """Begin to listen to the spans of this process, if nobody does yet."""
    if not _is_hearing():
        with _LOCK:
            if not _is_hearing():  # twice would be heard twice
                root_dispatcher.add_span_handler(_EAR)


def _is_hearing() -> bool:
    return any(handler is _EAR for handler in root_dispatcher.span_handlers)


class _Ear(BaseSpanHandler[BaseSpan]):
    """Follows the runs of tools."""

    _runs: dict[str, tuple[Heard, Token[Heard | None]]] = PrivateAttr(default_factory=dict)
    _awaited: dict[str, Heard] = PrivateAttr(default_factory=dict)

    def listening(self) -> Sequence[Heard]:
        """Return who hears what is said right now."""
        heard = _HEARING.get()
        if heard is not None:
            return [heard]
        if _THREADS_KNOW or not threading.current_thread().name.startswith(_THREADS):
            return ()
        return [*self._awaited.values()]  # any of them may have begun this thread

    def span_enter(
        self,
        id_: str,
        bound_args: inspect.BoundArguments,
        instance: Any | None = None,
        parent_id: str | None = None,  # noqa: ARG002 - the context tells what is around
        tags: dict[str, Any] | None = None,  # noqa: ARG002
        **_: Any,
    ) -> None:
        """Begin to hear a tool or a retriever, or hear that a model speaks."""
        if isinstance(instance, BaseLLM):
            if not isinstance(instance, TellsItself) and _speaks(id_):
                said_unchecked()
        elif isinstance(instance, BaseTool):
            heard = self._begin(id_, self.listening(), _written(bound_args))
            if "acall" in id_:
                self._awaited[id_] = heard
        elif isinstance(instance, BaseRetriever):
            around = self.listening()
            if around:
                self._begin(id_, around)

    def span_exit(
        self,
        id_: str,
        bound_args: inspect.BoundArguments,  # noqa: ARG002
        instance: Any | None = None,
        result: Any | None = None,
        **_: Any,
    ) -> None:
        """Take in what a tool or a retriever answered, and check what a model replied there."""
        if id_ not in self._runs:
            return
        with self._ending(id_) as heard:
            if isinstance(instance, BaseTool) and isinstance(result, ToolOutput):
                direct = _expected(_name_of(instance), heard)
                if heard.is_said and direct.replies:
                    checked = _released(direct, result.content, heard)
                    if checked.text != result.content:
                        result.content = result.raw_output = checked.text
                    reply = direct.replies[direct.over]
                    if reply.is_known or instance.metadata.return_direct:
                        reply.record(checked)
            has_failed = isinstance(result, ToolOutput) and result.is_error
            _brought(heard, instance, _texts(result), has_failed=has_failed)

    def span_drop(
        self,
        id_: str,
        bound_args: inspect.BoundArguments,  # noqa: ARG002
        instance: Any | None = None,
        err: BaseException | None = None,
        **_: Any,
    ) -> None:
        """Take in what hosts tell a model of a tool that failed."""
        if id_ not in self._runs:
            return
        with self._ending(id_) as heard:
            if isinstance(instance, BaseTool) and type(err).__name__ != _WAITS:
                _expected(_name_of(instance), heard)
            told = [str(err), f"Encountered error: {err}"]
            _brought(heard, instance, told, has_failed=True)

    def _begin(self, id_: str, around: Sequence[Heard], given: Sequence[object] = ()) -> Heard:
        heard = Heard(around, given)
        self._runs[id_] = heard, _HEARING.set(heard)
        return heard

    @contextmanager
    def _ending(self, id_: str) -> Iterator[Heard]:
        """End what is heard in a span; what goes wrong within, its dispatcher passes over."""
        heard, token = self._runs.pop(id_)
        self._awaited.pop(id_, None)
        try:
            yield heard
        finally:
            _HEARING.reset(token)

    # What the base class asks for beside.

    def new_span(self, *_: Any, **__: Any) -> None:
        """Keep no span."""

    def prepare_to_exit_span(self, *_: Any, **__: Any) -> None:
        """Keep no span."""

    def prepare_to_drop_span(self, *_: Any, **__: Any) -> None:
        """Keep no span."""


_EAR = _Ear()


def _brought(heard: Heard, instance: Any, texts: Sequence[str], *, has_failed: bool) -> None:
    """Note what a tool or a retriever has answered; errors repeat what a model wrote to it."""
    heard.end([] if has_failed else texts)
    if isinstance(instance, BaseTool) and (heard.is_said or has_failed):
        for text, name in product(texts, (_name_of(instance), "")):
            _BEHIND.put((name, _digest(text)), heard.evidence())


def _name_of(tool: BaseTool) -> str:
    return str(tool.metadata.name)


def _speaks(span_id: str) -> bool:
    """Whether a call of a model makes it speak: what it is prepared with and read by does not."""
    return not span_id.partition(".")[2].startswith(("_", "get_"))


def _written(bound_args: inspect.BoundArguments) -> list[object]:
    """Return what a model wrote to a tool, without what the program gives it beside."""
    given: list[object] = []
    for value in bound_args.arguments.values():  # all of them stand in two, as tools take any
        many = value.values() if isinstance(value, dict) else value
        given += many if isinstance(value, (tuple, dict)) else [value]
    return [one for one in given if isinstance(one, (str, int, float, list, tuple, dict))]


def _texts(result: Any) -> list[str]:
    """Return the texts of what a tool or a retriever answered."""
    if isinstance(result, ToolOutput):
        return [result.content]
    nodes = result if isinstance(result, list) else ()
    return [node.get_content(metadata_mode=MetadataMode.NONE) for node in nodes]


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.strip().encode("utf-8", "surrogatepass")).digest()
