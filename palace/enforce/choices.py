"""What a schema lets a model choose among, what an object of one states, and choices alone.

In: a JSON schema, a pydantic model, or anything that holds them, as the arguments of a model call
do; what a program tells a model. Out: every set of values that a schema enumerates, as text;
whether a reply only chooses who goes on or whether a document matters, and that choice without
words that nobody has checked.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import Enum
from typing import Any

from pydantic import BaseModel

_ROUTES = re.compile(
    r"\b(?:supervis(?:or|e|ing)|rout(?:e|er|ing)|orchestrat(?:or|e|ing)|dispatch(?:er|ing)?"
    r"|coordinat(?:or|e|ing)|delegat(?:e|ing)|triage"
    r"|act next|next (?:agent|worker|role|node|step))\b",
    re.IGNORECASE,
)
# So tutorials have documents and answers graded.
_GRADES = "You are a grader assessing "
_ENDS = frozenset({"FINISH", "END", "__end__"})
_TRUTHS = frozenset({"yes", "no"})


def enumerated(schema: object) -> Iterator[frozenset[str]]:
    """Yield the values of each enumeration, a constant being one of a single value."""
    if isinstance(schema, BaseModel):
        schema = type(schema)
    if isinstance(schema, type) and issubclass(schema, BaseModel):
        schema = schema.model_json_schema()
    if isinstance(schema, Mapping):
        offered = schema.get("enum", [schema["const"]] if "const" in schema else None)
        if isinstance(offered, (list, tuple)):
            yield frozenset(str(value) for value in offered)
        for part in schema.values():
            yield from enumerated(part)
    elif isinstance(schema, (list, tuple)):
        for part in schema:
            yield from enumerated(part)


def values_in(value: object, within: frozenset[int] = frozenset()) -> Iterator[str]:
    """Yield every text and number of an object and its parts, as text; truth values say nothing.

    Args:
        value: The object.
        within: Ids of what it is a part of: an object of a host may hold itself.
    """
    if isinstance(value, Enum):
        value = value.value
    if value is None or isinstance(value, bool):
        return
    parts = _parts_of(value)
    if parts is not None:
        inside = within | {id(value)}
        for part in parts if id(value) not in within else ():
            yield from values_in(part, inside)
    elif text := str(value).strip():
        yield text


def _parts_of(value: object) -> Iterable[object] | None:
    if isinstance(value, (str, int, float)):
        return None
    if isinstance(value, BaseModel):
        return [part for _, part in value]
    if isinstance(value, Mapping):
        return value.values()
    if isinstance(value, (list, tuple, set, frozenset)):
        return value
    return vars(value).values() if hasattr(value, "__dict__") else None


def is_choice(
    schema: object, *, program: Sequence[str], prompt: str = "", with_words: bool = False
) -> bool:
    """Whether a reply in a schema is a choice among what the program itself names.

    A value that a schema enumerates may be a statement, too ("Ruth" or "Zork", "done" or "open"):
    it is the name of a place to go on where the program speaks of that and names them all.

    Args:
        schema: What the reply has to fit, or what holds that.
        program: What the program itself tells the model.
        prompt: The last message in the person's role, which some graders write.
        with_words: Whether the model may write words beside the choice; see `choice_alone`.
    """
    fields = _fields(schema).values()
    if not fields:
        return False
    offered = [values for field in fields if (values := _offered(field)) is not None]
    words = [*filter(_is_words, fields)]
    if len(offered) + len(words) < len(fields) or (words and not with_words):
        return False
    if any(text.lstrip().startswith(_GRADES) for text in (*program, prompt)):
        return True
    labels = frozenset().union(*offered) - _ENDS
    return bool(labels) and any(_ROUTES.search(text) and _names(text, labels) for text in program)


def choice_alone(made: Any, schema: object) -> Any:  # noqa: ANN401 - as the host's schema has it
    """Return a choice without what the model wrote beside it: nobody has checked that."""
    words = [name for name, field in _fields(schema).items() if _is_words(field)]
    held = vars(made) if isinstance(made, BaseModel) else made
    if not isinstance(held, Mapping):
        return made
    said = {name for name in words if str(held.get(name) or "").strip().lower() not in _TRUTHS}
    blank = {name: "" for name in said if name in held}
    return made.model_copy(update=blank) if isinstance(made, BaseModel) else {**held, **blank}


def _fields(schema: object) -> Mapping[str, Any]:
    """Return the fields of the object that a schema holds, none if there are several kinds."""
    held = [*_objects(schema)]
    return held[0] if held and all(fields == held[0] for fields in held) else {}


def _objects(schema: object) -> Iterator[Mapping[str, Any]]:
    if isinstance(schema, Mapping):
        fields = schema.get("properties")
        if isinstance(fields, Mapping):
            yield {k: f if isinstance(f, Mapping) else {} for k, f in fields.items()}
        for part in schema.values():
            yield from _objects(part)
    elif isinstance(schema, (list, tuple)):
        for part in schema:
            yield from _objects(part)


def _is_words(field: Mapping[str, Any]) -> bool:
    return field.get("type") == "string" and _offered(field) is None


def _offered(field: Mapping[str, Any]) -> frozenset[str] | None:
    """Return what a field offers beside truth values, None where it takes anything else."""
    if "enum" in field or "const" in field:
        return frozenset(map(str, field.get("enum") or [field.get("const")]))
    if field.get("type") in ("boolean", "null"):  # some name several in a list
        return frozenset()
    inner = field.get("anyOf") or [field.get("items")]
    parts = [_offered(part) if isinstance(part, Mapping) else None for part in inner]
    return frozenset().union(*filter(None, parts)) if parts and None not in parts else None


def _names(text: str, labels: Iterable[str]) -> bool:
    """Whether a text names all labels, perhaps with blanks in them."""
    said = text.casefold().replace("_", " ")
    return all(label.casefold().replace("_", " ") in said for label in labels)
