"""L0, who am I: the identity file, loaded for every turn, never ending a walk by itself.

In: a way to read the identity. Out: a report with the identity as its only evidence.
"""

from __future__ import annotations

from collections.abc import Callable

from palace.layers.judging import timed
from palace.types.query import Query, RecallSignal
from palace.types.session import Turn
from palace.types.verdict import Evidence, LayerName, LayerReport


class IdentityLayer:
    """The identity.

    Args:
        read: Returns the identity text, "" if there is none.
    """

    name: LayerName = "L0"

    def __init__(self, read: Callable[[], str]) -> None:
        self._read = read

    def gather(self, turn: Turn, query: Query, signal: RecallSignal) -> LayerReport:  # noqa: ARG002 - L0 does not depend on the question
        """Return the identity, `loaded`, or `none` where there is no identity."""
        return timed(self.name, self._report)

    def _report(self) -> LayerReport:
        text = self._read().strip()
        if not text:
            return LayerReport(self.name, "none")
        evidence = Evidence("identity", text, self.name, "identity.txt:1", confidence=1.0)
        return LayerReport(self.name, "loaded", candidates=1, evidence=(evidence,))
