"""Put a palace in front of a LangChain chain.

Offline a scripted model answers. With OPENAI_BASE_URL and OPENAI_MODEL set (and OPENAI_API_KEY, if
your server wants one), any OpenAI-compatible server does; this needs langchain-openai.

Run: python examples/20_langchain_chain.py
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

from langchain_core.language_models import BaseChatModel, SimpleChatModel
from langchain_core.messages import BaseMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_palace import ChatPalace, PalaceRunnable

from palace import Mempalace, load_preset, seed

QUESTIONS = (
    "When did we move to PostgreSQL 16?",  # stored
    "What is Tomas allergic to?",  # something close is stored
    "When did we move to Oslo?",  # not stored: no model is called
    "Write a haiku about rain.",  # no question about the past: passes untouched
)


class ScriptedModel(SimpleChatModel):
    """Repeats the first memory it is shown, points to nothing, and knows one poem."""

    calls: int = 0

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def _call(self, messages: list[BaseMessage], *_: Any, **__: Any) -> str:  # noqa: ANN401 - the host's signature
        self.calls += 1
        return _reply(str(messages[-1].text))


def _reply(prompt: str) -> str:
    if "Point to the memory item" in prompt:
        return "NOT_IN_MEMORY"
    if "<memory-context>" in prompt:
        first = prompt.partition("[1] ")[2].splitlines()[1]
        return f"{first.strip()} [1]"
    return "Rain on the window, the kettle begins to sing, nobody goes out."


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
    """Ask a wrapped model and a wrapped chain, and print how often the model was called."""
    model = model_from_environment()
    with tempfile.TemporaryDirectory() as folder:
        seed(load_preset("sample"), Path(folder))
        with Mempalace.open(folder) as palace:
            prompt = ChatPromptTemplate.from_messages(
                [("system", "Be brief."), ("human", "{question}")]
            )

            # One line around the model: everything you build on it is behind the palace ...
            wrapped = prompt | ChatPalace(inner=model, palace=palace) | StrOutputParser()
            for question in QUESTIONS:
                print(f"> {question}\n{wrapped.invoke({'question': question})}\n")
            if isinstance(model, ScriptedModel):
                print(f"model calls: {model.calls}\n")

            # ... or one line around a whole chain, whatever is in it.
            chain = PalaceRunnable(bound=prompt | model | StrOutputParser(), palace=palace)
            for piece in chain.stream({"question": QUESTIONS[0]}):
                print(piece, end="", flush=True)
            print()


if __name__ == "__main__":
    main()
