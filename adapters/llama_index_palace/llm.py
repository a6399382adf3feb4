"""A model that looks before it answers: the one seam that every LlamaIndex host goes through.

In: any LlamaIndex model and a palace. Out: `PalaceLLM`, a drop-in for it in agents, workflows,
chat engines, query engines and structured prediction.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from llama_index.core.llms.llm import LLM
from llama_index.core.llms.structured_llm import StructuredLLM

from llama_index_palace.chatting import ChattingLLM
from llama_index_palace.completing import CompletingLLM
from llama_index_palace.predicting import PredictingLLM
from llama_index_palace.questions import rewrite_pattern
from llama_index_palace.session import PalaceSession
from llama_index_palace.wrapped import SHARED
from palace import ConfigError, Mempalace, require_palace, tool_names


class PalaceLLM(ChattingLLM, CompletingLLM, PredictingLLM):
    """Wraps a model so that recall prompts are decided by the palace before it is called.

    On a miss the wrapped model is not called at all. On unclear evidence it is asked for a quote
    first, and nothing is released without a verified one. On sufficient evidence it gets the
    evidence in the user's message, and its words are released as they are verified. Everything
    else goes through untouched. The verdict is in `additional_kwargs["palace"]`: whole in the
    response, in short in its message.

    The decision is made on the person's own words: the last message of the user's role, without
    what hosts add to it, or the question among a template's arguments. A host with prompts of its
    own making can be served inside `palace_session(session_id, question=...)`.

    What a tool answers is evidence beside that of the memory, but no words of a model behind it (a
    sub-agent, a query engine): they are heard where it is asked through LlamaIndex, and count where
    they are checked by a palace. Where such a tool's result is the reply, it is checked as one.

    Housekeeping of LlamaIndex' own hosts (summaries, extraction of metadata) passes; one with
    prompts of your making is no turn of a person either: give it `inner`. Arguments of tool calls
    go to the tools as the model wrote them, what it states to one whose result is the reply only
    as far as it is remembered. Which tools those are an agent that thinks in words does not say
    (`ReActAgent`): `direct_tools` names them, and any other tool that shows a person what it is
    given. What else shows or stores it does so on the host's responsibility.

    Args:
        inner: The model.
        palace: An open `Mempalace`.
        session_id: Session of all calls outside a `palace_session` block.
        project: Project of these calls.
        rewrite_prompts: Templates with `{question}` (and perhaps `{chat_history}`) with which a
            host of yours has the model rewrite a question before it is asked; those of
            LlamaIndex' own chat engines are known.
        direct_tools: Names of tools whose result reaches the person, beside those that a model
            call shows to be such (`return_direct`).
        model_tools: Names of tools behind which a model answers that cannot be heard, as one in
            another process: its words are no evidence. One whose words would be the reply is not
            called on evidence: the memory answers.

    Raises:
        ConfigError: If an argument is anything else, or the model a structured one.

    Example:
        >>> llm = PalaceLLM(model, palace, session_id="s1")  # doctest: +SKIP
        >>> agent = FunctionAgent(llm=llm, tools=tools)  # doctest: +SKIP
    """

    def __init__(
        self,
        inner: LLM,
        palace: Mempalace,
        *,
        session_id: str | None = None,
        project: str | None = None,
        rewrite_prompts: Sequence[str] = (),
        direct_tools: Collection[str] = (),
        model_tools: Collection[str] = (),
    ) -> None:
        if not isinstance(inner, LLM):
            raise ConfigError(
                f"{type(inner).__name__} is no model of LlamaIndex",
                hint="PalaceLLM(model, palace) takes the model first, then the open palace",
            )
        if isinstance(inner, StructuredLLM):  # it reads objects where there are checked words
            raise ConfigError(
                "a model that replies with objects is wrapped from the inside",
                hint="PalaceLLM(model, palace).as_structured_llm(Answer)",
            )
        direct = tool_names("direct_tools", direct_tools)
        models = tool_names("model_tools", model_tools)
        PalaceSession(session_id, project=project)
        super().__init__(
            inner=inner,
            palace=require_palace(palace),
            session_id=session_id,
            project=project,
            **{name: getattr(inner, name) for name in SHARED},
        )
        self._rewrites = tuple(rewrite_pattern(p.strip()) for p in rewrite_prompts)
        self._direct, self._models = direct, models

    @classmethod
    def class_name(cls) -> str:
        """Return the name of the class."""
        return "PalaceLLM"

    @classmethod
    def from_dict(cls, data: dict[str, Any], **kwargs: Any) -> PalaceLLM:
        """Make a wrapper of what `to_dict` wrote: `from_dict(data, inner=model, palace=palace)`.

        Neither the model nor the palace can be made of it; what else is in it is the model's own.
        """
        own: dict[str, Any] = {
            name: data[name] for name in ("session_id", "project") if name in data
        }
        return super().from_dict(own, **kwargs)
