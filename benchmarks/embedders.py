"""Which embedder a benchmark measures with: one option, and the palaces opened after it.

In: `--embedder NAME`. Out: palaces whose every memory has its vector before a question is asked.
"""

from __future__ import annotations

import argparse
import os
import time
from typing import Any

from benchmarks.command import say
from palace import ConfigError, Mempalace

_NAMES = ("off", "wordllama", "openai", "model2vec:PATH", "sentence-transformers:PATH_OR_NAME")


def add_option(parser: argparse.ArgumentParser) -> None:
    """Add `--embedder` to a benchmark's arguments."""
    parser.add_argument(
        "--embedder",
        default="off",
        help=f"one of {', '.join(_NAMES)}; openai by EMBEDDING_BASE_URL, EMBEDDING_MODEL_NAME and"
        " EMBEDDING_API_KEY",
    )


def use(name: str) -> None:
    """Make every palace that is opened from now on use an embedder.

    Raises:
        ConfigError: If none is listed by this name, with a model or without one.
    """
    provider, _, model = name.partition(":")
    if (provider, bool(model)) not in {(n.partition(":")[0], ":" in n) for n in _NAMES}:
        raise ConfigError(f"{name!r} is no embedder", hint=f"use one of {', '.join(_NAMES)}")
    os.environ["PALACE_EMBEDDINGS__PROVIDER"] = provider
    os.environ["PALACE_EMBEDDINGS__MODEL"] = model


def embed_all(palace: Mempalace) -> dict[str, Any]:
    """Embed what has no vector yet; return the model, the number and the rate, {} without one."""
    if palace.vectors is None:
        return {}
    say(f"embedding the memories of {palace.root.name}")
    started = time.perf_counter()
    done = palace.embed()
    elapsed_s = time.perf_counter() - started
    return {
        "model": str(done.identity),
        "memories": done.total,
        "embedded_per_s": done.total / elapsed_s,
    }
