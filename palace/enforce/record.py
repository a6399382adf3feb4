"""A verdict as a journal record.

In: a verdict. Out: a JSON-ready mapping that tells retrieved, injected and cited apart.
"""

from __future__ import annotations

import hashlib
from typing import Any

from palace.secrets import redact
from palace.text import utc_now
from palace.types import Verdict

# What a model gets to see of a verdict's evidence.
_INJECTING = frozenset({"ground", "confirm"})


def verdict_record(verdict: Verdict, *, prompts: str) -> dict[str, Any]:
    """Return the record of a verdict.

    Args:
        verdict: What was decided.
        prompts: What to keep of the prompt: `text` (secrets removed), `hash` or `off`.
    """
    record = verdict.as_trace()
    del record["prompt"]
    ids = [e.id for e in verdict.evidence]
    shown = verdict.action in _INJECTING or (verdict.action == "pass" and bool(ids))
    record.update(
        type="verdict",
        at=utc_now().isoformat(),
        session=verdict.turn.session_id,
        project=verdict.turn.project,
        retrieved=[e.id for r in verdict.walk for e in r.evidence],
        injected=ids if shown or verdict.action == "answer" else [],
        cited=ids[:1] if verdict.action == "answer" else [],
        **_prompt_fields(verdict.turn.prompt, prompts),
    )
    return record


def _prompt_fields(prompt: str, prompts: str) -> dict[str, str]:
    if prompts == "text":
        return {"prompt": redact(prompt)}
    if prompts == "hash":
        return {"prompt_sha256": hashlib.sha256(prompt.encode("utf-8", "replace")).hexdigest()}
    return {}
