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
from palace.types.verdict import Evidence, LayerName, LayerReport

MAX_ARTIFACTS = 3
# What is on this computer is read in a moment; no memory of it is as fresh.
_READ_AT_ONCE = frozenset({"file", "log"})
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

    def is_wanted(self, turn: Turn) -> bool:
        """Whether the prompt names a file or a log: those are read though a memory answers."""
        return any(ref.kind in _READ_AT_ONCE for _, ref in self._named(turn))

    def named_in(self, text: str) -> set[str]:
        """Return the artifacts that a text names, as the ids of their evidence."""
        return {_name(ref) for fetcher in self._fetchers for ref in fetcher.recognise(text)}

    def gather(self, turn: Turn, query: Query, signal: RecallSignal) -> LayerReport:  # noqa: ARG002 - what is named stands in the turn
        """Fetch what the prompt names; `skipped` where it names nothing."""
        return timed(self.name, lambda: self._report(turn))

    def _named(self, turn: Turn) -> list[tuple[Fetcher, ArtifactRef]]:
        named: list[tuple[Fetcher, ArtifactRef]] = []
        for fetcher in self._fetchers:
            # A log among the files that may be read is one thing, and read as a log.
            read = {ref.target for _, ref in named if ref.kind in _READ_AT_ONCE}
            refs = fetcher.recognise(turn.prompt)
            named += [(fetcher, ref) for ref in refs if ref.target not in read]
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
        for fetcher, ref in named:
            try:
                fetched.append(_evidence(fetcher.fetch(ref)))
            except FetchError as error:
                failures.append(f"{_name(ref)}: {error.message}: {error.hint}")
        reason = "; ".join(failures)
        if not fetched:
            return LayerReport(self.name, "unavailable", candidates=len(named), reason=reason)
        return LayerReport(
            self.name,
            "sufficient",
            candidates=len(named),
            best=1.0,
            evidence=tuple(fetched),
            reason=reason,
        )


def _name(ref: ArtifactRef) -> str:
    return f"{ref.host}:{ref.target}"


def _evidence(artifact: Artifact) -> Evidence:
    text = artifact.text
    if not text.strip():
        text = f"{artifact.title}: empty"  # a finding too: nobody may make up what is in it
    elif artifact.truncated:
        # Else "no lines with ECONNREFUSED" of a log that is too long to be read tells too much.
        text = text.rstrip() + _CUT
    return Evidence(
        id=artifact.ref,
        text=text,
        layer="L3",
        source=artifact.url,
        as_of=artifact.fetched_at,
        confidence=1.0,
        trust="system",
    )
