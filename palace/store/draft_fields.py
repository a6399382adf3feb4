"""What the comment of a new memory says: who, what and when always, the rest where it is given.

In: a draft and the moment. Out: the fields of its comment.
"""

from __future__ import annotations

from datetime import datetime

from palace.store.inline import find_tags
from palace.types.memory import Draft

_DEFAULTS = Draft(text="")
_OPTIONAL = (
    "scope provenance importance valid_from valid_to triggers project task session reason key"
    " superseded_by"
).split()


def fields_of(draft: Draft, *, now: datetime) -> dict[str, object]:
    """Return the comment a draft needs.

    Args:
        draft: Without `created` it is created now.
        now: What time it is, aware.
    """
    inline = find_tags(draft.text)
    fields: dict[str, object] = {
        "kind": draft.kind,
        "source": draft.trust,
        "confidence": draft.confidence,
        "created": draft.created or now,
        "tags": [tag for tag in draft.tags if tag not in inline],
    }
    for name in _OPTIONAL:
        value = getattr(draft, name)
        if value != getattr(_DEFAULTS, name):
            fields[name] = value
    return fields
