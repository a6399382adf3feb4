"""Make the table of related words that ships with recall.

Run:
    python -m benchmarks.related_words --model PATH --words FILE --out FILE
    python -m benchmarks.related_words --show FILE

In: a model of sentence-transformers, and the words of a language with their counts, "word count" a
line, most frequent first; the table that ships was made with MiniLM-L6-v2 (Apache-2.0) from the
English frequency dictionary of the package symspellpy (MIT; its counts are those of Google Books,
its words those of SCOWL). Out: for every index token its nearest others; `--show` prints a table, a
line "token other93 another82" for each token, nearness in hundredths. Words that count, and days
and months, are left out: "two" is near "three" and no answer for it.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from palace.recall.lexicon import word_tokens
from palace.recall.related import Table, packed
from palace.text import words

WORDS = 40_000
NEAREST = 24
LEAST = 0.4
_BATCH = 512
_WORD = re.compile(r"[a-z]{3,}")
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
Matrix = NDArray[np.float32]


def counted_words(path: Path) -> list[tuple[str, int]]:
    """Return the words of a list with their counts, most frequent first, at most `WORDS`."""
    lines = (line.split() for line in path.read_text("utf-8-sig").splitlines())
    return [(word, int(count)) for word, count in lines if _WORD.fullmatch(word)][:WORDS]


def telling_times() -> set[str]:
    """Return the tokens of words that count, or tell a time."""
    days = (found.token for day in _WEEKDAYS for found in words(day))
    return {*word_tokens("number_words"), *word_tokens("relative_dates"), *days}


def by_token(counted: list[tuple[str, int]]) -> dict[str, list[tuple[str, int]]]:
    """Return the words behind each index token; what counts, or tells a time, is left out."""
    times = telling_times()
    tokens: dict[str, list[tuple[str, int]]] = {}
    for word, count in counted:
        found = words(word)
        if len(found) == 1 and found[0].token not in times and found[0].token.isalpha():
            tokens.setdefault(found[0].token, []).append((word, count))
    return tokens


def embedded(texts: list[str], model: str) -> Matrix:
    """Return a vector for every text, L2-normalised, texts x dimension."""
    from sentence_transformers import SentenceTransformer

    matrix: Matrix = SentenceTransformer(model).encode(
        texts, batch_size=_BATCH, normalize_embeddings=True, show_progress_bar=True
    )
    return matrix


def pooled(tokens: dict[str, list[tuple[str, int]]], vectors: Mapping[str, Matrix]) -> Matrix:
    """Return a vector for every token: the mean of its words, by how often each is used."""
    rows = [sum(count * vectors[word] for word, count in found) for found in tokens.values()]
    matrix: Matrix = np.asarray(rows, dtype=np.float32)
    matrix /= np.linalg.norm(matrix, axis=1, keepdims=True)
    return matrix


def table(tokens: list[str], matrix: Matrix) -> dict[str, list[tuple[str, int]]]:
    """Return of every token that has any its nearest others, nearness in hundredths."""
    found = {}
    for start in range(0, len(tokens), _BATCH):
        near = matrix[start : start + _BATCH] @ matrix.T
        for token, row in zip(tokens[start : start + _BATCH], near, strict=False):
            best = [n for n in np.argsort(-row)[: NEAREST + 1] if tokens[n] != token]
            pairs = [(tokens[n], round(float(row[n]) * 100)) for n in best[:NEAREST]]
            kept = [(other, near) for other, near in pairs if LEAST * 100 <= near < 100]
            if kept:
                found[token] = kept
    return found


def show(path: Path) -> None:
    """Print the lines of a table."""
    shown = Table(path.read_bytes())
    for token in shown.tokens:
        near = (f"{other}{round(near * 100)}" for other, near in shown.near(token).items())
        print(" ".join((token, *near)))


def main() -> None:
    """Embed, compare and write; or show what was written."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--model", help="of sentence-transformers, path or name")
    parser.add_argument("--words", type=Path, help="words with their counts")
    parser.add_argument("--out", type=Path, help="the table")
    parser.add_argument("--show", type=Path, help="print this table instead")
    arguments = parser.parse_args()
    if arguments.show is not None:
        show(arguments.show)
        return
    if not (arguments.model and arguments.words and arguments.out):
        parser.error("--model, --words and --out are needed to make a table")
    tokens = by_token(counted_words(arguments.words))
    texts = [word for found in tokens.values() for word, _ in found]
    vectors = dict(zip(texts, embedded(texts, arguments.model), strict=True))
    found = table([*tokens], pooled(tokens, vectors))
    size = arguments.out.write_bytes(packed(found))
    print(f"{len(found)} tokens, {size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
