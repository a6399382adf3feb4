"""LangChain with a memory that looks before it answers: wrap what you have with one line.

In: a chat model, a chain or an agent, and an open palace. Out: the same thing, which calls no
model for a question about something that is not remembered. `langchain-core` is enough for
everything but `PalaceMiddleware` and `PalaceCompression`, which need `langchain`. Names are loaded
when first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from langchain_palace.chat_model import ChatPalace
    from langchain_palace.compress import compress_history
    from langchain_palace.compression import PalaceCompression
    from langchain_palace.history import PalaceChatMessageHistory
    from langchain_palace.middleware import PalaceMiddleware
    from langchain_palace.retriever import PalaceRetriever
    from langchain_palace.runnable import PalaceRunnable
    from langchain_palace.tools import palace_tools

_MODULE_OF = {
    "ChatPalace": "chat_model",
    "PalaceChatMessageHistory": "history",
    "PalaceCompression": "compression",
    "PalaceMiddleware": "middleware",
    "PalaceRetriever": "retriever",
    "PalaceRunnable": "runnable",
    "compress_history": "compress",
    "palace_tools": "tools",
}

__all__ = [
    "ChatPalace",
    "PalaceChatMessageHistory",
    "PalaceCompression",
    "PalaceMiddleware",
    "PalaceRetriever",
    "PalaceRunnable",
    "compress_history",
    "palace_tools",
]


def __getattr__(name: str) -> Any:
    module = _MODULE_OF.get(name)
    if module is None:
        raise AttributeError(f"module 'langchain_palace' has no attribute {name!r}")
    value = getattr(import_module(f"langchain_palace.{module}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return list(__all__)
