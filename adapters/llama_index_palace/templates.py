"""The question among the arguments of a template, and who reads what the model makes of it.

In: a template and its arguments. Out: the person's words and the purpose of the call. Hosts show
most templates' answers to the person, and read others themselves: a choice, a query, a grade.
"""

from __future__ import annotations

import re
from collections import ChainMap
from collections.abc import Mapping
from typing import Literal

from llama_index.core.evaluation import (
    answer_relevancy,
    correctness,
    guideline,
    pairwise,
    relevancy,
)
from llama_index.core.indices.property_graph.sub_retrievers.llm_synonym import (
    DEFAULT_SYNONYM_EXPAND_TEMPLATE,
)
from llama_index.core.indices.query.query_transform.feedback_transform import (
    DEFAULT_RESYNTHESIS_PROMPT,
)
from llama_index.core.indices.query.query_transform.prompts import (
    DEFAULT_DECOMPOSE_QUERY_TRANSFORM_TMPL,
    DEFAULT_STEP_DECOMPOSE_QUERY_TRANSFORM_TMPL,
)
from llama_index.core.prompts import BasePromptTemplate, PromptType
from llama_index.core.prompts.default_prompts import HYDE_TMPL
from llama_index.core.query_engine.flare.base import DEFAULT_INSTRUCT_PROMPT

# `answer`: what the model says goes to the person. `rewrite`: it becomes the question of a later
# step. `inner`: it is read by the host (a choice, a ranking, a query) and shown to nobody.
# `pieces`: the host has the model go on with it, in prompts that do not show the question.
Purpose = Literal["answer", "rewrite", "inner", "pieces"]

_QUESTION_VARIABLES = ("query_str", "question", "query", "user_msg", "user_input", "input", "msg")
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
        PromptType.SUB_QUESTION,
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
        DEFAULT_RESYNTHESIS_PROMPT.get_template(),
    }
)
# Shipped templates that the host reads, though their type does not say so: sub-questions, keywords,
# and grades of an answer. By their words alone, for variables of the same names mean little.
_INNER_TEMPLATES = frozenset(
    {
        DEFAULT_STEP_DECOMPOSE_QUERY_TRANSFORM_TMPL,
        DEFAULT_SYNONYM_EXPAND_TEMPLATE,
        relevancy.DEFAULT_EVAL_TEMPLATE.get_template(),
        relevancy.DEFAULT_REFINE_TEMPLATE.get_template(),
        answer_relevancy.DEFAULT_EVAL_TEMPLATE.get_template(),
        correctness.DEFAULT_EVAL_TEMPLATE.get_template(),
        guideline.DEFAULT_EVAL_TEMPLATE.get_template(),
        pairwise.DEFAULT_EVAL_TEMPLATE.get_template(),
    }
)
_FLARE = DEFAULT_INSTRUCT_PROMPT.get_template()
# How `RelevancyEvaluator` puts a question and the answer that it grades into one variable.
_GRADED = re.compile(r"\AQuestion: (?P<words>.+?)\nResponse: ", re.DOTALL)


def asked_in_template(
    prompt: BasePromptTemplate, arguments: Mapping[str, object]
) -> tuple[str, Purpose] | None:
    """Return the question that a template was given and who reads the reply, None without one."""
    given: ChainMap[str, object] = ChainMap(dict(arguments), dict(prompt.kwargs))
    mapped = {v: k for k, v in (prompt.template_var_mappings or {}).items()}
    template = prompt.get_template()
    # HyDE has an answer made up to search with, and gives the question as what is to be summarised.
    names = ("context_str",) if template == HYDE_TMPL else _QUESTION_VARIABLES
    for name in names:
        value = given.get(name, given.get(mapped.get(name, name)))
        if isinstance(value, str) and value.strip():
            return _purposeful(value, name, prompt, template, given)
    return None


def _purposeful(
    words: str,
    name: str,
    prompt: BasePromptTemplate,
    template: str,
    given: Mapping[str, object],
) -> tuple[str, Purpose]:
    kind = prompt.metadata.get("prompt_type")
    if template in _REWRITES or kind == PromptType.DECOMPOSE:
        return words, "rewrite"
    if name == "question" and "chat_history" in given:
        return words, "rewrite"
    if template == _FLARE:
        return words, "pieces"
    if template in _INNER_TEMPLATES:
        graded = _GRADED.match(words)
        return graded["words"] if graded else words, "inner"
    return words, "inner" if kind in _INNER_TYPES else "answer"
