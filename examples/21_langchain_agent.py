"""Put a palace in the path of a LangChain agent, and give it tools to remember and correct.

Offline a scripted model answers. With OPENAI_BASE_URL and OPENAI_MODEL set (and OPENAI_API_KEY, if
your server wants one), any OpenAI-compatible server does; this needs langchain-openai.

Run: python examples/21_langchain_agent.py
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from langchain.agents import create_agent
from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable, RunnableConfig
from langchain_palace import PalaceMiddleware, palace_tools

from palace import Mempalace, load_preset, seed

TOLD = "By the way, the staging database listens on port 6432."
TURNS = (
    "When did we move to Oslo?",  # not stored: no model is called
    TOLD,  # the agent uses its tool
    "Which port does the staging database listen on?",  # stored a moment ago
)


class ScriptedModel(BaseChatModel):
    """Remembers what it is told by tool, and repeats the first memory it is shown."""

    calls: int = 0

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Runnable[Any, AIMessage]:  # noqa: ANN401 - the host's signature
        """Take the tools; the script knows one of them."""
        return self.bind(tools=list(tools), **kwargs)

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,  # noqa: ARG002 - the host's signature
        run_manager: CallbackManagerForLLMRun | None = None,  # noqa: ARG002 - the host's signature
        **kwargs: Any,  # noqa: ANN401, ARG002 - the host's signature
    ) -> ChatResult:
        self.calls += 1
        return ChatResult(generations=[ChatGeneration(message=_reply(messages))])


def _reply(messages: Sequence[BaseMessage]) -> AIMessage:
    last = messages[-1]
    prompt = str(last.text)
    if isinstance(last, ToolMessage):
        return AIMessage("Noted for good.")
    if "Point to the memory item" in prompt:
        return AIMessage("NOT_IN_MEMORY")
    if "<memory-context>" in prompt and "Question:" in prompt:
        first = prompt.partition("[1] ")[2].splitlines()[1]
        return AIMessage(f"{first.strip()} [1]")
    if TOLD in prompt:
        arguments = {"text": "The staging database listens on port 6432.", "room": "infra"}
        call = {"name": "palace_remember", "args": arguments, "id": "1", "type": "tool_call"}
        return AIMessage("", tool_calls=[call])
    return AIMessage("Hello.")


def model_from_environment() -> BaseChatModel:
    """Return the model of your own server if one is named, else the scripted one."""
    base_url = os.environ.get("OPENAI_BASE_URL")
    if not base_url:
        return ScriptedModel()
    try:
        from langchain_openai import ChatOpenAI
    except ImportError as error:
        raise SystemExit("OPENAI_BASE_URL needs: pip install langchain-openai") from error
    model = os.environ.get("OPENAI_MODEL", "gpt-4.1-mini")
    key = os.environ.get("OPENAI_API_KEY", "none")
    made: BaseChatModel = ChatOpenAI(base_url=base_url, model=model, api_key=key)
    return made


def main() -> None:
    """Talk to an agent for three turns and print what it says, and how often a model was called."""
    model = model_from_environment()
    with tempfile.TemporaryDirectory() as folder:
        seed(load_preset("sample"), Path(folder))
        with Mempalace.open(folder) as palace:
            agent = create_agent(model, palace_tools(palace), middleware=[PalaceMiddleware(palace)])
            config: RunnableConfig = {"configurable": {"session_id": "monday"}}
            for turn in TURNS:
                state = agent.invoke({"messages": [{"role": "user", "content": turn}]}, config)
                print(f"> {turn}")
                for message in state["messages"][1:]:
                    if isinstance(message, ToolMessage):
                        print(f"  tool: {message.text}")
                print(f"{state['messages'][-1].text}\n")
            if isinstance(model, ScriptedModel):
                print(f"model calls: {model.calls}")


if __name__ == "__main__":
    main()
