"""The public names: nothing appears or disappears without this file knowing."""

from __future__ import annotations

import ast
import importlib
import inspect
from pathlib import Path
from types import FunctionType

import pytest

import palace

PUBLIC = [
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
    "is_choice",
    "labelled_question",
    "load_preset",
    "load_settings",
    "memory_span",
    "parse_quote",
    "quote_prompt",
    "read_history",
    "redact",
    "render_context",
    "require_palace",
    "search_evidence",
    "seed",
    "settings_table",
    "stated_in",
    "verdict_attributes",
    "verify_quote",
    "without_echoes",
]

ROOT = Path(palace.__file__).parent


def typing_block() -> dict[str, str]:
    """Name -> `module.name` as the type checker reads it."""
    tree = ast.parse((ROOT / "__init__.py").read_text("utf-8"))
    [block] = [node for node in tree.body if isinstance(node, ast.If)]
    return {
        alias.asname or alias.name: f"{node.module}.{alias.name}"
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


def public_modules() -> list[str]:
    modules = (
        ".".join(path.relative_to(ROOT.parent).with_suffix("").parts).removesuffix(".__init__")
        for path in sorted(ROOT.rglob("*.py"))
    )
    return [name for name in modules if name != "palace.__main__"]


def public_members(module: object) -> list[tuple[str, object]]:
    """Public classes and functions that are defined here, and the public methods of the classes."""
    found = []
    for name, value in vars(module).items():
        if name.startswith("_") or getattr(value, "__module__", "") != module.__name__:
            continue
        if inspect.isfunction(value) or inspect.isclass(value):
            found.append((name, value))
        if inspect.isclass(value):
            kinds = (property, classmethod, staticmethod, FunctionType)
            found += [
                (f"{name}.{key}", member)
                for key, member in vars(value).items()
                if not key.startswith("_") and isinstance(member, kinds)
            ]
    return found


def written_doc(value: object) -> str:
    """The docstring, unless it is the signature that a dataclass writes for itself."""
    if inspect.isclass(value):
        doc = vars(value).get("__doc__") or ""
        return "" if doc.startswith(f"{value.__name__}(") else doc
    return inspect.getdoc(value) or ""


def test_public_names():
    assert palace.__all__ == PUBLIC
    assert dir(palace) == sorted(PUBLIC)


@pytest.mark.parametrize("name", PUBLIC)
def test_name_resolves(name):
    assert getattr(palace, name) is not None


def test_type_checker_and_lazy_table_agree():
    block = typing_block()
    assert set(block) | {"__version__"} == set(PUBLIC)
    for name, home in block.items():
        module, _, inner = home.rpartition(".")
        assert getattr(palace, name) is getattr(importlib.import_module(module), inner)


def test_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'Palace'"):
        palace.Palace  # noqa: B018


def test_every_error_is_public():
    from palace import errors

    tree = {name for name, value in vars(errors).items() if inspect.isclass(value)}
    assert tree <= set(PUBLIC)


def test_version_is_the_distribution_s():
    text = (ROOT.parent / "pyproject.toml").read_text("utf-8")
    assert f'\nversion = "{palace.__version__}"\n' in text


@pytest.mark.parametrize("name", public_modules())
def test_every_public_thing_says_what_it_is_for(name):
    module = importlib.import_module(name)
    assert module.__doc__
    undocumented = [
        f"{name}.{member}" for member, value in public_members(module) if not written_doc(value)
    ]
    assert undocumented == []
