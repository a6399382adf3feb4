"""Look before you answer: the public face of the package.

Names are loaded when they are first used, so `import palace` costs next to nothing and imports no
optional dependency.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from palace import hosting
    from palace.arguments import require_palace, tool_names
    from palace.enforce.answering import (
        Answer,
        AnswerOptions,
        ModelCall,
        ModelReply,
        answer_check,
        answer_steps,
        confirm_steps,
    )
    from palace.enforce.choices import choice_alone, is_choice, values_in
    from palace.enforce.enforcer import RetrievalEnforcer
    from palace.enforce.grounding import AnswerCheck, CheckedAnswer, SentenceGate
    from palace.enforce.prompt import (
        DECLINE_TOKEN,
        context_prompt,
        grounded_prompt,
        quote_prompt,
        render_context,
    )
    from palace.enforce.quoting import (
        QUOTE_SCHEMA,
        QuoteReply,
        parse_quote,
        verify_quote,
        verify_quotes,
    )
    from palace.errors import (
        ConfigError,
        DrawerParseError,
        EmbedderMismatchError,
        EmbedderUnavailableError,
        EnforcementError,
        FetchDeniedError,
        FetchError,
        FetchNotFoundError,
        FetchTimeoutError,
        IdentityTooLongError,
        MemoryNotFoundError,
        ModelError,
        PalaceError,
        PersonalDataRefusedError,
        RecallMiss,
        SchemaTooNewError,
        SecretRefusedError,
        StoreError,
        StoreUnavailableError,
        TextRefusedError,
        UngroundedAnswerError,
        UnsafeNameError,
        WriteConflictError,
    )
    from palace.explaining import explain_trace
    from palace.kept import Kept
    from palace.learn.consolidate import Compressed
    from palace.learn.gapfill import GapFill, stated_in
    from palace.learn.gaps import Gap, Gaps
    from palace.learn.intake import Imported
    from palace.learn.statements import Statement
    from palace.learn.transfer import Exported
    from palace.learn.turns import read_history
    from palace.mempalace import Mempalace, PalaceRoom
    from palace.ports import Embedder, EmbedderIdentity, VectorState
    from palace.presets import load_preset, seed
    from palace.recall.blocks import holds_own_evidence
    from palace.recall.calibration import Calibration, KindCalibration
    from palace.secrets import find_secrets, redact
    from palace.secrets.personal_data import find_personal_data
    from palace.settings import (
        LoadedSettings,
        Settings,
        default_yaml,
        load_settings,
        settings_table,
    )
    from palace.settings import explain as explain_settings
    from palace.store.identity_file import Identity
    from palace.store.vector_channel import Embedded
    from palace.text.echoes import without_echoes
    from palace.text.given_words import works_on_given_words
    from palace.text.labels import labelled_questions
    from palace.text.moments import iso_moment
    from palace.text.rewriting import rewritten_question
    from palace.tools import AgentTool, agent_tools
    from palace.tools.calls import search_evidence
    from palace.tracing import memory_span, verdict_attributes
    from palace.types.changes import (
        Conflict,
        Duplicate,
        Erased,
        Feedback,
        History,
        Remembered,
        Unclear,
        Undone,
        WriteResult,
    )
    from palace.types.checks import Check, Overwritten, Suspect
    from palace.types.memory import Fault, Memory, Playbook
    from palace.types.query import Hit, Query, RecallSignal
    from palace.types.session import ConversationTurn, Message, ScratchEntry, Turn, WakeUp
    from palace.types.verdict import Evidence, Heard, Judgement, LayerReport, PromptWrite, Verdict
    from palace.verbs.session_end import SessionEnd

__version__ = "0.1.0"

_HOME = {
    "palace.arguments": "require_palace tool_names",
    "palace.enforce.answering": (
        "Answer AnswerOptions ModelCall ModelReply answer_check answer_steps confirm_steps"
    ),
    "palace.enforce.enforcer": "RetrievalEnforcer",
    "palace.enforce.grounding": "AnswerCheck CheckedAnswer SentenceGate",
    "palace.enforce.prompt": (
        "DECLINE_TOKEN context_prompt grounded_prompt quote_prompt render_context"
    ),
    "palace.enforce.quoting": "QUOTE_SCHEMA QuoteReply parse_quote verify_quote verify_quotes",
    "palace.enforce.choices": "choice_alone is_choice values_in",
    "palace.errors": (
        "ConfigError DrawerParseError EmbedderMismatchError EmbedderUnavailableError "
        "EnforcementError FetchDeniedError FetchError FetchNotFoundError FetchTimeoutError "
        "IdentityTooLongError MemoryNotFoundError ModelError PalaceError PersonalDataRefusedError "
        "RecallMiss SchemaTooNewError SecretRefusedError StoreError StoreUnavailableError "
        "TextRefusedError UngroundedAnswerError UnsafeNameError WriteConflictError"
    ),
    "palace.explaining": "explain_trace",
    "palace.hosting": "hosting",
    "palace.kept": "Kept",
    "palace.learn.consolidate": "Compressed",
    "palace.learn.gapfill": "GapFill stated_in",
    "palace.learn.gaps": "Gap Gaps",
    "palace.learn.intake": "Imported",
    "palace.learn.statements": "Statement",
    "palace.learn.transfer": "Exported",
    "palace.learn.turns": "read_history",
    "palace.mempalace": "Mempalace PalaceRoom",
    "palace.ports": "Embedder EmbedderIdentity VectorState",
    "palace.presets": "load_preset seed",
    "palace.recall.blocks": "holds_own_evidence",
    "palace.recall.calibration": "Calibration KindCalibration",
    "palace.secrets": "find_secrets redact",
    "palace.secrets.personal_data": "find_personal_data",
    "palace.settings": (
        "LoadedSettings Settings default_yaml explain_settings load_settings settings_table"
    ),
    "palace.store.identity_file": "Identity",
    "palace.store.vector_channel": "Embedded",
    "palace.text.echoes": "without_echoes",
    "palace.text.given_words": "works_on_given_words",
    "palace.text.labels": "labelled_questions",
    "palace.text.moments": "iso_moment",
    "palace.text.rewriting": "rewritten_question",
    "palace.tools": "AgentTool agent_tools",
    "palace.tools.calls": "search_evidence",
    "palace.tracing": "memory_span verdict_attributes",
    "palace.types.changes": (
        "Conflict Duplicate Erased Feedback History Remembered Unclear Undone WriteResult"
    ),
    "palace.types.checks": "Check Overwritten Suspect",
    "palace.types.memory": "Fault Memory Playbook",
    "palace.types.query": "Hit Query RecallSignal",
    "palace.types.session": "ConversationTurn Message ScratchEntry Turn WakeUp",
    "palace.types.verdict": "Evidence Heard Judgement LayerReport PromptWrite Verdict",
    "palace.verbs.session_end": "SessionEnd",
}
_MODULE_OF = {name: module for module, names in _HOME.items() for name in names.split()}
_RENAMED = {"explain_settings": "explain"}

__all__ = [
    "DECLINE_TOKEN",
    "QUOTE_SCHEMA",
    "AgentTool",
    "Answer",
    "AnswerCheck",
    "AnswerOptions",
    "Calibration",
    "Check",
    "CheckedAnswer",
    "Compressed",
    "ConfigError",
    "Conflict",
    "ConversationTurn",
    "DrawerParseError",
    "Duplicate",
    "Embedded",
    "Embedder",
    "EmbedderIdentity",
    "EmbedderMismatchError",
    "EmbedderUnavailableError",
    "EnforcementError",
    "Erased",
    "Evidence",
    "Exported",
    "Fault",
    "Feedback",
    "FetchDeniedError",
    "FetchError",
    "FetchNotFoundError",
    "FetchTimeoutError",
    "Gap",
    "GapFill",
    "Gaps",
    "Heard",
    "History",
    "Hit",
    "Identity",
    "IdentityTooLongError",
    "Imported",
    "Judgement",
    "Kept",
    "KindCalibration",
    "LayerReport",
    "LoadedSettings",
    "Memory",
    "MemoryNotFoundError",
    "Mempalace",
    "Message",
    "ModelCall",
    "ModelError",
    "ModelReply",
    "Overwritten",
    "PalaceError",
    "PalaceRoom",
    "PersonalDataRefusedError",
    "Playbook",
    "PromptWrite",
    "Query",
    "QuoteReply",
    "RecallMiss",
    "RecallSignal",
    "Remembered",
    "RetrievalEnforcer",
    "SchemaTooNewError",
    "ScratchEntry",
    "SecretRefusedError",
    "SentenceGate",
    "SessionEnd",
    "Settings",
    "Statement",
    "StoreError",
    "StoreUnavailableError",
    "Suspect",
    "TextRefusedError",
    "Turn",
    "Unclear",
    "Undone",
    "UngroundedAnswerError",
    "UnsafeNameError",
    "VectorState",
    "Verdict",
    "WakeUp",
    "WriteConflictError",
    "WriteResult",
    "__version__",
    "agent_tools",
    "answer_check",
    "answer_steps",
    "choice_alone",
    "confirm_steps",
    "context_prompt",
    "default_yaml",
    "explain_settings",
    "explain_trace",
    "find_personal_data",
    "find_secrets",
    "grounded_prompt",
    "holds_own_evidence",
    "hosting",
    "is_choice",
    "iso_moment",
    "labelled_questions",
    "load_preset",
    "load_settings",
    "memory_span",
    "parse_quote",
    "quote_prompt",
    "read_history",
    "redact",
    "render_context",
    "require_palace",
    "rewritten_question",
    "search_evidence",
    "seed",
    "settings_table",
    "stated_in",
    "tool_names",
    "values_in",
    "verdict_attributes",
    "verify_quote",
    "verify_quotes",
    "without_echoes",
    "works_on_given_words",
]


def __getattr__(name: str) -> Any:  # noqa: ANN401 - the type checker reads the block above
    module = _MODULE_OF.get(name)
    if module is None:
        raise AttributeError(f"module 'palace' has no attribute {name!r}")
    home = import_module(module)
    value = home if module == f"palace.{name}" else getattr(home, _RENAMED.get(name, name))
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return list(__all__)
