"""The verbs that look back: what was asked and not found, and a report of a period.

In: a period. Out: questions that a person can still answer, or a page of Markdown.
"""

from __future__ import annotations

from datetime import datetime, timezone
from typing import TYPE_CHECKING, Literal

from palace.arguments import check_choice, moment_in
from palace.errors import ConfigError
from palace.text.moments import iso_moment, utc_now
from palace.types.memory import TIMELINE, Memory
from palace.types.session import Turn
from palace.verbs.reading import ReadingVerbs

# What finds gaps and writes reports is loaded when it is asked for: a question needs none of it.
if TYPE_CHECKING:
    from palace.learn.gaps import Gaps

# From it on all records count that tell a moment; a damaged line may tell none.
_BEGINNING = datetime.min.replace(tzinfo=timezone.utc)


class LookingBackVerbs(ReadingVerbs):
    """What a past period was like."""

    def gaps(self, *, since: datetime | None = None) -> Gaps:
        """Return what was asked and not found, similar questions together, the most asked first.

        A question that was answered later is no gap. Where `journal.prompts` is `hash` only equal
        questions are counted together and none is shown; where it is `off` they are only counted.

        Args:
            since: Begin of the period, UTC where it names no zone; all the journal keeps if not
                given.
        """
        from palace.learn.gaps import find_gaps

        since = moment_in("since", since)
        return find_gaps(
            self.journal.records(since=since or _BEGINNING),
            terms=lambda question: self._parts.analyst.terms(Turn(question)),
            since=since,
        )

    def report(
        self, *, since: datetime, until: datetime | None = None, by: Literal["day", "week"] = "day"
    ) -> str:
        """Return a period as Markdown: what happened, was learned and was not found; times are UTC.

        Args:
            since: Begin, UTC where it names no zone.
            until: End, likewise; now if not given.
            by: One part for each day, or for each week.

        Raises:
            ConfigError: If it does not begin before it ends, or `by` is neither.
        """
        from palace.learn.gaps import find_gaps
        from palace.learn.report import ReportSources, compose_report, retired_in

        check_choice("by", by, ("day", "week"))
        self.refresh(force=False)
        begin, end = moment_in("since", since), moment_in("until", until) or utc_now()
        if begin is None:
            raise ConfigError("a report needs a beginning", hint="give since, a datetime")
        if begin >= end:
            raise ConfigError(
                f"the report would begin at {begin:%Y-%m-%d %H:%M} and end before that",
                hint="name a beginning that is past, or a later end",
            )

        def within(memory: Memory) -> bool:
            return memory.created is not None and begin <= memory.created <= end

        memories = {m.id: m for m in self.index.memories()}
        found = self.journal.records(since=begin)
        records = [record for record in found if iso_moment(record["at"]) <= end]
        verdicts = [r for r in records if r["type"] == "verdict"]
        dated = [m for m in memories.values() if within(m)]
        report = compose_report(
            ReportSources(
                since=begin,
                until=end,
                timeline=[m for m in dated if m.room == TIMELINE],
                added=[m for m in dated if m.room != TIMELINE],
                imported=[record for record in records if record["type"] == "import"],
                retired=list(retired_in(records, memories)),
                outcomes=[str(r.get("outcome")) for r in verdicts],
                gaps=find_gaps(
                    records, terms=lambda text: self.analyse(Turn(text)).terms, since=begin
                ),
            ),
            by=by,
        )
        return self.privacy.shown(report)
