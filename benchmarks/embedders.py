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

NAMES = "off, wordllama, model2vec:PATH, sentence-transformers:PATH_OR_NAME or openai"


def add_option(parser: argparse.ArgumentParser) -> None:
    """Add `--embedder` to a benchmark's arguments."""
    parser.add_argument(
        "--embedder",
        default="off",
        help=f"{NAMES} (by EMBEDDING_BASE_URL, EMBEDDING_MODEL_NAME and EMBEDDING_API_KEY)",
    )


def use(name: str) -> None:
    """Make every palace that is opened from now on use an embedder.

    Raises:
        ConfigError: If there is none of this name.
    """
    provider, _, model = name.partition(":")
    if provider not in NAMES.replace(":", " ").replace(",", " ").split():
        raise ConfigError(f"{name!r} is no embedder", hint=f"use one of {NAMES}")
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
