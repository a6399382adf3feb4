"""Other lexical searches over the same statements: what the speed benchmark stands beside.

In: statements and the words of questions. Out: for each search that is installed, what it costs to
build and to ask; for the others, why they were left out. Each gets the same content words.
"""

from __future__ import annotations

import importlib
import sqlite3
import time
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from benchmarks.measures import latency_ms

TOP_K = 10
Ask = Callable[[str], object]
Build = Callable[[Sequence[str]], Ask]


def plain_fts5(statements: Sequence[str]) -> Ask:
    """Return a search over SQLite's FTS5 as one would write it first: porter, OR, bm25."""
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE VIRTUAL TABLE found USING fts5(body, tokenize='porter')")
    connection.executemany("INSERT INTO found (body) VALUES (?)", ((s,) for s in statements))

    def ask(words: str) -> object:
        match = " OR ".join(f'"{word}"' for word in words.split())
        sql = "SELECT body FROM found WHERE found MATCH ? ORDER BY bm25(found) LIMIT ?"
        return connection.execute(sql, (match, TOP_K)).fetchall() if match else []

    weakref.finalize(ask, connection.close)
    return ask


def bm25s(statements: Sequence[str]) -> Ask:
    """Return a search over `bm25s`: scores of all terms computed beforehand."""
    library = importlib.import_module("bm25s")
    model = library.BM25()
    model.index(library.tokenize(list(statements), show_progress=False), show_progress=False)

    def ask(words: str) -> object:
        asked = library.tokenize([words], show_progress=False)
        most = min(TOP_K, len(statements))
        return model.retrieve(asked, k=most, show_progress=False) if words else []

    return ask


def rank_bm25(statements: Sequence[str]) -> Ask:
    """Return a search over `rank_bm25`, whose users split at spaces."""
    model = importlib.import_module("rank_bm25").BM25Okapi([s.lower().split() for s in statements])
    texts = list(statements)
    return lambda words: model.get_top_n(words.split(), texts, n=TOP_K)


def langchain(statements: Sequence[str]) -> Ask:
    """Return a search over LangChain's `BM25Retriever`."""
    retrievers = importlib.import_module("langchain_community.retrievers")
    retriever: Any = retrievers.BM25Retriever.from_texts(list(statements), k=TOP_K)
    return lambda words: retriever.invoke(words)


def llama_index(statements: Sequence[str]) -> Ask:
    """Return a search over LlamaIndex's `BM25Retriever`."""
    schema = importlib.import_module("llama_index.core.schema")
    retrievers = importlib.import_module("llama_index.retrievers.bm25")
    nodes = [schema.TextNode(text=s) for s in statements]
    retriever: Any = retrievers.BM25Retriever.from_defaults(
        nodes=nodes, similarity_top_k=min(TOP_K, len(nodes)), verbose=False
    )
    return lambda words: retriever.retrieve(words) if words else []


# Name, how to build it, and the largest palace it is tried on: beyond, minutes go by.
RIVALS: tuple[tuple[str, Build, int], ...] = (
    ("FTS5, plain", plain_fts5, 1_000_000),
    ("bm25s", bm25s, 1_000_000),
    ("rank_bm25", rank_bm25, 100_000),
    ("LangChain BM25Retriever", langchain, 100_000),
    ("LlamaIndex BM25Retriever", llama_index, 100_000),
)


def measured(statements: Sequence[str], asked: Sequence[str]) -> Iterator[tuple[str, Any]]:
    """Yield (name, costs) of every rival; costs tell why where there are none.

    Args:
        statements: What is searched.
        asked: The content words of each question, space-joined.
    """
    for name, build, most in RIVALS:
        if len(statements) > most:
            yield name, {"left_out": f"not tried beyond {most:,} memories"}
            continue
        started = time.perf_counter()
        try:
            ask = build(statements)
        except ImportError as error:
            yield name, {"left_out": f"not installed: {error.name}"}
            continue
        built_s = time.perf_counter() - started
        yield name, {"build_s": round(built_s, 2), "search_ms": timed(ask, _fewer(asked, built_s))}


def _fewer(asked: Sequence[str], built_s: float) -> Sequence[str]:
    """Return all questions for a quick search, and some for one that is slow already."""
    return asked if built_s < 2 else asked[:60]


def timed(ask: Callable[[Any], object], asked: Sequence[Any], *, rounds: int = 5) -> dict[str, Any]:
    """Return p50, p95 and p99 over questions, in milliseconds, each the best of some rounds.

    The best round leaves out what other programs on the machine cost; `cpu` is the processor's
    own time for the same rounds.
    """
    best, cpu = ([float("inf")] * len(asked) for _ in range(2))
    for _ in range(rounds):
        for number, question in enumerate(asked):
            started, busy = time.perf_counter(), time.process_time()
            ask(question)
            cpu[number] = min(cpu[number], time.process_time() - busy)
            best[number] = min(best[number], time.perf_counter() - started)
    return {**latency_ms(best), "cpu": latency_ms(cpu), "questions": len(asked)}
