"""What the settings name, made: models, fetchers, the policy of a walk, how answers are made.

In: settings, or a section of them. Out: the part, or None where they name none. A heavy library is
not loaded before the part that needs it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from palace.enforce.enforcer import Policy
from palace.models.vector_cache import VectorCache
from palace.ports import Embedder, Fetcher, Generator

if TYPE_CHECKING:
    from pydantic import SecretStr

    from palace.enforce.answering import AnswerOptions
    from palace.fetch.forge import ForgeFetcher
    from palace.settings import Settings
    from palace.settings.model import (
        ArtifactsSettings,
        EmbeddingsSettings,
        ForgeSettings,
        GeneratorSettings,
    )


def configured_policy(settings: Settings) -> Policy:
    """Return what a walk does with each outcome."""
    enforce = settings.enforce
    return Policy(
        on_hit=enforce.on_hit,
        on_unclear=enforce.on_unclear,
        on_miss=enforce.on_miss,
        answer_kinds=frozenset(enforce.answer_kinds),
        fallback_text=enforce.fallback_text,
        name_near_misses=enforce.name_near_misses,
        max_evidence=enforce.max_evidence,
        inject_always=settings.context.inject == "always",
        context_budget_tokens=settings.context.budget_tokens,
        journal_prompts=settings.journal.prompts,
    )


def answer_options(settings: Settings, *, identity: str) -> AnswerOptions:
    """Return how answers are made under these settings."""
    from palace.enforce.answering import AnswerOptions

    return AnswerOptions(
        mode=settings.answers.check,
        quote_calls=settings.answers.quote_calls,
        fallback_text=settings.enforce.fallback_text,
        context_budget_tokens=settings.context.budget_tokens,
        identity=identity,
    )


def configured_generator(named: GeneratorSettings) -> Generator | None:
    """Return the language model that the settings name, None where they name none."""
    if not (named.base_url and named.model):
        return None
    from palace.models.chat_completions import ChatCompletions

    return ChatCompletions(
        base_url=named.base_url,
        model=named.model,
        api_key=_told(named.api_key),
        timeout_s=named.timeout_s,
    )


def configured_embedder(
    embeddings: EmbeddingsSettings, *, cache: Path
) -> Callable[[], Embedder] | None:
    """Return what loads the embedder that the settings name, None where they name none.

    Args:
        embeddings: The settings.
        cache: File for vectors that a server was asked for.
    """
    model, download = embeddings.model or "", embeddings.download

    def wordllama() -> Embedder:
        from palace.models.wordllama import WordLlamaEmbedder

        return WordLlamaEmbedder()

    def model2vec() -> Embedder:
        from palace.models.model2vec import Model2VecEmbedder

        return Model2VecEmbedder(model, download=download)

    def sentence_transformers() -> Embedder:
        from palace.models.sentence_transformers import SentenceTransformersEmbedder

        return SentenceTransformersEmbedder(model, download=download)

    made: Mapping[str, Callable[[], Embedder]] = {
        "wordllama": wordllama,
        "model2vec": model2vec,
        "sentence-transformers": sentence_transformers,
        "openai": lambda: _openai_embedder(embeddings, cache),
    }
    return made.get(embeddings.in_force)


def _openai_embedder(embeddings: EmbeddingsSettings, cache: Path) -> Embedder:
    from palace.models.openai_embedder import DEFAULT_URL, OpenAIEmbedder

    openai = embeddings.openai
    return OpenAIEmbedder(
        model=openai.model or "",
        base_url=openai.base_url or DEFAULT_URL,
        api_key=_told(openai.api_key),
        dimensions=openai.dimensions,
        batch_size=embeddings.batch_size,
        max_chars=openai.max_chars,
        timeout_s=openai.timeout_s,
        attempts=openai.attempts,
        cache=VectorCache(cache),
    )


def configured_fetchers(artifacts: ArtifactsSettings) -> Iterator[Fetcher]:
    """Yield a fetcher for every kind of artifact that the settings name."""
    if artifacts.logs.paths:
        from palace.fetch.logs import LogsFetcher

        yield LogsFetcher(
            paths=artifacts.logs.paths,
            tail_lines=artifacts.logs.tail_lines,
            max_line_chars=artifacts.logs.max_line_chars,
            max_bytes=artifacts.max_bytes,
        )
    if artifacts.files.roots:
        from palace.fetch.files import FilesFetcher

        yield FilesFetcher(roots=artifacts.files.roots, max_bytes=artifacts.max_bytes)
    yield from _forges(artifacts)


def _forges(artifacts: ArtifactsSettings) -> Iterator[Fetcher]:
    gitea, github = artifacts.gitea, artifacts.github
    if gitea.repositories:
        from palace.fetch.gitea import GiteaFetcher

        yield _forge(GiteaFetcher, gitea, artifacts, elsewhere=github.repositories)
    if github.repositories:
        from palace.fetch.github import GitHubFetcher

        yield _forge(GitHubFetcher, github, artifacts, elsewhere=gitea.repositories)


def _forge(
    made: type[ForgeFetcher],
    named: ForgeSettings,
    artifacts: ArtifactsSettings,
    *,
    elsewhere: Sequence[str],
) -> Fetcher:
    return made(
        base_url=named.base_url or "",
        repositories=named.repositories,
        elsewhere=elsewhere,
        token=_told(named.token),
        timeout_s=artifacts.timeout_s,
        max_bytes=artifacts.max_bytes,
        cache_s=artifacts.cache_s,
    )


def _told(secret: SecretStr | None) -> str | None:
    return secret.get_secret_value() if secret else None
