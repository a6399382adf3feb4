"""The tools an agent may use on its memory: one definition for every framework.

In: a palace and the session the tools work for. Out: eight `AgentTool` values, each a name, a
description that says when to use it and when not to, a JSON schema and a plain callable.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from palace.arguments import require_palace
from palace.errors import (
    FetchError,
    MemoryNotFoundError,
    PalaceError,
    StoreUnavailableError,
    WriteConflictError,
)
from palace.secrets import redact
from palace.tools.arguments import (
    arguments_fault,
    arguments_model,
    arguments_schema,
    text_schema,
    texts_schema,
)
from palace.tools.calls import (
    ToolScope,
    correct,
    forget,
    note,
    promote,
    read,
    remember,
    search,
    wake_up,
)
from palace.tracing import memory_span

if TYPE_CHECKING:
    from pydantic import BaseModel

    from palace.mempalace import Mempalace

_Handler = Callable[[ToolScope, dict[str, Any]], dict[str, Any]]
# What is done with memory, in words of OpenTelemetry; the other tools search.
_OPERATIONS = {
    "palace_remember": "create_memory",
    "palace_note": "create_memory",
    "palace_promote": "create_memory",
    "palace_correct": "update_memory",
    "palace_forget": "delete_memory",
}


@dataclass(frozen=True, slots=True)
class AgentTool:
    """One tool, ready to be wrapped by any framework.

    Attributes:
        name: Starts with `palace_`, so that it does not meet the host's own tools.
        description: When to use it and when not to, for the model.
        parameters: JSON schema of the arguments, an object.
        scope: What a call works on unless `run` is told another session or project.
    """

    name: str
    description: str
    parameters: Mapping[str, Any]
    scope: ToolScope
    handler: _Handler

    def __call__(self, **arguments: Any) -> dict[str, Any]:  # noqa: ANN401 - a model's arguments, checked
        """Run with the model's arguments; see `run`."""
        return self.run(arguments)

    def arguments_model(self) -> type[BaseModel]:
        """Return a class with the schema `parameters`, for frameworks that ask for one."""
        return arguments_model(self.name, self.parameters)

    def run(
        self,
        arguments: Mapping[str, Any] | None,
        *,
        session_id: str | None = None,
        project: str | None = None,
    ) -> dict[str, Any]:
        """Run the tool.

        Args:
            arguments: What the model gave, None for nothing; checked against `parameters`.
            session_id: The caller's session, when the host knows it better than the scope does.
                It comes from the host and never from the model.
            project: The caller's project, likewise.

        Returns:
            JSON-ready result with a `status` and a `message` that says plainly what happened.
            What a person or a model can put right (unknown id, unfit text, a conflict) and a
            store that cannot be read are results too, never exceptions.
        """
        given = {} if arguments is None else arguments
        result = self._run(given, session_id=session_id, project=project)
        return {**result, "message": redact(result["message"])}  # what was given may stand in it

    def _run(
        self, arguments: Mapping[str, Any], *, session_id: str | None, project: str | None
    ) -> dict[str, Any]:
        wrong = arguments_fault(self.parameters, arguments)
        if wrong:
            return {"status": "invalid", "message": f"{self.name}: {wrong}. Nothing was done."}
        scope = self.scope
        if session_id is not None:
            scope = replace(scope, session_id=session_id)
        if project is not None:
            scope = replace(scope, project=project)
        given = {name: value for name, value in arguments.items() if value is not None}
        try:
            return self.handler(scope, given)
        except PalaceError as error:
            return {"status": _status_of(error), "message": f"{error}"}

    def run_traced(
        self,
        arguments: Mapping[str, Any] | None,
        *,
        session_id: str | None,
        project: str | None,
        tracer: str,
    ) -> dict[str, Any]:
        """Run the tool inside a memory span of the instrumented package `tracer`; see `run`."""
        operation = _OPERATIONS.get(self.name, "search_memory")
        told_session = session_id or self.scope.session_id
        with memory_span(operation, told_session, tracer=tracer) as told:
            result = self.run(arguments, session_id=session_id, project=project)
            told["palace.status"] = result["status"]
        return result


def agent_tools(
    palace: Mempalace, *, session_id: str | None = None, project: str | None = None
) -> tuple[AgentTool, ...]:
    """Return the agent's tools: search, read, remember, correct, forget, note, promote, wake up.

    Args:
        palace: The open palace.
        session_id: The session they work for; without one (here or in a call) the tools that need
            a session say so.
        project: The project whose memories they may see, unless a call names one.

    Raises:
        ConfigError: If what is given is no open palace.
    """
    scope = ToolScope(require_palace(palace), session_id=session_id, project=project)
    return tuple(
        AgentTool(name, description, arguments_schema(properties, required), scope, handler)
        for name, description, properties, required, handler in _DEFINITIONS
    )


def _status_of(error: PalaceError) -> str:
    if isinstance(error, MemoryNotFoundError):
        return "not_found"
    if isinstance(error, (StoreUnavailableError, WriteConflictError, FetchError)):
        return "unavailable"
    return "refused"


_MEMORY_ID = text_schema(
    "Id of the memory as palace_search or palace_read shows it, e.g. m-01JB2Q…."
)
_ROOM = text_schema("Room, e.g. infra or projects/site; made if it does not exist.")
_DRAWER = text_schema("Drawer of the room; made if it does not exist. Default: notes.")
_ON_CONFLICT = text_schema(
    "What to do when the palace holds another value: ask (default, writes nothing and says what"
    " differs) or keep (both are true).",
    enum=["ask", "keep"],
)

_DEFINITIONS: tuple[tuple[str, str, Mapping[str, Any], tuple[str, ...], _Handler], ...] = (
    (
        "palace_search",
        "Search the long-term memory for what is stored about something: facts, decisions,"
        " preferences, what happened, how things are done here, and this session's notes. Use it"
        " when an answer depends on something remembered and it is not in the conversation"
        " already. Do not use it for general knowledge, or again with the same words when it"
        " said that nothing is stored.",
        {
            "query": text_schema("What is wanted, as a question or in the words of the memory."),
            "limit": {
                "type": "integer",
                "description": "Most memories to return, 1 to 20. Default: 5.",
                "minimum": 1,
                "maximum": 20,
            },
        },
        ("query",),
        search,
    ),
    (
        "palace_read",
        "Read one memory by its id with all that is known about it, everything in a room or"
        " drawer, or (without arguments) the list of rooms. Use it to see the context of a memory"
        " that was found, or to browse. Do not use it to look for an answer: search instead.",
        {
            "memory_id": _MEMORY_ID,
            "room": text_schema("Room to list."),
            "drawer": text_schema("Only this drawer of the room."),
        },
        (),
        read,
    ),
    (
        "palace_remember",
        "Store one statement for good. Use it when the person asks to remember something, or"
        " states a lasting fact, decision or preference. One self-contained sentence: name who and"
        " what, write dates in full. Do not use it for small talk, guesses, secrets, raw tool"
        " output, what is only needed in this session (note it), or something that replaces a"
        " stored value (correct it).",
        {
            "text": text_schema("The statement, in plain words."),
            "room": _ROOM,
            "drawer": _DRAWER,
            "kind": text_schema(
                "What sort of memory it is. Default: fact.",
                enum=["fact", "preference", "procedure", "negative", "event"],
            ),
            "visible_to": text_schema(
                "Who may see it. Default: everyone.", enum=["everyone", "project", "session"]
            ),
            "tags": texts_schema("Tags, without #."),
            "triggers": texts_schema(
                "For something that must never happen (kind negative): words of prompts at which it"
                " must be brought up."
            ),
            "key": text_schema(
                "Name of a place that holds one value, e.g. user_language_pref; the new value"
                " replaces the one there."
            ),
            "on_conflict": _ON_CONFLICT,
        },
        ("text",),
        remember,
    ),
    (
        "palace_correct",
        "Replace a stored memory by a right statement. Use it when the person says that something"
        " stored is wrong or has changed; search first to get its id. The old memory is kept in"
        " its file but never found again. Without a text it only changes tags and links. Do not use"
        " it to add a further fact, to reword what is right, or because you yourself doubt a"
        " memory.",
        {
            "memory_id": _MEMORY_ID,
            "text": text_schema("The whole statement as it is right now."),
            "add_tags": texts_schema("Tags to add, without #."),
            "remove_tags": texts_schema("Tags to remove."),
            "link_to": text_schema("Id of another memory, or room/drawer, to link it with."),
        },
        ("memory_id",),
        correct,
    ),
    (
        "palace_forget",
        "Retire a stored memory without a replacement. Use it only when the person asks to forget"
        " something or says that it no longer holds; search first to get its id. Do not use it to"
        " tidy up, or when there is a new value (correct it).",
        {"memory_id": _MEMORY_ID, "reason": text_schema("Why, in the person's words.")},
        ("memory_id",),
        forget,
    ),
    (
        "palace_note",
        "Note something for the rest of this session only; it expires by itself. Use it for"
        " interim findings of the work at hand that later steps need. Do not use it for what"
        " should last (remember it), or for secrets.",
        {"text": text_schema("What was found, in your own words.")},
        ("text",),
        note,
    ),
    (
        "palace_promote",
        "Turn a note of this session into a lasting memory. Use it at the end of a piece of work"
        " for what will matter in later sessions. Do not use it for every note, or for raw tool"
        " output: it is refused.",
        {
            "note_id": text_schema("Id of the note, e.g. s-01JB2Q…."),
            "room": _ROOM,
            "drawer": _DRAWER,
            "summary": text_schema("The words of the memory: one self-contained sentence."),
            "reason": text_schema("Why it is worth keeping, in one sentence."),
            "on_conflict": _ON_CONFLICT,
        },
        ("note_id", "room", "summary", "reason"),
        promote,
    ),
    (
        "palace_wake_up",
        "Get what this session starts with: who you are, living notes, what was learned last and"
        " the rooms that matter now. Use it once when a session starts and the context was not"
        " given already. Do not use it to answer a question: search instead.",
        {},
        (),
        wake_up,
    ),
)
