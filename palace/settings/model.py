"""The keys a person may set, as frozen pydantic models with units and bounds.

In: plain values from a file, the environment or a caller. Out: `Settings`, or pydantic's
`ValidationError`, which `palace.settings` turns into a `ConfigError`. All keys are on one page, in
the order of the file that is made from them.
"""

from __future__ import annotations

from typing import Annotated, Literal, get_args

from pydantic import (
    AfterValidator,
    Field,
    StrictBool,
    StrictFloat,
    StrictInt,
    StringConstraints,
    field_validator,
    model_validator,
)
from pydantic_core import PydanticCustomError

from palace.settings.values import (
    Cue,
    Language,
    ModelName,
    PathText,
    Repository,
    Section,
    Share,
    Token,
    Url,
    check_room,
    in_order,
    section,
    unique,
)
from palace.types.memory import Trust
from palace.types.query import RecallKind
from palace.types.verdict import FALLBACK_TEXT, LayerName


class DetectorSettings(Section):
    """Which prompts count as questions for the memory."""

    languages: Annotated[tuple[Language, ...], AfterValidator(unique)] = Field(
        get_args(Language),
        min_length=1,
        max_length=40,
        description="Languages whose recall cues are read, as ISO 639 codes; 1 to 40.",
    )
    cues: tuple[Cue, ...] = Field(
        (),
        max_length=500,
        description="Your own recall cues, at most 500: literal phrases, any case, no patterns. "
        'Each is {pattern: "the usual spot", kind: fact}.',
    )
    recall_at: Share | None = Field(
        None,
        description="Probability from which a prompt is recall; 0 to 1, null = the fitted one.",
    )
    other_below: Share | None = Field(
        None,
        description="Probability below which a prompt is not recall; 0 to 1, null = the fitted "
        "one. Between the two, the evidence decides.",
    )
    pattern_timeout_ms: StrictInt = Field(
        50,
        ge=1,
        le=1000,
        description="Longest time one cue pattern may take, in milliseconds; 1 to 1000.",
    )

    @model_validator(mode="after")
    def _ordered(self) -> DetectorSettings:
        in_order("other_below", self.other_below, "recall_at", self.recall_at)
        return self


class SufficiencySettings(Section):
    """How much evidence is enough."""

    sufficient_at: Share | None = Field(
        None,
        description="Probability from which evidence answers; 0 to 1, null = the calibrated bar.",
    )
    unclear_at: Share | None = Field(
        None,
        description="Probability from which evidence is unclear instead of irrelevant; 0 to 1, "
        "null = the calibrated bar.",
    )
    on_topic_at: Share | None = Field(
        None,
        description="Probability that the nearest of what was found has to do with the question, "
        "from which unclear evidence counts; 0 to 1, 0 = always, null = the fitted bar.",
    )

    @model_validator(mode="after")
    def _ordered(self) -> SufficiencySettings:
        in_order("unclear_at", self.unclear_at, "sufficient_at", self.sufficient_at)
        return self


class EnforceSettings(Section):
    """What happens with each outcome of the walk."""

    on_hit: Literal["ground", "answer"] = Field(
        "ground",
        description="On sufficient evidence: ground (call the model with it) or answer (quote the "
        "memory, no model).",
    )
    on_unclear: Literal["confirm", "fallback"] = Field(
        "confirm",
        description="On unclear evidence: confirm (the model must quote the memory that answers) "
        "or fallback (no model).",
    )
    on_miss: Literal["fallback", "generate"] = Field(
        "fallback",
        description="On no evidence: fallback (the honest reply, no model) or generate (free "
        "generation, labelled as ungrounded).",
    )
    answer_kinds: Annotated[tuple[RecallKind, ...], AfterValidator(unique)] = Field(
        (), description="Kinds of recall that are answered as with on_hit: answer in any case."
    )
    fallback_text: str = Field(
        FALLBACK_TEXT,
        min_length=1,
        max_length=1000,
        description="The reply when nothing is known; 1 to 1000 characters.",
    )
    name_near_misses: StrictBool = Field(
        True, description="Whether the fallback names the closest memory it does have."
    )
    max_evidence: StrictInt = Field(
        8, ge=1, le=50, description="Most pieces of evidence in one verdict, in memories; 1 to 50."
    )
    min_trust: Trust = Field(
        "system",
        description="Lowest trust that may ground an answer: user, agent or system, highest first.",
    )


class AnswersSettings(Section):
    """How the answers of a model are made and checked."""

    check: Literal["off", "flag", "replace"] = Field(
        "replace",
        description="Text of a grounded answer that the evidence does not support: off (released "
        "unchecked), flag (released, and named at the end) or replace (the memory's own words "
        "instead). After unclear evidence it is replaced in any case.",
    )
    quote_calls: Literal["one", "two"] = Field(
        "two",
        description="After unclear evidence, the answer comes from one model call (together with "
        "the quote) or from two (written from the quoted memory alone).",
    )


class ContextSettings(Section):
    """What a turn carries besides its evidence."""

    inject: Literal["recall", "always"] = Field(
        "recall",
        description="Prompts that get memories attached: recall (recall prompts, and tasks to be "
        "done with something remembered) or always.",
    )
    budget_tokens: StrictInt = Field(
        1200,
        ge=50,
        le=100_000,
        description="Most evidence in one turn, in tokens; 50 to 100000. "
        "The wake-up of a first turn has a budget of its own.",
    )


class SearchSettings(Section):
    """How memories are looked up."""

    top_k: StrictInt = Field(
        10, ge=1, le=200, description="Hits that a search returns, in memories; 1 to 200."
    )
    candidates: StrictInt = Field(
        40,
        ge=1,
        le=5000,
        description="Candidates that each channel brings to be scored closely, in memories, at "
        "least top_k; a search for more hits has three for each of them, up to 200; 1 to 5000.",
    )
    fusion: Literal["question", "weighted", "rrf"] = Field(
        "question",
        description="How words and meaning are joined where an embedder is on: question (the "
        "fitted ranking, which sees how much of the question the words cover), weighted (fixed "
        "shares) or rrf (reciprocal ranks).",
    )
    vector_share: Share = Field(
        0.7, description="Share of meaning in weighted fusion, words have the rest; 0 to 1."
    )
    neighbour_distance: StrictInt = Field(
        2,
        ge=0,
        le=10,
        description="How far the turns around a turn that is found count, in turns; 0 to 10.",
    )

    related_words: StrictBool = Field(
        True,
        description="Whether words that mean nearly the same as those of a question, and those of "
        "other languages for them, find memories too; tables, no model.",
    )

    @model_validator(mode="after")
    def _ordered(self) -> SearchSettings:
        in_order("top_k", self.top_k, "candidates", self.candidates)
        return self


class OpenAISettings(Section):
    """An OpenAI-compatible embeddings endpoint."""

    base_url: Url | None = Field(
        None,
        description="Address without /embeddings, http(s), at most 2000 characters; null = "
        "$EMBEDDING_BASE_URL, else OpenAI's own.",
    )
    model: ModelName | None = Field(
        None, description="Name of the model on the server; null = $EMBEDDING_MODEL_NAME."
    )
    api_key: Token | None = Field(
        None, description="Key, 1 to 1000 characters; only from the environment."
    )
    dimensions: StrictInt | None = Field(
        None,
        ge=1,
        le=16_384,
        description="Dimensions to ask the server for; 1 to 16384, null = those of the model.",
    )
    timeout_s: StrictFloat = Field(
        30.0,
        gt=0,
        le=600,
        description="Longest wait for one request, in seconds; above 0 to 600, for a question at "
        "most 5.",
    )
    attempts: StrictInt = Field(
        5,
        ge=1,
        le=20,
        description="Most tries of one request, in tries; 1 to 20, for a question at most 2.",
    )
    max_chars: StrictInt = Field(
        8000,
        ge=200,
        le=1_000_000,
        description="Longest text that is sent, in characters, the rest is not; 200 to 1000000.",
    )


class EmbeddingsSettings(Section):
    """Meaning besides words: which model turns texts into vectors."""

    provider: Literal[
        "auto", "off", "wordllama", "model2vec", "sentence-transformers", "openai"
    ] = Field(
        "auto",
        description="Where vectors come from: auto (openai where its model and its address or key "
        "are set, else off), off (words alone), wordllama (a small model inside its package, "
        "offline), model2vec, sentence-transformers or openai (any compatible server).",
    )
    model: ModelName | None = Field(
        None,
        description="Model of model2vec or sentence-transformers: an absolute folder, or a name "
        "such as owner/model.",
    )
    download: StrictBool = Field(
        False, description="Whether a model that is named and not on this computer is fetched."
    )
    batch_size: StrictInt = Field(
        32,
        ge=1,
        le=2048,
        description="Memories embedded and kept at a time, in memories; 1 to 2048.",
    )
    openai: OpenAISettings = section(OpenAISettings)

    @model_validator(mode="after")
    def _named(self) -> EmbeddingsSettings:
        if self.provider in ("model2vec", "sentence-transformers") and self.model is None:
            raise PydanticCustomError(
                "incomplete", f"must be set for {self.provider}", {"key": "model"}
            )
        if self.provider == "openai" and self.openai.model is None:
            raise PydanticCustomError(
                "incomplete", "must be set for openai", {"key": "openai.model"}
            )
        return self

    @property
    def in_force(self) -> str:
        """The provider, with `auto` decided."""
        if self.provider != "auto":
            return self.provider
        addressed = self.openai.base_url is not None or self.openai.api_key is not None
        return "openai" if self.openai.model and addressed else "off"


class IndexSettings(Section):
    """The derived index."""

    refresh_s: StrictFloat = Field(
        1.0,
        ge=0,
        le=3600,
        description="How often a running palace looks for files changed by hand, in seconds; "
        "0 to 3600, 0 = before every question.",
    )


class ScratchpadSettings(Section):
    """Notes of one session (L2)."""

    dir: PathText | None = Field(
        None, description="Folder of the scratchpads, a path; null = scratchpad in the root."
    )
    ttl_s: StrictFloat = Field(
        3600.0,
        gt=0,
        le=31_536_000,
        description="How long a note stays readable, in seconds; above 0, up to 31536000.",
    )
    max_entry_chars: StrictInt = Field(
        4000, ge=1, le=100_000, description="Longest note, in characters; 1 to 100000."
    )
    max_entries: StrictInt = Field(
        1000, ge=1, le=100_000, description="Most notes in one session, in notes; 1 to 100000."
    )


class FilesSettings(Section):
    """Local files."""

    roots: Annotated[tuple[PathText, ...], AfterValidator(unique)] = Field(
        (), max_length=100, description="Folders whose files may be read, as paths; at most 100."
    )


class LogsSettings(Section):
    """Local log files."""

    paths: Annotated[tuple[PathText, ...], AfterValidator(unique)] = Field(
        (), max_length=100, description="Log files that may be read, as paths; at most 100."
    )
    tail_lines: StrictInt = Field(
        200, ge=1, le=10_000, description="Lines read from the end of a log; 1 to 10000."
    )
    max_line_chars: StrictInt = Field(
        2000, ge=1, le=100_000, description="Longest line kept, in characters; 1 to 100000."
    )


class ForgeSettings(Section):
    """A forge whose issues and files may be fetched."""

    base_url: Url | None = Field(
        None, description="Address of the server, http(s), at most 2000 characters; null = none."
    )
    repositories: Annotated[tuple[Repository, ...], AfterValidator(unique)] = Field(
        (), max_length=500, description="Repositories that may be read, owner/name; at most 500."
    )
    token: Token | None = Field(
        None, description="Access token, 1 to 1000 characters; only from the environment."
    )


class GiteaSettings(ForgeSettings):
    """A Gitea server."""

    @model_validator(mode="after")
    def _addressed(self) -> GiteaSettings:
        if self.repositories and self.base_url is None:
            raise PydanticCustomError(
                "incomplete", "must be set where repositories are", {"key": "base_url"}
            )
        return self


class GithubSettings(ForgeSettings):
    """GitHub."""

    base_url: Url = Field(
        "https://api.github.com",
        description="Address of the API, http(s), at most 2000 characters.",
    )


class ArtifactsSettings(Section):
    """Things outside the palace, fetched live (L3)."""

    enabled: StrictBool = Field(True, description="Whether artifacts are fetched at all.")
    timeout_s: StrictFloat = Field(
        10.0, gt=0, le=120, description="Longest wait for one artifact, in seconds; above 0 to 120."
    )
    max_bytes: StrictInt = Field(
        262_144, ge=1, le=16_777_216, description="Most of one artifact, in bytes; 1 to 16777216."
    )
    cache_s: StrictFloat = Field(
        60.0, ge=0, le=86_400, description="Life of a server's reply, in seconds; 0 to 86400."
    )
    stale_after_days: StrictFloat = Field(
        7.0,
        ge=0,
        le=36_500,
        description="Age from which a status is labelled as perhaps outdated, in days; 0 to 36500.",
    )
    files: FilesSettings = section(FilesSettings)
    logs: LogsSettings = section(LogsSettings)
    gitea: GiteaSettings = section(GiteaSettings)
    github: GithubSettings = section(GithubSettings)


class WakeupSettings(Section):
    """What a session starts with."""

    budget_tokens: StrictInt = Field(
        800, ge=50, le=100_000, description="Longest wake-up text, in tokens; 50 to 100000."
    )
    rooms: StrictInt = Field(4, ge=0, le=50, description="Most rooms selected, in rooms; 0 to 50.")
    memories_per_room: StrictInt = Field(
        5, ge=1, le=100, description="Most memories of one room, in memories; 1 to 100."
    )


class WriteSettings(Section):
    """What may become a memory."""

    secrets: Literal["refuse", "redact"] = Field(
        "refuse", description="A text that holds a secret: refuse it or redact the secret."
    )
    personal_data: Literal["off", "redact", "block"] = Field(
        "off",
        description="Mail addresses (those at example.org and the like are none), phone, card and "
        "account numbers: off (left alone), redact (removed before a text is kept and before a "
        "model sees it) or block (such a text is refused, and what was there before is redacted "
        "for a model).",
    )
    max_chars: StrictInt = Field(
        4000, ge=1, le=100_000, description="Longest memory text, in characters; 1 to 100000."
    )
    remember_in_prompt: StrictBool = Field(
        True,
        description='Whether "remember this: …" in a prompt is written at once and acknowledged.',
    )
    correct_in_prompt: StrictBool = Field(
        True,
        description='Whether "no, it is Z, not Y" corrects the memory that the last answer of the '
        "session used, where it is plain which one is meant.",
    )
    conflict_judge: Literal["off", "model"] = Field(
        "off",
        description="Who decides whether a new statement contradicts a stored one: rules (off), or "
        "the model that `generator` names (model), asked at most four times a write about what the "
        "rules find or doubt; where it fails or cannot tell, the rules decide.",
    )
    default_room: Annotated[str, AfterValidator(check_room)] = Field(
        "inbox",
        max_length=80,
        pattern=r"^[^\s./\\\x00][^/\\\x00]*$",
        description="Room of a memory that names none, a folder name; 1 to 80 characters.",
    )


class JournalSettings(Section):
    """The record of every verdict."""

    enabled: StrictBool = Field(True, description="Whether verdicts are recorded.")
    prompts: Literal["text", "hash", "off"] = Field(
        "text", description="What is kept of a prompt: its text, a hash of it, or nothing (off)."
    )
    retention_days: StrictInt | None = Field(
        365,
        ge=1,
        le=36_500,
        description="Age of removal, by whole months, in days; 1 to 36500, null = never.",
    )


class ConsolidateSettings(Section):
    """When a conversation is condensed to the timeline."""

    window_tokens: StrictInt = Field(
        32_768,
        ge=200,
        le=10_000_000,
        description="What the model of the conversation can read, in tokens; 200 to 10000000. Half "
        "of it is the trigger.",
    )
    turns: StrictInt = Field(
        3, ge=1, le=1000, description="Turns that are condensed together, in turns; 1 to 1000."
    )
    idle_minutes: StrictFloat = Field(
        10.0,
        gt=0,
        le=525_600,
        description="A pause after which everything before it is condensed, in minutes; above 0, "
        "up to 525600.",
    )
    keep_turns: StrictInt = Field(
        1, ge=1, le=100, description="Latest turns that stay as they were said, in turns; 1 to 100."
    )
    summary_tokens: StrictInt = Field(
        600,
        ge=50,
        le=20_000,
        description="Longest summary, and most of all summaries put before the model, in tokens; "
        "50 to 20000.",
    )
    retention_days: StrictInt | None = Field(
        None,
        ge=1,
        le=36_500,
        description="Age at which condensed entries leave the timeline, in days; 1 to 36500, "
        "null = never.",
    )


class GeneratorSettings(Section):
    """A language model for summaries and proposals; nothing needs one."""

    base_url: Url | None = Field(
        None,
        description="Address of a server that speaks the chat completions protocol, http(s), at "
        "most 2000 characters; null = no model.",
    )
    model: Annotated[str, StringConstraints(min_length=1, max_length=200)] | None = Field(
        None, description="Name of the model, 1 to 200 characters; set together with base_url."
    )
    api_key: Token | None = Field(
        None, description="Token of the server, 1 to 1000 characters; only from the environment."
    )
    timeout_s: StrictFloat = Field(
        30.0, gt=0, le=600, description="Longest wait for one reply, in seconds; above 0 to 600."
    )

    @model_validator(mode="after")
    def _complete(self) -> GeneratorSettings:
        if (self.base_url is None) != (self.model is None):
            missing = "base_url" if self.base_url is None else "model"
            raise PydanticCustomError(
                "incomplete", "must be set: base_url and model go together", {"key": missing}
            )
        return self


class Settings(Section):
    """Everything a person may set; `Settings()` holds the defaults."""

    root: PathText = Field(
        "~/.mempalace", description="Folder of the palace, a path, at most 4096 characters."
    )
    preset: Literal["none", "issue_analysis", "health_check", "code_review"] = Field(
        "none",
        description="Ready-made recall cues: none, issue_analysis, health_check or code_review.",
    )
    layers: Annotated[tuple[LayerName, ...], AfterValidator(unique)] = Field(
        ("L0", "L1", "L2", "L3", "L4"),
        description="Layers that are walked, in order; L0 first, L5 last and only with "
        "enforce.on_miss: generate.",
    )
    detector: DetectorSettings = section(DetectorSettings)
    sufficiency: SufficiencySettings = section(SufficiencySettings)
    enforce: EnforceSettings = section(EnforceSettings)
    answers: AnswersSettings = section(AnswersSettings)
    context: ContextSettings = section(ContextSettings)
    search: SearchSettings = section(SearchSettings)
    embeddings: EmbeddingsSettings = section(EmbeddingsSettings)
    index: IndexSettings = section(IndexSettings)
    scratchpad: ScratchpadSettings = section(ScratchpadSettings)
    artifacts: ArtifactsSettings = section(ArtifactsSettings)
    wakeup: WakeupSettings = section(WakeupSettings)
    write: WriteSettings = section(WriteSettings)
    journal: JournalSettings = section(JournalSettings)
    consolidate: ConsolidateSettings = section(ConsolidateSettings)
    generator: GeneratorSettings = section(GeneratorSettings)

    @field_validator("layers")
    @classmethod
    def _first_and_last(cls, layers: tuple[LayerName, ...]) -> tuple[LayerName, ...]:
        if not layers or layers[0] != "L0":
            raise PydanticCustomError("layers", "must begin with L0")
        if "L5" in layers[:-1]:
            raise PydanticCustomError("layers", "must name L5 last")
        return layers

    @model_validator(mode="after")
    def _generation_allowed(self) -> Settings:
        if "L5" in self.layers and self.enforce.on_miss != "generate":
            raise PydanticCustomError(
                "layers", "must not name L5 unless enforce.on_miss is generate", {"key": "layers"}
            )
        return self
