"""Where ports meet implementations: the parts of a palace, put together from its settings.

In: a palace with its stores and settings. Out: detector, layers, writer and enforcement. Beside the
facade this is the only module that sees settings and implementations together.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

from palace.enforce.enforcer import Enforcement, Policy
from palace.enforce.markers import escape_markers
from palace.errors import ConfigError, StoreUnavailableError
from palace.layers.artifacts import ArtifactsLayer
from palace.layers.identity import IdentityLayer
from palace.layers.indexed import IndexedLayer
from palace.layers.scratchpad import ScratchpadLayer
from palace.learn.cues import Cues, load_cues
from palace.learn.prior import prior
from palace.learn.remember import Writer
from palace.models.vector_cache import VectorCache
from palace.past import PastPalace
from palace.ports import Fetcher, Generator, Layer, Scope, Scrubbable, SessionMarks
from palace.recall.as_of import dated_turn
from palace.recall.blocks import CLOSE_TAG, OPEN_TAG
from palace.recall.detector import CueDetector
from palace.recall.fusion import Fusion
from palace.recall.lexicon import Lexicon, load_lexicons
from palace.recall.logistic import load_model
from palace.recall.query import Analyst
from palace.recall.search import Searcher
from palace.recall.sufficiency import Sufficiency
from palace.recall.triggers import matching_trigger
from palace.store.session_marks import FileSessionMarks
from palace.store.timeline_page import session_title
from palace.text import new_id, tokens, utc_now
from palace.types.changes import Match
from palace.types.memory import TIMELINE, Draft, Memory
from palace.types.session import ConversationTurn, Turn
from palace.types.verdict import Evidence

if TYPE_CHECKING:
    from palace.enforce.answering import AnswerOptions
    from palace.learn.consolidate import Consolidator
    from palace.ports import ConflictJudge, Embedder
    from palace.settings import Settings
    from palace.settings_model import ArtifactsSettings, EmbeddingsSettings
    from palace.store.vector_channel import VectorChannel
    from palace.verbs.opened import OpenedPalace

# Conversations and other scopes share the words; they are left out after the search.
_SEARCHED = 64
_REMINDERS = 10
_REMINDED_CHARS = 20_000
_RESEMBLING = 16
_RECENT_VERDICTS = 50
# Each is an index in memory.
_KEPT_MOMENTS = 2
_BOUGHT = "embeddings.sqlite"
_log = logging.getLogger(__name__)


class Assembly:
    """The parts of one palace, each made when it is first needed.

    Args:
        palace: The palace; its stores must be open.
    """

    def __init__(self, palace: OpenedPalace) -> None:
        self._palace = palace
        self._past: dict[datetime, Assembly] = {}
        self._present: dict[str, str] = {}

    @property
    def _settings(self) -> Settings:
        return self._palace.settings

    @cached_property
    def lexicons(self) -> tuple[Lexicon, ...]:
        """The languages the detector knows."""
        return load_lexicons(self._settings.detector.languages)

    @cached_property
    def analyst(self) -> Analyst:
        """Turns prompts into queries."""
        return Analyst(
            self.lexicons,
            self._palace.index,
            related=self._settings.search.related_words,
            timeout_ms=float(self._settings.detector.pattern_timeout_ms),
        )

    @cached_property
    def searcher(self) -> Searcher:
        """Asks the index."""
        search = self._settings.search
        return Searcher(
            self._palace.index,
            vectors=self.vectors,
            fusion=Fusion(search.fusion, search.vector_share),
            candidates=search.candidates,
            neighbour_distance=search.neighbour_distance,
            priors=self._priors,
        )

    def _priors(self, keys: Sequence[int]) -> dict[int, float]:
        """Return what the memories behind candidates are worth; no file is read for it."""
        now = utc_now()
        worths = self._palace.index.uses.worths(keys)
        return {key: prior(worth, at=now) for key, worth in worths.items()}

    @cached_property
    def vectors(self) -> VectorChannel | None:
        """The channel of meaning, None where no embedder is configured."""
        if isinstance(self._palace, PastPalace):
            return None  # the vectors are those of today's memories
        settings = self._settings.embeddings
        own = self._palace.embedder
        folder = self._palace.root / ".palace"
        configured = configured_embedder(settings, cache=folder / _BOUGHT)
        load = _of_the_host(own) if own is not None else configured
        if load is None:
            return None
        from palace.store.vector_channel import VectorChannel
        from palace.store.vector_file import VectorFile

        return VectorChannel(
            self._palace.index,
            VectorFile(folder),
            load,
            batch_size=settings.batch_size,
            is_local=own is not None or settings.in_force != "openai",
        )

    @property
    def bought_vectors(self) -> Scrubbable:
        """Where vectors are kept that a server was asked for."""
        return VectorCache(self._palace.root / ".palace" / _BOUGHT)

    @cached_property
    def detector(self) -> CueDetector:
        """Decides what is recall."""
        settings = self._settings.detector
        own = [(cue.pattern, cue.kind) for cue in settings.cues]
        preset = self._palace.preset.cues if self._palace.preset else ()
        return CueDetector(
            self.lexicons,
            self._palace.index,
            analyse=self.analyst.analyse,
            model=load_model("detector"),
            own_cues=[*own, *preset],
            recall_at=settings.recall_at,
            other_below=settings.other_below,
            timeout_ms=float(settings.pattern_timeout_ms),
            names_artifact=self.artifacts.names_artifact,
            noted=self.scratchpad_layer.tokens_of,
        )

    @cached_property
    def artifacts(self) -> ArtifactsLayer:
        """L3, with the fetchers that are configured."""
        return ArtifactsLayer(self._fetchers(), min_trust=self._settings.enforce.min_trust)

    @cached_property
    def sufficiency(self) -> Sufficiency:
        """The calibrated bar in force."""
        settings = self._settings.sufficiency
        return Sufficiency(
            load_model("sufficiency_statement"),
            load_model("sufficiency_turn"),
            attribution=load_model("attribution"),
            meaning=load_model("sufficiency_statement_semantic") if self.vectors else None,
            sufficient_at=settings.sufficient_at,
            unclear_at=settings.unclear_at,
        )

    @cached_property
    def writer(self) -> Writer:
        """The one way in."""
        return Writer(
            store=self._palace.store,
            resembling=self._resembling,
            written=self._palace.index_file,
            secrets=self._settings.write.secrets,
            personal_data=self._settings.write.personal_data,
            max_chars=self._settings.write.max_chars,
            reinforced=self._reinforced,
            judge=self._judge,
            promised=self._palace.pending.promised,
        )

    @cached_property
    def _judge(self) -> ConflictJudge | None:
        """Who has the last word on conflicts: the one handed in, or the model of the settings."""
        handed_in, generator = self._palace.judge, self.generator
        if handed_in is not None or self._settings.write.conflict_judge == "off":
            return handed_in
        if generator is None:
            raise ConfigError(
                "write.conflict_judge is model, and there is no model",
                hint="set generator.base_url and generator.model, or write.conflict_judge: off",
            )
        from palace.learn.model_judge import ModelJudge

        return ModelJudge(generator, self._palace.privacy.shown)

    def _reinforced(self, memory: Memory, draft: Draft, match: Match) -> bool:
        """Leave a breadcrumb: this memory was said again. It holds no text, only who and when."""
        if not self._settings.journal.enabled:
            return False
        record = {
            "id": new_id("r"),
            "type": "reinforced",
            "at": utc_now().isoformat(),
            "session": draft.session or None,
            "memory": memory.id,
            "source": draft.trust,
            "match": match,
        }
        try:
            self._palace.journal.append(record)
        except StoreUnavailableError as error:
            _log.warning("a memory was said again, and no note could be taken: %s", error)
            return False
        return True

    @cached_property
    def cues(self) -> tuple[Cues, ...]:
        """What statements look like in the languages of the detector."""
        return load_cues(self._settings.detector.languages)

    @property
    def generator(self) -> Generator | None:
        """The language model that the settings name, or the one that was handed in."""
        return self._palace.generator or self._configured_generator

    @cached_property
    def _configured_generator(self) -> Generator | None:
        named = self._settings.generator
        if not (named.base_url and named.model):
            return None
        from palace.models.chat_completions import ChatCompletions

        return ChatCompletions(
            base_url=named.base_url,
            model=named.model,
            api_key=named.api_key.get_secret_value() if named.api_key else None,
            timeout_s=named.timeout_s,
        )

    @cached_property
    def marks(self) -> SessionMarks:
        """How far each session is condensed."""
        return FileSessionMarks(self._palace.root)

    @cached_property
    def consolidator(self) -> Consolidator:
        """Condenses sessions to the timeline."""
        from palace.learn.consolidate import Consolidator, Limits

        settings = self._settings.consolidate
        return Consolidator(
            marks=self.marks,
            entries=self._entries_of,
            write=self._write_entry,
            frame=_as_own_block,
            shown=self._palace.privacy.shown,
            clock=utc_now,
            limits=Limits(
                window_tokens=settings.window_tokens,
                turns=settings.turns,
                idle=timedelta(minutes=settings.idle_minutes),
                keep_turns=settings.keep_turns,
                summary_tokens=settings.summary_tokens,
            ),
            generator=self.generator,
            cues=self.cues,
        )

    def _entries_of(self, session: str) -> list[Memory]:
        title = session_title(session)
        return [m for m in self._palace.index.memories(room=TIMELINE) if m.session == title]

    def _write_entry(self, entry: ConversationTurn) -> None:
        for path in self._palace.store.append_timeline([entry]):
            self._palace.index_file(path)

    def _resembling(self, draft: Draft) -> list[Memory]:
        """Return memories of the draft's own scope that share its words."""
        self._palace.mend_index()
        scope = _scope_named(draft.scope)
        turn = Turn(draft.text, scope.session_id, scope.project)
        terms = self.analyst.terms(turn) or tuple(dict.fromkeys(tokens(draft.text)))
        if not terms:  # signs alone, that no index holds
            return [m for m in self._palace.index.memories() if _is_rival(m, draft)]
        from palace.learn.word_classes import searched_for

        found = self._palace.index.candidates(
            searched_for(terms), layer="L1", scope=scope, limit=_SEARCHED
        )
        rivals = (m for m in self._loaded([c.key for c in found]) if _is_rival(m, draft))
        return list(islice(rivals, _RESEMBLING))

    def _loaded(self, keys: Sequence[int]) -> Iterator[Memory]:
        """Yield the memories of these keys; few are read where few are asked for."""
        for start in range(0, len(keys), _RESEMBLING):
            yield from self._palace.index.load(keys[start : start + _RESEMBLING]).values()

    def copies_of(self, memory: Memory) -> list[Memory]:
        """Return active memories of the same scope that share its words, turns included."""
        found = self._palace.index.candidates(
            self.analyst.terms(Turn(memory.text)),
            layer="L1",
            scope=_scope_named(memory.scope),
            limit=_SEARCHED,
        )
        memories = self._palace.index.load([c.key for c in found]).values()
        return [m for m in memories if m.scope == memory.scope and m.source != memory.source]

    def dated(self, turn: Turn) -> Turn:
        """Give a turn the past moment it asks about, if it asks about one."""
        timeout_ms = float(self._settings.detector.pattern_timeout_ms)
        return dated_turn(turn, self.lexicons, now=utc_now(), timeout_ms=timeout_ms)

    def at(self, moment: datetime) -> Assembly:
        """Return the parts of the palace as it was: files alone, without vectors and artifacts.

        The index of then is built in memory from the history of the present one. Those of the last
        moments are kept until a file changes.
        """
        now = self._palace.index.digests()
        if self._present != now:
            self._present = now
            self._past.clear()
        found = self._past.pop(moment, None)
        if found is None:
            found = Assembly(cast("OpenedPalace", PastPalace(self._palace, moment)))
        self._past[moment] = found
        for oldest in list(self._past)[:-_KEPT_MOMENTS]:
            del self._past[oldest]
        return found

    def reminders(self, turn: Turn) -> list[Evidence]:
        """Return the memories whose triggers match a prompt, the most important first."""
        scopes = {"global", f"session:{turn.session_id}", f"project:{turn.project}"}
        now = utc_now()
        may = [m for m in self._palace.index.marked("triggers") if _may_remind(m, scopes, now)]
        if not may:
            return []
        said = tokens(turn.prompt[:_REMINDED_CHARS])
        timeout_ms = float(self._settings.detector.pattern_timeout_ms)
        found = [
            m
            for m in may
            if matching_trigger(m.triggers, turn.prompt, timeout_ms=timeout_ms, said=said)
        ]
        found.sort(key=lambda m: -m.importance)
        return [_reminder(m) for m in found[:_REMINDERS]]

    @cached_property
    def enforcement(self) -> Enforcement:
        """Everything a walk needs."""
        return Enforcement(
            analyst=self.analyst,
            detector=self.detector,
            layers=self._layers(),
            policy=_policy(self._settings),
            journal=self._palace.journal if self._settings.journal.enabled else None,
            refresh=lambda: self._palace.refresh(force=False),
            previous=self.previous_verdicts,
            shown=self._palace.privacy.shown,
            heard=self._palace.heard,
            reminders=self.reminders,
            dated=self.dated,
            at=lambda moment: self.at(moment).enforcement,
        )

    def _layers(self) -> tuple[Layer, ...]:
        made: Mapping[str, Callable[[], Layer]] = {
            "L0": lambda: IdentityLayer(lambda: self._palace.identity_file.read().text),
            "L1": lambda: self._indexed_layer("L1"),
            "L2": lambda: self.scratchpad_layer,
            "L3": lambda: self.artifacts,
            "L4": lambda: self._indexed_layer("L4"),
        }
        return tuple(made[name]() for name in self._settings.layers if name in made)

    def _indexed_layer(self, name: Literal["L1", "L4"]) -> IndexedLayer:
        enforce = self._settings.enforce
        return IndexedLayer(
            name,
            searcher=self.searcher,
            sufficiency=self.sufficiency,
            max_evidence=enforce.max_evidence,
            min_trust=enforce.min_trust,
            stale_after_days=self._settings.artifacts.stale_after_days,
            superseded=lambda: self._palace.index.marked("superseded_by"),
        )

    @cached_property
    def scratchpad_layer(self) -> ScratchpadLayer:
        """L2, the notes of the session."""
        return ScratchpadLayer(
            self._palace.living_notes,
            vocabulary=self._palace.index,
            sufficiency=self.sufficiency,
            max_evidence=self._settings.enforce.max_evidence,
            min_trust=self._settings.enforce.min_trust,
        )

    def _fetchers(self) -> Sequence[Fetcher]:
        if self._palace.fetchers is not None:
            return self._palace.fetchers
        artifacts = self._settings.artifacts
        return tuple(configured_fetchers(artifacts)) if artifacts.enabled else ()

    def previous_verdicts(self, session_id: str | None) -> Iterator[dict[str, Any]]:
        """Yield the last verdict records of a session, newest first."""
        for number, record in enumerate(self._palace.journal.records(type="verdict")):
            if number >= _RECENT_VERDICTS:
                return
            if record.get("session") == session_id:
                yield record


def _policy(settings: Settings) -> Policy:
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


def _may_remind(memory: Memory, scopes: set[str], now: datetime) -> bool:
    return memory.scope in scopes and memory.holds_at(now)


def _reminder(memory: Memory) -> Evidence:
    return Evidence(
        id=memory.id,
        text=memory.text,
        layer="L1",
        source=memory.source,
        as_of=memory.valid_from or memory.updated or memory.created,
        confidence=1.0,
        trust=memory.trust,
    )


def _is_rival(memory: Memory, draft: Draft) -> bool:
    """Whether a memory can say the same or otherwise: what was said in a conversation cannot."""
    return memory.status == "active" and memory.scope == draft.scope and memory.room != TIMELINE


def _as_own_block(text: str) -> str:
    return f"{OPEN_TAG}\n{escape_markers(text)}\n{CLOSE_TAG}"


def _scope_named(scope: str) -> Scope:
    kind, _, name = scope.partition(":")
    return Scope(
        session_id=name if kind == "session" else None,
        project=name if kind == "project" else None,
    )


def _of_the_host(embedder: Embedder) -> Callable[[], Embedder]:
    """Return what loads an embedder that the host gave, held to the port."""

    def held() -> Embedder:
        from palace.models.host_embedder import HostEmbedder

        return HostEmbedder(embedder)

    return held


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
        api_key=openai.api_key.get_secret_value() if openai.api_key else None,
        dimensions=openai.dimensions,
        batch_size=embeddings.batch_size,
        max_chars=openai.max_chars,
        timeout_s=openai.timeout_s,
        attempts=openai.attempts,
        cache=VectorCache(cache),
    )


def configured_fetchers(artifacts: ArtifactsSettings) -> Iterator[Fetcher]:
    """Yield a fetcher for every kind of artifact that the settings name."""
    if artifacts.files.roots:
        from palace.fetch.files import FilesFetcher

        yield FilesFetcher(roots=artifacts.files.roots, max_bytes=artifacts.max_bytes)
    if artifacts.logs.paths:
        from palace.fetch.logs import LogsFetcher

        yield LogsFetcher(
            paths=artifacts.logs.paths,
            tail_lines=artifacts.logs.tail_lines,
            max_line_chars=artifacts.logs.max_line_chars,
            max_bytes=artifacts.max_bytes,
        )
    yield from _forges(artifacts)


def _forges(artifacts: ArtifactsSettings) -> Iterator[Fetcher]:
    gitea, github = artifacts.gitea, artifacts.github
    if gitea.base_url and gitea.repositories:
        from palace.fetch.gitea import GiteaFetcher

        yield GiteaFetcher(
            base_url=gitea.base_url,
            repositories=gitea.repositories,
            elsewhere=github.repositories,
            token=gitea.token.get_secret_value() if gitea.token else None,
            timeout_s=artifacts.timeout_s,
            max_bytes=artifacts.max_bytes,
            cache_s=artifacts.cache_s,
        )
    if github.repositories:
        from palace.fetch.github import GitHubFetcher

        yield GitHubFetcher(
            base_url=github.base_url,
            repositories=github.repositories,
            elsewhere=gitea.repositories,
            token=github.token.get_secret_value() if github.token else None,
            timeout_s=artifacts.timeout_s,
            max_bytes=artifacts.max_bytes,
            cache_s=artifacts.cache_s,
        )
