"""The verb that keeps meaning complete: embed.

In: what a person typed. Out: one `Reply` for one call of the facade.
"""

from __future__ import annotations

import click

from palace.serve import render
from palace.serve.door import Door, Reply, verb


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


VERBS = (_embed,)
