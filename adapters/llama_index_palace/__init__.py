"""LlamaIndex hosts that look before they answer.

In: a model or an engine you already have, and a palace. Out: the same thing, wrapped.
"""

from __future__ import annotations

from llama_index_palace.compress import PalaceSummaryBlock, compress_history
from llama_index_palace.events import PalaceVerdictEvent
from llama_index_palace.llm import PalaceLLM
from llama_index_palace.memory_block import PalaceMemoryBlock
from llama_index_palace.query_engine import PalaceQueryEngine
from llama_index_palace.retriever import PalaceRetriever
from llama_index_palace.session import PalaceSession, current_session, palace_session
from llama_index_palace.synthesizer import palace_synthesizer
from llama_index_palace.tools import palace_tools

__all__ = [
    "PalaceLLM",
    "PalaceMemoryBlock",
    "PalaceQueryEngine",
    "PalaceRetriever",
    "PalaceSession",
    "PalaceSummaryBlock",
    "PalaceVerdictEvent",
    "compress_history",
    "current_session",
    "palace_session",
    "palace_synthesizer",
    "palace_tools",
]
