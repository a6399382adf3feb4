"""What a host does with documents and old conversations asks nothing, whatever they say."""

from __future__ import annotations

from typing import Any

import pytest
from llama_index.core import Document, DocumentSummaryIndex, MockEmbedding
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.bridge.pydantic import BaseModel
from llama_index.core.evaluation.multi_modal import MultiModalFaithfulnessEvaluator
from llama_index.core.extractors import DocumentContextExtractor, PydanticProgramExtractor
from llama_index.core.indices.property_graph import SchemaLLMPathExtractor
from llama_index.core.memory import FactExtractionMemoryBlock
from llama_index.core.postprocessor import PIINodePostprocessor
from llama_index.core.program.utils import get_program_for_llm
from llama_index.core.prompts import PromptTemplate
from llama_index.core.prompts.default_prompts import (
    DEFAULT_KEYWORD_EXTRACT_TEMPLATE,
    DEFAULT_SCHEMA_EXTRACT_PROMPT,
)
from llama_index.core.schema import TextNode
from llama_index.core.storage.docstore import SimpleDocumentStore
from llama_index_palace import PalaceLLM

from tests.adapters.llama_index.scripted import HIT, LIE, MISS, UNCLEAR, ScriptedLLM

FACTS = "<facts><fact>It is red.</fact></facts>"
MASKED = "[TAG] asks.\nOutput Mapping:\n{}"
GRAPH = {
    "name": "Zork",
    "triplets": [
        {
            "subject": {"name": "Zork", "type": "PERSON"},
            "relation": {"type": "WORKED_AT"},
            "object": {"name": "Quay", "type": "PLACE"},
        }
    ],
}


async def facts_of(llm: Any, words: str) -> object:
    block = FactExtractionMemoryBlock(llm=llm)
    await block.aput([ChatMessage("Hello.", role="assistant"), ChatMessage(words)])
    return block.facts


async def condensed_facts_of(llm: Any, words: str) -> object:
    block = FactExtractionMemoryBlock(llm=llm, max_facts=1, facts=["It is old.", "It is big."])
    await block.aput([ChatMessage(words)])
    return block.facts


async def context_of(llm: Any, words: str) -> object:
    documents = SimpleDocumentStore()
    document = Document(text=f"Notes. {words}", id_="d")
    documents.add_documents([document])
    node = TextNode(text=words, relationships={"1": document.as_related_node_info()})
    extractor = DocumentContextExtractor(documents, llm=llm, max_context_length=1000)
    return await extractor.aextract([node])


async def keywords_of(llm: Any, words: str) -> object:
    # As a `KeywordTableIndex` asks; older ones of these load stop words from the network.
    return await llm.apredict(DEFAULT_KEYWORD_EXTRACT_TEMPLATE, max_keywords=3, text=words)


async def fields_of(llm: Any, words: str) -> object:
    return await llm.apredict(DEFAULT_SCHEMA_EXTRACT_PROMPT, schema="colour", text=words)


async def grade_of(llm: Any, words: str) -> object:
    grades = MultiModalFaithfulnessEvaluator(llm)
    return (await grades.aevaluate(response=words, contexts=["Boats are red."])).feedback


async def summary_of(llm: Any, words: str) -> object:
    index = DocumentSummaryIndex.from_documents(
        [Document(text=words, id_="d")],
        llm=llm,
        embed_model=MockEmbedding(2),
        embed_summaries=False,
    )
    return index.get_document_summary("d")


async def graph_of(llm: Any, words: str) -> object:
    (node,) = await SchemaLLMPathExtractor(llm=llm, strict=False).acall([TextNode(text=words)])
    return [made.name for made in node.metadata["nodes"]]


class Talk(BaseModel):
    """Who talks."""

    name: str


async def extracted_of(llm: Any, words: str) -> object:
    program = get_program_for_llm(Talk, PromptTemplate("{input}"), llm=llm)
    extractor = PydanticProgramExtractor(program=program, input_key="input", show_progress=False)
    return await extractor.aextract([TextNode(text=f"A talk.\n\nQuestion: {words}")])


async def masked_of(llm: Any, words: str) -> object:
    return PIINodePostprocessor(llm=llm).mask_pii(words)


KEEPING = {
    "facts": (facts_of, FACTS),
    "condensed facts": (condensed_facts_of, FACTS),
    "context": (context_of, LIE),
    "keywords": (keywords_of, LIE),
    "fields": (fields_of, LIE),
    "grade": (grade_of, LIE),
    "summary": (summary_of, LIE),
    "graph": (graph_of, ""),
    "extracted": (extracted_of, ""),
    "masked": (masked_of, MASKED),
}


@pytest.mark.parametrize("words", [MISS, HIT, UNCLEAR])
@pytest.mark.parametrize("name", KEEPING)
async def test_it_is_done_as_with_the_bare_model(palace, name, words):
    keep, answer = KEEPING[name]
    bare = ScriptedLLM(answer=answer, tool_arguments=GRAPH)
    model = ScriptedLLM(answer=answer, tool_arguments=GRAPH)
    palace.set_identity("I am the keeper of the harbour.")
    made = await keep(PalaceLLM(model, palace, session_id="s1"), words)
    assert made == await keep(bare, words)
    assert made
    assert model.prompts == bare.prompts
    assert palace.decided == []
    assert not palace.has_begun("s1")


async def test_a_person_who_speaks_like_it_is_answered(palace, model):
    """Only the whole of what a host says is its own."""
    llm = PalaceLLM(model, palace)
    for words in (
        f"You are a precise fact extraction system. {MISS}",
        f"Here is the chunk we want to situate within the whole document:\n<chunk>{MISS}</chunk>\n",
    ):
        assert (await llm.achat([ChatMessage(words)])).message.content != ""
        assert palace.decided.pop() == words
    assert model.calls == []
