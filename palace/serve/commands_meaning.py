"""The verbs for meaning and the bars of sufficiency: embed, calibrate.

In: what a person typed. Out: one `Reply` for one call of the facade.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from palace.serve import render
from palace.serve.door import NOT_FOUND, OK, Door, Reply, verb

if TYPE_CHECKING:
    from palace import Calibration, KindCalibration


@verb("embed", example="palace embed --rebuild")
@click.option("--rebuild", is_flag=True, help="Begin anew; needed after a change of the model.")
def _embed(door: Door, rebuild: bool) -> Reply:
    """Embed every memory that has no vector yet.

    Needs an embedder in the settings. An interrupted run goes on where it stopped.
    """
    with door.existing() as palace, door.progress("embedding") as bar:
        done = palace.embed(rebuild=rebuild, progress=bar)
    total = render.counted(done.total, "memory", "memories")
    counts = f"{done.embedded} of {total} embedded, {done.added} of them now"
    return Reply(render.document(done), (render.line(f"{counts}, by {done.identity}"),))


@verb("calibrate", example="palace calibrate --rate 0.05")
@click.option("--rate", default=0.05, help="Most false hits: a share above 0, at most 0.5.")
@click.option(
    "--sample",
    type=click.IntRange(min=1),
    default=300,
    help="Most questions for each kind of memory.",
)
@click.option("--apply", is_flag=True, help="Write the bars into the settings file.")
def _calibrate(door: Door, rate: float, sample: int, apply: bool) -> Reply:
    """Fit to your palace how sure a memory must be to answer.

    Asks questions made out of its memories, with and without the room that holds the answer. Exit
    code 1 if it refuses, with the reason.
    """
    with door.existing() as palace, door.progress("asking") as bar:
        done = palace.calibrate(false_hit_rate=rate, sample=sample, apply=apply, progress=bar)
    lines = [line for kind in done.kinds if kind.memories for line in _kind_lines(kind)]
    code = OK if done.sufficient_at is not None else NOT_FOUND
    return Reply(render.document(done), (*lines, *_end_lines(done)), code)


VERBS = (_embed, _calibrate)


def _kind_lines(kind: KindCalibration) -> tuple[render.Line, ...]:
    questions = render.counted(kind.questions, "question")
    head = render.line((f"{kind.kind}s", "bold"), f"  {kind.memories}, {questions}")
    if kind.kept is None or kind.false_hits is None or kind.at_most is None:
        return (head, render.line(f"  {kind.reason}"))
    now = f"kept {kind.kept_now:.1%}, false hits {kind.false_hits_now:.1%}"
    best = f"kept {kind.kept:.1%}, false hits {kind.false_hits:.1%} (at most {kind.at_most:.1%})"
    found = f"bar {kind.bar:.3f}:" if kind.bar is not None else "a bar for the rate:"
    return (
        head,
        render.line(f"  bar {kind.bar_now:.3f}, in force: {now}"),
        render.line(f"  {found} {best}"),
    )


def _end_lines(done: Calibration) -> tuple[render.Line, ...]:
    if done.sufficient_at is None:
        hint = (render.dim(f"  {done.hint}"),) if done.hint else ()
        return (render.line(("refused", "yellow"), f"  {done.reason}"), *hint)
    bars = (f"  sufficient_at: {done.sufficient_at:g}", f"  unclear_at: {done.unclear_at:g}")
    first = f"written to {done.file}:" if done.file else "to use it, write, or give --apply:"
    # One bar serves both kinds, so it moves the other one too, measured or not.
    own = ((kind.kind, kind.bar_shipped if kind.bar is None else kind.bar) for kind in done.kinds)
    moved = [
        f"this bar holds for {kind}s too: alone they would have {bar:.3f}"
        for kind, bar in own
        if bar < done.sufficient_at
    ]
    return tuple(render.line(text) for text in (first, "sufficiency:", *bars, *moved))
