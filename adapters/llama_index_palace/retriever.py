"""Memories as nodes, for query engines, chat engines and tools.

In: a query. Out: nodes that hold the memory's own words, with source and score.
"""

from __future__ import annotations

from typing import Literal

from llama_index.core.callbacks import CallbackManager
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

from llama_index_palace.events import announce_verdict, evidence_nodes
from llama_index_palace.questions import asked_in_prompt
from llama_index_palace.session import PalaceSession, current_session
from llama_index_palace.spans import decide_traced
from llama_index_palace.structured import demand_looked, miss
from palace import ConfigError, Hit, Mempalace, RetrievalEnforcer, Turn, Verdict, hosting

Gate = Literal["sufficient", "off"]


class PalaceRetriever(BaseRetriever):
    """Retrieves memories.

    With the gate on, a recall question gets its evidence only if that is sufficient, else nothing:
    then the synthesizers of LlamaIndex (all but `generation`) call no model. They say "Empty
    Response", the one that `palace_synthesizer` returns says the palace's own sentence, and with
    `raise_on_miss` the sentence comes as `RecallMiss` from any host. A question that is no recall
    gets the nearest memories. A memory that cannot be read is a `StoreUnavailableError`, unless
    `raise_on_miss` tells it.

    A retriever cannot have a model confirm unclear evidence. For near misses and confirmed quotes
    use `PalaceQueryEngine`, or an engine whose model is a `PalaceLLM`, here with `gate="off"`; but
    a host that gets no node at all speaks by itself, before it reaches any model.

    Args:
        palace: An open palace.
        k: Most nodes, >= 1.
        gate: `sufficient`, or `off`: the nearest that share anything with the query, whether they
            answer or not.
        raise_on_miss: Raise `RecallMiss` when a recall question has no sufficient evidence.
        session_id: Session outside a `palace_session` block.
        project: Project outside a `palace_session` block.
        callback_manager: As for any retriever.

    Raises:
        ConfigError: If `k` or `gate` is none of these.
    """

    def __init__(
        self,
        palace: Mempalace,
        k: int = 4,
        *,
        gate: Gate = "sufficient",
        raise_on_miss: bool = False,
        session_id: str | None = None,
        project: str | None = None,
        callback_manager: CallbackManager | None = None,
    ) -> None:
        super().__init__(callback_manager=callback_manager)
        if not isinstance(k, int) or k < 1 or gate not in ("sufficient", "off"):
            raise ConfigError(
                f"k is {k!r}, gate is {gate!r}", hint="k is a whole number >= 1; sufficient or off"
            )
        self._palace = palace
        self._enforcer = RetrievalEnforcer(palace)
        self._k = k
        self._gate = gate
        self._raise_on_miss = raise_on_miss
        self._default = PalaceSession(session_id, project=project)

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return hosting.run(self._found(query_bundle))

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return await hosting.arun(self._found(query_bundle))

    def _found(self, query_bundle: QueryBundle) -> hosting.Steps[list[NodeWithScore]]:
        session = current_session(self._default.session_id, project=self._default.project)
        if self._gate == "sufficient":
            asked = asked_in_prompt(query_bundle.query_str, question=session.question)
            # A query tells the memory nothing: it may be a model's, and nobody would be told of it.
            turn = Turn(asked.words, session.session_id, session.project, trust="agent")
            verdict = yield hosting.in_thread(
                lambda: decide_traced(self._enforcer, turn, asked.further)
            )
            announce_verdict(verdict, retrieval=False)
            if verdict.action != "pass":
                return self._judged(verdict)
        nearest: list[NodeWithScore]
        nearest = yield hosting.in_thread(lambda: self._nearest(query_bundle, session))
        return nearest

    def _nearest(self, query_bundle: QueryBundle, session: PalaceSession) -> list[NodeWithScore]:
        hits = self._palace.search(
            query_bundle.query_str,
            top_k=self._k,
            session_id=session.session_id,
            project=session.project,
        )
        return [_hit_node(hit, self._palace) for hit in hits[: self._k]]

    def _judged(self, verdict: Verdict) -> list[NodeWithScore]:
        if verdict.action not in ("ground", "answer"):
            if self._raise_on_miss:
                raise miss(verdict.text)
            demand_looked(verdict)
            return []
        return evidence_nodes(verdict.evidence[: self._k])


def _hit_node(hit: Hit, palace: Mempalace) -> NodeWithScore:
    memory = hit.memory
    metadata = {
        "source": memory.source,
        "as_of": memory.as_of.isoformat() if memory.as_of else None,
        "trust": memory.trust,
    }
    return NodeWithScore(
        node=TextNode(id_=memory.id, text=palace.privacy.shown(memory.said), metadata=metadata),
        score=hit.score,
    )
