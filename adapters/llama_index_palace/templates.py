"""The question among the arguments of a template, and who reads what the model makes of it.

In: a template and its arguments, or a prompt that was made of a shipped one. Out: the person's
words and the purpose of the call. Hosts show most templates' answers to the person, and read others
themselves: a choice, a query, a grade.
"""

from __future__ import annotations

import re
from collections import ChainMap
from collections.abc import Mapping, Sequence
from contextlib import suppress
from string import Formatter
from typing import Literal, NamedTuple

from llama_index.core.evaluation import (
    answer_relevancy,
    context_relevancy,
    correctness,
    faithfulness,
    guideline,
    pairwise,
    relevancy,
)
from llama_index.core.evaluation.multi_modal import faithfulness as shown_faithfulness
from llama_index.core.evaluation.multi_modal import relevancy as shown_relevancy
from llama_index.core.extractors import metadata_extractors as extracting
from llama_index.core.extractors.document_context import (
    ORIGINAL_CONTEXT_PROMPT,
    SUCCINCT_CONTEXT_PROMPT,
)
from llama_index.core.graph_stores.prompts import DEFAULT_CYPHER_TEMPALTE_STR
from llama_index.core.indices.document_summary.base import DEFAULT_SUMMARY_QUERY
from llama_index.core.indices.property_graph.sub_retrievers.llm_synonym import (
    DEFAULT_SYNONYM_EXPAND_TEMPLATE,
)
from llama_index.core.indices.property_graph.transformations import dynamic_llm
from llama_index.core.indices.property_graph.transformations.schema_llm import (
    DEFAULT_SCHEMA_PATH_EXTRACT_PROMPT,
)
from llama_index.core.indices.query.query_transform.feedback_transform import (
    DEFAULT_RESYNTHESIS_PROMPT,
)
from llama_index.core.indices.query.query_transform.prompts import (
    DEFAULT_DECOMPOSE_QUERY_TRANSFORM_TMPL,
    DEFAULT_STEP_DECOMPOSE_QUERY_TRANSFORM_TMPL,
)
from llama_index.core.memory.memory_blocks.fact import (
    DEFAULT_FACT_CONDENSE_PROMPT,
    DEFAULT_FACT_EXTRACT_PROMPT,
)
from llama_index.core.node_parser.relational.base_element import DEFAULT_SUMMARY_QUERY_STR
from llama_index.core.output_parsers.base import OutputParserException
from llama_index.core.output_parsers.utils import parse_json_markdown
from llama_index.core.postprocessor.node import (
    DEFAULT_INFER_PREV_NEXT_TMPL,
    DEFAULT_REFINE_INFER_PREV_NEXT_TMPL,
)
from llama_index.core.postprocessor.pii import DEFAULT_PII_TMPL
from llama_index.core.prompts import (
    BasePromptTemplate,
    ChatPromptTemplate,
    PromptTemplate,
    PromptType,
    chat_prompts,
    default_prompts,
)
from llama_index.core.prompts.default_prompts import HYDE_TMPL
from llama_index.core.query_engine import citation_query_engine, knowledge_graph_query_engine
from llama_index.core.query_engine.flare.base import DEFAULT_INSTRUCT_PROMPT
from llama_index.core.query_engine.sql_join_query_engine import (
    DEFAULT_SQL_AUGMENT_TRANSFORM_PROMPT_TMPL,
)
from llama_index.core.selectors import prompts as selecting

from palace import values_in

# `answer`: what the model says goes to the person. `rewrite`: it becomes the question of a later
# step. `steps`: it holds questions whose answers the host puts together. `inner`: it is read by the
# host (a choice, a ranking, a query) and shown to nobody. `pieces`: the host has the model go on
# with it, in prompts that do not show the question.
Purpose = Literal["answer", "rewrite", "steps", "inner", "pieces"]

_QUESTION_VARIABLES = (
    "query_str",
    "question",
    "query",
    *(f"user_{name}" for name in ("msg", "input", "query", "question", "message")),
    "input",
    "msg",
)
_INNER_TYPES = frozenset(
    {
        PromptType.TREE_SELECT,
        PromptType.TREE_SELECT_MULTIPLE,
        PromptType.KEYWORD_EXTRACT,
        PromptType.QUERY_KEYWORD_EXTRACT,
        PromptType.SCHEMA_EXTRACT,
        PromptType.TEXT_TO_SQL,
        PromptType.TEXT_TO_GRAPH_QUERY,
        PromptType.TABLE_CONTEXT,
        PromptType.KNOWLEDGE_TRIPLET_EXTRACT,
        PromptType.PANDAS,
        PromptType.JSON_PATH,
        PromptType.VECTOR_STORE_QUERY,
        PromptType.SINGLE_SELECT,
        PromptType.MULTI_SELECT,
        PromptType.CHOICE_SELECT,
        PromptType.RANKGPT_RERANK,
    }
)
# Shipped templates whose reply an engine is asked in place of the question.
_REWRITES = frozenset(
    {
        HYDE_TMPL,
        DEFAULT_DECOMPOSE_QUERY_TRANSFORM_TMPL,
        DEFAULT_SQL_AUGMENT_TRANSFORM_PROMPT_TMPL,
        DEFAULT_RESYNTHESIS_PROMPT.get_template(),
    }
)
# Shipped templates that the host reads, though their type does not say so: keywords, queries of a
# graph and grades of an answer. By their words alone, for variables of the same names mean little.
_INNER_TEMPLATES = frozenset(
    {
        DEFAULT_SYNONYM_EXPAND_TEMPLATE,
        DEFAULT_CYPHER_TEMPALTE_STR,
        DEFAULT_INFER_PREV_NEXT_TMPL,
        DEFAULT_REFINE_INFER_PREV_NEXT_TMPL,
        context_relevancy.DEFAULT_EVAL_TEMPLATE.get_template(),
        context_relevancy.DEFAULT_REFINE_TEMPLATE.get_template(),
        relevancy.DEFAULT_EVAL_TEMPLATE.get_template(),
        relevancy.DEFAULT_REFINE_TEMPLATE.get_template(),
        shown_relevancy.DEFAULT_EVAL_TEMPLATE.get_template(),
        selecting.DEFAULT_SINGLE_PYD_SELECT_PROMPT_TMPL,
        selecting.DEFAULT_MULTI_PYD_SELECT_PROMPT_TMPL,
        answer_relevancy.DEFAULT_EVAL_TEMPLATE.get_template(),
        correctness.DEFAULT_EVAL_TEMPLATE.get_template(),
        guideline.DEFAULT_EVAL_TEMPLATE.get_template(),
        pairwise.DEFAULT_EVAL_TEMPLATE.get_template(),
    }
)
# What a host does with documents: nobody asks it anything, whatever they say. So is the grading of
# an answer against them, which the host gives as the question.
_OF_DOCUMENTS = frozenset(
    {
        PromptType.SUMMARY,
        PromptType.KEYWORD_EXTRACT,
        PromptType.SCHEMA_EXTRACT,
        PromptType.KNOWLEDGE_TRIPLET_EXTRACT,
        PromptType.TREE_INSERT,
    }
)
_DOCUMENT_VARIABLES = ("context_str", "text", "new_chunk_text")


def _single_braces(template: str) -> str:
    return re.sub(r"\{\{ (\w+) \}\}", r"{\1}", template)


# How an extractor hands over a piece of a document.
_SITUATED = (
    "Here is the chunk we want to situate within the whole document:\n<chunk>{chunk}</chunk>\n"
)
_HOUSEKEEPING = frozenset(
    {
        extracting.DEFAULT_TITLE_NODE_TEMPLATE,
        extracting.DEFAULT_TITLE_COMBINE_TEMPLATE,
        extracting.DEFAULT_KEYWORD_EXTRACT_TEMPLATE,
        extracting.DEFAULT_QUESTION_GEN_TMPL,
        extracting.DEFAULT_SUMMARY_EXTRACT_TEMPLATE,
        extracting.DEFAULT_EXTRACT_TEMPLATE_STR,
        *(_SITUATED + prompt for prompt in (ORIGINAL_CONTEXT_PROMPT, SUCCINCT_CONTEXT_PROMPT)),
        *(
            _single_braces(prompt.get_template())
            for prompt in (DEFAULT_FACT_EXTRACT_PROMPT, DEFAULT_FACT_CONDENSE_PROMPT)
        ),
        DEFAULT_SCHEMA_PATH_EXTRACT_PROMPT.get_template(),
        DEFAULT_PII_TMPL,
        faithfulness.DEFAULT_EVAL_TEMPLATE.get_template(),
        faithfulness.DEFAULT_REFINE_TEMPLATE.get_template(),
        shown_faithfulness.DEFAULT_EVAL_TEMPLATE.get_template(),
        *(template.get_template() for template in faithfulness.TEMPLATES_CATALOG.values()),
    }
)
# What indices ask of each document, or of each table in it, in the place of a question.
_ASKED_OF_DOCUMENTS = frozenset({DEFAULT_SUMMARY_QUERY, DEFAULT_SUMMARY_QUERY_STR})
# A template of fewer characters of its own tells nothing.
_TELLING = 80
_FLARE = DEFAULT_INSTRUCT_PROMPT.get_template()
# What a template says that has a question of a conversation rewritten.
_STANDALONE = re.compile(
    r"\b(?:(?:re)?formulate|rephrase|rewrite|condense)\b[^.]{1,200}"
    r"\bstand-?alone (?:question|query)\b",
    re.IGNORECASE,
)
# How `RelevancyEvaluator` puts a question and the answer that it grades into one variable.
_GRADED = re.compile(r"\AQuestion: (?P<words>.+?)\nResponse: ", re.DOTALL)


class Told(NamedTuple):
    """What a template tells of a call: the person's words, who reads the reply, what was said.

    A template with the conversation in it may be one that rewrites, in words that nobody knows.
    """

    words: str
    purpose: Purpose
    chat_history: str = ""
    may_rewrite: bool = False


def asked_in_template(
    prompt: BasePromptTemplate,
    arguments: Mapping[str, object],
    rewrites: Sequence[re.Pattern[str]] = (),
) -> Told | None:
    """Return the question that a template was given and who reads the reply, None without one.

    Housekeeping asks nothing: its question is "".

    Args:
        prompt: The template.
        arguments: What it was given.
        rewrites: Templates that ask for a rewritten question; see `rewrite_pattern`.
    """
    given: ChainMap[str, object] = ChainMap(dict(arguments), dict(prompt.kwargs))
    mapped = {v: k for k, v in (prompt.template_var_mappings or {}).items()}
    template = prompt.get_template()
    if template in _HOUSEKEEPING:
        return Told("", "inner")
    # HyDE has an answer made up to search with, and gives the question as what is to be summarised.
    names = ("context_str",) if template == HYDE_TMPL else _QUESTION_VARIABLES
    for name in names:
        value = given.get(name, given.get(mapped.get(name, name)))
        if isinstance(value, str) and value.strip():
            if value in _ASKED_OF_DOCUMENTS:
                return Told("", "inner")
            words, purpose = _purposeful(value, prompt, template)
            said = given.get("chat_history")
            is_standalone = said is not None and _STANDALONE.search(template)
            if is_standalone or any(form.match(template) for form in rewrites):
                purpose = "rewrite"
            may_rewrite = said is not None and purpose == "answer"
            return Told(words, purpose, said if isinstance(said, str) else "", may_rewrite)
    if prompt.metadata.get("prompt_type") in _OF_DOCUMENTS and given.keys() & _DOCUMENT_VARIABLES:
        return Told("", "inner")
    return None


class _Form:
    """The words that a template puts around its arguments.

    Args:
        template: One that is no conversation, or the last message of one.
    """

    def __init__(self, template: PromptTemplate) -> None:
        self.template = template
        self.names: list[str] = []
        self.pieces = [""]
        for words, name, _, _ in Formatter().parse(template.template.strip()):
            self.pieces[-1] += words
            if name is not None:
                self.names.append(name)
                self.pieces.append("")
        self.first, self.last = self.pieces[0], self.pieces[-1]

    def given(self, text: str) -> dict[str, str] | None:
        """Return what the template was given if a text between its ends was made of it.

        The last pieces fit first: so what the documents before a question say cannot hide it.
        """
        end = len(text) - len(self.last)
        if end < len(self.first):
            return None
        rest = text[len(self.first) : end]
        found: dict[str, str] = {}
        inner = reversed(self.pieces[1:-1])
        for name, piece in zip(reversed(self.names[1:]), inner, strict=True):
            rest, mark, found[name] = rest.rpartition(piece)
            if not mark:
                return None
        return {**found, self.names[0]: rest}


def _shipped() -> list[_Form]:
    """Return the shipped templates that a finished prompt can be told by."""
    modules = (
        default_prompts,
        selecting,
        citation_query_engine,
        dynamic_llm,
        knowledge_graph_query_engine,
    )
    found = [t for m in modules for t in vars(m).values() if isinstance(t, PromptTemplate)]
    chats = [t for t in vars(chat_prompts).values() if isinstance(t, ChatPromptTemplate)]
    lasts = [str(chat.message_templates[-1].content) for chat in chats]
    found += map(PromptTemplate, (*lasts, *_HOUSEKEEPING, *_INNER_TEMPLATES, *_REWRITES))
    # A reranker says the words of its template behind others; see `questions`.
    found = [t for t in found if t.metadata["prompt_type"] != PromptType.RANKGPT_RERANK]
    forms = [_Form(t) for t in {t.template: t for t in found}.values() if t.template_vars]
    return [f for f in forms if len("".join(f.pieces)) >= _TELLING and all(f.pieces[1:-1])]


def asked_in_shipped(text: str) -> Told | None:
    """Return the question of a prompt that was made of a shipped template, None of any other.

    Programs and models that reply with objects show the finished prompt alone.
    """
    text = text.strip()
    for form in _SHIPPED if text.startswith(_FIRST_WORDS) else _BEGUN_WITH_ANYTHING:
        if text.startswith(form.first) and text.endswith(form.last):
            given = form.given(text)
            if given is not None:
                return asked_in_template(form.template, given)
    return None


def pattern_of(template: str, **variables: str) -> str:
    """Return what matches a template of a host, with these patterns for its variables."""
    pattern = re.escape(template)
    for name, matched in variables.items():
        pattern = pattern.replace(re.escape(f"{{{name}}}"), matched)
    return pattern


def next_questions(reply: str, purpose: Purpose) -> list[str]:
    """Return what of a reply the host may ask next in the place of the question.

    Steps may be a list that tells whom to ask as well, or a word that there are none: what a person
    may say too is no question.
    """
    if purpose != "steps":
        return [reply] if purpose == "rewrite" else []
    found = [reply]
    with suppress(OutputParserException, ValueError):  # no list
        found += values_in(parse_json_markdown(reply))
    return [text for text in found if not text.strip().isidentifier()]


def _purposeful(words: str, prompt: BasePromptTemplate, template: str) -> tuple[str, Purpose]:
    kind = prompt.metadata.get("prompt_type")
    if template in _REWRITES or kind == PromptType.DECOMPOSE:
        return words, "rewrite"
    if template == DEFAULT_STEP_DECOMPOSE_QUERY_TRANSFORM_TMPL or kind == PromptType.SUB_QUESTION:
        return words, "steps"
    if template == _FLARE:
        return words, "pieces"
    if template in _INNER_TEMPLATES:
        graded = _GRADED.match(words)
        return graded["words"] if graded else words, "inner"
    return words, "inner" if kind in _INNER_TYPES else "answer"


_SHIPPED = _shipped()
# All of them are tried where a text begins like any: most begin like none.
_FIRST_WORDS = tuple({form.first for form in _SHIPPED if form.first})
_BEGUN_WITH_ANYTHING = [form for form in _SHIPPED if not form.first]
