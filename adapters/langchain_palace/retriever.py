"""`PalaceRetriever`: memory as documents, for chains that retrieve by themselves.

In: a query. Out: documents of judged evidence; nothing that is merely near.
"""

from __future__ import annotations

import asyncio
from typing import Any

from langchain_core.callbacks import (
    AsyncCallbackManagerForRetrieverRun,
    CallbackManagerForRetrieverRun,
)
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableConfig
from pydantic import Field, model_validator

from langchain_palace.session import OpenPalace, call_of, known_fields
from langchain_palace.tracing import TRACER, document_of
from palace import (
    ConfigError,
    LayerReport,
    StoreUnavailableError,
    memory_span,
    search_evidence,
)


class PalaceRetriever(BaseRetriever):
    """Retrieves what the palace can stand for.

    A document's metadata has its `source`, `as_of`, `confidence` and `band`: `sufficient` answers
    the query, `unclear` may not. A chain that must not answer without evidence should be wrapped
    with `PalaceRunnable`: a retriever alone cannot keep a model from being called.

    Args:
        palace: The open palace.
        k: Most documents, >= 1; also per call: `invoke(query, k=…)`.
        session_id: The session of calls whose config names none.
        project: The project of calls whose config names none.
        sufficient_only: Leave out what may not answer.

    Raises, when it runs:
        ConfigError: If `k` is below 1, or the query is no text.
        StoreUnavailableError: If nothing was found and not everything could be read.
    """

    palace: OpenPalace = Field(exclude=True)
    k: int = Field(default=4, ge=1)
    session_id: str | None = None
    project: str | None = None
    sufficient_only: bool = False

    @model_validator(mode="before")
    @classmethod
    def _know_fields(cls, values: Any) -> Any:
        return known_fields(cls, values)

    def invoke(
        self, input: str, config: RunnableConfig | None = None, **kwargs: Any
    ) -> list[Document]:
        """Return the documents for a query."""
        return BaseRetriever.invoke(self._called(config), input, config, **kwargs)

    async def ainvoke(
        self, input: str, config: RunnableConfig | None = None, **kwargs: Any
    ) -> list[Document]:
        """Return the documents for a query."""
        return await BaseRetriever.ainvoke(self._called(config), input, config, **kwargs)

    def _called(self, config: RunnableConfig | None) -> PalaceRetriever:
        call = call_of(config, session_id=self.session_id, project=self.project)
        update = {"session_id": call.session_id, "project": call.project}
        return self.model_copy(update=update)

    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun,  # noqa: ARG002 - the base class tells the callbacks
        k: int | None = None,
    ) -> list[Document]:
        return self._documents(query, k)

    async def _aget_relevant_documents(
        self,
        query: str,
        *,
        run_manager: AsyncCallbackManagerForRetrieverRun,  # noqa: ARG002 - the base class tells the callbacks
        k: int | None = None,
    ) -> list[Document]:
        return await asyncio.to_thread(self._documents, query, k)

    def _documents(self, query: str, k: int | None) -> list[Document]:
        with memory_span("search_memory", self.session_id, query=query, tracer=TRACER) as told:
            documents = self._found(query, k)
            told["gen_ai.memory.record.count"] = len(documents)
        return documents

    def _found(self, query: str, k: int | None) -> list[Document]:
        k = self.k if k is None else k
        if not isinstance(k, int) or k < 1:
            raise ConfigError(f"k is {k!r}", hint="ask for at least one document")
        reports = search_evidence(
            self.palace, query, session_id=self.session_id, project=self.project
        )
        found = [document for report in reports for document in self._of(report)]
        broken = [r for r in reports if r.outcome == "unavailable"]
        if broken and not found:
            raise StoreUnavailableError(
                f"the memory could not be read: {broken[0].reason}",
                hint="run `palace doctor` to see what is wrong",
            )
        found.sort(key=_rank)
        return found[:k]

    def _of(self, report: LayerReport) -> list[Document]:
        documents = [document_of(item) for item in report.evidence]
        for document in documents:
            document.metadata["band"] = report.outcome
        return [] if self.sufficient_only and report.outcome != "sufficient" else documents


def _rank(document: Document) -> tuple[bool, float]:
    return document.metadata["band"] != "sufficient", -document.metadata["confidence"]
