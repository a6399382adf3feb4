"""The verb that embeds: what the background does, done now and to the end.

In: nothing but the palace. Out: how many memories have a vector, and whose vectors they are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from palace.errors import ConfigError
from palace.ports import Progress
from palace.verbs.opened import OpenedPalace

if TYPE_CHECKING:
    from palace.store.vector_channel import Embedded


class EmbeddingVerbs(OpenedPalace):
    """How meaning is kept complete."""

    def embed(self, *, rebuild: bool = False, progress: Progress | None = None) -> Embedded:
        """Embed every memory that has no vector yet, and return when all have one.

        What is made is kept batch by batch: an interrupted run goes on where it stopped. It need
        not be called; an open palace embeds in the background.

        Args:
            rebuild: Make all vectors anew; needed after a change of the model. Those that there
                are go when the last new one is there, and stay if one cannot be made.
            progress: Called with (memories embedded, memories there are).

        Raises:
            ConfigError: If no embedder is configured.
            EmbedderMismatchError: If the stored vectors come from another model.
            EmbedderUnavailableError: If the embedder fails.
            StoreUnavailableError: If the vectors cannot be written.
        """
        if self.vectors is None:
            raise ConfigError(
                "no embedder is configured",
                hint="set embeddings.provider in the settings file, or for this one time"
                " PALACE_EMBEDDINGS__PROVIDER=wordllama",
            )
        self.refresh()
        if rebuild:
            # The server may have another model under the name that these came from.
            self._parts.bought_vectors.clear()
            return self.vectors.rebuild(progress=progress)
        return self.vectors.catch_up(progress=progress)
