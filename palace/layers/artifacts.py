"""L3, can I fetch the actual thing: artifacts the prompt names, fetched live.

In: a turn. Out: a report with what was fetched; a failed fetch is `unavailable`, never text.
"""

from __future__ import annotations

from collections.abc import Sequence

from palace.errors import FetchError
from palace.layers.judging import timed, trusted
from palace.ports import Artifact, ArtifactRef, Fetcher
from palace.types.memory import Trust
from palace.types.query import Query, RecallSignal
from palace.types.session import Turn
from palace.types.verdict import Evidence, LayerName, LayerOutcome, LayerReport

MAX_ARTIFACTS = 3
_CUT = "\n[cut: not all of it was read]"


class ArtifactsLayer:
    """The configured fetchers.

    Args:
        fetchers: Asked in this order; each recognises what it is configured for.
        min_trust: What was fetched is the system's word; a higher bar means that nothing is.
    """

    name: LayerName = "L3"

    def __init__(self, fetchers: Sequence[Fetcher], *, min_trust: Trust = "system") -> None:
        self._fetchers = tuple(fetchers)
        self._trusts = "system" in trusted(min_trust)

    def names_artifact(self, turn: Turn) -> bool:
        """Whether the prompt names something this layer could fetch; touches no network."""
        return bool(self._named(turn))

    def gather(self, turn: Turn, query: Query, signal: RecallSignal) -> LayerReport:  # noqa: ARG002 - what is named stands in the turn
        """Fetch what the prompt names; `skipped` where it names nothing."""
        return timed(self.name, lambda: self._report(turn))

    def _named(self, turn: Turn) -> list[tuple[Fetcher, ArtifactRef]]:
        named = [(f, ref) for f in self._fetchers for ref in f.recognise(turn.prompt)]
        return named[:MAX_ARTIFACTS]

    def _report(self, turn: Turn) -> LayerReport:
        named = self._named(turn)
        if not named:
            return LayerReport(
                self.name, "skipped", reason="the prompt names no artifact that is listed and there"
            )
        if not self._trusts:
            return LayerReport(self.name, "skipped", reason="artifacts are below enforce.min_trust")
        fetched: list[Evidence] = []
        failures: list[str] = []
        empty: list[str] = []
        for fetcher, ref in named:
            try:
                artifact = fetcher.fetch(ref)
            except FetchError as error:
                failures.append(f"{ref.host}:{ref.target}: {error.message}")
            else:
                if artifact.text.strip():
                    fetched.append(_evidence(artifact))
                else:
                    empty.append(f"{artifact.ref} is empty")
        reason = "; ".join((*failures, *empty))
        if not fetched:
            outcome: LayerOutcome = "unavailable" if failures else "none"
            return LayerReport(self.name, outcome, candidates=len(named), reason=reason)
        return LayerReport(
            self.name,
            "sufficient",
            candidates=len(named),
            best=1.0,
            evidence=tuple(fetched),
            reason=reason,
        )


def _evidence(artifact: Artifact) -> Evidence:
    # Else "no lines with ECONNREFUSED" of a log that is too long to be read tells too much.
    return Evidence(
        id=artifact.ref,
        text=artifact.text.rstrip() + _CUT if artifact.truncated else artifact.text,
        layer="L3",
        source=artifact.url,
        as_of=artifact.fetched_at,
        confidence=1.0,
        trust="system",
    )
