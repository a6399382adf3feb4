"""A verdict and its answer as journal records.

In: a verdict, perhaps an answer to it. Out: JSON-ready mappings that tell retrieved, injected and
cited apart.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from palace.enforce.replies import quote_evidence
from palace.secrets import redact
from palace.text.moments import new_id, utc_now
from palace.types.verdict import Evidence, Verdict

if TYPE_CHECKING:
    from palace.enforce.answering import Answer
    from palace.enforce.grounding import CheckedAnswer

# What a model gets to see of a verdict's evidence.
_INJECTING = frozenset({"ground", "confirm"})
# Of an artifact so much is kept: it is where it was fetched from, and may be large.
_ARTIFACT_CHARS = 4000


def verdict_record(
    verdict: Verdict, *, prompts: str, shown: Callable[[str], str] = redact
) -> dict[str, Any]:
    """Return the record of a verdict.

    Args:
        verdict: What was decided.
        prompts: What to keep of the prompt: `text` (secrets removed), `hash` or `off`.
        shown: Returns a text as it may be kept.
    """
    record = _without_artifacts(verdict).as_trace(scores=False)  # the judgement explains the best
    del record["prompt"]
    ids = [e.id for e in verdict.evidence]
    reminders = [e.id for e in verdict.reminders]
    injects = verdict.action in _INJECTING or (verdict.action == "pass" and bool(ids))
    record.update(
        type="verdict",
        at=utc_now().isoformat(),
        session=_kept_name(verdict.turn.session_id),
        project=_kept_name(verdict.turn.project),
        retrieved=[e.id for r in verdict.walk for e in r.evidence],
        injected=[
            *(ids if injects or verdict.action == "answer" else []),
            *(reminders if verdict.action in {*_INJECTING, "pass", "generate"} else []),
        ],
        cited=ids[:1] if verdict.action == "answer" else [],
        **_prompt_fields(verdict.turn.prompt, prompts, shown),
    )
    return record


def _without_artifacts(verdict: Verdict) -> Verdict:
    """Return a verdict with no more than the beginning of each artifact."""
    kept = tuple(map(_kept, verdict.evidence))
    if kept == verdict.evidence:
        return verdict
    short = replace(verdict, evidence=kept)
    return replace(short, text=quote_evidence(short.quoted))


def _kept(item: Evidence) -> Evidence:
    if item.layer != "L3" or len(item.text) <= _ARTIFACT_CHARS:
        return item
    return replace(item, text=f"{item.text[:_ARTIFACT_CHARS]}…")


def answer_record(
    answer: Answer | CheckedAnswer | None,
    verdict: Verdict,
    *,
    prompts: str,
    shown: Callable[[str], str] = redact,
) -> dict[str, Any]:
    """Return the record of an answer; its words are kept only as far as prompts are.

    Args:
        answer: What was released, or its check; None when nothing was.
        verdict: The verdict it was made for; after a confirmation, what the quote proved.
        prompts: As for `verdict_record`; other than `text` keeps counts instead of words.
        shown: Returns a text as it may be kept.
    """
    from palace.enforce.answering import Answer

    checked = answer.checked if isinstance(answer, Answer) else answer
    unsupported = checked.unsupported if checked else ()
    return {
        "id": new_id("a"),
        "type": "answer",
        "at": utc_now().isoformat(),
        "session": _kept_name(verdict.turn.session_id),
        "verdict": verdict.id,
        "action": verdict.action,
        "evidence_ids": [e.id for e in verdict.evidence],
        "cited": list(dict.fromkeys(checked.citations.values())) if checked else [],
        "supported": checked.supported if checked else None,
        "declined": checked.declined if checked else False,
        "unsupported": [shown(u) for u in unsupported] if prompts == "text" else [],
        "unsupported_count": len(unsupported),
        "model_calls": answer.model_calls if isinstance(answer, Answer) else None,
    }


def _kept_name(name: str | None) -> str | None:
    """Return a name as it may be kept: a host may call a session by its user's token."""
    return name and redact(name)


def _prompt_fields(prompt: str, prompts: str, shown: Callable[[str], str]) -> dict[str, str]:
    if prompts == "text":
        return {"prompt": shown(prompt)}
    if prompts == "hash":
        return {"prompt_sha256": hashlib.sha256(prompt.encode("utf-8", "replace")).hexdigest()}
    return {}
