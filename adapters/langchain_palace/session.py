"""Who is asking, and whom: session, project and callbacks of one call, and an open palace.

In: a `RunnableConfig`, given or inherited. Out: a frozen `Call`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Annotated, Any
from uuid import UUID

from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import ensure_config
from langchain_core.utils.uuid import uuid7
from pydantic import BaseModel, BeforeValidator, ValidationInfo

from palace import ConfigError, Mempalace, require_palace, tool_names

OpenPalace = Annotated[Mempalace, BeforeValidator(require_palace)]
"""A field that takes an open palace; anything else is a `ConfigError` at once."""


def _tool_names(names: Collection[str], info: ValidationInfo) -> frozenset[str]:
    return tool_names(str(info.field_name), names)


ToolNames = Annotated[frozenset[str], BeforeValidator(_tool_names)]
"""A field that takes names of tools; one text in their place is a `ConfigError` at once."""

# `session_id` is what message histories use, `thread_id` what checkpointers use.
SESSION_KEYS = ("session_id", "thread_id")
# Where LangGraph keeps what belongs to a run, in the config of each of its parts.
_RUNTIME = "__pregel_runtime"


def known_fields(model: type[BaseModel], values: Any, *, only_like: Sequence[str] = ()) -> Any:
    """Return the arguments of a wrapper; `session=` for `session_id=` would lose the session.

    Args:
        model: The wrapper.
        values: Its arguments.
        only_like: Refuse only what looks like one of these; chat models ignore what they are not
            made for.

    Raises:
        ConfigError: If one has no field of its name.
    """
    if not isinstance(values, Mapping):
        return values
    unknown = [k for k in values if k not in model.model_fields and not k.startswith("_")]
    if only_like:
        unknown = [k for k in unknown if get_close_matches(k, only_like)]
    if unknown:
        taken = only_like or [n for n in model.model_fields if n in model.__annotations__]
        raise ConfigError(
            f"{model.__name__} has no argument {unknown[0]!r}", hint=f"it takes {', '.join(taken)}"
        )
    return values


@dataclass(frozen=True, slots=True)
class Call:
    """Where a call comes from.

    Attributes:
        session_id: Whose notes and session memories may be read.
        project: Whose project memories may be read.
        config: Callbacks, tags and metadata for what happens on the way.
        handlers: Callbacks of the model that is called, beside those of the config.
        run_id: The run that what happens on the way is a part of, if that is not the config's.
        is_heard: Whether there may be callbacks, which are the host's to know.
    """

    session_id: str | None
    project: str | None
    config: RunnableConfig
    handlers: Any = None
    run_id: UUID | None = None
    is_heard: bool = True


def call_of(
    config: RunnableConfig | None,
    *,
    session_id: str | None = None,
    project: str | None = None,
    handlers: Any = None,
    is_run: bool = False,
) -> Call:
    """Return the call of a config; session and project are used where it names none.

    Inside a graph or a chain the config that is running is used where none is given. The context
    of a graph's run goes before what its config names, for all that belongs to the run.

    Args:
        config: As the host gives it.
        session_id: Where it names no session.
        project: Where it names no project.
        handlers: Callbacks of the model that is called.
        is_run: Whether the call begins a run, whose id the config may name.
    """
    whole = ensure_config(config)
    given: Mapping[str, Any] = whole.get("configurable") or {}
    context = getattr(given.get(_RUNTIME), "context", None)
    session = _named(context, SESSION_KEYS) or _named(given, SESSION_KEYS) or session_id
    named = _named(context, ("project",)) or _named(given, ("project",)) or project
    return Call(
        session_id=None if session is None else str(session),
        project=None if named is None else str(named),
        config=whole,
        handlers=handlers,
        run_id=whole.get("run_id") or uuid7() if is_run else None,
    )


def call_of_run(
    runtime: object, *, session_id: str | None = None, project: str | None = None
) -> Call:
    """Return the call of an agent's run: its context, else its config, else the arguments."""
    context = getattr(runtime, "context", None)
    call = call_of(None, session_id=session_id, project=project)
    session = _named(context, SESSION_KEYS) or call.session_id or thread_of(runtime)
    return replace(call, session_id=session, project=_named(context, ("project",)) or call.project)


def thread_of(runtime: object) -> str | None:
    """Return the thread of an agent's run, if it has one."""
    thread = getattr(getattr(runtime, "execution_info", None), "thread_id", None)
    return None if thread is None else str(thread)


def _named(context: object, keys: Sequence[str]) -> str | None:
    for key in keys:
        found = context.get(key) if isinstance(context, Mapping) else getattr(context, key, None)
        if found is not None and str(found):
            return str(found)
    return None
