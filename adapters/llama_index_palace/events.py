"""What the enforcer did, as LlamaIndex sees it: nodes and instrumentation events.

In: verdicts and evidence. Out: nodes with scores, retrieval events, and `PalaceVerdictEvent`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.instrumentation.events.retrieval import (
    RetrievalEndEvent,
    RetrievalStartEvent,
)
from llama_index.core.schema import NodeWithScore, TextNode
from llama_index_instrumentation import get_dispatcher
from llama_index_instrumentation.base import BaseEvent
from llama_index_instrumentation.dispatcher import Dispatcher
from llama_index_instrumentation.event_handlers import NullEventHandler

from palace import CheckedAnswer, Evidence, Verdict

KEY = "palace"

_dispatcher = get_dispatcher(__name__)


class PalaceVerdictEvent(BaseEvent):
    """A turn was decided or answered.

    A refused turn makes no model events at all, so this one is how a tracer sees it.

    Attributes:
        stage: `decided` before any model call, `answered` when a reply was released.
        verdict: The verdict as `Verdict.as_dict()` gives it; once answered with `cited`,
            `supported`, `unsupported` and `model_calls` as well.
        session_id: The session of the turn.
    """

    stage: str
    verdict: dict[str, Any]
    session_id: str | None = None

    @classmethod
    def class_name(cls) -> str:
        """Return the name of the event."""
        return "PalaceVerdictEvent"


def evidence_nodes(evidence: Sequence[Evidence]) -> list[NodeWithScore]:
    """Return evidence as nodes: the memory's own words, its source and confidence in [0, 1]."""
    return [
        NodeWithScore(
            node=TextNode(
                id_=item.id,
                text=item.text,
                metadata={
                    "source": item.source,
                    "layer": item.layer,
                    "as_of": item.as_of.isoformat() if item.as_of else None,
                    "trust": item.trust,
                    "stale": item.stale,
                },
            ),
            score=item.confidence,
        )
        for item in evidence
    ]


def verdict_metadata(
    verdict: Verdict, *, checked: CheckedAnswer | None = None, model_calls: int = 0
) -> dict[str, Any]:
    """Return what a host gets to see of a verdict, as plain values.

    Args:
        verdict: After a verified quote, the verdict on the quoted memory.
        checked: The check of the model's words, where one was made.
        model_calls: Calls made for this reply, the quote call included.
    """
    return {
        **verdict.as_dict(),
        "cited": {str(n): i for n, i in checked.citations.items()} if checked else {},
        "supported": checked.supported if checked else None,
        "unsupported": list(checked.unsupported) if checked else [],
        "declined": checked.declined if checked else False,
        "model_calls": model_calls,
    }


def message_note(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Return what of a verdict goes into a message, which hosts keep and count as tokens.

    Ids and sources instead of the words of memories, and none of the model's unsupported ones:
    some hosts write a message's extras into later prompts.
    """
    kept = ("id", "action", "outcome", "layer", "cited", "supported", "declined", "model_calls")
    shown = [{"id": e["id"], "source": e["source"]} for e in metadata["evidence"]]
    return {**{name: metadata[name] for name in kept}, "evidence": shown}


class Noted(NamedTuple):
    """What a message notes of a verdict: its id and its action, "" without."""

    id: str = ""
    action: str = ""


NOTHING_NOTED = Noted()


def noted_verdict(messages: Sequence[ChatMessage]) -> Noted:
    """Return the verdict that is noted in the last of these messages that has a note."""
    notes = (m.additional_kwargs.get(KEY) for m in reversed(messages))
    note = next((note for note in notes if note), None)
    if not isinstance(note, Mapping):
        return NOTHING_NOTED
    return Noted(str(note.get("id") or ""), str(note.get("action") or ""))


def announce_look(words: str) -> None:
    """Tell instrumentation that the palace is asked."""
    if _is_heard():
        _dispatcher.event(RetrievalStartEvent(str_or_query_bundle=words))


def announce_verdict(verdict: Verdict, *, retrieval: bool = True) -> None:
    """Tell instrumentation what was found and decided.

    Args:
        verdict: As the enforcer gave it.
        retrieval: Whether the retrieval ends here; a retriever's own events say so themselves.
    """
    if not _is_heard():
        return
    if retrieval:
        nodes = evidence_nodes(verdict.evidence)
        _dispatcher.event(RetrievalEndEvent(str_or_query_bundle=verdict.turn.prompt, nodes=nodes))
    _announce("decided", verdict.as_dict(), verdict)


def announce_answer(metadata: Mapping[str, Any], verdict: Verdict) -> None:
    """Tell instrumentation what was released."""
    if _is_heard():
        _announce("answered", dict(metadata), verdict)


def _is_heard() -> bool:
    """Whether anybody listens: without, making events costs as much as a layer of the walk."""
    dispatcher: Dispatcher | None = _dispatcher
    while dispatcher is not None:
        if any(not isinstance(h, NullEventHandler) for h in dispatcher.event_handlers):
            return True
        dispatcher = dispatcher.parent if dispatcher.propagate else None
    return False


def _announce(stage: str, shown: dict[str, Any], verdict: Verdict) -> None:
    _dispatcher.event(
        PalaceVerdictEvent(stage=stage, verdict=shown, session_id=verdict.turn.session_id)
    )
