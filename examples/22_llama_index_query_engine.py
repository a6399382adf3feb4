"""Put a palace in front of a LlamaIndex query engine and its model.

Offline a scripted model answers. With OPENAI_BASE_URL and OPENAI_MODEL set (and OPENAI_API_KEY, if
your server wants one), any OpenAI-compatible server does; this needs llama-index-llms-openai-like.

Run: python examples/22_llama_index_query_engine.py
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

from llama_index.core.base.llms.types import (
    CompletionResponse,
    CompletionResponseGen,
    LLMMetadata,
)
from llama_index.core.base.response.schema import Response
from llama_index.core.llms import LLM, CustomLLM
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
from llama_index_palace import PalaceQueryEngine

from palace import Mempalace, load_preset, seed

QUESTIONS = (
    "When did we move to PostgreSQL 16?",  # stored
    "What is Tomas allergic to?",  # something close is stored
    "When did we move to Oslo?",  # not stored: no model is called
    "What grows in the shade?",  # not about the past: the documents answer
)


class ScriptedModel(CustomLLM):
    """Repeats the first memory it is shown, points to nothing, and knows one document."""

    calls: int = 0

    @property
    def metadata(self) -> LLMMetadata:
        """A plain chat model."""
        return LLMMetadata(is_chat_model=True, model_name="scripted")

    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:  # noqa: ANN401, ARG002 - the host's signature
        """Reply to one prompt."""
        self.calls += 1
        if "Point to the memory item" in prompt:
            return CompletionResponse(text="NOT_IN_MEMORY")
        if "<memory-context>" in prompt:
            first = prompt.partition("[1] ")[2].splitlines()[1]
            return CompletionResponse(text=f"{first.strip()} [1]")
        return CompletionResponse(text="Ferns grow in the shade.")

    def stream_complete(
        self,
        prompt: str,
        formatted: bool = False,
        **kwargs: Any,  # noqa: ANN401 - the host's signature
    ) -> CompletionResponseGen:
        """Reply to one prompt in one piece."""
        return (reply for reply in [self.complete(prompt, formatted, **kwargs)])


class Garden(BaseRetriever):
    """Stands for the documents you have indexed."""

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        """Return the only document, whatever is asked."""
        return [NodeWithScore(node=TextNode(text=f"Ferns ({query_bundle.query_str})"), score=0.5)]


def model_from_environment() -> LLM:
    """Return the model of your own server if one is named, else the scripted one."""
    base_url = os.environ.get("OPENAI_BASE_URL")
    if not base_url:
        return ScriptedModel()
    try:
        from llama_index.llms.openai_like import OpenAILike
    except ImportError as error:
        raise SystemExit("pip install llama-index-llms-openai-like to use a server") from error
    model: LLM = OpenAILike(
        model=os.environ.get("OPENAI_MODEL", "gpt-4.1-mini"),
        api_base=base_url,
        api_key=os.environ.get("OPENAI_API_KEY", "none"),
        is_chat_model=True,
    )
    return model


def main() -> None:
    """Print each answer, what was decided, and how many model calls it took."""
    model = model_from_environment()
    with tempfile.TemporaryDirectory() as folder:
        seed(load_preset("sample"), Path(folder))
        with Mempalace.open(folder) as palace:
            engine = RetrieverQueryEngine.from_args(Garden(), llm=model)
            engine_with_memory = PalaceQueryEngine(engine, palace, llm=model)  # the one line
            for question in QUESTIONS:
                response = engine_with_memory.query(question)
                assert isinstance(response, Response)
                verdict = (response.metadata or {})["palace"]
                print(f"> {question}\n{response}")
                print(f"  {verdict['action']}, {verdict['model_calls']} model calls\n")


if __name__ == "__main__":
    main()
