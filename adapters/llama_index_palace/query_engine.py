"""A query engine that looks before it answers.

In: any query engine and a palace. Out: `PalaceQueryEngine`: recall questions are answered from the
palace or refused; all others go to the engine.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.base.response.schema import (
    RESPONSE_TYPE,
    AsyncStreamingResponse,
    PydanticResponse,
    Response,
)
from llama_index.core.callbacks import CallbackManager
from llama_index.core.llms.llm import LLM
from llama_index.core.prompts.mixin import PromptMixinType
from llama_index.core.schema import NodeWithScore, QueryBundle

from llama_index_palace.events import KEY, evidence_nodes
from llama_index_palace.heard import unheard
from llama_index_palace.pointing import ask, call_step
from llama_index_palace.predicting import typed_failures
from llama_index_palace.questions import Asked, asked_in_prompt
from llama_index_palace.session import PalaceSession, current_session
from llama_index_palace.structured import check_object, demand_looked, demand_support, miss
from llama_index_palace.synthesizer import astreamed, makes_objects, spoken, streamed, streams
from llama_index_palace.turns import Ask, Lent, Ruling, Turns
from llama_index_palace.wrapped import WrappedLLM
from palace import (
    DECLINE_TOKEN,
    CheckedAnswer,
    ConfigError,
    Mempalace,
    ModelCall,
    ModelReply,
    hosting,
)


class PalaceQueryEngine(BaseQueryEngine):
    """Wraps a query engine so that recall questions are decided by the palace first.

    On a miss the reply is the honest fallback and nothing of the engine runs. On sufficient
    evidence the question is answered from the evidence and the answer checked; on unclear evidence
    only with a verified quote. The evidence is in `source_nodes`, the verdict in
    `metadata["palace"]`. Query events are emitted as for any engine. Where the engine streams,
    what the palace answers is a stream of one piece; for more of them use an engine whose model is
    a `PalaceLLM`. Where the engine makes objects (`output_cls`), a miss is `RecallMiss` and every
    value is checked. An engine that retrieves nothing says so in the palace's own sentence.

    Args:
        inner: The engine that answers everything else.
        palace: An open palace.
        llm: The model that answers from evidence. Without one the engine itself is asked, with
            the evidence in the query, so its own retriever adds what it finds; then its model
            must be the bare one, not a `PalaceLLM`.
        session_id: Session outside a `palace_session` block.
        project: Project outside a `palace_session` block.
        callback_manager: As for any engine; the inner one's if not given.

    Raises:
        ConfigError: If one of the first three is anything else.
    """

    def __init__(
        self,
        inner: BaseQueryEngine,
        palace: Mempalace,
        *,
        llm: LLM | None = None,
        session_id: str | None = None,
        project: str | None = None,
        callback_manager: CallbackManager | None = None,
    ) -> None:
        if not isinstance(inner, BaseQueryEngine):
            raise ConfigError(
                f"{type(inner).__name__} is no query engine of LlamaIndex",
                hint="PalaceQueryEngine(engine, palace) takes the engine first",
            )
        if llm is not None and not isinstance(llm, LLM):
            raise ConfigError(
                f"{type(llm).__name__} is no model of LlamaIndex",
                hint="llm= takes a model, or nothing: then the engine itself answers",
            )
        super().__init__(callback_manager=callback_manager or inner.callback_manager)
        self.inner = inner
        self._llm = llm.inner if isinstance(llm, WrappedLLM) else llm
        self._turns = Turns(palace)
        self._default = PalaceSession(session_id, project=project)

    def _get_prompt_modules(self) -> PromptMixinType:
        return {"inner": self.inner}

    def retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        """Return what the engine retrieves; for a recall question its evidence, if sufficient.

        Raises:
            StoreUnavailableError: If the memory could not be read.
        """
        return hosting.run(self._retrieved(query_bundle))

    async def aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        """Return what the engine retrieves, as `retrieve` does."""
        return await hosting.arun(self._retrieved(query_bundle))

    def _retrieved(self, query_bundle: QueryBundle) -> hosting.Steps[list[NodeWithScore]]:
        asked, session = self._asked(query_bundle)
        verdict, _ = yield from self._turns.looked(asked, session)
        if verdict.action in ("pass", "generate"):
            found: list[NodeWithScore] = yield call_step(self.inner, "retrieve", query_bundle)
            return found
        demand_looked(verdict)
        proved = verdict.action in ("ground", "answer")
        return evidence_nodes(verdict.evidence if proved else ())

    def synthesize(
        self,
        query_bundle: QueryBundle,
        nodes: list[NodeWithScore],
        additional_source_nodes: Sequence[NodeWithScore] | None = None,
    ) -> RESPONSE_TYPE:
        """Answer from nodes, decided as a query."""
        return hosting.run(
            self._replied(
                query_bundle,
                lambda b: self.inner.synthesize(b, nodes, additional_source_nodes),
                streamed,
            )
        )

    async def asynthesize(
        self,
        query_bundle: QueryBundle,
        nodes: list[NodeWithScore],
        additional_source_nodes: Sequence[NodeWithScore] | None = None,
    ) -> RESPONSE_TYPE:
        """Answer from nodes, decided as a query."""
        return await hosting.arun(
            self._replied(
                query_bundle,
                lambda b: self.inner.asynthesize(b, nodes, additional_source_nodes),
                astreamed,
            )
        )

    def _query(self, query_bundle: QueryBundle) -> RESPONSE_TYPE:
        return hosting.run(self._replied(query_bundle, self.inner.query, streamed))

    async def _aquery(self, query_bundle: QueryBundle) -> RESPONSE_TYPE:
        return await hosting.arun(self._replied(query_bundle, self.inner.aquery, astreamed))

    def _replied(
        self,
        query_bundle: QueryBundle,
        inner: Callable[[QueryBundle], Any],
        in_pieces: Callable[[Response], RESPONSE_TYPE],
    ) -> hosting.Steps[RESPONSE_TYPE]:
        """Answer a query.

        Args:
            query_bundle: The query.
            inner: Has the engine answer.
            in_pieces: Makes a stream of an answer.
        """
        asked, session = self._asked(query_bundle)
        typed = makes_objects(self.inner)

        def reply(call: ModelCall) -> hosting.Steps[ModelReply]:
            if self._llm is not None:
                return (yield from ask(self._llm, asked, call))
            bundle = _carrying(query_bundle, call.user_text)
            said = yield unheard(hosting.host_call(lambda: inner(bundle)))
            if isinstance(said, AsyncStreamingResponse):  # `str` reads it in another loop
                said = yield hosting.host_call(said.get_response)
            return ModelReply(str(said))

        ruling = yield from self._turns.rule(asked, session, reply, alone=not typed)
        lent = ruling.lend(asked)
        with self._turns.telling(ruling, lent):
            if ruling.stops or (ruling.is_checked and not typed):
                answer = yield from self._answered(ruling, asked, lent, query_bundle, reply)
                return in_pieces(answer) if streams(self.inner) else answer
            bundle = _carrying(query_bundle, ruling.prompt(query_bundle.query_str, lent.wake_up))
            asking = hosting.host_call(lambda: inner(bundle))
            with typed_failures(ruling):
                response = yield unheard(asking) if ruling.is_checked else asking
        return (yield from self._passed(response, ruling, asked))

    def _asked(self, query_bundle: QueryBundle) -> tuple[Asked, PalaceSession]:
        session = current_session(self._default.session_id, project=self._default.project)
        return asked_in_prompt(query_bundle.query_str, question=session.question), session

    def _answered(
        self, ruling: Ruling, asked: Asked, lent: Lent, query_bundle: QueryBundle, reply: Ask
    ) -> hosting.Steps[Response]:
        checked: CheckedAnswer | None = None
        text, calls = ruling.reply, 0
        if not ruling.stops:
            query = query_bundle.query_str
            words = query if asked.words in query else asked.words  # a host knows them better
            said = yield from reply(ModelCall("answer", ruling.prompt(words, lent.wake_up)))
            checked = ruling.check(asked).check(said.text)
            text, calls = checked.text, 1
        metadata = yield from self._turns.finish(ruling, text, checked=checked, calls=calls)
        if makes_objects(self.inner):
            raise miss(text)
        evidence = ruling.verdict.evidence if ruling.verdict.outcome != "not_recall" else ()
        return Response(text, source_nodes=evidence_nodes(evidence), metadata={KEY: metadata})

    def _passed(
        self, response: RESPONSE_TYPE, ruling: Ruling, asked: Asked
    ) -> hosting.Steps[RESPONSE_TYPE]:
        if ruling.is_checked:  # with an object; what is said in words was answered before
            made = response.response if isinstance(response, PydanticResponse) else DECLINE_TOKEN
            check = ruling.check(asked)
            checked = check_object(made, check)
            metadata = yield from self._turns.finish(ruling, "", checked=checked, calls=1)
            demand_support(made, checked, check)
            response.source_nodes = evidence_nodes(ruling.verdict.evidence)
        else:
            metadata = yield from self._turns.finish(ruling, "", calls=1)
        response = spoken(response, ruling.options.fallback_text)
        response.metadata = {**(response.metadata or {}), KEY: metadata}
        return response


def _carrying(query_bundle: QueryBundle, text: str) -> QueryBundle:
    """Return the query with another text for the model; what is embedded stays the question."""
    if text == query_bundle.query_str:
        return query_bundle
    embedded: Sequence[Any] = query_bundle.embedding_strs
    return QueryBundle(
        query_str=text,
        image_path=query_bundle.image_path,
        custom_embedding_strs=list(embedded),
        embedding=query_bundle.embedding,
    )
