"""Give a LlamaIndex agent a memory that it cannot talk around, and tools to keep it.

Offline a scripted model reasons. With OPENAI_BASE_URL and OPENAI_MODEL set (and OPENAI_API_KEY, if
your server wants one), any OpenAI-compatible server does; this needs llama-index-llms-openai-like.

Run: python examples/23_llama_index_agent.py
"""

from __future__ import annotations

import asyncio
import os
import tempfile
from pathlib import Path
from typing import Any

from llama_index.core.agent.workflow import FunctionAgent, ReActAgent
from llama_index.core.base.llms.types import (
    CompletionResponse,
    CompletionResponseGen,
    LLMMetadata,
)
from llama_index.core.llms import LLM, CustomLLM
from llama_index_palace import PalaceLLM, palace_session, palace_tools

from palace import Mempalace, load_preset, seed

SAID = (
    "When did we move to PostgreSQL 16?",
    "When did we move to Oslo?",
    "It is settled now: the harvest party starts at 18:00 on the terrace.",
    "When does the harvest party start?",
)
_REMEMBER = """Thought: This is worth keeping.
Action: palace_remember
Action Input: {"text": "The harvest party starts at 18:00 on the terrace."}"""


class ScriptedModel(CustomLLM):
    """Reasons in the words ReActAgent reads: uses a tool when asked to, else repeats a memory."""

    @property
    def metadata(self) -> LLMMetadata:
        """A plain chat model without function calling."""
        return LLMMetadata(is_chat_model=True, model_name="scripted")

    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:  # noqa: ANN401, ARG002 - the host's signature
        """Reply to one prompt."""
        said = prompt.rpartition("\nuser: ")[2]
        if "It is settled" in said and "Observation: " not in said:
            return CompletionResponse(text=_REMEMBER)
        answer = "It is kept."
        if "<memory-context>" in said and "Answer the question below" in said:
            answer = said.partition("[1] ")[2].splitlines()[1].strip() + " [1]"
        return CompletionResponse(text=f"Thought: I can answer.\nAnswer: {answer}")

    def stream_complete(
        self,
        prompt: str,
        formatted: bool = False,
        **kwargs: Any,  # noqa: ANN401 - the host's signature
    ) -> CompletionResponseGen:
        """Reply to one prompt in one piece."""
        reply = self.complete(prompt, formatted, **kwargs)
        return (r for r in [CompletionResponse(text=reply.text, delta=reply.text)])


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
        is_function_calling_model=True,
    )
    return model


async def converse(palace: Mempalace) -> None:
    """Say everything to the agent, each time as a turn of one session."""
    llm = PalaceLLM(model_from_environment(), palace)  # the one line
    kind = FunctionAgent if llm.metadata.is_function_calling_model else ReActAgent
    agent = kind(llm=llm, tools=palace_tools(palace))
    for words in SAID:
        with palace_session("example"):
            result: Any = await agent.run(user_msg=words)
        verdict = result.response.additional_kwargs["palace"]
        print(f"> {words}\n{result.response.content}")
        print(f"  {verdict['action']}, {verdict['model_calls']} model calls for this reply\n")


def main() -> None:
    """Print what the agent says and what was decided before it could."""
    with tempfile.TemporaryDirectory() as folder:
        seed(load_preset("sample"), Path(folder))
        with Mempalace.open(folder) as palace:
            asyncio.run(converse(palace))


if __name__ == "__main__":
    main()
