"""Models of a few words, made on the spot, in the formats of the libraries that load them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

WORDS = (
    "a and where is the blue kettle stands in kitchen taxes are due may lamp number so on".split()
)
_DIMENSION = 16


def _tokenizer() -> Any:
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.normalizers import Lowercase
    from tokenizers.pre_tokenizers import Whitespace

    vocabulary = {word: n for n, word in enumerate(["[UNK]", "[PAD]", *WORDS])}
    tokenizer = Tokenizer(WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = Lowercase()
    tokenizer.pre_tokenizer = Whitespace()
    return tokenizer


def _weights(seed: int) -> Any:
    import numpy as np

    rows = np.random.default_rng(seed).standard_normal((len(WORDS) + 2, _DIMENSION))
    return rows.astype(np.float32)


def save_model2vec(folder: Path, *, seed: int = 0) -> Path:
    """Write a model of `model2vec`."""
    from model2vec import StaticModel

    folder.mkdir(parents=True, exist_ok=True)
    StaticModel(_weights(seed), _tokenizer()).save_pretrained(str(folder))
    return folder


def save_sentence_transformer(folder: Path, *, seed: int = 0) -> Path:
    """Write a model of `sentence-transformers`, with a prompt for questions."""
    from sentence_transformers import SentenceTransformer

    try:
        from sentence_transformers.sentence_transformer.modules import StaticEmbedding
    except ImportError:  # before version 6
        from sentence_transformers.models import StaticEmbedding

    embedding = StaticEmbedding(_tokenizer(), embedding_weights=_weights(seed))
    SentenceTransformer(modules=[embedding], prompts={"query": "where "}).save(str(folder))
    return folder
